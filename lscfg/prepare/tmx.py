"""Translation memories: TMX 1.1 to 1.4, read as a stream."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from lscfg import log
from lscfg.errors import InputError
from lscfg.io.read import read_chunks
from lscfg.prepare.codes import BETWEEN, means_space
from lscfg.prepare.reader import NO_TRANSLATION, RawPair, TextReader, language_fit, list_languages, sides_of
from lscfg.prepare.xml_stream import XmlStream
from lscfg.settings import Declared

CODES = {"bpt", "ept", "ph", "it", "ut"}
"""Elements of a segment whose content is a program's markup, not text."""

_PLACES = {"tu": None, "tuv": "tu", "seg": "tuv"}


class TranslationMemory(TextReader[Declared]):
    """Translation memories."""

    HELP = "translation memories (TMX)"
    VERSION = 3
    Settings = Declared

    def read_pairs(self, files: Sequence[Path], languages: tuple[str, str], settings: Declared) -> Iterator[RawPair]:
        """Reads translation memories; a unit without one of the languages has a fault.

        The first of several variants of a language counts, one of the wanted region before others of the language.
        Markup within a segment is left out, or becomes a blank if it means white space, and the text that it encloses
        is kept.

        Raises:
            InputError: a file cannot be read, is not well-formed XML or not TMX, is nested more than 100 deep, or
                declares entities, which could expand to any size, by file and line; or no unit has both languages.
        """
        found, good, units = Counter[str](), 0, 0
        for path in files:
            for pair in parse_memory(read_chunks(path), path, languages, found):
                units += 1
                good += not pair.fault
                yield pair
        if units and not good:
            raise InputError(
                f"no unit contains segments in both {' and '.join(languages)}; languages: {list_languages(found)}",
                files[0],
            )
        for wanted in languages:
            others = [tag for tag in found if language_fit(tag, wanted) == 1]
            if others and not any(language_fit(tag, wanted) == 2 for tag in found):
                log.warning(f"{files[0]}: no segment is in {wanted}; segments in {list_languages(others)} are used")


def parse_memory(
    chunks: Iterable[bytes], path: Path, languages: tuple[str, str], found: Counter[str] | None = None
) -> Iterator[RawPair]:
    """The units of a file of these bytes; see ``TranslationMemory.read_pairs``.

    Args:
        found: counts the languages of segments.
    """
    return _Units(path, languages, Counter() if found is None else found).pairs(chunks)


class _Units(XmlStream):
    """Collects the translation units of a file, each when it is closed."""

    def __init__(self, path: Path, languages: tuple[str, str], found: Counter[str]):
        super().__init__(path, "TMX", "tmx")
        self.languages, self.tags = languages, found
        self.codes = self.line = 0
        self.open: list[str] = []
        """The open ones of tu, tuv and seg."""
        self.language = ""
        self.segments: list[tuple[str, str]] = []
        """Language and text of the segments of a unit."""
        self.text: list[str] = []
        self.code: list[str] = []
        """Content of an element of CODES."""
        self.outer: dict[str, str] = {}
        """Attributes of the outermost open code."""

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name in _PLACES:
            self._open(name, attributes)
        elif self.open[-1:] == ["seg"]:
            if name in BETWEEN and not self.codes:
                self.outer, self.code = attributes, []
            self.codes += name in CODES

    def _open(self, name: str, attributes: dict[str, str]) -> None:
        outer = self.open[-1] if self.open else None
        if outer != _PLACES[name]:
            self._fail(f"<{name}> within <{outer}>" if outer else f"<{name}> outside <{_PLACES[name]}>")
        self.open.append(name)
        if name == "tu":
            self.line, self.segments = self.parser.CurrentLineNumber, []
        elif name == "tuv":
            self.language = attributes.get("xml:lang") or attributes.get("lang", "")
        else:
            self.text, self.codes = [], 0

    def _characters(self, text: str) -> None:
        if self.open[-1:] == ["seg"]:
            (self.code if self.codes else self.text).append(text)

    def _end(self, name: str) -> None:
        if name in _PLACES:
            self.open.pop()
            self._close(name)
        elif self.open[-1:] == ["seg"]:
            self.codes -= name in CODES
            if name in BETWEEN and not self.codes and means_space(self.outer, "".join(self.code)):
                self.text.append(" ")
            if not self.codes:
                self.outer, self.code = {}, []

    def _close(self, name: str) -> None:
        if name == "seg":
            self.segments.append((self.language, "".join(self.text)))
            self.tags[self.language] += 1
        elif name == "tu":
            sides = sides_of(tuple(language for language, _ in self.segments), self.languages)
            source, target = ("" if side is None else self.segments[side][1] for side in sides)
            fault = NO_TRANSLATION if None in sides else ""
            self.found.append(RawPair(str(self.path), self.line, source, target, fault))
