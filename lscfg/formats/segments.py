"""cdec's input in which each sentence has a grammar of its own: ``<seg grammar="FILE" id="N">words</seg>``."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from lscfg.errors import InputError
from lscfg.io.text import write_lines

SEGMENTS = "segments.sgm"
"""The file in a folder of grammars that cdec gets as its input."""


def check_segments(folder: str | os.PathLike[str], sentences: Sequence[str]) -> None:
    """Refuses what cdec's input cannot hold.

    Raises:
        InputError: the folder's name or the first bad sentence.
    """
    if set('"<>') & set(str(folder)):
        raise InputError("cdec's input cannot name a folder with quotes or angle brackets", folder)
    for number, line in enumerate(sentences, 1):
        if "</seg>" in line:
            raise InputError(f"cdec's input cannot hold {'</seg>'!r}; replace it in sentence {number}")


_SEGMENT = re.compile(r"\s*<seg\b([^>]*)>(.*)</seg>\s*", re.IGNORECASE)


def _attribute(name: str) -> re.Pattern[str]:
    return re.compile(rf"""\s*\b{name}\s*=\s*("[^"]*"|'[^']*'|[^\s>]+)""", re.IGNORECASE)


_GRAMMAR, _ID = _attribute("grammar"), _attribute("id")


def segment_grammar(line: str) -> str | None:
    """The grammar that a line of cdec's input names for itself, if it does."""
    segment = _SEGMENT.fullmatch(line)
    found = segment and _GRAMMAR.search(segment[1])
    return found[1].strip("\"'") if found else None


def numbered(line: str, number: int) -> str:
    """The line as a segment with this id; other attributes of a ``<seg ...>`` stay.

    cdec leaves out empty lines and takes any id that a segment has; only ids of one's own tell the output apart.
    """
    found = _SEGMENT.fullmatch(line)
    attributes, text = (_ID.sub("", found[1]), found[2]) if found else ("", line)
    return f'<seg id="{number}"{attributes}>{text}</seg>\n'


def grammar_path(folder: str | os.PathLike[str], number: int) -> Path:
    """The grammar of a sentence, counted from 0."""
    return Path(folder) / f"grammar.{number}.gz"


def write_segments(folder: str | os.PathLike[str], sentences: Sequence[str]) -> None:
    """Writes the folder's input for cdec. Empty sentences, which cdec skips without an output, are left out."""
    write_lines(
        Path(folder) / SEGMENTS,
        (
            f'<seg grammar="{grammar_path(folder, number)}" id="{number}">{line}</seg>'
            for number, line in enumerate(sentences)
            if line.strip()
        ),
    )
