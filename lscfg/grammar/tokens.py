"""Where a corpus has which rules."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lscfg.grammar.table import RuleTable


@dataclass(frozen=True)
class RuleTokens:
    """Where a corpus has which rules.

    Attributes:
        rules: of up to two nonterminals.
        places: int32 [tokens, 8]: rule, sentence pair, source span (begin, end), those of the first and the second
            nonterminal in source order, -1 where there is none.
    """

    rules: RuleTable
    places: np.ndarray

    def with_those_of(self, other: RuleTokens) -> RuleTokens:
        """These and other ones of the same corpus; a rule application that is among both counts twice."""
        rules, numbers = self.rules.with_those_of(other.rules)
        places = np.column_stack([numbers[other.places[:, 0]], other.places[:, 1:]]).astype(np.int32)
        return RuleTokens(rules, np.concatenate([self.places, places]))

    def with_choice(self) -> RuleTokens:
        """Those rules of a source side that has several; and their places."""
        side = self.rules.source_id
        kept = np.bincount(side)[side] > 1 if len(side) else np.zeros(0, bool)
        number = np.cumsum(kept) - 1
        places = self.places[kept[self.places[:, 0]]]
        places[:, 0] = number[places[:, 0]]
        return RuleTokens(self.rules.select(np.nonzero(kept)[0]), places)
