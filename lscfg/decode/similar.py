"""Stored sentences that resemble a sentence: an index of words, and edits word by word."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from lscfg.corpus.edits import word_edits
from lscfg.decode.phrases import StoredPair

SIMILAR = 0.7
"""Minimum similarity of a sentence that is offered (Koehn and Senellart 2010 gain above this value)."""
MOST_SIMILAR = 3


class SimilarPair(NamedTuple):
    """A stored pair with a similar source."""

    pair: StoredPair
    similarity: float
    """1 minus the edits per word of the longer sentence."""


class SentenceIndex:
    """The live pairs by the words of their sources.

    Args:
        pairs: by id, of the caller, who adds and removes pairs there and here.
    """

    def __init__(self, pairs: Mapping[int, StoredPair]):
        self._pairs = pairs
        self._ids, self._lengths = array("q"), array("i")  # of each pair in the order of addition; length 0: removed
        self._rows: dict[int, int] = {}
        self._with: dict[str, array[int]] = {}  # rows of each word, ascending

    def add(self, pair: StoredPair) -> None:
        """Adds a pair, which is later than all others."""
        words, row = pair.source.split(" "), len(self._ids)
        self._rows[pair.id] = row
        self._ids.append(pair.id)
        self._lengths.append(len(words))
        for word in {*words}:
            self._with.setdefault(word, array("i")).append(row)

    def remove(self, pair: StoredPair) -> None:
        """Removes a pair."""
        row = self._rows.pop(pair.id)
        self._lengths[row] = 0
        for word in {*pair.source.split(" ")}:
            own = self._with[word]
            del own[bisect_left(own, row)]

    def _counts(self, words: Sequence[str]) -> np.ndarray:
        """Numbers of some words that each row contains."""
        found = [np.frombuffer(self._with[word], np.int32) for word in words if self._with.get(word)]
        return np.bincount(np.concatenate(found), minlength=len(self._ids)) if found else np.zeros(len(self._ids))

    def similar(self, words: Sequence[str]) -> tuple[SimilarPair, ...]:
        """The most similar pairs, the most similar first, then the latest; without those of equal words."""
        # A similar sentence contains all but `lacking` of the words, so it contains `wanted` of the rarest.
        lacking = int((1 - SIMILAR) * len(words) + 1e-9)
        wanted = min(4, len(words) - lacking)
        rarest = sorted(words, key=lambda word: (len(self._with.get(word, ())), word))[: lacking + wanted]
        lengths = np.frombuffer(self._lengths, np.int32) if self._lengths else np.zeros(0, np.int32)
        least, most = SIMILAR * len(words) - 1e-9, len(words) / SIMILAR + 1e-9
        near = np.flatnonzero(self._counts(rarest) >= wanted)
        near = near[(lengths[near] >= least) & (lengths[near] <= most)]
        known, own, found = {*words}, Counter(words), []
        again = len(words) - len(known)
        for row in near.tolist():
            pair = self._pairs[self._ids[row]]
            other = pair.source.split(" ")
            longer = max(len(words), len(other))
            common = SIMILAR * longer - 1e-9
            if len(known.intersection(other)) + again < common or (own & Counter(other)).total() < common:
                continue
            similarity = 1 - word_edits(words, other) / longer
            if SIMILAR <= similarity < 1:
                found.append(SimilarPair(pair, similarity))
        return tuple(sorted(found, key=lambda one: (-one.similarity, -one.pair.id))[:MOST_SIMILAR])
