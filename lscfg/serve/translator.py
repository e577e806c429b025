"""Translation of one sentence at a time in a worker process: text or words in, JSON out."""

from __future__ import annotations

import pickle
from collections.abc import Container
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from lscfg.bundle.system import TranslationSystem
from lscfg.corpus.parallel import plain_fault
from lscfg.decode.derivations import Translated, derivation_objects
from lscfg.decode.details import sentence_posterior
from lscfg.errors import LscfgError
from lscfg.kernel import words_fault
from lscfg.log import held_back
from lscfg.parallel.worker import keep
from lscfg.prepare.limits import length_fault


class BadSentenceError(LscfgError, ValueError):
    """A sentence that cannot be translated and must be changed."""


class LongSentenceError(BadSentenceError):
    """A sentence with too many words."""


@dataclass(frozen=True)
class TranslationOptions:
    """The options of a request for translation."""

    kbest: int | None = None
    """Length of the k-best list; None: the best translation only."""
    derivations: bool = False
    """Return derivations."""
    raw: bool = False
    """Prepare the text before the translation, and restore the text of the translation."""
    max_words: int = 1
    """Maximal number of words."""
    details: bool = False
    """Return details of the words of the translation."""


class Answered(NamedTuple):
    """A translated sentence."""

    answer: dict[str, Any]
    """A JSON object, see docs/guides/serving.md."""
    words: int
    """Number of words of the sentence."""
    unknown: int
    """Number of these words that no rule of the grammar contains."""


class Translator:
    """An open system.

    Raises:
        InputError: see ``TranslationSystem.decoder`` and ``SideRecipe.side``.
    """

    def __init__(self, system: TranslationSystem):
        self._weights, self._unique = system.weights, system.config.unique_k_best
        self._decoder = system.decoder()
        self._sides = tuple(recipe.side() for recipe in system.preparation.sides) if system.preparation else None
        self._known = self._decoder.grammar.source_words()
        self.rules = len(self._decoder.grammar)

    def warm(self) -> None:
        """Translates a word, so that processes forked later need not load what the first translation loads."""
        if self._known:
            word = self._decoder.grammar.vocab.word(min(self._known))
            with held_back(), suppress(LscfgError):
                list(self._decoder.translate([word], self._weights))

    def __call__(self, text: str, options: TranslationOptions) -> Answered:
        """The translation of a sentence.

        Raises:
            BadSentenceError: the text is not a sentence of words, or is too long.
            InputError: a score is not finite.
        """
        words = self._words(text, options)
        with held_back():  # warnings about the sentence go into the answer
            (found,) = self._decoder.translate(
                [words], self._weights, options.kbest or 1, self._unique, options.derivations, details=options.details
            )
        best = found.hypotheses[0]
        answer: dict[str, Any] = {"translation": self._restored(best.text, options), "score": best.score}
        if options.raw:
            answer |= {"source_words": words, "words": best.text}
        tokens = words.split()
        unknown = [word for word in tokens if self._decoder.grammar.vocab.find(word) not in self._known]
        answer |= {"parsed": not found.unparsed, "unknown": [*dict.fromkeys(unknown)], "warnings": _warnings(found)}
        if options.kbest is not None:
            answer["kbest"] = [
                {"translation": self._restored(one.text, options), "score": one.score, "features": one.features}
                for one in found.hypotheses
            ]
        if options.derivations:
            answer["derivations"] = derivation_objects(found)
        if options.details:
            answer["details"] = _details(found, tokens, {*unknown})
        return Answered(answer, len(tokens), len(unknown))

    def known_shares(self, text: str, options: TranslationOptions) -> tuple[float, float]:
        """Shares of the words of a text with letters that source sides and target sides of the grammar contain.

        Raises:
            BadSentenceError: see ``__call__``.
        """
        sides = self._sides if options.raw and self._sides is not None else None
        found = []
        for number, known in enumerate((self._known, self._known_target)):
            words = [word for word in (sides[number].encode(text) if sides else text).split() if _has_letters(word)]
            have = sum(self._decoder.grammar.vocab.find(word) in known for word in words)
            found.append(have / len(words) if words else 0.0)
        return found[0], found[1]

    @cached_property
    def _known_target(self) -> frozenset[int]:
        return self._decoder.grammar.target_words()

    def _words(self, text: str, options: TranslationOptions) -> str:
        if "\0" in text:
            raise BadSentenceError("contains a NUL character")
        if too_long := length_fault(text):
            raise LongSentenceError(too_long)
        _check_words(text, options)
        if options.raw and self._sides is not None:
            text = self._sides[0].encode(text)
            _check_words(text, options)
        if fault := plain_fault(text) or words_fault(text):
            raise BadSentenceError(fault)
        return text

    def _restored(self, words: str, options: TranslationOptions) -> str:
        return self._sides[1].decode(words) if options.raw and self._sides is not None else words


def _check_words(text: str, options: TranslationOptions) -> None:
    if (count := len(text.split())) > options.max_words:
        raise LongSentenceError(f"has {count} words; at most {options.max_words} are translated")


def _details(found: Translated, source: list[str], unknown: Container[str]) -> dict[str, Any]:
    """The details of a translation as JSON; posteriors are the search's, not calibrated."""
    words = [
        {
            "text": word.text,
            "links": [*word.links],
            "unknown": any(source[position] in unknown for position in word.links),
            "posterior": float(f"{word.posterior:.6g}"),
            "alternatives": [
                {"span": [*one.span], "text": one.text, "posterior": float(f"{one.posterior:.6g}")}
                for one in word.alternatives
            ],
        }
        for word in found.details
    ]
    posterior = float(f"{sentence_posterior(found.details):.6g}")
    return {"source_words": source, "words": words, "posterior": posterior}


def _has_letters(word: str) -> bool:
    return any(map(str.isalpha, word))


def _warnings(found: Translated) -> list[str]:
    if not found.unparsed:
        return []
    return [found.unparsed + ("; its words are passed through" if found.sentence.strip() else "")]


# ---- in any process ----


@dataclass(frozen=True)
class SentenceWork:
    """A sentence and everything that a worker needs for it."""

    key: str
    """Key of the system."""
    system: bytes
    """The system, pickled."""
    text: str
    options: TranslationOptions


def open_translator(key: str, system: bytes) -> Translator:
    """The translator that this worker keeps for the key, made if necessary; workers forked later keep it, too.

    Raises:
        InputError: see ``Translator``.
    """
    return keep("translator", key, lambda: Translator(pickle.loads(system)))


def translate_sentence(work: SentenceWork) -> Answered:
    """Translates the sentence by the translator of its system."""
    return open_translator(work.key, work.system)(work.text, work.options)


def known_shares(work: SentenceWork) -> tuple[float, float]:
    """Shares of the words of the text that both sides of the grammar contain, see ``Translator.known_shares``."""
    return open_translator(work.key, work.system).known_shares(work.text, work.options)
