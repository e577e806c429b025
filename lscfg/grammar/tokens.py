"""Tokens of rules: their positions in a corpus."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from lscfg.errors import InputError
from lscfg.grammar.table import RuleTable


@dataclass(frozen=True, eq=False)
class RuleTokens:
    """Rule tokens of a corpus.

    Attributes:
        rules: rules of up to two nonterminals.
        places: int32 [tokens, 8]: rule, sentence pair, source span (begin, end), spans of the first and the second
            nonterminal in source order, or -1.
    """

    rules: RuleTable
    places: np.ndarray

    def with_those_of(self, other: RuleTokens) -> RuleTokens:
        """These tokens and others of the same corpus; a rule application in both counts twice."""
        rules, numbers = self.rules.with_those_of(other.rules)
        places = np.column_stack([numbers[other.places[:, 0]], other.places[:, 1:]]).astype(np.int32)
        return RuleTokens(rules, np.concatenate([self.places, places]))

    def without(self, share: float) -> RuleTokens:
        """The tokens that are not ``left_out``, and their rules."""
        places = self.places[~left_out(self.places, share)]
        kept, numbers = np.unique(places[:, 0], return_inverse=True)
        return RuleTokens(self.rules.select(kept), np.column_stack([numbers, places[:, 1:]]).astype(np.int32))

    def with_words(self, words: Iterable[str]) -> RuleTokens:
        """Appends words that a grammar can contain to the vocabulary."""
        known = {*self.rules.words}
        new = [word for word in dict.fromkeys(words) if word not in known]
        return replace(self, rules=replace(self.rules, words=[*self.rules.words, *new])) if new else self

    def has_choice(self) -> np.ndarray:
        """bool [rules], True for rules whose source side has several rules."""
        side = self.rules.source_id
        found: np.ndarray = np.bincount(side)[side] > 1 if len(side) else np.zeros(0, bool)
        return found

    def with_choice(self) -> RuleTokens:
        """The tokens of rules whose source side has several rules."""
        kept = self.has_choice()
        number = np.cumsum(kept) - 1
        places = self.places[kept[self.places[:, 0]]]
        places[:, 0] = number[places[:, 0]]
        return RuleTokens(self.rules.select(np.nonzero(kept)[0]), places)


LEFT_OUT = "left out"
"""The fact of a model that names the share of left-out tokens."""

LEFT_OUT_OF = "left out of"
"""The fact of a model that counts the tokens from which the share was drawn; other rules have other tokens."""

LEFT_OUT_SEED = 1
"""Seed of the choice of left-out tokens, the same for estimates and measures."""


def left_out(places: np.ndarray, share: float) -> np.ndarray:
    """bool [tokens]: a random share of the tokens, always the same.

    Tokens of a later alignment are left out with the first token of the same pair and source span, which would
    otherwise reveal the words around theirs.

    Args:
        places: see ``RuleTokens``; the tokens of an alignment are in the order of the pairs.
    """
    drawn = np.random.default_rng(LEFT_OUT_SEED).random(len(places)) < share
    later = np.cumsum(np.diff(places[:, 1], prepend=0) < 0) > 0
    if not later.any():
        return drawn
    pair, begin, end = places[:, 1:4].T.astype(np.int64)
    width = end.max() + 1
    _, first, which = np.unique((pair * width + begin) * width + end, return_index=True, return_inverse=True)
    result: np.ndarray = np.where(later, drawn[first[which]], drawn)
    return result


def check_share(share: float) -> None:
    """Refuses an impossible share of left-out tokens.

    Raises:
        InputError: the share is negative, or no token would remain.
    """
    if not 0 <= share < 1:
        raise InputError(f"--leave-out must be at least 0 and less than 1, not {share:g}")
