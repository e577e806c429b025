"""RIBES as a metric; ``lscfg.tuning.ribes`` computes the score of a sentence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lscfg.settings import Declared
from lscfg.tuning.metrics.metric import Floats, Metric, Stats
from lscfg.tuning.ribes import ribes


class Ribes(Metric[Declared]):
    """Rank correlation of shared words (Isozaki et al., 2010): mean of the best score of each sentence, times 100."""

    HELP = "rank correlation of shared words, for distant languages"
    TITLE = "RIBES"
    USUAL = False
    Settings = Declared

    def statistics(
        self, output: Sequence[str], references: Sequence[Sequence[str]], source: Sequence[str], settings: Declared
    ) -> Stats:
        """Score of each sentence and 1, [sentences, 2]."""
        lines = zip(output, *references, strict=True)
        best = [max(ribes(line.split(), other.split()) for other in others) for line, *others in lines]
        return np.stack([np.array(best, np.float64), np.ones(len(best))], axis=1)

    def score(self, sums: Stats) -> Floats:
        """Means."""
        return np.asarray(100 * sums[..., 0] / np.maximum(sums[..., 1], 1))
