"""Features of phrases that the grammar lacks: those of the grammar's phrases of equal length that occur once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np

from lscfg.decode.columns import FeatureColumns
from lscfg.decode.sentence_rules import Sides
from lscfg.kernel import Grammar
from lscfg.kernel.forest import grammar_sides

# A phrase with the features of the sentence's usual phrase would be too good: most phrases of a grammar are words,
# which occur often, so that a stored phrase of seven words would cost as much as one word.

SINGLE, SINGLE_SOURCE = "IsSingletonFE", "IsSingletonF"
"""Features of a rule that occurs once, and of one whose source side occurs once."""
LEXICAL = ("MaxLexEgivenF", "MaxLexFgivenE")
"""Lexical weights, which depend on the words of a phrase."""
LONGEST = 7
"""Number of source words; longer phrases get the features of phrases of this length."""
ENOUGH = 10
"""Minimum phrases for a median; a length with fewer gets the medians of the nearest length."""

_Costs = Mapping[int, Mapping[int, float]]
_Worst = Mapping[int, float]


class NewPhrases:
    """Features of new phrases, computed when the first is needed.

    A new phrase gets the medians of the grammar's phrases with as many source words that occur once, by whether the
    grammar contains the source side, and its own lexical weights. Without the feature ``IsSingletonFE``, all phrases
    of the grammar count.

    Args:
        columns: features of the grammar's rules.
    """

    def __init__(self, grammar: Grammar, columns: FeatureColumns):
        self._grammar, self._columns = grammar, columns
        own = {*grammar.feature_names}
        self.names = tuple(name for name in columns.names if name in own)
        self._places = [columns.names.index(name) for name in self.names]

    def rows(self, phrases: Sequence[Sides]) -> np.ndarray:
        """Features of new phrases by known source sides, float64 [phrases, 2, names]."""
        found: np.ndarray = self._medians[[min(len(source), LONGEST) for source, _ in phrases]]
        if phrases:
            costs = np.array([self._lexical_costs(*sides) for sides in phrases])
            for side, place in enumerate(self._lexical_places):
                if place is not None:
                    found[:, :, place] = costs[:, None, side]
        return found

    @cached_property
    def _lexical_places(self) -> list[int | None]:
        return [self.names.index(name) if name in self.names else None for name in LEXICAL]

    # ---- medians ----

    @cached_property
    def _words(self) -> np.ndarray:
        """Number of source words of each rule without nonterminals, 0 for other rules."""
        offsets, lengths, symbols = grammar_sides(self._grammar)
        gaps = np.concatenate([[0], np.cumsum(symbols < 0)])
        return np.where(gaps[offsets[1:]] == gaps[offsets[:-1]], lengths, 0)

    @cached_property
    def _medians(self) -> np.ndarray:
        """Features by number of source words and by known source sides, float64 [LONGEST + 1, 2, names]."""
        words, single, first = np.minimum(self._words, LONGEST), self._marked(SINGLE), self._marked(SINGLE_SOURCE)
        found: dict[tuple[int, int], np.ndarray] = {}
        for length in range(1, LONGEST + 1):
            of_length = (words == length) & (True if single is None else single)
            for known in (0, 1):
                chosen = np.flatnonzero(of_length if first is None else of_length & (first != known))
                if len(chosen) >= ENOUGH:
                    sums = self._columns.rules.sums(chosen, np.arange(len(chosen) + 1))
                    found[length, known] = np.median(sums[:, self._places], axis=0)
        table = np.zeros((LONGEST + 1, 2, len(self.names)))
        for length in range(LONGEST + 1):
            for known in (0, 1):
                near = [key for key in found if key[1] == known] or [*found]
                if near:
                    table[length, known] = found[min(near, key=lambda key: (abs(key[0] - length), key))]
        return table

    def _marked(self, name: str) -> np.ndarray | None:
        """Marks rules with a feature above 0, bool [rules]; None without the feature."""
        if name not in self.names:
            return None
        weights = np.zeros(len(self._columns.names))
        weights[self._columns.names.index(name)] = 1.0
        return np.asarray(self._columns.rules.products(weights)[: len(self._grammar)] > 0)

    # ---- lexical weights ----

    @cached_property
    def _lexicon(self) -> tuple[tuple[_Costs, _Costs], tuple[_Worst, _Worst]]:
        """Costs by source word and target word in each direction, and the highest of each given word."""
        offsets, _, symbols = grammar_sides(self._grammar)
        chosen = np.flatnonzero((self._words == 1) & (np.diff(offsets) == 2))
        sums = self._columns.rules.sums(chosen, np.arange(len(chosen) + 1))
        words = [symbols[offsets[chosen] + side].tolist() for side in (0, 1)]
        costs = dict[int, dict[int, float]](), dict[int, dict[int, float]]()
        worst = dict[int, float](), dict[int, float]()
        for side, name in enumerate(LEXICAL):
            if name not in self.names:
                continue
            values = sums[:, self._columns.names.index(name)].tolist()
            for source, target, value in zip(*words, values, strict=True):
                costs[side].setdefault(source, {})[target] = value
                given = target if side else source
                worst[side][given] = max(value, worst[side].get(given, 0.0))
        return costs, worst

    def _lexical_costs(self, source: Iterable[int], target: Iterable[int]) -> tuple[float, float]:
        """The sums over the words of the target and of the source side of the cost of the best partner.

        A pair that the grammar lacks costs as much as the least probable translation of the given word, which
        occurs once as a rule; a given word without translations costs 0, since the new pair is its only one.
        """
        (costs, reverse), (worst, reverse_worst) = self._lexicon
        none: Mapping[int, float] = {}
        rows, totals, least = [costs.get(word, none) for word in source], [0.0, 0.0], -1.0
        for word in target:
            own = [row[word] for row in rows if word in row]
            if not own and least < 0:
                least = min([worst.get(one, 0.0) for one in source], default=0.0)
            totals[0] += min(own) if own else least
        least = -1.0
        for word in source:
            row = reverse.get(word, none)
            own = [row[one] for one in target if one in row]
            if not own and least < 0:
                least = min([reverse_worst.get(one, 0.0) for one in target], default=0.0)
            totals[1] += min(own) if own else least
        return totals[0], totals[1]
