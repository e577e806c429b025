"""Words that terms and corrections teach, and terms and corrections that exclude each other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from decoders import WEIGHTS, small_config

from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.decode.derivations import Translated
from lscfg.decode.memory import JOURNAL, Memory
from lscfg.decode.taught import ConflictReport, conflicts
from lscfg.decode.terms import ChosenSpan, Term


def memory_of(folder: Path, *pairs: tuple[str, str, list[list[int]]]) -> Memory:
    folder.mkdir()
    lines = [
        json.dumps({"id": k, "source": source, "target": target, "links": links}) + "\n"
        for k, (source, target, links) in enumerate(pairs, 1)
    ]
    (folder / JOURNAL).write_text("".join(lines))
    return Memory(folder)


def translated(folder: Path, sentence: str, **more: Any) -> Translated:
    (found,) = EmbeddedDecoder(small_config(folder)).translate([sentence], WEIGHTS, **more)
    return found


STRAIGHT = [[0, 0], [1, 1]]


@pytest.mark.parametrize(
    ("more", "pairs", "taught"),
    [
        ({}, (), ()),
        ({"terms": [Term("otra", ("other",))]}, (), (0, 2)),
        ({"terms": [Term("OTRA", ("other",), match="nocase")]}, (), (0, 2)),
        ({"terms": [Term("otra", ("other",), "soft")]}, (), (0, 2)),
        ({"terms": [Term("otra", (), "keep")]}, (), (0, 2)),
        ({"terms": [Term("casa otra", ("x",))]}, (), (1, 2)),
        ({"choices": [ChosenSpan((2, 3), "other")]}, (), (2,)),
        ({}, [("otra casa otra", "x y z", STRAIGHT)], (0, 1, 2)),
        ({}, [("otra verde", "x green", STRAIGHT)], (0, 2)),
        ({}, [("otra casa", "x", [[0, 0], [1, 0]])], (0, 1)),  # one rule of both words
        ({"terms": [Term("casa", ("house",))]}, [("otra casa", "x", [[0, 0], [1, 0]])], (1,)),  # the rule is excluded
    ],
)
def test_words_of_every_kind_of_teaching(
    tmp_path: Path, more: dict[str, Any], pairs: list[Any], taught: tuple[int, ...]
) -> None:
    if pairs:
        more = more | {"memory": memory_of(tmp_path / "memory", *pairs)}
    assert translated(tmp_path, "otra casa otra", **more).taught == taught


def test_a_correction_holds_where_an_equal_choice_does_not(tmp_path: Path) -> None:
    memory, choices = memory_of(tmp_path / "memory", CORRECTION), [ChosenSpan((0, 1), "hut")]
    (found,) = EmbeddedDecoder(small_config(tmp_path)).translate(
        ["casa otra casa"], WEIGHTS | {"Correction": 50.0}, 1000, choices=choices, memory=memory
    )
    texts = [one.text for one in found.hypotheses]
    assert texts[0] == "hut otra hut" and "hut otra house" in texts and not any("house otra" in one for one in texts)


def test_without_a_parse_hard_terms_alone_teach(tmp_path: Path) -> None:
    config = small_config(tmp_path)
    (tmp_path / "grammar").write_text("[X] ||| la ||| the |||\n")
    config = type(config)(grammars=config.grammars, pass_through=False)
    terms = [Term("otra", ("other",)), Term("casa", ("house",), "soft")]
    (found,) = EmbeddedDecoder(config).translate(["otra casa x"], {}, terms=terms)
    assert found.unparsed and found.taught == (0,)


CORRECTION = ("la casa verde", "that green hut", [[0, 0], [1, 2], [2, 1]])


@pytest.mark.parametrize(
    ("sentence", "more", "wanted"),
    [
        ("la casa verde", {}, []),
        ("la casa verde", {"terms": [Term("casa", ("hut",))]}, []),
        (
            "la casa verde",
            {"terms": [Term("casa", ("house",))]},
            ["the term for 'casa' excluded the correction 1"],
        ),
        (
            "la casa verde",
            {"terms": [Term("casa", ("house",)), Term("la", ("the",))]},
            ["the term for 'la' and the term for 'casa' excluded the correction 1"],
        ),
        (
            "la casa verde",
            {"terms": [Term("la", ("green",)), Term("verde", ("green",))]},
            ["the term for 'la' and the term for 'verde' excluded the correction 1"],
        ),
        (
            "la casa verde",
            {"choices": [ChosenSpan((1, 2), "house")]},
            ["the choice for 'casa' excluded the correction 1"],
        ),
        (
            "la casa verde",
            {"terms": [Term("casa", ("house",), "soft")]},
            ["the correction 1 excluded the term 'casa'"],
        ),
        (
            "casa otra casa",
            {"terms": [Term("casa", ("house",))]},
            ["the term 'casa' excluded a correction, which translates 'casa' by 'hut'"],
        ),
        ("casa otra", {"terms": [Term("casa", ("hut", "house"))]}, []),
        ("casa otra", {"choices": [ChosenSpan((0, 1), "house")]}, []),
        (
            "otra casa",
            {"terms": [Term("otra casa", ("x",)), Term("casa", ("house",))]},
            ["the term 'casa' is ignored, because the term 'otra casa' overlaps it"],
        ),
        (
            "otra casa",
            {"terms": [Term("casa", ("house",))], "choices": [ChosenSpan((0, 2), "x")]},
            ["the term 'casa' is ignored, because the choice for 'otra casa' overlaps it"],
        ),
    ],
)
def test_conflicts_are_named(tmp_path: Path, sentence: str, more: dict[str, Any], wanted: list[str]) -> None:
    found = translated(tmp_path, sentence, memory=memory_of(tmp_path / "memory", CORRECTION), **more)
    assert conflicts(found) == wanted
    if not wanted and sentence == CORRECTION[0]:
        assert found.hypotheses[0].text == CORRECTION[1]


def test_conflicts_of_a_text_are_a_few_warnings(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    memory, report = memory_of(tmp_path / "memory", CORRECTION), ConflictReport()
    decoder = EmbeddedDecoder(small_config(tmp_path))
    terms = [Term("casa", ("house",))]
    text = ["la casa verde"] * 7 + ["la"]
    for number, found in enumerate(decoder.translate(text, WEIGHTS, terms=terms, memory=memory)):
        report.add(found, number)
    report.finish()
    assert [record.getMessage() for record in caplog.records] == [
        *(f"sentence {k}: the term for 'casa' excluded the correction 1" for k in range(1, 6)),
        "2 further conflicts of terms and corrections",
    ]


def test_conflicts_of_a_segment_are_those_of_its_words(tmp_path: Path) -> None:
    more = {"memory": memory_of(tmp_path / "memory", CORRECTION), "terms": [Term("casa", ("house",))]}
    for sentence in ("la casa verde", "casa otra casa"):
        found = translated(tmp_path, f'<seg id="4">{sentence}</seg>', **more)
        assert conflicts(found) == conflicts(translated(tmp_path, sentence, **more)) != []
