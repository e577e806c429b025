"""What a noun or person passes on to the words that agree with it, and two functions to write word lists."""

from __future__ import annotations

from typing import NamedTuple


def words(text: str) -> list[str]:
    """The words of a text: how word lists are written here."""
    return text.split()


def table(text: str) -> dict[str, str]:
    """Pairs written ``key:value key:value ...``."""
    return {key: value for key, _, value in (pair.partition(":") for pair in text.split())}


class Features(NamedTuple):
    """Grammatical features; ``pronoun`` is the English subject pronoun, the others are Spanish.

    The two languages need not match: usted is a third person in Spanish and "you" in English.
    """

    person: int
    number: str  # "s" or "p"
    gender: str  # "m" or "f"
    pronoun: str
    is_pronoun: bool = False  # the English words are this pronoun, not a noun phrase


# What stands before a noun or a person in the lexicon. Gender "?" is drawn anew for each sentence.
CODES = {
    "m": Features(3, "s", "m", "it"),
    "f": Features(3, "s", "f", "it"),
    "mp": Features(3, "p", "m", "they"),
    "fp": Features(3, "p", "f", "they"),
    "1s": Features(1, "s", "?", "i"),
    "1p": Features(1, "p", "m", "we"),
    "2s": Features(2, "s", "?", "you"),
    "us": Features(3, "s", "?", "you"),
    "up": Features(3, "p", "m", "you"),
    "3m": Features(3, "s", "m", "he"),
    "3f": Features(3, "s", "f", "she"),
    "3pm": Features(3, "p", "m", "they"),
    "3pf": Features(3, "p", "f", "they"),
}
NEUTRAL = CODES["m"]
