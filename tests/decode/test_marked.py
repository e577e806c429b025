"""Moses' tags in the decoder, against an enumeration of the derivations."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
from decoders import WEIGHTS, small_config

from lscfg.cli import main
from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.decode.terms import ChosenSpan, Term
from lscfg.formats.ini import DecoderConfig, write_ini
from lscfg.formats.marked import MODES

LINE = '<np translation="home||the house" prob="0.25||0.75">la casa</np> verde'
WORDS = "la casa verde"


@pytest.fixture
def config(tmp_path: Path) -> DecoderConfig:
    return replace(small_config(tmp_path), pop_limit=10_000)


def texts(decoder: EmbeddedDecoder, line: str, mode: str, weights: dict[str, float] = WEIGHTS) -> dict[str, float]:
    """The best score of each translation of a line."""
    found = next(decoder.translate([line], weights, 10_000, xml_input=mode)).hypotheses
    scores: dict[str, float] = {}
    for one in found:
        scores.setdefault(one.text, one.score)
    return scores


def test_ignored_tags_leave_the_sentence(config: DecoderConfig) -> None:
    with EmbeddedDecoder(config) as decoder:
        found = next(decoder.translate([LINE], WEIGHTS, 100, xml_input="ignore"))
        assert found.sentence == WORDS
        assert found.hypotheses == decoder.decode([WORDS], WEIGHTS, 100)[0]


@pytest.mark.parametrize("mode", ["exclusive", "constraint"])
def test_hard_modes_leave_translations_with_a_form(config: DecoderConfig, mode: str) -> None:
    """Each other translation of the words keeps a derivation of the whole: la, casa and both are translated, too."""
    with EmbeddedDecoder(config) as decoder:
        found = texts(decoder, LINE, mode)
        assert found and all("home" in text or "the house" in text for text in found)
        assert {text.replace("home", "the house") for text in found} == {text for text in found if "home" not in text}
        free = texts(decoder, LINE, "ignore")
        assert {text for text in free if "the house" in text} >= {text for text in found if "home" not in text}


def test_exclusive_translations_stand_alone(config: DecoderConfig, tmp_path: Path) -> None:
    """A larger rule that contains the translation is possible under a constraint only."""
    more = "[X] ||| la casa verde ||| nice green home ||| P=9\n[X] ||| la casa ||| home ! ||| P=9\n"
    (tmp_path / "more").write_text(more)
    with EmbeddedDecoder(replace(config, grammars=(*config.grammars, tmp_path / "more"))) as decoder:
        constraint, exclusive = texts(decoder, LINE, "constraint"), texts(decoder, LINE, "exclusive")
        assert {"nice green home", "home ! green"} <= constraint.keys()
        assert exclusive and exclusive.keys().isdisjoint({"nice green home", "home ! green"})
        assert exclusive.keys() < constraint.keys()


def test_inclusive_translations_compete_by_their_probabilities(config: DecoderConfig) -> None:
    with EmbeddedDecoder(config) as decoder:
        free = texts(decoder, LINE, "ignore")
        for weight in (0.0, 1.0, 2.5):
            found = texts(decoder, LINE, "inclusive", WEIGHTS | {"Terminology": weight})
            assert found.keys() > free.keys() and all(found[text] >= free[text] - 1e-9 for text in free)
            base = texts(decoder, LINE, "inclusive", WEIGHTS | {"Terminology": 0.0})
            own = [text for text in found if "home" in text]
            assert own and all(
                found[text] == pytest.approx(base[text] + weight * (1 + math.log(0.25)), abs=1e-6) for text in own
            )


def test_each_tag_has_its_own_probability(config: DecoderConfig) -> None:
    line = '<np translation="home" prob="0.5">casa</np> la <np translation="home" prob="0.001">casa</np>'
    with EmbeddedDecoder(config) as decoder:
        both = [texts(decoder, line, "inclusive", WEIGHTS | {"Terminology": weight}) for weight in (0.0, 1.0)]
        one, other = 1 + math.log(0.5), 1 + math.log(0.001)
        for text, added in (("home the home", one + other), ("home the house", one), ("house the home", other)):
            assert both[1][text] - both[0][text] == pytest.approx(added, abs=1e-6)


@pytest.mark.parametrize("mode", ["exclusive", "constraint", "inclusive", "choice", "first", "soft"])
def test_a_translation_of_some_words_holds_for_them_alone(config: DecoderConfig, mode: str) -> None:
    """Equal words elsewhere have the rules of the grammar; so have those that a longer term of a glossary contains."""
    with EmbeddedDecoder(config) as decoder:
        if mode == "choice":
            (one,) = decoder.translate(["casa la casa"], WEIGHTS, 10_000, choices=[ChosenSpan((2, 3), "home")])
            found = {hypothesis.text for hypothesis in one.hypotheses}
        elif mode == "soft":
            terms = [Term("casa", ("home",), "soft"), Term("la casa", ("the cabin",), "soft")]
            (one,) = decoder.translate(["casa la casa"], WEIGHTS, 10_000, terms=terms)
            found = {hypothesis.text for hypothesis in one.hypotheses}
        elif mode == "first":
            found = {*texts(decoder, '<np translation="home">casa</np> la casa', "exclusive")}
        else:
            found = {*texts(decoder, 'casa la <np translation="home">casa</np>', mode)}
        assert any("home" in text for text in found) and not any("home the home" in text for text in found)
        assert ("home the house" if mode in ("first", "soft") else "house the home") in found


def test_glossary_terms_yield_to_tags(config: DecoderConfig) -> None:
    terms = [Term("casa", ("cabin",)), Term("verde", ("lime",))]
    with EmbeddedDecoder(config) as decoder:
        found = next(decoder.translate([LINE], WEIGHTS, terms=terms, xml_input="exclusive"))
        text = found.hypotheses[0].text
        assert "lime" in text and "cabin" not in text and ("home" in text or "the house" in text)
        assert [one.form for one in found.terms] in (["home", "lime"], ["the house", "lime"])


def test_a_segment_may_contain_tags(config: DecoderConfig, tmp_path: Path) -> None:
    (tmp_path / "own").write_text("[X] ||| verde ||| lime ||| P=5\n")
    with EmbeddedDecoder(replace(config, path=tmp_path / "ini")) as decoder:
        line = f'<seg grammar="own" id="1">{LINE}</seg>'
        assert next(decoder.translate([line], WEIGHTS, xml_input="exclusive")).hypotheses[0].text == "the house lime"


def test_the_command_obeys_tags(config: DecoderConfig, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_ini(tmp_path / "cdec.ini", config)
    (tmp_path / "weights").write_text("P 1\nLanguageModel 0.9\nPassThrough -2\n")
    (tmp_path / "text").write_text('otra <n translation="home">casa</n>\n<n translation="a">casa\n')
    arguments = ["decode", "-c", str(tmp_path / "cdec.ini"), "-w", str(tmp_path / "weights"), str(tmp_path / "text")]
    for mode in MODES:
        assert main([*arguments, "--xml-input", mode, "--quiet"]) == 1
        assert f"{tmp_path / 'text'}:2: column 1: <n> is not closed" in capsys.readouterr().err
    (tmp_path / "text").write_text('otra <n translation="home">casa</n>\n')
    assert main([*arguments, "--xml-input", "exclusive", "--quiet"]) == 0
    assert capsys.readouterr().out == "otra home\n"
    assert main([*arguments, "--quiet"]) == 0
    assert "<n" in capsys.readouterr().out
