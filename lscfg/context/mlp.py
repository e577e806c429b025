"""Scores of a hidden layer that all rules share (thesis, section 4.1.2, MLP)."""

from __future__ import annotations

from dataclasses import dataclass

from lscfg.context.gradient import linear, random_layer, standardised, train_passes, trainer_of
from lscfg.context.online import COSTS
from lscfg.context.online import Settings as OnlineSettings
from lscfg.context.task import Fitted, Task
from lscfg.settings import setting

HELP = "as ls-online, with a hidden layer that all rules share"
VERSION = 1


@dataclass(frozen=True)
class Settings(OnlineSettings):
    """How large the layer is."""

    hidden: int = setting(10, "units of the hidden layer", least=1, most=10_000)


def fit(task: Task, settings: Settings) -> Fitted:
    """Learns scores that are linear in tanh units of standardised contexts."""
    vectors, shift = standardised(task, task.basis(settings))
    loss = COSTS[settings.costs]
    trainer = trainer_of(task, loss, vectors, shift, settings.hidden, settings.rate, settings.penalty)
    layer = trainer.parts()["hidden"]
    layer[:] = random_layer(layer.shape, settings.seed)
    train_passes(trainer, settings.passes, settings.seed, "mlp")
    return linear(trainer, vectors, shift)
