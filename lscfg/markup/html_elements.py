"""Ends of HTML elements, also of those whose end tags are left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

# fmt: off
INLINE = frozenset((
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "data", "del", "dfn", "em", "font", "i", "img",
    "ins", "label", "mark", "nobr", "q", "ruby", "rb", "rp", "rt", "s", "small", "span", "strike", "strong",
    "sub", "sup", "time", "tt", "u", "wbr",
))
"""Elements inside a sentence; all others separate units."""

_END_P = (
    "address", "article", "aside", "blockquote", "center", "details", "dialog", "dir", "div", "dl", "fieldset",
    "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "hr",
    "main", "menu", "nav", "ol", "p", "pre", "search", "section", "summary", "table", "ul",
)
"""Elements that no paragraph contains."""

_SCOPES = frozenset((
    "article", "aside", "blockquote", "button", "datalist", "details", "dl", "fieldset", "figure", "form", "main",
    "math", "menu", "nav", "object", "ol", "section", "select", "svg", "table", "template", "textarea", "ul",
))
"""Elements inside which no tag implies the end of an element outside."""
# fmt: on

_CELLS = frozenset(("caption", "colgroup", "td", "th"))
_ROWS = _CELLS | {"tr"}
_ROW_GROUPS = _ROWS | {"thead", "tbody", "tfoot"}

_ENDED: dict[str, frozenset[str]] = {
    **dict.fromkeys(_END_P, frozenset(("p",))),
    "li": frozenset(("li", "p")),
    **dict.fromkeys(("dd", "dt"), frozenset(("dd", "dt", "p"))),
    **dict.fromkeys(("rp", "rt"), frozenset(("rp", "rt"))),
    "option": frozenset(("option",)),
    "optgroup": frozenset(("option", "optgroup")),
    **dict.fromkeys(("td", "th"), _CELLS),
    "tr": _ROWS,
    **dict.fromkeys(("colgroup", "thead", "tbody", "tfoot"), _ROW_GROUPS),
    "body": frozenset(("head",)),
}
"""The elements that a start tag ends."""

_OPTIONAL = frozenset(name for names in _ENDED.values() for name in names)
"""Elements whose end tags may be left out."""

DEPTH = 100
"""Number of innermost elements that a tag may end."""


class HtmlEvent(NamedTuple):
    """Part of a document, which goes to the next one."""

    kind: str
    """``start``, ``end``, ``empty``, ``text``, ``comment`` or ``other``."""
    name: str
    offset: int
    opaque: bool = False
    """The content of the element stays."""
    charset: str = ""
    """Encoding that a meta element declares."""

    @property
    def kept(self) -> bool:
        """True for the start of an element whose content stays."""
        return self.kind == "start" and self.opaque


def element_ends(events: Sequence[HtmlEvent]) -> dict[int, int]:
    """The number of the first event after the element of each start tag."""
    ends: dict[int, int] = {}
    opened: list[int] = []
    for number, event in enumerate(events):
        inner = [events[k].name for k in reversed(opened[-DEPTH:])] if event.name else []
        ended = _ended_by_end(event.name, inner) if event.kind == "end" else _ended_by_start(event.name, inner)
        for left in reversed(range(ended)):
            ends[opened.pop()] = number + (event.kind == "end" and left == 0)
        if event.kind == "start":
            opened.append(number)
    return ends | dict.fromkeys(opened, len(events))


def _ended_by_end(tag: str, opened: Sequence[str]) -> int:
    """The number of elements that an end tag ends; ``opened`` begins with the innermost element."""
    for depth, name in enumerate(opened, 1):
        if name == tag:
            return depth
        if name in _SCOPES if tag in _OPTIONAL else tag in INLINE and name not in INLINE:
            break
    return 0


def _ended_by_start(tag: str, opened: Sequence[str]) -> int:
    """The number of elements that a start tag ends; ``opened`` begins with the innermost element."""
    ended = 0
    for depth, name in enumerate(opened, 1):
        if name in _SCOPES:
            break
        if name in _ENDED.get(tag, ()):
            ended = depth
    return ended
