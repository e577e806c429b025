"""Languages of sentences by profiles of character trigrams, learnt from both sides of the text itself."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lscfg.errors import InputError
from lscfg.io.tensors import load, save

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

SAMPLE = 20_000
"""Lines of a side that show the language of another text."""

FREQUENT = 30_000
"""Trigrams of a side that a profile keeps, the most frequent ones."""

USUAL = 3.5
"""Standard deviations below the training text's mean from which on a text is in neither language.

With profiles of 5,000 pairs of German and English captions, 12 % of English sentences of another domain are lost, and
6 % of French captions are taken for German or English."""

LEAST_VARIANCE = 0.05
"""Variance of the mean log share between long sentences, at least: a narrow training text has almost none."""

INDEPENDENT = 3
"""Trigrams that count as one observation, since each letter is in three of them."""

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


def trigram_counts(lines: Sequence[str]) -> Ints:
    """Counts the trigrams of a side of a training text, int64 [2^18], in at most ``SAMPLE`` of its lines."""
    return np.bincount(_trigrams(lines[:: 1 + len(lines) // SAMPLE]).hashes, minlength=1 << _BITS)


def is_foreign(text: Sequence[str], own: Ints, other: Ints) -> bool:
    """True if a text is in the language of the other side of a training text instead of the language of its side.

    Few sentences suffice, since trigrams of the training text alone count.

    Args:
        own, other: counts of both sides of the training text; see ``trigram_counts``.
    """
    hashes = _trigrams(text).hashes
    known = hashes[(own + other)[hashes] > 0]
    ratios = _log_shares(own, known, 0) - _log_shares(other, known, 0)
    return len(known) >= LEAST_TRIGRAMS and float(ratios.mean()) < FOREIGN


class _Profile(NamedTuple):
    """Trigrams of a language, and the mean log share of the trigrams of its sentences.

    The mean of a sentence with n trigrams varies by ``between + within / n``.
    """

    counts: Ints
    mean: float
    between: float
    within: float

    @classmethod
    def learn(cls, lines: Sequence[str]) -> Self:
        found = _trigrams(lines)
        counts = np.bincount(found.hashes, minlength=1 << _BITS)
        if np.count_nonzero(counts) > FREQUENT:
            counts[np.argsort(-counts, kind="stable")[FREQUENT:]] = 0
        shares = _log_shares(counts, found.hashes, np.minimum(counts[found.hashes], 1))
        mean = float(shares.mean()) if len(shares) else 0.0
        sizes = np.bincount(found.lines, minlength=len(lines))
        inverse = 1 / sizes[sizes > 0]
        squares = (np.bincount(found.lines, shares, minlength=len(lines))[sizes > 0] * inverse - mean) ** 2
        between, within = _line(inverse, squares)
        return cls(counts, mean, max(between, LEAST_VARIANCE), max(within, LEAST_VARIANCE))

    def deviations(self, shares: Floats) -> float:
        """Standard deviations of the mean of log shares from the mean of a sentence of this language."""
        return float((shares.mean() - self.mean) / math.sqrt(self.between + self.within / len(shares)))


def _line(x: Floats, y: Floats) -> tuple[float, float]:
    """Intercept and slope of the line through points with least squares."""
    if not len(x) or not (spread := float(((x - x.mean()) ** 2).sum())):
        return float(y.mean()) if len(y) else 0.0, 0.0
    slope = float(((x - x.mean()) * (y - y.mean())).sum()) / spread
    return float(y.mean()) - slope * float(x.mean()), slope


class LanguageProfiles(NamedTuple):
    """Profiles of the languages of a parallel text."""

    source: _Profile
    target: _Profile

    @classmethod
    def learn(cls, sources: Sequence[str], targets: Sequence[str]) -> Self | None:
        """The profiles of a text; None if the text is too small."""
        if len(sources) < LEAST_PAIRS:
            return None
        return cls(_Profile.learn(sources), _Profile.learn(targets))

    def detect(self, text: str) -> tuple[int, float] | None:
        """The side (0 or 1) in whose language a text is, and the probability of this side against the other side.

        None for a text in neither language or without letters.
        """
        hashes = _trigrams([" ".join(text.split())]).hashes
        if not len(hashes):
            return None
        shares = [_log_shares(side.counts, hashes, 0) for side in self]
        ratio = float((shares[0] - shares[1]).sum()) / INDEPENDENT
        side = int(ratio < 0)
        if not self[side].counts[hashes].any() or self[side].deviations(shares[side]) < -USUAL:
            return None
        return side, 1 / (1 + math.exp(-min(abs(ratio), 700.0)))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the profiles; equal profiles give equal bytes."""
        arrays: dict[str, np.ndarray] = {}
        for name, side in zip(self._fields, self, strict=True):
            hashes = np.flatnonzero(side.counts)
            arrays |= {
                f"{name}.trigrams": hashes.astype(np.int32),
                f"{name}.counts": side.counts[hashes].astype(np.int32),
            }
            # rounded, since the last digits of sums depend on the machine
            arrays[f"{name}.usual"] = np.round([side.mean, side.between, side.within], 6)
        save(path, arrays, {"lscfg": _KIND})

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Reads profiles.

        Raises:
            InputError: the file cannot be read or is damaged.
        """
        arrays, _ = load(path, _KIND)
        sides = []
        for name in cls._fields:
            trigrams, counts, usual = (arrays.get(f"{name}.{key}") for key in ("trigrams", "counts", "usual"))
            if trigrams is None or counts is None or usual is None or not _sound(trigrams, counts, usual):
                raise InputError("contains no language profiles; prepare the corpus again", path)
            whole = np.zeros(1 << _BITS, np.int64)
            whole[trigrams] = counts
            sides.append(_Profile(whole, *usual.tolist()))
        return cls(*sides)


_KIND = "language profiles"


def _sound(trigrams: np.ndarray, counts: np.ndarray, usual: np.ndarray) -> bool:
    """True if the arrays can be those of a profile."""
    return (
        trigrams.shape == counts.shape == (len(trigrams),)
        and usual.shape == (3,)
        and bool(np.isfinite(usual).all())
        and bool((usual[1:] >= LEAST_VARIANCE).all())
        and trigrams.dtype == counts.dtype == np.int32
        and bool(((trigrams >= 0) & (trigrams < 1 << _BITS)).all())
        and bool((counts > 0).all())
    )


def _log_shares(counts: Ints, hashes: Ints, own: int | Ints) -> Floats:
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
