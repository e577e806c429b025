"""``bundle.json``: the files of a bundle, with sizes and hashes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Self

from lscfg.errors import InputError, cut, quote
from lscfg.io.json_files import parse_json, write_json
from lscfg.io.read import decode_text, file_hash, read_bytes
from lscfg.version import __version__

MANIFEST = "bundle.json"
FORMAT = 1
DAMAGED = "damaged, or not written by lscfg pack; pack the system again"


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
        try:
            found = parse_json(decode_text(read_bytes(path), path))
            if found["format"] != FORMAT:
                raise InputError(f"has format {cut(found['format'])}, not {FORMAT}; pack the system again", path)
            files = {_checked_name(name, path): _packed(facts) for name, facts in found["files"].items()}
            if not isinstance(found["name"], str):
                raise TypeError
        except InputError:
            raise
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise InputError(DAMAGED, path) from error
        return cls(found["name"], files)

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
    if pure.is_absolute() or ".." in pure.parts or str(pure) != name or name in (".", MANIFEST) or "\0" in name:
        raise InputError(f"{quote(name)} is not the name of a file in the bundle; {DAMAGED}", path)
    return name


def _packed(facts: Any) -> PackedFile:
    packed = PackedFile(**facts)
    if type(packed.bytes) is not int or not isinstance(packed.sha256, str) or not isinstance(packed.role, str):
        raise TypeError
    return packed
