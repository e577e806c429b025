"""BLEU's statistics and scores against sacrebleu."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU

from lscfg.errors import InputError
from lscfg.tuning.bleu import (
    SentenceReferences,
    bleu,
    check_references,
    corpus_bleu,
    corpus_stats,
    length_ratio,
)

SENTENCE = st.lists(st.sampled_from(["a", "b", "c", "été", "日本", ".", "A"]), max_size=9).map(" ".join)


def referee() -> BLEU:
    """sacrebleu on text as it is."""
    return BLEU(tokenize="none", force=True)


@st.composite
def corpora(draw):
    """Hypotheses and one to three documents of references."""
    lines = draw(st.integers(1, 5))
    document = st.lists(SENTENCE, min_size=lines, max_size=lines)
    return draw(document), draw(st.lists(document, min_size=1, max_size=3))


@settings(max_examples=300, deadline=None)
@given(corpora())
def test_corpus_bleu_is_sacrebleus(corpus):
    hypotheses, references = corpus
    expected = referee().corpus_score(hypotheses, references)
    total = corpus_stats(hypotheses, references).sum(axis=0)
    assert total.tolist() == [*expected.counts, *expected.totals, expected.sys_len, expected.ref_len]
    assert corpus_bleu(total) == pytest.approx(expected.score, abs=1e-9)
    assert length_ratio(total) == pytest.approx(expected.ratio, abs=1e-12)


@settings(max_examples=100, deadline=None)
@given(st.lists(SENTENCE, max_size=8), st.lists(SENTENCE, min_size=1, max_size=3))
def test_many_hypotheses_of_a_sentence(hypotheses, lines):
    stats = SentenceReferences(lines).stats([hypothesis.split() for hypothesis in hypotheses])
    assert stats.shape == (len(hypotheses), 10)
    for row, hypothesis in zip(stats.tolist(), hypotheses, strict=True):
        length, closest, *counts = referee()._extract_corpus_statistics([hypothesis], [[line] for line in lines])[0]
        assert row == [*counts, length, closest]


def test_larger_corpus():
    draw = random.Random(5)
    words = [f"w{n}" for n in range(40)]
    references = [[" ".join(draw.choices(words, k=draw.randint(1, 60))) for _ in range(80)] for _ in range(2)]
    hypotheses = [
        " ".join(word if draw.random() < 0.8 else draw.choice(words) for word in line.split()) for line in references[0]
    ]
    expected = referee().corpus_score(hypotheses, references).score
    assert 20 < expected < 80
    assert corpus_bleu(corpus_stats(hypotheses, references).sum(axis=0)) == pytest.approx(expected, abs=1e-9)


def test_no_lines_have_no_statistics():
    assert corpus_stats([], [[]]).shape == (0, 10)


def test_ties_of_length_go_to_the_shorter_reference():
    assert corpus_stats(["a b c"], [["a b c d"], ["a b"]])[0, 9] == 2


def test_bleu_of_an_array_is_bleu_of_its_rows():
    stats = corpus_stats(["a b c d e", "a b", "", "a x c y e f"], [["a b c d e", "a b c", "a", "a b c d e f"]])
    grid = stats[[0, 1, 2, 3, 3, 0]].reshape(2, 3, 10)
    scores = bleu(grid)
    assert scores.shape == (2, 3)
    assert scores.ravel().tolist() == [corpus_bleu(row) for row in grid.reshape(6, 10)]
    assert scores[0, 0] == pytest.approx(100) and scores[0, 2] == 0


def test_unequal_or_missing_references_are_refused():
    with pytest.raises(InputError, match="at least one set"):
        check_references([])
    with pytest.raises(InputError, match=r"of 2, 1 lines; all"):
        check_references([["a", "b"], ["a"]])
    with pytest.raises(InputError, match=r"of 2 lines for 3 sentences"):
        corpus_stats(["a", "b", "c"], [["a", "b"]])
    with pytest.raises(InputError, match="at least one reference"):
        SentenceReferences([])
