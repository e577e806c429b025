"""Checks of arguments: a wrong one raises an error that gives the name of the argument and the cure."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, KeysView, Mapping, Sequence, Set
from numbers import Integral, Real
from typing import Any

from lscfg.errors import InputError, cut, quote
from lscfg.settings import LARGEST, file_name

_HALF = re.compile("[\ud800-\udfff]")


def brief(value: object) -> str:
    """A value for a message, in one short line."""
    kind = type(value).__name__
    return f"{quote(repr(value))[1:-1]} ({kind})" if isinstance(value, (str, bytes, int, float)) else kind


def check_text(value: Any, name: str) -> str:
    """A text of characters.

    Raises:
        TypeError: the value is not a string.
        InputError: the text contains half of a surrogate pair.
    """
    if not isinstance(value, str):
        hint = "; decode the bytes as UTF-8" if isinstance(value, bytes) else ""
        hint = '; join the words by blanks, as " ".join(words)' if isinstance(value, (list, tuple)) else hint
        raise TypeError(f"{name} must be a string, not {brief(value)}{hint}")
    if _HALF.search(value):
        raise InputError(
            f"{name} contains half of a surrogate pair, which is not a character ({quote(value)}); decode it as UTF-8"
        )
    return value


def check_lines(value: Any, name: str) -> list[str]:
    """The lines of a text without their newlines.

    Raises:
        TypeError: the value is one string, is not an iterable, or holds anything but strings.
        InputError: a line contains half of a surrogate pair.
    """
    if isinstance(value, str):
        raise TypeError(f"{name} must be a list of lines, not one string; give [line], or text.splitlines()")
    if isinstance(value, Set) and not isinstance(value, (KeysView, Sequence)):
        raise TypeError(f"{name} must be a list of lines; {brief(value)} has no order")
    if hasattr(value, "columns"):
        raise TypeError(f"{name} must be a list of lines, not a table; give a column, such as table['text']")
    if not isinstance(value, Iterable) or isinstance(value, (bytes, Mapping)):
        raise TypeError(f"{name} must be a list of lines, not {brief(value)}")
    return [check_text(line, f"{name}[{number}]").rstrip("\n") for number, line in enumerate(value)]


def check_path(value: Any, name: str) -> str:
    """The name of a file.

    Raises:
        TypeError: the value is not a string or a path.
        InputError: no file can have the name.
    """
    if not isinstance(value, (str, os.PathLike)) or not isinstance(os.fspath(value), str):
        raise TypeError(f"{name} must be the name of a file, not {brief(value)}; give a string or a pathlib.Path")
    path = os.fspath(value)
    if not file_name(path):
        raise InputError(f"{name} must be the name of a file, not {quote(path)}")
    return path


def check_number(value: Any, name: str, least: int = 0, most: int = LARGEST, whole: bool = True) -> int | float:
    """A number in its range.

    Raises:
        TypeError: the value is not a number, or not a whole one.
        InputError: the number is out of its range.
    """
    if not isinstance(value, Integral if whole else Real) or isinstance(value, bool):
        raise TypeError(f"{name} must be a {'whole ' if whole else ''}number, not {brief(value)}")
    number: int | float = int(value) if isinstance(value, Integral) else float(value)
    if not least <= number <= most:  # or NaN
        raise InputError(f"{name} must be {least} to {most}, not {cut(value)}")
    return number


def check_weights(value: Mapping[Any, Any], name: str) -> dict[str, float]:
    """Weights by the names of their features.

    Raises:
        TypeError: a name is not a string, or a weight is not a number.
        InputError: a weight is not finite.
    """
    weights = {}
    for feature, weight in value.items():
        check_text(feature, f"a name of {name}")
        if not isinstance(weight, Real) or isinstance(weight, bool):
            raise TypeError(f"{name}[{feature!r}] must be a number, not {brief(weight)}")
        weights[feature] = float(weight)
        if not math.isfinite(weights[feature]):
            raise InputError(f"{name}[{feature!r}] must be a finite number, not {weights[feature]}")
    return weights
