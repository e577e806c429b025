"""Requests of the page of ``lscfg serve``, and its use of the answers: its scripts in Node, with stubs.

A stub keeps corrections as the service does, and answers in the form of ``docs/guides/serving.md``.
"""

from __future__ import annotations

import json
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from page_scripts import needs_node, run_page

from lscfg.prepare.clean import clean

pytestmark = needs_node

SYSTEM = {
    "system": "s", "rules": 1, "latent": False, "language_model": True, "pieces": False, "raw": True, "pairs": {},
    "source": {"code": "es", "name": "Spanish", "direction": "ltr"},
    "target": {"code": "en", "name": "English", "direction": "ltr"}, "corrections": True, "confidence": None,
    "scores": [], "files": [".txt"], "api_key": False, "report": None, "lscfg": "0",
    "limits": {"max_words": 9, "max_characters": 99, "max_sentences": 100, "max_request": 1024, "timeout": 15},
}  # fmt: skip
NAME = "es.en.s"

PAGE = """
const [folder, given] = process.argv.slice(2), { system, kept } = JSON.parse(given), nodes = {};
const store = new Map(Object.entries(kept).map(([kind, rows]) => [`lscfg.${kind}.es.en.s`, JSON.stringify(rows)]));
let full = false;
class Node {
  constructor(id) {
    Object.assign(this, { id, value: "", textContent: "", style: {}, dataset: {}, children: [], on: {}, hidden: false,
      classList: { add() {}, remove() {} }, className: "" });
  }
  append(...added) { this.children.push(...added); }
  replaceChildren(...added) { this.textContent = ""; this.children = added; }
  addEventListener(event, call) { this.on[event] = call; }
  querySelectorAll() { return []; }
  querySelector() { return null; }
  setAttribute() {} removeAttribute() {} focus() {} remove() {} click() {} select() {}
}
const whole = (one) => (typeof one === "string" ? one : one.textContent + one.children.map(whole).join(""));
const shown = (id) => whole(document.getElementById(id));
const within = (one) => (typeof one === "string" ? [] : [one, ...one.children.flatMap(within)]);
const press = (id, text) => within(nodes[id]).find((one) => one.textContent === text).on.click();
const write = (key, value) => { if (full) throw new Error("quota"); store.set(key, value); };
globalThis.localStorage = { getItem: (key) => store.get(key) ?? null, setItem: write };
globalThis.document = { getElementById: (id) => (nodes[id] ??= new Node(id)), createElement: (name) => new Node(name),
  querySelectorAll: () => [], body: new Node("body"), documentElement: new Node("html") };
globalThis.window = { addEventListener() {} };

const service = { requests: [], stored: new Map(), last: 0, down: false, warnings: [], own: [] };
const reply = (status, content) => ({ ok: status === 200, status, statusText: "", json: async () => content });
function translation({ q, alternatives }) {
  const sentences = q.split("\\n").filter(Boolean), listed = sentences.length * (1 + alternatives);
  if (sentences.length > 100) return reply(413, { error: `${sentences.length} sentences; at most 100 are allowed` });
  if (alternatives && listed > 200) return reply(413, { error: `${listed} translations; ask for fewer alternatives` });
  const rows = sentences.map((source) => {
    const excluded = service.warnings.some((one) => one.includes("excluded the correction"));
    const pair = excluded ? undefined : [...service.stored].findLast(([, one]) => one[0] === source);
    const [id, [, target]] = pair ?? [null, [source, source.toUpperCase()]];
    return { source, gap: "\\n", after: "\\n", translation: target, parsed: true, warnings: service.own,
      memory: { id, similar: [] } };
  });
  return reply(200, { translatedText: rows.map((row) => row.translation).join("\\n"), sentences: rows, unknown: [],
    warnings: service.warnings });
}
globalThis.fetch = async (address, { method = "GET", body } = {}) => {
  const url = new URL(address, "http://localhost"), content = typeof body === "string" ? JSON.parse(body) : body;
  if (url.pathname === "/system") return reply(200, system);
  service.requests.push({ method, path: url.pathname, content, source: url.searchParams.get("source") });
  if (service.down) return reply(503, { error: "try again later" });
  if (url.pathname === "/translate") return translation(content);
  if (method === "POST") {
    service.stored.set(service.last += 1, [content.source, content.target]);
    return reply(200, { id: service.last, rules: 1 });
  }
  const id = Number(url.pathname.split("/")[2]), found = service.stored.get(id);
  const wanted = url.searchParams.get("source");
  if (!found) return reply(404, { error: `no correction ${id}` });
  if (wanted !== null && wanted !== found[0]) return reply(409, { error: `correction ${id} has another source` });
  service.stored.delete(id);
  return reply(200, { undone: id });
};
await import(`${folder}/page.js`);
const settled = () => new Promise((done) => { setTimeout(done, 20); });
await settled();
async function translate(text) { nodes.source.value = text; await nodes.key.on.change(); }
async function correct(text) {
  nodes.correct.on.click();
  nodes.edit.value = text;
  await nodes.keep.on.click();
}
const out = {};
"""
END = "\nconsole.log(JSON.stringify({ ...out, store: Object.fromEntries(store) }));\nprocess.exit(0);\n"


@pytest.fixture
def visit(tmp_path: Path) -> Any:
    """Returns what a script does on the page: the values of ``out``, and of the browser's storage by kind."""

    def run(script: str, system: dict[str, Any] | None = None, **kept: Any) -> dict[str, Any]:
        given = json.dumps({"system": SYSTEM | (system or {}), "kept": kept})
        found = json.loads(run_page(tmp_path, PAGE + script + END, given))
        rows = found.pop("store").items()
        return found | {key.split(".")[1]: json.loads(value) for key, value in rows if key.endswith(NAME)}

    return run


# ---- the glossary ----


def entry(source: str, target: str = "x", mode: str = "hard") -> list[Any]:
    return [source, {"target": target, "mode": mode}]


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("das Cafe\u0301 hier", "Café"),
        ("das Café hier", "Cafe\u0301"),
        ("das Ha\u00adus", "Haus"),
        ("das Ha\u200bus", "Haus"),
        ("die STRASSE", "straße"),
        ("die Straße", "STRASSE"),
        ("das Ｈａｕｓ", "haus"),
        ("ΟΔΟΣ'Α", "οδος"),
        ("Caf&eacute; hier", "Café"),
        ("Café hier", "Caf&amp;eacute;"),
        ("die  Grüne\nKarte", "grüne Karte"),
        ("um → zu", "→"),
    ],
)
def test_entries_are_sent_that_the_service_finds_in_the_text(visit: Any, text: str, source: str) -> None:
    script = f"await translate({json.dumps(text)}); out.sent = service.requests[0].content.glossary;"
    found = visit(script, glossary=[entry(source), entry("Zapato")])
    assert source in [one["source"] for one in found["sent"]]


def test_only_entries_are_sent_that_may_occur(visit: Any) -> None:
    entries = [entry("Zapato"), entry("casas", mode="stem"), entry("casa")]
    found = visit('await translate("la CASA"); out.sent = service.requests[0].content.glossary;', glossary=entries)
    assert [one["source"] for one in found["sent"]] == ["casas", "casa"]


def test_texts_that_a_preparation_makes_equal_are_equal_for_the_page(tmp_path: Path) -> None:
    """Every character, alone and as every Unicode form and lower case write it."""
    rows = []
    for number in range(sys.maxunicode + 1):
        character = chr(number)
        if unicodedata.category(character) not in ("Cn", "Cs", "Co"):
            prepared = "".join(clean(f"a{character}b", "nfkc").casefold().split())
            rows.append((f"a{character}b", prepared))
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    script = """
    import { readFileSync } from "node:fs";
    const folder = process.argv[2], { bare } = await import(`${folder}/base.js`);
    const rows = JSON.parse(readFileSync(`${folder}/rows.json`));
    console.log(JSON.stringify([rows.length, rows.filter(([one, other]) => bare(one) !== bare(other))]));
    """
    count, different = json.loads(run_page(tmp_path, script))
    assert count > 100_000 and different == []


# ---- corrections that the service keeps ----

STALE = {"corrections": [["la casa", "the hut"]], "numbers": [["la casa", 1]]}
OTHER = 'service.stored.set(1, ["una flor", "a lily"]); service.last = 1;\n'


def test_a_number_that_the_service_gave_to_another_text_removes_nothing(visit: Any) -> None:
    """The browser remembers correction 1 of another folder."""
    script = """
    await translate("la casa");
    await correct("the villa");
    await settled();
    out.stored = [...service.stored];
    out.fault = shown("fault");
    out.asked = service.requests.filter(({ method }) => method === "DELETE").map(({ path, source }) => [path, source]);
    nodes.unkeep.onclick();
    await settled();
    out.after = [...service.stored];
    """
    found = visit(OTHER + script, **STALE)
    assert found["asked"] == [["/corrections/1", "la casa"]] and found["fault"] == ""
    assert found["stored"] == [[1, ["una flor", "a lily"]], [2, ["la casa", "the villa"]]]
    assert found["after"] == [[1, ["una flor", "a lily"]]]
    assert found["corrections"] == found["numbers"] == []


def test_a_refused_correction_leaves_the_earlier_one_of_the_service(visit: Any) -> None:
    """The field keeps the text, and keeping it later replaces the earlier correction."""
    script = """
    service.stored.set(service.last = 1, ["la casa", "the hut"]);
    await translate("la casa");
    const old = fetch, refuses = (address, { method } = {}) => method === "POST" && address === "/corrections";
    globalThis.fetch = async (...sent) => (refuses(...sent) ? reply(400, { error: "too long" }) : old(...sent));
    await correct("the villa");
    await settled();
    out.stored = [...service.stored];
    out.field = [nodes.edit.value, nodes.edit.hidden, shown("fault")];
    out.numbers = JSON.parse(store.get("lscfg.numbers.es.en.s"));
    globalThis.fetch = old;
    service.requests.length = 0;
    await nodes.keep.on.click();
    out.methods = service.requests.filter(({ path }) => path.startsWith("/corrections")).map(({ method }) => method);
    out.later = [...service.stored];
    """
    found = visit(script, **STALE)
    assert found["stored"] == [[1, ["la casa", "the hut"]]]
    assert found["field"] == ["the villa", False, "The service did not store the correction: too long"]
    assert found["methods"] == ["POST", "DELETE"] and found["later"] == [[2, ["la casa", "the villa"]]]
    assert found["numbers"] == [["la casa", 2]] and found["corrections"] == [["la casa", "the villa"]]


def test_a_correction_that_is_stored_already_is_not_removed(visit: Any) -> None:
    """The service answers with the number of the equal correction."""
    script = """
    service.stored.set(1, ["la casa", "the hut"]);
    await translate("la casa");
    await correct("the hut");
    await settled();
    out.stored = [...service.stored];
    """
    assert visit(script, **STALE)["stored"] == [[1, ["la casa", "the hut"]]]


def test_a_removal_of_a_shown_correction_removes_no_other_text_of_the_browser(visit: Any) -> None:
    script = """
    await translate("una flor");
    out.recalled = shown("recalled");
    await press("recalled", "Remove correction");
    out.stored = [...service.stored];
    out.target = shown("target").trim();
    """
    found = visit(OTHER + script, **STALE)
    assert found["recalled"].startswith("Correction 1 answers “una flor”.")
    assert found["stored"] == [] and found["target"] == "UNA FLOR" and found["corrections"] == STALE["corrections"]


def test_a_correction_that_the_service_has_lost_is_shown_from_the_browser(visit: Any) -> None:
    script = """
    await translate("la casa");
    out.target = shown("target").trim();
    out.status = shown("status");
    service.warnings = ["the term for 'casa' excluded the correction 4"];
    await translate("la casa");
    out.excluded = shown("target").trim();
    service.warnings = [];
    service.stored.set(4, ["la casa", "the palace"]);
    await translate("la casa");
    out.later = shown("target").trim();
    """
    found = visit(script, **STALE)
    assert found["target"] == "the hut"
    assert found["status"] == "Your correction, kept in this browser. The service no longer has it."
    assert found["excluded"] == "LA CASA"  # the glossary decides, and the status says so
    assert found["later"] == "the palace"


@pytest.mark.parametrize("action", ['await press("corrections", "Remove")', 'await correct("the villa")'])
def test_a_failed_removal_is_told_and_can_be_repeated(visit: Any, action: str) -> None:
    script = f"""
    service.stored.set(1, ["la casa", "the hut"]);
    await translate("la casa");
    service.down = true;
    {action};
    await settled();
    out.fault = shown("fault");
    out.numbers = JSON.parse(store.get("lscfg.numbers.es.en.s"));
    """
    found = visit(script, **STALE)
    assert "try again later" in found["fault"] and found["numbers"] == STALE["numbers"]


def test_an_imported_correction_takes_the_place_of_that_of_the_service(visit: Any) -> None:
    script = """
    service.stored.set(1, ["la casa", "the hut"]);
    const file = { name: "a.tsv", text: async () => "source\\ttarget\\nla casa\\tthe palace\\n" };
    nodes.import.on.change({ target: { files: [file] } });
    await settled();
    await translate("la casa");
    out.target = shown("target").trim();
    """
    assert visit(script, **STALE)["target"] == "the palace"


def test_an_excluded_entry_is_named_only_if_the_text_contains_it(visit: Any) -> None:
    entries = [entry(one) for one in ("as", "flor", "casa", "CASA")] + [entry("zapatos", "shoes", "stem")]
    kept = {"corrections": [["la casa", "the hut"]], "glossary": entries}
    found = visit('await translate("la casa"); out.status = shown("status");', **kept)
    wanted = "Your correction, kept in this browser. It excluded 1 entry of the glossary: “casa”."
    assert found["status"] == wanted


# ---- limits and warnings ----


def test_texts_of_many_sentences_are_translated_without_alternatives(visit: Any) -> None:
    script = """
    await translate("la casa\\n".repeat(60));
    out.many = [shown("target").trim().split("\\n").length, shown("fault"), shown("status")];
    await translate("la casa\\n".repeat(50));
    out.few = service.requests.at(-1).content.alternatives;
    await translate("la casa\\n".repeat(101));
    out.fault = shown("fault");
    """
    found = visit(script)
    assert found["many"] == [60, "", "Translated."] and found["few"] == 3
    assert found["fault"] == "101 sentences; at most 100 are allowed"


def test_every_warning_is_shown_once(visit: Any) -> None:
    warnings = [
        "has a sentence of 300 words, translated in 3 pieces; end sentences by full stops or new lines",
        "has no parse; its words are passed through",
        *(f"the translation lacks '{number}'" for number in range(5)),
    ]
    script = f"""
    service.warnings = {json.dumps(warnings)};
    service.own = service.warnings.slice(1);
    await translate("la casa\\nla flor");
    out.status = shown("status");
    """
    wanted = f"Translated. The text {warnings[0]}. A sentence {warnings[1]}."
    lacks = (f"{warning[0].upper()}{warning[1:]}." for warning in warnings[2:])
    assert visit(script)["status"] == " ".join([wanted, *lacks])


def test_a_refused_entry_is_named_for_texts_and_files(visit: Any) -> None:
    script = """
    globalThis.fetch = async () => reply(400, { error: "glossary[1].target is empty" });
    await translate("la casa roja");
    out.fault = shown("fault");
    globalThis.FormData = class { append() {} };
    nodes.file.on.change({ target: { files: [{ name: "a.txt", size: 9 }] } });
    await settled();
    out.file = shown("file-status");
    nodes.file.on.change({ target: { files: [{ name: "b.txt", size: 1025 }] } });
    out.large = whole(nodes["file-status"].children.at(-1));
    """
    found = visit(script, glossary=[entry("casa"), entry("roja")])
    assert (found["fault"], found["file"]) == ("Glossary, “roja” is empty", "a.txt: Glossary, “roja” is empty")
    assert found["large"] == "b.txt is larger than 1 KiB."


def test_files_are_translated_one_after_another(visit: Any) -> None:
    """Each file has a line, which keeps its link or the reason of its refusal."""
    script = """
    globalThis.FormData = class { append(key, value) { if (key === "file") this.name = value.name; } };
    const sent = [], file = (name) => ({ name, size: 9 }), lines = () => nodes["file-status"].children.map(whole);
    globalThis.fetch = (_, { body }) => new Promise((answer) => { sent.push({ name: body.name, answer }); });
    const done = (name) => new Response(`${JSON.stringify({ done: 0, of: 1 })}\\n${JSON.stringify({
      translatedFileUrl: `http://localhost/download_file/${name}`, name: `en.${name}`, warnings: [] })}\\n`);
    nodes.file.on.change({ target: { files: [file("a.txt"), file("b.txt")] } });
    nodes.drop.on.drop({ preventDefault() {}, dataTransfer: { files: [file("c.txt"), file("d.txt")] } });
    await settled();
    out.waiting = [sent.length, lines()];
    for (const answer of [done("a.txt"), reply(400, { error: "damaged" }), done("c.txt"), done("d.txt")]) {
      sent.at(-1).answer(answer);
      await settled();
    }
    out.sent = sent.map(({ name }) => name);
    out.lines = lines();
    """
    found = visit(script)
    assert found["waiting"] == [1, ["Sending a.txt.", "b.txt waits.", "c.txt waits.", "d.txt waits."]]
    assert found["sent"] == ["a.txt", "b.txt", "c.txt", "d.txt"]
    downloads = [f"Download en.{name}.txt" for name in "acd"]
    assert found["lines"] == [downloads[0], "b.txt: damaged", *downloads[1:]]


def test_the_latest_of_two_questions_is_answered(visit: Any) -> None:
    script = """
    await translate("la casa");
    const answers = [];
    globalThis.fetch = () => new Promise((answer) => { answers.push(answer); });
    nodes.why.on.click();
    nodes.why.on.click();
    for (const [number, error] of [[1, "the latest"], [0, "the first"]]) {
      answers[number](reply(400, { error }));
      await settled();
    }
    out.shown = shown("why-result");
    """
    assert visit(script)["shown"] == "the latest"


# ---- a browser that stores nothing ----

UNSTORED = "The browser stored nothing: it does not allow it, or its storage is full."


def test_a_correction_that_nothing_keeps_stays_in_its_field(visit: Any) -> None:
    script = """
    await translate("la casa");
    full = true;
    await correct("the hut");
    out.field = [nodes.edit.value, nodes.edit.hidden];
    out.fault = shown("fault");
    """
    found = visit(script, {"corrections": False})
    assert found["field"] == ["the hut", False] and found["fault"] == UNSTORED


def test_a_correction_that_only_the_service_keeps_is_told(visit: Any) -> None:
    script = """
    await translate("la casa");
    full = true;
    await correct("the hut");
    out.target = shown("target").trim();
    out.told = [shown("fault"), shown("status")];
    """
    found = visit(script)
    assert found["target"] == "the hut"
    assert found["told"] == [UNSTORED, "Kept. The system has learnt 1 rule from it and uses them from now on."]


ADD = 'nodes["term-form"].on.submit({ preventDefault() {} })'


@pytest.mark.parametrize("action", ['press("terms", "Remove")', ADD])
def test_an_entry_that_cannot_be_stored_or_removed_is_told(visit: Any, action: str) -> None:
    script = f"""
    Object.assign(nodes["term-source"], {{ value: "roja" }});
    Object.assign(nodes["term-target"], {{ value: "crimson" }});
    nodes["term-mode"].value = "hard";
    full = true;
    {action};
    await settled();
    out.told = [shown("fault"), shown("status")];
    """
    assert visit(script, glossary=[entry("casa")])["told"] == [UNSTORED, ""]
