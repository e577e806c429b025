"""k-best lists as arrays: the Python side of lscfg_lists, of MIRA's passes and of the line search of MERT."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lscfg._kernel import ffi, lib
from lscfg.kernel.base import check

BLEU, CHRF, TER = int(lib.LSCFG_BLEU), int(lib.LSCFG_CHRF), int(lib.LSCFG_TER)
RIBES, METEOR = int(lib.LSCFG_RIBES), int(lib.LSCFG_METEOR)
"""Numbers of the metrics in the kernel (``lscfg.tuning.objectives``); the number after each of the last four is that of
its mean with BLEU."""

RIBES_UNIT = int(lib.LSCFG_RIBES_UNIT)
"""Statistic of a sentence whose RIBES is 1."""


class PackedLists:
    """Features and statistics of hypotheses, for the kernel.

    The attribute ``first``, int64 [S + 1], gives the hypotheses of sentence s as ``first[s] .. first[s + 1] - 1``;
    ``stats`` is int32 [hypotheses, width].

    Args:
        sentences: for each sentence the features' numbers [columns], their values [hypotheses, columns], which are kept
            as 32-bit floats, and the hypotheses' statistics [hypotheses, width].
        n_features: upper bound of all numbers.
        metric: number of the metric in the kernel, which gives the width.

    Raises:
        ValueError: inconsistent arrays.
    """

    def __init__(
        self,
        sentences: Sequence[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]],
        n_features: int,
        metric: int = BLEU,
    ):
        self.metric, self.width = metric, int(lib.lscfg_stats_width(metric))
        for numbers, values, stats in sentences:
            if values.shape != (len(stats), len(numbers)) or stats.shape[1:] != (self.width,):
                raise ValueError(f"numbers {numbers.shape}, values {values.shape} and statistics {stats.shape}")
        sizes = [(len(stats), len(numbers), values.size) for numbers, values, stats in sentences]
        ends = np.concatenate([np.zeros((1, 3), np.int64), np.cumsum(np.array(sizes, np.int64).reshape(-1, 3), axis=0)])
        self.first, self._column, self._value = (np.ascontiguousarray(ends[:, k]) for k in range(3))
        self._feature = np.concatenate([numbers for numbers, _, _ in sentences]).astype(np.int32)
        self._values = np.concatenate([values.T.astype(np.float32).ravel() for _, values, _ in sentences])
        self.stats = np.concatenate([stats for _, _, stats in sentences]).astype(np.int32)
        if len(self._feature) and not 0 <= self._feature.min() <= self._feature.max() < n_features:
            raise ValueError(f"feature numbers beyond 0 to {n_features - 1}")
        self.n_features = n_features
        self._pointer = ffi.new(
            "lscfg_lists *",
            (
                len(sentences),
                ffi.from_buffer("int64_t[]", self.first),
                ffi.from_buffer("int64_t[]", self._column),
                ffi.from_buffer("int64_t[]", self._value),
                ffi.from_buffer("int32_t[]", self._feature),
                ffi.from_buffer("float[]", self._values),
                ffi.from_buffer("int32_t[]", self.stats),
                metric,
            ),
        )

    def __len__(self) -> int:
        """Number of sentences."""
        return len(self.first) - 1

    def _vector(self, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        if vector.shape != (self.n_features,):
            raise ValueError(f"expected {self.n_features} weights, got shape {vector.shape}")
        return np.ascontiguousarray(vector, np.float64)

    def scores(self, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        """Returns features times a vector by feature number, float64 [hypotheses]; sums in the order of the columns."""
        vector, out = self._vector(vector), np.empty(len(self.stats))
        lib.lscfg_lists_scores(self._pointer, ffi.from_buffer("double[]", vector), ffi.from_buffer("double[]", out))
        return out

    def best(self, scores: NDArray[np.float64]) -> NDArray[np.int64]:
        """Returns each sentence's best hypothesis, int64 [S]: the first of equals, -1 without hypotheses.

        Raises:
            ValueError: the shape of ``scores`` is not [hypotheses].
        """
        if scores.shape != (len(self.stats),):
            raise ValueError(f"expected {len(self.stats)} scores, got shape {scores.shape}")
        scores, out = np.ascontiguousarray(scores, np.float64), np.empty(len(self), np.int64)
        first = ffi.from_buffer("int64_t[]", self.first)
        lib.lscfg_lists_best(len(self), first, ffi.from_buffer("double[]", scores), ffi.from_buffer("int64_t[]", out))
        return out


class MiraState:
    """State of online learning by MIRA: weights, their average, and the pseudo-corpus.

    Args:
        lists: the k-best lists to learn from.
        weights: float64 [features], initial weights.
        background: float64 [width], statistics of the pseudo-corpus.
        step_cap: C.
        decay: factor of the pseudo-corpus's counts at each step.
    """

    def __init__(
        self,
        lists: PackedLists,
        weights: NDArray[np.float64],
        background: NDArray[np.float64],
        step_cap: float,
        decay: float,
    ):
        if weights.shape != (lists.n_features,) or background.shape != (lists.width,):
            raise ValueError(f"weights of shape {weights.shape}, background of shape {background.shape}")
        self._lists = lists
        self.weights = np.array(weights, np.float64)
        self._late = np.zeros_like(self.weights)
        self._state = ffi.new("lscfg_mira *", (step_cap, decay, 0, background.tolist()))

    def run(self, order: NDArray[np.int64]) -> None:
        """Makes one step for each sentence of ``order``; each must have hypotheses.

        Raises:
            ValueError: a sentence number is out of range, or a sentence has no hypotheses.
        """
        order = np.ascontiguousarray(order, np.int64)
        if len(order) and not (order.min() >= 0 and order.max() < len(self._lists)):
            raise ValueError("sentence number out of range")
        if not np.diff(self._lists.first)[order].all():
            raise ValueError("a sentence without hypotheses")
        error = ffi.new("lscfg_error *")
        code = lib.lscfg_mira_pass(
            self._lists._pointer,
            self._state,
            len(order),
            ffi.from_buffer("int64_t[]", order),
            ffi.from_buffer("double[]", self.weights),
            ffi.from_buffer("double[]", self._late),
            error,
        )
        check(code, error)

    def average(self) -> NDArray[np.float64]:
        """Returns the average of the weights after each step so far."""
        return np.asarray(self.weights - self._late / max(int(self._state.steps), 1))


def line_search(
    first: NDArray[np.int64],
    scores: NDArray[np.float64],
    slopes: NDArray[np.float64],
    stats: NDArray[np.int32],
    metric: int = BLEU,
) -> tuple[float, float]:
    """Finds the step x whose hypotheses with the highest ``scores + x * slopes`` score best, and that score.

    Och 2003, section 4: exact, by the upper envelope of each sentence's lines. x is the middle of the best interval
    between two changes (of equals the one nearest to 0), a unit beyond the outermost change if that side is open.
    Intervals too narrow for double precision (1e-9 of x) do not count. The first of hypotheses with equal lines counts.

    Args:
        first: int64 [S + 1], hypotheses of sentence s are ``first[s] .. first[s + 1] - 1``.
        scores: float64 [hypotheses], finite.
        slopes: float64 [hypotheses], finite.
        stats: int32 [hypotheses, width], statistics.
        metric: number of the metric in the kernel.

    Raises:
        ValueError: ``first`` descends or does not go from 0 to the number of hypotheses, another array has the wrong
            shape, or ``stats`` is not int32.
    """
    n = len(stats)
    if (
        first[0] != 0
        or first[-1] != n
        or (np.diff(first) < 0).any()
        or stats.shape != (n, lib.lscfg_stats_width(metric))
    ):
        raise ValueError("lists out of range")
    if scores.shape != (n,) or slopes.shape != (n,) or stats.dtype != np.int32:
        raise ValueError(f"scores {scores.shape} and slopes {slopes.shape} for {n} hypotheses")
    arrays = [np.ascontiguousarray(array, np.float64) for array in (scores, slopes)]
    first, stats = np.ascontiguousarray(first, np.int64), np.ascontiguousarray(stats)
    step, best, error = ffi.new("double *"), ffi.new("double *"), ffi.new("lscfg_error *")
    code = lib.lscfg_line_search(
        len(first) - 1,
        ffi.from_buffer("int64_t[]", first),
        ffi.from_buffer("double[]", arrays[0]),
        ffi.from_buffer("double[]", arrays[1]),
        metric,
        ffi.from_buffer("int32_t[]", stats),
        step,
        best,
        error,
    )
    check(code, error)
    return float(step[0]), float(best[0])


def count_matches(sequences: Sequence[NDArray[np.int32]], orders: int) -> NDArray[np.int32]:
    """Matching n-grams of all pairs of sequences, int32 [orders, sequences, sequences], of the lengths 1 to ``orders``.

    An n-gram counts as often as in the sequence with fewer of it.
    """
    n = len(sequences)
    first = np.zeros(n + 1, np.int64)
    np.cumsum([len(one) for one in sequences], out=first[1:])
    items = np.ascontiguousarray(np.concatenate([*sequences, np.empty(0, np.int32)]), np.int32)
    matches, error = np.empty((orders, n, n), np.int32), ffi.new("lscfg_error *")
    pointers = [ffi.from_buffer("int64_t[]", first), ffi.from_buffer("int32_t[]", items)]
    check(lib.lscfg_count_matches(n, *pointers, orders, ffi.from_buffer("int32_t[]", matches), error), error)
    return matches
