"""Moses' XML in a line: ``der <np translation="house||home" prob="0.8||0.2">haus</np>``."""

from __future__ import annotations

import re
from typing import NamedTuple

from lscfg.errors import InputError, cut, did_you_mean, quote
from lscfg.io.numbers import parse_number

MODES = ("exclusive", "inclusive", "constraint", "ignore")
"""Uses of the translations in a line, as Moses' option ``-xml-input`` names them."""


MOST_ZONES = 32
"""Maximum zones of different words in a line; glue in zones takes more than the cube of their number."""


class MarkedSpan(NamedTuple):
    """Words with given translations."""

    span: tuple[int, int]
    """Words [i, j)."""
    translations: tuple[str, ...]
    probabilities: tuple[float, ...]
    """Above 0; 1 each if the line gives none."""


class Wall(NamedTuple):
    """A place that reordering does not cross."""

    place: int
    """Words before it."""
    scope: tuple[int, int]
    """Words [i, j) that keep their order: those of the zone around the wall, or of the line."""


class WordOrder(NamedTuple):
    """Limits of reordering."""

    zones: tuple[tuple[int, int], ...] = ()
    """Words [i, j) that stay together; zones may be nested."""
    walls: tuple[Wall, ...] = ()


ANY_ORDER = WordOrder()


class MarkedLine(NamedTuple):
    """A line without its tags."""

    text: str
    spans: tuple[MarkedSpan, ...]
    """In the order of the line, without overlaps."""
    order: WordOrder = ANY_ORDER


_PART = re.compile(r"<[^>]*>?|[^<]+")
_TAGS = re.compile(r"<[^>]*>?")
_TAG = re.compile(r"<\s*(/?)\s*([\w:-]*)\s*(.*?)\s*(/?)>", re.DOTALL)
_ATTRIBUTE = re.compile(r"""([\w:-]+)\s*=\s*("[^"]*"|'[^']*')\s*""")
_TEXTS, _PROBABILITY = ("translation", "english"), "prob"
_SYSTEM = ("update", "weight-overwrite")


class _Opened(NamedTuple):
    """A tag without its end so far."""

    name: str
    begin: int
    column: int
    translations: tuple[str, ...] = ()
    probabilities: tuple[float, ...] = ()


class _Reader:
    """The words and tags of a line so far."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.spans: list[MarkedSpan] = []
        self.zones: list[tuple[int, int]] = []
        self.walls: list[tuple[int, int]] = []  # places, and zones open there
        self.opened: list[_Opened] = []  # zones, then at most one other tag

    def open(self, name: str, rest: str, empty: bool, column: int) -> None:
        inside = bool(self.opened) and self.opened[-1].name != "zone"
        if name == "wall" and empty and not inside and not rest:
            self.walls.append((len(self.words), len(self.opened)))
        elif inside or empty or not name or name == "wall":
            raise _error(column, f"<{cut(name)}> is inside another tag, not closed or without a name")
        elif name == "zone":
            if rest:
                raise _error(column, "<zone> takes no attributes")
            self.opened.append(_Opened(name, len(self.words), column))
        else:
            self.opened.append(_Opened(name, len(self.words), column, *_translations(name, rest, column)))

    def close(self, name: str, column: int) -> None:
        if not self.opened or self.opened[-1].name != name:
            raise _error(column, f"</{name}> closes a tag that is not open")
        tag = self.opened.pop()
        span = (tag.begin, len(self.words))
        if span[0] == span[1]:
            raise _error(tag.column, f"<{name}> covers no word")
        if name == "zone":
            self.zones.append(span)
            if len({*self.zones}) > MOST_ZONES:
                raise _error(tag.column, f"more than {MOST_ZONES} zones in a line; leave out some")
        else:
            self.spans.append(MarkedSpan(span, tag.translations, tag.probabilities))

    def order(self) -> WordOrder:
        """The limits of reordering, at the end of the line; walls without words on both sides are none."""
        walls = []
        for place, depth in self.walls:
            around = sorted((j - i, i, j) for i, j in self.zones if i <= place <= j)
            scope = around[len(around) - depth][1:] if depth and depth <= len(around) else (0, len(self.words))
            if scope[0] < place < scope[1]:
                walls.append(Wall(place, scope))
        return WordOrder(tuple(sorted(self.zones)), tuple(walls))


def read_marked(line: str) -> MarkedLine:
    """Reads a line with tags.

    Raises:
        InputError: by column: a tag is not closed, is nested in another than a zone, has no translation or a misspelt
            attribute, covers no word or stands within a word; or a tag that would change the system.
    """
    found, in_word = _Reader(), False
    for part in _PART.finditer(line):
        text, column = part[0], part.start() + 1
        if not text.startswith("<"):
            found.words += filter(None, text.split(" "))
            in_word = not text.endswith(" ")
            continue
        tag = _TAG.fullmatch(text)
        if tag is None:
            raise _error(column, f"{quote(cut(text))} is not a tag; write &lt; for the character")
        closing, name, rest, empty = tag.groups()
        if name in _SYSTEM:
            raise _error(column, f"<{name}> would change the system, which input must not do; remove the tag")
        if closing:
            found.close(name, column)
        else:
            found.open(name, rest, bool(empty), column)
        before_word = line[part.end() : part.end() + 1] not in ("", " ", "<")
        if before_word if closing or name == "wall" else in_word:
            raise _error(column, f"<{closing}{name}> is inside a word; separate the words by blanks")
        in_word = False
    if found.opened:
        raise _error(
            found.opened[-1].column, f"<{found.opened[-1].name}> is not closed; add </{found.opened[-1].name}>"
        )
    return MarkedLine(" ".join(found.words), tuple(found.spans), found.order())


def blank_tags(line: str) -> str:
    """The line with blanks instead of its tags, so that other characters keep their places."""
    return _TAGS.sub(lambda tag: " " * len(tag[0]), line)


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
    missing = (*(_TEXTS if given is None else ()), *({_PROBABILITY} - values.keys()))
    for key in values.keys() - {*_TEXTS, _PROBABILITY}:  # Moses ignores others, such as label=
        near = did_you_mean(_PROBABILITY if _PROBABILITY in key.lower() else key.lower(), missing)
        cure = "; put the tag around the words" if key == "span" else near
        if cure:
            raise _error(column, f"<{name}> has the attribute {quote(key)}, which is not read{cure}")
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
