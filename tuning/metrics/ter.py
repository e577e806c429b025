"""Translation edit rate as a metric."""

from __future__ import annotations

from sacrebleu.metrics import TER
from sacrebleu.metrics.base import Metric as Scorer

from lscfg.tuning.metrics.metric import SacrebleuMetric


class Ter(SacrebleuMetric):
    """Edits per reference word (Snover et al., 2006)."""

    HELP = "translation edit rate; less is better"
    TITLE = "TER"
    ERROR = True

    def scorer(self) -> Scorer:
        """TER with sacrebleu's defaults."""
        return TER()
