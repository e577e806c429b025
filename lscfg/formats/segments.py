"""cdec's input with a grammar for each sentence: ``<seg grammar="FILE" id="N">words</seg>``."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from lscfg.errors import InputError
from lscfg.io.write import write_lines

SEGMENTS = "segments.sgm"
"""The input file for cdec in a folder of grammars."""


def check_segments(folder: str | os.PathLike[str], sentences: Sequence[str]) -> None:
    """Checks that cdec's input can contain the folder and the sentences.

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
    """Returns the grammar that a line of cdec's input names, if any."""
    segment = _SEGMENT.fullmatch(line)
    found = segment and _GRAMMAR.search(segment[1])
    return found[1].strip("\"'") if found else None


def numbered(line: str, number: int) -> str:
    """Returns the line as a segment with this id; other attributes of a ``<seg ...>`` stay.

    cdec skips empty lines and accepts any id; only our own ids identify the lines of its output.
    """
    found = _SEGMENT.fullmatch(line)
    attributes, text = (_ID.sub("", found[1]), found[2]) if found else ("", line)
    return f'<seg id="{number}"{attributes}>{text}</seg>\n'


def grammar_path(folder: str | os.PathLike[str], number: int) -> Path:
    """Returns the grammar file of a sentence, counted from 0."""
    return Path(folder) / f"grammar.{number}.gz"


def write_segments(folder: str | os.PathLike[str], sentences: Sequence[str]) -> None:
    """Writes the folder's input for cdec. Empty sentences, for which cdec prints nothing, are omitted."""
    write_lines(
        Path(folder) / SEGMENTS,
        (
            f'<seg grammar="{grammar_path(folder, number)}" id="{number}">{line}</seg>'
            for number, line in enumerate(sentences)
            if line.strip()
        ),
    )
