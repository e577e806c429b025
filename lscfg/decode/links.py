"""Word links of translations: the words of the source that each word of a translation comes from.

Links inside a rule come from the fifth field of its line. For other rules they come from the one-word rules of the same
grammar: a word's best partner in the rule is the word that the grammar prefers as its translation. Words without such a
rule are linked as a block.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from lscfg.decode.derivations import AppliedRule
from lscfg.kernel import Grammar, X

Pairs = tuple[tuple[int, int], ...]
"""Pairs of places on the source and the target side."""

COSTS = ("EgivenF", "FgivenE", "EgivenFCoherent", "MaxLexEgivenF", "MaxLexFgivenE")
"""Features of rules that are negative logarithms of translation probabilities, of lscfg's and cdec's extractors."""


class RuleLinks:
    """Word links of a grammar's rules, kept once found.

    Args:
        grammar: a finished grammar.
        cost: cost of a one-word rule as a translation, such as the sum of its features ``COSTS``; lower is better.
    """

    def __init__(self, grammar: Grammar, cost: Callable[[int], float]):
        self._grammar, self._cost = grammar, cost
        self._found: dict[int, Pairs] = {}

    def __call__(self, rule: int) -> Pairs:
        """Pairs (i, j): the i-th word of the rule's source side is linked to the j-th word of its target side."""
        found = self._found.get(rule)
        if found is None:
            found = self._found[rule] = self._links(rule)
        return found

    def _links(self, rule: int) -> Pairs:
        src, tgt = self._grammar.src(rule), self._grammar.tgt(rule)
        source, target = ([symbol for symbol in side if symbol >= 0] for side in (src, tgt))
        if given := self._grammar.links(rule):
            places = [_word_numbers(side) for side in (src, tgt)]
            return tuple(sorted({(places[0][i], places[1][j]) for i, j in given}))
        return best_partners([[self._pair_cost(f, e) for e in target] for f in source], len(target))

    def of_words(self, source: Sequence[str], target: Sequence[str]) -> Pairs:
        """Links of a pair of sentences by ``best_partners``; equal words are partners."""
        find = self._grammar.vocab.find

        def cost(f: str, e: str) -> float:
            ids = find(f), find(e)
            return 0.0 if f == e else math.inf if min(ids) < 0 else self._pair_cost(*ids)

        return best_partners([[cost(f, e) for e in target] for f in source], len(target))

    def _pair_cost(self, source: int, target: int) -> float:
        """Cost of a pair of words; infinite without a rule for the pair."""
        if source == target:
            return 0.0
        rule = self._grammar.find(X, [source], [target])
        return math.inf if rule < 0 else self._cost(rule)


def _word_numbers(side: Sequence[int]) -> list[int]:
    """The number of each symbol among the words of its side."""
    number, found = 0, []
    for symbol in side:
        found.append(number)
        number += symbol >= 0
    return found


def best_partners(costs: Sequence[Sequence[float]], n_target: int) -> Pairs:
    """Links of words to their partners of least cost, in either direction.

    Equal costs: the partner at the nearest relative position, then the first. Target words without a partner are linked
    to all source words without one; if every source word has a partner, to all source words.

    Args:
        costs: [source words][n_target]; infinite for pairs that are not translations.
    """
    n_source = len(costs)

    def rank(i: int, j: int) -> tuple[float, float, int, int]:
        return costs[i][j], abs((i + 0.5) / n_source - (j + 0.5) / n_target), i, j

    links: set[tuple[int, int]] = set()
    for i in range(n_source):
        if partners := [j for j in range(n_target) if costs[i][j] < math.inf]:
            links.add((i, min(partners, key=lambda j: rank(i, j))))
    for j in range(n_target):
        if partners := [i for i in range(n_source) if costs[i][j] < math.inf]:
            links.add((min(partners, key=lambda i: rank(i, j)), j))
    sources, targets = {i for i, _ in links}, {j for _, j in links}
    block = [i for i in range(n_source) if i not in sources] or range(n_source)
    links.update((i, j) for j in range(n_target) if j not in targets for i in block)
    return tuple(sorted(links))


def joined_links(derivation: Sequence[AppliedRule], n_target: int) -> list[tuple[int, ...]]:
    """Links of a whole translation: for each of its words the positions of the linked source words, ascending.

    Args:
        derivation: rules with their links, in any order.
        n_target: number of words of the translation.
    """
    found: list[set[int]] = [set() for _ in range(n_target)]
    for rule in derivation:
        for i, j in rule.links:
            found[j].add(i)
    return [tuple(sorted(positions)) for positions in found]
