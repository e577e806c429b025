"""Files of trained aligners: the output of both directions' programs as arrays of bytes (docs/reference/formats.md)."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from lscfg.corpus.aligner import ALIGNERS
from lscfg.corpus.thot import written_files
from lscfg.errors import InputError, quote
from lscfg.io.tensors import FORMAT, load, metadata_json, save
from lscfg.settings import Declared

# A hash protects saved aligners, because sil-thot reads its files without checks and crashes on damaged ones. A saved
# aligner aligns each pair by itself: on ja-en, dev then shares 86 % of its links (F1) with dev aligned together with
# the training text, as much as two seeds of the joint alignment share.

DIRECTIONS = ("direct", "inverse")

_NAME = re.compile(rf"(?:{'|'.join(DIRECTIONS)})/\w+(?:\.\w+)*")


def check_can_be_saved(aligner: str) -> None:
    """Refuses an aligner that has no parameters to save.

    Raises:
        InputError: it names the aligners that can be saved.
    """
    able = ALIGNERS.overriding("align_text")
    if aligner not in able:
        raise InputError(
            f"the aligner {aligner} cannot be saved, since it aligns its training text only; {', '.join(able)} can"
        )


def save_aligner(path: str | os.PathLike[str], aligner: str, settings: Declared, folder: Path) -> None:
    """Writes the files that the aligner left in ``folder/direct`` and ``folder/inverse`` as one.

    Raises:
        InputError: see ``written_files``.
    """
    from importlib.metadata import version

    arrays = {
        f"{direction}/{file.name}": np.frombuffer(file.read_bytes(), np.uint8)
        for direction in DIRECTIONS
        for file in written_files(folder / direction)
    }
    metadata = {
        "lscfg": "aligner",
        "format": FORMAT,
        "aligner": aligner,
        "settings": json.dumps(settings.facts(), sort_keys=True),
        "sil-thot": version("sil-thot"),
        "sha256": _hash(arrays),
    }
    save(path, arrays, metadata)


def unpack_aligner(path: str | os.PathLike[str], folder: Path) -> str:
    """Writes the aligner's files into ``folder/direct`` and ``folder/inverse``; returns its kind.

    The programs that read these files do not check them, so this function refuses a file whose content changed.

    Raises:
        InputError: the file cannot be read, is not an aligner, or is damaged (if a check of its content fails, the
            ValueError of this check is the cause); the folder cannot be written.
    """
    arrays, metadata = load(path, "aligner")
    aligner = metadata.get("aligner", "")
    try:
        metadata_json(metadata, "settings")
        for name, array in arrays.items():
            if not _NAME.fullmatch(name) or array.dtype != np.uint8 or array.ndim != 1:
                raise ValueError(f"array {quote(name)} does not belong to an aligner")
        if metadata.get("sha256") != _hash(arrays):
            raise ValueError("its content differs from what was written")
    except ValueError as error:
        raise InputError(f"not a whole aligner: {error}; make it again with lscfg align --save", path) from error
    if aligner not in ALIGNERS:
        raise InputError(
            f"comes from the unknown aligner {quote(aligner)}; known aligners: {', '.join(ALIGNERS)}", path
        )
    check_can_be_saved(aligner)
    try:
        for direction in DIRECTIONS:
            (folder / direction).mkdir()
        for name, array in arrays.items():
            (folder / name).write_bytes(array.tobytes())
    except OSError as error:
        cure = "free some room, or set TMPDIR to a folder with more"
        raise InputError(f"cannot unpack the aligner {path} ({error.strerror}); {cure}", folder) from None
    return aligner


def _hash(arrays: Mapping[str, np.ndarray]) -> str:
    """SHA-256 over names and bytes."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].size}\n".encode())
        digest.update(arrays[name].tobytes())
    return digest.hexdigest()
