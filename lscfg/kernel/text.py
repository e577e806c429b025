"""Rows of text with numbers in them, as the kernel writes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from lscfg._kernel import ffi, lib

LONGEST = 32
"""Bytes that a number may need."""


@dataclass(frozen=True)
class Strings:
    """Byte strings, one behind the other.

    Attributes:
        data: all of them; begin: int64 [strings + 1].
    """

    data: bytes
    begin: np.ndarray

    @classmethod
    def of(cls, parts: Sequence[bytes]) -> Self:
        """The strings of a list."""
        return cls(b"".join(parts), np.cumsum([0, *map(len, parts)], dtype=np.int64))

    @property
    def lengths(self) -> np.ndarray:
        """int64 [strings]."""
        return np.diff(self.begin)

    def view(self) -> tuple[Any, Any]:
        """The kernel's view, and what it points into."""
        owners = ffi.from_buffer(self.data), ffi.from_buffer("int64_t[]", self.begin)
        return ffi.new("lscfg_strings *", owners), owners


def number_strings(keys: np.ndarray, size: int, string: Callable[[int], bytes]) -> tuple[list[bytes], np.ndarray]:
    """The strings of distinct keys, which are 0 to size - 1, and which of them each key has, int32 [keys]."""
    number = np.zeros(size, np.int32)
    number[keys] = 1
    found = np.flatnonzero(number)
    number[found] = np.arange(len(found))
    return [string(key) for key in found.tolist()], number[keys]


def print_rows(
    first: Strings,
    second: Strings,
    which: tuple[np.ndarray, np.ndarray],
    labels: Strings,
    values: np.ndarray,
    digits: int,
) -> bytes:
    """For each row a string of ``first``, one of ``second``, and its values, each behind a label; then the last label.

    Args:
        which: int32 [rows] each, numbers of the strings of ``first`` and of ``second``.
        labels: one for each column, and one more.
        values: float64 [rows, columns].
        digits: most significant digits of a value, 1 to 17; values look as in Python's ``%.{digits}g``.
    """
    n, columns = values.shape
    indices = [np.ascontiguousarray(part, np.int32) for part in which]
    for index, strings in zip(indices, (first, second), strict=True):
        if index.shape != (n,) or (n and not (index.min() >= 0 and index.max() < len(strings.begin) - 1)):
            raise ValueError(f"{n} rows, but a string for each is not there")
    if len(labels.begin) != columns + 2 or not 1 <= digits <= 17:
        raise ValueError(f"{columns} columns, but {len(labels.begin) - 1} labels; or {digits} digits")
    values = np.ascontiguousarray(values, np.float64)
    room = sum(int(strings.lengths[index].sum()) for index, strings in zip(indices, (first, second), strict=True))
    room += (n + 1) * (len(labels.data) + columns * LONGEST + int(first.lengths.max() + second.lengths.max()))
    text = np.empty(room, np.uint8)
    views = [strings.view() for strings in (first, second, labels)]
    pointers = [ffi.from_buffer("int32_t[]", index) for index in indices]
    both = ffi.new("int32_t *[2]", pointers)
    length = lib.lscfg_print_rows(
        n, views[0][0], views[1][0], both, views[2][0], columns, ffi.from_buffer("double[]", values), digits,
        ffi.from_buffer(text), room,
    )  # fmt: skip
    assert length >= 0
    return text[:length].tobytes()
