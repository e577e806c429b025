"""Languages of sentences by profiles of character trigrams, learnt from both sides of the text itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_BITS = 18
"""Trigrams are hashed to this many bits."""

LEAST_PAIRS = 200
"""Pairs from which on a side has a profile."""

LEAST_TRIGRAMS = 15
"""Trigrams of a sentence whose language can be judged."""

FOREIGN = -0.5
"""Mean log ratio of both profiles below which a sentence is in the language of the other side."""

_END = 1


class _Trigrams(NamedTuple):
    """Trigrams of all lines with a letter, without those across lines."""

    hashes: Ints
    lines: Ints


def foreign_sentences(sources: Sequence[str], targets: Sequence[str]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Marks the sentences of each side that are in the language of the other side, bool [pairs] each.

    A trigram's own occurrence does not count for its sentence. Time and memory are linear in the text.
    """
    count = len(sources)
    if count < LEAST_PAIRS:
        return np.zeros(count, bool), np.zeros(count, bool)
    sides = _trigrams(sources), _trigrams(targets)
    counts = [np.bincount(side.hashes, minlength=1 << _BITS) for side in sides]
    found = []
    for side, own, other in ((sides[0], counts[0], counts[1]), (sides[1], counts[1], counts[0])):
        ratios = _log_shares(own, side.hashes, 1) - _log_shares(other, side.hashes, 0)
        sizes = np.bincount(side.lines, minlength=count)
        means = np.bincount(side.lines, ratios, minlength=count) / np.maximum(sizes, 1)
        found.append((sizes >= LEAST_TRIGRAMS) & (means < FOREIGN))
    return found[0], found[1]


def _log_shares(counts: Ints, hashes: Ints, own: int) -> Floats:
    smoothed: Floats = np.log((counts[hashes] - own + 0.5) / (counts.sum() + 0.5 * len(counts)))
    return smoothed


def _trigrams(lines: Sequence[str]) -> _Trigrams:
    text = "".join(f" {line.casefold()} \n" for line in lines)
    codes = np.frombuffer(text.encode("utf-32-le", "replace"), np.uint32)
    letters = np.zeros(int(codes.max()) + 1, np.uint64)
    for code in np.flatnonzero(np.bincount(codes)).tolist():
        letters[code] = code if chr(code).isalpha() else _END if code == ord("\n") else 0
    signs = letters[codes]
    windows = signs[:-2], signs[1:-1], signs[2:]
    used = np.logical_and.reduce([window != _END for window in windows])
    used &= np.logical_or.reduce([window > _END for window in windows])
    mixed = np.zeros(len(windows[0]), np.uint64)
    for window in windows:
        mixed = (mixed ^ window) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    numbers = np.cumsum(codes == ord("\n"))[:-2]
    return _Trigrams((mixed >> np.uint64(64 - _BITS)).astype(np.int64)[used], numbers[used])
