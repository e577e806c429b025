"""Where systems are good: words by frequency, sentences by length, n-grams that one system finds and another does not.

These are the tables of compare-mt (Neubig et al., 2019).
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from lscfg.tuning.bleu import ORDER, bleu, corpus_stats
from lscfg.tuning.report.content import Content
from lscfg.tuning.report.matches import clipped_counts, grams

FREQUENCIES = ((0, 0), (1, 1), (2, 4), (5, 9), (10, 99), (100, 999), (1000, None))
"""Bounds of how often a word stands in the training text."""

LENGTHS = ((0, 5), (6, 10), (11, 15), (16, 20), (21, 30), (31, 50), (51, None))
"""Bounds of the words of a reference."""

GRAMS = 12
"""N-grams that are shown of two systems, for each of them."""

Bounds = tuple[int, int | None]


def within_bounds(value: int, bounds: Bounds) -> bool:
    """Whether a number is within bounds, both included."""
    return bounds[0] <= value and (bounds[1] is None or value <= bounds[1])


def bounds_name(bounds: Bounds) -> str:
    """Bounds as people write them."""
    least, most = bounds
    if most is None:
        return f"{least:,} or more"
    return f"{least}" if least == most else f"{least} to {most}"


@dataclass(frozen=True)
class Bucket:
    """One row: some of the words or sentences, and how good each system is there.

    Attributes:
        bounds: of frequency or length.
        size: words of the references, or sentences.
        scores: by system; None where there is nothing to score.
        sentences: those that have such words, or are so long; from 0.
    """

    bounds: Bounds
    size: int
    scores: dict[str, float | None]
    sentences: list[int]


def by_frequency(content: Content) -> list[Bucket]:
    """F1 (0 to 100) of the words of the first reference, by how often they stand in the training text.

    A word matches as often as both sides of a sentence have it. Buckets without a word are left out.
    """
    references = [Counter(line.split()) for line in content.references[0]]
    outputs = {name: [Counter(line.split()) for line in lines] for name, lines in content.outputs.items()}
    found = []
    for bounds in FREQUENCIES:
        held = {word for word, count in content.training.items() if within_bounds(count, bounds)}

        def size(counts: Iterable[Counter[str]], held: set[str] = held) -> int:
            return sum(number for line in counts for word, number in line.items() if word in held)

        wanted = size(references)
        sentences = [k for k, line in enumerate(references) if not held.isdisjoint(line)]
        scores: dict[str, float | None] = {}
        for name, lines in outputs.items():
            both = size(one & other for one, other in zip(lines, references, strict=True))
            total = size(lines) + wanted
            scores[name] = 200 * both / total if total else None
        if sentences:
            found.append(Bucket(bounds, wanted, scores, sentences))
    return found


def by_length(content: Content) -> list[Bucket]:
    """BLEU of the sentences by the length of the first reference; buckets without a sentence are left out."""
    lengths = [len(line.split()) for line in content.references[0]]
    stats = {name: corpus_stats(lines, content.references) for name, lines in content.outputs.items()}
    found = []
    for bounds in LENGTHS:
        sentences = [k for k, length in enumerate(lengths) if within_bounds(length, bounds)]
        if sentences:
            scores: dict[str, float | None] = {
                name: float(bleu(rows[sentences].sum(axis=0))) for name, rows in stats.items()
            }
            found.append(Bucket(bounds, len(sentences), scores, sentences))
    return found


@dataclass(frozen=True)
class Found:
    """An n-gram that one of two systems finds more often than the other.

    Attributes:
        gram: its words; matches: of both systems; sentences: where the one finds it more often, from 0.
    """

    gram: str
    matches: tuple[int, int]
    sentences: list[int]


@dataclass(frozen=True)
class Matches:
    """How often n-grams of all orders match.

    Attributes:
        lines: in each sentence; total: in all.
    """

    lines: list[Counter[tuple[str, ...]]]
    total: Counter[tuple[str, ...]]


def gram_matches(content: Content) -> dict[str, Matches]:
    """By system, the matches of all n-grams, clipped as BLEU clips them."""
    limits = [
        _sum(clipped_counts([line.split() for line in group], order) for order in range(1, ORDER + 1))
        for group in zip(*content.references, strict=True)
    ]
    found = {}
    for name, lines in content.outputs.items():
        counts = [
            Counter(gram for order in range(1, ORDER + 1) for gram in grams(line.split(), order)) & limit
            for line, limit in zip(lines, limits, strict=True)
        ]
        found[name] = Matches(counts, _sum(counts))
    return found


def _sum(counts: Iterable[Counter[tuple[str, ...]]]) -> Counter[tuple[str, ...]]:
    total: Counter[tuple[str, ...]] = Counter()
    for some in counts:
        total.update(some)
    return total


def distinguishing(one: Matches, other: Matches) -> list[Found]:
    """The n-grams that ``other`` finds more often than ``one``, by (b + 1) / (a + b + 2), which smooths b / (a + b).

    N-grams within a longer one that has the same matches are left out: they tell nothing more.
    """
    numbers = {gram: (one.total[gram], b) for gram, b in other.total.items() if b > one.total[gram]}

    def order(gram: tuple[str, ...]) -> tuple[float, int, tuple[str, ...]]:
        a, b = numbers[gram]
        return -(b + 1) / (a + b + 2), -len(gram), gram

    chosen: list[tuple[str, ...]] = []
    for gram in sorted(numbers, key=order):
        if len(chosen) == GRAMS:
            break
        if not any(numbers[longer] == numbers[gram] and _within(gram, longer) for longer in chosen):
            chosen.append(gram)
    pairs = list(zip(one.lines, other.lines, strict=True))
    return [
        Found(" ".join(gram), numbers[gram], [k for k, (a, b) in enumerate(pairs) if b[gram] > a[gram]])
        for gram in chosen
    ]


def _within(gram: tuple[str, ...], longer: tuple[str, ...]) -> bool:
    return f" {' '.join(gram)} " in f" {' '.join(longer)} "


@dataclass(frozen=True)
class Breakdown:
    """All tables.

    Attributes:
        frequency, length: rows of both tables; the first is empty where the training text is not known.
        grams: by two systems, the n-grams that the second finds more often.
    """

    frequency: list[Bucket]
    length: list[Bucket]
    grams: dict[tuple[str, str], list[Found]]

    @classmethod
    def of(cls, content: Content) -> Breakdown:
        """The tables of an experiment."""
        matches = gram_matches(content)
        pairs = itertools.permutations(content.outputs, 2)
        return cls(
            by_frequency(content) if content.training else [],
            by_length(content),
            {(one, other): distinguishing(matches[one], matches[other]) for one, other in pairs},
        )

    def sets(self) -> dict[str, dict[str, Any]]:
        """The sentences of each row, as the script has them, by the mark of the row: ``frequency-0``, …"""
        found: dict[str, dict[str, Any]] = {}
        for k, bucket in enumerate(self.frequency):
            name = f"sentences with words seen {times(bucket.bounds)}"
            found[f"frequency-{k}"] = {"name": name, "sentences": bucket.sentences, "frequency": bucket.bounds}
        for k, bucket in enumerate(self.length):
            name = f"sentences of {bounds_name(bucket.bounds)} words"
            found[f"length-{k}"] = {"name": name, "sentences": bucket.sentences}
        return found


def times(bounds: Bounds) -> str:
    """Bounds of a frequency in words."""
    return "never" if bounds == (0, 0) else "once" if bounds == (1, 1) else f"{bounds_name(bounds)} times"
