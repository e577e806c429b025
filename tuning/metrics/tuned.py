"""The metric that a run tunes for, to compare systems by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from lscfg.settings import Declared
from lscfg.tuning.metrics.metric import METRICS, PRIMARY, Floats, Metric, Stats

TUNED_FOR = "tuned for"
"""Key in results.json of the value of ``metric`` in [tuning]; missing if it is BLEU."""


class TunedMetric(Metric[Declared]):
    """A metric, or the mean of several; greater is better, so an error rate counts as 100 minus the rate."""

    Settings = Declared

    def __init__(self, name: str):
        """Reads the value of ``metric`` in [tuning].

        Args:
            name: one or more names of metrics, joined by ``+``.

        Raises:
            InputError: a metric is unknown.
        """
        self.name = name
        self._parts = [METRICS[part] for part in name.split("+")]
        titles = [f"100 - {part.TITLE}" if part.ERROR else part.TITLE for part in self._parts]
        self.TITLE = titles[0] if len(titles) == 1 else f"({' + '.join(titles)}) / {len(titles)}"
        rows = (part.statistics([""], [[""]], ("",), part.Settings()) for part in self._parts)
        self._ends = list(accumulate((row.shape[-1] for row in rows), initial=0))

    def statistics(
        self, output: Sequence[str], references: Sequence[Sequence[str]], source: Sequence[str], settings: Declared
    ) -> Stats:
        """The statistics of all parts, side by side."""
        parts = [part.statistics(output, references, source, part.Settings()) for part in self._parts]
        return np.concatenate(parts, axis=-1)

    def score(self, sums: Stats) -> Floats:
        """The mean of the scores of all parts."""
        scores = [
            self._upward(part, part.score(sums[..., begin:end]))
            for part, (begin, end) in zip(self._parts, pairwise(self._ends), strict=True)
        ]
        return np.asarray(np.mean(scores, axis=0))

    def pairwise(self, texts: Sequence[str]) -> Floats:
        """The mean of the utilities of all parts."""
        return np.asarray(np.mean([part.pairwise(texts) for part in self._parts], axis=0))

    @staticmethod
    def _upward(part: Metric[Any], score: Floats) -> Floats:
        return 100 - score if part.ERROR else score


def quick_utility(name: str) -> str:
    """The utility of minimum Bayes risk after a tuning: the metrics of its objective that compare lists quickly.

    Args:
        name: value of ``metric`` in [tuning]; without such a metric the utility is BLEU.
    """
    return "+".join(part for part in name.split("+") if METRICS[part].QUICK_PAIRS) or PRIMARY


def deciding_metric(results: Mapping[str, Any]) -> tuple[Metric[Any], str]:
    """The metric that decides between the systems of a run, and its word in names of columns: bleu or tuned.

    Args:
        results: content of results.json.
    """
    name = results.get(TUNED_FOR)
    return (TunedMetric(name), "tuned") if name else (METRICS[PRIMARY], "bleu")
