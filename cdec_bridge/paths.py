"""Paths in a cdec.ini, which cdec resolves from its working directory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from lscfg.errors import InputError, quote
from lscfg.io.read import read_lines
from lscfg.kernel.compiled import is_compiled


def check_paths(ini: str | os.PathLike[str], folder: str | os.PathLike[str] = os.curdir) -> None:
    """Refuses a configuration with files that cdec does not find.

    Args:
        folder: working directory of cdec.

    Raises:
        InputError: a file is missing; by key and line.
    """
    own = Path(ini).resolve().parent
    for number, key, value in _settings(ini):
        for path in _paths(key.rstrip("23"), value):
            if not (Path(folder) / path).exists():
                cure = f"run the command in {own}" if (own / path).exists() else "correct the path"
                place = Path(folder).resolve()
                raise InputError(f"{key}: no file {quote(path)} in {place}, where cdec runs; {cure}", ini, number)
            if is_compiled(path):
                raise InputError(f"{key}: cdec cannot read {quote(path)}; pack the system with --texts", ini, number)


def check_latent_lines(ini: str | os.PathLike[str]) -> None:
    """Refuses a configuration whose latent features are those of lscfg's own decoder, on which cdec would abort.

    Raises:
        InputError: a line names no library for latent features.
    """
    for number, key, value in _settings(ini):
        if key.rstrip("23") == "feature_function" and value.split()[:1] == ["LSCFG"]:
            cure = "write External and the path of lscfg's library instead of LSCFG, as lscfg init --library does"
            raise InputError(f"{key}: only lscfg's own decoder reads this line; {cure}", ini, number)


def working_directory(ini: str | os.PathLike[str]) -> Path | None:
    """The folder from which all paths of the configuration count, if not the working directory."""
    own = Path(ini).resolve().parent
    for folder in (Path(os.curdir), own):
        try:
            check_paths(ini, folder)
        except InputError:
            continue
        return None if folder.resolve() == Path.cwd().resolve() else own
    return None


def _settings(ini: str | os.PathLike[str]) -> Iterator[tuple[int, str, str]]:
    """Number, key and value of each line."""
    for number, line in enumerate(read_lines(ini), 1):
        key, _, value = (part.strip() for part in line.split("#", 1)[0].partition("="))
        yield number, key, value


def _paths(key: str, value: str) -> Iterator[str]:
    """Files that a setting names; a library without a slash is looked for elsewhere."""
    name, *arguments = value.split() or [""]
    if key in ("grammar", "weights") and value not in ("", "-"):
        yield value
    elif key == "feature_function" and name == "KLanguageModel":
        yield from arguments[-1:]
    elif key == "feature_function" and name == "External":
        yield from (library for library in arguments[:1] if "/" in library)
        yield from (path for word in arguments for start, _, path in [word.partition("=")] if start == "model" and path)
