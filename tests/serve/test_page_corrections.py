"""Corrections on the page of ``lscfg serve``: its scripts in Node, with a document of stubs."""

import json

from page_scripts import needs_node, run_page

pytestmark = needs_node

SCRIPT = """
const folder = process.argv[2], store = new Map(), nodes = {}, calls = {};
const node = (id) => new Proxy({ id, value: "", style: {}, dataset: {}, classList: { add() {}, remove() {} },
  addEventListener: (event, call) => { calls[`${id} ${event}`] = call; } },
  { get: (own, name) => (name in own || typeof name === "symbol" ? own[name] : () => []) });
globalThis.localStorage = { getItem: (key) => store.get(key) ?? null, setItem: (key, value) => store.set(key, value) };
globalThis.document = { getElementById: (id) => (nodes[id] ??= node(id)), createElement: node, body: node("body"),
  createTextNode: node, createDocumentFragment: node, documentElement: node("html"), addEventListener() {} };
globalThis.window = { addEventListener() {} };
globalThis.fetch = async (path, { body } = {}) => {
  if (path === "/system") return { ok: false, status: 503, text: async () => "", json: async () => ({}) };
  const { q } = JSON.parse(body);
  return { ok: true, json: async () => ({ translatedText: q.toUpperCase(), sentences: [], unknown: [] }) };
};
const pause = (time) => new Promise((done) => { setTimeout(done, time); });
await import(`${folder}/page.js`);
const type = (text) => { nodes.source.value = text; calls["source input"](); };
type("casa");
await pause(400);
type("casa blanca");  // its translation is not there yet
calls["correct click"]();
nodes.edit.value += " corrected";
await pause(400);
await calls["keep click"]();
console.log(store.get("lscfg.corrections...") ?? JSON.stringify([...store]));
process.exit(0);
"""


def test_a_correction_belongs_to_the_text_that_was_translated(tmp_path):
    assert json.loads(run_page(tmp_path, SCRIPT)) == [["casa", "CASA corrected"]]
