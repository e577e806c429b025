"""A saved aligner that stays open, for single pairs of sentences."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from lscfg.corpus.align import symmetrised
from lscfg.corpus.aligner import ALIGNERS, Links, SavedModel
from lscfg.corpus.saved import DIRECTIONS, unpack_aligner
from lscfg.errors import InputError, KernelError

HEURISTIC = "grow-diag-final-and"


class OpenAligner:
    """An aligner of ``lscfg align --save``, read by ``warm`` or at its first use, and then kept in memory."""

    def __init__(self, path: str | os.PathLike[str]):
        self._path = path
        self._models: list[SavedModel] = []

    def __call__(self, source: Sequence[str], target: Sequence[str]) -> Links:
        """The links of a pair of sentences, joined by ``HEURISTIC``.

        Raises:
            InputError: the file cannot be read, is not an aligner, or is damaged.
        """
        self.warm()
        direct, inverse = self._models
        ways = direct([[*source]], [[*target]])[0], inverse([[*target]], [[*source]])[0]
        return symmetrised(*ways, (len(source), len(target)), HEURISTIC)

    def warm(self) -> None:
        """Reads the aligner.

        Raises:
            InputError: see ``__call__``.
        """
        if not self._models:
            self._models = self._open()

    def _open(self) -> list[SavedModel]:
        with TemporaryDirectory(prefix="lscfg-") as name:
            kind = unpack_aligner(self._path, Path(name))
            try:
                return [ALIGNERS[kind].open_saved(Path(name) / direction) for direction in DIRECTIONS]
            except KernelError as error:
                raise InputError(f"{error}; train it again with this version of sil-thot", self._path) from error
