"""Checkpoint files, written after each pass: a killed run resumes and ends with the same bytes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

import numpy as np

from lscfg.errors import InputError
from lscfg.io.checkpoint import CheckpointFile
from lscfg.io.json_files import check_shape
from lscfg.kernel.biparse import BiparseModel


@dataclass(frozen=True)
class State:
    """State from which a learner resumes.

    Attributes:
        arrays: arrays of the model, with the best weights so far; trace: a record for each pass; best_gain: gain on
            held-out pairs, in nats.
    """

    arrays: dict[str, np.ndarray]
    trace: list[dict[str, object]]
    best_gain: float


LearnerFacts = TypedDict("LearnerFacts", {"trace": list[dict[str, bool | float]], "best gain": float})
"""Shape of a learner's state."""


class LearnerCheckpoint:
    """The file of one learner.

    Args:
        folder: folder of the file; None: no file.
        fold: number from 0; made_from: a digest of text and settings; resume: continue from an existing file.
    """

    def __init__(self, folder: Path | None, fold: int, made_from: str, resume: bool):
        self.path = folder / f"fold.{fold + 1:04}" if folder else None
        self.made_from = made_from
        self._file = CheckpointFile(self.path or Path(), "biparser", made_from)
        self._resume = resume

    def load(self) -> State | None:
        """Loads the learner's state; None: learning starts.

        Raises:
            InputError: the file is damaged, or belongs to other text or settings.
        """
        return self._read() if self._resume and self.path and self.path.exists() else None

    def _read(self) -> State:
        with self._file.load() as (arrays, state):
            check_shape(state, LearnerFacts)
            for number, record in enumerate(state["trace"], 1):
                if record.get("pass") != number or type(record.get("over")) is not bool:
                    raise ValueError(f"the record of pass {number} is missing")
            return State(arrays, state["trace"], float(state["best gain"]))

    def put(self, state: State, model: BiparseModel) -> None:
        """Restores the learner's model.

        Raises:
            InputError: the arrays of the file are not a model.
        """
        with self._file.checked():
            model.add(state.arrays)

    def after(self, passes: int) -> State:
        """Loads the learner's state after ``passes`` passes, written by any process.

        Raises:
            InputError: the file is damaged, of other text or settings, or of another pass.
        """
        state = self._read()
        if len(state.trace) != passes:
            fault = f"the checkpoint is of pass {len(state.trace)}, not {passes}: another run writes the same file"
            raise InputError(f"{fault}; give each run a separate folder", self.path)
        return state

    def save(self, state: State) -> None:
        """Writes the learner's state."""
        if self.path:
            self._file.save(state.arrays, {"trace": state.trace, "best gain": state.best_gain})
