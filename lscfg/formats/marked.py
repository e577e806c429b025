"""Moses' XML in a line: ``der <np translation="house||home" prob="0.8||0.2">haus</np>``."""

from __future__ import annotations

import re
from typing import NamedTuple

from lscfg.errors import InputError, cut, quote
from lscfg.io.numbers import parse_number

MODES = ("exclusive", "inclusive", "constraint", "ignore")
"""Uses of the translations in a line, as Moses' option ``-xml-input`` names them."""


class MarkedSpan(NamedTuple):
    """Words with given translations."""

    span: tuple[int, int]
    """Words [i, j)."""
    translations: tuple[str, ...]
    probabilities: tuple[float, ...]
    """Above 0; 1 each if the line gives none."""


class MarkedLine(NamedTuple):
    """A line without its tags."""

    text: str
    spans: tuple[MarkedSpan, ...]
    """In the order of the line, without overlaps."""


_PART = re.compile(r"<[^>]*>?|[^<]+")
_TAG = re.compile(r"<\s*(/?)\s*([\w:-]*)\s*(.*?)\s*(/?)>", re.DOTALL)
_ATTRIBUTE = re.compile(r"""([\w:-]+)\s*=\s*("[^"]*"|'[^']*')\s*""")
_CHART = ("zone", "wall")
_SYSTEM = ("update", "weight-overwrite")


def read_marked(line: str) -> MarkedLine:
    """Reads a line with tags.

    Raises:
        InputError: by column: a tag is not closed, is nested, has no translation, covers no word or stands within a
            word; a zone or a wall, which Moses' chart decoder ignores; or a tag that would change the system.
    """
    words: list[str] = []
    spans: list[MarkedSpan] = []
    opened: tuple[str, int, tuple[str, ...], tuple[float, ...], int] | None = None
    for part in _PART.finditer(line):
        text, column = part[0], part.start() + 1
        if not text.startswith("<"):
            words += text.split(" ")
            words = [word for word in words if word]
            continue
        tag = _TAG.fullmatch(text)
        if tag is None:
            raise _error(column, f"{quote(cut(text))} is not a tag; write &lt; for the character")
        closing, name, rest, empty = tag.groups()
        if name in _CHART:
            raise _error(column, f"<{name}> is not supported, and Moses' chart decoder ignores it; remove the tag")
        if name in _SYSTEM:
            raise _error(column, f"<{name}> would change the system, which input must not do; remove the tag")
        if closing:
            if opened is None or opened[0] != name:
                raise _error(column, f"</{name}> closes a tag that is not open")
            _, begin, translations, probabilities, place = opened
            if begin == len(words):
                raise _error(place, f"<{name}> covers no word")
            spans.append(MarkedSpan((begin, len(words)), translations, probabilities))
            opened = None
        elif opened is not None or empty or not name:
            raise _error(column, f"<{cut(name)}> is inside another tag, empty or without a name")
        else:
            opened = (name, len(words), *_translations(name, rest, column), column)
        if closing and line[part.end() : part.end() + 1] not in ("", " ", "<"):
            raise _error(column, f"</{name}> is inside a word; separate the words by blanks")
    if opened is not None:
        raise _error(opened[4], f"<{opened[0]}> is not closed; add </{opened[0]}>")
    return MarkedLine(" ".join(words), tuple(spans))


def marked_fault(line: str) -> str | None:
    """Explains why ``read_marked`` refuses a line; None if the line is good."""
    try:
        read_marked(line)
    except InputError as error:
        return str(error)
    return None


def _error(column: int, fault: str) -> InputError:
    return InputError(f"column {column}: {fault}")


def _translations(name: str, rest: str, column: int) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Translations and probabilities of a tag's attributes."""
    pairs = _ATTRIBUTE.findall(rest)
    values = {key: value[1:-1] for key, value in pairs}
    if len(values) < len(pairs) or {"translation", "english"} <= values.keys():
        raise _error(column, f"<{name}> has an attribute twice")
    if _ATTRIBUTE.sub("", rest):
        raise _error(column, f"<{name}> has text that is not an attribute: {quote(cut(rest))}")
    given = values.get("translation", values.get("english"))
    if given is None:
        raise _error(column, f'<{name}> has no translation="..."')
    translations = tuple(" ".join(one.split()) for one in given.split("||"))
    if not all(translations) or len({*translations}) < len(translations):
        raise _error(column, f"<{name}> has an empty or repeated translation")
    if "prob" not in values:
        return translations, (1.0,) * len(translations)
    try:
        found = tuple(map(parse_number, values["prob"].split("||")))
    except ValueError:
        found = ()
    if len(found) != len(translations) or not all(one > 0 for one in found):
        raise _error(column, f"<{name}> needs a positive number in prob= for each of {len(translations)} translations")
    return translations, found
