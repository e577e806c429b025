"""cdec's input in which each sentence has a grammar of its own: ``<seg grammar="FILE" id="N">words</seg>``."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from lscfg.errors import InputError
from lscfg.text import write_lines

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


_GRAMMAR = re.compile(r'\s*<seg\s[^>]*\bgrammar="([^"]*)"')


def segment_grammar(line: str) -> str | None:
    """The grammar that a line of cdec's input names for itself, if it does."""
    found = _GRAMMAR.match(line)
    return found[1] if found else None


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
