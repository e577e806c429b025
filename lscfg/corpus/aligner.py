"""Aligners of words, each in one direction."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lscfg.kinds import Kind, Registry, SettingsT
from lscfg.settings import Declared

Links = list[tuple[int, int]]
"""Links of a sentence pair as (source position, target position)."""


SavedModel = Callable[[list[list[str]], list[list[str]]], list[Links]]
"""Finds the links of sentence pairs."""


class Aligner(Kind[SettingsT]):
    """Aligns the words of sentence pairs."""

    def align_corpus(
        self, src: list[list[str]], tgt: list[list[str]], settings: SettingsT, save: Path | None
    ) -> list[Links]:
        """Trains on sentence pairs and aligns them, with at most one link for each target word.

        Args:
            save: folder for the files of the trained model, if any.
        """
        raise NotImplementedError

    def align_text(self, src: list[list[str]], tgt: list[list[str]], saved: Path) -> list[Links] | None:
        """Aligns other text with a saved model; None: the aligner cannot be saved."""
        return None

    def open_saved(self, saved: Path) -> SavedModel:
        """Reads a saved model, whose files may then go; only for aligners that can be saved."""
        raise NotImplementedError


ALIGNERS: Registry[Aligner[Declared]] = Registry("lscfg.aligners", Aligner, "aligner")
