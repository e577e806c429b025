"""Everything that a memory of corrections contains for a sentence, without the memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from lscfg.decode.terms import form_places

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

    @property
    def rules(self) -> tuple[StoredRule, ...]:
        """The rules of all source phrases."""
        return tuple(rule for rules in self.phrases for rule in rules)


NOTHING = Recalled()


def remembered(recalled: Recalled, forms: Iterable[Sequence[str]]) -> StoredPair | None:
    """The pair that answers a sentence: the equal one, unless its target lacks a hard term.

    Args:
        forms: allowed translations of each hard term.
    """
    pair = recalled.pair
    wanted = [[form.split(" ") for form in own] for own in forms]
    return None if pair is None or form_places(pair.target.split(" "), wanted) is None else pair
