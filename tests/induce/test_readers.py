"""Sources of candidates that read the text itself: loose phrase pairs, and sentences that say the same."""

import numpy as np
import pytest
from scipy import sparse
from seeds import seeds

from lscfg.induce.propagated.contexts import unit_rows
from lscfg.induce.propagated.held import hold_out
from lscfg.induce.propagated.neighbours import nearest_others
from lscfg.induce.propagated.ngrams import NGrams
from lscfg.induce.propagated.parallel import consistent, fits, loose_pairs
from lscfg.induce.propagated.retrieval import KEPT, LinkedWords, from_sentences
from lscfg.induce.propagated.text import BORDER


def spans_of(size, longest):
    return np.array([(a, b) for a in range(size) for b in range(a + 1, min(a + longest, size) + 1)])


@seeds(40)
def test_spans_fit_links_as_counted_one_by_one(seed):
    dice = np.random.default_rng(seed)
    links = dice.random((int(dice.integers(1, 7)), int(dice.integers(1, 7)))) < 0.3
    source, target = spans_of(links.shape[0], 3), spans_of(links.shape[1], 4)
    tight = np.zeros(len(source), bool)
    found = fits(links, source, target)
    for f, (a, b) in enumerate(source):
        for e, (c, d) in enumerate(spans_of(links.shape[1], 9)):
            of_source = {(i, j) for i, j in np.argwhere(links) if a <= i < b}
            of_target = {(i, j) for i, j in np.argwhere(links) if c <= j < d}
            borders = [links[i, c:d].any() for i in (a, b - 1)] + [links[a:b, j].any() for j in (c, d - 1)]
            tight[f] |= of_source == of_target and all(borders)
            if d - c <= 4:
                number = np.flatnonzero((target == (c, d)).all(1))[0]
                share = len(of_source & of_target) / max(len(of_source | of_target), 1)
                assert found[f, number] == pytest.approx(share), (e, links)
    assert (consistent(links, source) == tight).all()


def texts(folder, **lines):
    for name, text in lines.items():
        (folder / name).write_text("".join(line + "\n" for line in text))
    return [folder / name for name in lines]


def test_pairs_are_counted_where_no_alignment_has_a_phrase_pair(tmp_path):
    """Of a b c and A B C the links 0-0 1-0 1-1 2-2 leave b nothing of its own; a second alignment links it with B."""
    f, e, one, two = texts(tmp_path, f=["a b c"], e=["A B C"], one=["0-0 1-0 1-1 2-2"], two=["0-0 1-1 2-2"])
    numbers = {word: k for k, word in enumerate(["a", "b", "c", "A", "B", "C"])}
    source, target = NGrams.of([[0], [1], [2], [0, 1]]), NGrams.of([[3], [4], [5], [3, 4]])
    found = loose_pairs((f, e), [one], numbers, source, target).toarray()
    assert found == pytest.approx(np.array([[1 / 2, 0, 0, 1 / 3], [1 / 3, 1 / 2, 0, 2 / 3], [0] * 4, [0] * 4]))
    assert loose_pairs((f, e), [one, two], numbers, source, target).nnz == 0
    assert loose_pairs((f, e), [one, one], numbers, source, target).toarray() == pytest.approx(found)


def test_pairs_of_many_sentences_are_added_up(tmp_path, monkeypatch):
    f, e, links = texts(tmp_path, f=["a b", "b c"] * 3, e=["A", "A B"] * 3, links=["0-0 1-0", "0-0 1-0"] * 3)
    numbers = {word: k for k, word in enumerate("abcAB")}
    source, target = NGrams.of([[0], [1], [2]]), NGrams.of([[3], [4]])
    found = loose_pairs((f, e), [links], numbers, source, target).toarray()
    assert found[:, 0].tolist() == [1.5, 3, 1.5] and not found[:, 1].any()
    monkeypatch.setattr("lscfg.induce.propagated.parallel.KEPT", 1)
    assert (loose_pairs((f, e), [links], numbers, source, target).toarray() == found).all()


@seeds(20)
def test_nearest_others_are_those_of_brute_force(seed):
    dice = np.random.default_rng(seed)
    one, other = (sparse.random(int(dice.integers(1, 40)), 12, 0.2, "csr", rng=dice) for _ in range(2))
    one, other, k = unit_rows(one), unit_rows(other), int(dice.integers(1, 9))
    row, which = nearest_others(one, other, k)
    cosine = (one @ other.T).toarray()
    for number, values in enumerate(cosine):
        best = np.sort(values[values > 1e-6])[::-1][:k]
        assert np.sort(values[which[row == number]])[::-1] == pytest.approx(best, abs=1e-6)


def language(dice, words, sentences):
    """Source and target text that say the same in another order; word k is word k + ``words`` there."""
    said = [dice.choice(words, int(dice.integers(5, 9)), replace=False) for _ in range(sentences)]
    sides = []
    for shift in (0, words):
        order = dice.permutation(sentences)
        lines = [[BORDER, *(said[k] + shift)] for k in order]
        sides.append(np.array([word for line in lines for word in line] + [BORDER], np.int32))
    return sides[0], sides[1]


def test_what_is_left_over_in_alike_sentences_translates_unknown_words():
    dice, words = np.random.default_rng(5), 60
    sides = language(dice, words, 200)
    known = np.arange(8, words)  # words 0 .. 7 are in no lexicon
    lexicon = LinkedWords(np.stack([known, known + words], 1).astype(np.int32), np.full(len(known), 9), 2 * words)
    phrases = NGrams.of([[k] for k in range(words)]), NGrams.of([[k + words] for k in range(words)])
    often = np.bincount(sides[1][sides[1] >= 0] - words, minlength=words)
    wanted = np.arange(words) < 12
    found = from_sentences(sides, phrases, wanted, lexicon, often)
    assert np.asarray(found[:12].argmax(axis=1)).ravel().tolist() == list(range(12))
    assert found[12:].nnz == 0 and np.diff(found.indptr).max() <= KEPT
    again = from_sentences(sides, phrases, wanted, lexicon, often, threads=3)
    assert (again != found).nnz == 0
    # a known word is found as if it were not known
    fewer = LinkedWords(lexicon.pairs[4:], lexicon.often[4:], lexicon.size)
    assert from_sentences(sides, phrases, np.arange(words) == 11, fewer, often)[11].argmax() == 11


def test_nothing_is_left_over_without_text_or_lexicon():
    none, text = np.array([BORDER], np.int32), np.array([BORDER, 0, BORDER], np.int32)
    phrases, wanted, often = (NGrams.of([[0]]), NGrams.of([[1]])), np.ones(1, bool), np.ones(1, int)
    lexicon = LinkedWords(np.array([[0, 1]], np.int32), np.ones(1, np.int64), 2)
    empty = LinkedWords(np.zeros((0, 2), np.int32), np.zeros(0, np.int64), 2)
    assert from_sentences((text, none), phrases, wanted, lexicon, often).nnz == 0
    assert from_sentences((none, text), phrases, wanted, lexicon, often).nnz == 0
    assert from_sentences((text, text), phrases, wanted, empty, often).nnz == 0
    # a phrase that is a whole sentence has nothing around it
    assert from_sentences((text, text), phrases, wanted, lexicon, often).nnz == 0


def test_phrases_with_and_without_loose_pairs_are_held_out_apart():
    size = 400
    labelled = np.arange(size) < 360
    length, loose = 1 + np.arange(size) % 2, np.arange(size) % 20 < 2
    count = np.arange(size)
    held = hold_out(labelled, length, count, loose)
    assert not held[~labelled].any()
    for one in (1, 2):
        for stratum, most in ((True, 18), (False, 162)):
            own = np.flatnonzero(labelled & (length == one) & (loose == stratum))
            assert held[own].sum() == most // 2 // 5
            assert count[own][held[own]].max() < np.median(count[own]) + 1
