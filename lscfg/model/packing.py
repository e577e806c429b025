"""Packed tensors of model files: equal tensors once, without the entries that are 0 in all of them.

Rules with equal counts share their tensor after estimation, and smoothing towards the mean of an arity leaves the same
entries at 0 in every tensor. With 16 states and 10,000 sentence pairs, 9,084 tensors of two nonterminals are 3,467
different ones, and 1,283 of 4,096 entries are used.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping

import numpy as np

from lscfg.io.layout import arrays_below, check_layout, check_range, named_from
from lscfg.io.tensors import Blocks, Spool
from lscfg.model.shared import SharedTensors

LAYOUT = {
    "index": "int32 [rules]",
    "support": "int32 [entries]",
    "values": "float32|float64 [tensors, entries]",
}
"""The arrays of one arity in a file, without ``C1.`` or ``C2.`` (docs/reference/formats.md)."""

LEAST_SAVED = 1 << 16
"""Bytes that packing must save; below that, files keep their plain form, which all versions read."""

BLOCK = 1 << 20
"""Bytes of tensors that are copied at a time."""


class PackedTensors:
    """Tensors in the form of a file, kept in a temporary file while they are collected.

    Args:
        tensors: the tensors of one arity [rules, m, ...]; blocks are computed once.
        dtype: their type in the file.
        folder: place of the temporary file.

    Raises:
        InputError: the temporary file cannot be written.
    """

    def __init__(self, tensors: np.ndarray | Blocks, dtype: np.dtype, folder: str | os.PathLike[str]):
        self.shape = tensors.shape
        self.dtype = dtype
        length = int(np.prod(tensors.shape[1:]))
        self._spool = Spool(folder, dtype.type, (length,))
        numbers: dict[bytes, int] = {}
        self._index = np.empty(tensors.shape[0], np.int32)
        used = np.zeros(length, bool)
        first = 0
        for part in tensors.parts(dtype) if isinstance(tensors, Blocks) else _blocks(tensors):
            rows = np.ascontiguousarray(part.reshape(len(part), length), dtype)
            new: list[int] = []
            for k, row in enumerate(rows):
                number = numbers.setdefault(hashlib.blake2b(row, digest_size=16).digest(), len(numbers))
                self._index[first + k] = number
                if number == self._spool.shape[0] + len(new):
                    new.append(k)
            used |= (rows[new].view(np.uint8).reshape(len(new), length, dtype.itemsize) != 0).any((0, 2))
            self._spool.append(rows[new])
            first += len(rows)
        self._support = np.nonzero(used)[0].astype(np.int32)

    @property
    def saved(self) -> int:
        """Bytes that the packed form saves."""
        plain = int(np.prod(self.shape)) * self.dtype.itemsize
        packed = self._index.nbytes + self._support.nbytes
        return plain - packed - self._spool.shape[0] * len(self._support) * self.dtype.itemsize

    def arrays(self, name: str) -> dict[str, np.ndarray | Blocks]:
        """The arrays of a file by name: the packed ones if they save enough, else the plain one."""
        if self.saved < LEAST_SAVED:
            return {name: Blocks(self.shape, lambda dtype: self._plain(), self.dtype)}
        shape = (self._spool.shape[0], len(self._support))
        values = Blocks(shape, lambda dtype: self._values(), self.dtype)
        return {f"{name}.index": self._index, f"{name}.support": self._support, f"{name}.values": values}

    def _stored(self) -> np.ndarray:
        """The different tensors, flat, mapped from the temporary file."""
        shape = self._spool.shape
        if not all(shape):
            return np.empty(shape, self.dtype)
        self._spool.file.flush()
        return np.memmap(self._spool.file, self.dtype, "r", shape=shape)

    def _values(self) -> Iterator[np.ndarray]:
        for part in _blocks(self._stored()):
            yield part[:, self._support]

    def _plain(self) -> Iterator[np.ndarray]:
        stored = self._stored()
        for rows in _blocks(self._index[:, None], max(1, stored.shape[1] * self.dtype.itemsize)):
            yield stored[rows[:, 0]].reshape(-1, *self.shape[1:])

    def close(self) -> None:
        """Frees the temporary file."""
        self._spool.close()


def _blocks(array: np.ndarray, row_bytes: int = 0) -> Iterator[np.ndarray]:
    """Parts of an array of about ``BLOCK`` bytes, by its first axis."""
    size = max(1, BLOCK // max(1, row_bytes or array[:1].nbytes))
    for first in range(0, len(array), size):
        yield array[first : first + size]


def unpack(arrays: Mapping[str, np.ndarray], name: str, shape: tuple[int, ...]) -> SharedTensors:
    """The tensors [rules, *shape] of packed arrays.

    Raises:
        ValueError: names an array that is missing or wrong.
    """
    prefix = f"{name}."
    own = arrays_below(prefix, arrays)
    with named_from(prefix):
        sizes = check_layout(own, LAYOUT)
        length = int(np.prod(shape))
        check_range("index", own["index"], 0, sizes["tensors"])
        check_range("support", own["support"], 0, length)
        if (np.diff(own["support"]) <= 0).any():
            raise ValueError("array 'support' does not ascend")
    return SharedTensors(own["index"], own["support"], own["values"], shape)
