"""A document as stretches of markup and units of text, and the placement of inline tags in translations."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Literal, NamedTuple

from lscfg.errors import LscfgError
from lscfg.markup.project import TagNode, placed_tags
from lscfg.prepare.unspaced import cut_places

# Where links of words are known, tags follow their words, see ``lscfg.markup.project``. Elsewhere a tag goes to the
# border of a word at the same relative place. Either way, markup that was well nested stays well nested.

MOST_ALIGNED, MOST_CELLS = 200, 20_000_000
"""Number of tags in a unit, and of cells in tables for them, above which tags keep their relative places."""

OPENING = "([{«„“‘¿¡"
"""Signs that no blank follows."""

_LINE_END = re.compile(r"\r\n|\r|\n")

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
    apart: bool = False
    """A blank precedes the tag, which is void."""
    beyond: bool = False
    """The blank at the end of the markup belongs after the tags that end right after this one."""
    pair: str = ""
    """Name that the other tag of a pair shares; empty: the names of both tags count."""
    spaced: bool = False
    """The tag separates two words, and the text has a blank there, which the markup replaces."""


@dataclass(frozen=True)
class Unit:
    """A text to translate.

    Attributes:
        text: without tags; entities are decoded.
        tags: inline tags in their order.
        lines: number of lines of the text in the document.
        unchanged: the unit with the line ends and blanks of the document; None if this one has them.
    """

    text: str
    tags: tuple[Tag, ...] = ()
    lines: int = 1
    unchanged: Unit | None = None


class WordAlignment(NamedTuple):
    """Words of a sentence and of its translation."""

    source: Sequence[tuple[int, int]]
    target: Sequence[tuple[int, int]]
    """Characters [i, j) of the words."""
    links: Sequence[Sequence[int]]
    """Source words of each target word."""


class UnitPiece(NamedTuple):
    """A sentence of a unit with the text after the sentence, and the same of the translation."""

    source: str
    gap: str
    translation: str
    after: str
    alignment: WordAlignment | None = None


@dataclass(frozen=True)
class Document:
    """A document.

    Attributes:
        parts: markup as it is, and units.
        escape: turns a text into markup.
        newline: between the lines of a unit.
        mark: the byte order mark of the document, or empty.
        lined: units are lines, by whose numbers people find them.
        ascii: characters beyond ASCII, which only translations contain, become references ``&#N;``.
        skipped: texts that should be translated but are no units, because no place for the translation is known.
        languages: pairs of codes of the source and the target that the parts of the document name, or empty texts.
    """

    parts: tuple[str | Unit, ...]
    escape: Callable[[str], str] = str
    newline: str = "\n"
    mark: bytes = b""
    lined: bool = False
    ascii: bool = False
    skipped: tuple[str, ...] = ()
    languages: tuple[tuple[str, str], ...] = ()

    @property
    def units(self) -> list[Unit]:
        """All units in order."""
        return [part for part in self.parts if isinstance(part, Unit)]

    @property
    def first_lines(self) -> list[int]:
        """Number, from 1, of the first line of each unit; meaningful where units are lines."""
        found, line = list[int](), 1
        for part in self.parts:
            if isinstance(part, Unit):
                found.append(line)
            line += part.lines - 1 if isinstance(part, Unit) else len(_LINE_END.findall(part))
        return found

    @property
    def inner_tags(self) -> int:
        """Number of tags whose place in a translation is inferred: those inside a text."""
        return sum(len(unit.tags) for unit in self.units)

    def filled(self, pieces: Sequence[Sequence[UnitPiece]]) -> bytes:
        """The document with the translation of each unit, in UTF-8 or, as ``ascii`` asks, ASCII."""
        rest = iter(pieces)
        done = [part if isinstance(part, str) else self._fill(part, next(rest)) for part in self.parts]
        return self.mark + "".join(done).encode(*(("ascii", "xmlcharrefreplace") if self.ascii else ()))

    def _fill(self, unit: Unit, pieces: Sequence[UnitPiece]) -> str:
        if unit.unchanged is not None and all(piece.translation == piece.source for piece in pieces):
            unit = unit.unchanged
            pieces = [UnitPiece(unit.text, "", unit.text, "")]
        text = "".join(piece.translation + piece.after for piece in pieces)
        marks: dict[int, list[Tag]] = {}
        for place, number in tag_places(unit.tags, pieces):
            marks.setdefault(place, []).append(unit.tags[number])
        found, breaks = [], line_breaks(text, unit.lines)
        begin = 0
        for place in sorted({*marks, *breaks}):
            found.append(self.escape(text[begin:place]))
            own, blank = marks.get(place, ()), text[place : place + 1] == " "
            spaced = any(tag.spaced for tag in own)
            if spaced and not blank:  # then the blank, if any, is before the tags
                found[-1] = found[-1].removesuffix(" ")
            found += _markup_at(own, text[max(0, place - 1) : place], text[place : place + 1])
            if place in breaks:
                found.append(self.newline)
            begin = place + (blank and (spaced or place in breaks))
        return "".join(found) + self.escape(text[begin:])


def _markup_at(tags: Iterable[Tag], before: str, after: str) -> list[str]:
    """The markup of the tags at one place.

    Args:
        before: the character before the place, or empty.
        after: the one after the place.
    """
    found, opened = list[str](), 0  # the tags from there on are opening ones
    held = ""  # a blank to write before the next tag that closes none
    for tag in tags:
        if held and tag.kind != "close":
            found.append(held)
            opened, held = len(found), ""
        markup = _spaced(tag, before, after)
        if tag.kind == "void":
            before = markup
            if markup[:1] == " " != tag.markup[:1]:
                found.insert(opened, " ")  # outside the pair that the tag begins
                markup = markup[1:]
            if tag.beyond and markup[-1:].isspace():
                markup, held = markup[:-1], markup[-1]
        found.append(markup)
        opened = opened if tag.kind == "open" else len(found)
    return [*found, held]


def _spaced(tag: Tag, before: str, after: str) -> str:
    """The markup of a tag; one that follows a blank does so in the translation, too, as in ``see <code>x</code>``."""
    last = before[-1:]
    if not tag.apart or not last.strip() or last in OPENING or last >= WITHOUT_BLANKS:
        return tag.markup
    # the blank of the text that was after the tag has moved into the markup; none precedes a full stop
    kept = tag.markup.rstrip() if after.strip() and not after.isalnum() and after not in OPENING else tag.markup
    return " " + kept


def tag_places(tags: Sequence[Tag], pieces: Sequence[UnitPiece]) -> list[tuple[int, int]]:
    """The places of tags in the text of the translation, never decreasing, each with the number of its tag."""
    unchanged = all(piece.translation == piece.source for piece in pieces)
    partners = partner_tags(tags)
    # a tag whose partner is in another unit: tags around it must not pass it
    apart = len(tags) > 1 and any(tag.kind != "void" and k not in partners for k, tag in enumerate(tags))
    unaligned = any(piece.source and piece.alignment is None for piece in pieces)
    words = sum(len(piece.alignment.target) for piece in pieces if piece.alignment)
    large = len(tags) > MOST_ALIGNED or (len(tags) + 8) * words**2 > MOST_CELLS  # a table for each tag, and eight more
    if unchanged or apart or unaligned or large:
        return [(place, number) for number, place in enumerate(places(tags, pieces))]
    source, target, links = _joined_alignment(pieces)
    before = "".join(piece.source + piece.gap for piece in pieces)
    placed = placed_tags(_tag_tree(tags, partners, source), links)
    at = {one.tag: one.word for one in placed}
    begins = [*(begin for begin, _ in target), sum(len(piece.translation + piece.after) for piece in pieces)]
    ends = [0, *(end for _, end in target)]
    found: list[tuple[int, int]] = []
    for number, word in placed:
        partner = partners.get(number, number)
        wide = at[partner] != word  # the first tag of a pair begins a word, the second ends one
        ended = partner < number if wide else _after_a_word(before, tags[min(number, partner)].offset)
        place = ends[word] if ended else begins[word]
        found.append((max(place, found[-1][0] if found else 0), number))
    return found


def _after_a_word(text: str, offset: int) -> bool:
    """True if a word ends at a place of a text, and none begins there."""
    before, after = text[offset - 1 : offset], text[offset : offset + 1]
    return bool(before.strip()) and not after.strip()


def partner_tags(tags: Iterable[Tag | MarkupRun]) -> dict[int, int]:
    """The other tag of each tag that belongs to a pair; tags that would cross another pair have none."""
    found: dict[int, int] = {}
    opened, names = list[tuple[str, int]](), Counter[str]()
    for number, tag in enumerate(tags):
        if tag.kind not in ("open", "close") or not (name := tag.pair or _name(tag.markup)):
            continue
        if tag.kind == "open":
            opened.append((name, number))
            names[name] += 1
            continue
        if not names[name]:
            continue
        while True:
            own, other = opened.pop()
            names[own] -= 1
            if own == name:
                found |= {other: number, number: other}
                break
    return found


def _name(markup: str) -> str:
    """The name of a tag; empty if the markup is none."""
    found = _NAME.match(markup)
    return found[1] if found else ""


_NAME = re.compile(r"\s*</?\s*([^\s/>]+)")


def _tag_tree(tags: Sequence[Tag], partners: Mapping[int, int], words: Sequence[tuple[int, int]]) -> list[TagNode]:
    """Pairs and single tags over source words."""
    begins, ends = [begin for begin, _ in words], [end for _, end in words]
    roots: list[TagNode] = []
    inside = [roots]
    for number, tag in enumerate(tags):
        partner = partners.get(number)
        if partner is not None and partner < number:
            inside.pop()
            continue
        node = TagNode(number, bisect_right(ends, tag.offset), partner)
        inside[-1].append(node)
        if partner is not None:
            offset = tags[partner].offset
            node.stop = node.begin if offset == tag.offset else max(node.begin, bisect_left(begins, offset))
            inside.append(node.children)
    return roots


def _joined_alignment(
    pieces: Sequence[UnitPiece],
) -> tuple[list[tuple[int, int]], list[tuple[int, int]], list[list[int]]]:
    """Characters of source words and of whole target words, and source words of each target word, of a unit."""
    source: list[tuple[int, int]] = []
    target: list[tuple[int, int]] = []
    links: list[list[int]] = []
    begin = start = 0
    for piece in pieces:
        first, glued = len(source), False
        for (i, j), own in zip(*piece.alignment[1:], strict=True) if piece.alignment else ():
            if i == j:
                continue
            glued = bool(target) and target[-1][1] == start + i and one_word(piece.translation[i - 1 : i + 1])
            if glued:
                target[-1] = target[-1][0], start + j
                links[-1] = sorted({*links[-1], *(first + k for k in own)})
            else:
                target.append((start + i, start + j))
                links.append([first + k for k in own])
        source += [(begin + i, begin + j) for i, j in (piece.alignment.source if piece.alignment else ())]
        begin += len(piece.source) + len(piece.gap)
        start += len(piece.translation) + len(piece.after)
    return source, target, links


def one_word(two: str) -> bool:
    """True if two characters next to each other belong to one word, where blanks separate words."""
    return len(two) == 2 and all(sign.isalnum() and sign < WITHOUT_BLANKS for sign in two)


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
    if not borders:
        return round(wanted)
    if len(borders) == 1 and (inner := cut_places(piece.translation)):
        borders = [0, *inner, len(piece.translation)]
    k = bisect_left(borders, wanted)
    near = borders[max(0, k - 1) : k + 1]
    return min(near, key=lambda border: (abs(border - wanted), border))


def _end_after(text: str, place: int) -> int:
    """The end of the first word that ends after a place."""
    return next((word.end() for word in re.finditer(r"\S+", text) if word.end() > place), len(text))


def line_breaks(text: str, lines: int) -> set[int]:
    """Places in a text for the ends of its lines, all but the last: blanks, or ``cut_places`` of a text without blanks.

    A text with too few such places gets fewer lines.
    """
    allowed = [found.start() for found in re.finditer(" ", text.rstrip())] or cut_places(text)
    found, free = set[int](), bisect_right(allowed, 0)
    for number in range(1, lines):
        if free == len(allowed):
            break
        wanted = number * len(text) / lines
        k = bisect_left(allowed, wanted, free)
        near = allowed[max(free, k - 1) : k + 1]
        best = min(near, key=lambda place: (abs(place - wanted), place))
        found.add(best)
        free = bisect_right(allowed, best)
    return found


class MarkupRun(NamedTuple):
    """Part of the content of an element: a text as it is decoded and as it stands, or a tag."""

    markup: str
    text: str = ""
    """A blank for a tag between words that it separates."""
    kind: Literal["open", "close", "void"] | None = None
    """Kind of a tag; None: a text."""
    pair: str = ""
    """See ``Tag.pair``."""


SEPARATOR = MarkupRun("", " ")
"""A blank between words that the document writes together but shows apart."""


def unit_of(runs: Sequence[MarkupRun], lines: int = 1, flows: bool = False) -> list[str | Unit]:
    """The content of an element: markup, a unit and markup; or only markup where no text is.

    Args:
        flows: blanks and line ends between two tags are one blank, as in HTML.
    """
    if not any(run.kind is None and run.text.strip() for run in runs):
        return ["".join(run.markup for run in runs)]
    first, last = 0, len(runs)
    while runs[first].kind is not None or not runs[first].text.strip():
        first += 1
    while runs[last - 1].kind is not None or not runs[last - 1].text.strip():
        last -= 1
    first, last = _with_partners(runs, first, last)
    lead, trail, inner = _stripped(runs[first:last])
    plain = [run._replace(text="") if run.kind else run for run in inner if run is not SEPARATOR]
    unit = unchanged = _joined(plain, lines)
    if flows:
        unit = _joined([run._replace(text=_BLANKS.sub(" ", run.text)) for run in inner], lines, flows=True)
    elif any(run.kind and run.text for run in inner):
        unit = _joined(inner, lines)
    if unit != unchanged:
        unit = replace(unit, unchanged=unchanged)
    before = "".join(run.markup for run in runs[:first]) + lead
    after = trail + "".join(run.markup for run in runs[last:])
    return [before, unit, after]


def _joined(inner: Iterable[MarkupRun], lines: int, flows: bool = False) -> Unit:
    """The unit of some runs.

    Args:
        flows: a blank may move to the other side of a tag that opens or closes.
    """
    text, tags = "", list[Tag]()
    single = -1  # the last single tag between a blank and the next text
    between = -1  # the first tag that separates the text before from the next one
    for run in inner:
        if run.kind is not None:
            after_blank = (text if single < 0 else tags[single].markup)[-1:].isspace()
            apart = run.kind == "void" and after_blank
            tags.append(Tag(len(text), run.markup, run.kind, apart, pair=run.pair))
            if run.text and text and not (after_blank or text[-1].isspace()) and between < 0:
                between = len(tags) - 1
            if run.kind == "void" and (single >= 0 or after_blank):
                single = len(tags) - 1
            continue
        plain = run.text
        if between >= 0 and plain:
            if not plain[0].isspace():
                tags[between] = tags[between]._replace(spaced=True)
                text += " "
            between = -1
        beyond = single < len(tags) - 1
        if single >= 0 and plain[:1].isspace() and (flows or not beyond):
            tag = tags[single]  # a translation has one blank there, which comes before the tag
            if not (flows and tag.markup[-1:].isspace()):
                tags[single] = tag._replace(markup=tag.markup + plain[0], beyond=beyond)
            plain = plain[1:]
        elif flows and text[-1:].isspace() and plain.startswith(" "):
            plain = plain[1:]
        text += plain
        single = single if flows and not plain else -1
    return Unit(text, tuple(tags), lines)


_BLANKS = re.compile(r"[\t\n\f\r][ \t\n\f\r]*| [ \t\n\f\r]+")


def _with_partners(runs: Sequence[MarkupRun], first: int, last: int) -> tuple[int, int]:
    """Extends a range of runs until no tag outside is the partner of one inside."""
    pairs = [(one, other) for one, other in partner_tags(runs).items() if one < other]
    before: tuple[int, int] | None = None
    while before != (first, last):
        before = first, last
        for one, other in pairs:
            if (first <= one < last) != (first <= other < last):
                first, last = min(first, one), max(last, other + 1)
    return first, last


def _stripped(runs: Sequence[MarkupRun]) -> tuple[str, str, list[MarkupRun]]:
    """The blanks at both ends of the text in some runs, which tags at the ends take, and the runs without them."""
    inner, ends = [*runs], ["", ""]
    for side in (0, 1):
        inner = inner[:: 1 - 2 * side]
        texts = [k for k, run in enumerate(inner) if run.kind is None]
        real = next(k for k in texts if inner[k].text.strip())
        for k in [k for k in texts if k <= real]:
            blanks, rest = (inner[k].markup, MarkupRun("")) if k < real else _without_blanks(inner[k], left=not side)
            inner[k] = rest
            tag = next((n for n in reversed(range(k)) if inner[n].kind is not None), None)
            if tag is None:
                ends[side] = blanks + ends[side] if side else ends[side] + blanks
            else:
                markup = blanks + inner[tag].markup if side else inner[tag].markup + blanks
                inner[tag] = inner[tag]._replace(markup=markup)
        inner = inner[:: 1 - 2 * side]
    return ends[0], ends[1], inner


def _without_blanks(run: MarkupRun, left: bool) -> tuple[str, MarkupRun]:
    """The blanks at one end of a text, and the run without these blanks."""
    text = run.text.lstrip() if left else run.text.rstrip()
    blanks = run.text[: len(run.text) - len(text)] if left else run.text[len(text) :]
    return blanks, MarkupRun(text, text)


def escape_text(text: str) -> str:
    """Replaces the characters of markup in a text by entities; quotation marks stay."""
    return escape(text, quote=False)


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
