"""Arrays of a file in fewer bytes than their readers take; ``plugin/base/safetensors.h`` describes the forms.

Every form is exact: ``widened`` returns the same values and types.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

BIAS = 16
"""Added to numbers that may be negative, such as nonterminals of rules."""

MOST_BYTES = 3
LEAST_SIZE = 64
"""Smaller arrays stay as they are."""

INTEGERS, SIGNED, LENGTHS, WHICH, TABLE = ".int32", ".signed32", ".lengths", ".which", ".table"


def narrowed(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays, each in the form that takes the fewest bytes.

    Raises:
        ValueError: a name ends as those of narrow arrays do.
    """
    found: dict[str, np.ndarray] = {}
    for name, array in arrays.items():
        if name.endswith((INTEGERS, SIGNED, LENGTHS, WHICH, TABLE)):
            raise ValueError(f"array '{name}' has a name of a narrow array; rename it")
        found |= _narrowed(name, array)
    return found


def _narrowed(name: str, array: np.ndarray) -> dict[str, np.ndarray]:
    same = {name: array}
    if array.size < LEAST_SIZE or array.ndim > 3 or (array.ndim > 1 and array.shape[-1] == MOST_BYTES):
        return same  # the last would look like numbers of three bytes
    if array.dtype == np.int32:
        least = int(array.min())
        if least < -BIAS:
            return same
        suffix, bias = (INTEGERS, 0) if least >= 0 else (SIGNED, BIAS)
        codes = coded(array.astype(np.int64) + bias)
        return same if codes is None else {name + suffix: codes}
    if array.ndim > 1:
        return same
    if array.dtype == np.int64:
        lengths = np.diff(array)
        codes = coded(lengths) if not array[0] and lengths.min() >= 0 else None
        return same if codes is None else {name + LENGTHS: codes}
    if array.dtype in (np.float32, np.float64):
        bits = array.view(f"i{array.itemsize}")
        table, which = np.unique(bits, return_inverse=True)  # every bit counts
        codes = coded(which)
        if codes is not None and codes.nbytes + table.nbytes < array.nbytes:
            return {name + WHICH: codes, name + TABLE: table.view(array.dtype)}
    return same


def coded(values: np.ndarray) -> np.ndarray | None:
    """Numbers of 0 or more in one, two or three bytes, three as a last axis; None if they need more."""
    most = int(values.max(initial=0))
    if most < 1 << 8:
        return values.astype(np.uint8)
    if most < 1 << 16:
        return values.astype(np.uint16)
    if most >= 1 << 24:
        return None
    return np.stack([(values >> shift & 255).astype(np.uint8) for shift in (0, 8, 16)], axis=-1)


def widened(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays as they were before ``narrowed``.

    Raises:
        ValueError: a position lies outside its table.
    """
    found = {}
    for name, array in arrays.items():
        stem, dot, ending = name.rpartition(".")
        form = dot + ending
        if form in (INTEGERS, SIGNED):
            found[stem] = _numbers(array).astype(np.int32) - np.int32(BIAS if form == SIGNED else 0)
        elif form == LENGTHS:
            found[stem] = np.concatenate([[0], np.cumsum(_numbers(array), dtype=np.int64)])
        elif form == WHICH and stem + TABLE in arrays:
            which, table = _numbers(array), arrays[stem + TABLE]
            if which.size and which.max() >= len(table):
                raise ValueError(f"array '{name}' has a position outside '{stem}{TABLE}'")
            found[stem] = table[which]
        elif form != TABLE or stem + WHICH not in arrays:
            found[name] = array
    return found


def _numbers(array: np.ndarray) -> np.ndarray:
    """The numbers of one, two or three bytes."""
    if array.dtype != np.uint8 or array.ndim < 2 or array.shape[-1] != MOST_BYTES:
        return array
    low, middle, high = np.moveaxis(array.astype(np.int32), -1, 0)
    whole: np.ndarray = low | middle << 8 | high << 16
    return whole
