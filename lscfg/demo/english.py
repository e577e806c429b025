"""English forms of verbs, nouns, adjectives and pronouns, for the demo corpus."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise

FORMS = ("pres", "past", "done", "ing", "s", "er", "my", "me", "to", "np")

_SEVERAL = ("i", "you", "we", "they")
"""Pronouns whose verbs have no -s."""

_BE = {"i": ("am", "was"), "you": ("are", "were"), "we": ("are", "were"), "they": ("are", "were")}


@cache
def irregular() -> dict[str, dict[str, list[str]]]:
    """The forms of forms.txt by kind and word."""
    tables: dict[str, dict[str, list[str]]] = {}
    for line in files("lscfg.demo").joinpath("forms.txt").read_text("utf-8").splitlines():
        line = line.partition("#")[0].strip()
        if line.startswith("["):
            table = tables.setdefault(line[1:-1], {})
        elif line:
            table |= {word: forms for word, *forms in (entry.split() for entry in line.split(";"))}
    return tables


def formed(words: list[str], form: str, owner: Sequence[str] = ()) -> list[str]:
    """The phrase in one of ``FORMS``.

    A verb phrase is inflected in its first word: ``pres``, which agrees with its owner, ``past``, ``done`` (the
    participle) and ``ing``. Nouns have the plural ``s``, adjectives ``er``, persons ``my`` and ``me``. A location
    begins with its preposition; ``to`` replaces it by "to", and ``np`` omits it.
    """
    first, *rest = words
    if form in ("pres", "past", "done", "ing"):
        return [verb(first, form, " ".join(owner)), *rest]
    if form == "s":
        at = words.index("of") - 1 if "of" in words else len(words) - 1
        return [*words[:at], plural(words[at]), *words[at + 1 :]]
    if form == "er":
        return [*words[:-1], *comparative(words[-1])]
    if form in ("my", "me"):
        pronoun = irregular()["pronouns"].get(" ".join(words))
        if pronoun:
            return [pronoun[form == "me"]]
        return [*words, "'s"] if form == "my" else words
    return ["to", *rest] if form == "to" and rest != ["home"] else rest


def verb(lemma: str, form: str, subject: str = "") -> str:
    """A form of a verb; present and past of "be" depend on the subject."""
    if form == "ing":
        if lemma in irregular()["doubled"]:
            return lemma + lemma[-1] + "ing"
        return (lemma[:-1] if lemma.endswith("e") and lemma != "be" else lemma) + "ing"
    if lemma == "be" and form != "done":
        return _BE.get(subject, ("is", "was"))[form == "past"]
    if form == "pres":
        return lemma if subject in _SEVERAL else "has" if lemma == "have" else with_s(lemma)
    if forms := irregular()["verbs"].get(lemma):
        return forms[0 if form == "past" else -1]
    if lemma.endswith("y") and lemma[-2] not in "aeiou":
        return lemma[:-1] + "ied"
    return lemma + ("d" if lemma.endswith("e") else "ed")


def with_s(word: str) -> str:
    """A regular plural, or the third person of a verb."""
    if word.endswith(("s", "x", "ch", "sh", "o")):
        return word + "es"
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + "s"


def plural(word: str) -> str:
    """The plural of a noun."""
    forms = irregular()["plurals"].get(word)
    return forms[0] if forms else with_s(word)


def comparative(word: str) -> list[str]:
    """The comparative of an adjective: higher, more expensive."""
    if forms := irregular()["comparatives"].get(word):
        return forms
    if len(word) > 6:
        return ["more", word]
    return [word + ("r" if word.endswith("e") else "er")]


def polished(sentence: list[str]) -> list[str]:
    """The sentence with "an" before vowels."""
    return ["an" if word == "a" and after[0] in "aeiou" else word for word, after in pairwise([*sentence, "."])]
