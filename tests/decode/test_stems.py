"""Terms that match inflected forms, against plain loops over spans and against one exact term for each form."""

from __future__ import annotations

import itertools
import random
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from decoders import WEIGHTS, small_config
from glossaries import agreed_translations
from services import little_preparation

from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.decode.glossary import Glossary, prepared_term
from lscfg.decode.terms import Occurrence, Term, TermIndex
from lscfg.errors import InputError
from lscfg.prepare.sides import Side, SideRecipe
from lscfg.prepare.stems import has_stemmer, word_stem
from lscfg.prepare.tokeniser import TOKENISERS

FAMILIES = (("casa", "casas", "Casa"), ("rojo", "roja", "ROJAS"), ("flor", "flores"))
WORDS = [word for family in FAMILIES for word in family]
FAMILY = {word: number for number, family in enumerate(FAMILIES) for word in family}


def stemmed(source: str, *targets: str, mode: str = "hard") -> Term:
    return Term(source, targets, mode, "stem", "es")


def test_spans_are_those_of_plain_loops() -> None:
    """The families are given by hand, so the loops know no stemmer."""
    rng = random.Random(5)
    found = 0
    for _ in range(100):
        terms = [
            stemmed(" ".join(rng.choices(WORDS, k=rng.randint(1, 2))), str(n)) if rng.random() < 0.7 else
            Term(rng.choice(WORDS), (str(n),))
            for n in range(3)
        ]  # fmt: skip
        words = rng.choices(WORDS, k=rng.randint(1, 6))
        expected: list[Occurrence] = []
        for length, begin in itertools.product((2, 1), range(len(words))):
            span = words[begin : begin + length]
            if len(span) < length or any(one.span[0] < begin + length and begin < one.span[1] for one in expected):
                continue
            for term in sorted(terms, key=lambda term: term.match):  # exact terms count before stems
                source = term.source.split()
                same = source == span
                if term.match == "stem":
                    same = [FAMILY[word] for word in source] == [FAMILY[word] for word in span]
                if same:
                    expected.append(Occurrence((begin, begin + length), term.targets, True))
                    break
        assert TermIndex(terms).find(words).occurrences == tuple(sorted(expected)), (terms, words)
        found += len(expected)
    assert found > 100


def test_translations_are_those_of_one_exact_term_for_each_form(tmp_path: Path) -> None:
    sentences = [" ".join(words) for n in (1, 2, 3) for words in itertools.product(("la", "casas", "verde"), repeat=n)]
    with EmbeddedDecoder(small_config(tmp_path)) as decoder:
        for mode in ("hard", "soft"):
            exact = [Term(form, ("x", "my house"), mode) for form in ("casa", "casas")]
            own, other = (
                [(one.hypotheses, one.terms) for one in decoder.translate(sentences, WEIGHTS, 20, terms=terms)]
                for terms in ([stemmed("Casa", "x", "my house", mode=mode)], exact)
            )
            assert own == other
        (kept,) = decoder.translate(["la Casas"], WEIGHTS, terms=[stemmed("casa", mode="keep")])
    assert [one.form for one in kept.terms] == ["Casas"]


def side(language: str, tokeniser: str = "moses") -> Side:
    return Side(
        SideRecipe(language, "NFC", "none", tokeniser, TOKENISERS[tokeniser].Settings(), None, None, None, False)
    )


def test_preparation_names_the_language_or_the_cure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "terms").write_text("source\ttarget\tmatch\nla\tthe\t\ncasas\thouse\tstem\nCasa\thut\tstem\n")
    glossary, spanish = Glossary.read(tmp_path / "terms"), side("es")
    prepared = glossary.prepared((spanish, side("en")))
    assert [(one.term, one.line) for one in prepared.entries] == [
        (Term("la", ("the",)), 2), (stemmed("casas", "house"), 3)
    ]  # fmt: skip
    with pytest.raises(InputError, match=r"terms:3: match stem needs the language .*; use exact or nocase, with a"):
        glossary.prepared()
    with pytest.raises(InputError, match=r"match stem needs a stemmer, and there is none for the language 'ja'; use"):
        prepared_term(Term("x", ("y",), match="stem"), (side("ja", "none"), spanish))
    pieces = side("es")
    pieces.recipe, pieces.subwords = replace(pieces.recipe, tokeniser="spm"), True
    with pytest.raises(InputError, match=r"needs whole words, which the tokeniser spm splits; use exact"):
        prepared_term(Term("x", ("y",), match="stem"), (pieces, spanish))
    with pytest.raises(InputError, match="stems need the language of the source; use exact"):
        TermIndex([Term("x", ("y",), match="stem")])
    monkeypatch.setitem(sys.modules, "snowballstemmer", None)
    with pytest.raises(InputError, match=r"needs snowballstemmer: pip install 'lscfg\[train\]'"):
        prepared_term(Term("x", ("y",), match="stem"), (spanish, spanish))


def test_stems_ignore_case_and_relatives_lend_theirs() -> None:
    assert word_stem("de", "HÄUSER") == word_stem("de-AT", "haus") == "haus" and word_stem("es", "1984") == "1984"
    assert has_stemmer("spa_Latn") and not has_stemmer("ja")


def test_the_command_and_python_match_inflected_forms(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    little_preparation(tmp_path)
    lines = agreed_translations(
        tmp_path, "source\ttarget\tmatch\nCasas\tmy home\tstem\n", ["la casa verde", "verde", "la casas"], capsys
    )
    assert ["my home" in line for line in lines] == [True, False, True]
