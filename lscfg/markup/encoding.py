"""Encodings that documents declare: all documents are read as UTF-8, whatever they declare."""

from __future__ import annotations

import codecs

from lscfg.errors import quote
from lscfg.markup.document import DocumentError

_PROBE = bytes(sign for sign in range(32, 127) if sign != ord("\\")) + b"\t\r\n\x1b$B!!\x1b(B~{!!~}"
"""ASCII with escape sequences of Chinese and Japanese encodings, and without the backslash, which some display as ¥."""


def must_be_ascii(text: str, label: str, line: int) -> bool:
    """True if a document declares another encoding than UTF-8, so that readers understand only ASCII in it.

    Args:
        label: the encoding that the document declares, empty if it declares none.
        line: of the declaration.

    Raises:
        DocumentError: the text contains other characters, or ASCII means other characters in that encoding.
    """
    try:
        codec = codecs.lookup(label).name if label else "utf-8"
    except LookupError:
        codec = ""  # a known name of it may exist elsewhere
    if codec.startswith("utf-8"):
        return False
    if not text.isascii() or (codec and not _contains_ascii(codec)):
        cure = "convert the file to UTF-8 if it is not, and declare UTF-8"
        raise DocumentError(f"line {line}: declares the encoding {quote(label)}, but documents must be UTF-8; {cure}")
    return True


def _contains_ascii(codec: str) -> bool:
    try:
        return _PROBE.decode(codec) == _PROBE.decode("ascii")
    except (LookupError, UnicodeError):  # LookupError: not an encoding of text
        return False
