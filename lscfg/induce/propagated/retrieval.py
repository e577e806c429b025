"""Translations from monolingual target sentences with the same content as the context of a phrase.

The rest of a sentence with a phrase is compared with target sentences, by words that parallel text links. Words of the
nearest target sentences that do not translate that rest may translate the phrase. If the texts of both sides cover the
same topics, such sentences are often mutual translations, like the parallel sentences of Munteanu and Marcu (2005).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from lscfg.induce.propagated.contexts import unit_rows, values_at
from lscfg.induce.propagated.neighbours import nearest_others
from lscfg.induce.propagated.ngrams import Finder, NGrams
from lscfg.induce.propagated.text import BORDER
from lscfg.log import progress

# Sentences are compared without the phrase itself, and loose phrase pairs are counted only at positions without a
# consistent one. So a labelled phrase gets the same candidates as without its label, and the ranking learns how far to
# trust this source.

SENTENCES = 100_000
"""Most sentences of each side to compare, from the beginning."""

PLACES = 10
"""Most occurrences of a phrase to use."""

NEAREST = 50
"""Target sentences that are compared with an occurrence in detail."""

LEAST = 0.02
"""Least probability of a word's translation."""

UNSEEN = 0.01
"""Added to the probability of a word in a sentence before its logarithm."""

BACK = 0.5
"""Weight of target words in the fit of sentences, relative to 1 for source words."""

SHARPNESS = 4.0
"""Inverse temperature of the distribution over sentences by fit."""

EXPLAINED = 0.2
"""Least probability for a target word to count as a translation of words outside the phrase."""

COMMON = 0.25
"""Power of a target phrase's frequency that divides its sum."""

KEPT = 100
"""Most target phrases of a source phrase."""

SEED = 1
BLOCK = 2048


class LinkedWords(NamedTuple):
    """Words that parallel text links.

    Attributes:
        pairs: int32 [pairs, 2], -1 for none; often: int64 [pairs], counts; size: size of the vocabulary.
    """

    pairs: np.ndarray
    often: np.ndarray
    size: int


class _Sentences:
    """Positions of the sentences of a text, and its words without borders.

    Attributes:
        begin, end: int64 [sentences]; of: the sentence of each position of the text.
    """

    def __init__(self, text: np.ndarray):
        borders = np.flatnonzero(text == BORDER)
        self.text = text
        self.begin, self.end = borders[:-1] + 1, borders[1:]
        self.of = np.searchsorted(borders, np.arange(len(self.text)), side="right") - 1

    def words(self, sentences: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Sentence of each word of these sentences, and its position in the text."""
        size = (self.end - self.begin)[sentences]
        which = np.repeat(np.arange(len(size)), size)
        return which, np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size) + self.begin[sentences][which]

    def rarity(self, size: int) -> np.ndarray:
        """-ln of the share of sentences with each word, float64 [size]; 0 for words in no sentence."""
        which, place = self.words(np.arange(len(self.begin)))
        having = np.bincount(np.unique(which * size + self.text[place]) % size, minlength=size)
        return np.where(having > 0, np.log(len(self.begin) / np.maximum(having, 1)), 0)


def from_sentences(
    texts: tuple[np.ndarray, np.ndarray],
    phrases: tuple[NGrams, NGrams],
    wanted: np.ndarray,
    lexicon: LinkedWords,
    often: np.ndarray,
    threads: int = 1,
) -> sparse.csr_matrix:
    """Counts unexplained target phrases in sentences similar to those of source phrases, [source, target phrases].

    Each occurrence of a source phrase distributes 1 over its ``NEAREST`` target sentences, by their fit with the words
    around the phrase. A sentence passes its share on to each target phrase in it, times the geometric mean of the
    parts of its words that the surrounding words leave unexplained. The words of the source phrase itself are ignored,
    known or not. The sum is divided by a root of the target phrase's count in the text, since common words are often
    left over by chance.

    Args:
        texts: source and target text, as in ``Text.array``; ``SENTENCES`` of each are enough.
        wanted: bool [source phrases], the phrases to look up; the others get no candidates.
        often: int64 [target phrases], count of each in the text.
    """
    found = sparse.csr_matrix((len(phrases[0]), len(phrases[1])))
    if not all((text >= 0).any() for text in texts) or not len(lexicon.pairs):
        return found
    source, target = map(_Sentences, texts)
    places = _places(source.text, phrases[0], wanted)
    size = lexicon.size
    forward, backward = _translations(lexicon)
    rarity = source.rarity(size)
    image = _at_most_one(_bag(target, *target.words(np.arange(len(target.begin))), size) @ backward.T)
    vectors = unit_rows((image.sqrt() @ sparse.diags(rarity)).tocsr())
    spans = [(length, at, number) for length, at, number in Finder(phrases[1]).find(target.text) if len(at)]
    for first in progress(range(0, len(places), BLOCK), "similar sentences", -(-len(places) // BLOCK)):
        part = places[first : first + BLOCK]
        which, place = source.words(source.of[part[:, 0]])
        outside = (place < part[which, 0]) | (place >= part[which, 0] + part[which, 1])
        bag = _bag(source, which[outside], place[outside], size, len(part))
        query, sentence = nearest_others(unit_rows((bag @ sparse.diags(rarity)).tocsr()), vectors, NEAREST, threads)
        explained = _at_most_one(bag @ forward)
        hit, at = target.words(sentence)
        known = values_at(explained, query[hit], target.text[at])
        fit = _covered(bag, rarity, query, image, sentence) + BACK * _means(hit, np.log(known + UNSEEN), len(query))
        share = np.exp(SHARPNESS * fit)
        share /= np.maximum(np.bincount(query, share, len(part))[query], np.finfo(float).tiny)
        left = np.clip(1 - known / EXPLAINED, 0, 1)
        found = found + _left_over(spans, len(target.text), (hit, at, left), share, part[query, 2], found.shape)
    return _best(found @ sparse.diags(1 / np.maximum(often, 1) ** COMMON))


def _best(found: sparse.csr_matrix) -> sparse.csr_matrix:
    """The ``KEPT`` largest entries of each row."""
    entries = found.tocoo()
    order = np.lexsort((entries.col, -entries.data, entries.row))
    row = entries.row[order]
    order = order[np.arange(len(row)) - np.searchsorted(row, row) < KEPT]
    return sparse.csr_matrix((entries.data[order], (entries.row[order], entries.col[order])), shape=found.shape)


def _left_over(
    spans: list[tuple[int, np.ndarray, np.ndarray]],
    size: int,
    words: tuple[np.ndarray, np.ndarray, np.ndarray],
    share: np.ndarray,
    phrase: np.ndarray,
    shape: tuple[int, int],
) -> sparse.csr_matrix:
    """Shares that sentences pass on to the phrases in them.

    Args:
        spans: length, begin and number of target phrases in a text of some size.
        words: of the sentences, one after the other: sentence, position in the text, unexplained part of the word.
        share: float64 [sentences]; phrase: int64 [sentences], source phrase that gets it.
    """
    hit, at, left = words
    found = sparse.csr_matrix(shape)
    for length, begin, number in spans:
        phrase_at = np.full(size, -1)
        phrase_at[begin] = number
        mean = left.copy()
        for ahead in range(1, length):
            mean *= np.pad(left[ahead:], (0, min(ahead, len(left))))
        kept = np.flatnonzero((phrase_at[at] >= 0) & (mean > 0))
        value = share[hit[kept]] * mean[kept] ** (1 / length)
        found = found + sparse.csr_matrix((value, (phrase[hit[kept]], phrase_at[at[kept]])), shape=shape)
    return found


def _places(text: np.ndarray, phrases: NGrams, wanted: np.ndarray) -> np.ndarray:
    """Begin, length and number of random places of the wanted phrases, int64 [places, 3], by phrase."""
    found = [
        np.stack([at[wanted[number]], np.full(wanted[number].sum(), length), number[wanted[number]]], 1)
        for length, at, number in Finder(phrases).find(text)
    ]
    places = np.concatenate([np.zeros((0, 3), np.int64), *found])
    places = places[np.random.default_rng(SEED).permutation(len(places))]
    places = places[np.argsort(places[:, 2], kind="stable")]
    return places[np.arange(len(places)) - np.searchsorted(places[:, 2], places[:, 2]) < PLACES]


def _translations(lexicon: LinkedWords) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
    """P(e|f) and P(f|e) of words, both [f, e]; each word counts half a link more than observed."""
    both = (lexicon.pairs >= 0).all(1)
    f, e = lexicon.pairs[both].T
    found = []
    for side in (0, 1):
        own = lexicon.pairs[:, side]
        total = np.bincount(own[own >= 0], lexicon.often[own >= 0], lexicon.size)
        share = lexicon.often[both] / (total[lexicon.pairs[both, side]] + 0.5)
        kept = share >= LEAST
        found.append(sparse.csr_matrix((share[kept], (f[kept], e[kept])), shape=(lexicon.size, lexicon.size)))
    return found[0], found[1]


def _bag(
    text: _Sentences, which: np.ndarray, place: np.ndarray, size: int, rows: int | None = None
) -> sparse.csr_matrix:
    """Matrix [sentences, vocabulary] with 1 for each word of a sentence."""
    rows = len(text.begin) if rows is None else rows
    found = sparse.csr_matrix((np.ones(len(which)), (which, text.text[place])), shape=(rows, size))
    found.data[:] = 1
    return found


def _at_most_one(matrix: sparse.csr_matrix) -> sparse.csr_matrix:
    matrix = matrix.tocsr().sorted_indices()
    matrix.data = np.minimum(matrix.data, 1)
    return matrix


def _covered(
    bag: sparse.csr_matrix, rarity: np.ndarray, query: np.ndarray, image: sparse.csr_matrix, sentence: np.ndarray
) -> np.ndarray:
    """Mean log-probability of the words of queries in sentences, weighted towards rare words."""
    size = np.diff(bag.indptr)[query]
    pair = np.repeat(np.arange(len(query)), size)
    ahead = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
    word = bag.indices[bag.indptr[query][pair] + ahead]
    weight = np.maximum(rarity[word], 0.2)
    value = weight * np.log(values_at(image, sentence[pair], word) + UNSEEN)
    return np.bincount(pair, value, len(query)) / np.maximum(np.bincount(pair, weight, len(query)), 1e-9)


def _means(which: np.ndarray, value: np.ndarray, size: int) -> np.ndarray:
    return np.bincount(which, value, size) / np.maximum(np.bincount(which, minlength=size), 1)
