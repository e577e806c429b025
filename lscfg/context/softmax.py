"""Scores that share frequencies out anew: softmax over the rules of a source side, with their counts as offset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from lscfg.context.gradient import linear, standardised, train_passes, trainer_of
from lscfg.context.task import CcaSettings, Fitted, Task
from lscfg.settings import setting

HELP = "softmax over the target sides of a source side, beyond their frequencies"
VERSION = 1


@dataclass(frozen=True)
class Settings(CcaSettings):
    """How the softmax is learned."""

    passes: int = setting(5, "passes over the tokens", least=1)
    rate: float = setting(0.1, "learning rate", above=0)
    penalty: float = setting(30.0, "inverse variance of the weights' prior", least=0)


def fit(task: Task, settings: Settings) -> Fitted:
    """Learns log-shares, ln count + rule . context + bias, of standardised contexts."""
    return fit_shares(task, task.basis(settings), settings, "softmax")


class Steps(Protocol):
    """What settings say of the steps of learning."""

    @property
    def passes(self) -> int: ...
    @property
    def rate(self) -> float: ...
    @property
    def penalty(self) -> float: ...
    @property
    def seed(self) -> int: ...


def fit_shares(task: Task, basis: np.ndarray, steps: Steps, name: str) -> Fitted:
    """Learns log-shares of contexts in a basis, [items, m]; ``name`` is for messages."""
    vectors, shift = standardised(task, basis)
    trainer = trainer_of(task, "softmax", vectors, shift, 0, steps.rate, steps.penalty, spread=True)
    train_passes(trainer, steps.passes, steps.seed, name)
    return linear(trainer, vectors, shift)
