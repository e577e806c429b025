"""Layouts of array files: types and shapes, declared as in docs/reference/formats.md, and checks of values.

A fault raises a ``ValueError`` that names the array; the reader of the file adds its name and the cure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np

Layout = Mapping[str, str]
"""Arrays by name, such as ``"int32 [nodes, 4]"``.

``|`` separates interchangeable types. A dimension is a number, a name, or a name plus 1 (``trees + 1``); all dimensions
of a name are equal.
"""


def check_layout(arrays: Mapping[str, np.ndarray], layout: Layout) -> dict[str, int]:
    """Checks the arrays, and returns the sizes of the named dimensions.

    Raises:
        ValueError: an array is missing or has another type or shape, or two arrays do not fit together.
    """
    sizes: dict[str, int] = {}
    for name, declared in layout.items():
        if name not in arrays:
            raise ValueError(f"array '{name}' is missing")
        array = arrays[name]
        types, _, shape = declared.partition(" ")
        dimensions = shape.strip("[]").split(", ")
        fits = array.dtype.name in types.split("|") and array.ndim == len(dimensions)
        if not fits or not all(map(_agrees, array.shape, dimensions, [sizes] * array.ndim)):
            known = {dimension: size for dimension, size in sizes.items() if dimension in shape}
            sizes_known = "".join(f", {dimension} = {size}" for dimension, size in known.items())
            raise ValueError(f"array '{name}' is {array.dtype} {list(array.shape)}, not {declared}{sizes_known}")
    return sizes


def _agrees(size: int, dimension: str, sizes: dict[str, int]) -> bool:
    """True if a size is the declared one; the first size of a name declares it."""
    if dimension.isdigit():
        return size == int(dimension)
    name, _, more = dimension.partition(" + ")
    size -= int(more or 0)
    return size >= 0 and sizes.setdefault(name, size) == size


def arrays_below(prefix: str, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays whose names begin with a prefix, by the rest of their names."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


@contextmanager
def named_from(prefix: str) -> Iterator[None]:
    """Completes the name of the array in a fault, for checks of arrays by the ends of their names.

    Args:
        prefix: beginning of the names, such as ``boundary.``.

    Raises:
        ValueError: the block raises one; its message then contains the whole name of the array.
    """
    try:
        yield
    except ValueError as error:
        raise ValueError(str(error).replace("array '", f"array '{prefix}", 1)) from error


def check_offsets(name: str, offsets: np.ndarray, end: int) -> None:
    """Refuses offsets that do not ascend from 0 to the end.

    Raises:
        ValueError: names the array.
    """
    if offsets[0] != 0 or offsets[-1] != end or (offsets[1:] < offsets[:-1]).any():
        raise ValueError(f"array '{name}' does not ascend from 0 to {end}")


def check_range(name: str, values: np.ndarray, least: float, end: float) -> None:
    """Refuses values outside [least, end), and NaN.

    Raises:
        ValueError: names the array and a value.
    """
    if values.size and not (values.min() >= least and values.max() < end):
        wrong = values[~((values >= least) & (values < end))].flat[0]
        raise ValueError(f"array '{name}' holds {wrong}")
