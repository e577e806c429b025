"""Checkpoint files: a killed run continues from one and ends with the same bytes."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lscfg.errors import InputError
from lscfg.io import tensors


@dataclass(frozen=True)
class CheckpointFile:
    """The file of an unfinished run."""

    path: Path
    kind: str
    """Value of ``lscfg`` in the metadata."""
    made_from: str
    """Digest of everything that the run depends on."""
    sources: str = "text or settings"
    """Name of these things, for messages."""
    key: str = "state"
    """Key of the facts in the metadata."""

    def save(self, arrays: Mapping[str, np.ndarray], facts: Mapping[str, object]) -> None:
        """Writes arrays, and facts that JSON can hold."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        metadata = {"lscfg": self.kind, "made from": self.made_from, self.key: json.dumps(facts)}
        tensors.save(self.path, arrays, metadata)

    @contextmanager
    def load(self, names: Collection[str] | None = None) -> Iterator[tuple[dict[str, np.ndarray], dict[str, Any]]]:
        """Reads arrays and facts, which the caller checks in the block; see ``checked``.

        Args:
            names: names of the arrays; None: all.

        Raises:
            InputError: the file is missing or damaged, or belongs to another run.
        """
        arrays, metadata = tensors.load(self.path, self.kind, names)
        if metadata.get("made from") != self.made_from:
            raise InputError(f"the checkpoint belongs to other {self.sources}; use those, or another folder", self.path)
        with self.checked():
            yield arrays, tensors.metadata_json(metadata, self.key)

    @contextmanager
    def checked(self) -> Iterator[None]:
        """Reports a ValueError of the block as damage of the file.

        Raises:
            InputError: the block raised a ValueError.
        """
        try:
            yield
        except ValueError as error:
            raise InputError(f"the checkpoint is damaged: {error}; delete it and start again", self.path) from error
