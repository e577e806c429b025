"""Corrections on the page of ``lscfg serve``: its scripts in Node, with a document of stubs."""

import json
import shutil
import subprocess
from importlib.resources import files

import pytest

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="no node on PATH to run the scripts of the page")

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
    for file in files("lscfg.serve.page").iterdir():
        if file.name.endswith(".js"):
            (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "run.js").write_text(SCRIPT)
    done = subprocess.run([NODE, tmp_path / "run.js", tmp_path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [["casa", "CASA corrected"]]
