"""The tables that the page of ``lscfg serve`` exports and imports: its scripts in Node, with a document of stubs."""

import json

import pytest
from page_scripts import needs_node, run_page

from lscfg.decode.glossary import Glossary
from lscfg.decode.terms import Term

pytestmark = needs_node

ENTRIES = [
    ["haus", {"target": "house | home", "mode": "hard"}],
    ["#1", {"target": "no. 1", "mode": "soft"}],
    ["C:\\temp", {"target": "D:\\new", "mode": "hard"}],
    ["Roma", {"target": "", "mode": "keep"}],
    ["Casas", {"target": "Villa", "mode": "stem"}],
    ['"Der Spiegel"', {"target": '"The ""Mirror"""', "mode": "hard"}],
]
CORRECTIONS = [
    ["# Haus", "# House"],
    ["C:\\temp\\neu", "D:\\new"],
    ["a\n#b\tc", "d"],
    ["\\#", "\\n"],
    ['"#"', '"""'],
    ['"Ja"', '"Ja" und "Nein"'],
]
SCRIPT = """
const [folder, part, kind, ids, kept, given] = process.argv.slice(2);
const store = new Map([[`lscfg.${kind}...`, kept]]), nodes = {}, calls = {};
const node = (id) => ({ id, classList: { add() {}, remove() {} }, append() {}, remove() {}, click() {}, focus() {},
  replaceChildren() {}, setAttribute() {}, addEventListener: (event, call) => { calls[`${id} ${event}`] = call; } });
let saved = "";
globalThis.localStorage = { getItem: (key) => store.get(key) ?? null, setItem: (key, value) => store.set(key, value) };
globalThis.Blob = class { constructor(lines) { saved = lines.join(""); } };
URL.createObjectURL = () => "";
globalThis.document = { getElementById: (id) => (nodes[id] ??= node(id)), createElement: node, body: node("body") };
const page = await import(`${folder}/${part}.js`);
(page.startGlossary ?? page.startCorrections)(() => {});
calls[`${ids}export click`]();
store.clear();
saved = given || saved;
calls[`${ids}import change`]({ target: { files: [{ name: "a.tsv", text: async () => saved }] } });
await new Promise((done) => { setTimeout(done, 10); });
const { textContent: fault } = nodes.fault ?? {};
console.log(JSON.stringify({ saved, fault, read: JSON.parse(store.get(`lscfg.${kind}...`) ?? "[]") }));
"""


@pytest.fixture
def exported(tmp_path):
    """Exports what the browser keeps, then imports it, or another table, into an empty browser."""

    def run(part, ids, kept, given=""):
        return json.loads(run_page(tmp_path, SCRIPT, part, part, ids, json.dumps(kept), given))

    return run


def test_an_exported_glossary_means_the_same_everywhere(exported, tmp_path):
    found = exported("glossary", "term-", ENTRIES)
    assert found["read"] == ENTRIES
    (tmp_path / "glossary.tsv").write_text(found["saved"])
    assert [entry.term for entry in Glossary.read(tmp_path / "glossary.tsv").entries] == [
        Term("haus", ("house", "home"), "hard", "nocase"),
        Term("#1", ("no. 1",), "soft", "nocase"),
        Term("C:\\temp", ("D:\\new",)),
        Term("Roma", (), "keep"),
        Term("Casas", ("Villa",), "hard", "stem"),
        Term('"Der Spiegel"', ('"The ""Mirror"""',)),
    ]


def test_exported_corrections_come_back(exported):
    assert exported("corrections", "", CORRECTIONS)["read"] == CORRECTIONS


def test_tabs_within_entries_end_no_cells(exported):
    """Of entries that an earlier version of the page has kept."""
    found = exported("glossary", "term-", [["la\tcasa", {"target": "the\thouse", "mode": "hard"}]])
    assert found["read"] == [["la casa", {"target": "the house", "mode": "hard"}]]


QUOTED = [('"Müller, Hans"', '"a ""b"" c"'), ('"one" and "two"', "d"), ('"', '""'), ("e", '" f"')]
READ = [("Müller, Hans", 'a "b" c'), ('"one" and "two"', "d"), ('"', '""'), ("e", "f")]
NOTE = "a.tsv: read without the quotes of a spreadsheet: lines 2, 5"


@pytest.mark.parametrize("part", ["glossary", "corrections"])
def test_the_quotes_of_a_spreadsheet_are_left_out(exported, tmp_path, part):
    """As the command line does, which names the lines, too."""
    table = "".join("\t".join(row) + "\n" for row in [('"source"', "target"), *QUOTED])
    found = exported(part, "term-" if part == "glossary" else "", [], table)
    assert found["fault"] == NOTE
    if part == "corrections":
        assert found["read"] == [list(row) for row in READ]
        return
    assert [(source, rest["target"]) for source, rest in found["read"]] == READ
    (tmp_path / "glossary.tsv").write_text(table)
    terms = [entry.term for entry in Glossary.read(tmp_path / "glossary.tsv").entries]
    assert [(term.source, *term.targets) for term in terms] == READ


def test_many_quoted_lines_are_counted(exported):
    table = "source\ttarget\n" + '"a b"\tc\n' * 7 + 'd\t"e"\n'
    assert exported("glossary", "term-", [], table)["fault"] == f"{NOTE[:-4]}2, 3, 4, 5, 6 and 3 more"
