"""Scores by squared loss, token by token, among the rules of a source side (thesis, section 4.1.2, LS-ONLINE)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lscfg.context.gradient import linear, standardised, train_passes, trainer_of
from lscfg.context.task import CcaSettings, Fitted, Task
from lscfg.settings import setting

HELP = "squared loss by stochastic gradient descent over the target sides of a source side"
VERSION = 1

COSTS = {"uniform": "indicators", "frequency": "costs"}


def costs_setting() -> Any:
    """The setting that chooses among ``COSTS``, for each learner by squared loss."""
    return setting(
        "uniform",
        "what scores are like: 1 of the right rule and 0 of others, or costs of these that grow with their counts",
        choices=tuple(COSTS),
    )


@dataclass(frozen=True)
class Settings(CcaSettings):
    """How the regression is learned."""

    costs: str = costs_setting()
    passes: int = setting(5, "passes over the tokens", least=1)
    rate: float = setting(0.01, "learning rate", above=0)
    penalty: float = setting(1e-8, "penalty of a squared weight, each time that it is visited", least=0)


def fit(task: Task, settings: Settings) -> Fitted:
    """Learns linear scores of standardised contexts."""
    vectors, shift = standardised(task, task.basis(settings))
    trainer = trainer_of(task, COSTS[settings.costs], vectors, shift, 0, settings.rate, settings.penalty)
    train_passes(trainer, settings.passes, settings.seed, "ls-online")
    return linear(trainer, vectors, shift)
