"""Objectives of a tuning: BLEU, another metric, or the mean of both, from sufficient statistics.

A row of statistics of BLEU has the ten counts of ``lscfg.tuning.bleu``. That of another objective has its own before
them (``OwnMetric``):

- chrF2: for the character n-grams of each order from 1 to 6, those of the hypothesis, those of the reference and the
  matches, as sacrebleu counts them: white space is removed. The marks of joined words and of pieces are
  removed, too, so chrF is that of restored text but for casing.
- TER, of which 100 minus the rate counts: edits and words of the reference, as sacrebleu counts them. With several
  references both are multiplied by their number, since sacrebleu takes the mean of the lengths.
- RIBES: the score in millionths, and 1.
- METEOR-ES: see ``lscfg.tuning.meteor``; stems are English.

Of several references that with the best score counts, for each hypothesis; for TER that with the fewest edits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics import TER

from lscfg.kernel import lists
from lscfg.prepare.spacing import unmarked
from lscfg.prepare.stems import word_stem
from lscfg.tuning import meteor
from lscfg.tuning.bleu import WIDTH, SentenceReferences, Stats, bleu, bleu_plus_one
from lscfg.tuning.ngrams import NgramMatches
from lscfg.tuning.ribes import ribes

CHARACTER_ORDER = 6
"""Longest n-gram of characters that chrF counts."""

CHRF_WIDTH = 3 * CHARACTER_ORDER
"""Columns of the statistics of chrF, before those of BLEU."""

Scores = Callable[[Stats], NDArray[np.float64]]
"""Scores (0 to 100) of statistics, [..., width] to [...]."""


class Counter(Protocol):
    """References of one sentence, for the statistics of its hypotheses."""

    def stats(self, hypotheses: Sequence[Sequence[str]]) -> NDArray[np.int32]:
        """The statistics of each hypothesis, a sequence of words, [hypotheses, width]."""


def characters(words: Sequence[str]) -> str:
    """The text of words without blanks and marks."""
    return unmarked("".join(words))


class OwnCounter(ABC):
    """References of one sentence, for the statistics of a metric that is not BLEU.

    Raises:
        InputError: there is no reference.
    """

    @abstractmethod
    def own(self, hypotheses: Sequence[Sequence[str]]) -> NDArray[np.int32]:
        """The statistics of the metric alone, [hypotheses, width]."""

    def __init__(self, references: Sequence[str]):
        self._words = SentenceReferences(references)

    def stats(self, hypotheses: Sequence[Sequence[str]]) -> NDArray[np.int32]:
        """See ``Counter.stats``."""
        return np.concatenate([self.own(hypotheses), self._words.stats(hypotheses)], axis=1)


class CharacterReferences(OwnCounter):
    """The references of one sentence, for chrF."""

    def __init__(self, references: Sequence[str]):
        super().__init__(references)
        self._texts = [characters(reference.split()) for reference in references]
        self._matches = [NgramMatches([text], CHARACTER_ORDER) for text in self._texts]

    def own(self, hypotheses: Sequence[Sequence[str]]) -> NDArray[np.int32]:
        texts = [characters(words) for words in hypotheses]
        orders = np.arange(CHARACTER_ORDER)
        totals = np.maximum(np.array([len(text) for text in texts], np.int32)[:, None] - orders, 0)
        rows = np.zeros((len(self._texts), len(texts), CHRF_WIDTH), np.int32)
        for row, text, found in zip(rows, self._texts, self._matches, strict=True):
            there = np.maximum(len(text) - orders, 0)
            row[:, 0::3] = np.where(there > 0, totals, 0)  # as in sacrebleu, an order without reference counts nothing
            row[:, 1::3] = there
            row[:, 2::3] = found.matches(texts)
        return best_rows(rows, chrf)


class TextCounter(OwnCounter):
    """References of one sentence, for a metric whose statistics are computed for one translation at a time."""

    WIDTH = 2

    def __init__(self, references: Sequence[str]):
        super().__init__(references)
        self._references = [reference.split() for reference in references]
        self._known: dict[tuple[str, ...], list[int]] = {}

    @abstractmethod
    def row(self, hypothesis: list[str]) -> list[int]:
        """The statistics of a translation."""

    def own(self, hypotheses: Sequence[Sequence[str]]) -> NDArray[np.int32]:
        """Each distinct translation is counted once; decoding runs repeat most of them."""
        keys = [tuple(words) for words in hypotheses]
        for key in keys:
            if key not in self._known:
                self._known[key] = self.row([*key])
        return np.array([self._known[key] for key in keys], np.int32).reshape(-1, self.WIDTH)


class EditReferences(TextCounter):
    """The references of one sentence, for TER."""

    def __init__(self, references: Sequence[str]):
        super().__init__(references)
        self._ter = TER()
        self._cached = self._ter._extract_reference_info([self._ter._preprocess_segment(text) for text in references])

    def row(self, hypothesis: list[str]) -> list[int]:
        text = self._ter._preprocess_segment(" ".join(hypothesis))
        edits, length = self._ter._compute_segment_statistics(text, self._cached)
        return [round(edits * len(self._references)), round(length * len(self._references))]


class OrderReferences(TextCounter):
    """The references of one sentence, for RIBES."""

    def row(self, hypothesis: list[str]) -> list[int]:
        return [round(lists.RIBES_UNIT * max(ribes(hypothesis, reference) for reference in self._references)), 1]


class StemReferences(TextCounter):
    """The references of one sentence, for METEOR-ES."""

    WIDTH = meteor.WIDTH

    def row(self, hypothesis: list[str]) -> list[int]:
        rows = np.array([meteor.statistics(hypothesis, reference, english) for reference in self._references])
        best: list[int] = best_rows(rows[:, None], meteor.meteor)[0].tolist()
        return best


def english(word: str) -> str:
    """The stem of an English word."""
    return word_stem("en", word)


def best_rows(rows: NDArray[np.int32], scores: Scores) -> NDArray[np.int32]:
    """Of each hypothesis the statistics against the reference with the best score.

    Args:
        rows: [references, hypotheses, width].
    """
    best = scores(rows).argmax(axis=0)
    return np.asarray(rows[best, np.arange(rows.shape[1])])


def chrf(stats: Stats) -> NDArray[np.float64]:
    """chrF2 (0 to 100) of each set of summed statistics, [..., width] to [...]: sacrebleu's with its defaults.

    Precision and recall are means over the orders that both sides have (Popović 2015).
    """
    counts = np.asarray(stats[..., :CHRF_WIDTH], dtype=np.float64)
    hypothesis, reference, matches = counts[..., 0::3], counts[..., 1::3], counts[..., 2::3]
    there = (hypothesis > 0) & (reference > 0)
    orders = np.maximum(there.sum(axis=-1), 1)
    precision = np.where(there, matches / np.maximum(hypothesis, 1e-300), 0).sum(axis=-1) / orders
    recall = np.where(there, matches / np.maximum(reference, 1e-300), 0).sum(axis=-1) / orders
    total = 4 * precision + recall
    return np.asarray(100 * 5 * precision * recall / np.where(total > 0, total, 1))


def edit_score(stats: Stats) -> NDArray[np.float64]:
    """100 minus TER of summed edits and words, [..., 2] to [...]; at most 100."""
    edits, words = np.asarray(stats[..., 0], np.float64), np.asarray(stats[..., 1], np.float64)
    return np.asarray(100 * np.where(words > 0, 1 - edits / np.where(words > 0, words, 1), edits <= 0))


def mean_ribes(stats: Stats) -> NDArray[np.float64]:
    """RIBES (0 to 100) of summed scores and sentences, [..., 2] to [...]."""
    return np.asarray(100 * stats[..., 0] / (lists.RIBES_UNIT * np.maximum(stats[..., 1], 1e-300)))


@dataclass(frozen=True)
class OwnMetric:
    """A metric with separate statistics, before those of BLEU.

    Args:
        title: name in the log.
        kernel: number of the metric in the kernel; the next number is that of its mean with BLEU.
        width: columns of its statistics.
        scores: scores (0 to 100) of statistics.
        counter: the class of references.
        background: its statistics in the background of MIRA, of four words in one sentence.
    """

    title: str
    kernel: int
    width: int
    scores: Scores
    counter: Callable[[Sequence[str]], Counter]
    background: tuple[float, ...]


@dataclass(frozen=True)
class Objective:
    """A metric that weights are tuned for.

    Args:
        own: the metric besides BLEU.
        with_bleu: True for BLEU or the mean of it and the metric.
    """

    own: OwnMetric | None
    with_bleu: bool

    @property
    def title(self) -> str:
        """Name in the log."""
        if self.own is None:
            return "BLEU"
        return f"(BLEU + {self.own.title}) / 2" if self.with_bleu else self.own.title

    @property
    def kernel(self) -> int:
        """Number of the metric in the kernel."""
        return lists.BLEU if self.own is None else self.own.kernel + self.with_bleu

    @property
    def width(self) -> int:
        """Columns of a row of statistics, of which the last ten are those of BLEU."""
        return WIDTH + (0 if self.own is None else self.own.width)

    @property
    def background(self) -> NDArray[np.float64]:
        """Statistics of the background that MIRA begins with, before those of BLEU."""
        return np.array([] if self.own is None else self.own.background, np.float64)

    def references(self, lines: Sequence[str]) -> Counter:
        """The references of one sentence.

        Raises:
            InputError: there is no reference.
        """
        return SentenceReferences(lines) if self.own is None else self.own.counter(lines)

    def totals(self, outputs: Iterable[Sequence[str]], references: Iterable[Sequence[str]]) -> NDArray[np.int64]:
        """Sums the statistics of whole translations, [translations, width].

        Args:
            outputs: the translations of each sentence, the same number of each, words separated by blanks.
            references: the references of each sentence.

        Raises:
            InputError: a sentence has no reference.
        """
        total = np.zeros((1, self.width), np.int64)
        for lines, wanted in zip(outputs, references, strict=True):
            total = total + self.references(wanted).stats([line.split() for line in lines])
        return total

    def scores(self, sums: Stats) -> NDArray[np.float64]:
        """Scores (at most 100) of sums of statistics, [..., width] to [...]."""
        if self.own is None:
            return bleu(sums)
        found = self.own.scores(sums[..., : self.own.width])
        return (found + bleu(sums[..., -WIDTH:])) / 2 if self.with_bleu else found

    def score(self, sums: Stats) -> float:
        """The score (at most 100) of a corpus with these summed statistics, [width]."""
        return float(self.scores(sums))

    def sentence_scores(self, stats: Stats) -> NDArray[np.float64]:
        """Scores (at most 1) of single sentences, [..., width] to [...]; BLEU+1 for BLEU."""
        if self.own is None:
            return bleu_plus_one(stats)
        found = self.own.scores(stats[..., : self.own.width]) / 100
        return (found + bleu_plus_one(stats[..., -WIDTH:])) / 2 if self.with_bleu else found


BLEU = Objective(None, True)

CHARACTERS = tuple(float(count) for count in np.repeat(np.arange(20, 20 - CHARACTER_ORDER, -1), 3))
"""Statistics of chrF in the background, whose words have five letters each."""

UNIT = float(lists.RIBES_UNIT)

OWN = {
    "chrf": OwnMetric("chrF2", lists.CHRF, CHRF_WIDTH, chrf, CharacterReferences, CHARACTERS),
    "ter": OwnMetric("100 - TER", lists.TER, 2, edit_score, EditReferences, (0.0, 4.0)),
    "ribes": OwnMetric("RIBES", lists.RIBES, 2, mean_ribes, OrderReferences, (UNIT, 1.0)),
    "meteor-es": OwnMetric(
        "METEOR-ES", lists.METEOR, meteor.WIDTH, meteor.meteor, StemReferences, (4.0, 0.0, 1.0, 4.0, 4.0)
    ),
}
"""Metrics besides BLEU."""

OBJECTIVES = (
    {"bleu": BLEU}
    | {name: Objective(own, False) for name, own in OWN.items()}
    | {f"bleu+{name}": Objective(own, True) for name, own in OWN.items()}
)
"""By the value of ``metric`` in [tuning]."""
