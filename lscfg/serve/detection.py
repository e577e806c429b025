"""The language of a text, as one of the two of a system."""

from __future__ import annotations

from functools import cached_property

from lscfg.bundle.system import TranslationSystem
from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.formats.rule_index import TARGET
from lscfg.prepare.profiles import LanguageProfiles
from lscfg.prepare.sides import Side

CERTAIN = 0.5
"""Minimum share of known words of a text in a language of the system."""


class LanguageDetection:
    """Recognises the languages of a system by profiles of the training text, or by the words of the grammar.

    Args:
        known: source words of the grammar.
        sides: of the system's preparation; None: the system has none.
    """

    def __init__(
        self, system: TranslationSystem, decoder: EmbeddedDecoder, known: frozenset[int], sides: tuple[Side, ...] | None
    ):
        self._profiles_file = system.preparation.profiles if system.preparation else None
        self._decoder, self._known, self._sides = decoder, known, sides

    def detected(self, text: str, max_words: int, raw: bool) -> list[tuple[int, float]]:
        """The sides (0 or 1) in whose languages a text can be, the best first, with probabilities; empty for neither.

        A system without profiles gives shares of known words instead.

        Args:
            max_words: number of words that count for the shares.
            raw: False: the text consists of words.
        """
        if raw and self._profiles is not None:
            found = self._profiles.detect(text)
            return [] if found is None else [found]
        shares = self._known_shares(" ".join(text.split()[:max_words]), raw)
        most = max(shares)
        return [(side, share) for side, share in enumerate(shares) if share == most >= CERTAIN]

    @cached_property
    def _profiles(self) -> LanguageProfiles | None:
        return None if self._profiles_file is None else LanguageProfiles.read(self._profiles_file.checked())

    def _known_shares(self, text: str, raw: bool) -> tuple[float, float]:
        """Shares of the words of a text with letters that source sides and target sides of the grammar contain."""
        sides = self._sides if raw else None
        found = []
        for number, known in enumerate((self._known, self._known_target)):
            words = [word for word in (sides[number].encode(text) if sides else text).split() if _has_letters(word)]
            have = sum(self._decoder.grammar.vocab.find(word) in known for word in words)
            found.append(have / len(words) if words else 0.0)
        return found[0], found[1]

    @cached_property
    def _known_target(self) -> frozenset[int]:
        return self._decoder.known_words(TARGET)


def _has_letters(word: str) -> bool:
    return any(map(str.isalpha, word))
