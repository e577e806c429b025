"""BLEU as a metric; ``lscfg.tuning.bleu`` counts n-grams and computes the score."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sacrebleu.metrics import BLEU
from sacrebleu.metrics.base import Metric as Scorer

from lscfg.settings import Declared
from lscfg.tuning.bleu import CORRECT, HYPOTHESIS_LENGTH, ORDER, REFERENCE_LENGTH, TOTAL, bleu, corpus_stats
from lscfg.tuning.metrics.metric import Floats, SacrebleuMetric, Stats
from lscfg.tuning.metrics.pairwise import bleu_utility


class Bleu(SacrebleuMetric):
    """BLEU of words separated by white space: sacrebleu's, but with faster statistics."""

    HELP = "BLEU (tokenize = none)"
    TITLE = "BLEU"
    QUICK_PAIRS = True

    def scorer(self) -> Scorer:
        """BLEU without further tokenization."""
        return BLEU(tokenize="none", force=True)

    def statistics(
        self, output: Sequence[str], references: Sequence[Sequence[str]], source: Sequence[str], settings: Declared
    ) -> Stats:
        """See ``lscfg.tuning.bleu``."""
        return corpus_stats(output, references)

    def score(self, sums: Stats) -> Floats:
        """See ``lscfg.tuning.bleu.bleu``."""
        return bleu(sums)

    def components(self, total: Stats) -> dict[str, float]:
        """n-gram precisions in percent, brevity penalty, and length relative to the closest references."""
        precisions = (100 * total[CORRECT] / np.maximum(total[TOTAL], 1)).tolist()
        found = {f"{n}-gram": precision for n, precision in zip(range(1, ORDER + 1), precisions, strict=True)}
        length, closest = int(total[HYPOTHESIS_LENGTH]), int(total[REFERENCE_LENGTH])
        return found | {"BP": brevity_penalty(length, closest), "length": length / closest if closest else 0.0}

    def pairwise(self, texts: Sequence[str]) -> Floats:
        """Sentence BLEU."""
        return bleu_utility(texts)


def brevity_penalty(length: int, reference_length: int) -> float:
    """BLEU's factor for short output, 0 to 1."""
    return 1.0 if length >= reference_length else float(np.exp(1 - reference_length / length)) if length else 0.0
