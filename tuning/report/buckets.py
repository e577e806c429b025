"""Strengths of systems: words by frequency, sentences by length, n-grams that distinguish two systems.

The tables are those of compare-mt (Neubig et al., 2019).
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from lscfg.tuning.bleu import ORDER, bleu, corpus_stats
from lscfg.tuning.report.content import Content
from lscfg.tuning.report.matches import clipped_counts, grams

FREQUENCIES = ((0, 0), (1, 1), (2, 4), (5, 9), (10, 99), (100, 999), (1000, None))
"""Bounds of the frequency of a word in the training text."""

LENGTHS = ((0, 5), (6, 10), (11, 15), (16, 20), (21, 30), (31, 50), (51, None))
"""Bounds of the length of a reference in words."""

GRAMS = 12
"""N-grams shown for each of two systems."""

Bounds = tuple[int, int | None]


def within_bounds(value: int, bounds: Bounds) -> bool:
    """True if a number is within bounds, both included."""
    return bounds[0] <= value and (bounds[1] is None or value <= bounds[1])


def bounds_name(bounds: Bounds) -> str:
    """Bounds as text."""
    least, most = bounds
    if most is None:
        return f"{least:,} or more"
    return f"{least}" if least == most else f"{least} to {most}"


@dataclass(frozen=True)
class Bucket:
    """One row: a part of the words or sentences, with a score of each system."""

    bounds: Bounds
    """Of frequency or length."""
    size: int
    """Words of the references, or sentences."""
    scores: dict[str, float | None]
    """By system; None without anything to score."""
    sentences: list[int]
    """Sentences with such words or of such length, from 0."""


def by_frequency(content: Content) -> list[Bucket]:
    """F1 (0 to 100) of the words of the first reference, by their frequency in the training text.

    Matches are clipped to the smaller count of both sides of a sentence. Buckets without words are omitted.
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
    """BLEU of the sentences by the length of the first reference; buckets without sentences are omitted."""
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
    """An n-gram that one of two systems matches more often than the other."""

    gram: str
    """Words of the n-gram."""
    matches: tuple[int, int]
    """Matches of both systems."""
    sentences: list[int]
    """Sentences with more matches of the one system, from 0."""


@dataclass(frozen=True)
class Matches:
    """Matches of n-grams of all orders."""

    lines: list[Counter[tuple[str, ...]]]
    """In each sentence."""
    total: Counter[tuple[str, ...]]
    """In all sentences."""


def gram_matches(content: Content) -> dict[str, Matches]:
    """By system, the matches of all n-grams, clipped as in BLEU."""
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
    """The n-grams that ``other`` matches more often than ``one``, by (b + 1) / (a + b + 2), a smoothed b / (a + b).

    N-grams within a longer one with the same matches are omitted as redundant.
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
    """All tables."""

    frequency: list[Bucket]
    """Rows by frequency; empty without training text."""
    length: list[Bucket]
    """Rows by length."""
    grams: dict[tuple[str, str], list[Found]]
    """By two systems, the n-grams that the second matches more often."""

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

    def sets(self) -> dict[str, dict[str, object]]:
        """The sentences of each row, for the script, by the mark of the row, such as ``frequency-0``."""
        found: dict[str, dict[str, object]] = {}
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
