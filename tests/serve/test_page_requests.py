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
NAME = "es.en"

PAGE = """
const [folder, given] = process.argv.slice(2), { system, kept } = JSON.parse(given), nodes = {};
const keyOf = (kind) => (kind.includes(".") ? `lscfg.${kind}` : `lscfg.${kind}.es.en`);
const store = new Map(Object.entries(kept).map(([kind, rows]) => [keyOf(kind), JSON.stringify(rows)]));
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
globalThis.localStorage = new Proxy({ getItem: (key) => store.get(key) ?? null, setItem: write },
  { ownKeys: () => [...store.keys()], getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }) });
globalThis.document = { getElementById: (id) => (nodes[id] ??= new Node(id)), createElement: (name) => new Node(name),
  querySelectorAll: () => [], body: new Node("body"), documentElement: new Node("html") };
globalThis.window = new Node("window");

const lines = (q) => q.split("\\n").filter(Boolean).map((source) => [source, "\\n"]);
const service = { requests: [], stored: new Map(), last: 0, down: false, warnings: [], own: [], others: [],
  words: false, split: lines };
const reply = (status, content) => ({ ok: status === 200, status, statusText: "", json: async () => content });
const ranges = (text) => [...text.matchAll(/[^ ]+/g)].map(({ index, 0: word }) => [index, index + word.length]);
const detailed = (source, target) => ({ source_ranges: ranges(source), words: ranges(target).map((range, k) => ({
  range, links: [k], unknown: false, posterior: 1,
  alternatives: [{ span: [k, k + 1], text: `other${k}`, posterior: 0 }] })) });
function translation({ q, alternatives, glossary, choices = [] }) {
  const sentences = service.split(q, glossary), listed = sentences.length * (1 + alternatives);
  if (sentences.length > 100) return reply(413, { error: `${sentences.length} sentences; at most 100 are allowed` });
  if (alternatives && listed > 200) return reply(413, { error: `${listed} translations; ask for fewer alternatives` });
  const spans = new Set(choices.map((one) => `${one.sentence} ${one.span}`));
  if (spans.size < choices.length) return reply(400, { error: "overlap" });
  const rows = sentences.map(([source, gap], number) => {
    const chosen = choices.filter(({ sentence }) => sentence === number);
    const excluded = chosen.length || service.warnings.some((one) => one.includes("excluded the correction"));
    const pair = excluded ? undefined : [...service.stored].findLast(([, one]) => one[0] === source);
    const [id, [, found]] = pair ?? [null, [source, source.toUpperCase()]];
    const inPlace = (word, k) => chosen.find(({ span }) => span[0] === k)?.target ?? word;
    const target = found.split(" ").map(inPlace).join(" ");
    const details = service.words ? detailed(source, target) : undefined;
    return { source, gap, after: gap, translation: target, parsed: true, warnings: service.own, details,
      memory: { id, similar: [] } };
  });
  return reply(200, { translatedText: rows.map((row) => row.translation).join("\\n"), sentences: rows, unknown: [],
    alternatives: service.others, warnings: service.warnings });
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
const words = () => within(nodes.target).filter((one) => one.className === "word");
const sent = () => service.requests.findLast(({ path }) => path === "/translate").content;
async function pick(k) { // the other translation of a word
  words()[k].on.click();
  within(nodes.alternatives).find((one) => one.id === "button" && whole(one).startsWith("other")).on.click();
  await settled();
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
    out.numbers = JSON.parse(store.get("lscfg.numbers.es.en"));
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
    out.numbers = JSON.parse(store.get("lscfg.numbers.es.en"));
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


@pytest.mark.parametrize("action", ["", 'await press("others", "la villa")'])
def test_a_correction_replaces_the_choices_before_it(visit: Any, action: str) -> None:
    """The service uses no correction of a sentence with choices."""
    script = f"""
    service.words = true;
    service.others = ["la villa"];
    await translate("la casa");
    await pick(0);
    out.chosen = [whole(nodes.target), sent().choices.length];
    {action};
    await correct("the villa");
    out.kept = [shown("target").trim(), sent().choices.length];
    """
    found = visit(script)
    assert found["chosen"] == ["other0 (your choice) CASA\n", 1] and found["kept"] == ["the villa", 0]


# ---- choices ----


def test_choices_are_those_of_the_sentences_that_the_terms_leave(visit: Any) -> None:
    """A term can join two sentences, whose later words then have other numbers."""
    script = """
    const joined = [["La casa. Una flor", ""]], parts = [["La casa.", " "], ["Una flor", ""]];
    service.words = true;
    service.split = (q, glossary) => (glossary.length ? joined : parts);
    await translate("La casa. Una flor");
    await pick(3);
    out.before = sent().choices;
    store.set("lscfg.glossary.es.en", JSON.stringify([["casa. Una", { target: "x", mode: "hard" }]]));
    await translate("La casa. Una flor");
    out.after = sent().choices;
    """
    found = visit(script)
    assert found["before"] == [{"sentence": 1, "span": [1, 2], "target": "other1"}]
    assert found["after"] == [{"sentence": 0, "span": [3, 4], "target": "other1"}]


@pytest.mark.parametrize("change", ["hoy la casa roja", "la casa roja hoy"])
def test_a_second_choice_for_a_word_replaces_the_first_one(visit: Any, change: str) -> None:
    """The text changes between them, and its translation is not there yet."""
    script = f"""
    service.words = true;
    await translate("la casa roja");
    await pick(2);
    nodes.source.value = {json.dumps(change)};
    nodes.source.on.input();
    await pick(2);
    out.twice = [sent().choices, shown("fault")];
    nodes.source.value = `${{nodes.source.value}} x`;
    nodes.source.on.input();
    words().find((one) => whole(one).startsWith("other2")).on.click();
    nodes.source.value += "y";
    nodes.source.on.input();
    press("alternatives", "Undo this choice");
    await settled();
    out.undone = [sent().q, sent().choices];
    """
    found, begin = visit(script), change.split().index("roja")
    assert found["twice"] == [[{"sentence": 0, "span": [begin, begin + 1], "target": "other2"}], ""]
    assert found["undone"] == [f"{change} xy", []]


@pytest.mark.parametrize(
    ("action", "focused"),
    [
        ("", ["word"]),
        ("document.body.on.focusin({ target: { closest: () => null } })", []),
        ("document.body.on.focusin({ target: { closest: () => nodes.undo } })", ["word"]),
        ('nodes.source.value += " roja"; globalThis.fetch = old; nodes.source.on.input()', []),
    ],
)
def test_a_late_answer_leaves_the_focus_where_a_person_has_put_it(visit: Any, action: str, focused: list[str]) -> None:
    script = f"""
    service.words = true;
    await translate("la casa");
    const old = fetch, held = [], focused = [];
    globalThis.fetch = (...sent) => new Promise((answer) => {{ held.push(() => answer(old(...sent))); }});
    await pick(1);
    Node.prototype.focus = function () {{ focused.push(this.className); }};
    {action};
    held[0]();
    await new Promise((done) => {{ setTimeout(done, 600); }});
    out.focused = focused;
    out.words = words().length;
    """
    found = visit(script)
    assert found["focused"] == focused and found["words"] == (3 if "roja" in action else 2)


def test_a_late_answer_leaves_the_field_in_which_a_person_types(visit: Any) -> None:
    script = """
    service.words = true;
    await translate("la casa");
    words()[0].on.click();
    out.hidden = [nodes.word.hidden];
    document.activeElement = { closest: () => ({}) };
    await translate("la casa");
    out.hidden.push(nodes.word.hidden);
    document.activeElement = null;
    await translate("la casa");
    out.hidden.push(nodes.word.hidden);
    """
    assert visit(script)["hidden"] == [False, False, True]


@pytest.mark.parametrize("composed", ["{ isComposing: true, keyCode: 13 }", "{ isComposing: false, keyCode: 229 }"])
def test_keys_of_an_input_method_are_no_commands(visit: Any, composed: str) -> None:
    script = f"""
    const event = (key, more) => ({{ key, preventDefault() {{}}, ...more }});
    const plain = {{ isComposing: false, keyCode: 13 }};
    service.words = true;
    await translate("la casa");
    words()[0].on.click();
    const field = within(nodes.alternatives).find((one) => one.className === "own");
    field.value = "el";
    out.choices = [];
    for (const more of [{composed}, plain]) {{
      field.on.keydown(event("Enter", more));
      await settled();
      out.choices.push(sent().choices.length);
    }}
    nodes.correct.on.click();
    out.hidden = [];
    for (const more of [{composed}, plain]) {{
      nodes.edit.on.keydown(event("Escape", more));
      out.hidden.push(nodes.edit.hidden);
    }}
    """
    found = visit(script)
    assert found["choices"] == [0, 1] and found["hidden"] == [False, True]


# ---- what the browser keeps ----


def test_a_better_system_of_the_same_languages_leaves_what_the_browser_keeps(visit: Any) -> None:
    """``lscfg quick`` serves another system at the same address; earlier pages kept a copy for each system."""
    script = """
    out.before = shown("facts");
    system.system = "BEST";
    await window.on.focus();
    await settled();
    out.after = shown("facts");
    """
    kept = {
        "glossary.es.en.MIN": [entry("casa"), entry("flor")],
        "glossary.es.en.LATENT": [entry("flor", "bloom")],
        "glossary.en.es.LATENT": [entry("other")],
        "corrections.es.en.MIN": [["la casa", "the hut"]],
        "numbers": [["la flor", 7]],
        "numbers.es.en.MIN": [["la casa", 1]],
    }
    found = visit(script, {"system": "LATENT"}, **kept)
    assert found["glossary"] == [entry("casa"), entry("flor", "bloom")]
    assert found["corrections"] == [["la casa", "the hut"]] and found["numbers"] == [["la flor", 7]]
    assert "SystemLATENT" in found["before"] and "SystemBEST" in found["after"]


def test_systems_without_languages_share_nothing(visit: Any) -> None:
    kept = {"glossary...s": [entry("casa")], "glossary...s.2": [entry("casas")], "glossary...t": [entry("CASA")]}
    found = visit('await translate("la casa"); out.sent = sent().glossary;', {"source": None, "target": None}, **kept)
    assert [one["source"] for one in found["sent"]] == ["casa"]


def test_entries_of_a_glossary_have_single_blanks(visit: Any) -> None:
    """A tab, which comes with two cells of a spreadsheet, would end a cell of the export."""
    script = f"""
    Object.assign(nodes["term-source"], {{ value: " dos\\tcasas " }});
    Object.assign(nodes["term-target"], {{ value: "two\\t houses |hut" }});
    nodes["term-mode"].value = "hard";
    {ADD};
    out.shown = shown("terms");
    """
    found = visit(script, glossary=[entry("una\tflor", "a\tflower")])
    assert found["glossary"] == [entry("una flor", "a flower"), entry("dos casas", "two houses |hut")]
    assert found["shown"].startswith("una flora flower")


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
    const asked = [], made = [], file = (name) => ({ name, size: 9 });
    const shownLines = () => nodes["file-status"].children.map(whole);
    globalThis.fetch = (_, { body }) => new Promise((answer) => { asked.push({ name: body.name, answer }); });
    URL.createObjectURL = (blob) => { made.push(blob); return "blob:"; };
    const progress = JSON.stringify({ done: 0, of: 1 });
    const facts = (name) => JSON.stringify({ name: `en.${name}`, warnings: [] });
    const done = (name) => new Response(`${progress}\\n${facts(name)}\\n\\ufeff{${name}}\\n\\n`);
    nodes.file.on.change({ target: { files: [file("a.txt"), file("b.txt")] } });
    nodes.drop.on.drop({ preventDefault() {}, dataTransfer: { files: [file("c.txt"), file("d.txt")] } });
    await settled();
    out.waiting = [asked.length, shownLines()];
    for (const answer of [done("a.txt"), reply(400, { error: "damaged" }), done("c.txt"), done("d.txt")]) {
      asked.at(-1).answer(answer);
      await settled();
    }
    out.sent = asked.map(({ name }) => name);
    out.lines = shownLines();
    out.files = await Promise.all(made.map(async (blob) => [...new Uint8Array(await blob.arrayBuffer())]));
    """
    found = visit(script)
    assert found["waiting"] == [1, ["Sending a.txt.", "b.txt waits.", "c.txt waits.", "d.txt waits."]]
    assert found["sent"] == ["a.txt", "b.txt", "c.txt", "d.txt"]
    downloads = [f"Download en.{name}.txt" for name in "acd"]
    assert found["lines"] == [downloads[0], "b.txt: damaged", *downloads[1:]]
    assert [bytes(one).decode() for one in found["files"]] == [f"\ufeff{{{name}.txt}}\n\n" for name in "acd"]


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
