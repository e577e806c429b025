"""Text as one array of numbers, and the n-grams in it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lscfg.corpus.parallel import check_plain, check_sentence
from lscfg.errors import InputError
from lscfg.io.text import stream_lines

BORDER = -1
"""Stands between sentences, and before and behind all of them."""


@dataclass(frozen=True)
class NGrams:
    """Sequences of words, each once.

    Attributes:
        symbols: int32, their words one sequence behind the other; offsets: int64 [n + 1], where each one begins.
    """

    symbols: np.ndarray
    offsets: np.ndarray

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> np.ndarray:
        """int64 [n], words of each."""
        return np.diff(self.offsets)

    def tuples(self) -> Iterator[tuple[int, ...]]:
        """Each sequence."""
        words = self.symbols.tolist()
        return (tuple(words[a:b]) for a, b in pairwise(self.offsets.tolist()))

    def texts(self, words: Sequence[str]) -> list[str]:
        """Each sequence, its words separated by blanks."""
        return [" ".join(map(words.__getitem__, one)) for one in self.tuples()]

    @classmethod
    def of(cls, sequences: Sequence[Sequence[int]]) -> NGrams:
        """The table of these sequences, in their order."""
        offsets = np.cumsum([0, *map(len, sequences)]).astype(np.int64)
        return cls(np.array([word for one in sequences for word in one], np.int32), offsets)


def read_words(paths: Sequence[str | os.PathLike[str]], numbers: dict[str, int]) -> np.ndarray:
    """The words of some files, int32, with ``BORDER`` around every sentence; new words get the next numbers.

    Raises:
        InputError: a file is missing, not UTF-8 or without a word, or has a line that cannot stand in a grammar.
    """
    found = [BORDER]
    for path in paths:
        before = len(found)
        for number, line in enumerate(stream_lines(path), 1):
            check_plain([line], path)
            check_sentence(line, path, number, allow_empty=True)
            found += [numbers.setdefault(word, len(numbers)) for word in line.split()]
            found += [BORDER] if found[-1] != BORDER else []
        if len(found) == before:
            raise InputError("no word; name a file with text, one sentence a line", path)
    return np.array(found, np.int32)


def count_ngrams(text: np.ndarray, lengths: Sequence[int], least: int = 1) -> dict[tuple[int, ...], int]:
    """How often the n-grams of these lengths are in a text; those met fewer than ``least`` times are left out."""
    found: dict[tuple[int, ...], int] = {}
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
            kept = np.flatnonzero(count >= least)
            rows = text[at[first[kept]][:, None] + np.arange(length)].tolist()
            found |= zip(map(tuple, rows), count[kept].tolist(), strict=True)
    return found


class Finder:
    """Finds n-grams in texts; a trie, one sorted array for each length."""

    def __init__(self, wanted: NGrams):
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

    def find(self, text: np.ndarray) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """For each length: the length; int64, where one of them begins; int64, which one it is."""
        at, node = np.arange(len(text)), np.zeros(len(text), np.int64)
        for length, (codes, number) in enumerate(self._levels, 1):
            fits = at + length <= len(text)
            at, node = at[fits], node[fits]
            word = text[at + length - 1].astype(np.int64)
            code = node * self._size + word
            place = np.minimum(np.searchsorted(codes, code), len(codes) - 1)
            known = (word >= 0) & (word < self._size) & (codes[place] == code)
            at, node = at[known], place[known]
            ends = number[node] >= 0
            yield length, at[ends], number[node[ends]]

    def count(self, text: np.ndarray, size: int) -> np.ndarray:
        """int64 [size], how often each one is in the text."""
        found = [number for _, _, number in self.find(text)]
        return np.bincount(np.concatenate([np.zeros(0, np.int64), *found]), minlength=size)
