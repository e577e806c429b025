"""Scores by squared loss, token by token, over the rules of a source side (thesis, section 4.1.2, LS-ONLINE)."""

from __future__ import annotations

from dataclasses import dataclass

from lscfg.context.gradient import linear, standardised, train_passes, trainer_of
from lscfg.context.low_dimensional import COSTS, CostSettings, Fitted, LowDimensionalLearner, Task, ViewVectorSettings


@dataclass(frozen=True)
class OnlineSettings(ViewVectorSettings, CostSettings, defaults={"rate": 0.01, "penalty": 1e-8}):
    """Settings of online least squares."""


class OnlineLeastSquares(LowDimensionalLearner[OnlineSettings]):
    """Least squares by stochastic gradient descent."""

    HELP = "squared loss by stochastic gradient descent over the target sides of a source side"
    VERSION = 1
    Settings = OnlineSettings
    TAKES_TEXT = True

    def fit(self, task: Task, settings: OnlineSettings) -> Fitted:
        """Learns linear scores of standardised contexts."""
        vectors, shift = standardised(task, task.basis(settings))
        trainer = trainer_of(task, COSTS[settings.costs], vectors, shift, 0, settings.rate, settings.penalty)
        train_passes(trainer, settings.passes, settings.seed, "ls-online")
        return linear(trainer, vectors, shift)
