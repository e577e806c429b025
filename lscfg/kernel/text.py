"""Rows of text with numbers, formatted by the kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from lscfg._kernel import ffi, lib
from lscfg.kernel.forest import Forest, Grammar, check_whole


@dataclass(frozen=True, eq=False)
class Strings:
    """Concatenated byte strings."""

    data: bytes
    """The bytes of all strings."""
    begin: np.ndarray
    """int64 [strings + 1]."""

    @classmethod
    def of(cls, parts: Sequence[bytes]) -> Self:
        """Concatenates a list of strings."""
        return cls(b"".join(parts), np.cumsum([0, *map(len, parts)], dtype=np.int64))

    @cached_property
    def lengths(self) -> np.ndarray:
        """Returns int64 [strings]."""
        return np.diff(self.begin)

    def view(self) -> tuple[Any, object]:
        """Returns the kernel's view, and the objects that the view points into."""
        owners = ffi.from_buffer(self.data), ffi.from_buffer("int64_t[]", self.begin)
        return ffi.new("lscfg_strings *", owners), owners


def number_strings(keys: np.ndarray, size: int, string: Callable[[int], bytes]) -> tuple[list[bytes], np.ndarray]:
    """Returns the strings of distinct keys, 0 to size - 1, and the string number of each key, int32 [keys]."""
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
    """Formats rows: a string of ``first``, a string of ``second``, values that each follow a label, and the last label.

    Args:
        which: int32 [rows] each, numbers of the strings of ``first`` and of ``second``.
        labels: one for each column, and one more.
        values: float64 [rows, columns].
        digits: maximum number of significant digits, 1 to 17; values look as in Python's ``%.{digits}g``.

    Raises:
        ValueError: a row lacks one of its strings, the number of labels is wrong, or ``digits`` is out of its range.
    """
    n, columns = values.shape
    indices = [np.ascontiguousarray(part, np.int32) for part in which]
    for index, strings in zip(indices, (first, second), strict=True):
        if index.shape != (n,) or (n and not (index.min() >= 0 and index.max() < len(strings.begin) - 1)):
            raise ValueError(f"{n} rows, but a row lacks its string")
    if len(labels.begin) != columns + 2 or not 1 <= digits <= 17:
        raise ValueError(f"{columns} columns, but {len(labels.begin) - 1} labels; or {digits} digits")
    values = np.ascontiguousarray(values, np.float64)
    room = sum(int(strings.lengths[index].sum()) for index, strings in zip(indices, (first, second), strict=True))
    longest = sum(int(strings.lengths.max(initial=0)) for strings in (first, second))
    room += (n + 1) * (len(labels.data) + columns * lib.LSCFG_NUMBER_SIZE + longest)
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
    """Returns source and target sides of all rules as JSON strings, nonterminals as in ``[X,1]`` on both."""
    return _quoted(grammar, 0), _quoted(grammar, 1)


def _quoted(grammar: Grammar, target: int) -> Strings:
    check_whole(grammar)
    begin = np.empty(len(grammar) + 1, np.int64)
    place = ffi.from_buffer("int64_t[]", begin)
    text = np.empty(lib.lscfg_grammar_quote(grammar._pointer, target, ffi.NULL, place), np.uint8)
    lib.lscfg_grammar_quote(grammar._pointer, target, ffi.from_buffer("char[]", text), place)
    return Strings(text.tobytes(), begin)


@dataclass(frozen=True, eq=False)
class Shown:
    """Contents of a forest's applications in JSON."""

    number: np.ndarray
    """int32 [n_nodes], displayed numbers of the nodes."""
    sides: tuple[Strings, Strings]
    """Sides of the grammar's rules, from ``quote_sides``."""
    marginals: np.ndarray
    """float64 [n_apps]."""
    features: np.ndarray
    """float64 [n_apps, features]."""
    digits: int
    """Maximum number of significant digits, 1 to 17."""


def print_applications(
    forest: Forest, shown: Shown, apps: np.ndarray, others: tuple[Strings, Strings], before: int
) -> bytes:
    """Formats applications as JSON: each edge begins before its first application and ends at the next edge.

    Args:
        apps: int32 [n], in ascending order.
        others: source and target sides, as JSON, of applications whose rule is not in the grammar, in their order.
        before: the open edge, -1 if there is none.

    Raises:
        ValueError: the sides in ``others`` are not as many as the applications whose rule is not in the grammar.
    """
    n_rules, rules = len(shown.sides[0].lengths), forest.app_rule[apps]
    known, n_features = rules[rules < n_rules], shown.features.shape[1]
    if any(len(sides.lengths) != len(rules) - len(known) for sides in others):
        raise ValueError(f"{len(rules) - len(known)} applications of other rules, but their sides are missing")
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
