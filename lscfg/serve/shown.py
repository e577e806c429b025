"""A translation as people see it: characters of its words, terms as they were typed, and details."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

from lscfg.decode.confidence import Confidence
from lscfg.decode.derivations import Alternative, Translated
from lscfg.decode.details import sentence_posterior
from lscfg.decode.inflected import PhraseTest
from lscfg.decode.prepared_terms import prepared_choices, prepared_terms, with_typed
from lscfg.decode.terms import ChosenSpan, Term, TermIndex, UsedTerm, WordMatch, inside_word, without_case
from lscfg.errors import quote
from lscfg.markup.document import WITHOUT_BLANKS
from lscfg.prepare.offsets import Range, word_ranges
from lscfg.prepare.sides import Side

Sides = tuple[Side, ...]
"""The source side and the target side of a preparation."""


@dataclass(frozen=True)
class GivenTerms:
    """Terms and choices for a sentence, in words."""

    index: TermIndex = field(default_factory=TermIndex)
    choices: tuple[ChosenSpan, ...] = ()
    typed: dict[str, str] = field(default_factory=dict)
    """The text that a person gave for a form in words."""
    kept: frozenset[tuple[str, str]] = frozenset()
    """See ``PreparedTerms``."""
    untouched: frozenset[tuple[str, str]] = frozenset()
    """Terms of ``kept`` that no person gave, such as addresses, which answers do not list as terms."""
    warnings: tuple[str, ...] = ()


def given_terms(
    glossaries: Sequence[Sequence[Term]],
    choices: Sequence[ChosenSpan],
    text: str,
    words: str,
    sides: Sides | None,
    occurs: PhraseTest | None = None,
    untouched: Sequence[Term] = (),
) -> GivenTerms:
    """The terms and choices for a sentence.

    Args:
        glossaries: the terms of each count before those of later ones.
        text: the sentence.
        words: its words.
        sides: of the preparation; None: terms and text are words.
        occurs: true for phrases of the training text.
        untouched: terms that keep parts of the text which no person gave; they count last.

    Raises:
        InputError: a term has too many words, a choice none, or the system no stems or forms for a term.
    """
    if sides is None:
        return GivenTerms(_joined_index(glossaries), tuple(choices))
    first, second = sides
    chosen, typed = prepared_choices(choices, second)
    kept: list[list[Term]] = []
    own: set[tuple[str, str]] = set()
    given = own
    warnings: dict[str, None] = {}
    for terms in (*glossaries, untouched):
        given = own
        found = prepared_terms(terms, first, second, text, words, occurs)
        inside = [_only_inside_words(words.split(), term, first.subwords) for term in found.terms]
        for term in (term for term, within in zip(found.terms, inside, strict=True) if within):
            name = quote(first.join(term.source))
            warnings[f"the term {name} is part of a longer word here and is not used"] = None
        kept.append([term for term, within in zip(found.terms, inside, strict=True) if not within])
        typed = {**found.typed, **typed}
        own = own | found.kept
    automatic = frozenset((source, form) for source, form in own - given if (without_case(source), "") not in given)
    return GivenTerms(_joined_index(kept, first.subwords), chosen, typed, frozenset(own), automatic, tuple(warnings))


def _joined_index(glossaries: Sequence[Sequence[Term]], subwords: bool = False) -> TermIndex:
    """One index of several glossaries, the earlier of which count first."""
    return reduce(TermIndex.before, (TermIndex(terms, subwords) for terms in glossaries if terms), TermIndex())


def _only_inside_words(pieces: Sequence[str], term: Term, subwords: bool) -> bool:
    """True if a term occurs, but only within longer words; scripts without blanks have no such words."""
    way = WordMatch.of(term)
    wanted, found = way.keys(term.source.split()), way.keys(pieces)
    spans = [(begin, begin + len(wanted)) for begin in range(len(found) - len(wanted) + 1)]
    places = [span for span in spans if found[slice(*span)] == wanted]
    return bool(places) and all(inside_word(pieces, span, subwords) for span in places)


@dataclass(frozen=True)
class ShownTranslation:
    """A translation as it is shown."""

    text: str
    """The restored translation, or its words."""
    source: str
    """The sentence."""
    source_words: list[str]
    source_ranges: list[Range]
    """Characters of the words of the sentence."""
    ranges: list[Range]
    """Characters of the words of the translation."""
    terms: list[dict[str, Any]]
    """Hard terms and choices in the translation, as JSON."""

    def source_of(self, span: tuple[int, int]) -> str:
        """The text of words [i, j) of the sentence."""
        return self.source[self.source_ranges[span[0]][0] : self.source_ranges[span[1] - 1][1]]

    def with_text(self, text: str, translation: str) -> ShownTranslation:
        """This translation with another text of the words."""
        return replace(self, text=text, ranges=word_ranges(translation.split(), text))

    @classmethod
    def of(
        cls,
        text: str,
        words: list[str],
        translation: str,
        used: Sequence[UsedTerm],
        given: GivenTerms,
        sides: Sides | None,
    ) -> ShownTranslation:
        """The translation of a sentence with the terms as they were typed.

        Args:
            text: the sentence; words: its words.
            translation: words of the translation.
        """
        target = translation.split()
        places = word_ranges(words, text)
        shown = sides[1].decode(translation) if sides else translation
        ranges = word_ranges(target, shown)
        typed = []
        for one in used:
            own = " ".join(words[slice(*one.source)])
            keep = (own, one.form) in given.kept or (one.form == own and (without_case(own), "") in given.kept)
            before = _with_blanks(text, places[one.source[0]][0], places[one.source[1] - 1][1])
            typed.append((one, before if keep else given.typed.get(one.form, one.form), keep))
        if sides and typed:
            shown = with_typed(shown, ranges, typed)
            ranges = word_ranges(target, shown)
        terms = [
            {"source": [*one.source], "target": [*one.target], "form": form.strip()}
            for one, form, _ in typed
            if (" ".join(words[slice(*one.source)]), one.form) not in given.untouched
        ]
        return cls(shown, text, words, places, ranges, terms)


def _with_blanks(text: str, begin: int, end: int) -> str:
    """Characters [begin, end) of a sentence with the blanks next to them, also if only the script lacks these."""
    left, right = text[:begin][-1:], text[end : end + 1]
    blanks = [not sign or sign.isspace() or sign >= WITHOUT_BLANKS for sign in (left, right)]
    return " " * blanks[0] + text[begin:end] + " " * blanks[1]


def detail_objects(
    found: Translated,
    shown: ShownTranslation,
    unknown: Container[int],
    sides: Sides | None,
    confidence: Confidence | None,
) -> dict[str, Any]:
    """The details of a translation as JSON; posteriors are those of the search, not calibrated.

    Args:
        unknown: positions of the unknown words of the sentence.
    """
    shares: list[float | None] = [None] * len(found.details)
    whole = None
    if confidence is not None:
        shares, whole = confidence.of_words(found.details), confidence.of_translation(found.details)

    def alternative(one: Alternative) -> dict[str, Any]:
        text = sides[1].join(one.text) if sides else one.text
        made = {"span": [*one.span], "text": text, "posterior": _rounded(one.posterior)}
        if one.difference is None:
            return made
        reasons = [{"feature": name, "difference": _rounded(part)} for name, part in one.reasons]
        return made | {"difference": _rounded(one.difference), "reasons": reasons}

    words = [
        {
            "text": word.text,
            "range": [*place],
            "links": [*word.links],
            "unknown": any(position in unknown for position in word.links),
            "posterior": _rounded(word.posterior),
            **_confident(share),
            "alternatives": [alternative(one) for one in word.alternatives],
        }
        for word, place, share in zip(found.details, shown.ranges, shares, strict=True)
    ]
    return {
        "source_words": shown.source_words,
        "source_ranges": [[*place] for place in shown.source_ranges],
        "words": words,
        "posterior": _rounded(sentence_posterior(found.details)),
        **_confident(whole),
    }


def _confident(share: float | None) -> dict[str, float]:
    return {} if share is None else {"confidence": _rounded(share)}


def _rounded(value: float) -> float:
    return float(f"{value:.6g}")
