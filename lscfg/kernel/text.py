"""Rows of text with numbers in them, as the kernel writes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from lscfg._kernel import ffi, lib
from lscfg.kernel.forest import Forest, Grammar


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

    @cached_property
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
    room += (n + 1) * (
        len(labels.data) + columns * lib.LSCFG_NUMBER_SIZE + int(first.lengths.max() + second.lengths.max())
    )
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


def quote_sides(grammar: Grammar) -> tuple[Strings, Strings]:
    """Source and target sides of all rules as JSON strings, nonterminals as in ``[X,1]`` on both."""
    return _quoted(grammar, 0), _quoted(grammar, 1)


def _quoted(grammar: Grammar, target: int) -> Strings:
    begin = np.empty(len(grammar) + 1, np.int64)
    place = ffi.from_buffer("int64_t[]", begin)
    text = np.empty(lib.lscfg_grammar_quote(grammar._pointer, target, ffi.NULL, place), np.uint8)
    lib.lscfg_grammar_quote(grammar._pointer, target, ffi.from_buffer("char[]", text), place)
    return Strings(text.tobytes(), begin)


@dataclass(frozen=True)
class Shown:
    """What is shown of a forest's applications.

    Attributes:
        number: int32 [n_nodes], of the nodes, as they are shown.
        sides: of the rules of the grammar, as of ``quote_sides``.
        marginals: float64 [n_apps]; features: float64 [n_apps, features].
        digits: most significant digits of a number, 1 to 17.
    """

    number: np.ndarray
    sides: tuple[Strings, Strings]
    marginals: np.ndarray
    features: np.ndarray
    digits: int


def print_applications(
    forest: Forest, shown: Shown, apps: np.ndarray, others: tuple[Strings, Strings], before: int
) -> bytes:
    """Applications as JSON: each edge begins before its first one, and is ended by the next.

    Args:
        apps: int32 [n], in ascending order.
        others: source and target sides, as JSON, of those whose rule the grammar does not have, in their order.
        before: the edge that is open, -1 if there is none.
    """
    n_rules, rules = len(shown.sides[0].lengths), forest.app_rule[apps]
    known, n_features = rules[rules < n_rules], shown.features.shape[1]
    if any(len(sides.lengths) != len(rules) - len(known) for sides in others):
        raise ValueError(f"{len(rules) - len(known)} applications of other rules, but their sides are not there")
    room = len(apps) * (lib.LSCFG_EDGE_SIZE + (n_features + 1) * (lib.LSCFG_NUMBER_SIZE + 1))
    room += sum(len(sides.data) for sides in others)
    room += sum(int(sides.lengths[known].sum()) for sides in shown.sides)
    number, which = (np.ascontiguousarray(array, np.int32) for array in (shown.number, apps))
    values = [np.ascontiguousarray(array, np.float64) for array in (shown.marginals, shown.features)]
    views = [sides.view() for sides in (*shown.sides, *others)]
    holder, text = ffi.new("lscfg_shown *"), np.empty(room, np.uint8)
    holder.number, holder.n_rules = ffi.from_buffer("int32_t[]", number), n_rules
    holder.sides, holder.others = ([views[k][0][0], views[k + 1][0][0]] for k in (0, 2))
    holder.marginals, holder.features = (ffi.from_buffer("double[]", array) for array in values)
    holder.n_features, holder.digits = n_features, shown.digits
    length = lib.lscfg_print_applications(
        forest.view(), holder, len(which), ffi.from_buffer("int32_t[]", which), before, ffi.from_buffer(text), room
    )
    assert length >= 0
    return text[:length].tobytes()
