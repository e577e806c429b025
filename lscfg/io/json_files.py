"""JSON without the extensions of Python's reader and writer."""

from __future__ import annotations

import json
import os
from typing import Any

from lscfg.io.write import atomic_write


def write_json(path: str | os.PathLike[str], value: Any) -> None:
    """Writes a value, indented, with keys in order."""
    with atomic_write(path) as file:
        json.dump(value, file, indent=1, ensure_ascii=False, allow_nan=False)
        file.write("\n")


def parse_json(text: str) -> Any:
    """The value of a JSON text. Python's own reader accepts more than JSON: NaN, infinities and repeated keys.

    Raises:
        ValueError: the text is not JSON; the message gives the reason in one line.
        RecursionError: the text is nested too deeply.
    """
    return json.loads(text, parse_constant=_no_number, object_pairs_hook=_no_key_twice)


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is not a number in JSON")


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object repeats a key")
    return found
