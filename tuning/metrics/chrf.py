"""chrF2 as a metric."""

from __future__ import annotations

from collections.abc import Sequence

from sacrebleu.metrics import CHRF
from sacrebleu.metrics.base import Metric as Scorer

from lscfg.tuning.metrics.metric import Floats, SacrebleuMetric
from lscfg.tuning.metrics.pairwise import chrf_utility


class ChrF(SacrebleuMetric):
    """F-score of character n-grams (Popović, 2015)."""

    HELP = "F-score of character n-grams"
    TITLE = "chrF2"
    QUICK_PAIRS = True

    def scorer(self) -> Scorer:
        """chrF2 with sacrebleu's defaults."""
        return CHRF()

    def pairwise(self, texts: Sequence[str]) -> Floats:
        """Sentence chrF2."""
        return chrf_utility(texts)
