"""A perceptron that matches contexts with rules, on their CCA projections (thesis, section 4.1.2, CCA+MM)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lscfg.context.cca import CCASettings, shared_space
from lscfg.context.gradient import random_layer, train_passes, trainer_of
from lscfg.context.low_dimensional import Fitted, HiddenSettings, LowDimensionalLearner, StepSettings, Task
from lscfg.estimate.svd import normalised_rows


@dataclass(frozen=True)
class CCAMMSettings(
    CCASettings, HiddenSettings, StepSettings, defaults={"hidden": 50, "passes": 2, "rate": 0.05, "penalty": 1e-5}
):
    """Settings of the perceptron."""


class MatchingModel(LowDimensionalLearner[CCAMMSettings]):
    """Perceptron that decides whether a context and a rule match."""

    HELP = "perceptron on the projections that cca gives a context and a rule"
    VERSION = 1
    Settings = CCAMMSettings
    TAKES_TEXT = True

    def fit(self, task: Task, settings: CCAMMSettings) -> Fitted:
        """Learns the logit of each correct pair against the other rules of its source side."""
        vectors, rules = shared_space(task, settings)
        rules = normalised_rows(rules)
        shift = np.zeros(vectors.shape[1])
        trainer = trainer_of(task, "match", vectors, shift, settings.hidden, settings.rate, settings.penalty, rules)
        parts = trainer.parts()
        for number, name in enumerate(("hidden", "other", "out")):
            shape = (1, settings.hidden) if name == "out" else parts[name].shape
            parts[name][:] = random_layer(shape, settings.seed + number).reshape(parts[name].shape)
        train_passes(trainer, settings.passes, settings.seed, "cca-mm")
        parts = {name: part.copy() for name, part in trainer.parts().items()}
        layer = (parts["hidden"], parts["hidden_bias"], parts["out"])
        return Fitted("match", vectors, shift, rules @ parts["other"].T, np.full(task.rows, parts["bias"][0]), layer)
