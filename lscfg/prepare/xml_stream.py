"""XML that is read as a stream, with limits and errors that name the line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

from lscfg.errors import InputError, quote
from lscfg.prepare.reader import RawPair

DEPTH = 100
"""Maximal depth of elements."""


class XmlStream:
    """Collects pairs from expat's calls.

    A subclass defines ``_start``, ``_end`` and ``_characters`` and appends to ``found``. It gets names of elements
    without the prefix of the root; elements of other namespaces keep theirs.

    Args:
        kind: name of the format for messages; root: name of its root.
    """

    def __init__(self, path: Path, kind: str, root: str):
        self.path, self._kind, self._root = path, kind, root
        self.found: list[RawPair] = []
        self.depth = 0
        self._prefix = ""
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._begin
        self.parser.EndElementHandler = self._finish
        self.parser.CharacterDataHandler = self._characters
        self.parser.EntityDeclHandler = self._entity
        self.parser.SkippedEntityHandler = self._skipped

    def feed(self, data: bytes, last: bool = False) -> list[RawPair]:
        """The pairs that the data close.

        Raises:
            InputError: the data are not well-formed XML or have another format, by file and line.
        """
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

    def pairs(self, chunks: Iterable[bytes]) -> Iterator[RawPair]:
        """Yields the pairs of a file of these bytes.

        Raises:
            InputError: see ``feed``.
        """
        for chunk in chunks:
            yield from self.feed(chunk)
        yield from self.feed(b"", last=True)

    def _fail(self, message: str) -> NoReturn:
        raise InputError(message, self.path, self.parser.CurrentLineNumber)

    def _entity(self, name: str, *_: object) -> None:
        self._fail(
            f"declares the entity {quote(name)}; entities could unfold to any size: write their text in their place"
        )

    def _skipped(self, name: str, is_parameter: bool) -> None:
        if not is_parameter:
            self._fail(f"the entity &{name}; is not defined; write the character itself")

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        if not self.depth:
            self._prefix = name[: name.rfind(":") + 1]
            if name != self._prefix + self._root:
                self._fail(f"not {self._kind}: the root is {quote(name)}, not '{self._root}'")
        self.depth += 1
        if self.depth > DEPTH:
            self._fail(f"elements are nested more than {DEPTH} deep, which no {self._kind} needs")
        self._start(name.removeprefix(self._prefix), attributes)

    def _finish(self, name: str) -> None:
        self.depth -= 1
        self._end(name.removeprefix(self._prefix))

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        raise NotImplementedError

    def _end(self, name: str) -> None:
        raise NotImplementedError

    def _characters(self, text: str) -> None:
        raise NotImplementedError
