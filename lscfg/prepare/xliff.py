"""Files of translation tools: XLIFF 1.2 and 2.x, read as a stream."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from lscfg.errors import InputError
from lscfg.io.read import read_chunks
from lscfg.prepare.codes import BETWEEN, means_space
from lscfg.prepare.reader import NO_TRANSLATION, RawPair, TextReader, list_languages, sides_of
from lscfg.prepare.xml_stream import XmlStream
from lscfg.settings import Declared

CODES = frozenset(("bpt", "ept", "ph", "it", "ut", "sub", "cp"))
"""Elements whose content is a program's markup, not text."""

UNFINISHED = frozenset(("new", "needs-translation", "initial"))
"""States of a target that no person or program has translated yet."""


SKIPPED = frozenset(("alt-trans", "matches", "ignorable"))
"""Elements without segments of the text."""


_LANGUAGES = ("source-language", "srcLang"), ("target-language", "trgLang")
"""Attributes with the source and the target language."""


class Xliff(TextReader[Declared]):
    """Files of translation tools."""

    HELP = "files of translation tools (XLIFF 1.2 and 2.x)"
    VERSION = 3
    Settings = Declared
    ENDINGS = ("xlf", "sdlxliff", "mxliff", "mqxliff")

    def read_pairs(self, files: Sequence[Path], languages: tuple[str, str], settings: Declared) -> Iterator[RawPair]:
        """Reads segments, also those marked in a unit of 1.2; one without a target, or in a new state, has a fault.

        Proposals of ``alt-trans`` are left out, and so is markup within a segment, but the text that it encloses is
        kept.

        Raises:
            InputError: a file cannot be read, is not well-formed XML or not XLIFF, is nested more than 100 deep, or
                declares entities, by file and line; or no file has both languages.
        """
        found, good, units = Counter[str](), 0, 0
        for path in files:
            for pair in parse_xliff(read_chunks(path), path, languages, found):
                units += 1
                good += not pair.fault
                yield pair
        if units and not good:
            raise InputError(
                f"no unit has a translation between {' and '.join(languages)}; languages: {list_languages(found)}",
                files[0],
            )


def parse_xliff(
    chunks: Iterable[bytes], path: Path, languages: tuple[str, str], found: Counter[str] | None = None
) -> Iterator[RawPair]:
    """The segments of a file of these bytes; see ``Xliff.read_pairs``.

    Args:
        found: counts the languages of segments.
    """
    return _Segments(path, languages, Counter() if found is None else found).pairs(chunks)


class _Segments(XmlStream):
    """Collects segments, each when its unit (1.2) or segment (2.x) is closed."""

    def __init__(self, path: Path, languages: tuple[str, str], tags: Counter[str]):
        super().__init__(path, "XLIFF", "xliff")
        self.languages, self.tags = languages, tags
        self.own = ["", ""]
        """Source and target language of the file."""
        self.whole = ["", ""]
        """Languages that the root element names for all files."""
        self.texts: dict[str, list[str]] = {}
        """Parts of the source and the target of the unit."""
        self.segments: dict[str, dict[str, list[str]]] = {}
        """By side, parts of the marked segments of the unit, by their mid."""
        self.marks: list[str | None] = []
        """The mid of each open element mrk, None if it marks no segment."""
        self.loose = False
        """True if text of the unit stands outside its marked segments."""
        self.side, self.state = "", ""
        self.line = self.skipped = self.codes = 0
        self.outer: dict[str, str] = {}
        """Attributes of the outermost open code."""
        self.code: list[str] = []
        """Content of that code, or of an element of originalData."""
        self.datum: str | None = None
        """The number of the open element of originalData."""
        self.data: dict[str, str] = {}
        """Contents that a unit of 2.x keeps in originalData, by their numbers."""

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name in ("xliff", "file"):
            self.own = [
                next((attributes[key] for key in keys if key in attributes), whole)
                for keys, whole in zip(_LANGUAGES, self.whole, strict=True)
            ]
            self.whole = self.own if name == "xliff" else self.whole
        elif name in ("trans-unit", "segment") and not self.side:
            self.texts, self.segments, self.marks, self.loose = {}, {}, [], False
            self.state, self.line = attributes.get("state", ""), self.parser.CurrentLineNumber
        elif name in SKIPPED:
            self.skipped += 1
        elif self.side:
            if name in BETWEEN and not self.codes:
                self.outer, self.code = attributes, []
            self.codes += name in CODES
            if name == "mrk":
                self.marks.append(attributes.get("mid") if attributes.get("mtype") == "seg" else None)
                if self.marks[-1] is not None:
                    own = self.segments.setdefault(self.side, {})
                    self.loose |= self.marks[-1] in own  # two segments of one number
                    own.setdefault(self.marks[-1], [])
        elif name == "unit":
            self.data = {}
        elif name == "data":
            self.datum, self.code = attributes.get("id", ""), []
        elif name in ("source", "seg-source", "target") and not self.skipped:
            self.side, self.codes, self.marks = name, 0, []
            self.texts[name] = []
            if name == "target":
                self.state = attributes.get("state", self.state)

    def _characters(self, text: str) -> None:
        if self.side and not self.codes:
            self._add(text)
        elif self.codes or self.datum is not None:
            self.code.append(text)

    def _add(self, text: str) -> None:
        self.texts[self.side].append(text)
        marks = [mid for mid in self.marks if mid is not None]
        for mid in marks:
            self.segments[self.side][mid].append(text)
        self.loose |= not marks and self.side != "source" and bool(text.strip())

    def _end(self, name: str) -> None:
        if name in SKIPPED:
            self.skipped -= 1
        elif name == self.side:
            self.side = ""
        elif self.side:
            self.codes -= name in CODES
            if name in BETWEEN and not self.codes:
                content = "".join(self.code) or self.data.get(self.outer.get("dataRef", ""), "")
                if means_space(self.outer, content):
                    self._add(" ")
            if not self.codes:
                self.code = []
            if name == "mrk" and self.marks:
                self.marks.pop()
        elif self.datum is not None and name == "data":
            self.data[self.datum], self.datum = "".join(self.code), None
        elif name in ("trans-unit", "segment"):
            self._close()

    def _close(self) -> None:
        self.tags.update(self.own)
        sides = sides_of(tuple(self.own), self.languages)
        units = [tuple("".join(self.texts.get(side, [])) for side in ("source", "target"))]
        marked = [self.segments.get(side, {}) for side in ("seg-source", "target")]
        if marked[1] and marked[1].keys() == marked[0].keys() and not self.loose:
            units = [
                ("".join(parts), "".join(marked[1][mid])) for mid, parts in marked[0].items() if "".join(parts).strip()
            ]
        for texts in units:
            missing = None in sides or not texts[1].strip() or self.state in UNFINISHED
            source, target = ("" if side is None else texts[side] for side in sides)
            self.found.append(RawPair(str(self.path), self.line, source, target, NO_TRANSLATION if missing else ""))
        self.texts = {}
