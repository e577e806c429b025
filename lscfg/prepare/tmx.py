"""Translation memories: TMX 1.1 to 1.4, read as a stream."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

from lscfg import log
from lscfg.errors import InputError, quote
from lscfg.io.read import read_chunks
from lscfg.prepare.reader import NO_TRANSLATION, RawPair, TextReader, language_fit, list_languages, sides_of
from lscfg.settings import Declared

CODES = {"bpt", "ept", "ph", "it", "ut"}
"""Elements of a segment whose content is a program's markup, not text."""

BETWEEN = {"ph", "it", "ut", "x"}
"""Elements that may mean white space; ``bpt`` and ``ept`` may be within a word."""

DEPTH = 100
"""Maximal depth of elements."""

_PLACES = {"tu": None, "tuv": "tu", "seg": "tuv"}
_SPACE = re.compile(
    r"\s*</?\s*(?:\w+:)?(?:br|tab|lb|cr|hr|pb|p|div|li|tr|td|th)\b|\s+\Z|\s*(?:\\[nrt]|&nbsp;|&#(?:9|10|13|160);|\{(?:br|tab|nl)\})",
    re.IGNORECASE,
)
_SPACE_TYPES = re.compile(
    r"(?:x-)?(?:\w+-)?(?:lb|pb|br|tab|cr|lf|nl|linebreak|line-break|newline|nbsp|space)", re.IGNORECASE
)


class TranslationMemory(TextReader[Declared]):
    """Translation memories."""

    HELP = "translation memories (TMX)"
    VERSION = 2
    Settings = Declared

    def read_pairs(self, files: Sequence[Path], languages: tuple[str, str], settings: Declared) -> Iterator[RawPair]:
        """Reads translation memories; a unit without one of the languages has a fault.

        The first of several variants of a language counts, one of the wanted region before others of the language.
        Markup within a segment is left out, or becomes a blank if it means white space, and the text that it encloses
        is kept.

        Raises:
            InputError: a file cannot be read, is no well-formed XML or no TMX, is nested more than 100 deep, or
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
                f"no unit has a segment of both {' and '.join(languages)}; languages: {list_languages(found)}", files[0]
            )
        for wanted in languages:
            others = [tag for tag in found if language_fit(tag, wanted) == 1]
            if others and not any(language_fit(tag, wanted) == 2 for tag in found):
                log.warning(f"{files[0]}: no segment is of {wanted}; segments of {list_languages(others)} are used")


def parse_memory(
    chunks: Iterable[bytes], path: Path, languages: tuple[str, str], found: Counter[str] | None = None
) -> Iterator[RawPair]:
    """The units of a file of these bytes; see ``TranslationMemory.read_pairs``.

    Args:
        found: counts the languages of segments.
    """
    units = _Units(path, languages, Counter() if found is None else found)
    for chunk in chunks:
        yield from units.feed(chunk)
    yield from units.feed(b"", last=True)


class _Units:
    """Collects the translation units of a file from expat's calls, each when it is closed."""

    def __init__(self, path: Path, languages: tuple[str, str], found: Counter[str]):
        self.path, self.languages, self.tags = path, languages, found
        self.found: list[RawPair] = []
        self.depth = self.codes = self.line = 0
        self.open: list[str] = []
        """The open ones of tu, tuv and seg."""
        self.language = ""
        self.segments: list[tuple[str, str]] = []
        """Language and text of the segments of a unit."""
        self.text: list[str] = []
        self.code: list[str] = []
        """Content of an element of CODES."""
        self.blank = False
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters
        self.parser.EntityDeclHandler = self._entity
        self.parser.SkippedEntityHandler = self._skipped

    def feed(self, data: bytes, last: bool = False) -> list[RawPair]:
        """The units that the data close."""
        try:
            self.parser.Parse(data, last)
        except expat.ExpatError as error:
            reason = expat.errors.messages[error.code]
            raise InputError(f"not well-formed XML, or cut off: {reason}", self.path, error.lineno) from error
        except InputError:
            raise
        except (LookupError, ValueError) as error:  # an encoding that Python does not have, or of several bytes
            raise InputError(f"cannot read this encoding: {error}; convert the file to UTF-8", self.path, 1) from error
        found, self.found = self.found, []
        return found

    def _fail(self, message: str) -> NoReturn:
        raise InputError(message, self.path, self.parser.CurrentLineNumber)

    def _entity(self, name: str, *_: object) -> None:
        self._fail(
            f"declares the entity {quote(name)}; entities could unfold to any size: write their text in their place"
        )

    def _skipped(self, name: str, is_parameter: bool) -> None:
        if not is_parameter:
            self._fail(f"the entity &{name}; is not defined; write the character itself")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if not self.depth and name != "tmx":
            self._fail(f"not TMX: the root is {quote(name)}, not 'tmx'")
        self.depth += 1
        if self.depth > DEPTH:
            self._fail(f"elements are nested more than {DEPTH} deep, which no TMX needs")
        if name in _PLACES:
            self._open(name, attributes)
        elif self.open[-1:] == ["seg"]:
            if name in BETWEEN and not self.codes:
                self.blank = bool(_SPACE_TYPES.fullmatch(attributes.get("type", attributes.get("ctype", ""))))
                self.code = []
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
            self.text, self.codes, self.blank = [], 0, False

    def _characters(self, text: str) -> None:
        if self.open[-1:] == ["seg"]:
            (self.code if self.codes else self.text).append(text)

    def _end(self, name: str) -> None:
        self.depth -= 1
        if name in _PLACES:
            self.open.pop()
            self._close(name)
        elif self.open[-1:] == ["seg"]:
            self.codes -= name in CODES
            if name in BETWEEN and not self.codes and (self.blank or _SPACE.match("".join(self.code))):
                self.text.append(" ")
            if not self.codes:
                self.blank, self.code = False, []

    def _close(self, name: str) -> None:
        if name == "seg":
            self.segments.append((self.language, "".join(self.text)))
            self.tags[self.language] += 1
        elif name == "tu":
            sides = sides_of(tuple(language for language, _ in self.segments), self.languages)
            source, target = ("" if side is None else self.segments[side][1] for side in sides)
            fault = NO_TRANSLATION if None in sides else ""
            self.found.append(RawPair(str(self.path), self.line, source, target, fault))
