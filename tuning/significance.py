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
* **Approximate randomisation** (Noreen, 1989; Riezler & Maxwell, 2005): if two systems were equal, their outputs of a
  sentence could be exchanged. Each trial swaps all R outputs of a sentence with the other system's, or none; the
  statistic is the absolute difference of scores, each from the sums over R N outputs. The p-value is (trials at least
  as far apart as the systems + 1) / (trials + 1). It covers the choice of sentences for these tunings; the deviation
  shows how much another tuning would change.

  Clark et al. (2011) and MultEval deal single outputs. The outputs of one system resemble each other, so such deals are
  closer together than two systems that differ by chance of the sentences: with three runs, p below .05 then comes up in
  a third of the comparisons of equal systems. Whole blocks are right for any R.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lscfg.tuning.metrics.metric import Floats, Metric, Stats

_ROUNDING = 1e-9
"""Scores that differ by less are equal."""

_BATCH = 1 << 24
"""Random decisions that are held in memory at a time."""

_EXACT = 1 << 24
"""Whole numbers below are exact in 32 bits, so that sums do not depend on their order."""


def compact(stats: Stats) -> Stats:
    """Statistics as float32 if their sums are exact in it, which is faster, else as float64."""
    largest = float(np.abs(stats).max(initial=0)) * stats[..., 0].size  # of a bootstrap sample of all runs
    exact = bool(np.all(stats == np.floor(stats))) and largest < _EXACT
    return stats.astype(np.float32 if exact else np.float64)


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


def approximate_randomisation(metric: Metric[Any], one: Stats, other: Stats, trials: int, seed: int = 12345) -> float:
    """The p-value of two systems' difference; see above.

    Args:
        one, other: statistics of each output, [runs, sentences, width].
        trials: at least 1; the p-value is at least 1 / (trials + 1).
    """
    blocks = np.stack([stats.sum(axis=0) for stats in (one, other)], axis=1)  # [sentences, systems, width]
    sentences, sides, width = blocks.shape
    pooled = blocks.reshape(-1, width)
    total = pooled.sum(axis=0, dtype=np.float64)
    first = blocks[:, 0].sum(axis=0, dtype=np.float64)
    observed = abs(float(metric.score(first) - metric.score(total - first)))
    rng = np.random.default_rng(seed)
    as_far = 0
    batch = max(1, _BATCH // len(pooled))
    for start in range(0, trials, batch):
        shape = (min(batch, trials - start), sentences, sides)
        dealt = rng.permuted(np.broadcast_to([True, False], shape), axis=2).reshape(shape[0], -1)
        side = (dealt.astype(np.float32) @ pooled).astype(np.float64)
        distance = np.abs(metric.score(side) - metric.score(total - side))
        as_far += int((distance >= observed - _ROUNDING).sum())
    return (as_far + 1) / (trials + 1)
