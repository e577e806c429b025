"""XLIFF 1.2 and 2.x: empty and missing targets are filled, and all other bytes stay."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Literal, NamedTuple
from xml.parsers import expat

from lscfg.errors import cut
from lscfg.markup.document import (
    Document,
    DocumentError,
    MarkupRun,
    Unit,
    escape_text,
    partner_tags,
    unit_of,
    utf8_text,
)
from lscfg.markup.encoding import must_be_ascii
from lscfg.prepare.codes import BETWEEN, means_space

OPAQUE = frozenset(["bpt", "ept", "it", "ph", "ut", "sub", "data"])
"""Inline elements whose content stays."""
HALVES = (("bpt", "ept"), ("bx", "ex"), ("sc", "ec"), ("sm", "em"))
"""Inline elements that begin and end a part of a text."""

_NAMED_HALF = re.compile(r"(START|CLOSE)_(.+?)(?:_\d+)?")
"""Numbers by which Angular names such elements, with a further number for different elements of a name."""

_Kind = Literal["open", "close", "void"]

_ATTRIBUTE = re.compile(r"""\s([^\s=]+)\s*=\s*(?:"[^"]*"|'[^']*')""")

DEPTH = 100
"""Maximal number of elements inside one another."""


@dataclass
class _Node:
    """An element, or a text, with its place in the document as bytes.

    Attributes:
        begin: first byte of the start tag or of the text.
        inner: first byte after the start tag.
        closing: first byte of the end tag.
        end: first byte after the element.
        code: content of a code of XLIFF 2 that the unit keeps apart.
    """

    name: str
    attributes: dict[str, str]
    begin: int
    inner: int = 0
    closing: int = 0
    end: int = 0
    text: str | None = None
    code: str = ""
    children: list[_Node] = field(default_factory=list)

    def child(self, name: str) -> _Node | None:
        return next((child for child in self.children if child.name == name), None)


class _Reader:
    """The tree of a document.

    Attributes:
        encoding: that the document declares, empty if it declares none.

    Raises:
        DocumentError: the document is not well formed, nested too deeply, or declares entities.
    """

    def __init__(self, data: bytes):
        self.root = _Node("", {}, 0)
        self.encoding = ""
        self._open, self._pending = [self.root], list[tuple[_Node, str]]()
        parser = self._parser = expat.ParserCreate(encoding="utf-8")
        parser.XmlDeclHandler = self._declaration
        parser.ordered_attributes = False
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.CharacterDataHandler = self._text
        parser.CommentHandler = parser.DefaultHandler = lambda _: self._place()
        parser.ProcessingInstructionHandler = lambda *_: self._place()
        parser.StartDoctypeDeclHandler = self._doctype
        try:
            parser.Parse(data, True)
        except expat.ExpatError as error:
            raise DocumentError(f"line {error.lineno}: not well-formed XML: {cut(error)}") from None
        self._settle(len(data))

    def _declaration(self, version: str, encoding: str | None, standalone: int) -> None:
        self.encoding = encoding or ""

    def _place(self) -> int:
        """The byte at which the parser is; whatever came before ends here."""
        place = self._parser.CurrentByteIndex
        self._settle(place)
        return place

    def _settle(self, place: int) -> None:
        for node, name in self._pending:
            setattr(node, name, place)
        self._pending.clear()

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self._open) > DEPTH:
            line = self._parser.CurrentLineNumber
            raise DocumentError(f"line {line}: nested too deeply; at most {DEPTH} elements are read")
        node = _Node(name.rpartition(":")[2], attributes, self._place())
        self._open[-1].children.append(node)
        self._open.append(node)
        self._pending = [(node, "inner")]

    def _end(self, name: str) -> None:
        node, place = self._open.pop(), self._parser.CurrentByteIndex
        if place == node.begin:  # <x/>
            self._pending = [(node, "inner"), (node, "closing"), (node, "end")]
            return
        self._settle(place)
        node.closing = place
        self._pending = [(node, "end")]

    def _text(self, text: str) -> None:
        node = _Node("", {}, self._place(), text=text)
        self._open[-1].children.append(node)
        self._pending = [(node, "end")]

    def _doctype(self, *_: object) -> None:
        raise DocumentError("contains a DOCTYPE, which may declare entities; remove the DOCTYPE")


def read_xliff(data: bytes) -> Document:
    """A document of XLIFF, whose segments without a translation are its units.

    Raises:
        DocumentError: the data are not XLIFF in UTF-8, or declare another encoding and are not ASCII.
    """
    mark, text = utf8_text(data)
    data = data[len(mark) :]
    reader = _Reader(data)
    label = "" if mark else reader.encoding  # the mark precedes the declaration, and nothing else does
    is_ascii = must_be_ascii(text, label, 1)
    root = reader.root.child("xliff")
    if root is None:
        raise DocumentError("the root element is not xliff; the file must be XLIFF 1.2 or 2.x")
    _give_codes(root, {})
    parts: list[str | Unit] = []
    begin, skipped = 0, list[str]()
    for gap in _gaps(root, data, root.attributes.get("version", "").startswith("1")):
        if isinstance(gap, _Node):
            skipped.append(_text_of(gap))
            continue
        unit = unit_of([*_runs(gap.source.children, data)], flows=gap.flows)
        parts += [data[begin : gap.begin].decode(), gap.before, *unit, gap.after]
        begin = gap.end
    whole = (*parts, data[begin:].decode())
    codes = _languages(root)
    return Document(whole, escape_text, mark=mark, ascii=is_ascii, skipped=tuple(skipped), languages=codes)


def _languages(root: _Node) -> tuple[tuple[str, str], ...]:
    """Codes of the source and target languages of each file; files of XLIFF 2 leave them to the root element."""
    whole = root.attributes.get("srcLang", ""), root.attributes.get("trgLang", "")
    files = [child.attributes for child in root.children if child.name == "file"] or [root.attributes]
    found = ((file.get("source-language", ""), file.get("target-language", "")) for file in files)
    return tuple(dict.fromkeys(own if any(own) else whole for own in found))


def _give_codes(node: _Node, codes: Mapping[str, str]) -> None:
    """Gives the codes in an element the contents that their unit keeps in originalData.

    Args:
        codes: contents by number, of a unit around the element.
    """
    if (kept := node.child("originalData")) is not None:
        codes = {one.attributes.get("id", ""): _own_text(one) for one in kept.children}
    node.code = codes.get(node.attributes.get("dataRef", ""), "")
    for child in node.children:
        _give_codes(child, codes)


@dataclass
class _Gap:
    """A source without a translation, and the bytes that its translation replaces, with `before` and `after` around it.

    Attributes:
        source: element whose content is translated.
        flows: True if line ends are blanks, which they are unless ``xml:space="preserve"`` makes them part of the text.
    """

    source: _Node
    flows: bool
    begin: int
    end: int
    before: str
    after: str


def _gaps(node: _Node, data: bytes, old: bool, translate: bool = True, flows: bool = True) -> Iterator[_Gap | _Node]:
    """Gaps of a document in their order, and sources without a translation that have no place in their target."""
    flows = _flows(node, flows)
    translate = {"no": False, "yes": True}.get(node.attributes.get("translate", ""), translate)
    if node.name not in ("trans-unit", "segment"):
        for child in node.children:
            yield from _gaps(child, data, old, translate, flows)
        return
    source, target = node.child("source"), node.child("target")
    if source is None or not translate or not _has_text(source):
        return
    segmented = node.child("seg-source")
    flows = _flows(source, flows)
    parts_flow = _flows(segmented, flows) if segmented else flows
    parts = [*_parts(segmented)] if segmented else []
    full = [part for part in parts if _has_text(part)]
    if target is None:
        last = segmented or source
        blanks = data[node.inner : source.begin].decode()
        prefix = data[source.begin : source.inner].decode().partition("source")[0]  # with its namespace
        before, begin, end = blanks if not blanks.strip() else "", last.end, last.end
        opening = f"{prefix}target>"
    else:
        before, begin, end = "", target.begin, target.end
        opening = _opening(target, data)
    before += _for_review(opening) if old else opening
    whole = _Gap(source, flows, begin, end, before, f"</{_name(opening)}>")
    if target is not None and not _is_unfilled(source, target, full):
        slots, lost = _slots(target, parts, data)
        yield from _filled(target, slots, data, parts_flow, whole)
        yield from (part or source for part in lost)
    elif segmented and full and not _is_loose(segmented):
        yield from _filled(segmented, [_slot(part, part, data) for part in full], data, parts_flow, whole)
    else:
        yield whole


def _is_unfilled(source: _Node, target: _Node, parts: Sequence[_Node]) -> bool:
    """True if a whole target is to be replaced: it contains no words, and no place for one of the marked parts."""
    if all(child.text is not None for child in target.children):
        return not _has_text(target)
    known = _numbered(parts)
    return _has_words(source) and not _has_words(target) and not any(_mid(part) in known for part in _parts(target))


class _Slot(NamedTuple):
    """A place for a translation: bytes that it replaces, and the markup around it."""

    source: _Node
    begin: int
    end: int
    before: str
    after: str


def _slot(part: _Node, source: _Node, data: bytes) -> _Slot:
    """The place for a translation in a marked segment."""
    opening = _opening(part, data)
    return _Slot(source, part.begin, part.end, opening, f"</{_name(opening)}>")


def _slots(target: _Node, parts: Sequence[_Node], data: bytes) -> tuple[list[_Slot], list[_Node | None]]:
    """Places for the marked segments that a target with other text lacks, and the segments without a place.

    Args:
        parts: marked segments of ``seg-source``.

    Returns:
        The places in their order; and segments, None for an unknown one.
    """
    own, known = [*_parts(target)], _numbered(parts)
    if not own:
        return [], []  # the translation of the whole unit
    found, lost = list[_Slot](), list[_Node | None]()
    for part in own:
        source = known.get(_mid(part))
        if source is None:
            lost += [] if _has_text(part) else [None]
        elif _has_text(source) and not (_has_words(part) if _has_words(source) else _has_text(part)):
            found.append(_slot(part, source, data))
    present = {_mid(part): part for part in own}
    free = not _is_loose(target) and present.keys() <= known.keys()
    codes = _codes(target)
    last, place = -1, own[0].begin  # the last segment that the target has or gets, and where the next one goes
    for number, part in enumerate(parts):
        if _mid(part) in present:
            last, place = number, present[_mid(part)].end
            continue
        if not _has_text(part):
            continue
        between = None
        if free and _mid(part) in known:
            near = (part.end, parts[number + 1].begin) if last < 0 else (parts[last].end, part.begin)
            between = _between(data[slice(*near)], codes)
        if between is None:
            lost.append(part)
            continue
        opening = _opening(part, data)
        before, after = ("", between) if last < 0 else (between, "")
        found.append(_Slot(part, place, place, before + opening, f"</{_name(opening)}>" + after))
        last = last if last < 0 else number
    return sorted(found, key=lambda slot: (slot.begin, slot.end)), lost


def _between(data: bytes, codes: Container[tuple[str, str]]) -> str | None:
    """The markup between two segments, for a target that lacks one of them.

    Args:
        codes: inline elements of the target.

    Returns:
        A blank if a text is there; None if elements are there that cannot be copied, because they begin or end inside
        a segment or around it, contain text, lack their other half, or are in the target.
    """
    try:
        node = _Reader(b"<x>" + data + b"</x>").root.children[0]
    except DocumentError:
        return None
    loose, text = _is_loose(node), data.decode()
    if all(child.text is not None for child in node.children):
        return " " if loose else "".join(child.text or "" for child in node.children)
    copied = not (loose or any(_has_text(part) for part in _parts(node)) or any(code in codes for code in _codes(node)))
    return text if copied and all(_ids(node, one) == _ids(node, other) for one, other in HALVES) else None


def _ids(node: _Node, name: str) -> set[str]:
    """Numbers by which the elements of a name inside an element find their other halves."""
    found = {number for child in node.children if child.text is None for number in _ids(child, name)}
    own = (child for child in node.children if child.text is None and child.name == name)
    return found | {_number(one) for one in own}


def _number(half: _Node) -> str:
    """The number by which half of a pair finds its other half."""
    given = half.attributes
    return given.get("rid") or given.get("startRef") or given.get("id", "")


def _codes(node: _Node) -> set[tuple[str, str]]:
    """Names and numbers of the elements inside an element, without its marked segments."""
    inner = {code for child in node.children if child.text is None for code in _codes(child)}
    own = (child for child in node.children if child.text is None and not _is_part(child))
    return inner | {(child.name, child.attributes.get("id", "")) for child in own}


def _numbered(parts: Sequence[_Node]) -> dict[str, _Node]:
    """Marked segments by their numbers, without those that share a number or have none."""
    numbers = Counter(_mid(part) for part in parts)
    return {_mid(part): part for part in parts if _mid(part) and numbers[_mid(part)] == 1}


def _parts(node: _Node) -> Iterator[_Node]:
    """Segments that a tool marked inside ``seg-source`` or ``target`` of XLIFF 1.2."""
    for child in node.children:
        if _is_part(child):
            yield child
        elif not _is_void(child):
            yield from _parts(child)


def _mid(part: _Node) -> str:
    """The number of a marked segment, empty if it has none."""
    return part.attributes.get("mid", "")


def _is_part(node: _Node) -> bool:
    return node.name == "mrk" and node.attributes.get("mtype") == "seg"


def _is_loose(node: _Node) -> bool:
    """True if text stands outside the marked segments."""
    return any(
        (child.text or "").strip()
        or (child.text is None and not _is_part(child) and not _is_void(child) and _is_loose(child))
        for child in node.children
    )


def _filled(frame: _Node, slots: Sequence[_Slot], data: bytes, flows: bool, whole: _Gap) -> Iterator[_Gap]:
    """Gaps of the segments of a unit, in a target with the markup and the texts that the frame has between them.

    Args:
        slots: places in the frame.
        whole: gap of the unit.
    """
    before, place = whole.before, frame.inner
    for number, slot in enumerate(slots, 1):
        before += data[place : slot.begin].decode() + slot.before
        after, place = slot.after, slot.end
        if number == len(slots):
            after += data[place : frame.closing].decode() + whole.after
        begin, flowing = whole.begin if number == 1 else whole.end, _flows(slot.source, flows)
        yield _Gap(slot.source, flowing, begin, whole.end, before, after)
        before = ""


def _opening(node: _Node, data: bytes) -> str:
    """The start tag of an element, also of one that has no end tag."""
    opening = data[node.begin : node.inner].decode()
    return opening.removesuffix("/>").rstrip() + ">" * opening.endswith("/>")


def _name(opening: str) -> str:
    """The name in a start tag, with its prefix."""
    return re.split(r"[\s/>]", opening.strip()[1:])[0]


def _flows(node: _Node, flows: bool) -> bool:
    """True if line ends in an element are blanks, which it may leave to the element around it."""
    return {"preserve": False, "default": True}.get(node.attributes.get("xml:space", ""), flows)


def _for_review(opening: str) -> str:
    """The start tag of a target with the state of a translation that a person has not yet read."""
    kept = _ATTRIBUTE.sub(lambda found: "" if found[1] == "state" else found[0], opening)
    return f'{kept.removesuffix(">").rstrip()} state="needs-review-translation">'


def _has_text(node: _Node) -> bool:
    return any((child.text or "").strip() or (child.text is None and _has_text(child)) for child in node.children)


def _has_words(node: _Node) -> bool:
    """True if text stands outside inline elements whose content is code."""
    return any(
        (child.text or "").strip() or (child.text is None and child.name not in OPAQUE and _has_words(child))
        for child in node.children
    )


def _text_of(node: _Node) -> str:
    """The text in an element, in one line."""
    whole = "".join(child.text if child.text is not None else _text_of(child) + " " for child in node.children)
    return " ".join(whole.split())


def _runs(nodes: Sequence[_Node], data: bytes) -> Iterator[MarkupRun]:
    """The content of a source. The parser cuts a text at its line ends and entities; here it is one run."""
    halves = [MarkupRun("", "", *_half(node)) for node in nodes]
    paired = {nodes[number].begin: halves[number] for number in partner_tags(halves)}  # the others are single tags
    for is_text, group in groupby(nodes, lambda node: node.text is not None):
        if is_text:
            texts = [*group]
            whole = "".join(data[node.begin : node.end].decode() for node in texts)
            yield MarkupRun(whole, "".join(node.text or "" for node in texts))
        else:
            yield from _tags(group, data, paired)


def _half(node: _Node) -> tuple[_Kind, str]:
    """The kind of a tag, and the name that both halves of a pair share; empty for an element that is no half."""
    for one, other in HALVES:
        if node.name in (one, other):
            return "open" if node.name == one else "close", f"{one} {_number(node)}"
    named = _NAMED_HALF.fullmatch(node.attributes.get("id", "")) if node.name == "x" else None
    return ("open" if named[1] == "START" else "close", f"x {named[2]}") if named else ("void", "")


def _is_void(node: _Node) -> bool:
    """True for an inline element whose content stays."""
    kept = node.attributes.get("translate") == "no" or node.attributes.get("mtype") == "protected"
    return node.name in OPAQUE or kept


def _tags(nodes: Iterable[_Node], data: bytes, halves: Mapping[int, MarkupRun]) -> Iterator[MarkupRun]:
    """Elements inside a source, with their content.

    Args:
        halves: kinds and names of halves of pairs, by their first bytes.
    """
    for node in nodes:
        whole = data[node.begin : node.end].decode()
        if _is_void(node) or not node.children:
            blank = " " if node.name in BETWEEN and means_space(node.attributes, node.code or _own_text(node)) else ""
            half = halves.get(node.begin)
            yield MarkupRun(whole, blank, half.kind if half else "void", half.pair if half else "")
        else:
            yield MarkupRun(data[node.begin : node.inner].decode(), "", "open")
            yield from _runs(node.children, data)
            yield MarkupRun(data[node.closing : node.end].decode(), "", "close")


def _own_text(node: _Node) -> str:
    """The text right inside an element."""
    return "".join(child.text or "" for child in node.children)
