"""Stored sentences that resemble a sentence: an index of words, and edits word by word."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from lscfg.corpus.edits import word_edits
from lscfg.decode.recalled import SimilarPair, StoredPair

SIMILAR = 0.7
"""Minimum similarity of a sentence that is offered (Koehn and Senellart 2010 gain above this value)."""
MOST_SIMILAR = 3
BUCKETS = 251
"""Number of sets into which words fall; the index marks the sets of each sentence, and a byte counts them."""


class SentenceIndex:
    """The live pairs by the words of their sources.

    Args:
        pairs: by id, of the caller, who adds and removes pairs there and here.
    """

    def __init__(self, pairs: Mapping[int, StoredPair]):
        self._pairs = pairs
        self._ids, self._lengths = array("q"), array("i")  # of each pair in the order of addition; length 0: removed
        self._rows: dict[int, int] = {}
        self._numbers: dict[str, int] = {}  # of the words of all pairs
        self._contains = np.zeros((BUCKETS, 256), np.uint8)  # 1 for a bucket of a row's words, with room at the end
        self._adjacent: set[int] = set()  # pairs of word numbers, perhaps those of removed pairs, too

    def add(self, pair: StoredPair) -> None:
        """Adds a pair, which is later than all others."""
        words, row = pair.source.split(" "), len(self._ids)
        self._rows[pair.id] = row
        self._ids.append(pair.id)
        self._lengths.append(len(words))
        numbers = [self._numbers.setdefault(word, len(self._numbers)) for word in words]
        if row == self._contains.shape[1]:
            self._contains = np.concatenate([self._contains, np.zeros_like(self._contains)], axis=1)
        self._contains[[number % BUCKETS for number in numbers], row] = 1
        self._adjacent.update([one << 32 | other for one, other in pairwise(numbers)])

    def remove(self, pair: StoredPair) -> None:
        """Removes a pair."""
        row = self._rows.pop(pair.id)
        self._lengths[row] = 0
        self._contains[:, row] = 0

    def reach(self, words: Sequence[str], most: int) -> list[int]:
        """Length, at most ``most``, of the longest phrase that begins at each word and may occur in the pairs."""
        found, numbers, after = [0] * len(words), [self._numbers.get(word, -1) for word in words], -1
        for i in range(len(words) - 1, -1, -1):
            if (number := numbers[i]) >= 0:
                more = found[i + 1] if after >= 0 and number << 32 | after in self._adjacent else 0
                found[i] = min(most, more + 1)
            after = number
        return found

    def _near(self, words: Sequence[str]) -> list[int]:
        """Rows that share enough words with a sentence, and perhaps some others, ascending."""
        lacking = int((1 - SIMILAR) * len(words) + 1e-9)  # a similar sentence contains all but these
        known = [number for word in words if (number := self._numbers.get(word)) is not None]
        lacking -= len(words) - len(known)
        if lacking < 0 or not known:
            return []
        buckets = [*{number % BUCKETS for number in known}]
        common = self._contains[buckets, : len(self._ids)].sum(axis=0, dtype=np.uint8)
        return list((common >= max(1, len(buckets) - lacking)).nonzero()[0].tolist())

    def similar(self, words: Sequence[str]) -> tuple[SimilarPair, ...]:
        """The most similar pairs, the most similar first, then the latest; without those of equal words."""
        known, found = {*words}, []
        again = len(words) - len(known)
        least, most = SIMILAR * len(words) - 1e-9, len(words) / SIMILAR + 1e-9
        for row in self._near(words):
            if not least <= self._lengths[row] <= most:
                continue
            pair = self._pairs[self._ids[row]]
            other = pair.source.split(" ")
            longer = max(len(words), len(other))
            if len(known.intersection(other)) + again < SIMILAR * longer - 1e-9:
                continue
            similarity = 1 - word_edits(words, other) / longer
            if SIMILAR <= similarity < 1:
                found.append(SimilarPair(pair, similarity))
        return tuple(sorted(found, key=lambda one: (-one.similarity, -one.pair.id))[:MOST_SIMILAR])
