"""Documents read and filled, by workers of a service so that large ones do not hold up others, or by a command."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

from lscfg import log
from lscfg.bundle.places import MANIFEST, preparation_of
from lscfg.bundle.system import TranslationSystem, open_bundle, open_system
from lscfg.decode.glossary import Glossary, GlossaryReport
from lscfg.decode.terms import FoundTerms, Overlap
from lscfg.errors import InputError, counted, quote
from lscfg.io.read import read_bytes
from lscfg.markup.document import Document, DocumentError, UnitPiece, WordAlignment
from lscfg.markup.formats import FORMATS, format_of
from lscfg.parallel.engine import Engine
from lscfg.parallel.worker import drop
from lscfg.prepare.languages import same_language
from lscfg.prepare.record import Record
from lscfg.prepare.sentences import NO_TERMS, Undivided
from lscfg.prepare.sides import SideRecipe, word_counter
from lscfg.serve.lattices import BadSentenceError
from lscfg.serve.settings import ServeSettings
from lscfg.serve.texts import LanguagePair, SplitText, by_text
from lscfg.serve.translator import SentenceWork, TranslationOptions, translate_sentence

LISTED, PLACES = 5, 3
"""Maximum number of warnings about sentences, and of places that a warning names."""

FIRST_WORDS = 40
"""Characters of a sentence that name the sentence where the document shows no lines."""

NO_PLACE = "not translated: the target contains other text, and no empty segment of this number"

Place = int | str
"""The line of a sentence, or its first words in quotes."""


@dataclass(frozen=True)
class DocumentWork:
    """A document to read.

    Attributes:
        ending: of its format, see ``lscfg.markup.formats``.
        raw: lines may consist of several sentences.
        most: maximum words of a sentence.
        whole: parts that stay in one sentence.
        side: recipe of the source, which measures sentences; None: the system has no preparation.
    """

    data: bytes
    ending: str
    pair: LanguagePair
    raw: bool
    most: int
    whole: Undivided = NO_TERMS
    side: SideRecipe | None = None


@dataclass(frozen=True)
class ReadDocument:
    """A document, and the texts of its units in sentences."""

    document: Document
    texts: tuple[SplitText, ...]

    @property
    def tagged(self) -> list[bool]:
        """True for each text with inline tags."""
        return [bool(unit.tags) for unit in self.document.units]

    @property
    def names(self) -> list[str]:
        """Names of the texts for messages: line 3, or text 3 where the document shows no lines."""
        if self.document.lined:
            return [f"line {line}" for line in self.document.first_lines]
        return [f"text {k}" for k in range(1, len(self.texts) + 1)]

    @property
    def places(self) -> list[Place]:
        """The place of each sentence of each text."""
        lines = zip(self.texts, self.document.first_lines, strict=True)
        return [
            line if self.document.lined else _first_words(sentence)
            for text, line in lines
            for sentence in text.sentences
        ]

    @property
    def warnings(self) -> list[tuple[Place, str]]:
        """Warnings of skipped texts, and of long sentences, with the first sentence of their text."""
        skipped = [(_first_words(text), NO_PLACE) for text in self.document.skipped]
        rows = zip(self.texts, self.document.first_lines, strict=True)
        placed = ((line if self.document.lined else _first_words(_beginning(text)), text) for text, line in rows)
        return [*skipped, *((place, warning) for place, text in placed for warning in text.warnings)]

    def other_language(self, pair: LanguagePair) -> str:
        """A language that the document names and the pair does not contain; empty if all languages fit."""
        named = (two for codes in self.document.languages for two in zip(codes, pair, strict=True) if all(two))
        return next((code for code, own in named if not same_language(code, own)), "")


def _beginning(text: SplitText) -> str:
    """The first sentence of a text, or all of a text without sentences."""
    return next(iter(text.sentences), "") or "".join(stretch.after for stretch in text.stretches).strip()


def _first_words(sentence: str) -> str:
    return quote(sentence if len(sentence) <= FIRST_WORDS else sentence[: FIRST_WORDS - 1].rstrip() + "…")


def read_document(work: DocumentWork) -> ReadDocument:
    """Reads a document.

    Raises:
        DocumentError: the document is malformed.
        InputError: see ``split_texts``.
    """
    document = FORMATS[work.ending].read(work.data)
    texts = TextsWork([unit.text for unit in document.units], work.pair, work.raw, work.most, work.whole, work.side)
    return ReadDocument(document, tuple(split_texts(texts)))


@dataclass(frozen=True)
class TextsWork:
    """Texts to split into sentences; see ``DocumentWork``."""

    texts: Sequence[str]
    pair: LanguagePair
    raw: bool
    most: int
    whole: Undivided = NO_TERMS
    side: SideRecipe | None = None


def split_texts(work: TextsWork) -> list[SplitText]:
    """The texts in sentences.

    Raises:
        InputError: see ``word_counter``.
    """
    count = word_counter(work.side)
    return [SplitText.of(text, work.pair, work.raw, work.most, work.whole, count) for text in work.texts]


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


# ---- files of a command ----


def document_system(
    config: str, weights: str | None, glossary: Glossary | None, memory: str | None
) -> TranslationSystem:
    """The system of a configuration with its preparation, and with terms and the corrections of a file.

    Args:
        glossary: terms as they are typed.

    Raises:
        InputError: a file cannot be read or is malformed.
    """
    place = preparation_of(Path(config))
    if place is not None and (place.parent / MANIFEST).is_file():
        system = open_bundle(place.parent, weights)
    else:
        system = open_system(config, weights)
        if place is not None:
            system = replace(system, preparation=Record.read(place))
    if glossary is not None:
        system = replace(system, glossary=tuple(entry.term for entry in glossary.entries))
    return system if memory is None else replace(system, memory=Path(memory).absolute())


def translated_document(
    system: TranslationSystem, path: str, engine: Engine, report: GlossaryReport | None = None
) -> bytes:
    """A translated file in the format of its name, as the service translates it.

    Args:
        report: counts the terms in its sentences.

    Raises:
        InputError: the file cannot be read, or its format, languages or sentences do not fit the system.
    """
    if format_of(path) is None:
        raise InputError(f"not the name of a document; documents are {', '.join(FORMATS)}", path)
    preparation, most = system.preparation, ServeSettings().max_words
    pair = LanguagePair(*(side.language for side in preparation.sides)) if preparation else LanguagePair()
    whole = Undivided(term.source for term in system.glossary)
    side = preparation.sides[0] if preparation else None
    work = DocumentWork(read_bytes(path), Path(path).suffix.lower(), pair, side is not None, most, whole, side)
    try:
        read = read_document(work)
    except DocumentError as error:
        raise InputError(str(error), path) from None
    if code := read.other_language(pair):
        raise InputError(f"names the language {quote(code)}; the system translates {' to '.join(pair)}", path)
    options = TranslationOptions(raw=work.raw, max_words=most)
    key, pickled = uuid4().hex, pickle.dumps(system)
    works = [
        SentenceWork(key, pickled, sentence, replace(options, details=tagged))
        for text, tagged in zip(read.texts, read.tagged, strict=True)
        for sentence in text.sentences
    ]
    places, warnings = read.places, list[tuple[Place, str]]()
    for place, one in zip(places, works, strict=True):  # before minutes of work on other sentences
        if not work.raw and (words := len(one.text.split())) > most:
            raise _fault_at(path, place, f"has {words} words; at most {most} are translated")
    for line in warning_lines(read.warnings, path):
        log.warning(line)
    aligned: list[AlignedSentence] = []
    try:
        for found in log.progress(engine.map(translate_sentence, works), "decoding", len(works)):
            warnings += [(places[len(aligned)], warning) for warning in found.answer["warnings"]]
            if report is not None:
                _count_terms(report, works[len(aligned)].text, found.answer, len(aligned))
            aligned.append(AlignedSentence.of(found.answer))
    except BadSentenceError as error:
        raise _fault_at(path, places[len(aligned)], error) from None
    finally:
        drop("translator", key)
    for line in warning_lines(warnings, path):
        log.warning(line)
    if tags := read.document.inner_tags:
        log.info(f"{path}: {tags} tags inside sentences follow word links; check them")
    return fill_document((read, by_text(read.texts, aligned)))


def _fault_at(path: str, place: Place, fault: object) -> InputError:
    if isinstance(place, int):
        return InputError(str(fault), path, place)
    return InputError(f"{place}: {fault}", path)


def located(path: str, places: Sequence[Place]) -> str:
    """A file and places in it: ``a.txt:14``, ``a.txt: lines 14, 88 and 3 more``, or ``a.html: 'La casa'``.

    Args:
        path: empty to leave the file out.
    """
    lined = all(isinstance(place, int) for place in places)
    if lined and len(places) == 1 and path:
        return f"{path}:{places[0]}"
    shown = [*map(str, places)]
    if len(places) > PLACES:
        shown = [*shown[: PLACES - 1], f"{len(places) - PLACES + 1:,} more"]
    listed = " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))
    named = ("line " if len(places) == 1 else "lines ") + listed if lined else listed
    return f"{path}: {named}" if path else named


def warning_lines(found: Iterable[tuple[Place, str]], path: str = "") -> list[str]:
    """One line for each distinct warning, the most frequent first, and the number of those that are not listed.

    Args:
        found: warnings with their places.
        path: of the document; empty to leave it out.
    """
    places: dict[str, dict[Place, None]] = {}
    for place, warning in found:
        places.setdefault(warning, {})[place] = None
    listed = sorted(places.items(), key=lambda one: -len(one[1]))
    lines = [f"{located(path, [*own])}: {warning}" for warning, own in listed[:LISTED]]
    if (more := len(listed) - LISTED) > 0:
        lines.append((f"{path}: " if path else "") + counted(more, "further warning"))
    return lines


def _count_terms(report: GlossaryReport, text: str, answer: Mapping[str, Any], number: int) -> None:
    """Counts the terms of a sentence; a correction that translates the sentence uses its terms."""
    found = report.index.find(answer.get("source_words", text).split())
    used = {tuple(one["source"]) for one in answer["terms"]}
    if answer.get("memory", {}).get("id") is not None:
        used = {one.span for one in found.occurrences}
    pairs = [*zip(found.occurrences, found.numbers, strict=True)]
    kept = [(one, term) for one, term in pairs if not one.hard or one.span in used]
    inside = [
        Overlap(term, one.span, one.span) for one, term in pairs if (one, term) not in kept
    ]  # of addresses and the like
    counted = FoundTerms(tuple(one for one, _ in kept), tuple(term for _, term in kept), (*found.overlaps, *inside))
    report.add(counted, used, not answer["parsed"], number)
