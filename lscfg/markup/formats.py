"""Formats of documents by the endings of file names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePath
from typing import NamedTuple

from lscfg.markup.document import Document
from lscfg.markup.html import read_html
from lscfg.markup.plain import read_plain_text, read_subtitles
from lscfg.markup.xliff import read_xliff


class Format(NamedTuple):
    """A format: its media type, and the function that reads it."""

    media_type: str
    read: Callable[[bytes], Document]


_HTML = Format("text/html", read_html)
_XLIFF = Format("application/x-xliff+xml", read_xliff)
FORMATS = {
    ".txt": Format("text/plain", read_plain_text),
    ".html": _HTML,
    ".htm": _HTML,
    ".srt": Format("application/x-subrip", read_subtitles),
    **dict.fromkeys((".xlf", ".xliff", ".sdlxliff", ".mxliff", ".mqxliff"), _XLIFF),  # of Trados, Phrase and memoQ
}
"""Formats by endings in small letters."""


def format_of(name: str) -> Format | None:
    """The format of a file; None if its ending is not known."""
    return FORMATS.get(PurePath(name.lower()).suffix)
