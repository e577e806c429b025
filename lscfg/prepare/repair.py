"""Repairs of text that are certain: HTML entities, formatting tags, UTF-8 that was read as another encoding."""

from __future__ import annotations

import html
import re
from functools import cache
from typing import Any
from unicodedata import category

_NAME = r"[A-Za-z][A-Za-z0-9]{1,30}|#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}"
ENTITY = re.compile(f"&(?:{_NAME});")
ESCAPED = re.compile(f"&(?:amp;)*({_NAME});")
"""An entity, which may be escaped several times."""

TAG = re.compile(r"</?[A-Za-z][A-Za-z0-9]{0,15}(?:\s[^<>]{0,200})?/?>")
_INLINE = "a|abbr|b|big|cite|code|del|em|font|i|ins|mark|q|small|span|strike|strong|sub|sup|tt|u"
_BLOCK = "blockquote|br|center|div|h[1-6]|hr|img|li|ol|p|pre|table|tbody|td|th|thead|tr|ul"
_BARE = (
    r"align|alt|border|class|clear|compact|contenteditable|dir|download|height|hidden|href|id|inert|ismap|itemscope|lang|"
    r"noshade|nowrap|reversed|src|style|title|width|(?:aria|data|ng|v|x)-[\w:.-]++"
)  # attributes that a page may give without a value
_QUOTED = r"""\\?(?:""[^"<>]++""|"[^"<>]*+"|'[^'<>]*+'|[“”„][^“”<>]*+[“”]|‘[^’<>]*+’)"""
_GIVEN = rf"[A-Za-z@:][\w:.@-]*+\s*+=(?!=)\s*+(?>{_QUOTED}|[^\s<>]*+)"
_ATTRIBUTE = rf"(?:{_GIVEN}|(?:{_BARE})(?![\w-]))"
_ATTRIBUTES = rf"\s++{_ATTRIBUTE}(?:[\s,;]*+{_ATTRIBUTE})*+"
_FORMATTING = re.compile(rf"</?(?:{_INLINE}|({_BLOCK}))(?:{_ATTRIBUTES})?+\s*+/?\s*+>", re.IGNORECASE)
"""A tag of attributes only: ``i<b and c>d`` and ``if (i<a j=2 or k>3)`` contain none."""


def decode_entities(text: str) -> str:
    """The text with characters for HTML entities, also for repeatedly escaped ones such as ``&amp;quot;``.

    Unknown names and characters that text cannot contain stay as they are.
    """
    return ESCAPED.sub(_decoded, text) if "&" in text else text


def _decoded(found: re.Match[str]) -> str:
    entity = f"&{found[1]};"
    character = html.unescape(entity)
    usable = character != entity and all(map(_is_usable, character))
    return character if usable and "\ufffd" not in character else found[0]


def _is_usable(sign: str) -> bool:
    """True for a character of text, also for an invisible one, such as a soft hyphen."""
    return sign.isprintable() or sign.isspace() or category(sign) == "Cf"


def without_formatting(text: str) -> str:
    """The text without tags of HTML that only format; tags between blocks of text become blanks, other tags stay."""
    return _FORMATTING.sub(lambda found: " " if found[1] else "", text) if "<" in text else text


@cache
def _ftfy() -> tuple[Any, Any]:
    """ftfy and its settings: only steps that lose nothing."""
    import ftfy

    return ftfy, ftfy.TextFixerConfig(replace_lossy_sequences=False)


def repaired_encoding(text: str) -> str:
    """The text decoded again where UTF-8 was read as another encoding; unchanged unless all of it can be repaired.

    Raises:
        ImportError: ftfy is not installed.
    """
    if text.isascii():
        return text
    ftfy, config = _ftfy()
    fixed: str = ftfy.fix_encoding(text, config)
    return text if fixed == text or "\ufffd" in fixed or ftfy.badness.is_bad(fixed) else fixed


def is_misread(text: str) -> bool:
    """True if ftfy finds signs of UTF-8 that was read as another encoding.

    Raises:
        ImportError: ftfy is not installed.
    """
    return not text.isascii() and bool(_ftfy()[0].badness.is_bad(text.replace("\ufffd", "")))
