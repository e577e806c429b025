"""The best derivation of a given translation.

Each node of the forest gets the intervals of the translation that it can yield. Few rules contain
only words of the translation, so a sentence has few intervals.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lscfg.kernel import EXTRA_RULES, PASS, Forest, Grammar
from lscfg.kernel.forest import REST
from lscfg.kernel.search import PatchOptions, patch_costs

Interval = tuple[int, int]
"""Words [i, j) of the translation."""


class _Item(NamedTuple):
    """The best way in which a node yields an interval."""

    score: float
    app: int
    tails: tuple[Interval, ...]


@dataclass(frozen=True)
class Forced:
    """A derivation of a given translation.

    Attributes:
        apps: applications from the root down, the first tail first.
        intervals: words [i, j) of the translation that each yields.
        score: sum of the scores of the applications.
    """

    apps: tuple[int, ...]
    intervals: tuple[Interval, ...]
    score: float


def target_of(forest: Forest, grammar: Grammar, app: int) -> list[int]:
    """The target side of an application: a word's number, or -1-k for the k-th tail."""
    rule, edge = int(forest.app_rule[app]), int(forest.app_edge[app])
    extra = rule - len(grammar)
    if 0 <= extra < PASS:
        return [-1 - k for k in range(len(forest.tails(edge)))]
    if PASS <= extra < EXTRA_RULES:
        return [int(forest.words[forest.node_span[forest.edge_head[edge], 0]])]
    return list(grammar.tgt(rule))


def possible_targets(forest: Forest, grammar: Grammar, words: Collection[int]) -> dict[int, tuple[int, ...]]:
    """Target sides whose words all occur in a translation, by application."""
    found: dict[int, tuple[int, ...]] = {}
    of_rules: dict[int, tuple[int, ...] | None] = {}
    first, last = len(grammar), len(grammar) + EXTRA_RULES
    for app, rule in enumerate(forest.app_rule.tolist()):
        if rule not in of_rules or first <= rule < last:
            target = tuple(target_of(forest, grammar, app))
            of_rules[rule] = target if all(symbol < 0 or symbol in words for symbol in target) else None
        if (known := of_rules[rule]) is not None:
            found[app] = known
    return found


def force(forest: Forest, grammar: Grammar, scores: np.ndarray, translation: Sequence[int]) -> Forced | None:
    """The best derivation of a translation.

    Args:
        scores: float64 [n_apps], score of each application without the language model.
        translation: numbers of its words.

    Returns:
        The derivation; None if the forest has none.
    """
    nothing = np.zeros(forest.n_apps, bool)
    if patch_costs(forest, grammar, nothing, translation, PatchOptions(0, -1))[-1, 0, len(translation)]:
        return None
    search, targets = _Search(forest, tuple(translation)), possible_targets(forest, grammar, {*translation})
    for node in range(forest.n_nodes):
        if forest.node_cat[node] == REST:
            continue
        for edge in range(*forest.node_edges[node : node + 2].tolist()):
            tails = forest.tails(edge)
            for app in range(*forest.edge_apps[edge : edge + 2].tolist()):
                if app in targets:
                    search.add(node, app, float(scores[app]), targets[app], tails)
    return search.best(forest.n_nodes - 1)


class _Search:
    """The intervals of all nodes so far."""

    def __init__(self, forest: Forest, words: tuple[int, ...]):
        self.forest, self.words = forest, words
        self.places: dict[int, list[int]] = defaultdict(list)
        for place, word in enumerate(words):
            self.places[word].append(place)
        self.found: list[dict[Interval, _Item]] = [{} for _ in range(forest.n_nodes)]
        self.from_: list[dict[int, list[int]] | None] = [None] * forest.n_nodes

    def add(self, node: int, app: int, score: float, target: Sequence[int], tails: Sequence[int]) -> None:
        """Adds the intervals of an application whose tails are complete."""
        if not all(self.found[tail] for tail in tails):
            return
        for begin, end, taken in self._matches(target, tails):
            items = [self.found[tail][interval] for tail, interval in zip(tails, taken, strict=True)]
            total = score + sum(item.score for item in items)
            best = self.found[node].get((begin, end))
            if best is None or total > best.score:
                self.found[node][begin, end] = _Item(total, app, taken)

    def _matches(self, target: Sequence[int], tails: Sequence[int]) -> Iterator[tuple[int, int, tuple[Interval, ...]]]:
        """Begin, end and the intervals of the tails in which a target side yields the translation."""
        begins: Iterable[int] = range(len(self.words) + 1)  # a target side may be empty
        if target:
            begins = self.places[target[0]] if target[0] >= 0 else [*self._ends(tails[-1 - target[0]])]
        for begin in begins:
            ways: list[tuple[int, dict[int, Interval]]] = [(begin, {})]
            for symbol in target:
                ways = [*self._step(symbol, tails, ways)]
            for end, taken in ways:
                yield begin, end, tuple(taken[k] for k in range(len(tails)))

    def _step(
        self, symbol: int, tails: Sequence[int], ways: list[tuple[int, dict[int, Interval]]]
    ) -> Iterator[tuple[int, dict[int, Interval]]]:
        for place, taken in ways:
            if symbol >= 0:
                if place < len(self.words) and self.words[place] == symbol:
                    yield place + 1, taken
            else:
                for end in self._ends(tails[-1 - symbol]).get(place, ()):
                    yield end, taken | {-1 - symbol: (place, end)}

    def _ends(self, node: int) -> dict[int, list[int]]:
        """Ends of the intervals of a complete node, by their beginnings."""
        known = self.from_[node]
        if known is None:
            known = defaultdict(list)
            for begin, end in self.found[node]:
                known[begin].append(end)
            self.from_[node] = known = dict(known)
        return known

    def best(self, root: int) -> Forced | None:
        whole = (0, len(self.words))
        if whole not in self.found[root]:
            return None
        apps, intervals, waiting = [], [], [(root, whole)]
        while waiting:
            node, interval = waiting.pop()
            item = self.found[node][interval]
            apps.append(item.app)
            intervals.append(interval)
            tails = self.forest.tails(int(self.forest.app_edge[item.app]))
            waiting += reversed([*zip(tails, item.tails, strict=True)])
        return Forced(tuple(apps), tuple(intervals), self.found[root][whole].score)
