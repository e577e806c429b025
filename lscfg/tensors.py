"""Safetensors files: named arrays with string metadata, written atomically, read with one clear error."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping

import numpy as np
import safetensors
import safetensors.numpy

from lscfg.errors import InputError
from lscfg.text import atomic_write


def save(path: str | os.PathLike[str], arrays: Mapping[str, np.ndarray], metadata: Mapping[str, str]) -> None:
    """Writes the arrays; equal arrays and metadata give equal bytes."""
    ordered = {name: np.ascontiguousarray(arrays[name]) for name in sorted(arrays)}
    data = safetensors.numpy.save(ordered, dict(metadata))
    with atomic_write(path, "wb") as file:
        file.write(_sorted_metadata(data))


def _sorted_metadata(data: bytes) -> bytes:
    """The file with the keys of its metadata sorted: the library's order of them changes from run to run."""
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    metadata = header.pop("__metadata__", {})
    ordered = {"__metadata__": dict(sorted(metadata.items())), **header}
    text = json.dumps(ordered, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + data[8 + length :]


def load(
    path: str | os.PathLike[str], kind: str, names: Iterable[str] | None = None
) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Arrays and metadata of a file of the given kind.

    Args:
        kind: what the file must say it is under ``lscfg`` in its metadata, such as ``"model"``.
        names: arrays wanted; all if None.

    Raises:
        InputError: the file is missing, cut off, or of another kind, or lacks an array.
    """
    try:
        with safetensors.safe_open(os.fspath(path), "numpy") as file:
            metadata = dict(file.metadata() or {})
            if metadata.get("lscfg") != kind:
                raise InputError(f"not an lscfg {kind} file, but {metadata.get('lscfg', 'something else')!r}", path)
            present = set(file.keys())
            wanted = sorted(present) if names is None else list(names)
            for name in wanted:
                if name not in present:
                    raise InputError(f"array {name!r} is missing; make the file anew", path)
            return {name: file.get_tensor(name) for name in wanted}, metadata
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror or error}", path) from error
    except safetensors.SafetensorError as error:
        raise InputError(f"not a safetensors file, or cut off ({error}); make it anew", path) from error


def kind(path: str | os.PathLike[str]) -> str:
    """What an lscfg file says it is: ``model`` or ``derivations``.

    Raises:
        InputError: it is neither.
    """
    for candidate in ("model", "derivations"):
        try:
            load(path, candidate, [])
            return candidate
        except InputError as error:
            problem = error
    raise problem
