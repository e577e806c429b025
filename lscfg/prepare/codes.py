"""Codes that translation tools put between words instead of white space, such as ends of lines and tabulators."""

from __future__ import annotations

import re
from collections.abc import Mapping

BETWEEN = frozenset(("it", "ph", "ut", "x"))
"""Elements that may mean white space; halves of pairs, such as ``bpt`` and ``ept``, may be within a word."""

_CONTENT = re.compile(
    r"\s*</?\s*(?:\w+:)?(?:br|tab|lb|cr|hr|pb|p|div|li|tr|td|th)\b|\s+\Z"
    r"|\s*(?:\\[nrt](?![A-Za-z])|&nbsp;|&#(?:9|10|13|160);|\{(?:br|tab|nl)\})",
    re.IGNORECASE,
)
_TYPE = re.compile(
    r"(?:x-)?(?:\w+[-:])?(?:lb|pb|br|tab|cr|lf|nl|linebreak|line-break|newline|nbsp|space)", re.IGNORECASE
)
_TYPES, _SHOWN = ("type", "ctype", "subType"), ("equiv-text", "equiv", "disp")
"""Attributes of TMX and XLIFF with a type, and with the content or its description."""


def means_space(attributes: Mapping[str, str], content: str) -> bool:
    """True if an element of ``BETWEEN`` means white space, by its type, its content or its description."""
    typed = any(_TYPE.fullmatch(attributes.get(name, "")) for name in _TYPES)
    return typed or any(map(_CONTENT.match, (content, *(attributes.get(name, "") for name in _SHOWN))))
