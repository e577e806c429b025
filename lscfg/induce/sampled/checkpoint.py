"""Checkpoint files of chains: a killed chain resumes and ends with the same bytes."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from time import monotonic
from typing import Any, TypedDict

from lscfg.io.checkpoint import CheckpointFile
from lscfg.io.json_files import check_shape
from lscfg.kernel.sample import CHECKPOINT, SampleState, TreeSampler

SECONDS = 30.0
"""Least number of seconds between two checkpoints of a chain."""


QUANTITIES = {"chain", "sweep", *(item.name for item in fields(SampleState))}
"""Keys of every record of a trace."""


class TraceFacts(TypedDict):
    """Shape of the trace of a chain."""

    sweeps: list[dict[str, float]]


class Checkpoint:
    """The file of a chain in a folder; without a folder, no file.

    Args:
        made_from: digest of everything that the draws of the chain depend on, except the number of sweeps.
        resume: continue from an existing file.
    """

    def __init__(self, folder: Path | None, chain: int, made_from: str, resume: bool):
        path = folder / f"chain.{chain + 1:04}" if folder else None
        self._file = CheckpointFile(path, "sampler", made_from, key="trace") if path else None
        self._resume = resume
        self._saved = monotonic()

    def load(self, sampler: TreeSampler) -> list[dict[str, object]]:
        """Restores the sampler, and returns the trace so far, empty for a new chain.

        Raises:
            InputError: the file is damaged (the cause is a ValueError), or belongs to other text or settings.
        """
        if self._file is None or not self._resume or not self._file.path.exists():
            return []
        with self._file.load(list(CHECKPOINT)) as (arrays, found):
            check_shape(found, TraceFacts)
            trace: list[dict[str, Any]] = found["sweeps"]
            if [record.get("sweep") for record in trace] != list(range(len(trace))) or not trace:
                raise ValueError("its trace lacks sweeps")
            for record in trace:
                if missing := QUANTITIES - record.keys():
                    raise ValueError(f"sweep {record['sweep']} lacks {min(missing)}")
            sampler.restore(arrays)
        return trace

    def save(self, sampler: TreeSampler, trace: list[dict[str, object]], last: bool) -> None:
        """Writes the state of the chain, if the last checkpoint is old enough or this is the last sweep."""
        if self._file is None or not (last or monotonic() - self._saved >= SECONDS):
            return
        self._file.save(sampler.checkpoint(), {"sweeps": trace})
        self._saved = monotonic()
