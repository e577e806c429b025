"""Scores that adjust frequencies: softmax over the rules of a source side, with log counts as offset."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lscfg.context.gradient import linear, standardised, train_passes, trainer_of
from lscfg.context.low_dimensional import Fitted, LowDimensionalLearner, StepSettings, Task, ViewVectorSettings


@dataclass(frozen=True)
class SoftmaxSettings(ViewVectorSettings, StepSettings):
    """Settings of the softmax."""


class Softmax(LowDimensionalLearner[SoftmaxSettings]):
    """Softmax over the rules of a source side."""

    HELP = "softmax over the target sides of a source side, beyond their frequencies"
    VERSION = 1
    Settings = SoftmaxSettings
    TAKES_TEXT = True

    def fit(self, task: Task, settings: SoftmaxSettings) -> Fitted:
        """Learns log-shares, ln count + rule . context + bias, of standardised contexts."""
        return fit_shares(task, task.basis(settings), settings, "softmax")


def fit_shares(task: Task, basis: np.ndarray, steps: StepSettings, name: str) -> Fitted:
    """Learns log-shares from contexts in a basis, [items, m]; ``name`` is for messages."""
    vectors, shift = standardised(task, basis)
    trainer = trainer_of(task, "softmax", vectors, shift, 0, steps.rate, steps.penalty, spread=True)
    train_passes(trainer, steps.passes, steps.seed, name)
    return linear(trainer, vectors, shift)
