"""Inflected forms of a translation: words of the training text with the same stem."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from lscfg.errors import InputError, quote
from lscfg.formats.ini import DecoderConfig
from lscfg.kernel import Vocab
from lscfg.kernel.lm import LanguageModel
from lscfg.prepare.sides import Side
from lscfg.prepare.stems import deriving_ending, has_stemmer, word_stem

SEEN = 2
"""Minimum count of a form in the training text; rarer ones are often misspelled."""

CURE = "list the forms"

PhraseTest = Callable[[Sequence[str]], bool]
"""True for phrases of the training text."""


class Inflections:
    """Words of a language by their stems.

    Args:
        counts: of each word in the training text.
        language: code of a language with a stemmer.
    """

    def __init__(self, counts: Mapping[str, int], language: str):
        self._counts, self._language = counts, language

    @classmethod
    def of(cls, side: Side | None) -> Inflections:
        """The words that the preparation of a language has counted.

        Raises:
            InputError: there are no such words, or the language has no stemmer.
        """
        if side is None:
            fault = (
                "needs counts of the training text's words, which only a bundle or the system of an experiment contains"
            )
        elif side.subwords:
            fault = f"needs whole words, which the tokeniser {side.recipe.tokeniser} splits"
        elif side.forms is None:
            fault = f"needs counts of the training text's words, which casing {side.recipe.casing} does not keep"
        elif not has_stemmer(side.recipe.language):
            fault = f"needs a stemmer, and there is none for the language {quote(side.recipe.language)}"
        else:
            return cls(side.forms, side.recipe.language)
        raise InputError(f"forms auto {fault}; {CURE}")

    @cached_property
    def _by_stem(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for word, count in self._counts.items():
            if count >= SEEN and word[:1].isalpha():
                found.setdefault(word_stem(self._language, word), []).append(word)
        return found

    def of_phrases(self, phrases: Sequence[str], head: int, occurs: PhraseTest | None, most: int) -> tuple[str, ...]:
        """The phrases, then the phrases with other forms of their heads, the most frequent forms first.

        A form begins with a capital letter if and only if the head does.

        Args:
            phrases: words separated by blanks.
            head: position of the word that inflects, from 1; 0: the last word.
            occurs: true for phrases of the training text; None: only single words inflect.
            most: maximum number of phrases.

        Raises:
            InputError: a phrase has no such word.
        """
        found = dict.fromkeys(phrases)
        for phrase in phrases:
            words = phrase.split()
            if head > len(words):
                raise InputError(f"the target {quote(phrase)} has {len(words)} words, so its head is not word {head}")
            at = (head or len(words)) - 1
            for form in self._of_word(words[at]):
                other = [*words[:at], form, *words[at + 1 :]]
                if len(found) < most and (len(other) == 1 or (occurs is not None and occurs(other))):
                    found[" ".join(other)] = None
        return tuple(found)

    def _of_word(self, word: str) -> list[str]:
        """The other forms of a word."""
        same = self._by_stem.get(word_stem(self._language, word), ())
        capital, ending = word[:1].isupper(), deriving_ending(self._language, word)
        others = [
            form
            for form in same
            if form != word and form[:1].isupper() == capital and deriving_ending(self._language, form) == ending
        ]
        return sorted(others, key=lambda form: (-self._counts[form], form))


class ModelPhrases:
    """The phrases of a language model, which is opened when the first phrase is looked up.

    Args:
        config: of the decoder whose first language model counts.
    """

    def __init__(self, config: DecoderConfig):
        self._path = config.language_model

    @cached_property
    def _model(self) -> LanguageModel | None:
        return None if self._path is None else LanguageModel(self._path, Vocab())

    def __call__(self, words: Sequence[str]) -> bool:
        """True if the model contains the phrase.

        Raises:
            InputError: the model cannot be read.
        """
        return self._model is not None and self._model.contains(words)
