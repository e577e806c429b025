"""Near duplicates: pairs that differ only in case, punctuation and blanks, and texts that differ in a few words."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray


class _Signs(dict[int, "str | None"]):
    """A table for ``str.translate`` that removes punctuation, blanks and characters without a visible form."""

    def __missing__(self, code: int) -> str | None:
        self[code] = found = None if unicodedata.category(chr(code))[0] in "PZC" else chr(code)
        return found


_SIGNS = _Signs()


def near_form(pair: Sequence[str]) -> tuple[str, ...]:
    """A pair without case, punctuation and blanks; near duplicates have equal forms. Text of signs alone stays."""
    return tuple(unicodedata.normalize("NFKC", text).casefold().translate(_SIGNS) or text for text in pair)


# ---- sentences that differ in a few words ----

_HASHES, _BANDS = 32, 8
"""Minimal hashes of a text, and groups of them; texts with an equal group are compared (MinHash, Broder 1997)."""

_WORD = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]|\\w+"
)
"""A word, or a letter of a script without blanks."""

_COMPARED = 5
"""Maximum number of references of a group with which a line is compared by its rare words, and by its hashes."""


def near_texts(lines: Sequence[str], least: float = 0.8) -> dict[int, int]:
    """Numbers of the lines that share most words with an earlier line, and the number of that line.

    Texts are near if their words in common are at least this share of the words of both, counted as multisets
    (Jaccard). Finds nearly all such lines; time is linear, since each line is compared with one line of a group only.
    """
    found = dict[int, int]()
    for first, *others in _groups(_minimal_hashes(lines)) if lines else ():
        words = Counter(_words(lines[first]))
        for other in others:
            if other not in found and _jaccard(words, Counter(_words(lines[other]))) >= least:
                found[other] = first
    return found


def near_references(references: Sequence[str], lines: Sequence[str], least: float) -> dict[int, int]:
    """Numbers of the lines that share most words with one of the references, and the number of that reference.

    Texts are near as in ``near_texts``, but a line is compared with references only, with the most similar ones of a
    group: a line near another line may also be near a reference.
    """
    if not references or not lines:
        return {}
    known, found = len(references), dict[int, int]()
    hashes, words = _minimal_hashes([*references, *lines]), dict[int, Counter[str]]()
    for group in _groups(hashes):
        first = bisect_left(group, known)
        if first == len(group):
            continue
        for number in group[:first]:
            if number not in words:
                words[number] = Counter(_words(references[number]))
        own = [number for number in group[:first] if words[number]]
        likely = _Likely([words[number] for number in own], hashes[:, own])
        for other in group[first:] if own else ():
            if other - known not in found:
                line = Counter(_words(lines[other - known]))
                nearest = (own[k] for k in likely.of(line, hashes[:, other]))
                match = next((one for one in nearest if _jaccard(words[one], line) >= least), None)
                if match is not None:
                    found[other - known] = match
    return found


class _Likely:
    """The references of a group that a line can be near.

    Args:
        words: words of each reference.
        hashes: [hashes, references].
    """

    def __init__(self, words: Sequence[Counter[str]], hashes: NDArray[np.uint64]):
        self._hashes, self._rare = hashes, defaultdict[str, list[int]](list)
        if len(words) > _COMPARED:
            counts = Counter(word for one in words for word in one)
            for number, one in enumerate(words):
                for word in one:
                    if counts[word] <= _COMPARED:
                        self._rare[word].append(number)

    def of(self, line: Counter[str], own: NDArray[np.uint64]) -> list[int]:
        """All of few references, else those with most rare words of a line, and those with most of its hashes.

        Hashes alone do not distinguish references of a long template.
        """
        if self._hashes.shape[1] <= _COMPARED:
            return [*range(self._hashes.shape[1])]
        rare = Counter(number for word in line for number in self._rare.get(word, ()))
        equal = np.argsort(-(self._hashes == own[:, None]).sum(0), kind="stable")[:_COMPARED].tolist()
        return [*dict.fromkeys([*(number for number, _ in rare.most_common(_COMPARED)), *equal])]


def _groups(hashes: NDArray[np.uint64]) -> Iterator[list[int]]:
    """The lines with equal hashes of a band, ascending, for each band and each such group of several lines."""
    for band in np.split(hashes, _BANDS):
        keys = band[0]
        for row in band[1:]:
            keys = (keys ^ row) * np.uint64(0x9E3779B97F4A7C15)
        order = np.argsort(keys, kind="stable")
        begins = np.flatnonzero(np.append(True, np.diff(keys[order]) != 0))
        sizes = np.diff(np.append(begins, len(order)))
        for begin, size in zip(begins[sizes > 1].tolist(), sizes[sizes > 1].tolist(), strict=True):
            yield order[begin : begin + size].tolist()


def _jaccard(one: Counter[str], other: Counter[str]) -> float:
    union = (one | other).total()
    return (one & other).total() / union if union else 0.0


def _words(line: str) -> list[str]:
    return _WORD.findall(line.casefold())


def _minimal_hashes(lines: Sequence[str]) -> NDArray[np.uint64]:
    """Minimal hashes of the bigrams of words of each line, [hashes, lines]."""
    numbers: dict[str, int] = {}
    words: list[int] = []
    begins: list[int] = []
    for line in lines:
        begins.append(len(words))
        words.append(0)
        words += [numbers.setdefault(word, len(numbers) + 1) for word in _words(line)]
    ids = np.array(words, np.uint64)
    bigrams = ids * np.uint64(0x9E3779B97F4A7C15) + np.roll(ids, 1) * np.uint64(0xC2B2AE3D27D4EB4F)
    found = []
    for odd in np.random.default_rng(0).integers(0, 1 << 62, _HASHES, dtype=np.uint64) * np.uint64(2) + np.uint64(1):
        mixed = (bigrams ^ (bigrams >> np.uint64(31))) * odd
        mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed[begins] = np.iinfo(np.uint64).max  # the mark between lines belongs to none
        found.append(np.minimum.reduceat(mixed, begins))
    return np.array(found)
