"""HTML: the texts of its elements. Attributes stay, and so do scripts, code and what ``translate="no"`` marks."""

from __future__ import annotations

from html import unescape
from html.parser import HTMLParser
from itertools import accumulate
from typing import NamedTuple

from lscfg.markup.document import Document, MarkupRun, Unit, escape_text, unit_of, utf8_text

# fmt: off
INLINE = frozenset((
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "data", "del", "dfn", "em", "font", "i", "img",
    "ins", "label", "mark", "nobr", "q", "ruby", "rb", "rp", "rt", "s", "small", "span", "strike", "strong",
    "sub", "sup", "time", "tt", "u", "wbr",
))
# fmt: on
"""Elements inside a sentence; all others separate units."""

OPAQUE = frozenset(["code", "kbd", "math", "pre", "samp", "script", "style", "svg", "template", "textarea", "var"])
"""Elements whose content stays."""

OPAQUE_INLINE = frozenset(["code", "kbd", "math", "samp", "var"]) | INLINE

VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"]
)
"""Elements without an end."""


class _Event(NamedTuple):
    kind: str
    """``start``, ``end``, ``empty``, ``text`` or ``other``."""
    name: str
    offset: int
    opaque: bool = False


class _Reader(HTMLParser):
    """Collects what a document consists of, with offsets."""

    def __init__(self, text: str):
        super().__init__(convert_charrefs=False)
        self.events: list[_Event] = []
        self._lines = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
        self.feed(text)
        self.close()

    def _add(self, kind: str, name: str = "", opaque: bool = False) -> None:
        line, column = self.getpos()
        self.events.append(_Event(kind, name, self._lines[line - 1] + column, opaque))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._add("empty" if tag in VOID else "start", tag, tag in OPAQUE or _kept(attrs))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._add("empty" if tag in VOID or tag not in OPAQUE else "start", tag, _kept(attrs))

    def handle_endtag(self, tag: str) -> None:
        self._add("end", tag)

    def handle_data(self, data: str) -> None:
        self._add("text")

    def handle_entityref(self, name: str) -> None:
        self._add("text")

    def handle_charref(self, name: str) -> None:
        self._add("text")

    def handle_comment(self, data: str) -> None:
        self._add("comment")

    def handle_decl(self, decl: str) -> None:
        self._add("other")

    def handle_pi(self, data: str) -> None:
        self._add("other")

    def unknown_decl(self, data: str) -> None:
        self._add("other")


def _kept(attributes: list[tuple[str, str | None]]) -> bool:
    """True if the attributes keep the content of an element from translation."""
    named = dict(attributes)
    classes = (named.get("class") or "").split()
    return (named.get("translate") or "").lower() == "no" or "notranslate" in classes


def read_html(data: bytes) -> Document:
    """An HTML document or a fragment.

    Raises:
        DocumentError: the data are not UTF-8.
    """
    mark, text = utf8_text(data)
    return Document(tuple(html_parts(text)), escape_text, mark=mark)


def html_parts(text: str) -> list[str | Unit]:
    """Markup and units of a text with tags."""
    events = _Reader(text).events
    ends = [*(event.offset for event in events), len(text)][1:]
    parts: list[str | Unit] = [text[: events[0].offset]] if events else [text]
    runs: list[MarkupRun] = []
    kept, depth, block = "", 0, ""  # an element whose content stays
    for event, end in zip(events, ends, strict=True):
        markup = text[event.offset : end]
        if kept:
            block += markup
            depth += (event.kind == "start") - (event.kind == "end") if event.name == kept else 0
            if depth == 0:
                if kept in OPAQUE_INLINE:
                    runs.append(MarkupRun(block, "", "void"))
                else:
                    _end_unit(parts, runs)
                    parts.append(block)
                kept = ""
        elif event.kind == "start" and event.opaque:
            kept, depth, block = event.name, 1, markup
        elif event.kind == "text":
            runs.append(MarkupRun(markup, unescape(markup)))
        elif event.kind == "comment" or event.name in INLINE:
            kind = {"start": "open", "end": "close"}.get(event.kind, "void")
            runs.append(MarkupRun(markup, "", kind))  # type: ignore[arg-type]
        else:
            _end_unit(parts, runs)
            parts.append(markup)
    _end_unit(parts, runs)
    return [*parts, *([block] if kept else [])]


def _end_unit(parts: list[str | Unit], runs: list[MarkupRun]) -> None:
    """Moves the runs of a text into the parts."""
    if runs:
        parts += unit_of(runs)
        runs.clear()
