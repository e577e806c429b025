"""Learning of context models with few dimensions, and of skip-grams (plugin/estimate/scores.c)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lscfg._kernel import ffi, lib
from lscfg.kernel.base import check

SCORE_LOSSES = {
    "softmax": int(lib.LSCFG_LOSS_SOFTMAX),
    "indicators": int(lib.LSCFG_LOSS_INDICATORS),
    "costs": int(lib.LSCFG_LOSS_COSTS),
    "match": int(lib.LSCFG_LOSS_MATCH),
}
"""Losses of context models; lscfg/estimate.h defines each."""


class _Trainer:
    """Learns from tokens in any order and changes ``parameters``, float64, in place."""

    own: np.ndarray
    first: np.ndarray
    size: np.ndarray
    counts: np.ndarray
    _problem: object
    _learn: Any

    def _check_choices(self, tokens: int) -> None:
        """Checks that there are choices for each token, within the rows, and that they include the right row."""
        inside = (self.first >= 0) & (self.own >= self.first) & (self.own < self.first + self.size)
        if not len(self.own) == len(self.first) == len(self.size) == tokens or not inside.all():
            raise ValueError("tokens and choices do not fit")
        if tokens and (self.first + self.size).max() > len(self.counts):
            raise ValueError("choices beyond the rows")

    def _begin(self, parameters: int) -> None:
        self.parameters = np.zeros(parameters)
        self._squares = np.zeros(parameters)

    def learn(self, order: np.ndarray) -> float:
        """Learns from tokens one by one; returns the sum of their losses before each step."""
        return self._pass(order, None)

    def gradient(self, order: np.ndarray) -> tuple[float, np.ndarray]:
        """Returns the sum of the losses of tokens, without the penalty, and its gradient."""
        gradient = np.zeros(len(self.parameters))
        return self._pass(order, gradient), gradient

    def _pass(self, order: np.ndarray, gradient: np.ndarray | None) -> float:
        order = np.ascontiguousarray(order, np.int64)
        if len(order) and not 0 <= order.min() <= order.max() < len(self.own):
            raise ValueError("tokens out of range")
        loss, error = ffi.new("double *"), ffi.new("lscfg_error *")
        state = [ffi.from_buffer("double[]", array) for array in (self.parameters, self._squares)]
        slope = ffi.NULL if gradient is None else ffi.from_buffer("double[]", gradient)
        numbers = ffi.from_buffer("int64_t[]", order)
        check(self._learn(self._problem, *state, slope, numbers, len(order), loss, error), error)
        return float(loss[0])


def _problem_of(struct: str, **values: float | np.ndarray) -> tuple[object, list[np.ndarray]]:
    """Builds a problem for the kernel, and its arrays in the types of its fields, which must outlive it."""
    problem, kept = ffi.new(f"{struct} *"), []
    for name, field in ffi.typeof(struct).fields:
        value = values.pop(name, None)
        if isinstance(value, np.ndarray):
            kind = field.type.item.cname
            kept.append(np.ascontiguousarray(value, kind.removesuffix("_t")))
            setattr(problem, name, ffi.from_buffer(f"{kind}[]", kept[-1]))
        elif value is not None:
            setattr(problem, name, value)
    if values:
        raise TypeError(f"{struct} has no {', '.join(values)}")
    return problem, kept


@dataclass
class ScoreTrainer(_Trainer):
    """Learns which row is right for each token, by AdaGrad."""

    loss: str
    """One of ``SCORE_LOSSES``."""
    contexts: np.ndarray
    """float64 [tokens, dims]."""
    own: np.ndarray
    """int [tokens], the right row."""
    first: np.ndarray
    """int [tokens], the first of the rows to choose among."""
    size: np.ndarray
    """int [tokens], the number of rows to choose among."""
    counts: np.ndarray
    """float64 [rows] > 0."""
    hidden: int = 0
    """Size of the hidden layer, 0: none."""
    rate: float = 0.1
    """Learning rate."""
    penalty: float = 0.0
    """Penalty of each visit of a parameter."""
    vectors: np.ndarray | None = None
    """float64 [rows, dims], for ``match``."""
    spread: bool = False
    """Divides the penalty of a rule's parameters among the tokens that have the rule among their choices."""

    def __post_init__(self) -> None:
        tokens, dims = self.contexts.shape
        self._check_choices(tokens)
        if (self.vectors is None) != (self.loss != "match") or (
            self.vectors is not None and self.vectors.shape != (len(self.counts), dims)
        ):
            raise ValueError("vectors do not fit the rows and dimensions")
        more = {} if self.vectors is None else {"vectors": self.vectors}
        if self.spread:
            steps = np.zeros(len(self.counts) + 1)
            np.add.at(steps, self.first, 1)
            np.add.at(steps, self.first + self.size, -1)
            more["visits"] = np.maximum(np.cumsum(steps)[:-1], 1)
        self._problem, self._kept = _problem_of(
            "lscfg_score_problem",
            loss=SCORE_LOSSES[self.loss],
            dims=dims,
            hidden=self.hidden,
            rows=len(self.counts),
            contexts=self.contexts,
            own=self.own,
            first=self.first,
            size=self.size,
            counts=self.counts,
            rate=self.rate,
            penalty=self.penalty,
            **more,
        )
        self._learn = lib.lscfg_score_learn
        self._begin(lib.lscfg_score_parameters(self._problem))

    def parts(self) -> dict[str, np.ndarray]:
        """Returns views of the parameters: ``rules``, ``bias``, ``hidden``, ``other``, ``hidden_bias``, ``out``."""
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
class WeightsTrainer(_Trainer):
    """Learns a weight of each row for each item around its source side, by AdaGrad.

    Threads may learn from tokens of different source sides at the same time.
    """

    loss: str
    """One of ``SCORE_LOSSES`` except ``match``."""
    begin: np.ndarray
    """int [tokens + 1], where the items of each token begin."""
    items: np.ndarray
    """int, items of each token, numbered from 0 for each source side."""
    own: np.ndarray
    """int [tokens], as in ``ScoreTrainer``."""
    first: np.ndarray
    """int [tokens], as in ``ScoreTrainer``."""
    size: np.ndarray
    """int [tokens], as in ``ScoreTrainer``."""
    counts: np.ndarray
    """float64 [rows], as in ``ScoreTrainer``."""
    offsets: np.ndarray
    """int [rows + 1], where the weights of each row begin."""
    absolute: bool = False
    """Selects the penalty: absolute values (l1), or halves of squares (l2)."""
    rate: float = 0.1
    """Learning rate."""
    penalty: float = 0.0
    """Penalty of each visit of a weight."""

    def __post_init__(self) -> None:
        tokens, lengths = len(self.begin) - 1, np.diff(self.offsets)
        self._check_choices(tokens)
        if len(self.offsets) != len(self.counts) + 1 or self.offsets[0] != 0 or (lengths < 0).any():
            raise ValueError("weights and rows do not fit")
        if self.begin[0] != 0 or self.begin[-1] != len(self.items) or (np.diff(self.begin) < 0).any():
            raise ValueError("items and tokens do not fit")
        several = np.repeat(np.arange(tokens), self.size)
        rows = np.arange(len(several)) - np.repeat(np.cumsum(self.size) - self.size - self.first, self.size)
        most = np.full(tokens, -1)
        np.maximum.at(most, np.repeat(np.arange(tokens), np.diff(self.begin)), self.items)
        if (self.items < 0).any() or (most[several] >= lengths[rows]).any():
            raise ValueError("items beyond the weights")
        self._problem, self._kept = _problem_of(
            "lscfg_weights_problem",
            loss=SCORE_LOSSES[self.loss],
            begin=self.begin,
            items=self.items,
            own=self.own,
            first=self.first,
            size=self.size,
            counts=self.counts,
            offsets=self.offsets,
            absolute=self.absolute,
            rate=self.rate,
            penalty=self.penalty,
        )
        self._learn = lib.lscfg_weights_learn
        self._begin(int(self.offsets[-1]))


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
    """Runs one pass of skip-grams with negative samples (Mikolov et al. 2013) and returns the sum of the losses.

    Args:
        rule: int [tokens], a row of the first vectors.
        begin: int [tokens + 1], where the items of each token begin.
        items: int, words around each token, rows of the second vectors.
        keep: float64 [words], probability of keeping a word.
        wrong: float64 [words], probability of sampling a word as a negative.
        vectors: float64 [rules, dims] and [words, dims], C-contiguous, changed in place.
        rates: first and last learning rate.

    Raises:
        ValueError: a rule or an item is out of its range, or ``begin``, ``keep`` or ``wrong`` does not fit the other
            arrays.
    """
    rules, words = vectors
    for name, index, bound in (("rule", rule, len(rules)), ("item", items, len(words))):
        if index.size and not 0 <= index.min() <= index.max() < bound:
            raise ValueError(f"{name} out of range")
    if len(begin) != len(rule) + 1 or begin[-1] != len(items) or len(keep) != len(words) or len(wrong) != len(words):
        raise ValueError("tokens, words or their shares do not fit")
    cumulative = np.cumsum(wrong) / wrong.sum()
    cumulative[-1] = 1
    problem, _kept = _problem_of(
        "lscfg_skip_gram_problem",
        dims=rules.shape[1],
        n_words=len(words),
        n_tokens=len(rule),
        rule=rule,
        begin=begin,
        items=items,
        keep=keep,
        cumulative=cumulative,
        negatives=negatives,
    )
    loss, error = ffi.new("double *"), ffi.new("lscfg_error *")
    buffers = [ffi.from_buffer("double[]", array) for array in vectors]
    check(lib.lscfg_skip_grams(problem, *buffers, *rates, seed, loss, error), error)
    return float(loss[0])
