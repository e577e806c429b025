"""chrF2 as a metric."""

from __future__ import annotations

from collections.abc import Sequence

from sacrebleu.metrics import CHRF
from sacrebleu.metrics.base import Metric as Scorer

from lscfg.prepare.spacing import unmarked
from lscfg.settings import Declared
from lscfg.tuning.metrics.metric import Floats, SacrebleuMetric, Stats
from lscfg.tuning.metrics.pairwise import chrf_utility


class ChrF(SacrebleuMetric):
    """F-score of character n-grams (Popović, 2015), without the marks of joined words and of pieces, as in tuning."""

    VERSION = 2
    HELP = "F-score of character n-grams"
    TITLE = "chrF2"
    QUICK_PAIRS = True

    def scorer(self) -> Scorer:
        """chrF2 with sacrebleu's defaults."""
        return CHRF()

    def statistics(
        self, output: Sequence[str], references: Sequence[Sequence[str]], source: Sequence[str], settings: Declared
    ) -> Stats:
        """sacrebleu's of texts without marks."""
        plain, *documents = ([unmarked(line) for line in lines] for lines in (output, *references))
        return super().statistics(plain, documents, source, settings)

    def pairwise(self, texts: Sequence[str]) -> Floats:
        """Sentence chrF2."""
        return chrf_utility(texts)
