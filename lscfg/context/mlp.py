"""Scores from a hidden layer that all rules share (thesis, section 4.1.2, MLP)."""

from __future__ import annotations

from dataclasses import dataclass

from lscfg.context.gradient import linear, random_layer, standardised, train_passes, trainer_of
from lscfg.context.low_dimensional import COSTS, Fitted, HiddenSettings, LowDimensionalLearner, Task
from lscfg.context.ls_online import OnlineSettings


@dataclass(frozen=True)
class MLPSettings(OnlineSettings, HiddenSettings):
    """Settings of the multilayer perceptron."""


class MultilayerPerceptron(LowDimensionalLearner[MLPSettings]):
    """Hidden layer that all rules share."""

    HELP = "like ls-online, with a hidden layer that all rules share"
    VERSION = 1
    Settings = MLPSettings
    TAKES_TEXT = True

    def fit(self, task: Task, settings: MLPSettings) -> Fitted:
        """Learns scores that are linear in tanh units of standardised contexts."""
        vectors, shift = standardised(task, task.basis(settings))
        loss = COSTS[settings.costs]
        trainer = trainer_of(task, loss, vectors, shift, settings.hidden, settings.rate, settings.penalty)
        layer = trainer.parts()["hidden"]
        layer[:] = random_layer(layer.shape, settings.seed)
        train_passes(trainer, settings.passes, settings.seed, "mlp")
        return linear(trainer, vectors, shift)
