"""Glossary files: tables of terms, separated by tabs, and a report of the terms in a text."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self

from lscfg import log
from lscfg.decode.inflected import Inflections, PhraseTest
from lscfg.decode.terms import EACH_FORM, MOST_FORMS, MOST_WORDS, FoundTerms, Term, TermIndex, WordMatch
from lscfg.errors import InputError, counted, did_you_mean, quote
from lscfg.io.read import read_lines
from lscfg.kernel import words_fault
from lscfg.prepare.sides import Side
from lscfg.prepare.stems import has_stemmer

COLUMNS = ("source", "target", "mode", "match", "forms", "head")
MOST_TERMS = 100_000
_QUOTED = re.compile(r'"(?:[^"]|"")+"')

FORMS = "|"
"""Separator of the translations of a term."""

LISTED = 5
"""Maximum number of terms that a warning names."""

_BEFORE = "0"
"""A word before the term, so that casing does not treat the term as the beginning of a sentence."""


class WrittenTerm(NamedTuple):
    """A term and its line in the file."""

    term: Term
    line: int


@dataclass(frozen=True)
class Glossary:
    """The terms of a file.

    Attributes:
        path: the file, for messages; empty for terms that a program gives.
        entries: in the order of the file; a term may occur in several forms, see ``prepared``.
        subwords: the terms consist of pieces of words.
        typed: the words of translations in the letters of the file, by prepared words.
    """

    path: str
    entries: tuple[WrittenTerm, ...]
    subwords: bool = False
    typed: Mapping[str, str] = field(default_factory=dict, hash=False)

    def index(self) -> TermIndex:
        """The terms for a decoder."""
        return TermIndex((entry.term for entry in self.entries), self.subwords)

    @classmethod
    def of(cls, terms: Iterable[Term]) -> Self:
        """Terms that a program gives; messages name the first one ``glossary[0]``."""
        return cls("", tuple(WrittenTerm(term, number) for number, term in enumerate(terms)))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Reads a table whose first line names the columns; lines that begin with ``#`` are comments.

        Raises:
            InputError: the file cannot be read, names other columns, or a line is not a term.
        """
        columns: list[str] = []
        entries: list[WrittenTerm] = []
        quoted: list[str] = []
        for number, line in enumerate(read_lines(path), 1):
            if not line.strip() or line.startswith("#"):
                continue
            cells = [cell.strip() for cell in line.split("\t")]
            if any(map(_QUOTED.fullmatch, cells)):
                cells = [cell[1:-1].replace('""', '"') if _QUOTED.fullmatch(cell) else cell for cell in cells]
                quoted.append(f"line {number}")
            if not columns:
                columns = _columns(cells, path, number)
                continue
            if len(cells) > len(columns) and any(cells[len(columns) :]):
                raise InputError(
                    f"{counted(len(cells), 'column')}, but the first line names {len(columns)}; remove a tab",
                    path,
                    number,
                )
            if len(entries) == MOST_TERMS:
                raise InputError(f"more than {MOST_TERMS:,} terms; split the glossary", path, number)
            try:
                entries.append(WrittenTerm(_term(dict(zip(columns, cells, strict=False))), number))
            except InputError as error:
                raise InputError(str(error), path, number) from None
        _remark(os.fspath(path), quoted, "cells in the quotes of a spreadsheet, which are read without them")
        if not entries:
            raise InputError("contains no terms; the first line must name the columns, such as source and target", path)
        return cls(os.fspath(path), tuple(entries))

    def prepared(self, sides: tuple[Side, Side] | None = None, occurs: PhraseTest | None = None) -> Self:
        """The terms as the words of a system; sources in the casing within and at the beginning of a sentence.

        Warns of terms whose source an earlier term has already.

        Args:
            sides: preparation of both languages; None: the file contains words.
            occurs: true for phrases of the training text; None: only single words inflect.

        Raises:
            InputError: the preparation leaves nothing of a side, or a side contains what no word may contain.
        """
        entries: list[WrittenTerm] = []
        seen: dict[tuple[tuple[str, ...], str], int] = {}
        again: list[tuple[int, int]] = []
        for term, line in self.entries:
            try:
                forms = prepared_term(term, sides, occurs)
            except InputError as error:
                if self.path:
                    raise InputError(str(error), self.path, line) from None
                raise InputError(f"glossary[{line}]: {error}") from None
            for form in forms:
                source = WordMatch.of(form).keys(form.source.split())
                first = seen.setdefault((source, form.match), line)
                if first == line:
                    entries.append(WrittenTerm(form, line))
                elif (line, first) not in again:
                    again.append((line, first))
        place = "line {}" if self.path else "glossary[{}]"
        _remark(
            self.path or "glossary",
            [f"{place.format(line)} ({place.format(first)})" for line, first in again],
            "terms without effect, because an earlier term has the same source",
        )
        typed = {} if sides is None else self._typed(sides[1])
        return replace(self, entries=tuple(entries), subwords=sides is not None and sides[0].subwords, typed=typed)

    def _typed(self, target: Side) -> dict[str, str]:
        found: dict[str, str] = {}
        for term, _ in self.entries:
            for text in term.targets or (term.source,):
                words = words_within(target, text) if term.targets else target.uncased(text)
                found.setdefault(words, words_within(target, text, cased=False))
        return found


def _columns(cells: Sequence[str], path: str | os.PathLike[str], line: int) -> list[str]:
    """The columns that the first line names."""
    names = ["target" if cell.lower() == "targets" else cell.lower() for cell in cells]
    while names and not names[-1]:
        names.pop()
    if "source" not in names:
        raise InputError(
            f"the first line must name the columns, such as source and target, between tabs; found {quote(cells[0])}",
            path,
            line,
        )
    for number, name in enumerate(names):
        if name not in COLUMNS:
            raise InputError(
                f"no column {quote(name)}{did_you_mean(name, COLUMNS)}; columns are {', '.join(COLUMNS)}", path, line
            )
        if name in names[:number]:
            raise InputError(f"names the column {name} twice; remove one", path, line)
    return names


def _term(cells: dict[str, str]) -> Term:
    """The term of a line, by columns."""
    targets = tuple(form.strip() for form in cells.get("target", "").split(FORMS) if form.strip())
    source = " ".join(cells.get("source", "").split())
    head = cells.get("head") or "0"
    if cells.get("head") and not (head.isascii() and head.isdecimal() and 1 <= int(head[:9]) <= MOST_WORDS):
        raise InputError(f"head {quote(head)} must be the number of a word of the target, from 1 to {MOST_WORDS}")
    forms = cells.get("forms") or "listed"
    return Term(source, targets, cells.get("mode") or "hard", cells.get("match") or "exact", "", forms, int(head))


# ---- preparation ----


def prepared_term(term: Term, sides: tuple[Side, Side] | None, occurs: PhraseTest | None = None) -> tuple[Term, ...]:
    """A term in words: once, or twice if casing differs at the beginning of a sentence.

    Args:
        sides: preparation of both languages; None: the term consists of words.
        occurs: true for phrases of the training text; None: only single words inflect.

    Raises:
        InputError: the preparation leaves nothing of a side, a side contains what no word may contain, or the system
            has no stems or forms for the term.
    """
    source, target = sides or (None, None)
    language = _language_of_stems(source) if term.match == "stem" else ""
    targets = [words_within(target, form) for form in term.targets]
    given, mode = [term.source, *term.targets], term.mode
    if term.mode == "keep" and term.match == "exact" and target is not None:  # words that restoring joins again
        mode, targets = "hard", [target.uncased(term.source)]
    sources = [words_within(source, term.source)]
    if source is not None:
        sources.append(source.encode(term.source))
    for text, words in zip(given, [sources[0], *targets], strict=False):
        if not words:
            raise InputError(f"preparation leaves nothing of {quote(text)}; correct the term")
        if fault := words_fault(words):
            raise InputError(f"{quote(text)} {fault}; correct the term")
    unique = tuple(dict.fromkeys(targets))
    if term.forms == "auto":
        unique = Inflections.of(target).of_phrases(unique, term.head, occurs, MOST_FORMS)
    made = replace(term, targets=unique, mode=mode, language=language, forms="listed", head=0)
    return tuple(replace(made, source=words) for words in dict.fromkeys(sources))


def _language_of_stems(source: Side | None) -> str:
    """The code of the language whose stems terms compare.

    Raises:
        InputError: the language is unknown or has no stemmer, or words are pieces of words.
    """
    if source is None:
        fault = "needs the language of the source, which only a bundle or the system of an experiment names"
    elif source.recipe.has_pieces:
        by = f"the tokeniser {source.recipe.tokeniser} splits" if source.subwords else "the setting pieces cuts"
        fault = f"needs whole words, which {by}"
    elif not has_stemmer(source.recipe.language):
        fault = f"needs a stemmer, and there is none for the language {quote(source.recipe.language)}"
    else:
        return source.recipe.language
    raise InputError(f"match stem {fault}; {EACH_FORM}")


def words_within(side: Side | None, text: str, cased: bool = True) -> str:
    """The words of a text that stands within a sentence, in the casing of the system or in the text's own letters."""
    if side is None:
        return " ".join(text.split())
    encode = side.encode if cased else side.uncased
    whole, before = encode(f"{_BEFORE} {text}").split(), encode(_BEFORE).split()
    return " ".join(whole[len(before) :]) if whole[: len(before)] == before else encode(text)


# ---- report ----


class GlossaryReport:
    """Counts the terms of a prepared glossary in a text.

    Attributes:
        index: the terms for the decoder.
    """

    def __init__(self, glossary: Glossary):
        self.index = glossary.index()
        self._path, self._entries = glossary.path, glossary.entries
        self._found: Counter[int] = Counter()  # occurrences by line
        self._lost: dict[int, int] = {}  # line to the first sentence without the term's form
        self._overlaps: dict[int, tuple[int, int]] = {}  # line to number and first sentence
        self._hard = self._used = self._unparsed = 0

    def add(self, found: FoundTerms, used: Container[tuple[int, int]], unparsed: bool, number: int) -> None:
        """Counts the terms of a translated sentence.

        Args:
            used: spans of the terms that its translation obeys.
            number: of the sentence, from 0.
        """
        for term, occurrence in zip(found.numbers, found.occurrences, strict=True):
            if term < 0:
                continue
            line = self._entries[term].line
            self._found[line] += 1
            self._hard += occurrence.hard
            if occurrence.hard and occurrence.span in used:
                self._used += 1
                self._unparsed += unparsed
            elif occurrence.hard:
                self._lost.setdefault(line, number)
        for overlap in found.overlaps:
            line = self._entries[overlap.term].line
            count, first = self._overlaps.get(line, (0, number))
            self._overlaps[line] = count + 1, first

    def finish(self) -> None:
        """Logs the counts, and warns of terms that overlap others, did not occur, or were not used."""
        lines = {entry.line: entry.term for entry in reversed(self._entries)}
        source = {line: quote(term.source) for line, term in sorted(lines.items())}
        log.info(
            f"{self._path}: {len(self._found)} of {len(source)} terms occur, "
            f"at {counted(self._found.total(), 'place')}; {self._used} of {self._hard} hard ones are used"
        )
        _remark(
            self._path,
            [
                f"line {line} {source[line]} ({counted(count, 'time')}, first in sentence {first + 1})"
                for line, (count, first) in sorted(self._overlaps.items())
            ],
            "terms without effect where they overlap a longer term, or an equally long one to the left",
        )
        absent = [line for line in source if line not in self._found and line not in self._overlaps]
        _remark(self._path, [f"line {line} {source[line]}" for line in absent], "terms that do not occur in the text")
        _remark(
            self._path,
            [f"line {line} {source[line]} (sentence {number + 1})" for line, number in sorted(self._lost.items())],
            "hard terms that were not used; please report this fault",
        )
        if self._unparsed:
            log.warning(
                f"{self._path}: hard terms that replace their words in sentences without a parse: {self._unparsed}"
            )


def _remark(path: str, examples: Sequence[str], fact: str) -> None:
    """Warns of a fact in one line, if there are examples."""
    if examples:
        more = f" and {len(examples) - LISTED} more" if len(examples) > LISTED else ""
        log.warning(f"{path}: {fact} ({len(examples)}): {', '.join(examples[:LISTED])}{more}")
