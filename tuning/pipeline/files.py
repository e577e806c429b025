"""The files of a fitted pipeline: its bundle, which copies and pickles hold or name."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from lscfg.api.opened import absolute
from lscfg.bundle.manifest import Manifest
from lscfg.bundle.pack import check_replaced_bundle, pack
from lscfg.bundle.places import MANIFEST
from lscfg.bundle.system import TranslationSystem, open_bundle
from lscfg.decode.memory import JOURNAL
from lscfg.errors import InputError
from lscfg.io.folders import make_folder, replaced_folder
from lscfg.io.read import file_hash
from lscfg.io.write import copy_file
from lscfg.parallel.temporary import TemporaryFolder

BUNDLE = "bundle"
"""Folder of the bundle in a work folder."""


class Bundle:
    """The bundle of a pipeline. Copies and pickles of a temporary bundle contain its files; those of another, its path.

    Args:
        folder: the folder of the bundle.
        owner: the temporary folder that contains it, if any.
    """

    def __init__(self, folder: Path, owner: TemporaryFolder | None = None):
        self.folder, self._owner = folder, owner
        self._made = ""  # hash of the manifest of a bundle that a later fit may replace

    @classmethod
    def packed(cls, system: Path, preparation: Path, kept: Path | None) -> Bundle:
        """Packs a system, into a temporary folder unless ``kept`` names another; see ``lscfg.bundle.pack.pack``."""
        made = cls._temporary() if kept is None else cls(kept.absolute())
        pack(system, made.folder, prepare=preparation)
        made._made = file_hash(made.folder / MANIFEST)
        return made

    @classmethod
    def found(cls, folder: Path) -> Bundle:
        """The bundle in a folder.

        Raises:
            InputError: the folder contains no bundle.
        """
        bundle = cls(folder)
        bundle._made = file_hash(folder / MANIFEST)
        return bundle

    def _check_own(self) -> None:
        if self._made and file_hash(self.folder / MANIFEST) != self._made:
            raise InputError("was replaced, as by a later fit; give each pipeline another folder", self.folder)

    @classmethod
    def _temporary(cls) -> Bundle:
        owner = TemporaryFolder()
        return cls(owner.path / BUNDLE, owner)

    def system(self) -> TranslationSystem:
        """The open system; see ``open_bundle``.

        Raises:
            InputError: the bundle cannot be opened, or another one took its place.
        """
        self._check_own()
        return open_bundle(self.folder)

    def copy(self, path: Path, journal: bytes) -> None:
        """Writes the bundle under another name, and a journal of corrections next to it if there are any.

        Raises:
            InputError: the folder cannot be written, or contains more than a bundle and the journal's beginning, or
                another bundle took the place of this one.
        """
        self._check_own()
        check_replaced_bundle(path, besides=(JOURNAL,) if journal.startswith(kept_journal(path)) else ())
        manifest = Manifest.read(self.folder)
        with replaced_folder(path, MANIFEST) as folder:
            for name in manifest.files:
                make_folder((folder / name).parent)
                copy_file(self.folder / name, folder / name)
            Manifest(path.absolute().name, manifest.files).write(folder)
            open_bundle(folder)
            if journal:
                (folder / JOURNAL).write_bytes(journal)

    def __reduce__(self) -> tuple[Any, ...]:
        self._check_own()
        if self._owner is None:
            return _found_bundle, (absolute(str(self.folder)), self._made)
        names = [MANIFEST, *Manifest.read(self.folder).files]
        return _unpickled_bundle, ({name: (self.folder / name).read_bytes() for name in names},)


def kept_journal(folder: Path) -> bytes:
    """The journal of corrections in a folder; empty if there is none.

    Raises:
        InputError: the journal cannot be read.
    """
    path = folder / JOURNAL
    try:
        return path.read_bytes() if os.path.lexists(path) else b""
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror or error}", path) from error


def _found_bundle(folder: str, sha256: str) -> Bundle:
    """The bundle that was pickled by its path.

    Raises:
        InputError: the bundle is missing or has changed.
    """
    bundle = Bundle.found(Path(folder))
    if bundle._made != sha256:
        raise InputError("has changed since the pipeline was pickled; fit and pickle again", folder)
    return bundle


def _unpickled_bundle(files: dict[str, bytes]) -> Bundle:
    bundle = Bundle._temporary()
    for name, content in files.items():
        make_folder((bundle.folder / name).parent)
        (bundle.folder / name).write_bytes(content)
    return bundle
