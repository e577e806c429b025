"""Where learning stands after each pass, in files: what was killed goes on with the same bytes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lscfg.errors import InputError
from lscfg.io import tensors


@dataclass(frozen=True)
class State:
    """What a learner goes on from.

    Attributes:
        arrays: of the model, with the weights that it goes back to; trace: a record for each pass; best_gain: of
            held-out pairs, in nats.
    """

    arrays: dict[str, np.ndarray]
    trace: list[dict[str, Any]]
    best_gain: float


class LearnerCheckpoint:
    """The file of one learner.

    Args:
        folder: where it is; None: nowhere.
        fold: counts from 0; made_from: a digest of text and settings; resume: go on from what is there, if anything is.
    """

    def __init__(self, folder: Path | None, fold: int, made_from: str, resume: bool):
        self.path = folder / f"fold.{fold + 1:04}" if folder else None
        self._made_from, self._resume = made_from, resume

    def load(self) -> State | None:
        """Where the learner was; None: it is to begin.

        Raises:
            InputError: the file is damaged, or of other text or settings.
        """
        if self.path is None or not self._resume or not self.path.exists():
            return None
        arrays, metadata = tensors.load(self.path, "biparser")
        if metadata.get("made from") != self._made_from:
            raise InputError("the checkpoint is of other text or settings; give those, or another folder", self.path)
        try:
            told = tensors.read_json(metadata, "state")
            return State(dict(arrays), list(told["trace"]), float(told["best gain"]))
        except (ValueError, KeyError, TypeError) as error:
            raise self.damaged(str(error)) from error

    def damaged(self, fault: str) -> InputError:
        """The error for a file that holds something else."""
        return InputError(f"the checkpoint is damaged: {fault}; delete it and begin anew", self.path)

    def save(self, state: State) -> None:
        """Writes where the learner is."""
        if self.path is None:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        told = json.dumps({"trace": state.trace, "best gain": state.best_gain})
        tensors.save(self.path, state.arrays, {"lscfg": "biparser", "made from": self._made_from, "state": told})
