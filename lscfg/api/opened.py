"""The files behind an object, so that a copy in another process opens the same content."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from lscfg.errors import InputError
from lscfg.formats.ini import IniFile
from lscfg.io.read import file_hash


class OpenedFiles:
    """Files as they were when an object opened them.

    Args:
        paths: the files; for a decoder's configuration, also the files that it names.

    Raises:
        InputError: a file cannot be read.
    """

    def __init__(self, paths: Iterable[str]):
        every = [file for path in paths for file in (IniFile(path).files() if path.endswith(".ini") else [path])]
        self._found = {absolute(path): _state(path) for path in every}

    def hashes(self) -> dict[str, str]:
        """SHA-256 of each file, in hexadecimal, by its path from the root of the file system.

        Raises:
            InputError: a file has changed since it was opened, or cannot be read.
        """
        for path, found in self._found.items():
            if _state(path) != found:
                raise InputError("has changed since the object opened it; open it again", path)
        return {path: _hash(path, *found) for path, found in self._found.items()}


def reopened(kind: Callable[..., Any], hashes: Mapping[str, str], *arguments: Any) -> Any:
    """The counterpart of ``__reduce__`` for what is opened from files.

    Raises:
        InputError: a file is missing or has changed since the object was pickled.
    """
    for path, sha256 in hashes.items():
        if _hash(path, *_state(path)) != sha256:
            raise InputError("has changed since the object was pickled; open the file and pickle again", path)
    return kind(*arguments)


def absolute(path: str) -> str:
    """The path from the root of the file system, which other processes understand."""
    return str(Path(path).absolute())


def _state(path: str) -> tuple[int, int]:
    """Size in bytes, and time of the last change in nanoseconds.

    Raises:
        InputError: the file cannot be read.
    """
    try:
        found = os.stat(path)
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror or error}", path) from error
    return found.st_size, found.st_mtime_ns


@lru_cache(maxsize=64)
def _hash(path: str, size: int, changed: int) -> str:
    """SHA-256 of a file in that state; a large one is read once, however often a pool pickles its object."""
    return file_hash(path)
