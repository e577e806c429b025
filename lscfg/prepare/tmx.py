"""Translation memories: TMX 1.1 to 1.4, read as a stream."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

from lscfg.errors import InputError, quote
from lscfg.io.read import read_chunks
from lscfg.prepare.reader import NO_TRANSLATION, RawPair, TextReader, language_matches
from lscfg.settings import Declared

CODES = {"bpt", "ept", "ph", "it", "ut"}
"""Elements of a segment whose content is a program's markup, not text."""


class TranslationMemory(TextReader[Declared]):
    """Translation memories."""

    HELP = "translation memories (TMX)"
    VERSION = 1
    Settings = Declared

    def read_pairs(self, files: Sequence[Path], languages: tuple[str, str], settings: Declared) -> Iterator[RawPair]:
        """Reads translation memories; a unit without one of the languages has a fault.

        The first of several variants of a language counts. Markup within a segment is left out, and the text that it
        encloses is kept.

        Raises:
            InputError: a file cannot be read, is no well-formed XML or no TMX, or declares entities, which could expand
                to any size; by file and line.
        """
        for path in files:
            units = _Units(path, languages)
            for chunk in read_chunks(path):
                yield from units.feed(chunk)
            yield from units.feed(b"", last=True)


class _Units:
    """Collects the translation units of a file from expat's calls, each when it is closed."""

    def __init__(self, path: Path, languages: tuple[str, str]):
        self.path, self.languages = path, languages
        self.found: list[RawPair] = []
        self.open: list[str] = []
        self.line, self.language = 0, ""
        self.segments: list[str | None] = [None, None]
        self.text: list[str] = []
        self.codes = 0
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
        if not self.open and name != "tmx":
            self._fail(f"not TMX: the root is {quote(name)}, not 'tmx'")
        self.open.append(name)
        if name == "tu":
            self.line, self.segments = self.parser.CurrentLineNumber, [None, None]
        elif name == "tuv":
            self.language = attributes.get("xml:lang") or attributes.get("lang", "")
        elif name == "seg":
            self.text, self.codes = [], 0
        elif name in CODES:
            self.codes += 1

    def _characters(self, text: str) -> None:
        if "seg" in self.open and not self.codes:
            self.text.append(text)

    def _end(self, name: str) -> None:
        self.open.pop()
        if name in CODES:
            self.codes -= 1
        elif name == "seg":
            for side, wanted in enumerate(self.languages):
                if self.segments[side] is None and language_matches(self.language, wanted):
                    self.segments[side] = "".join(self.text)
        elif name == "tu":
            source, target = self.segments
            fault = NO_TRANSLATION if source is None or target is None else ""
            self.found.append(RawPair(str(self.path), self.line, source or "", target or "", fault))
