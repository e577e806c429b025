"""Terms and choices of people, in raw text, as words of a system that prepares text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from lscfg.decode.glossary import prepared_term, words_within
from lscfg.decode.inflected import PhraseTest
from lscfg.decode.terms import ChosenSpan, Term, TermIndex, UsedTerm, without_case
from lscfg.errors import InputError, quote
from lscfg.markup.document import OPENING, WITHOUT_BLANKS
from lscfg.prepare.clean import clean
from lscfg.prepare.sides import Side


@dataclass(frozen=True)
class PreparedTerms:
    """Terms in the words of a system."""

    terms: tuple[Term, ...]
    typed: Mapping[str, str]
    """The text that a person gave, by the form in words; without kept terms."""
    kept: frozenset[tuple[str, str]]
    """Source and form of kept terms; the form is empty if it is the source in any capitals or inflection."""


def empty_side(term: Term, forms: tuple[str, str]) -> str:
    """The fault of a term of which the preparation leaves nothing; empty if there is none.

    Args:
        forms: the Unicode forms of both sides, see ``lscfg.prepare.clean``.
    """
    for name, texts, form in (("source", (term.source,), forms[0]), ("target", term.targets, forms[1])):
        for text in texts:
            if not clean(text, form):
                return f"preparation leaves nothing of the {name} {quote(text)}; give at least one word"
    return ""


def prepared_terms(
    terms: Iterable[Term], source: Side, target: Side, text: str, words: str, occurs: PhraseTest | None = None
) -> PreparedTerms:
    """The terms that may occur in a text, as words.

    Args:
        terms: in raw text.
        text: raw text of the sentence, in which other terms do not occur.
        words: of the sentence.
        occurs: true for phrases of the training text, see ``prepared_term``.

    Raises:
        InputError: the words of a term are too many, or the system has no stems or forms for a term.
    """
    found: list[Term] = []
    typed: dict[str, str] = {}
    kept: set[tuple[str, str]] = set()
    folded, listed = _folded(source, text), words.split()
    for term in terms:
        if term.match != "stem" and _folded(source, term.source) not in folded:
            continue
        variants = _prepared(term, source, target, occurs)
        inflected = _inflected(variants[0], listed) if term.match == "stem" else set()
        if term.match == "stem" and not inflected:
            continue
        if term.mode == "keep" and (own := re.search(re.escape(term.source), text, re.IGNORECASE)):
            variants = tuple(replace(variant, text=own[0]) for variant in variants)
        found += variants
        for variant in variants if term.mode == "keep" else ():
            kept.add((variant.source, variant.targets[0]) if variant.targets else (without_case(variant.source), ""))
            kept |= {(words, "") for words in inflected}
        for form in term.targets:
            typed.setdefault(_words_within(target, form), form)
        for form in variants[0].targets if term.forms == "auto" else ():
            typed.setdefault(form, target.join(form))
    return PreparedTerms(tuple(found), typed, frozenset(kept))


def prepared_choices(choices: Sequence[ChosenSpan], target: Side) -> tuple[tuple[ChosenSpan, ...], dict[str, str]]:
    """Choices whose targets are words, and the typed text of each.

    Raises:
        InputError: preparation leaves nothing of a target.
    """
    found: list[ChosenSpan] = []
    typed: dict[str, str] = {}
    for span, text in choices:
        words = _words_within(target, text)
        if not words:
            raise InputError(f"preparation leaves nothing of the target {quote(text)}; give at least one word")
        typed.setdefault(words, text)
        found.append(ChosenSpan(span, words))
    return tuple(found), typed


def _inflected(term: Term, words: Sequence[str]) -> set[str]:
    """The words of a sentence, without case, that the stems of a term match."""
    index = TermIndex([term])
    return {without_case(" ".join(words[slice(*one.span)])) for one in index.find(words).occurrences}


@lru_cache(1 << 14)
def _prepared(term: Term, source: Side, target: Side, occurs: PhraseTest | None) -> tuple[Term, ...]:
    return prepared_term(term, (source, target), occurs)


@lru_cache(1 << 14)
def _words_within(side: Side, text: str) -> str:
    return words_within(side, text)


@lru_cache(1 << 14)
def _folded(side: Side, text: str) -> str:
    """The text without blanks and case."""
    return "".join(without_case(side.clean(text)).split())


def with_typed(text: str, ranges: Sequence[tuple[int, int]], texts: Iterable[tuple[UsedTerm, str, bool]]) -> str:
    """A restored translation with the texts of its terms as they were given.

    Restoring guesses capitals and blanks, and the given text replaces the guess. Only a first word in small letters may
    begin a sentence with a capital, unless the text is kept.

    Args:
        text: the restored translation.
        ranges: characters of each of its words.
        texts: terms of the translation, the text of each as it was given, and whether the text is kept as it is, with
            the blanks around it in the sentence.
    """
    places = sorted(
        ((ranges[one.target[0]][0], ranges[one.target[1] - 1][1], given, kept) for one, given, kept in texts),
        reverse=True,
    )
    for begin, end, given, kept in places:
        if kept:
            given = _kept_blanks(given, text[:begin], text[end:])
        else:
            given = " ".join(given.split())
            if given.split()[0].islower() and text[begin : begin + 1].lower() == given[0]:
                given = text[begin] + given[1:]
        text = text[:begin] + given + text[end:]
    return text


def _kept_blanks(given: str, before: str, after: str) -> str:
    """A kept text with the blanks around it that the translation lacks, but none inside brackets or before a stop."""
    left = given[:1].isspace() and before[-1:].strip() and before[-1] not in OPENING and before[-1] < WITHOUT_BLANKS
    right = given[-1:].isspace() and after[:1].isalnum() and after[0] < WITHOUT_BLANKS
    return " " * bool(left) + given.strip() + " " * bool(right)
