"""Glossary, kept words and choices of requests, and the characters of words in answers."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from limits import time_limit
from services import little_preparation, prepared_bundle

pytest.importorskip("uvicorn", reason="lscfg serve needs uvicorn: pip install 'lscfg[serve]'")

from asgi import Client
from decoders import WEIGHTS, small_config

from lscfg.bundle.system import TranslationSystem, open_system
from lscfg.decode.glossary import Glossary
from lscfg.decode.terms import ChosenSpan, Term, UsedTerm
from lscfg.prepare.record import Record
from lscfg.prepare.sides import Side, SideRecipe
from lscfg.prepare.tokeniser import TOKENISERS
from lscfg.prepare.untouched import untouched_parts
from lscfg.serve.instructions import LONGEST, MOST_CHOICES, MOST_TERMS, read_instructions
from lscfg.serve.refusal import RefusalError
from lscfg.serve.shown import ShownTranslation, given_terms
from lscfg.serve.translator import TranslationOptions, Translator

JSON = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def client(system: Path, tmp_path_factory: pytest.TempPathFactory) -> Client:
    folder = tmp_path_factory.mktemp("raw")
    return Client(prepared_bundle(system, folder))


@pytest.fixture(scope="module")
def words(bundle: Path) -> Client:
    """A system without a preparation."""
    return Client(bundle)


def answers(client: Client, **query: Any) -> list[dict[str, Any]]:
    found = client.post("/translate", query)
    assert found.status_code == 200, found.text
    return found.json()["translations"]


def test_terms_in_raw_text_are_prepared_and_restored(client: Client) -> None:
    entry = {"source": "roja", "target": ["crimson", "Ruby Red"]}
    (found,) = answers(client, source="La casa roja", glossary=[entry])
    assert "crimson" in found["translation"] and found["terms"][0]["source"] == [2, 3]
    (found,) = answers(client, source="La casa roja", glossary=[{"source": "la casa", "target": "Ruby Red"}])
    ((begin, end),) = (one["target"] for one in found["terms"])
    assert end - begin == 2 and found["translation"].split()[begin:end] == ["Ruby", "Red"]
    (found,) = answers(client, source="una flor", glossary=[{"source": "casa", "target": "hut"}])
    assert found["translation"] == "A flower" and found["terms"] == []


@pytest.mark.parametrize("form", ["text", "html"])
def test_terms_with_stops_are_obeyed_in_texts_of_several_sentences(client: Client, form: str) -> None:
    """Terms of the request, and those of the service; without them, a sentence ends at the exclamation mark."""
    sent = {"q": "La casa! Roja", "source": "es", "target": "en", "format": form}
    asked = client.post(
        "/translate", sent | {"glossary": [{"source": "casa! roja", "target": "crimson", "match": "nocase"}]}
    )
    assert asked.json()["translatedText"] == "The crimson"
    assert "crimson" not in client.post("/translate", sent).json()["translatedText"]


def test_a_term_counts_where_it_is_a_word_also_next_to_longer_words() -> None:
    recipe = SideRecipe("de", "NFC", "none", "none", TOKENISERS["none"].Settings(), None, None, None, False)
    sides = Side(recipe), Side(recipe)
    for side in sides:
        side.subwords = True
    terms = [Term("Haus", ("home",)), Term("HAUS", ("HOME",), match="nocase")]
    for term in terms:
        for words, spans, warnings in (
            (", Haus , Haus tür ,", [(1, 2)], 0),
            (", Haus tür , Haus tür ,", [], 1),
        ):
            found = given_terms([[term]], (), words, words, sides)
            assert [one.span for one in found.index.find(words.split()).occurrences] == spans
            assert len(found.warnings) == warnings


def test_answers_list_only_terms_that_a_person_gave(client: Client) -> None:
    address = "https://Example.org/A?b=c"
    for given, listed in (
        ({}, []),
        ({"keep": [address]}, [address]),
        ({"glossary": [{"source": address.upper(), "mode": "keep", "match": "nocase"}]}, [address]),
        ({"glossary": [{"source": address, "target": "our page"}]}, ["our page"]),
        ({"glossary": [{"source": "casa", "target": "hut"}]}, ["hut"]),
    ):
        (found,) = answers(client, source=f"La casa {address}", **given)
        assert [one["form"] for one in found.get("terms", ())] == listed, given
        assert (listed == ["our page"]) != (address in found["translation"])


@pytest.mark.parametrize(
    "text",
    [
        "Hund /a/b kauft /c/def.",
        "Hund {0} /usr/bin/x und /a/b/ {1}",
        "Hund (/a/b) kauft :) jetzt",
        "/a/b kauft ;-) und :P",
        "Hund https://example.org/a_b/c?d=1&e=%20;f_g/h?i=2&j=%20;k kauft",  # more than 20 words
    ],
)
def test_kept_texts_keep_the_blanks_around_them(text: str) -> None:
    """A translation word by word has the blanks of the sentence."""
    pytest.importorskip("sacremoses")
    made = SideRecipe("de", "nfc", "none", "moses", TOKENISERS["moses"].Settings(), marked=False).side()
    words, sides = made.encode(text), (made, made)
    given = given_terms(
        (), (), text, words, sides, untouched=[Term(part, (), "keep") for part in untouched_parts(text)]
    )
    used = [UsedTerm(one.span, one.span, one.forms[0]) for one in given.index.find(words.split()).occurrences]
    assert used and made.decode(words) != text
    assert ShownTranslation.of(text, words.split(), words, used, given, sides).text == text


def test_a_term_in_small_letters_begins_a_sentence_with_a_capital(client: Client) -> None:
    (found,) = answers(client, source="una flor", glossary=[{"source": "una flor", "target": "blossoms"}])
    assert found["translation"] == "Blossoms"
    (found,) = answers(client, source="una flor", glossary=[{"source": "UNA FLOR", "target": "x", "match": "nocase"}])
    assert found["translation"] == "X"


def test_addresses_and_placeholders_stay(client: Client) -> None:
    """Without a glossary, every part appears byte for byte, at any place of a sentence."""
    parts = [
        "https://example.org/a?b=c",
        "x.y@example.org",
        "C:\\Temp\\a.txt",
        "`ls -l`",
        "v1.2.3",
        "%s",
        "{0}",
        "${x}",
        "{0:N2}",
        "<b>",
        "$HOME",
        "foo_bar()",
        "C++",
        "2024-01-05",
        "{% if x %}",
    ]
    for part in parts:
        glued = [] if " " in part else [f"una flor ({part})."]  # to this system, signs and words are one word
        for text in (f"La casa {part} roja", f"{part} una flor", *glued):
            (found,) = answers(client, source=text)
            assert part in found["translation"] and found["warnings"] == [], (text, found)


def test_lost_numbers_are_named(client: Client) -> None:
    entry = {"source": "casa 1984", "target": "house"}
    (found,) = answers(client, source="la casa 1984", glossary=[entry])
    assert found["warnings"] == ["the translation lacks '1984'"]


def test_kept_words_are_the_bytes_of_the_text(client: Client) -> None:
    (found,) = answers(client, source="casa iPhone roja", keep=["casa", "iPhone"])
    for word in ("casa", "iPhone"):
        assert word in found["translation"]
    assert [one["form"] for one in found["terms"]] == ["casa", "iPhone"]
    entry = {"source": "LA casa", "mode": "keep", "match": "nocase"}
    (found,) = answers(client, source="la Casa roja", glossary=[entry])
    assert "la Casa" in found["translation"] and found["terms"][0]["form"] == "la Casa"
    (found,) = answers(client, source="una casa", glossary=[{"source": "una casa", "mode": "keep"}])
    assert found["translation"] == "una casa"


def test_terms_match_inflected_forms(client: Client, words: Client) -> None:
    entry = {"source": "Flores rojas", "target": "Ruby", "match": "stem"}
    (found,) = answers(client, source="la flor roja", glossary=[entry, {**entry, "source": "casas", "target": "hut"}])
    assert "Ruby" in found["translation"].split() and [one["source"] for one in found["terms"]] == [[1, 3]]
    kept = {"source": "casas", "mode": "keep", "match": "stem"}
    (found,) = answers(client, source="una Casa roja", glossary=[kept])
    assert "Casa" in found["translation"].split() and [one["form"] for one in found["terms"]] == ["Casa"]
    refused = words.post("/translate", {"source": "una casa", "glossary": [entry]})
    assert refused.status_code == 400
    assert refused.json()["error"].startswith("glossary[0]: match stem needs raw text, which a bundle prepares; use")


def test_targets_inflect(client: Client, words: Client) -> None:
    """The preparation has counted ``house``, and the model prefers ``house`` to an unknown word."""
    entry = {"source": "casa", "target": "houses", "forms": "auto"}
    (found,) = answers(client, source="la casa", glossary=[entry])
    assert found["translation"] == "The house" and found["terms"][0]["form"] == "house"
    for head, translation in ((1, "The houses are"), (2, "The houses are")):  # no model contains "house are"
        changed = {**entry, "target": "houses are", "head": head}
        assert answers(client, source="la casa", glossary=[changed])[0]["translation"] == translation
    changed = {**entry, "target": "the houses"}
    assert answers(client, source="la casa", glossary=[changed])[0]["translation"].endswith("the house")
    refused = words.post("/translate", {"source": "una casa", "glossary": [entry]})
    assert refused.status_code == 400
    assert refused.json()["error"] == "glossary[0]: forms auto needs raw text, which a bundle prepares; list the forms"


def test_a_stem_of_the_request_counts_before_the_exact_term_of_the_service(client: Client) -> None:
    translator = Translator(replace(open_system(client.folder), glossary=(Term("casa", ("hut",)),)))
    options = TranslationOptions(max_words=9, raw=True, terms=(Term("casas", ("villa",), match="stem"),))
    assert translator("la casa", options).answer["translation"] == "The villa"


def test_soft_terms_compete(client: Client) -> None:
    (plain,) = answers(client, source="la flor")
    (found,) = answers(client, source="la flor", glossary=[{"source": "flor", "target": "zz", "mode": "soft"}])
    assert found["terms"] == [] and found["translation"] in (plain["translation"], "The zz")


def test_choices_belong_to_a_sentence(client: Client) -> None:
    chosen = [{"span": [1, 2], "target": "Home"}, {"span": [0, 1], "target": "that", "sentence": 1}]
    first, second = answers(client, source=["la casa", "la casa"], choices=chosen, details=True)
    assert first["translation"] == "The Home" and second["translation"] == "That house"
    ranges = [one["range"] for one in second["details"]["words"]]
    assert [second["translation"][i:j] for i, j in ranges] == ["That", "house"]


def test_texts_of_many_sentences_take_all_instructions(client: Client) -> None:
    sent = {"q": "la casa\nuna flor", "keep": ["flor"], "choices": [{"span": [1, 2], "target": "hut"}]}
    assert client.post("/translate", sent).json()["translatedText"] == "The hut\nA flor"
    found = client.post("/translate", {"q": "la casa\n\n la flor", "details": True}).json()
    rows = [row for row in found["sentences"] if row["source"]]
    for row in rows:
        details = row["details"]
        assert [row["source"][i:j] for i, j in details["source_ranges"]] == row["source"].split()
        assert [row["translation"][i:j].lower() for i, j in (one["range"] for one in details["words"])] == [
            one["text"] for one in details["words"]
        ]
    form = {"keep": json.dumps(["la"]), "glossary": '[{"source": "casa", "target": "hut"}]'}
    made = client("POST", "/translate_file?download=1", files={"file": ("a.txt", b"la casa")}, data=form)
    assert made.text == "la hut"


def test_alternatives_are_text_within_a_sentence(tmp_path: Path) -> None:
    record = Record.read(little_preparation(tmp_path))
    config = small_config(tmp_path)
    with (tmp_path / "grammar").open("a") as file:
        file.write("[X] ||| la casa ||| the Rome house ||| P=1\n")
    translator = Translator(TranslationSystem("small", config, WEIGHTS, tmp_path / "weights", record))
    options = TranslationOptions(max_words=9, raw=True, details=True)
    found = translator("La casa", options).answer
    assert found["translation"] == "The house"
    alternatives = found["details"]["words"][0]["alternatives"]
    assert [(one["span"], one["text"]) for one in alternatives] == [([0, 2], "the Rome house")]
    choices = (ChosenSpan((0, 2), "the Rome house"),)
    assert translator("La casa", replace(options, choices=choices)).answer["translation"] == "The Rome house"


def test_a_system_of_words_takes_words(words: Client) -> None:
    (found,) = answers(words, source="la casa", glossary=[{"source": "casa", "target": "Big Hut"}], details=True)
    assert found["translation"] == "the Big Hut"
    assert [one["range"] for one in found["details"]["words"]] == [[0, 3], [4, 7], [8, 11]]
    sent = {"source": "la casa", "glossary": [{"source": "casa", "target": "[X]"}]}
    refused = words.post("/translate", sent)
    assert refused.status_code == 400 and refused.json()["error"].startswith("glossary[0]: '[X]'")


def test_a_glossary_of_the_service(words: Client, client: Client, tmp_path: Path) -> None:
    (tmp_path / "terms.tsv").write_text("source\ttarget\tmode\ncasa\tBig Hut\nroja\t\tkeep\n")
    glossary = Glossary.read(tmp_path / "terms.tsv")
    for folder, wanted in ((words.folder, "the roja Big Hut"), (client.folder, "The roja Big Hut")):
        terms = tuple(entry.term for entry in glossary.entries)
        translator = Translator(replace(open_system(folder), glossary=terms))
        options = TranslationOptions(max_words=9, raw=wanted[0] == "T")
        answer = translator("la casa roja", options).answer
        assert answer["translation"] == wanted and len(answer["terms"]) == 2
        first = replace(options, terms=(Term("casa", ("villa",)),))  # the request's terms count before
        assert translator("la casa", first).answer["translation"].endswith("villa")


ENTRY = {"source": "a", "target": "b"}


@pytest.mark.parametrize(
    ("sent", "status", "message"),
    [
        ({"glossary": {}}, 400, "glossary must be a list"),
        ({"glossary": "x"}, 400, "glossary must be a list"),
        ({"keep": [3]}, 400, r"keep\[0\] must be a text"),
        ({"keep": [" \u200b"]}, 400, r"keep\[0\]: "),
        ({"keep": ["x"] * (MOST_TERMS + 1)}, 413, "keep has 1001 entries; at most 1000"),
        ({"keep": ["x"] * 600, "glossary": [ENTRY] * 600}, 413, "1200 entries of glossary and keep"),
        ({"glossary": [ENTRY, 1]}, 400, r"glossary\[1\] must be an object such as"),
        ({"glossary": [{**ENTRY, "moed": "hard"}]}, 400, r"glossary\[0\]: no key 'moed' \(did you mean mode\?\)"),
        ({"glossary": [{**ENTRY, "mode": "firm"}]}, 400, r"glossary\[0\]\.mode must be hard or soft or keep"),
        ({"glossary": [{**ENTRY, "match": 1}]}, 400, r"glossary\[0\]\.match must be exact or nocase or stem"),
        ({"glossary": [{**ENTRY, "forms": "all"}]}, 400, r"glossary\[0\]\.forms must be listed or auto"),
        ({"glossary": [{**ENTRY, "forms": "auto", "head": 0}]}, 400, r"glossary\[0\]\.head must be the number"),
        ({"glossary": [{**ENTRY, "head": 1}]}, 400, r"glossary\[0\]: the term 'a' has a head, which only forms auto"),
        ({"glossary": [{**ENTRY, "source": "casa", "forms": "auto", "head": 2}]}, 400, r"source\[0\]: the target"),
        ({"glossary": [{"target": "b"}]}, 400, r"glossary\[0\]\.source must be a text"),
        ({"glossary": [{"source": "a"}]}, 400, r"glossary\[0\]: the term 'a' has no target"),
        ({"glossary": [{**ENTRY, "mode": "keep"}]}, 400, r"glossary\[0\]: the term 'a' is kept and takes no target"),
        ({"glossary": [{"source": "a", "target": ["b", "\u200b"]}]}, 400, r"glossary\[0\]: preparation leaves nothing"),
        ({"glossary": [{"source": "a", "target": ["b"] * 17}]}, 400, r"glossary\[0\]\.target has 17 texts"),
        ({"glossary": [{"source": "a" * (LONGEST + 1), "target": "b"}]}, 400, r"glossary\[0\]\.source has 201 char"),
        ({"glossary": [{"source": "a\ud800", "target": "b"}]}, 400, r"glossary\[0\]\.source contains half"),
        ({"glossary": [{"source": "a\nb", "target": "b"}]}, 400, r"glossary\[0\]\.source contains a NUL .* line break"),
        ({"choices": [{"span": [0, 9], "target": "x"}]}, 400, r"source\[0\]: the choice \[0, 9\] is not a span"),
        ({"choices": [{"span": [1, 1], "target": "x"}]}, 400, r"choices\[0\]\.span must be"),
        ({"choices": [{"span": [True, 2], "target": "x"}]}, 400, r"choices\[0\]\.span must be"),
        ({"choices": [{"span": [0, 1], "target": " "}]}, 400, r"choices\[0\]\.target is empty"),
        ({"choices": [{"span": [0, 1], "target": "\u200b"}]}, 400, r"source\[0\]: preparation leaves nothing"),
        ({"choices": [{"span": [0, 1], "target": "x", "sentence": 1}]}, 400, "choices: no sentence 1"),
        ({"choices": [{"span": [0, 1], "target": "x", "sentence": -1}]}, 400, r"choices\[0\]\.sentence must be"),
        (
            {"choices": [{"span": [1, 2], "target": "x"}, {"span": [0, 2], "target": "y"}]},
            400,
            r"choices\[0\]: the span \[1, 2\] overlaps the span \[0, 2\]",
        ),
        ({"choices": [{"span": [0, 1], "target": "x"}] * (MOST_CHOICES + 1)}, 413, "choices has 1001 entries"),
    ],
)  # fmt: skip
def test_refusals_name_the_entry(client: Client, sent: dict[str, Any], status: int, message: str) -> None:
    content = json.dumps({"source": "la casa", **sent})
    answer = client("POST", "/translate", content=content, headers=JSON)
    assert answer.status_code == status and re.match(message, answer.json()["error"]), answer.json()


def test_instructions_without_entries_are_none() -> None:
    assert read_instructions({}, None) == read_instructions({"glossary": "", "keep": []}, ("nfc", "nfc"))
    found = read_instructions({"glossary": [ENTRY], "choices": [{"span": [0, 1], "target": "x"}]}, None)
    assert found.terms == (Term("a", ("b",)),) and found.choices == {0: (ChosenSpan((0, 1), "x"),)}
    with pytest.raises(RefusalError, match="no sentence 0"):
        found.refuse_missing(0)


# ---- translations in tags ----


def test_tags_in_raw_text_are_prepared_and_restored(client: Client) -> None:
    """Spans of blank-separated text become spans of words; typed capitals and the characters of words stay."""
    text = 'La   <np translation="Ruby  Red" prob="0.7">casa</np> <wall/> <zone>roja la flor</zone>'
    (found,) = answers(client, source=text, xml_input="exclusive", details=True)
    assert "Ruby Red" in found["translation"] and found["unknown"] == [] and found["parsed"]
    assert [(one["source"], one["form"]) for one in found["terms"]] == [([1, 2], "Ruby Red")]
    shown = [text[slice(*place)] for place in found["details"]["source_ranges"]]
    assert shown == ["La", "casa", "roja", "la", "flor"]
    (plain,) = answers(client, source="La   casa roja la flor")
    (ignored,) = answers(client, source=text, xml_input="ignore")
    assert ignored["translation"] == plain["translation"] and ignored["terms"] == []
    (unread,) = answers(client, source=text)
    assert unread["source_words"] != ignored["source_words"]  # without xml_input, tags are text


TAGGED: dict[str, str] = {
    "<np>la</np> casa": r"column 1: <np> has no translation",
    'la <np translation="x">casa': r"column 4: <np> is not closed",
    "la </zone> casa": r"column 4: </zone> closes a tag that is not open",
    "la < casa": r"column 4: .* is not a tag; write &lt;",
    '<np translation="x" prob="2||3">la</np>': r"column 1: <np> needs a positive number",
    '<seg grammar="/etc/passwd">la</seg>': r"<seg> at the beginning may name files",
    '<seg translation="x" grammar="/etc/passwd">la</seg>': r"<seg> at the beginning may name files",
    '<zone><seg grammar="/etc/passwd">la</seg></zone>': r"column 7: <seg> has no translation",
    "<update weights='x'/> la": r"column 1: <update> would change the system",
    "<zone>((('a',1,1),),)</zone>": r"a lattice of cdec's, not words",
    '<np translation="\u200b">la</np>': r"preparation leaves nothing of the target|invisible character",
    "<zone>\u200b</zone> la": r"preparation does not keep .* as words|invisible character",
    "la " * 149 + "<zone>la la</zone>": r"has 151 words; at most 150",
}  # fmt: skip


@pytest.mark.parametrize("raw", [True, False])
@pytest.mark.parametrize("text", [*TAGGED])
def test_bad_tags_are_refused(client: Client, text: str, raw: bool) -> None:
    answer = client.post("/translate", {"source": ["una flor", text], "xml_input": "constraint", "raw": raw})
    if "((('" in text and raw:  # text like any other
        assert answer.status_code == 200, answer.text
        return
    assert answer.status_code in (400, 413) and re.match(r"source\[1\]: ", answer.json()["error"]), answer.text
    assert re.search(TAGGED[text], answer.json()["error"]), answer.text


def test_modes_and_overlaps_are_refused(client: Client) -> None:
    for mode in (None, "pass-through", 3, ["exclusive"]):
        answer = client.post("/translate", {"source": "la", "xml_input": mode})
        assert answer.status_code == 400
        assert answer.json()["error"] == "xml_input must be exclusive or inclusive or constraint or ignore"
    sent = {"source": '<np translation="x">la casa</np>', "choices": [{"span": [1, 2], "target": "y"}]}
    answer = client.post("/translate", {**sent, "xml_input": "exclusive"})
    assert answer.status_code == 400 and "[0, 2] and [1, 2] overlap" in answer.json()["error"]


def test_many_tags_are_quick(client: Client) -> None:
    """Many tags around few words cost little."""
    for text in ("<zone>" * 380 + "la casa" + "</zone>" * 380, "la " + "<wall/> " * 600 + "la"):
        with time_limit():
            answer = client.post("/translate", {"source": text[:5000].strip(), "xml_input": "inclusive"})
        assert answer.status_code == 200, answer.text
