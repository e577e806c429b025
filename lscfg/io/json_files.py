"""JSON files of lscfg: written with keys in their order, and read with a check of every key, type and range."""

from __future__ import annotations

import json
import math
import os
import stat
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from lscfg.errors import InputError, cut, did_you_mean, quote
from lscfg.io.read import read_bytes
from lscfg.io.write import atomic_write
from lscfg.json_text import parse_json
from lscfg.settings import Limits

_NAMES: dict[Any, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a string",
    NoneType: "null",
    dict: "an object",
    list: "a list",
}

COUNT = Annotated[int, Limits(least=0)]
"""Shape of a number of things."""


def write_json(path: str | os.PathLike[str], value: Any) -> None:
    """Writes a value, indented, with keys in order."""
    with atomic_write(path) as file:
        json.dump(value, file, indent=1, ensure_ascii=False, allow_nan=False)
        file.write("\n")


def read_json(
    path: str | os.PathLike[str], shape: Any = Any, cure: str = "make the file again", format: int | None = None
) -> Any:
    """The value of a JSON file.

    Args:
        shape: the type that the value must have, see ``check_shape``.
        cure: the end of the message about a damaged file.
        format: the value of ``format`` in the file; None: the file has no format.

    Raises:
        InputError: the file cannot be read, is not a regular file or not JSON, or its value has another shape.
    """
    try:
        regular = stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read: {getattr(error, 'strerror', None) or error}", path) from error
    if not regular:  # a pipe would keep the reader waiting for ever
        raise InputError("is not a regular file", path)
    try:
        found = parse_json(read_bytes(path))
        if format is not None:
            check_shape(found, dict[str, Any])
            check_shape(found.get("format"), int, "format")
            if found["format"] != format:
                raise InputError(f"has format {cut(found['format'])}, not {format}; {cure}", path)
        check_shape(found, shape)
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise InputError(f"damaged, or not written by this version of lscfg ({error}); {cure}", path) from error
    return found


def check_shape(value: Any, shape: Any, name: str = "") -> None:
    """Checks a value of JSON against a type.

    Args:
        shape: ``bool``, ``int``, ``float`` (also whole numbers), ``str``, ``None``, ``dict[str, SHAPE]``,
            ``list[SHAPE]``, ``tuple[SHAPE, ...]`` for a list of fixed length, a ``TypedDict`` for an object of known
            keys, ``Literal``, a union, ``Annotated[SHAPE, Limits(...)]``, or ``Any``.
        name: of the value in messages, such as ``pairs.train``.

    Raises:
        ValueError: the first place with another type, a value out of its range, or a key that is missing or unknown.
    """
    origin, parts = get_origin(shape), get_args(shape)
    if shape is Any:
        return
    if origin is Annotated:
        check_shape(value, parts[0], name)
        for limits in parts[1:]:
            if requirement := limits.requirement(value):
                raise ValueError(f"{name or 'it'} {requirement}")
    elif origin is NotRequired:
        check_shape(value, parts[0], name)
    elif origin is Literal:
        if not any(type(value) is type(one) and value == one for one in parts):
            raise _mismatch(name, " or ".join(json.dumps(one) for one in parts), value)
    elif origin in (Union, UnionType):
        _check_union(value, parts, name)
    elif is_typeddict(shape):
        _check_keys(value, shape, name)
    elif origin is dict:
        _check_kind(value, dict, name)
        for key, item in value.items():
            check_shape(item, parts[1], _inside(name, key))
    elif origin is list:
        _check_kind(value, list, name)
        for number, item in enumerate(value):
            check_shape(item, parts[0], f"{name}[{number}]")
    elif origin is tuple:
        _check_kind(value, list, name)
        if len(value) != len(parts):
            raise _mismatch(name, f"a list of {len(parts)} values", value)
        for number, (item, part) in enumerate(zip(value, parts, strict=True)):
            check_shape(item, part, f"{name}[{number}]")
    else:
        _check_kind(value, shape, name)


def _check_kind(value: Any, kind: Any, name: str) -> None:
    kind = NoneType if kind is None else kind
    whole = type(value) is int and kind is float
    if not whole and (type(value) is not kind or (kind is float and not math.isfinite(value))):
        raise _mismatch(name, _NAMES[kind], value)
    if type(value) is int and not -(2**63) <= value < 2**64:
        raise ValueError(f"{name or 'it'} must be less than 2^63 in size, not {cut(value)}")


def _check_union(value: Any, shapes: tuple[Any, ...], name: str) -> None:
    if value is None and NoneType in shapes:
        return
    others = [one for one in shapes if one is not NoneType]
    for number, one in enumerate(others, 1):
        try:
            return check_shape(value, one, name)
        except ValueError:
            if number == len(others):
                raise


def _check_keys(value: Any, shape: Any, name: str) -> None:
    _check_kind(value, dict, name)
    hints = get_type_hints(shape, include_extras=True)
    for key in value:
        if key not in hints:
            raise ValueError(f"{_inside(name, key)} is unknown{did_you_mean(key, hints)}")
    for key, hint in hints.items():
        if key in value:
            check_shape(value[key], hint, _inside(name, key))
        elif get_origin(hint) is not NotRequired:
            raise ValueError(f"{_inside(name, key)} is missing")


def _inside(name: str, key: str) -> str:
    return f"{name}.{cut(key)}" if name else cut(key)


def _mismatch(name: str, wanted: str, value: Any) -> ValueError:
    found = _NAMES[type(value)] if isinstance(value, (dict, list)) else quote(json.dumps(value))[1:-1]
    return ValueError(f"{name or 'it'} must be {wanted}, not {found}")
