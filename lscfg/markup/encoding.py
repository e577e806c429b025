"""Encodings that documents declare: all documents are read as UTF-8, whatever they declare."""

from __future__ import annotations

import codecs
import re

from lscfg.errors import quote
from lscfg.markup.document import DocumentError

_PROBE = bytes(sign for sign in range(32, 127) if sign != ord("\\")) + b"\t\r\n\x1b$B!!\x1b(B~{!!~}"
"""ASCII with escape sequences of Chinese and Japanese encodings, without the backslash, which some display as ¥."""

_UTF = re.compile(
    "utf-?(?:8|16)|(?:unicode-1-1-utf-8|unicode11utf8|(?:x-)?unicode20utf8"
    r"|csunicode|iso-10646-ucs-2|ucs-2|unicode(?:feff|fffe)?)\Z",
    re.IGNORECASE,
)
"""Labels of UTF-8 and UTF-16 in browsers; text in UTF-16 could not be read as UTF-8."""


def means_utf_8(label: str) -> bool:
    """True if readers take the label of text in UTF-8 for UTF-8."""
    if _UTF.match(label):
        return True
    try:
        return codecs.lookup(label).name.startswith("utf-8")
    except LookupError:
        return False


def must_be_ascii(text: str, label: str, line: int) -> bool:
    """True if a document declares another encoding than UTF-8, so that readers understand only ASCII in it.

    UTF-16 does not count, because programs write it into documents in UTF-8, see ``means_utf_8``.

    Args:
        label: the encoding that the document declares, empty if it declares none.
        line: of the declaration.

    Raises:
        DocumentError: the text contains other characters, or ASCII means other characters in that encoding.
    """
    if not label or means_utf_8(label):
        return False
    try:
        codec = codecs.lookup(label).name
    except LookupError:
        codec = ""  # a known name of it may exist elsewhere
    if not text.isascii() or (codec and not _contains_ascii(codec)):
        cure = "convert the file to UTF-8 if it is not, and declare UTF-8"
        raise DocumentError(f"line {line}: declares the encoding {quote(label)}, but documents must be UTF-8; {cure}")
    return True


def _contains_ascii(codec: str) -> bool:
    try:
        return _PROBE.decode(codec) == _PROBE.decode("ascii")
    except (LookupError, UnicodeError):  # LookupError: not an encoding of text
        return False
