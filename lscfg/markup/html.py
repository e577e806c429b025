"""HTML: the texts of its elements. Attributes stay, and so do scripts, code and what ``translate="no"`` marks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import unescape
from html.parser import HTMLParser
from itertools import accumulate

from lscfg.markup.document import SEPARATOR, Document, MarkupRun, Unit, escape_text, unit_of, utf8_text
from lscfg.markup.html_elements import INLINE, HtmlEvent, element_ends

OPAQUE = frozenset(["code", "kbd", "math", "pre", "samp", "script", "style", "svg", "template", "textarea", "var"])
"""Elements whose content stays."""

OPAQUE_INLINE = frozenset(["code", "kbd", "math", "samp", "var"]) | INLINE

VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"]
)
"""Elements without an end."""


MARK = "\x1a"
"""A character without meaning that replaces one with a meaning, so that offsets stay."""


class _Reader(HTMLParser):
    """Collects what a document consists of, with offsets."""

    def __init__(self, text: str):
        super().__init__(convert_charrefs=False)
        self.events: list[HtmlEvent] = []
        self._lines = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
        self._unended: set[str] = set()
        # The parser finds no more tags after some "&", and searches for the end of a tag after each "<", even after the
        # last ">".
        tags = text.rfind(">") + 1
        self.feed((text[:tags] + text[tags:].replace("<", MARK)).replace("&", MARK))
        self.close()

    def parse_comment(self, i: int, report: bool = True) -> int:
        """Returns the end of a comment, -1 if it has none. Then no later one has an end, and none is looked for."""
        found = -1 if "-->" in self._unended else super().parse_comment(i, report)
        if found < 0:
            self._unended.add("-->")
        return found

    def parse_marked_section(self, i: int, report: bool = True) -> int:
        """Returns the end of ``<![...>`` or ``<![CDATA[...]]>``, -1 if it has none.

        The base class fails if no known name follows.
        """
        end = "]]>" if self.rawdata[i : i + 9].upper() == "<![CDATA[" else ">"
        found = -1 if end in self._unended else self.rawdata.find(end, i)
        if found < 0:
            self._unended.add(end)
            return -1
        self._add("other")
        return found + len(end)

    def _add(self, kind: str, name: str = "", opaque: bool = False) -> None:
        line, column = self.getpos()
        self.events.append(HtmlEvent(kind, name, self._lines[line - 1] + column, opaque))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._add("empty" if tag in VOID else "start", tag, tag in OPAQUE or _kept(attrs))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._add("empty" if tag in VOID or tag not in OPAQUE else "start", tag, _kept(attrs))

    def handle_endtag(self, tag: str) -> None:
        self._add("end", tag)

    def handle_data(self, data: str) -> None:
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
    named = {name: unescape((value or "").replace(MARK, "&")) for name, value in attributes}
    classes = named.get("class", "").split()
    return named.get("translate", "").lower() == "no" or "notranslate" in classes


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
    offsets = [*(event.offset for event in events), len(text)]
    parts: list[str | Unit] = [text[: events[0].offset]] if events else [text]
    runs: list[MarkupRun] = []
    elements, after = element_ends(events), 0  # the event after an element whose content stays
    for number, event in enumerate(events):
        if number < after:
            continue
        kept = event.kind == "start" and event.opaque
        after = elements[number] if kept else number + 1
        markup = text[event.offset : offsets[after]]
        if event.kind == "text":
            plain = unescape(markup)
            if plain[:1].isalnum() and (border := _border_of_links(runs)):
                runs.insert(border, SEPARATOR)
            runs.append(MarkupRun(markup, plain))
        elif event.kind == "comment" or event.name in (OPAQUE_INLINE if kept else INLINE):
            kind = "void" if kept else {"start": "open", "end": "close"}.get(event.kind, "void")
            runs.append(MarkupRun(markup, "", kind))  # type: ignore[arg-type]
        else:
            _end_unit(parts, runs)
            parts.append(markup)
    _end_unit(parts, runs)
    return parts


_LINK = re.compile(r"<(/?)(?:a|label)\b", re.IGNORECASE)


def _border_of_links(runs: Sequence[MarkupRun]) -> int:
    """The number of the run that begins a link or label right after the end of another one; 0: none does so.

    Right after: no text is between both, and the text before ends in a letter or digit.
    """
    last = next((k for k in reversed(range(len(runs))) if runs[k].kind is None), None)
    if last is None or not runs[last].text[-1:].isalnum():
        return 0
    ends = [bool(tag[1]) if (tag := _LINK.match(run.markup)) else None for run in runs[last + 1 :]]
    begin = next((k for k, end in enumerate(ends) if end is False and True in ends[:k]), None)
    return 0 if begin is None else last + 1 + begin


def _end_unit(parts: list[str | Unit], runs: list[MarkupRun]) -> None:
    """Moves the runs of a text into the parts."""
    if runs:
        parts += unit_of(runs, flows=True)
        runs.clear()
