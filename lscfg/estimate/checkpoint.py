"""Checkpoints of EM: the state after each iteration, and the best model so far."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from lscfg.errors import InputError
from lscfg.io.checkpoint import CheckpointFile
from lscfg.io.layout import check_layout, check_range
from lscfg.kernel.expectation import ARITIES, Weights

CHECKPOINTS = CHECKPOINT, BEST = "checkpoint.em", "best.em"
"""Files of a checkpoint folder: the state of EM, and the best model so far."""

SOURCES = "settings or derivations"
"""Sources of estimators' checkpoints; see ``CheckpointFile``."""

LOGLINEAR = "loglinear"
"""Name of the array of log-linear weights, which no other array bounds."""


@dataclass(eq=False)
class EMState:
    """The state of EM after an iteration."""

    restart: int
    history: list[dict[str, float]]
    weights: Weights
    finished: list[list[dict[str, float]]] = field(default_factory=list)
    """Histories of the restarts before this one."""
    curves: list[list[list[float]]] = field(default_factory=list)
    """Of starts by splitting and merging: numbers of states and their scores."""


@dataclass(eq=False)
class BestModel:
    """The best model so far."""

    score: float
    restart: int
    iteration: int
    weights: Weights


def check_begun(path: Path) -> None:
    """Refuses to continue from a checkpoint that was never written.

    Raises:
        InputError: the file does not exist.
    """
    if not path.exists():
        raise InputError("no checkpoint is there to continue from; run without --resume", path)


@dataclass(frozen=True)
class Checkpoints:
    """The checkpoints of a run of EM in a folder."""

    folder: Path
    made_from: str
    """Hash of settings and derivations."""
    shapes: Mapping[str, str] = field(hash=False)
    """Shape of each array."""
    restarts: int
    held_out: bool
    """Some trees are held out."""

    def save(self, state: EMState) -> None:
        """Writes the state."""
        facts: dict[str, Any] = {"restart": state.restart, "history": state.history, "finished": state.finished}
        if state.curves:
            facts["curves"] = state.curves
        self._write(CHECKPOINT, state.weights, facts)

    def save_best(self, best: BestModel) -> None:
        """Writes the best model."""
        facts = {"score": best.score, "restart": best.restart, "iteration": best.iteration}
        self._write(BEST, best.weights, facts)

    def load(self) -> tuple[EMState, BestModel | None]:
        """Reads the state, and the best model if there is a choice between models.

        Raises:
            InputError: a file is missing or damaged, or belongs to other settings or derivations.
        """
        weights, facts = self._read(CHECKPOINT)
        state = EMState(facts["restart"], facts["history"], weights, facts["finished"], facts.get("curves", []))
        if not (self.restarts > 1 or self.held_out) or not (self.folder / BEST).exists():
            return state, None
        weights, facts = self._read(BEST)
        return state, BestModel(facts["score"], facts["restart"], facts["iteration"], weights)

    def _file(self, name: str) -> CheckpointFile:
        return CheckpointFile(self.folder / name, "em", self.made_from, SOURCES)

    def _write(self, name: str, weights: Weights, facts: dict[str, Any]) -> None:
        arrays = {f"C{k}": tensor for k, tensor in enumerate(weights.tensors)}
        arrays |= {"scale": weights.scale, "root": weights.root}
        if weights.loglinear is not None:
            arrays[LOGLINEAR] = weights.loglinear
        self._file(name).save(arrays, facts)

    def _read(self, name: str) -> tuple[Weights, dict[str, Any]]:
        check_begun(self.folder / name)
        with self._file(name).load(list(self.shapes)) as (arrays, facts):
            check_layout(arrays, {name: f"float64 [{shape}]" for name, shape in self.shapes.items()})
            for array_name, array in arrays.items():
                check_range(array_name, array, -np.inf if array_name == LOGLINEAR else 0, np.inf)
            _check_facts(facts, self.restarts, self.held_out)
        tensors = [arrays[f"C{k}"] for k in ARITIES]
        return Weights(tensors, arrays["scale"], arrays["root"], arrays.get(LOGLINEAR)), facts


def _check_facts(facts: Mapping[str, Any], restarts: int, held_out: bool) -> None:
    """Refuses facts that no checkpoint can contain.

    Raises:
        ValueError: the fact that is wrong.
    """
    figures = {"train", "held out"} if held_out else {"train"}

    def is_step(step: object) -> bool:
        return isinstance(step, dict) and step.keys() == figures and all(type(x) is float for x in step.values())

    def is_history(history: object) -> bool:
        return isinstance(history, list) and all(map(is_step, history))

    finished = facts.get("finished", [])

    def is_curve(curve: object) -> bool:
        return isinstance(curve, list) and all(
            isinstance(step, list) and len(step) == 2 and all(type(x) is float for x in step) for step in curve
        )

    right: dict[str, Callable[[object], bool]] = {
        "restart": lambda value: type(value) is int and 0 <= value < restarts,
        "iteration": lambda value: type(value) is int and value >= 0,
        "score": lambda value: type(value) is float and np.isfinite(value),
        "history": is_history,
        "finished": lambda value: isinstance(value, list) and all(map(is_history, value)),
        "curves": lambda value: isinstance(value, list) and all(map(is_curve, value)),
    }
    of_state = ("restart", "history", "finished", *(["curves"] if "curves" in facts else []))
    for name in of_state if "history" in facts else ("restart", "score", "iteration"):
        if not right[name](facts.get(name)):
            raise ValueError(f"its state has an impossible {name}")
    if "history" in facts and len(finished) != facts["restart"]:
        raise ValueError("its state has another number of restarts than its header")
