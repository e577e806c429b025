"""Objectives of a tuning: BLEU, chrF2, or the mean of both, from sufficient statistics.

A row of statistics of BLEU has the ten counts of ``lscfg.tuning.bleu``. That of another objective has before them, for
the character n-grams of each order from 1 to 6, those of the hypothesis, those of the reference and the matches, as
sacrebleu counts them: white space is removed. The marks of joined words and of pieces (``MARKS``) are removed, too, so
chrF is that of restored text but for casing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lscfg.kernel import lists
from lscfg.tuning.bleu import WIDTH, SentenceReferences, Stats, bleu, bleu_plus_one
from lscfg.tuning.ngrams import NgramMatches

CHARACTER_ORDER = 6
"""Longest n-gram of characters that chrF counts."""

CHRF_WIDTH = 3 * CHARACTER_ORDER
"""Columns of the statistics of chrF, before those of BLEU."""

MARKS = "￭▁"
"""Characters that say where blanks are, rather than belong to the text."""

_NO_MARKS = str.maketrans("", "", MARKS)


class Counter(Protocol):
    """References of one sentence, for the statistics of its hypotheses."""

    def stats(self, hypotheses: Sequence[Sequence[str]]) -> NDArray[np.int32]:
        """The statistics of each hypothesis, a sequence of words, [hypotheses, width]."""


class CharacterReferences:
    """The references of one sentence, for chrF and BLEU.

    Of several references the one with the best chrF counts, for each hypothesis, as in sacrebleu.

    Raises:
        InputError: there is no reference.
    """

    def __init__(self, references: Sequence[str]):
        self._words = SentenceReferences(references)
        self._texts = [characters(reference.split()) for reference in references]
        self._matches = [NgramMatches([text], CHARACTER_ORDER) for text in self._texts]

    def stats(self, hypotheses: Sequence[Sequence[str]]) -> NDArray[np.int32]:
        """See ``Counter.stats``."""
        texts = [characters(words) for words in hypotheses]
        orders = np.arange(CHARACTER_ORDER)
        totals = np.maximum(np.array([len(text) for text in texts], np.int32)[:, None] - orders, 0)
        rows = np.zeros((len(self._texts), len(texts), CHRF_WIDTH), np.int32)
        for row, text, found in zip(rows, self._texts, self._matches, strict=True):
            there = np.maximum(len(text) - orders, 0)
            row[:, 0::3] = np.where(there > 0, totals, 0)  # as in sacrebleu, an order without reference counts nothing
            row[:, 1::3] = there
            row[:, 2::3] = found.matches(texts)
        best = chrf(rows).argmax(axis=0)
        return np.concatenate([rows[best, np.arange(len(texts))], self._words.stats(hypotheses)], axis=1)


@dataclass(frozen=True)
class Objective:
    """A metric that weights are tuned for.

    Args:
        title: name in the log.
        kernel: number of the metric in the kernel.
        width: columns of a row of statistics, of which the last ten are those of BLEU.
    """

    title: str
    kernel: int
    width: int

    def references(self, lines: Sequence[str]) -> Counter:
        """The references of one sentence.

        Raises:
            InputError: there is no reference.
        """
        return SentenceReferences(lines) if self.width == WIDTH else CharacterReferences(lines)

    def scores(self, sums: Stats) -> NDArray[np.float64]:
        """Scores (0 to 100) of sums of statistics, [..., width] to [...]."""
        if self.kernel == lists.BLEU:
            return bleu(sums)
        return chrf(sums) if self.kernel == lists.CHRF else (chrf(sums) + bleu(sums[..., -WIDTH:])) / 2

    def score(self, sums: Stats) -> float:
        """The score (0 to 100) of a corpus with these summed statistics, [width]."""
        return float(self.scores(sums))

    def sentence_scores(self, stats: Stats) -> NDArray[np.float64]:
        """Scores (0 to 1) of single sentences, [..., width] to [...]; BLEU+1 for BLEU."""
        if self.kernel == lists.BLEU:
            return bleu_plus_one(stats)
        found = chrf(stats) / 100
        return found if self.kernel == lists.CHRF else (found + bleu_plus_one(stats[..., -WIDTH:])) / 2


BLEU = Objective("BLEU", lists.BLEU, WIDTH)

OBJECTIVES = {
    "bleu": BLEU,
    "chrf": Objective("chrF2", lists.CHRF, CHRF_WIDTH + WIDTH),
    "bleu+chrf": Objective("(BLEU + chrF2) / 2", lists.BLEU_CHRF, CHRF_WIDTH + WIDTH),
}
"""By the value of ``metric`` in [tuning]."""


def characters(words: Sequence[str]) -> str:
    """The text of words without blanks and marks."""
    return "".join(words).translate(_NO_MARKS)


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
