"""Where learning stands after each pass, in files: what was killed goes on with the same bytes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lscfg.errors import InputError
from lscfg.io import tensors
from lscfg.kernel.biparse import MODEL


@dataclass(frozen=True)
class State:
    """What a learner goes on from.

    Attributes:
        now, best: arrays of the model now and of the best one so far, which is empty where none was better than the
            beginning; trace: a record for each pass; best_gain: of held-out pairs, in nats.
    """

    now: dict[str, np.ndarray]
    best: dict[str, np.ndarray]
    trace: list[dict[str, Any]]
    best_gain: float


class LearnerCheckpoint:
    """The file of one learner.

    Args:
        folder: where it is; None: nowhere.
        fold: counts from 0; made_from: a digest of text and settings; resume: go on from what is there, if anything is.
    """

    def __init__(self, folder: Path | None, fold: int, made_from: str, resume: bool):
        self._path = folder / f"fold.{fold + 1:04}" if folder else None
        self._made_from, self._resume = made_from, resume

    def load(self) -> State | None:
        """Where the learner was; None: it is to begin.

        Raises:
            InputError: the file is damaged, or of other text or settings.
        """
        if self._path is None or not self._resume or not self._path.exists():
            return None
        arrays, metadata = tensors.load(self._path, "biparser")
        if metadata.get("made from") != self._made_from:
            raise InputError("the checkpoint is of other text or settings; give those, or another folder", self._path)
        try:
            told = tensors.read_json(metadata, "state")
            now, best = (
                {name: arrays[f"{part}.{name}"] for name in MODEL if f"{part}.{name}" in arrays}
                for part in ("now", "best")
            )
            return State(now, best, list(told["trace"]), float(told["best gain"]))
        except (ValueError, KeyError, TypeError) as error:
            raise self.damaged(str(error)) from error

    def damaged(self, fault: str) -> InputError:
        """The error for a file that holds something else."""
        return InputError(f"the checkpoint is damaged: {fault}; delete it and begin anew", self._path)

    def save(self, state: State) -> None:
        """Writes where the learner is."""
        if self._path is None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        parts = {"now": state.now, "best": state.best}
        arrays = {f"{part}.{name}": array for part, of in parts.items() for name, array in of.items()}
        told = json.dumps({"trace": state.trace, "best gain": state.best_gain})
        tensors.save(self._path, arrays, {"lscfg": "biparser", "made from": self._made_from, "state": told})
