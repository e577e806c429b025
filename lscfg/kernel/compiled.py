"""Compiled files: a grammar or a language model as arrays of the kernel.

``lscfg pack`` writes them. The readers of grammars and language models take a compiled file instead of the text. They
also use ``FILE.compiled`` instead of FILE if it was made from the same bytes. Words, rules and scores are the same, to
the last bit.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from lscfg import log
from lscfg._kernel import ffi, lib
from lscfg.errors import InputError
from lscfg.io.narrow import narrowed
from lscfg.io.read import file_hash
from lscfg.io.tensors import COMPILED, save
from lscfg.kernel.base import check

ENDING = ".compiled"


def compiled_file(source: str | os.PathLike[str]) -> str:
    """The place of the compiled form of a file."""
    return os.fspath(source) + ENDING


def is_compiled(path: str | os.PathLike[str]) -> bool:
    """True for a compiled file, by its name."""
    return os.fspath(path).endswith(ENDING)


def open_compiled(source: str | os.PathLike[str], opening: Callable[[bytes, Any, Any], int]) -> bool:
    """Opens a compiled file, or that of a text; False, with a warning if there is one, if the text must be read.

    Args:
        opening: opens a path for the SHA-256 of the source, NULL for any; returns the kernel's status.

    Raises:
        InputError: the compiled file is damaged, or a file cannot be read.
    """
    alone = is_compiled(source)
    path = os.fspath(source) if alone else compiled_file(source)
    if not alone and not os.path.isfile(path):  # a pipe would keep the reader waiting
        return False
    error = ffi.new("lscfg_error *")
    code = opening(os.fsencode(path), ffi.NULL if alone else file_hash(source).encode("ascii"), error)
    check(code, error, path)
    if alone and code == lib.LSCFG_OTHER_SOURCE:
        raise InputError("made by another version of lscfg; pack the system again", path)
    if code == lib.LSCFG_OTHER_SOURCE:
        log.warning(f"{path}: made from another file or version, so {source} is read instead; pack the system again")
    return bool(code == lib.LSCFG_OK)


def save_compiled(source: str | os.PathLike[str], kind: str, arrays: Mapping[str, np.ndarray]) -> None:
    """Writes the compiled form of a file.

    Args:
        kind: ``grammar`` or ``ngrams``.

    Raises:
        InputError: a file cannot be read or written.
    """
    save(compiled_file(source), narrowed(arrays), {"lscfg": kind, "format": COMPILED, "source": file_hash(source)})


def word_arrays(words: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Words as bytes, uint8 [bytes], and their offsets, int64 [words + 1]."""
    encoded = [word.encode("utf-8") for word in words]
    return np.frombuffer(b"".join(encoded), np.uint8), np.cumsum([0, *map(len, encoded)]).astype(np.int64)
