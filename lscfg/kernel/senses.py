"""Learning of scorers from few dimensions, and of skip-grams (plugin/estimate/senses.c)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lscfg._kernel import ffi, lib
from lscfg.kernel.base import check

SENSE_LOSSES = {
    "softmax": int(lib.LSCFG_SENSE_SOFTMAX),
    "indicators": int(lib.LSCFG_SENSE_INDICATORS),
    "costs": int(lib.LSCFG_SENSE_COSTS),
    "match": int(lib.LSCFG_SENSE_MATCH),
}
"""What a scorer is learned by; lscfg/estimate.h defines each."""


@dataclass
class SenseTrainer:
    """Learns which row is right for each token, by AdaGrad.

    Attributes:
        loss: one of ``SENSE_LOSSES``.
        contexts: float64 [tokens, dims].
        own, first, size: int [tokens], the right row, and the first and the number of those that it is chosen among.
        counts: float64 [rows] > 0.
        hidden: size of the hidden layer, 0: none.
        rate, penalty: of learning, and of each visit of a parameter.
        vectors: float64 [rows, dims], of ``match``.
        spread: the penalty of a rule's parameters is shared out among the tokens that have it among their choices.
    """

    loss: str
    contexts: np.ndarray
    own: np.ndarray
    first: np.ndarray
    size: np.ndarray
    counts: np.ndarray
    hidden: int = 0
    rate: float = 0.1
    penalty: float = 0.0
    vectors: np.ndarray | None = None
    spread: bool = False

    def __post_init__(self) -> None:
        tokens, dims = self.contexts.shape
        inside = (self.first >= 0) & (self.own >= self.first) & (self.own < self.first + self.size)
        if not len(self.own) == len(self.first) == len(self.size) == tokens or not inside.all():
            raise ValueError("contexts, rows and choices do not fit")
        if tokens and (self.first + self.size).max() > len(self.counts):
            raise ValueError("choices beyond the rows")
        if (self.vectors is None) != (self.loss != "match") or (
            self.vectors is not None and self.vectors.shape != (len(self.counts), dims)
        ):
            raise ValueError("vectors do not fit the rows and dimensions")
        self._kept = {
            "contexts": ("double[]", np.ascontiguousarray(self.contexts, np.float64)),
            "own": ("int32_t[]", np.ascontiguousarray(self.own, np.int32)),
            "first": ("int64_t[]", np.ascontiguousarray(self.first, np.int64)),
            "size": ("int64_t[]", np.ascontiguousarray(self.size, np.int64)),
            "counts": ("double[]", np.ascontiguousarray(self.counts, np.float64)),
        }
        if self.vectors is not None:
            self._kept["vectors"] = ("double[]", np.ascontiguousarray(self.vectors, np.float64))
        if self.spread:
            steps = np.zeros(len(self.counts) + 1)
            np.add.at(steps, self.first, 1)
            np.add.at(steps, self.first + self.size, -1)
            self._kept["visits"] = ("double[]", np.maximum(np.cumsum(steps)[:-1], 1))
        numbers = (SENSE_LOSSES[self.loss], dims, self.hidden, len(self.counts), self.rate, self.penalty)
        names = ("loss", "dims", "hidden", "rows", "rate", "penalty")
        arrays = {name: ffi.from_buffer(kind, array) for name, (kind, array) in self._kept.items()}
        self._problem = ffi.new("lscfg_sense_problem *", dict(zip(names, numbers, strict=True)) | arrays)
        self.parameters = np.zeros(lib.lscfg_sense_parameters(self._problem))
        self._squares = np.zeros(len(self.parameters))

    def learn(self, order: np.ndarray) -> float:
        """Learns from some tokens, one by one; the sum of their losses before each."""
        return self._pass(order, None)

    def gradient(self, order: np.ndarray) -> tuple[float, np.ndarray]:
        """The sum of the losses of some tokens, without the penalty, and its gradient."""
        gradient = np.zeros(len(self.parameters))
        return self._pass(order, gradient), gradient

    def _pass(self, order: np.ndarray, gradient: np.ndarray | None) -> float:
        learn = lib.lscfg_sense_learn
        return _learn(learn, self._problem, self.parameters, self._squares, gradient, order, len(self.own))

    def parts(self) -> dict[str, np.ndarray]:
        """Views of the parameters: ``rules``, ``bias``, ``hidden``, ``other``, ``hidden_bias``, ``out``."""
        dims, rows, h = self.contexts.shape[1], len(self.counts), self.hidden
        match = self.loss == "match"
        shapes: list[tuple[str, tuple[int, ...]]] = [
            ("rules", (0 if match else rows, h or dims)),
            ("bias", (1 if match else rows,)),
            ("hidden", (h, dims)),
            ("other", (h if match else 0, dims)),
            ("hidden_bias", (h,)),
            ("out", (h if match else 0,)),
        ]
        found, begin = {}, 0
        for name, shape in shapes:
            end = begin + int(np.prod(shape))
            found[name] = self.parameters[begin:end].reshape(shape)
            begin = end
        return found


@dataclass
class WeightsTrainer:
    """Learns a weight of each row for each item that its source side has around it, by AdaGrad.

    Attributes:
        loss: one of ``SENSE_LOSSES`` but ``match``.
        begin: int [tokens + 1]; items: int, of each token, numbered from 0 for each source side.
        own, first, size, counts: as of ``SenseTrainer``.
        offsets: int [rows + 1], where the weights of each row begin.
        absolute: whether the penalty is of absolute values (l1), or of halves of squares (l2).
        rate, penalty: of learning, and of each visit of a weight.
    """

    loss: str
    begin: np.ndarray
    items: np.ndarray
    own: np.ndarray
    first: np.ndarray
    size: np.ndarray
    counts: np.ndarray
    offsets: np.ndarray
    absolute: bool = False
    rate: float = 0.1
    penalty: float = 0.0

    def __post_init__(self) -> None:
        tokens, lengths = len(self.own), np.diff(self.offsets)
        inside = (self.first >= 0) & (self.own >= self.first) & (self.own < self.first + self.size)
        if not (len(self.first) == len(self.size) == len(self.begin) - 1 == tokens and inside.all()):
            raise ValueError("items, rows and choices do not fit")
        if len(self.offsets) != len(self.counts) + 1 or self.offsets[0] != 0 or (lengths < 0).any():
            raise ValueError("weights and rows do not fit")
        if tokens and (self.first + self.size).max() > len(self.counts):
            raise ValueError("choices beyond the rows")
        if self.begin[0] != 0 or self.begin[-1] != len(self.items) or (np.diff(self.begin) < 0).any():
            raise ValueError("items and tokens do not fit")
        several = np.repeat(np.arange(tokens), self.size)
        rows = np.arange(len(several)) - np.repeat(np.cumsum(self.size) - self.size - self.first, self.size)
        most = np.full(tokens, -1)
        np.maximum.at(most, np.repeat(np.arange(tokens), np.diff(self.begin)), self.items)
        if (self.items < 0).any() or (most[several] >= lengths[rows]).any():
            raise ValueError("items beyond the weights")
        kept = {
            "begin": ("int64_t[]", np.ascontiguousarray(self.begin, np.int64)),
            "items": ("int32_t[]", np.ascontiguousarray(self.items, np.int32)),
            "own": ("int32_t[]", np.ascontiguousarray(self.own, np.int32)),
            "first": ("int64_t[]", np.ascontiguousarray(self.first, np.int64)),
            "size": ("int64_t[]", np.ascontiguousarray(self.size, np.int64)),
            "counts": ("double[]", np.ascontiguousarray(self.counts, np.float64)),
            "offsets": ("int64_t[]", np.ascontiguousarray(self.offsets, np.int64)),
        }
        numbers: dict[str, float] = {"loss": SENSE_LOSSES[self.loss], "absolute": self.absolute}
        numbers |= {"rate": self.rate, "penalty": self.penalty}
        self._kept = kept
        arrays = {name: ffi.from_buffer(kind, array) for name, (kind, array) in kept.items()}
        self._problem = ffi.new("lscfg_weights_problem *", numbers | arrays)
        self.weights = np.zeros(self.offsets[-1])
        self._squares = np.zeros(len(self.weights))

    def learn(self, order: np.ndarray) -> float:
        """Learns from some tokens, one by one; the sum of their losses before each.

        Threads may call it with tokens of different source sides.
        """
        return self._pass(order, None)

    def gradient(self, order: np.ndarray) -> tuple[float, np.ndarray]:
        """The sum of the losses of some tokens, without the penalty, and its gradient."""
        gradient = np.zeros(len(self.weights))
        return self._pass(order, gradient), gradient

    def _pass(self, order: np.ndarray, gradient: np.ndarray | None) -> float:
        learn = lib.lscfg_weights_learn
        return _learn(learn, self._problem, self.weights, self._squares, gradient, order, len(self.own))


def _learn(
    learn: Any,
    problem: Any,
    parameters: np.ndarray,
    squares: np.ndarray,
    gradient: np.ndarray | None,
    order: np.ndarray,
    tokens: int,
) -> float:
    """Lets the kernel learn from some of so many tokens, or find a gradient; the sum of their losses."""
    order = np.ascontiguousarray(order, np.int64)
    if len(order) and not 0 <= order.min() <= order.max() < tokens:
        raise ValueError("tokens out of range")
    loss, error = ffi.new("double *"), ffi.new("lscfg_error *")
    code = learn(
        problem,
        ffi.from_buffer("double[]", parameters),
        ffi.from_buffer("double[]", squares),
        ffi.NULL if gradient is None else ffi.from_buffer("double[]", gradient),
        ffi.from_buffer("int64_t[]", order),
        len(order),
        loss,
        error,
    )
    check(code, error)
    return float(loss[0])


def skip_grams(
    rule: np.ndarray,
    begin: np.ndarray,
    items: np.ndarray,
    keep: np.ndarray,
    wrong: np.ndarray,
    vectors: tuple[np.ndarray, np.ndarray],
    rates: tuple[float, float],
    negatives: int,
    seed: int,
) -> float:
    """One pass of skip-grams with negative samples over tokens (Mikolov et al. 2013); the sum of the losses.

    Args:
        rule: int [tokens], a row of the first vectors.
        begin: int [tokens + 1] and items: int, the words around each token, rows of the second vectors.
        keep: float64 [words], the probability that a word is looked at; wrong: that it is drawn as a wrong one.
        vectors: float64 [rules, dims] and [words, dims], C-contiguous, changed in place.
        rates: the first and the last rate of learning.
    """
    rules, words = vectors
    for name, index, bound in (("rule", rule, len(rules)), ("item", items, len(words))):
        if index.size and not 0 <= index.min() <= index.max() < bound:
            raise ValueError(f"{name} out of range")
    if len(begin) != len(rule) + 1 or begin[-1] != len(items) or len(keep) != len(words) or len(wrong) != len(words):
        raise ValueError("tokens, words or their shares do not fit")
    cumulative = np.cumsum(wrong) / wrong.sum()
    cumulative[-1] = 1
    kept = (
        np.ascontiguousarray(rule, np.int32),
        np.ascontiguousarray(begin, np.int64),
        np.ascontiguousarray(items, np.int32),
        np.ascontiguousarray(keep, np.float64),
        np.ascontiguousarray(cumulative, np.float64),
    )
    kinds = ("int32_t[]", "int64_t[]", "int32_t[]", "double[]", "double[]")
    arrays = [ffi.from_buffer(kind, array) for kind, array in zip(kinds, kept, strict=True)]
    problem = ffi.new("lscfg_skip_gram_problem *", (rules.shape[1], len(words), len(rule), *arrays, negatives))
    loss, error = ffi.new("double *"), ffi.new("lscfg_error *")
    buffers = [ffi.from_buffer("double[]", array) for array in vectors]
    check(lib.lscfg_skip_grams(problem, *buffers, *rates, seed, loss, error), error)
    return float(loss[0])
