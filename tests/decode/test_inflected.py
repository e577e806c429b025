"""Inflected forms of translations, against forms given by hand and n-grams counted in the text."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest
from glossaries import agreed_translations
from services import little_preparation

from lscfg.decode.glossary import Glossary, prepared_term
from lscfg.decode.inflected import Inflections, ModelPhrases
from lscfg.decode.terms import Term, TermIndex
from lscfg.errors import InputError
from lscfg.formats.ini import DecoderConfig
from lscfg.kernel import Vocab
from lscfg.kernel.lm import LanguageModel
from lscfg.lm.estimate import DEFAULT_FALLBACK
from lscfg.lm.lmplz import build_lm
from lscfg.prepare.record import Record
from lscfg.prepare.sides import Side, SideRecipe
from lscfg.prepare.stems import deriving_ending
from lscfg.prepare.tokeniser import TOKENISERS

COUNTS = {"caliper": 5, "calipers": 9, "Calipers": 4, "calipered": 1, "house": 3, "brake": 7, "braked": 2, "1984": 6}


def test_forms_have_the_stem_and_the_case_of_the_head_and_were_seen_twice() -> None:
    found = Inflections(COUNTS, "en")
    assert found.of_phrases(["caliper"], 0, None, 16) == ("caliper", "calipers")
    assert found.of_phrases(["Caliper"], 0, None, 16) == ("Caliper", "Calipers")
    assert found.of_phrases(["calipering", "house"], 0, None, 3) == ("calipering", "house", "calipers")
    assert found.of_phrases(["brake caliper"], 0, None, 16) == ("brake caliper",)
    asked: list[list[str]] = []
    for head, forms in ((0, ("brake caliper", "brake calipers")), (1, ("brake caliper", "braked caliper"))):
        assert found.of_phrases(["brake caliper"], head, lambda words: not asked.append([*words]), 16) == forms
    assert asked == [["brake", "calipers"], ["braked", "caliper"]]
    many = Inflections({f"word{k * 's'}{ending}": 2 for k in range(2) for ending in ("", "ed", "ing", "s")}, "en")
    assert len(many.of_phrases(["wording"], 0, None, 3)) == 3
    with pytest.raises(InputError, match="the target 'brake caliper' has 2 words, so its head is not word 3"):
        found.of_phrases(["brake caliper"], 3, None, 16)


def test_words_derived_by_an_ending_are_no_forms() -> None:
    words = "sure surely kind kinds kindness apply applied nation nations national"
    made = Inflections(dict.fromkeys(words.split(), 2), "en")
    for word, forms in (
        ("sure", {"sure"}),
        ("surely", {"surely"}),
        ("kind", {"kind", "kinds"}),
        ("nation", {"nation", "nations"}),
        ("apply", {"apply", "applied"}),  # "app" has another stem
        ("national", {"national"}),
    ):
        assert {*made.of_phrases([word], 0, None, 16)} == forms
    endings = [("de", "Bedeutung", "ung"), ("fr", "rapidement", "ment"), ("fr", "moment", ""), ("es", "feliz", "")]
    for language, word, ending in endings:
        assert deriving_ending(language, word) == ending


@pytest.mark.parametrize("order", [2, 3, 4])
def test_a_model_contains_the_phrases_of_its_text(order: int, tmp_path: Path) -> None:
    rng = random.Random(order)
    text = [" ".join(rng.choices("abcde", k=rng.randint(3, 8))) for _ in range(30)]
    (tmp_path / "text").write_text("\n".join(text) + "\n")
    build_lm(tmp_path / "text", tmp_path / "lm.arpa", order, (), DEFAULT_FALLBACK)
    model = LanguageModel(tmp_path / "lm.arpa", Vocab())
    known = {gram for line in text for n in range(1, order + 1) for gram in grams(line.split(), n)}
    counts = [0, 0]
    for length in range(1, order + 2):
        for words in itertools.product("abcdex", repeat=length):
            expected = all(gram in known for gram in grams(words, min(length, order)))
            assert model.contains(words) == expected, words
            counts[expected] += 1
    assert min(counts) > 20


def grams(words: list[str] | tuple[str, ...], n: int) -> list[tuple[str, ...]]:
    return [tuple(words[k : k + n]) for k in range(len(words) - n + 1)]


def side(language: str, tokeniser: str = "moses", casing: str = "none") -> Side:
    return Side(
        SideRecipe(language, "NFC", casing, tokeniser, TOKENISERS[tokeniser].Settings(), None, None, None, False)
    )


def test_systems_without_counts_are_named_with_the_cure() -> None:
    term = Term("x", ("y",), forms="auto")
    for sides, fault in (
        (None, r"needs counts of the training text's words, which only a bundle or the system of an experiment"),
        ((side("de"), side("en")), r"needs counts of the training text's words, which casing none does not keep"),
    ):
        with pytest.raises(InputError, match=rf"^forms auto {fault}.*; list the forms$"):
            prepared_term(term, sides)
    japanese, pieces = side("ja", "none"), side("en")
    japanese.forms, pieces.subwords = {"y": 3}, True
    with pytest.raises(InputError, match=r"needs a stemmer, and there is none for the language 'ja'; list the forms"):
        prepared_term(term, (side("de"), japanese))
    with pytest.raises(InputError, match=r"needs whole words, which the tokeniser moses splits; list the forms"):
        prepared_term(term, (side("de"), pieces))
    with pytest.raises(InputError, match="the term 'x': forms auto needs a system that prepares raw text"):
        TermIndex([term])


def test_files_name_forms_and_heads(tmp_path: Path) -> None:
    path = tmp_path / "terms"
    path.write_text("source\ttarget\tforms\thead\na\tb c\tauto\t1\nd\te\n")
    assert [one.term for one in Glossary.read(path).entries] == [
        Term("a", ("b c",), forms="auto", head=1), Term("d", ("e",))
    ]  # fmt: skip
    for cells, fault in (
        ("a\tb\tall\t", "forms 'all' is unknown; use listed or auto"),
        ("a\tb\tauto\t0", "head '0' must be the number of a word of the target, from 1 to 20"),
        ("a\tb\tauto\t²", "head '²' must be"),
        ("a\tb\t\t1", "the term 'a' has a head, which only forms auto uses; remove the head"),
    ):
        path.write_text(f"source\ttarget\tforms\thead\n{cells}\n")
        with pytest.raises(InputError, match=f"terms:2: {fault}"):
            Glossary.read(path)
    with pytest.raises(InputError, match="kept and has no forms"):
        Term("a", (), "keep", forms="auto")


def test_the_command_and_python_use_inflected_forms(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sides = Record.read(little_preparation(tmp_path)).sides
    assert (sides[1].side().forms or {})["house"] > 1
    lines = agreed_translations(
        tmp_path, "source\ttarget\tforms\ncasa\thoused\tauto\n", ["la casa verde", "verde"], capsys
    )
    assert "house" in lines[0].split() and "housed" not in lines[0]


def test_phrases_need_a_language_model() -> None:
    assert not ModelPhrases(DecoderConfig())(["a", "b"])
