"""Lines and tables for a terminal."""

from __future__ import annotations

import bisect
import itertools
import unicodedata
from collections.abc import Sequence

WIDTH = 100
"""Most terminal columns of a command's line."""


def fit(text: str, width: int = WIDTH) -> str:
    """Cuts a line to a number of columns; characters of East Asian scripts fill two columns."""
    ends = list(itertools.accumulate(map(_columns, text)))
    if not ends or ends[-1] <= width:
        return text
    return text[: bisect.bisect_right(ends, width - 1)] + "…"


def _columns(letter: str) -> int:
    return 0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def align_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Aligns rows to lines of equal width: the first column to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))])
        for row in rows
    ]
