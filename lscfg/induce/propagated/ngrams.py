"""The n-grams of texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from lscfg.induce.propagated.text import BLOCK, BORDER, Text
from lscfg.log import progress
from lscfg.parallel.choose import in_threads

COUNTERS = 1 << 27
"""Most one-byte counters that identify the rare n-grams of a text; shorter texts use two per word."""


@dataclass(frozen=True)
class NGrams:
    """Distinct sequences of words.

    Attributes:
        symbols: int32, words of all sequences, one after the other; offsets: int64 [n + 1], begin of each sequence.
    """

    symbols: np.ndarray
    offsets: np.ndarray

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> np.ndarray:
        """int64 [n], number of words of each sequence."""
        return np.diff(self.offsets)

    def tuples(self) -> Iterator[tuple[int, ...]]:
        """Each sequence."""
        words = self.symbols.tolist()
        return (tuple(words[a:b]) for a, b in pairwise(self.offsets.tolist()))

    def texts(self, words: Sequence[str]) -> list[str]:
        """Each sequence as text, words separated by blanks."""
        return [" ".join(map(words.__getitem__, one)) for one in self.tuples()]

    @classmethod
    def of(cls, sequences: Sequence[Sequence[int]]) -> NGrams:
        """The table of these sequences, in order."""
        offsets = np.cumsum([0, *map(len, sequences)]).astype(np.int64)
        return cls(np.array([word for one in sequences for word in one], np.int32), offsets)


def count_ngrams(text: Text, lengths: Sequence[int], least: int = 1, threads: int = 1) -> dict[tuple[int, ...], int]:
    """Counts the n-grams of these lengths in a text, without n-grams that occur fewer than ``least`` times.

    Memory grows with the n-grams in the result only: in a first pass all n-grams share counters by a hash, as in a
    count-min sketch of one row, and the second pass keeps only n-grams whose counter reaches ``least``. Counts are
    exact.
    """
    found: dict[tuple[int, ...], int] = {}
    with in_threads(threads, ahead=1) as engine:
        counters = None
        if least > 1 and len(text) > BLOCK:
            counters = np.zeros(min(2 * len(text), COUNTERS), np.uint8)
            for block in engine.map(partial(_distinct, lengths), progress(text.blocks(), "n-grams, first pass")):
                for rows, count in block:
                    _add(counters, _hashes(rows, len(counters)), count)
        for block in engine.map(partial(_distinct, lengths), progress(text.blocks(), "n-grams")):
            for rows, count in block:
                if counters is not None:
                    kept = counters[_hashes(rows, len(counters))] >= min(least, 255)
                    rows, count = rows[kept], count[kept]
                for one, often in zip(map(tuple, rows.tolist()), count.tolist(), strict=True):
                    found[one] = found.get(one, 0) + often
    return {one: often for one, often in found.items() if often >= least} if least > 1 else found


def _distinct(lengths: Sequence[int], text: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each length, the n-grams of a text, int32 [n, length], and their counts, int64 [n]."""
    found = []
    size = int(text.max(initial=0)) + 1
    ids = text.astype(np.int64)
    for length in range(1, max(lengths, default=0) + 1):
        if length > 1:  # an n-gram is a shorter one and a word
            ids, more = ids[:-1], text[length - 1 :]
            ids = np.where((ids < 0) | (more < 0), BORDER, ids * size + more)
        at = np.flatnonzero(ids >= 0)
        _, first, which, count = np.unique(ids[at], return_index=True, return_inverse=True, return_counts=True)
        ids = ids.copy()
        ids[at] = which
        if length in lengths:
            found.append((text[at[first][:, None] + np.arange(length)], count))
    return found


def _hashes(rows: np.ndarray, counters: int) -> np.ndarray:
    """The counter of each n-gram, int64 [n]."""
    found = np.full(len(rows), rows.shape[1], np.uint64)
    for word in rows.T.astype(np.uint64):
        found = (found ^ word) * np.uint64(0x9E3779B97F4A7C15)
        found ^= found >> np.uint64(29)
    return (found % np.uint64(counters)).astype(np.int64)


def _add(counters: np.ndarray, place: np.ndarray, count: np.ndarray) -> None:
    where, which = np.unique(place, return_inverse=True)
    counters[where] = np.minimum(counters[where] + np.bincount(which, count), np.iinfo(counters.dtype).max)


class Finder:
    """A trie that finds n-grams in texts, with one sorted array for each length."""

    def __init__(self, wanted: NGrams):
        self._wanted = len(wanted)
        self._size = int(wanted.symbols.max(initial=0)) + 1
        self._levels: list[tuple[np.ndarray, np.ndarray]] = []
        node = np.zeros(len(wanted), np.int64)
        for length in range(1, int(wanted.lengths.max(initial=0)) + 1):
            reach = np.flatnonzero(wanted.lengths >= length)
            codes, which = np.unique(
                node[reach] * self._size + wanted.symbols[wanted.offsets[reach] + length - 1], return_inverse=True
            )
            node[reach] = which
            number = np.full(len(codes), -1, np.int64)
            ends = wanted.lengths[reach] == length
            number[which[ends]] = reach[ends]
            self._levels.append((codes, number))
        self._first = np.full(self._size + 2, -1)  # the node of each word, of words beyond the last, of BORDER
        if self._levels:
            self._first[self._levels[0][0]] = np.arange(len(self._levels[0][0]))

    def find(self, text: np.ndarray) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """For each length: the length, the begin of each occurrence, int64, and the n-gram there, int64."""
        node = self._first[np.minimum(text, self._size)]
        at = np.flatnonzero(node >= 0)
        node = node[at]
        for length, (codes, number) in enumerate(self._levels, 1):
            if length > 1:
                fits = at + length <= len(text)
                at, node = at[fits], node[fits]
                word = text[at + length - 1].astype(np.int64)
                code = node * self._size + word
                place = np.minimum(np.searchsorted(codes, code), len(codes) - 1)
                known = (word >= 0) & (word < self._size) & (codes[place] == code)
                at, node = at[known], place[known]
            ends = number[node] >= 0
            yield length, at[ends], number[node[ends]]

    def count(self, text: Text) -> np.ndarray:
        """int64 [n-grams], counts in the text."""
        total = np.zeros(self._wanted, np.int64)
        for block in text.blocks():
            for _, _, number in self.find(block):
                total += np.bincount(number, minlength=self._wanted)
        return total
