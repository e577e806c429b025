"""Gain in a metric from doubling the training text, estimated from a learning curve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from lscfg.tuning.metrics.metric import Metric
from lscfg.tuning.significance import bootstrap, compact

SAMPLES, SEED = 1000, 12345


class DoublingGain(NamedTuple):
    """The slope of a learning curve.

    Attributes:
        scores: score of each size.
        gain: score gained by each doubling of the text, by least squares.
        low, high: 95 % interval of the gain over bootstrap samples of the test set. It covers the choice of test
            sentences, not that of the parts of the text, and assumes that the score grows with the logarithm of the
            size.
    """

    scores: tuple[float, ...]
    gain: float
    low: float
    high: float


def doubling_gain(
    pairs: Sequence[int], outputs: Sequence[Sequence[str]], references: Sequence[Sequence[str]], metric: Metric[Any]
) -> DoublingGain:
    """Fits score = a + b log2(pairs) by least squares; the gain from twice the text is b.

    Args:
        pairs: sizes of the training texts, at least two different ones.
        outputs: translations of the test set by each size.
        references: one document per reference set.
        metric: metric of output and references, without source.
    """
    stats = [metric.statistics(lines, references, (), metric.Settings()) for lines in outputs]
    scores = [float(metric.score(one.sum(axis=0))) for one in stats]
    sampled = bootstrap(metric, {str(k): compact(one[None]) for k, one in enumerate(stats)}, SAMPLES, SEED)
    doublings = np.log2(pairs) - np.log2(pairs).mean()
    weights = doublings / (doublings @ doublings)
    slopes = weights @ np.stack([sampled[str(k)] for k in range(len(stats))])
    low, high = np.quantile(slopes, (0.025, 0.975)).tolist()
    return DoublingGain(tuple(scores), float(weights @ np.array(scores)), low, high)
