"""Everything that a memory of corrections contains for a sentence, without the memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from lscfg.decode.terms import Occurrence, form_places

Links = Sequence[tuple[int, int]]
"""Pairs of a source and a target position."""

Aligner = Callable[[Sequence[str], Sequence[str]], Links]
"""Links the words of two sentences."""


class StoredPair(NamedTuple):
    """A corrected pair."""

    id: int
    source: str
    target: str
    """Words, separated by blanks."""
    links: tuple[tuple[int, int], ...]
    typed: str = ""
    """The target as a person typed it, where restoring its words gives another text."""
    time: str = ""
    """Time of storing, in UTC by ISO 8601; empty in journals of older versions."""


class StoredRule(NamedTuple):
    """A phrase pair of stored pairs."""

    source: str
    target: str
    value: float
    """Its feature ``Correction``: source words, halved by every ``HALVED_BY`` later corrections."""


class SimilarPair(NamedTuple):
    """A stored pair with a similar source."""

    pair: StoredPair
    similarity: float
    """1 minus the edits per word of the longer sentence."""


class Recalled(NamedTuple):
    """Everything that the memory contains for a sentence."""

    pair: StoredPair | None = None
    """The latest pair with this source."""
    phrases: tuple[tuple[StoredRule, ...], ...] = ()
    """The rules of each source phrase that has some."""
    similar: tuple[SimilarPair, ...] = ()
    """The most similar first."""
    shown: str = ""
    """The target of ``pair`` as people see it; empty where nothing restores text."""

    @property
    def rules(self) -> tuple[StoredRule, ...]:
        """The rules of all source phrases."""
        return tuple(rule for rules in self.phrases for rule in rules)

    def lacking(self, hard: Sequence[Occurrence]) -> list[Occurrence]:
        """The hard terms whose raw text the shown target does not contain, for each of their occurrences.

        Words alone do not show this: the casing of both sides may differ, and a suffix may join an address.
        """
        needed = Counter(one.text for one in hard)
        return [one for one in hard if not one.text or self.shown.count(one.text) < needed[one.text]]


NOTHING = Recalled()


def remembered(recalled: Recalled, hard: Sequence[Occurrence]) -> StoredPair | None:
    """The pair that answers a sentence: the equal one, unless its target lacks one of the hard terms."""
    pair = recalled.pair
    if pair is None:
        return None
    wanted = [[form.split(" ") for form in one.forms] for one in recalled.lacking(hard)]
    return None if form_places(pair.target.split(" "), wanted) is None else pair
