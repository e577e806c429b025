"""Scores that share frequencies out anew: softmax over the rules of a source side, with their counts as offset."""

from __future__ import annotations

from dataclasses import dataclass

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
    vectors, shift = standardised(task, task.basis(settings))
    trainer = trainer_of(task, "softmax", vectors, shift, 0, settings.rate, settings.penalty, spread=True)
    train_passes(trainer, settings.passes, settings.seed, "softmax")
    return linear(trainer, vectors, shift)
