"""Documents of requests: read and filled by workers, so that large ones do not hold up the service."""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, NamedTuple

from lscfg.errors import quote
from lscfg.markup.document import Document, UnitPiece, WordAlignment
from lscfg.markup.formats import FORMATS, Format, format_of
from lscfg.markup.xliff import languages
from lscfg.serve.refusal import RefusalError
from lscfg.serve.texts import LanguagePair, SplitText

STORED_FILES, STORED_SECONDS, STORED_BYTES = 64, 600.0, 1 << 26
"""Number, seconds and bytes of the translated files that wait for their download."""


@dataclass(frozen=True)
class DocumentWork:
    """A document to read.

    Attributes:
        ending: of its format, see ``lscfg.markup.formats``.
        raw: lines may consist of several sentences.
        most: maximum words of a sentence.
    """

    data: bytes
    ending: str
    pair: LanguagePair
    raw: bool
    most: int


@dataclass(frozen=True)
class ReadDocument:
    """A document, and the texts of its units in sentences.

    Attributes:
        languages: codes that the document names, or empty texts.
    """

    document: Document
    texts: tuple[SplitText, ...]
    languages: tuple[str, str] = ("", "")

    @property
    def tagged(self) -> list[bool]:
        """True for each text with inline tags."""
        return [bool(unit.tags) for unit in self.document.units]


def read_document(work: DocumentWork) -> ReadDocument:
    """Reads a document.

    Raises:
        DocumentError: the document is malformed.
    """
    document = FORMATS[work.ending].read(work.data)
    texts = tuple(SplitText.of(unit.text, work.pair, work.raw, work.most) for unit in document.units)
    named = languages(work.data) if work.ending in (".xlf", ".xliff") else ("", "")
    return ReadDocument(document, texts, named)


class AlignedSentence(NamedTuple):
    """The translation of a sentence, with its words if tags must follow them."""

    translation: str
    alignment: WordAlignment | None = None

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> AlignedSentence:
        """The translation of an answer."""
        details = answer.get("details")
        if details is None:
            return cls(answer["translation"])
        words = details["words"]
        ranges, links = ([word[key] for word in words] for key in ("range", "links"))
        return cls(answer["translation"], WordAlignment(details["source_ranges"], ranges, links))


def fill_document(work: tuple[ReadDocument, Sequence[Sequence[AlignedSentence]]]) -> bytes:
    """The document with translations, given those of the sentences of each unit."""
    read, translations = work
    pieces = []
    for text, translated in zip(read.texts, translations, strict=True):
        rest = iter(translated)
        own = [next(rest) if stretch.sentence else None for stretch in text.stretches]
        texts = text.pieces(one.translation for one in translated)
        pieces.append(
            [
                UnitPiece(stretch.sentence, stretch.after, piece.translation, piece.after, one and one.alignment)
                for stretch, piece, one in zip(text.stretches, texts, own, strict=True)
            ]
        )
    return read.document.filled(pieces)


def fill_documents(work: Sequence[tuple[ReadDocument, Sequence[Sequence[AlignedSentence]]]]) -> list[bytes]:
    """Several documents with translations, see ``fill_document``."""
    return [fill_document(one) for one in work]


def known_format(name: str) -> tuple[str, Format]:
    """The ending and the format of a file.

    Raises:
        RefusalError: the format is not supported.
    """
    found = format_of(name)
    if found is None:
        cure = f"{', '.join(FORMATS)} are; make XLIFF of other files with a CAT tool"
        raise RefusalError(415, f"files such as {quote(name)} are not translated; {cure}")
    return PurePath(name.lower()).suffix, found


@dataclass(frozen=True)
class StoredFile:
    """A translated file."""

    name: str
    """Name for the client."""
    media_type: str
    data: bytes
    warnings: tuple[str, ...] = ()


class FileStore:
    """Translated files under random names, for a while; the oldest make room for new ones."""

    def __init__(self) -> None:
        self._files: OrderedDict[str, tuple[float, StoredFile]] = OrderedDict()

    def add(self, file: StoredFile) -> str:
        """Keeps a file, and returns its random name."""
        name = secrets.token_urlsafe(16)
        self._files[name] = time.monotonic() + STORED_SECONDS, file
        self._clear()
        return name

    def get(self, name: str) -> StoredFile | None:
        """The file of a name; None if the file is unknown or too old."""
        self._clear()
        found = self._files.get(name)
        return None if found is None else found[1]

    def _clear(self) -> None:
        now, size = time.monotonic(), sum(len(file.data) for _, file in self._files.values())
        while self._files:
            end, file = next(iter(self._files.values()))
            if end > now and len(self._files) <= STORED_FILES and (size <= STORED_BYTES or len(self._files) == 1):
                return
            self._files.popitem(last=False)
            size -= len(file.data)
