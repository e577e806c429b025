"""BLEU's statistics and scores against sacrebleu; the pseudo-corpus against its formula."""

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU

from lscfg.errors import InputError
from tuning.bleu import (
    PseudoCorpus,
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


def test_ties_of_length_go_to_the_shorter_reference():
    assert corpus_stats(["a b c"], [["a b c d"], ["a b"]])[0, 9] == 2


def test_bleu_of_an_array_is_bleu_of_its_rows():
    stats = corpus_stats(["a b c d e", "a b", "", "a x c y e f"], [["a b c d e", "a b c", "a", "a b c d e f"]])
    grid = stats[[0, 1, 2, 3, 3, 0]].reshape(2, 3, 10)
    scores = bleu(grid)
    assert scores.shape == (2, 3)
    assert scores.ravel().tolist() == [corpus_bleu(row) for row in grid.reshape(6, 10)]
    assert scores[0, 0] == pytest.approx(100) and scores[0, 2] == 0


def test_pseudo_corpus_follows_its_formula():
    corpus = PseudoCorpus(decay=0.5)
    references = SentenceReferences(["a b c d e f"])
    good, short, bad = references.stats([list("abcdef"), list("abc"), list("axcxex")]).astype(float)

    def by_hand(background, row):
        counts = background + row
        precision = math.prod(counts[n] / counts[4 + n] for n in range(4)) ** 0.25
        return precision * min(1.0, math.exp(1 - counts[9] / counts[8])) * counts[9]

    background = np.array([4, 3, 2, 1, 4, 3, 2, 1, 4, 4], dtype=float)
    for added in (bad, good, short):
        expected = [by_hand(background, row) for row in (good, short, bad)]
        assert corpus.scores(np.stack([good, short, bad], axis=1)) == pytest.approx(expected, rel=1e-12)
        assert expected[0] == max(expected)
        corpus.add(added)
        background = 0.5 * background + added
    assert corpus.stats == pytest.approx(background)


def test_pseudo_corpus_measures_in_words():
    """Within a long perfect background, missing the whole sentence costs about as many words as it has."""
    references = SentenceReferences(["a b c d e f g h i j"])
    good, bad = references.stats([list("abcdefghij"), ["x"] * 10]).astype(float)
    corpus = PseudoCorpus(decay=0.999)
    for _ in range(5000):
        corpus.add(good)
    gain = corpus.scores(np.stack([good, bad], axis=1))
    assert gain[0] - gain[1] == pytest.approx(10, rel=0.05)


def test_pseudo_corpus_survives_never_matching():
    corpus = PseudoCorpus(decay=0.5)
    miss = SentenceReferences(["a"]).stats([["x"]]).astype(float)
    for _ in range(3000):
        corpus.add(miss[0])
    assert np.isfinite(corpus.scores(miss.T)).all()


def test_unequal_or_missing_references_are_refused():
    with pytest.raises(InputError, match="at least one set"):
        check_references([])
    with pytest.raises(InputError, match=r"of 2, 1 lines; all"):
        check_references([["a", "b"], ["a"]])
    with pytest.raises(InputError, match=r"of 2 lines for 3 sentences"):
        corpus_stats(["a", "b", "c"], [["a", "b"]])
    with pytest.raises(InputError, match="at least one reference"):
        SentenceReferences([])
