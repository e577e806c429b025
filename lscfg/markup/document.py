"""A document as stretches of markup and units of text, and the placement of inline tags in translations."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from lscfg.errors import LscfgError

# A tag inside a sentence goes to the border of a word at the same relative place. Tags keep their order, so markup that
# was well nested stays well nested.


WITHOUT_BLANKS = "\u0e00"
"""Most scripts that write no blanks between words have larger characters: Thai, Khmer, Chinese characters, kana."""


class DocumentError(LscfgError, ValueError):
    """A document that cannot be read; the message gives the cure."""


class Tag(NamedTuple):
    """An inline tag."""

    offset: int
    """Number of characters of the text before the tag."""
    markup: str
    kind: Literal["open", "close", "void"]


@dataclass(frozen=True)
class Unit:
    """A text to translate.

    Attributes:
        text: without tags; entities are decoded.
        tags: inline tags in their order.
        lines: number of lines of the text in the document.
    """

    text: str
    tags: tuple[Tag, ...] = ()
    lines: int = 1


class UnitPiece(NamedTuple):
    """A sentence of a unit with the text after the sentence, and the same of the translation."""

    source: str
    gap: str
    translation: str
    after: str


@dataclass(frozen=True)
class Document:
    """A document.

    Attributes:
        parts: markup as it is, and units.
        escape: turns a text into markup.
        newline: between the lines of a unit.
        mark: the byte order mark of the document, or empty.
    """

    parts: tuple[str | Unit, ...]
    escape: Callable[[str], str] = str
    newline: str = "\n"
    mark: bytes = b""

    @property
    def units(self) -> list[Unit]:
        """All units in order."""
        return [part for part in self.parts if isinstance(part, Unit)]

    @property
    def inner_tags(self) -> int:
        """Number of tags whose place in a translation is a guess: those inside a text."""
        return sum(0 < tag.offset < len(unit.text) for unit in self.units for tag in unit.tags)

    def filled(self, pieces: Sequence[Sequence[UnitPiece]]) -> bytes:
        """The document with the translation of each unit, in UTF-8."""
        rest = iter(pieces)
        done = [part if isinstance(part, str) else self._fill(part, next(rest)) for part in self.parts]
        return self.mark + "".join(done).encode()

    def _fill(self, unit: Unit, pieces: Sequence[UnitPiece]) -> str:
        text = "".join(piece.translation + piece.after for piece in pieces)
        marks: dict[int, list[str]] = {}
        for place, tag in zip(places(unit.tags, pieces), unit.tags, strict=True):
            marks.setdefault(place, []).append(tag.markup)
        found, breaks = [], line_breaks(text, unit.lines)
        begin = 0
        for place in sorted({*marks, *breaks}):
            found.append(self.escape(text[begin:place]))
            found += marks.get(place, [])
            begin = place
            if place in breaks:
                found.append(self.newline)
                begin += text[place : place + 1] == " "
        return "".join(found) + self.escape(text[begin:])


def places(tags: Sequence[Tag], pieces: Sequence[UnitPiece]) -> list[int]:
    """The place of each tag in the text of the translation, as a number of characters; never decreasing."""
    found: list[int] = []
    number, begin, target = 0, 0, 0  # of the piece: where its sentence and its translation begin
    last, opened = 0, -1  # place of the last tag, and of the last opening tag that nothing follows yet
    for tag in tags:
        while number + 1 < len(pieces) and tag.offset >= begin + len(pieces[number].source) + len(pieces[number].gap):
            begin += len(pieces[number].source) + len(pieces[number].gap)
            target += len(pieces[number].translation) + len(pieces[number].after)
            number += 1
        piece = pieces[number]
        place = target + _place_in(tag, tag.offset - begin, piece)
        place = max(place, last)
        if tag.kind == "close" and place <= opened and piece.translation != piece.source:
            place = target + _end_after(piece.translation, opened - target)
        last = place
        opened = place if tag.kind == "open" else -1 if tag.kind == "void" else opened
        found.append(place)
    return found


def _place_in(tag: Tag, offset: int, piece: UnitPiece) -> int:
    """The place in the translation of a sentence of a tag at an offset of the sentence."""
    if offset <= 0 or not piece.source:
        return 0
    if piece.translation == piece.source:
        return min(offset, len(piece.source))
    if offset >= len(piece.source):
        return len(piece.translation)
    wanted = offset / len(piece.source) * len(piece.translation)
    borders = [word.end() if tag.kind == "close" else word.start() for word in re.finditer(r"\S+", piece.translation)]
    if not borders or (len(borders) == 1 and max(piece.translation) > WITHOUT_BLANKS):
        return round(wanted)
    k = bisect_left(borders, wanted)
    near = borders[max(0, k - 1) : k + 1]
    return min(near, key=lambda border: (abs(border - wanted), border))


def _end_after(text: str, place: int) -> int:
    """The end of the first word that ends after a place."""
    return next((word.end() for word in re.finditer(r"\S+", text) if word.end() > place), len(text))


def line_breaks(text: str, lines: int) -> set[int]:
    """Places in a text for the ends of its lines, all but the last: blanks, or any place in a text without blanks."""
    blanks = [found.start() for found in re.finditer(" ", text.rstrip())]
    found: set[int] = set()
    for number in range(1, lines):
        wanted = number * len(text) / lines
        free = [place for place in blanks if place > max(found, default=0)]
        if free:
            found.add(min(free, key=lambda place: (abs(place - wanted), place)))
        elif not blanks and len(text) >= lines:
            found.add(round(wanted))
    return found


class MarkupRun(NamedTuple):
    """Part of the content of an element: a text as it is decoded and as it stands, or a tag."""

    markup: str
    text: str = ""
    kind: Literal["open", "close", "void"] | None = None
    """Kind of a tag; None: a text."""


def unit_of(runs: Sequence[MarkupRun], lines: int = 1) -> list[str | Unit]:
    """The content of an element: markup, a unit and markup; or only markup where no text is."""
    if not any(run.kind is None and run.text.strip() for run in runs):
        return ["".join(run.markup for run in runs)]
    first, last = 0, len(runs)
    while runs[first].kind is not None or not runs[first].text.strip():
        first += 1
    while runs[last - 1].kind is not None or not runs[last - 1].text.strip():
        last -= 1
    inner = [*runs[first:last]]
    lead, inner[0] = _without_blanks(inner[0], left=True)
    trail, inner[-1] = _without_blanks(inner[-1], left=False)
    text, tags = "", list[Tag]()
    between = False  # the last run is a tag after a blank, between words
    for run in inner:
        if run.kind is None:
            plain = run.text
            if between and plain[:1].isspace():  # a translation has one blank there, which comes before the tag
                tags[-1] = tags[-1]._replace(markup=tags[-1].markup + plain[0])
                plain = plain[1:]
            text += plain
        else:
            tags.append(Tag(len(text), run.markup, run.kind))
        between = run.kind == "void" and text[-1:].isspace()
    before = "".join(run.markup for run in runs[:first]) + lead
    after = trail + "".join(run.markup for run in runs[last:])
    return [before, Unit(text, tuple(tags), lines), after]


def _without_blanks(run: MarkupRun, left: bool) -> tuple[str, MarkupRun]:
    """The blanks at one end of a text, and the run without these blanks."""
    text = run.text.lstrip() if left else run.text.rstrip()
    blanks = run.text[: len(run.text) - len(text)] if left else run.text[len(text) :]
    return blanks, MarkupRun(text, text)


def utf8_text(data: bytes) -> tuple[bytes, str]:
    """The byte order mark and the text of UTF-8.

    Raises:
        DocumentError: the data are not UTF-8.
    """
    mark = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""
    try:
        return mark, data[len(mark) :].decode("utf-8")
    except UnicodeDecodeError as error:
        raise DocumentError(
            f"not UTF-8, from byte {error.start + len(mark) + 1} on; convert the file, for example with iconv -t UTF-8"
        ) from None
