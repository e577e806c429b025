"""Learning of context models token by token."""

from __future__ import annotations

import numpy as np

from lscfg import log
from lscfg.context.low_dimensional import Fitted, Task
from lscfg.errors import InputError
from lscfg.estimate.svd import normalised_rows
from lscfg.kernel.context import ScoreTrainer

STEP = 20_000
"""Tokens between two updates of the progress bar."""


def standardised(task: Task, basis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Vectors [items, m] and a shift [m], such that the contexts of the used tokens have mean 0 and variance 1."""
    contexts = task.views.matrix[task.used] @ basis
    mean, spread = contexts.mean(axis=0), contexts.std(axis=0)
    spread[spread < 1e-12] = 1
    return basis / spread, -mean / spread


def trainer_of(
    task: Task,
    loss: str,
    vectors: np.ndarray,
    shift: np.ndarray,
    hidden: int = 0,
    rate: float = 0.1,
    penalty: float = 0.0,
    rules: np.ndarray | None = None,
    spread: bool = False,
) -> ScoreTrainer:
    """A trainer for the used tokens that have a choice; contexts have length 1 if rules have vectors.

    Raises:
        InputError: there is no such token.
    """
    asked = task.asked(task.used)
    if not len(asked):
        raise InputError("no source side of a token has two rules, so the context has nothing to choose")
    side = task.side[asked]
    contexts = np.asarray(task.views.matrix[asked] @ vectors) + shift
    if rules is not None:
        contexts = normalised_rows(contexts)
    first, size = task.begin[side], np.diff(task.begin)[side]
    counts = np.maximum(task.counts, 0.5)
    return ScoreTrainer(loss, contexts, task.own[asked], first, size, counts, hidden, rate, penalty, rules, spread)


def train_passes(trainer: ScoreTrainer, passes: int, seed: int, name: str) -> None:
    """Learns from all tokens, in another order each pass.

    Raises:
        InputError: the loss is no longer finite.
    """
    random, n = np.random.default_rng(seed), len(trainer.own)
    for number in range(1, passes + 1):
        order, loss = random.permutation(n), 0.0
        for start in log.progress(range(0, n, STEP), f"{name}, pass {number}"):
            loss += trainer.learn(order[start : start + STEP])
        log.info(f"{name}, pass {number}: loss {loss / n:.4f}")
        if not np.isfinite(loss):
            raise InputError(f"{name} diverged in pass {number}; choose a smaller rate")


def linear(trainer: ScoreTrainer, vectors: np.ndarray, shift: np.ndarray) -> Fitted:
    """The fitted parameters of a trainer, without or with a hidden layer."""
    parts = {name: part.copy() for name, part in trainer.parts().items()}
    if not trainer.hidden:
        return Fitted("dot", vectors, shift, parts["rules"], parts["bias"])
    layer = (parts["hidden"], parts["hidden_bias"], np.zeros(trainer.hidden))
    return Fitted("mlp", vectors, shift, parts["rules"], parts["bias"], layer)


def random_layer(shape: tuple[int, ...], seed: int) -> np.ndarray:
    """Uniform start weights of a layer [outputs, inputs] of tanh units (Glorot & Bengio 2010)."""
    limit = np.sqrt(6 / sum(shape))
    return np.random.default_rng(seed).uniform(-limit, limit, shape)
