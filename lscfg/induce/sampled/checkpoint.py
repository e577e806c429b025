"""Checkpoint files of chains: a killed chain resumes and ends with the same bytes."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from time import monotonic
from typing import Any, TypedDict

from lscfg.errors import InputError
from lscfg.io import tensors
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
        self._path = folder / f"chain.{chain + 1:04}" if folder else None
        self._facts = {"lscfg": "sampler", "made from": made_from}
        self._resume = resume
        self._saved = monotonic()

    def load(self, sampler: TreeSampler) -> list[dict[str, object]]:
        """Restores the sampler, and returns the trace so far, empty for a new chain.

        Raises:
            InputError: the file is damaged, or belongs to other text or settings; if a check of its content fails, the
                cause is a ValueError, KeyError or TypeError.
        """
        if self._path is None or not self._resume or not self._path.exists():
            return []
        arrays, metadata = tensors.load(self._path, "sampler", list(CHECKPOINT))
        if metadata.get("made from") != self._facts["made from"]:
            raise InputError(
                "the checkpoint belongs to other text or settings; use those, or another folder", self._path
            )
        try:
            found = tensors.metadata_json(metadata, "trace")
            check_shape(found, TraceFacts)
            trace: list[dict[str, Any]] = found["sweeps"]
            if [record.get("sweep") for record in trace] != list(range(len(trace))) or not trace:
                raise ValueError("its trace lacks sweeps")
            for record in trace:
                if missing := QUANTITIES - record.keys():
                    raise ValueError(f"sweep {record['sweep']} lacks {min(missing)}")
            sampler.restore(arrays)
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"the checkpoint is damaged: {error}; delete it and start again", self._path) from error
        return trace

    def save(self, sampler: TreeSampler, trace: list[dict[str, object]], last: bool) -> None:
        """Writes the state of the chain, if the last checkpoint is old enough or this is the last sweep."""
        if self._path is None or not (last or monotonic() - self._saved >= SECONDS):
            return
        tensors.save(self._path, sampler.checkpoint(), self._facts | {"trace": json.dumps({"sweeps": trace})})
        self._saved = monotonic()
