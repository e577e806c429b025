"""The files behind an object, so that a copy in another process opens the same content."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from lscfg.bundle.system import latent_model, with_model
from lscfg.errors import InputError
from lscfg.formats.ini import DecoderConfig, find_file, read_ini
from lscfg.formats.segments import read_segment, sentence_id
from lscfg.io.read import file_hash


class FileState(NamedTuple):
    """A file at one time."""

    size: int
    """In bytes."""
    changed: int
    """Time of the last change in nanoseconds."""

    @classmethod
    def of(cls, path: str) -> FileState:
        """Raises an InputError if the file cannot be read."""
        try:
            found = os.stat(path)
        except OSError as error:
            raise InputError(f"cannot read: {error.strerror or error}", path) from error
        if stat.S_ISDIR(found.st_mode):
            raise InputError(f"cannot read: {os.strerror(errno.EISDIR)}", path)
        return cls(found.st_size, found.st_mtime_ns)


class OpenedFiles:
    """Files as they were when an object opened them.

    Args:
        paths: the files.

    Raises:
        InputError: a file cannot be read.
    """

    def __init__(self, paths: Iterable[str | os.PathLike[str]]):
        self._states = {absolute(path): FileState.of(os.fspath(path)) for path in paths}

    @property
    def paths(self) -> set[str]:
        """Paths from the root of the file system."""
        return {*self._states}

    def check_unchanged(self) -> None:
        """Refuses files that later reading would find different.

        Raises:
            InputError: a file was written since it was opened, or cannot be read.
        """
        for path, found in self._states.items():
            if FileState.of(path) != found:
                raise InputError("was written after the object had opened it; open it again", path)

    def contents(self) -> dict[str, tuple[FileState, str]]:
        """State and SHA-256, in hexadecimal, of each file by its path from the root of the file system.

        Raises:
            InputError: see ``check_unchanged``.
        """
        self.check_unchanged()
        return {path: (found, _hash(path, found)) for path, found in self._states.items()}


def files_of_config(config: str) -> list[str | os.PathLike[str]]:
    """A decoder's configuration, and the grammars and models that it names.

    Raises:
        InputError: see ``read_ini``; the latent model does not exist.
    """
    found = read_ini(config)
    models = [path for one in found.models for path in (one.path, one.classes) if path is not None]
    latent = latent_model(found)
    return [config, *found.grammars, *models, *([] if latent is None else [latent])]


def absolute_config(path: str) -> DecoderConfig:
    """The configuration in an ini file with paths from the root of the file system, for readers at any later time.

    Raises:
        InputError: see ``files_of_config``.
    """
    found = read_ini(path)
    latent = latent_model(found)
    return replace(
        found.with_models(Path.absolute),
        grammars=tuple(map(Path.absolute, found.grammars)),
        latent=None if latent is None or found.latent is None else with_model(found.latent, latent.absolute()),
        weights=None if found.weights is None else found.weights.absolute(),
        path=Path(path).absolute(),
    )


def absolute_segment(line: str, ini: str | os.PathLike[str]) -> str:
    """The line with absolute paths of the grammars that it names, for workers in other folders; its id stays.

    Args:
        ini: the configuration, in whose folder the grammars may lie.

    Raises:
        InputError: the segment is malformed, or a path contains characters that a line cannot name.
    """
    segment = read_segment(line)
    if segment is None or not segment.grammars:
        return line
    number = sentence_id(line, -1)
    attributes = [] if number < 0 else [f'id="{number}"']
    for place, name in enumerate(segment.grammars):
        found = find_file(name, ini)
        path = name if found is None else absolute(found)  # the decoder reports a missing file
        if {*path} & {*'"<>'} or path.endswith("'"):
            raise InputError("a line cannot name a path with quotes or angle brackets; rename the file or folder", path)
        attributes.append(f'grammar{place or ""}="{path}"')
    return f"<seg {' '.join(attributes)}>{segment.text}</seg>"


def reopened(kind: Callable[..., Any], contents: Mapping[str, tuple[FileState, str]], *arguments: Any) -> Any:
    """The counterpart of ``__reduce__`` for what is opened from files. An untouched file is not read for its hash.

    Raises:
        InputError: a file is missing or has changed since the object was pickled, or the configuration names another
            file here.
    """
    for path, (found, sha256) in contents.items():
        state = FileState.of(path)
        if state != found and _hash(path, state) != sha256:
            raise InputError("has changed since the object was pickled; open the file and pickle again", path)
    made = kind(*arguments)
    if others := {*map(os.path.realpath, made._files.paths)} ^ {*map(os.path.realpath, contents)}:
        raise InputError("is named here, but not where the object was pickled, or conversely", min(others))
    return made


def absolute(path: str | os.PathLike[str]) -> str:
    """The path from the root of the file system, which other processes understand."""
    return str(Path(path).absolute())


@lru_cache(maxsize=64)
def _hash(path: str, state: FileState) -> str:
    """SHA-256 of a file in that state; a large one is read once, however often a pool pickles its object."""
    return file_hash(path)
