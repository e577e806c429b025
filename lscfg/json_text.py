"""JSON text as the standard has it: all JSON that lscfg reads goes through ``parse_json``."""

from __future__ import annotations

import json
import math
import re
from typing import Any

_HALF = re.compile(r"\\u[dD][89a-fA-F]")
"""The escape of half a surrogate pair; two halves that belong together are a character."""


def parse_json(text: str | bytes, infinities: bool = False, halves: bool = False, nan: bool = False) -> Any:
    """The value of a JSON text.

    Python's own reader accepts more than JSON: NaN, infinities, repeated keys and halves of surrogate pairs. It also
    fails on nested text and on long numbers in its own ways.

    Args:
        infinities: take ``Infinity`` and ``-Infinity`` as numbers, which headers of lscfg contain.
        halves: leave halves of surrogate pairs to the caller.
        nan: take infinities and ``NaN``, which programs of others write.

    Raises:
        ValueError: the text is not JSON or not UTF-8, is nested too deeply, or holds a number that is too large; the
            message gives the reason in one line.
    """
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"not UTF-8 from byte {error.start + 1} on") from None
    try:
        found = json.loads(
            text,
            parse_constant=float if infinities or nan else _no_number,
            parse_float=_finite,
            object_pairs_hook=_no_key_twice,
        )
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if infinities and not nan and "NaN" in text and _holds_nan(found):
        _no_number("NaN")
    if not halves and _HALF.search(text):
        try:
            json.dumps(found, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError:
            raise ValueError("a string contains half of a surrogate pair, which is not a character") from None
    return found


def _holds_nan(value: Any) -> bool:
    if isinstance(value, (dict, list)):
        return any(map(_holds_nan, value.values() if isinstance(value, dict) else value))
    return isinstance(value, float) and math.isnan(value)


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is not a number in JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("a number is too large")
    return value


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object repeats a key")
    return found
