"""Checkpoint files of chains: a killed chain resumes and ends with the same bytes."""

from __future__ import annotations

import json
from pathlib import Path
from time import monotonic
from typing import Any

from lscfg.errors import InputError
from lscfg.io import tensors
from lscfg.kernel.sample import CHECKPOINT, TreeSampler

SECONDS = 30.0
"""Between two checkpoints of a chain, at least."""


class Checkpoint:
    """The file of a chain in a folder; without a folder nothing is written.

    Args:
        made_from: digest of all that decides what the chain draws, but for the number of sweeps.
        resume: go on from what is there, if anything is.
    """

    def __init__(self, folder: Path | None, chain: int, made_from: str, resume: bool):
        self._path = folder / f"chain.{chain + 1:04}" if folder else None
        self._facts = {"lscfg": "sampler", "made from": made_from}
        self._resume = resume
        self._saved = monotonic()

    def load(self, sampler: TreeSampler) -> list[dict[str, Any]]:
        """Puts the sampler where the chain was; returns its trace so far, empty for a chain that is to begin.

        Raises:
            InputError: the file is damaged, or of other text or settings.
        """
        if self._path is None or not self._resume or not self._path.exists():
            return []
        arrays, metadata = tensors.load(self._path, "sampler", list(CHECKPOINT))
        if metadata.get("made from") != self._facts["made from"]:
            raise InputError("the checkpoint is of other text or settings; give those, or another folder", self._path)
        try:
            trace: list[dict[str, Any]] = tensors.read_json(metadata, "trace")["sweeps"]
            if [record["sweep"] for record in trace] != list(range(len(trace))) or not trace:
                raise ValueError("its trace has not all sweeps")
            sampler.restore(arrays)
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"the checkpoint is damaged: {error}; delete it and start again", self._path) from error
        return trace

    def save(self, sampler: TreeSampler, trace: list[dict[str, Any]], last: bool) -> None:
        """Writes where the chain is, if the last time was some while ago, or this is the last sweep."""
        if self._path is None or not (last or monotonic() - self._saved >= SECONDS):
            return
        tensors.save(self._path, sampler.checkpoint(), self._facts | {"trace": json.dumps({"sweeps": trace})})
        self._saved = monotonic()
