"""Base class and registry of automatic metrics, and the base class of those that sacrebleu computes.

A new metric is one class in one file and one row among the entry points ``lscfg.metrics``. ``lscfg evaluate --metrics``
then accepts its name, and ``lscfg run`` scores all systems by it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics.base import Metric as Scorer

from lscfg.errors import InputError
from lscfg.kinds import Kind, Registry, SettingsT
from lscfg.settings import Declared

Stats = NDArray[Any]
"""Statistics of sentences, [sentences, width], or sums of them, [..., width]."""

Floats = NDArray[np.float64]


class Metric(Kind[SettingsT]):
    """A metric whose score of a corpus is a function of the sums of sentence statistics.

    This interface is all that evaluation needs: bootstrap and randomisation (``lscfg.tuning.significance``) work on the
    statistics of any metric.
    """

    TITLE: str
    """Name in tables, in results.json (``test_TITLE``) and in the report."""
    ERROR: ClassVar[bool] = False
    """True if less is better."""
    USUAL: ClassVar[bool] = True
    """True if ``lscfg run`` scores all systems by it; else only systems that are tuned for it are."""
    FROM_TEXT: ClassVar[bool] = True
    """True if output and references are enough, so that ``lscfg run`` can score systems. Else the metric also reads the
    source, or files that its settings name."""

    QUICK_PAIRS: ClassVar[bool] = False
    """True if ``pairwise`` does not score pair by pair, which takes seconds for the list of one sentence."""

    def statistics(
        self, output: Sequence[str], references: Sequence[Sequence[str]], source: Sequence[str], settings: SettingsT
    ) -> Stats:
        """The statistics of each sentence, [sentences, width].

        Args:
            output: tokenised translations.
            references: one document per reference set, each with a line per translation.
            source: tokenised source sentences; may be empty if ``FROM_TEXT``.

        Raises:
            InputError: a setting is missing or a file is not there.
        """
        raise NotImplementedError

    def score(self, sums: Stats) -> Floats:
        """Scores of corpora from sums of statistics, [..., width] to [...]."""
        raise NotImplementedError

    def components(self, total: Stats) -> dict[str, float]:
        """Further figures of a corpus for tables, by their titles, from summed statistics [width]."""
        return {}

    def signature(self, references: int, samples: int, seed: int, settings: SettingsT) -> str:
        """A description that makes scores comparable.

        Args:
            references: number of reference sets; samples, seed: of the bootstrap.
        """
        return self.TITLE

    def pairwise(self, texts: Sequence[str]) -> Floats:
        """The utility of each text if each other one is the reference, [texts, texts]; row: text, column: reference.

        Raises:
            InputError: the metric needs more than output and reference.
        """
        if not self.FROM_TEXT:
            raise InputError(f"{self.TITLE} cannot compare two translations alone; choose another metric")
        sign = -1.0 if self.ERROR else 1.0
        columns = [self.statistics(texts, [[one] * len(texts)], (), self.Settings()) for one in texts]
        return sign * np.stack([self.score(column) for column in columns], axis=1) + 0.0  # no minus zero


class SacrebleuMetric(Metric[Declared]):
    """A metric of sacrebleu: its statistics, its score and its signature."""

    Settings = Declared

    def scorer(self) -> Scorer:
        """The metric, for text that is tokenised already."""
        raise NotImplementedError

    def statistics(
        self, output: Sequence[str], references: Sequence[Sequence[str]], source: Sequence[str], settings: Declared
    ) -> Stats:
        """See ``Metric.statistics``."""
        rows = self.scorer()._extract_corpus_statistics(list(output), [list(document) for document in references])
        return np.array(rows)

    def score(self, sums: Stats) -> Floats:
        """See ``Metric.score``; row by row, as sacrebleu does."""
        scorer, shape = self.scorer(), sums.shape[:-1]
        rows = sums.reshape(-1, sums.shape[-1]).tolist()
        return np.array([scorer._compute_score_from_stats(row).score for row in rows], np.float64).reshape(shape)

    def signature(self, references: int, samples: int, seed: int, settings: Declared) -> str:
        """sacrebleu's signature."""
        scorer = self.scorer()
        scorer.corpus_score([""], [[""]] * references)
        signature = scorer.get_signature()
        signature.update("seed", str(seed))
        signature.update("bs", samples)
        return str(signature)


METRICS = Registry("lscfg.metrics", Metric, "metric")


PRIMARY = "bleu"
"""The metric of tuning and of the tests."""


def further_metrics(tuned: str = PRIMARY) -> list[str]:
    """Names of the metrics, besides the primary one, that need output and references only.

    Args:
        tuned: ``metric`` in [tuning]; metrics that are not usual must occur in it.
    """
    wanted = tuned.split("+")
    names = (name for name in METRICS.names() if METRICS[name].FROM_TEXT and name != PRIMARY)
    return [name for name in names if METRICS[name].USUAL or name in wanted]


def scored_metrics(row: Mapping[str, object]) -> dict[str, Metric[Any]]:
    """The further metrics that a row of results.json contains, by the names of their columns."""
    found = {f"test_{METRICS[name].TITLE}": METRICS[name] for name in METRICS.names()}
    return {column: metric for column, metric in found.items() if column in row}
