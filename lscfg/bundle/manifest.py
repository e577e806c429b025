"""``bundle.json``: the files of a bundle, with sizes and hashes."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Self, TypedDict

from lscfg.bundle.places import MANIFEST
from lscfg.errors import InputError, quote
from lscfg.io.json_files import COUNT, read_json, write_json
from lscfg.io.read import file_hash
from lscfg.version import __version__

FORMAT = 1
CURE = "pack the system again"
_UNSHOWN = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\u2028-\\u202e\\u2066-\\u2069]")
"""Control characters, which could change what a terminal shows."""


class PackedFacts(TypedDict):
    """A file of a bundle."""

    role: str
    bytes: COUNT
    sha256: str


class ManifestFacts(TypedDict):
    """Shape of ``bundle.json``."""

    format: int
    name: str
    lscfg: str
    files: dict[str, PackedFacts]


@dataclass(frozen=True)
class PackedFile:
    """A file of a bundle: its role, its size in bytes and its SHA-256."""

    role: str
    bytes: int
    sha256: str

    @classmethod
    def of(cls, role: str, path: Path) -> Self:
        """The description of an existing file.

        Raises:
            InputError: the file cannot be read.
        """
        return cls(role, path.stat().st_size, file_hash(path))


@dataclass(frozen=True)
class Manifest:
    """The content of a bundle."""

    name: str
    """Name of the system, for people."""
    files: Mapping[str, PackedFile]
    """All files except ``bundle.json``, by their paths in the folder, with ``/`` between parts."""

    def write(self, folder: Path) -> None:
        """Writes ``bundle.json``; equal files give equal bytes."""
        files = {name: vars(self.files[name]) for name in sorted(self.files)}
        write_json(folder / MANIFEST, {"format": FORMAT, "name": self.name, "lscfg": __version__, "files": files})

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Reads the manifest of a bundle, but not its files.

        Raises:
            InputError: the manifest is missing, damaged or of another format, or names a file outside the folder.
        """
        path = folder / MANIFEST
        if path.is_symlink():
            raise InputError("is a link; a bundle must hold the file itself", path)
        found = read_json(path, ManifestFacts, CURE, FORMAT)
        if not found["name"] or _UNSHOWN.search(found["name"]):
            raise InputError(f"{quote(found['name'])} is not the name of a system; {CURE}", path)
        return cls(
            found["name"], {_checked_name(name, path): PackedFile(**one) for name, one in found["files"].items()}
        )

    def check(self, folder: Path) -> None:
        """Compares all files with the manifest.

        Raises:
            InputError: a file is missing, is a link or not a regular file, or has another size or hash.
        """
        root = folder.resolve()
        for name, packed in self.files.items():
            path = folder / name
            if path.resolve() != root / name:
                raise InputError("is a link, or below one; a bundle must hold the file itself", path)
            if not path.is_file():
                raise InputError("is missing from the bundle; copy the bundle again", path)
            size = path.stat().st_size
            if size != packed.bytes:
                raise InputError(f"has {size} bytes, not {packed.bytes}; copy the bundle again", path)
            if file_hash(path) != packed.sha256:
                raise InputError(f"has another SHA-256 than in {MANIFEST}; copy the bundle again", path)


def _checked_name(name: str, path: str | os.PathLike[str]) -> str:
    """Checks that a name is a path below the folder in its shortest form."""
    pure = PurePosixPath(name)
    unusual = pure.is_absolute() or ".." in pure.parts or str(pure) != name or _UNSHOWN.search(name)
    if unusual or name in (".", MANIFEST):
        raise InputError(f"{quote(name)} is not the name of a file in the bundle; {CURE}", path)
    return name
