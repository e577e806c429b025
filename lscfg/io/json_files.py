"""JSON without the extensions of Python's reader and writer."""

from __future__ import annotations

import json
import os
from typing import Any

from lscfg.io.write import atomic_write


def write_json(path: str | os.PathLike[str], value: Any) -> None:
    """Writes the value, indented, in the order of its keys as they are."""
    with atomic_write(path) as file:
        json.dump(value, file, indent=1, ensure_ascii=False, allow_nan=False)
        file.write("\n")


def parse_json(text: str) -> Any:
    """The value of a JSON text. Python's own reader takes more than JSON allows: NaN, infinities, a key twice.

    Raises:
        ValueError: the text is none; the message says why in one line.
        RecursionError: it is nested too deeply.
    """
    return json.loads(text, parse_constant=_no_number, object_pairs_hook=_no_key_twice)


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object has a key twice")
    return found
