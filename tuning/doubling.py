"""Gain in BLEU from doubling the training text, estimated from a learning curve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lscfg.tuning.bleu import corpus_bleu, corpus_stats
from lscfg.tuning.metrics.metric import METRICS
from lscfg.tuning.significance import bootstrap, compact

SAMPLES, SEED = 1000, 12345


class DoublingGain(NamedTuple):
    """The slope of a learning curve.

    Attributes:
        bleu: BLEU of each size.
        gain: BLEU gained by each doubling of the text, by least squares.
        low, high: 95 % interval of the gain over bootstrap samples of the test set. It covers the choice of test
            sentences, not that of the parts of the text, and assumes that BLEU grows with the logarithm of the size.
    """

    bleu: tuple[float, ...]
    gain: float
    low: float
    high: float


def doubling_gain(
    pairs: Sequence[int], outputs: Sequence[Sequence[str]], references: Sequence[Sequence[str]]
) -> DoublingGain:
    """Fits BLEU = a + b log2(pairs) by least squares; the gain by twice the text is b.

    Args:
        pairs: sizes of the training texts, at least two different ones.
        outputs: translations of the test set by each size.
        references: one document per reference set.
    """
    stats = [corpus_stats(lines, references) for lines in outputs]
    bleu = [corpus_bleu(one.sum(axis=0)) for one in stats]
    sampled = bootstrap(METRICS["bleu"], {str(k): compact(one[None]) for k, one in enumerate(stats)}, SAMPLES, SEED)
    doublings = np.log2(pairs) - np.log2(pairs).mean()
    weights = doublings / (doublings @ doublings)
    slopes = weights @ np.stack([sampled[str(k)] for k in range(len(stats))])
    low, high = np.quantile(slopes, (0.025, 0.975)).tolist()
    return DoublingGain(tuple(bleu), float(weights @ np.array(bleu)), low, high)
