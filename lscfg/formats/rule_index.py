"""Files of rules on demand, recognised without the modules that open them."""

from __future__ import annotations

import os

KIND = "index"
"""Kind of the file, by its metadata."""

SOURCE, TARGET = 0, 1
"""Sides of the text."""


def is_index(path: str | os.PathLike[str]) -> bool:
    """True for the file of an index, by its first bytes."""
    try:
        with open(path, "rb") as file:
            begin = file.read(512)
    except OSError:
        return False
    return begin[8:9] == b"{" and b'"lscfg":"%s"' % KIND.encode() in begin
