"""Safetensors files: named arrays with string metadata, written atomically, read with one clear error."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import safetensors

from lscfg.errors import InputError
from lscfg.text import atomic_write


@dataclass(frozen=True)
class Blocks:
    """A float64 array that is made block by block while it is written, so that it never lies in memory as a whole.

    Attributes:
        shape: of the whole array.
        parts: gives blocks of the first axis in order; a block is used up before the next one is asked for.
    """

    shape: tuple[int, ...]
    parts: Callable[[], Iterator[np.ndarray]]

    @property
    def dtype(self) -> np.dtype:
        """Always float64."""
        return np.dtype(np.float64)

    @property
    def nbytes(self) -> int:
        """Bytes of the whole array."""
        return math.prod(self.shape) * self.dtype.itemsize

    def array(self) -> np.ndarray:
        """The whole array."""
        whole, first = np.empty(self.shape), 0
        for part in self.parts():
            whole[first : first + len(part)] = part
            first += len(part)
        return whole


_TYPES = {"int64": "I64", "float64": "F64", "int32": "I32", "float32": "F32", "uint8": "U8"}
"""Names that the format gives to the types that lscfg's files hold, those of the strictest alignment first."""


def save(path: str | os.PathLike[str], arrays: Mapping[str, np.ndarray | Blocks], metadata: Mapping[str, str]) -> None:
    """Writes the arrays; equal arrays and metadata give equal bytes.

    The arrays go to the file one after the other, as they lie in memory: the library would first build the whole file
    as one string, which for a large model takes longer than to estimate it, and puts metadata in no order.
    """
    types = list(_TYPES)
    order = sorted(arrays, key=lambda name: (types.index(arrays[name].dtype.name), name))
    header: dict[str, object] = {"__metadata__": dict(sorted(metadata.items()))}
    end = 0
    for name in order:
        array = arrays[name]
        begin, end = end, end + array.nbytes
        kind = _TYPES[array.dtype.name]
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [begin, end]}
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    text += b" " * (-len(text) % 8)
    with atomic_write(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for name in order:
            given = arrays[name]
            for part in given.parts() if isinstance(given, Blocks) else (given,):
                values = np.ascontiguousarray(part)
                if sys.byteorder == "big":
                    values = values.byteswap()
                file.write(values.reshape(-1).view(np.uint8).data)


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
