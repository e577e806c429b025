"""Whether a context and a rule match: a perceptron on what CCA makes of both (thesis, section 4.1.2, CCA+MM)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lscfg.context.gradient import random_layer, train_passes, trainer_of
from lscfg.context.pairs import Settings as PairSettings
from lscfg.context.pairs import shared_space
from lscfg.context.task import Fitted, Task
from lscfg.estimate.svd import normalised_rows
from lscfg.settings import setting

HELP = "a perceptron on what cca makes of a context and of a rule"
VERSION = 1


@dataclass(frozen=True)
class Settings(PairSettings):
    """How the perceptron is learned."""

    hidden: int = setting(50, "units of the hidden layer", least=1, most=10_000)
    passes: int = setting(2, "passes over the tokens", least=1)
    rate: float = setting(0.05, "learning rate", above=0)
    penalty: float = setting(1e-5, "penalty of a squared weight, each time that it is visited", least=0)


def fit(task: Task, settings: Settings) -> Fitted:
    """Learns the logit of right pairs against the others of their source side, each as often as there are others."""
    vectors, rules = shared_space(task, settings)
    rules = normalised_rows(rules)
    shift = np.zeros(vectors.shape[1])
    trainer = trainer_of(task, "match", vectors, shift, settings.hidden, settings.rate, settings.penalty, rules)
    parts = trainer.parts()
    for number, name in enumerate(("hidden", "other", "out")):
        shape = (1, settings.hidden) if name == "out" else parts[name].shape
        parts[name][:] = random_layer(shape, settings.seed + number).reshape(parts[name].shape)
    train_passes(trainer, settings.passes, settings.seed, "cca+mm")
    parts = {name: part.copy() for name, part in trainer.parts().items()}
    layer = (parts["hidden"], parts["hidden_bias"], parts["out"])
    return Fitted("match", vectors, shift, rules @ parts["other"].T, np.full(task.rows, parts["bias"][0]), layer)
