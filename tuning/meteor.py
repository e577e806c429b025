"""METEOR with exact matches and matches of stems ("METEOR-ES").

Banerjee and Lavie, "METEOR: An Automatic Metric for MT Evaluation with Improved Correlation with Human Judgments"
(2005): F = 10PR / (R + 9P), times 1 - (chunks / matches)³ / 2. Chunks are runs of words that are neighbours on both
sides, in the same order. Of the matchings with the most matches, and of those with the most exact ones, one with the
fewest chunks counts. METEOR 1.5 differs: synonyms, paraphrases, function words and tuned parameters are missing here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

WIDTH = 5
"""Statistics: exact matches, matches of stems, chunks, length of the hypothesis, length of the reference."""

BEAM = 500
"""Partial matchings that the search for the fewest chunks keeps; with fewer ambiguous words the search is exact."""


def meteor(sums: NDArray[np.generic]) -> NDArray[np.float64]:
    """METEOR (0 to 100) of summed statistics, [..., 5] to [...]."""
    counts = np.asarray(sums, np.float64)
    matches = np.maximum(counts[..., 0] + counts[..., 1], 1e-300)
    precision, recall = (matches / np.maximum(counts[..., k], 1e-300) for k in (3, 4))
    mean = 10 * precision * recall / (recall + 9 * precision)
    penalty = (counts[..., 2] / matches) ** 3 / 2
    return np.asarray(np.where(counts[..., 0] + counts[..., 1] > 0, 100 * mean * (1 - penalty), 0.0))


def statistics(hypothesis: Sequence[str], reference: Sequence[str], stem: Callable[[str], str]) -> list[int]:
    """The statistics of a sentence."""
    stems = [stem(word) for word in hypothesis], [stem(word) for word in reference]
    exact = sum((Counter(hypothesis) & Counter(reference)).values())
    matched = sum((Counter(stems[0]) & Counter(stems[1])).values())
    chunks = _fewest_chunks(hypothesis, reference, *stems, matched - exact) if matched else 0
    return [exact, matched - exact, chunks, len(hypothesis), len(reference)]


def _fewest_chunks(
    hypothesis: Sequence[str],
    reference: Sequence[str],
    stems: Sequence[str],
    reference_stems: Sequence[str],
    inexact: int,
) -> int:
    """Fewest chunks of all best matchings, of which ``inexact`` matches are those of stems."""
    places: dict[str, list[int]] = {}
    for position, name in enumerate(reference_stems):
        places.setdefault(name, []).append(position)
    left = Counter(stems)
    skips = {name: count - min(count, len(places.get(name, ()))) for name, count in left.items()}
    # a state: used words of the reference, position matched by the last word (or -1), inexact matches, words skipped
    states: dict[tuple[int, int, int], int] = {(0, -1, 0): 0}
    seen: Counter[str] = Counter()
    for word, name in zip(hypothesis, stems, strict=True):
        after: dict[tuple[int, int, int], int] = {}
        seen[name] += 1
        mask = sum(1 << position for position in places.get(name, ()))
        for (used, last, loose), chunks in states.items():
            if seen[name] - 1 - (used & mask).bit_count() < skips[name]:
                _keep(after, (used, -1, loose), chunks)
            for position in places.get(name, ()):
                other = loose + (reference[position] != word)
                if not used >> position & 1 and other <= inexact:
                    _keep(after, (used | 1 << position, position, other), chunks + (last < 0 or position != last + 1))
        states = after
        if len(states) > BEAM:
            states = dict(sorted(states.items(), key=lambda item: (item[1], item[0][2]))[:BEAM])
    return min(states.values(), default=sum((Counter(stems) & Counter(reference_stems)).values()))


def _keep(states: dict[tuple[int, int, int], int], state: tuple[int, int, int], chunks: int) -> None:
    if chunks < states.get(state, chunks + 1):
        states[state] = chunks
