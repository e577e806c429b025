"""Counts of n-grams of a translation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lscfg.errors import InputError, quote
from lscfg.functions.function import BEGIN, WordFunction, escaped
from lscfg.settings import Declared, setting, settings_of

OPTIONS = {
    "-o": "order",
    "-n": "name",
    "-S": "separator",
    "-U": "head1",
    "-B": "head2",
    "-T": "head3",
    "-4": "head4",
    "-5": "head5",
}
"""cdec's options by setting."""


@dataclass(frozen=True)
class NgramSettings(Declared):
    """The arguments of NgramFeatures."""

    order: int = setting(3, "words of the longest n-grams (-o)", least=1, most=5)
    name: str = setting("", "beginning of all names (-n)")
    separator: str = setting("_", "text between words in names (-S)")
    head1: str = setting("U:", "prefix of single words (-U)")
    head2: str = setting("B:", "prefix of bigrams (-B)")
    head3: str = setting("T:", "prefix of trigrams (-T)")
    head4: str = setting("4:", "prefix of n-grams of four words (-4)")
    head5: str = setting("5:", "prefix of n-grams of five words (-5)")

    @property
    def heads(self) -> tuple[str, ...]:
        """Beginnings of names by length."""
        heads = self.head1, self.head2, self.head3, self.head4, self.head5
        return tuple(self.name + head for head in heads[: self.order])


class NgramFeatures(WordFunction[NgramSettings]):
    """cdec's NgramFeatures: counts of the n-grams of a translation, such as ``B:green_house``.

    As in cdec, ``</s>`` is a word, and ``<s>`` is seen in bigrams only if no longer n-grams are counted.
    """

    HELP = "one feature for each n-gram of the translation"
    Settings = NgramSettings

    def settings(self, arguments: Sequence[str]) -> NgramSettings:
        """The settings of cdec's options.

        Raises:
            InputError: an option is unknown, lacks its value or is not supported.
        """
        values = {item.name: str(item.default) for item in settings_of(NgramSettings)}
        given = iter(arguments)
        for option in given:
            if option not in OPTIONS:
                raise InputError(f"{self.name} takes {', '.join(OPTIONS)}; found {quote(option)}")
            value = next(given, None)
            if value is None:
                raise InputError(f"{self.name}: {option} lacks its value")
            values[OPTIONS[option]] = value
        return super().settings([*values.values()])

    def heads(self, settings: NgramSettings) -> tuple[str, ...]:
        return settings.heads

    def order(self, settings: NgramSettings) -> int:
        return settings.order

    def of_word(self, before: Sequence[str], word: str, settings: NgramSettings) -> Mapping[str, float]:
        words = [one for one in before if one != BEGIN or settings.order == 2] + [word]
        grams = (settings.separator.join(map(escaped, words[-n:])) for n in range(1, len(words) + 1))
        return {head + gram: 1.0 for head, gram in zip(settings.heads, grams, strict=False)}
