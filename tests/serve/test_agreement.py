"""The service, ``lscfg decode`` and Python give the same answer to the same request."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path

import pytest
from asgi import Client
from services import prepared_bundle

from lscfg import cli
from lscfg.api.decoder import Decoder
from lscfg.bundle.system import open_system
from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.decode.terms import ChosenSpan
from lscfg.formats.marked import MODES, read_marked
from lscfg.formats.weights import read_weights
from lscfg.prepare.record import Record

pytest.importorskip("uvicorn", reason="lscfg serve needs uvicorn: pip install 'lscfg[serve]'")

TERMS = [
    {"source": "flor", "target": ["rose", "bloom"], "match": "nocase"},
    {"source": "Casas rojas", "target": "Ruby Hut", "match": "stem"},
    {"source": "roja", "target": "crimson", "mode": "soft"},
    {"source": "La casa", "target": "houses", "forms": "auto"},
    {"source": "Roma", "mode": "keep"},
]
CORRECTIONS = [("la casa roja", "The Red Palace"), ("una flor", "a lily")]
TEXT = ["La casa roja", "Una casa roja", "la flor de Roma", "una Flor roja 2,5", "la casa la flor", "una flor"]


@pytest.fixture(scope="module")
def bundle(system: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("agreement")
    return prepared_bundle(system, folder)


def table(terms: list[dict[str, object]]) -> str:
    """The terms as a glossary file."""
    keys = ("source", "target", "mode", "match", "forms")
    rows = [[term.get(key, "") for key in keys] for term in terms]
    cells = [["|".join(cell) if isinstance(cell, list) else str(cell) for cell in row] for row in rows]
    return "".join("\t".join(row) + "\n" for row in [[*keys], *cells])


@pytest.mark.parametrize("number", range(len(TERMS) + 2))
def test_glossaries_and_corrections(number: int, bundle: Path, tmp_path: Path) -> None:
    """Each term alone, all of them, and none."""
    terms = [TERMS[number]] if number < len(TERMS) else TERMS if number == len(TERMS) else []
    (tmp_path / "terms").write_text(table(terms))
    client = Client(bundle, memory=tmp_path / "memory")
    for source, target in CORRECTIONS:
        assert client.post("/corrections", {"source": source, "target": target}).status_code == 200
    answer = client.post("/translate", {"source": TEXT, "glossary": terms})
    assert answer.status_code == 200, answer.text
    found = answer.json()["translations"]
    side = Record.read(bundle / "prepare").sides[0].side()
    words = [side.encode(line) for line in TEXT]
    glossary = tmp_path / "terms" if terms else None
    with Decoder(bundle / "cdec.ini", glossary=glossary, corrections=tmp_path / "memory") as decoder:
        assert decoder.translate(words) == [one["words"] for one in found]
    (tmp_path / "words").write_text("".join(f"{line}\n" for line in words))
    (tmp_path / "text.txt").write_text("".join(f"{line}\n" for line in TEXT))
    options = ["-c", str(bundle / "cdec.ini"), "--corrections", str(tmp_path / "memory")]
    options += ["--glossary", str(glossary)] if terms else []
    for name, more, wanted in (
        ("words", [], [one["words"] for one in found]),
        ("text.txt", ["--xml-input", "document"], [one["translation"] for one in found]),
    ):
        assert cli.main(["decode", *options, str(tmp_path / name), *more, "-o", str(tmp_path / "out")]) == 0
        assert (tmp_path / "out").read_text().splitlines() == wanted


TAGGED = [
    'la <np translation="hut||cabin" prob="0.2||0.8">casa</np> roja',
    '<np translation="a big plant">una flor</np> <wall/> roja',
    "<zone>la casa</zone> <zone>la <wall/> flor</zone>",
    '<zone>la <x english="y z">casa roja</x></zone> <wall/> una flor',
    '<a translation="nobody knows">zapato</a> roja',
    "una flor",
]
"""Sentences whose preparation changes no word."""


@pytest.mark.parametrize("mode", MODES)
def test_tags_with_translations(mode: str, bundle: Path, tmp_path: Path) -> None:
    """Words and raw text get the answers of the command and of Python, with a glossary and corrections, too."""
    client = Client(bundle, memory=tmp_path / "memory")
    client.post("/corrections", {"source": CORRECTIONS[0][0], "target": CORRECTIONS[0][1]})
    glossary = [{**TERMS[0], "match": "exact"}]
    (tmp_path / "terms").write_text(table(glossary))
    query = {"source": TAGGED, "xml_input": mode, "glossary": glossary, "kbest": 3, "details": True}
    raw, words = (client.post("/translate", {**query, "raw": raw}) for raw in (True, False))
    assert raw.status_code == words.status_code == 200, (raw.text, words.text)
    found = words.json()["translations"]
    for one, other in zip(raw.json()["translations"], found, strict=True):
        assert (one["words"], one["score"]) == (other["translation"], other["score"])
        assert [(t["source"], t["target"]) for t in one["terms"]] == [
            (t["source"], t["target"]) for t in other["terms"]
        ]
    for text, one in zip(TAGGED, found, strict=True):
        places = [text[slice(*place)] for place in one["details"]["source_ranges"]]
        assert places == one["details"]["source_words"] == read_marked(text).text.split()
    with Decoder(bundle / "cdec.ini", glossary=tmp_path / "terms", corrections=tmp_path / "memory") as decoder:
        listed = decoder.translate(TAGGED, 3, xml_input=mode)
        assert [[(one["translation"], one["score"]) for one in own["kbest"]] for own in found] == [
            [(one.text, one.score) for one in own] for own in listed
        ]
    (tmp_path / "words").write_text("".join(f"{line}\n" for line in TAGGED))
    options = ["-c", bundle / "cdec.ini", "--corrections", tmp_path / "memory", "--glossary", tmp_path / "terms"]
    options += ["--xml-input", mode, tmp_path / "words", "-o", tmp_path / "out"]
    assert cli.main(["decode", *map(str, options)]) == 0
    assert (tmp_path / "out").read_text().splitlines() == [one["translation"] for one in found]


LATTICES = [
    "((('la',0.5,1),('una',-1,1)),(('casa',1),('flor',0.25,1)),(('roja',1,1),('*EPS*',1)))",
    "((('zapato',{'Own':0.5},2),('la',1)),(('x',1),))",
    "((('la',1),),(('casa',1),),)",
]
RULES = ["[X] ||| zapato ||| shoe ||| EgivenF=0.5 New=2", "[X] ||| [X,1] roja ||| [1] of red ||| EgivenF=-3"]


@pytest.mark.parametrize("rules", [[], RULES])
@pytest.mark.parametrize("lines", [LATTICES, ["la zapato roja", "una casa", "", "x roja"]])
def test_lattices_and_rules(lines: list[str], rules: list[str], bundle: Path, tmp_path: Path) -> None:
    """Words get the same lists from the service, from Python and from the command, whose lines name a file of rules."""
    (tmp_path / "rules").write_text("".join(f"{rule}\n" for rule in rules))
    system = open_system(bundle)
    (tmp_path / "weights").write_text(Path(system.weights_path).read_text() + "Own -3\nNew 1\n")
    form = "plf" if lines is LATTICES else "text"
    system = replace(system, weights=read_weights(tmp_path / "weights"))
    answer = Client(bundle, system=system).post(
        "/translate", {"source": lines, "input": form, "grammar": rules, "raw": False, "kbest": 4, "derivations": True}
    )
    assert answer.status_code == 200, answer.text
    found = answer.json()["translations"]
    with Decoder(bundle / "cdec.ini", tmp_path / "weights") as decoder:
        listed = decoder.translate(lines, 4, grammar=rules)
        assert [[(one["translation"], one["score"], one["features"]) for one in own["kbest"]] for own in found] == [
            [(one.text, one.score, dict(one.features)) for one in own] for own in listed
        ]
        assert [one.hypotheses[0].text for one in decoder.explain(lines, grammar=rules)] == [
            one["translation"] for one in found
        ]
    head = f'<seg grammar="{tmp_path / "rules"}">' if rules else "<seg>"
    (tmp_path / "words").write_text("".join(f"{head}{line}</seg>\n" for line in lines))
    options = ["-c", bundle / "cdec.ini", "-w", tmp_path / "weights", "-k", 4, "--derivations", tmp_path / "all"]
    assert cli.main(["decode", *map(str, options), str(tmp_path / "words"), "-o", str(tmp_path / "out")]) == 0
    rows = [line.split(" ||| ")[1] for line in (tmp_path / "out").read_text().splitlines()]
    assert rows == [one["translation"] for own in found for one in own["kbest"]]
    written = [json.loads(line)["derivations"] for line in (tmp_path / "all").read_text().splitlines()]
    assert written == [own["derivations"] for own in found]


@pytest.mark.parametrize("mode", MODES)
def test_files_with_tags(mode: str, bundle: Path) -> None:
    """Each line of a file is one sentence, whatever its tags contain."""
    client, lines = Client(bundle), [*TAGGED, 'la <x translation="This. That.">casa</x> . Una flor']
    wanted = client.post("/translate", {"source": lines, "xml_input": mode}).json()["translations"]
    sent = {"data": {"xml_input": mode}, "files": {"file": ("a.txt", "".join(f"{line}\n" for line in lines).encode())}}
    answer = client("POST", "/translate_file?download=1", **sent)
    assert (answer.status_code, answer.text.splitlines()) == (200, [one["translation"] for one in wanted])


def test_tags_of_other_files_are_refused(bundle: Path) -> None:
    for name, mode, message in (
        ("a.html", "constraint", "xml_input applies to files .txt, not .html; remove the key"),
        ("a.txt", "document", "xml_input must be exclusive or"),
    ):
        sent = {"data": {"xml_input": mode}, "files": {"file": (name, b"la casa")}}
        answer = Client(bundle)("POST", "/translate_file", **sent)
        assert answer.status_code == 400 and answer.json()["error"].startswith(message)


def test_choices_with_terms(bundle: Path) -> None:
    side = Record.read(bundle / "prepare").sides[0].side()
    client, system = Client(bundle), open_system(bundle)
    with EmbeddedDecoder.from_config(system.config, cached=0) as decoder:
        for line, (i, j) in itertools.product(TEXT[:3], [(0, 1), (1, 3)]):
            choices = [{"span": [i, j], "target": "x y"}]
            answer = client.post("/translate", {"source": line, "choices": choices, "keep": ["Roma"]})
            assert answer.status_code == 200, answer.text
            (one,) = decoder.translate([side.encode(line)], system.weights, choices=[ChosenSpan((i, j), "x y")])
            assert answer.json()["translations"][0]["words"] == one.hypotheses[0].text
            assert " x y " in f" {one.hypotheses[0].text} "


def test_tags_change_no_word(bundle: Path, tmp_path: Path) -> None:
    """A document without its tags is the document of the text without tags, with all instructions."""
    client = Client(bundle, memory=tmp_path / "memory")
    client.post("/corrections", {"source": CORRECTIONS[1][0], "target": CORRECTIONS[1][1]})
    results = []
    for page in (
        "<p>La <b>casa <i>roja</i></b></p><p>la <b>flor</b> de Roma</p>",
        "<p>La casa roja</p><p>la flor de Roma</p>",
    ):
        form = {"glossary": json.dumps(TERMS[:3]), "keep": json.dumps(["Roma"])}
        answer = client("POST", "/translate_file?download=1", data=form, files={"file": ("a.html", page.encode())})
        assert answer.status_code == 200, answer.text
        results.append(answer.text)
    for tag in ("b", "i", "/b", "/i"):
        results[0] = results[0].replace(f"<{tag}>", "")
    assert results[0] == results[1] and "Roma" in results[1]
