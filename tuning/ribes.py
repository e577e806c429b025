"""RIBES of sentences: rank correlation of the words that output and reference share.

Isozaki, Hirao, Duh, Sudoh and Tsukada, "Automatic Evaluation of Translation Quality for Distant Language Pairs" (2010):
NKT · P^0.25 · BP^0.10, with the normalised Kendall's tau of the positions of shared words, the share P of shared words
in the output, and the brevity penalty BP. Words that occur more than once are matched by the shortest context, to the
left before that to the right, that occurs once on both sides, as in the authors' program.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

PRECISION, BREVITY = 0.25, 0.10
"""The authors' exponents α and β."""


def ribes(hypothesis: Sequence[str], reference: Sequence[str]) -> float:
    """RIBES of a sentence, 0 to 1."""
    if not hypothesis or not reference:
        return float(not hypothesis and not reference)
    brevity = min(1.0, math.exp(1 - len(reference) / len(hypothesis)))
    positions = matches(hypothesis, reference)
    n = len(positions)
    if n == 1 and len(reference) == 1:
        return float((1 / len(hypothesis)) ** PRECISION * brevity**BREVITY)
    if n < 2:
        return 0.0
    ascending = sum(b > a for i, a in enumerate(positions) for b in positions[i + 1 :])
    tau = ascending / (n * (n - 1) / 2)
    return float(tau * (n / len(hypothesis)) ** PRECISION * brevity**BREVITY)


def matches(hypothesis: Sequence[str], reference: Sequence[str]) -> list[int]:
    """Positions in the reference of the words of the hypothesis that have one, in the order of the hypothesis."""
    found = []
    for i in range(len(hypothesis)):
        position = _match(hypothesis, reference, i)
        if position is not None:
            found.append(position)
    return found


def _match(hypothesis: Sequence[str], reference: Sequence[str], i: int) -> int | None:
    word, n = hypothesis[i], len(hypothesis)
    if word not in reference:
        return None
    for window in range(max(i + 1, n - i)):
        for begin, end in {(i - window, i + 1): None, (i, i + window + 1): None}:
            if begin < 0 or end > n:
                continue
            gram = hypothesis[begin:end]
            if len(places := _places(gram, reference)) == 1 and len(_places(gram, hypothesis)) == 1:
                return places[0] + i - begin
    return None


def _places(gram: Sequence[str], words: Sequence[str]) -> list[int]:
    """Positions of an n-gram."""
    first, size = gram[0], len(gram)
    return [k for k, word in enumerate(words) if word == first and words[k : k + size] == gram]
