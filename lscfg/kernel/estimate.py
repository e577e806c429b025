"""Inner loops of the estimators (plugin/estimate)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count, pairwise

import numpy as np

from lscfg._kernel import ffi, lib
from lscfg.kernel.base import check
from lscfg.kernel.extract import Rules
from lscfg.parallel.choose import in_threads
from lscfg.parallel.engine import Engine


class ContextTrainer:
    """Learns the weights of a log-linear context model; results do not depend on the number of threads.

    Args:
        rules: rules of up to two nonterminals.
        counts: float64 [rules] > 0.
        words: int32, words of all sentences, numbers in the rules' vocabulary or -1; int64 [sentences + 1], where each
            sentence begins.
        choices: int32 [rules], number of each rule's source side; int64 [sides + 1] and int32, the rules to choose
            among, by source side.
        tokens: int32 [tokens, 8], of rules that are among the choices, in the order of the rules: rule, sentence, span,
            spans of the nonterminals.
        settings: minimum number of tokens of an item, penalty, learning rate.
        engine: threads.
        dense: float32 [words and sentences, dims], vectors of the text to the left of each boundary of the sentences
            and to the right; the penalty of an outcome's weights for them.

    Raises:
        KernelError: the kernel is out of memory.
    """

    def __init__(
        self,
        rules: Rules,
        counts: np.ndarray,
        words: tuple[np.ndarray, np.ndarray],
        choices: tuple[np.ndarray, np.ndarray, np.ndarray],
        tokens: np.ndarray,
        settings: tuple[int, float, float],
        engine: Engine,
        dense: tuple[np.ndarray, np.ndarray, float] | None = None,
    ):
        left, right, dense_penalty = dense or (np.zeros((len(words[0]) + len(words[1]) - 1, 0)),) * 2 + (0.0,)
        if left.shape != right.shape or len(left) != len(words[0]) + len(words[1]) - 1:
            raise ValueError("dense values are not of the boundaries of the sentences")
        side, begin, chosen = choices
        if tokens.shape[1:] != (8,) or len(counts) != len(rules) or len(side) != len(rules):
            raise ValueError("counts, sides or tokens do not fit the rules")
        if (tokens[1:, 0] < tokens[:-1, 0]).any():
            raise ValueError("tokens are not in the order of their rules")
        arrays = {
            "counts": np.ascontiguousarray(counts, np.float64),
            "words": np.ascontiguousarray(words[0], np.int32),
            "first": np.ascontiguousarray(words[1], np.int64),
            "side": np.ascontiguousarray(side, np.int32),
            "begin": np.ascontiguousarray(begin, np.int64),
            "choices": np.ascontiguousarray(chosen, np.int32),
            "tokens": np.ascontiguousarray(tokens, np.int32),
            "left": np.ascontiguousarray(left, np.float32),
            "right": np.ascontiguousarray(right, np.float32),
        }
        self._kept = (rules, arrays)  # the kernel points into them
        self._engine = engine
        self._problem = ffi.new(
            "lscfg_context_problem *",
            {
                "rules": rules._pointer,
                "counts": ffi.from_buffer("double[]", arrays["counts"]),
                "words": ffi.from_buffer("int32_t[]", arrays["words"]),
                "first": ffi.from_buffer("int64_t[]", arrays["first"]),
                "side": ffi.from_buffer("int32_t[]", arrays["side"]),
                "n_sides": len(begin) - 1,
                "choice_begin": ffi.from_buffer("int64_t[]", arrays["begin"]),
                "choices": ffi.from_buffer("int32_t[]", arrays["choices"]),
                "n_tokens": len(tokens),
                "tokens": ffi.cast("lscfg_context_token *", ffi.from_buffer(arrays["tokens"])),
                "min_count": settings[0],
                "penalty": settings[1],
                "rate": settings[2],
                "dims": left.shape[1],
                "left": ffi.from_buffer("float[]", arrays["left"]),
                "right": ffi.from_buffer("float[]", arrays["right"]),
                "dense_penalty": dense_penalty,
            },
        )
        self._outcomes = len(rules) + rules._pointer.n_words + lib.LSCFG_CONTEXT_SHAPES
        made, error = ffi.new("lscfg_context_trainer **"), ffi.new("lscfg_error *")
        check(lib.lscfg_context_trainer_new(self._problem, made, error), error)
        self._pointer = ffi.gc(made[0], lib.lscfg_context_trainer_free)
        self._all_parts(lib.lscfg_context_find)
        check(lib.lscfg_context_lay_out(self._pointer, error), error)
        self._all_parts(lib.lscfg_context_visit)
        lib.lscfg_context_count_visits(self._pointer)

    def _all_parts(self, function: Callable[..., int]) -> None:
        def work(part: int) -> None:
            error = ffi.new("lscfg_error *")
            check(function(self._pointer, part, error), error)

        list(self._engine.map(work, range(lib.LSCFG_CONTEXT_PARTS)))

    def learn(self, tokens: np.ndarray) -> np.ndarray:
        """Learns from a batch of tokens: computes all gradients, then changes the weights, one token after the other.

        Returns:
            Sums of the losses, by frequency and in context.
        """
        tokens = np.ascontiguousarray(tokens, np.int32)
        pieces = lib.LSCFG_CONTEXT_PIECES
        bounds = [len(tokens) * k // pieces for k in range(pieces + 1)]
        start = ffi.cast("lscfg_context_token *", ffi.from_buffer(tokens))
        losses = np.zeros((pieces, 2))
        loss = ffi.from_buffer("double[]", losses)

        def meet(k: int) -> None:
            error = ffi.new("lscfg_error *")
            n = bounds[k + 1] - bounds[k]
            check(lib.lscfg_context_meet(self._pointer, k, start + bounds[k], n, loss + 2 * k, error), error)

        self._deal(meet, pieces)
        self._deal(lambda k: lib.lscfg_context_step(self._pointer, k), lib.LSCFG_CONTEXT_SHARDS)
        result: np.ndarray = losses.sum(axis=0)
        return result

    def _deal(self, function: Callable[[int], None], n: int) -> None:
        """Calls the function with 0 .. n-1. Each worker takes the next number when it is free, since sizes differ."""
        numbers = count()  # next is one step of the interpreter, so no number is taken twice

        def work(_: int) -> None:
            while (k := next(numbers)) < n:
                function(k)

        list(self._engine.map(work, range(min(self._engine.workers, n))))

    def weights(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Returns int64 [outcomes + 1], the first weight of each outcome; int32 items, ascending for each; float32."""
        error = ffi.new("lscfg_error *")
        n = lib.lscfg_context_weights(self._pointer, ffi.NULL, ffi.NULL, ffi.NULL, error)
        check(min(n, 0), error)
        offsets, items, weights = np.empty(self._outcomes + 1, np.int64), np.empty(n, np.int32), np.empty(n, np.float32)
        buffers = [
            ffi.from_buffer(kind, array)
            for kind, array in (("int64_t[]", offsets), ("int32_t[]", items), ("float[]", weights))
        ]
        check(min(lib.lscfg_context_weights(self._pointer, *buffers, error), 0), error)
        return offsets, items, weights

    def dense_sums(self) -> np.ndarray:
        """Returns float32 [rules, 2 dims]: for each rule the sum of its outcomes' weights for dense values."""
        sums = np.zeros((len(self._kept[0]), 2 * self._problem.dims), np.float32)
        if sums.size:
            lib.lscfg_context_dense(self._pointer, ffi.from_buffer("float[]", sums))
        return sums


def add_moments(
    rows: np.ndarray,
    head: np.ndarray,
    tail: np.ndarray,
    z: np.ndarray,
    y: np.ndarray,
    out: np.ndarray,
    threads: int = 1,
) -> None:
    """Adds ``z[head[k]] (x) y[tail[k, 0]] (x) y[tail[k, 1]]`` to ``out[rows[k]]`` for each token k, in order.

    Args:
        rows: int64 [n].
        head: int64 [n].
        tail: int64 [n, arity].
        z: float64 [., m].
        y: float64 [., m].
        out: float64 [., m], [., m, m] or [., m, m, m] by arity, C-contiguous, changed in place.
        threads: each takes a range of Z's states, so one thread computes each sum, in the same order.

    Raises:
        ValueError: ``y`` or ``out`` does not fit ``z``, ``out`` is not float64 or not C-contiguous, or the indices are
            not [n] or out of range.
    """
    n, arity = tail.shape
    m = z.shape[1]
    if out.shape[1:] != (m,) * (arity + 1) or y.shape[1] != m or out.dtype != np.float64 or not out.flags.c_contiguous:
        raise ValueError(f"arity {arity}: z {z.shape}, y {y.shape} and out {out.shape} do not fit")
    for name, index, bound in (("row", rows, len(out)), ("head", head, len(z)), ("tail", tail, len(y))):
        if index.shape[0] != n or (index.size and not (index.min() >= 0 and index.max() < bound)):
            raise ValueError(f"{name} index out of range")
    integers = [np.ascontiguousarray(a, np.int64) for a in (rows, head, tail)]
    reals = [np.ascontiguousarray(a, np.float64) for a in (z, y)]
    buffers = [ffi.from_buffer("int64_t[]", a) for a in integers] + [ffi.from_buffer("double[]", a) for a in reals]
    sums = ffi.from_buffer("double[]", out)

    def add(states: tuple[int, int]) -> None:
        lib.lscfg_add_moments(m, arity, n, *states, *buffers, sums)

    with in_threads(threads) as engine:
        list(engine.map(add, pairwise(m * k // threads for k in range(threads + 1))))
