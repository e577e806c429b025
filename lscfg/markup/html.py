"""HTML: the texts of its elements.

Attributes stay, and so do scripts, code, templates and what ``translate="no"`` marks.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from html import unescape
from html.parser import HTMLParser
from itertools import accumulate

from lscfg.markup.document import SEPARATOR, Document, MarkupRun, Unit, escape_text, one_word, unit_of, utf8_text
from lscfg.markup.encoding import means_utf_8, must_be_ascii
from lscfg.markup.html_elements import INLINE, HtmlEvent, element_ends
from lscfg.markup.templates import TemplateSpan, template_spans, without_templates

# fmt: off
OPAQUE = frozenset((
    "code", "iframe", "kbd", "math", "noembed", "noframes", "plaintext", "pre", "samp", "script", "style", "svg",
    "template", "textarea", "var", "xmp",
))
"""Elements whose content stays."""
# fmt: on

OPAQUE_INLINE = frozenset(["code", "kbd", "math", "samp", "var"]) | INLINE

VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"]
)
"""Elements without an end."""


MARK = "\x1a"
"""A character without meaning that replaces one with a meaning, so that offsets stay."""


_END_OF_INSTRUCTION = re.compile("</[a-z]|>", re.IGNORECASE)


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

    def parse_pi(self, i: int) -> int:
        """Returns the end of ``<?...>``, -1 if it has none.

        Where that is no code, as in ``<code><?php</code>``, it ends before the end tag that browsers count to it.
        """
        end = _END_OF_INSTRUCTION.search(self.rawdata, i + 2)
        if end is None:
            return -1
        self._add("other")
        return end.end() if end[0] == ">" else end.start()

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

    def _add(self, kind: str, name: str = "", opaque: bool = False, charset: str = "") -> None:
        line, column = self.getpos()
        self.events.append(HtmlEvent(kind, name, self._lines[line - 1] + column, opaque, charset))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        charset = _charset(attrs) if tag == "meta" else ""
        self._add("empty" if tag in VOID else "start", tag, tag in OPAQUE or _kept(attrs), charset)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        charset = _charset(attrs) if tag == "meta" else ""
        self._add("empty" if tag in VOID or tag not in OPAQUE else "start", tag, _kept(attrs), charset)

    def handle_endtag(self, tag: str) -> None:
        self._add("end", tag)

    def handle_data(self, data: str) -> None:
        self._add("text")

    def handle_comment(self, data: str) -> None:
        self._add("comment")

    def handle_decl(self, decl: str) -> None:
        self._add("other")

    def unknown_decl(self, data: str) -> None:
        self._add("other")


def _named(attributes: list[tuple[str, str | None]]) -> dict[str, str]:
    """Attributes by name; as in browsers, the first of a name counts."""
    return {name: unescape((value or "").replace(MARK, "&")) for name, value in reversed(attributes)}


def _kept(attributes: list[tuple[str, str | None]]) -> bool:
    """True if the attributes keep the content of an element from translation."""
    named = _named(attributes)
    classes = named.get("class", "").split()
    return named.get("translate", "").lower() == "no" or "notranslate" in classes


_CHARSET = re.compile(r"""charset\s*=\s*["']?\s*([^\s;"']+)""", re.IGNORECASE)
_LABEL = re.compile(r"[\w.:+-]{1,40}", re.ASCII)
_XML = re.compile(r"""<\?xml\b[^>]*?\sencoding\s*=\s*["']([\w.-]{1,40})["']""", re.ASCII)


def _charset(attributes: list[tuple[str, str | None]]) -> str:
    """The encoding that a meta element declares, empty if it declares none, or one that a template inserts."""
    named = _named(attributes)
    label = named.get("charset", "").strip()
    if not label and named.get("http-equiv", "").strip().lower() == "content-type":
        found = _CHARSET.search(named.get("content", ""))
        label = found[1] if found else ""
    return label if _LABEL.fullmatch(label) else ""


def read_html(data: bytes) -> Document:
    """An HTML document or a fragment.

    Raises:
        DocumentError: the data are not UTF-8, or declare another encoding and are not ASCII.
    """
    mark, text = utf8_text(data)
    spans = template_spans(text)
    events = _Reader(without_templates(text, spans, MARK)).events
    label, offset = ("", 0) if mark else _declaration(text, events)  # the mark precedes declarations
    is_ascii = must_be_ascii(text, label, text.count("\n", 0, offset) + 1)
    return Document(tuple(_parts(text, events, spans)), escape_text, mark=mark, ascii=is_ascii)


def _declaration(text: str, events: Sequence[HtmlEvent]) -> tuple[str, int]:
    """The encoding that a document declares, with its place, empty if it declares none or UTF-8 everywhere.

    Readers disagree about which of a declaration of XML and a meta element counts.
    """
    xml = _XML.match(text)
    found = [(xml[1], 0)] if xml else []
    found += [(event.charset, event.offset) for event, _ in _outside(events) if event.charset][:1]
    # to browsers, a meta element in whatever precedes it is not in UTF-16
    return next(((one, at) for one, at in found if not means_utf_8(one)), ("", 0))


def _outside(events: Sequence[HtmlEvent]) -> Iterator[tuple[HtmlEvent, int]]:
    """Events outside elements whose content stays, each with the number of the next such event."""
    elements, after = element_ends(events), 0  # the event after an element whose content stays
    for number, event in enumerate(events):
        if number >= after:
            after = elements[number] if event.kept else number + 1
            if event.kept and event.name == "plaintext":  # which nothing ends
                after = len(events)
            yield event, after


def _parts(text: str, events: Sequence[HtmlEvent], spans: Sequence[TemplateSpan]) -> list[str | Unit]:
    """Markup and units of a text with tags."""
    offsets = [*(event.offset for event in events), len(text)]
    parts: list[str | Unit] = [text[: events[0].offset]] if events else [text]
    runs: list[MarkupRun] = []
    for event, after in _outside(events):
        markup = text[event.offset : offsets[after]]
        if event.kind == "text":
            for place, stop, inline in _pieces(event.offset, offsets[after], spans):
                if inline is None:
                    _add_text(runs, text[place:stop])
                elif inline:
                    runs.append(MarkupRun(text[place:stop], "", "void"))
                else:
                    _end_unit(parts, runs)
                    parts.append(text[place:stop])
        elif event.kind == "comment" or event.name in (OPAQUE_INLINE if event.kept else INLINE):
            kind = "void" if event.kept else {"start": "open", "end": "close"}.get(event.kind, "void")
            runs.append(MarkupRun(markup, "", kind))  # type: ignore[arg-type]
        else:
            _end_unit(parts, runs)
            parts.append(markup)
    _end_unit(parts, runs)
    return parts


def _pieces(begin: int, end: int, spans: Sequence[TemplateSpan]) -> Iterator[tuple[int, int, bool | None]]:
    """Characters [begin, end) of a document without tags of HTML as code of templates and, with None, texts."""
    for place, stop, inline in spans[bisect_left(spans, (begin,)) : bisect_left(spans, (end,))]:
        if begin < place:
            yield begin, place, None
        yield place, stop, inline
        begin = stop
    if begin < end:
        yield begin, end, None


def _add_text(runs: list[MarkupRun], markup: str) -> None:
    """Adds a text to the runs of a unit, apart from words that are shown apart."""
    plain = unescape(markup)
    if plain[:1].isalnum() and (border := _border_of_links(runs)):
        runs.insert(border, SEPARATOR)
    elif len(runs) > 1 and _VALUE.match(runs[-1].markup) and one_word(runs[-2].text[-1:] + plain[:1]):
        runs.insert(-1, SEPARATOR)
    runs.append(MarkupRun(markup, plain))


_VALUE = re.compile(r"\{\{(?!!)|<[%?]")
"""Beginning of code for a value that separates words."""

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
