"""Files of rules on demand, recognised without the modules that open them."""

from __future__ import annotations

import os

from lscfg.errors import InputError
from lscfg.io.read import open_bytes

KIND = "index"
"""Kind of the file, by its metadata."""

SOURCE, TARGET = 0, 1
"""Sides of the text."""


def is_index(path: str | os.PathLike[str]) -> bool:
    """True for the file of an index, by its first bytes; also if it is compressed, which the kernel refuses."""
    try:
        with open_bytes(path) as file:
            begin = file.read(512)
    except InputError:  # the reader of the file names the fault
        return False
    return begin[8:9] == b"{" and b'"lscfg":"%s"' % KIND.encode() in begin
