"""Tests of differences between systems, in any metric whose score is a function of summed sentence statistics.

Tuning is random: another seed yields other weights and another score. Each of the R runs of a system translates the
test set of N sentences.

* **Score of a system**: mean of the runs' scores; its *deviation* is their sample standard deviation (divisor R - 1),
  the share of tuning in the differences between single runs.
* **Confidence interval**: sentences are sampled with replacement, the same for all runs and systems, and the mean of
  the runs' scores is taken on each sample. The interval covers the choice of sentences, not tuning.
* **Paired bootstrap** (Koehn, 2004), on the same samples: with d the absolute difference of two systems' scores on
  all sentences and d_b that on sample b, (samples with d_b - mean of all d_b >= d, + 1) / (samples + 1), as in
  sacrebleu, except that ties count as they do below. Tuning is averaged, not tested.
* **Stratified approximate randomisation** (Clark et al., 2011): if two systems were equal, any R of the 2R outputs of
  a sentence could come from either system. Each trial deals the 2R outputs of every sentence (a stratum) at random, R
  to a side; the statistic is the absolute difference of the sides' scores, each from the sums over its R N outputs,
  as in MultEval. The p-value is (trials at least as far apart as the systems + 1) / (trials + 1). With R = 1 this is
  the usual approximate randomisation. The test asks whether the difference exceeds the chance of sentences and runs
  together, the runs of a sentence being exchangeable. A shift of one run in all its sentences is not kept together,
  so look at the deviation, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lscfg.tuning.metrics.metric import Floats, Metric, Stats

# The test over R tunings redistributes the 2R outputs of each sentence among both systems, since under the null
# hypothesis all orders are equally likely. MultEval swaps pairs of outputs, which covers fewer of the possible
# distributions; for one tuning both are the same.

_ROUNDING = 1e-9
"""Scores that differ by less are equal."""

_BATCH = 1 << 24
"""Random decisions that are held in memory at a time."""

_EXACT = 1 << 24
"""Whole numbers below are exact in 32 bits, so that sums do not depend on their order."""


def compact(stats: Stats) -> Stats:
    """Statistics as float32 if their sums are exact in it, which is faster, else as float64."""
    whole = bool(np.all(stats == np.floor(stats))) and float(np.abs(stats).sum(axis=0).max(initial=0)) < _EXACT
    return stats.astype(np.float32 if whole else np.float64)


def bootstrap(metric: Metric[Any], stats: Mapping[str, Stats], samples: int, seed: int) -> dict[str, Floats]:
    """The score of each system on each bootstrap sample, [samples], as a mean over its runs.

    Args:
        stats: by system, of each output, [runs, sentences, width].
    """
    found: dict[str, list[Floats]] = {name: [] for name in stats}
    sentences = next(iter(stats.values())).shape[1] if stats else 0
    for counts in _samples(sentences, samples, seed):
        for name, values in stats.items():
            found[name].append(metric.score((counts @ values).astype(np.float64)).mean(axis=0))
    return {name: np.concatenate(blocks) for name, blocks in found.items()}


def _samples(sentences: int, samples: int, seed: int) -> Iterator[NDArray[np.float32]]:
    """Counts of each sentence in each bootstrap sample, in blocks [samples of the block, sentences].

    sacrebleu takes the same samples.
    """
    rng = np.random.default_rng(seed)
    block = max(1, _BATCH // sentences)
    for start in range(0, samples, block):
        size = min(block, samples - start)
        indices = rng.choice(sentences, size=(size, sentences), replace=True)
        indices += np.arange(size)[:, None] * sentences
        counts = np.bincount(indices.ravel(), minlength=size * sentences)
        yield counts.reshape(size, sentences).astype(np.float32)


def confidence_interval(sampled: Floats) -> tuple[float, float]:
    """Mean and half the width of the 95 % interval of bootstrap samples [samples], as in sacrebleu."""
    ordered = np.sort(sampled)
    cut = len(ordered) // 40
    return float(sampled.mean()), float(ordered[len(ordered) - cut - 1] - ordered[cut]) / 2


def paired_bootstrap(difference: float, one: Floats, other: Floats) -> float:
    """The p-value of Koehn's test; see above.

    Args:
        difference: absolute difference of the systems on all sentences.
        one, other: their scores on the same samples, [samples].
    """
    shifts = np.abs(one - other)
    return float(((shifts - shifts.mean() >= difference - _ROUNDING).sum() + 1) / (len(shifts) + 1))


def stratified_randomisation(metric: Metric[Any], one: Stats, other: Stats, trials: int, seed: int = 12345) -> float:
    """The p-value of two systems' difference; see above.

    Args:
        one, other: statistics of each output, [runs, sentences, width].
        trials: at least 1; the p-value is at least 1 / (trials + 1).
    """
    runs, sentences, width = one.shape
    pooled = np.concatenate([one, other]).transpose(1, 0, 2).reshape(-1, width)  # sentence by sentence
    total = pooled.sum(axis=0, dtype=np.float64)
    sides = [stats.sum(axis=(0, 1), dtype=np.float64) for stats in (one, other)]
    observed = abs(float(metric.score(sides[0]) - metric.score(sides[1])))
    rng = np.random.default_rng(seed)
    deal = np.arange(2 * runs) < runs
    as_far = 0
    batch = max(1, _BATCH // len(pooled))
    for start in range(0, trials, batch):
        shape = (min(batch, trials - start), sentences, 2 * runs)
        dealt = rng.permuted(np.broadcast_to(deal, shape), axis=2).reshape(shape[0], -1)
        side = (dealt.astype(np.float32) @ pooled).astype(np.float64)
        distance = np.abs(metric.score(side) - metric.score(total - side))
        as_far += int((distance >= observed - _ROUNDING).sum())
    return (as_far + 1) / (trials + 1)
