"""One sentence at a time through a system: text or words in, JSON out. It runs in worker processes."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any

from lscfg.bundle.system import TranslationSystem
from lscfg.corpus.parallel import plain_fault
from lscfg.decode.derivations import Translated, derivation_objects
from lscfg.errors import LscfgError
from lscfg.kernel import words_fault
from lscfg.log import held_back
from lscfg.parallel.worker import keep


class BadSentence(LscfgError, ValueError):
    """A sentence that cannot be translated as it is: it is to be changed."""


class LongSentence(BadSentence):
    """A sentence of too many words."""


@dataclass(frozen=True)
class Wish:
    """What is asked of a sentence.

    Attributes:
        kbest: length of the k-best list; None: the best translation alone.
        raw: whether the text is prepared first and the translation restored.
        max_words: more are refused.
    """

    kbest: int | None = None
    derivations: bool = False
    raw: bool = False
    max_words: int = 1


class Translator:
    """A system that is open.

    Raises:
        InputError: as of ``TranslationSystem.decoder`` and ``SideRecipe.side``.
    """

    def __init__(self, system: TranslationSystem):
        self._weights, self._unique = system.weights, system.config.unique_k_best
        self._decoder = system.decoder()
        self._sides = tuple(recipe.side() for recipe in system.preparation.sides) if system.preparation else None

    def __call__(self, text: str, wish: Wish) -> dict[str, Any]:
        """The translation of a sentence as JSON has it (docs/guides/serving.md).

        Raises:
            BadSentence: it is none of words, or too long.
            InputError: a score is not finite.
        """
        words = self._words(text, wish)
        with held_back():  # what is to be said of the sentence goes into the answer
            (found,) = self._decoder.translate([words], self._weights, wish.kbest or 1, self._unique, wish.derivations)
        best = found.hypotheses[0]
        answer: dict[str, Any] = {"translation": self._restored(best.text, wish), "score": best.score}
        if wish.raw:
            answer |= {"source_words": words, "words": best.text}
        answer |= {"parsed": not found.unparsed, "warnings": _warnings(found)}
        if wish.kbest is not None:
            answer["kbest"] = [
                {"translation": self._restored(one.text, wish), "score": one.score, "features": one.features}
                for one in found.hypotheses
            ]
        if wish.derivations:
            answer["derivations"] = derivation_objects(found)
        return answer

    def _words(self, text: str, wish: Wish) -> str:
        if "\0" in text:
            raise BadSentence("has a NUL, which no text has")
        if wish.raw and self._sides is not None:
            text = self._sides[0].encode(text)
        if fault := plain_fault(text) or words_fault(text):
            raise BadSentence(fault)
        if (count := len(text.split())) > wish.max_words:
            raise LongSentence(f"has {count} words; at most {wish.max_words} are translated")
        return text

    def _restored(self, words: str, wish: Wish) -> str:
        return self._sides[1].decode(words) if wish.raw and self._sides is not None else words


def _warnings(found: Translated) -> list[str]:
    if not found.unparsed:
        return []
    return [found.unparsed + ("; its words are passed through" if found.sentence.strip() else "")]


# ---- in any process ----


@dataclass(frozen=True)
class SentenceWork:
    """A sentence and all that a worker needs for it.

    Attributes:
        key: of the system; system: pickled.
    """

    key: str
    system: bytes
    text: str
    wish: Wish


def open_translator(key: str, system: bytes) -> Translator:
    """The translator that this worker keeps for the key, made if it keeps none; workers forked then have it, too.

    Raises:
        InputError: as of ``Translator``.
    """
    return keep("translator", key, lambda: Translator(pickle.loads(system)))


def translate_sentence(work: SentenceWork) -> dict[str, Any]:
    """What ``Translator`` gives for the sentence."""
    return open_translator(work.key, work.system)(work.text, work.wish)
