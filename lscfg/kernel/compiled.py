"""Compiled files: a grammar or a language model as arrays of the kernel, next to the text that they were made from.

``lscfg pack`` writes them. The readers of grammars and language models use ``FILE.compiled`` instead of FILE if it was
made from the same bytes; words, rules and scores are the same, to the last bit.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from lscfg import log
from lscfg._kernel import ffi, lib
from lscfg.io.read import file_hash
from lscfg.io.tensors import FORMAT, save
from lscfg.kernel.base import check

ENDING = ".compiled"


def compiled_file(source: str | os.PathLike[str]) -> str:
    """The place of the compiled form of a file."""
    return os.fspath(source) + ENDING


def open_compiled(source: str | os.PathLike[str], opening: Callable[[bytes, bytes, Any], int]) -> bool:
    """Opens the compiled form of a file; False, with a warning if there is one, if the text must be read.

    Args:
        opening: opens a path for the SHA-256 of the source; returns the kernel's status.

    Raises:
        InputError: the compiled file is damaged, or a file cannot be read.
    """
    path = compiled_file(source)
    if not os.path.isfile(path):  # a pipe would keep the reader waiting
        return False
    error = ffi.new("lscfg_error *")
    code = opening(os.fsencode(path), file_hash(source).encode("ascii"), error)
    check(code, error, path)
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
    save(compiled_file(source), arrays, {"lscfg": kind, "format": FORMAT, "source": file_hash(source)})


def word_arrays(words: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Words as bytes, uint8 [bytes], and their offsets, int64 [words + 1]."""
    encoded = [word.encode("utf-8") for word in words]
    return np.frombuffer(b"".join(encoded), np.uint8), np.cumsum([0, *map(len, encoded)]).astype(np.int64)
