"""Derivations of a given translation: the best one, or the one that lacks the fewest words of rules.

Each node of the forest gets the intervals of the translation that it can yield. Few rules contain
only words of the translation, so a sentence has few intervals.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lscfg.kernel import EXTRA_RULES, PASS, Forest, Grammar
from lscfg.kernel.forest import REST

Interval = tuple[int, int]
"""Words [i, j) of the translation."""

SWAP = 1
"""Cost of a rule with two target symbols swapped: less than that of a missing rule, which has a word on each side."""


class _Item(NamedTuple):
    """The best way in which a node yields an interval; ways are compared by cost, then by score."""

    cost: int  # words of missing rules on both sides
    loss: float  # the negative score
    app: int
    tails: tuple[Interval, ...]
    swap: int  # the first of two target symbols that change places, -1 for none


@dataclass(frozen=True)
class Forced:
    """A derivation of a given translation.

    Attributes:
        apps: applications from the root down, the first tail first.
        intervals: words [i, j) of the translation that each yields.
        swaps: for each, the first of two neighbouring symbols of its target side that change places, -1 for none.
        cost: words of missing rules, of both sides, and ``SWAP`` for each swap; 0 if the grammar has all rules.
        score: sum of the scores of the applications.
    """

    apps: tuple[int, ...]
    intervals: tuple[Interval, ...]
    swaps: tuple[int, ...]
    cost: int
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


def swapped(target: Sequence[int], first: int) -> list[int]:
    """A target side whose symbols ``first`` and ``first + 1`` change places."""
    return [*target[:first], target[first + 1], target[first], *target[first + 2 :]]


def force(
    forest: Forest,
    grammar: Grammar,
    scores: np.ndarray,
    translation: Sequence[int],
    missing: Callable[[int], bool] = lambda rule: False,
    longest: int = 7,
    swaps: bool = False,
) -> Forced | None:
    """The derivation of a translation with the fewest words of missing rules, and of these the best.

    Args:
        scores: float64 [n_apps], score of each application without the language model.
        translation: numbers of its words.
        missing: true for a rule that may yield any interval, at a cost of its words on both sides.
        longest: maximum number of target words of a missing rule.
        swaps: each other rule may swap two neighbouring symbols of its target side, at the cost ``SWAP``.

    Returns:
        The derivation; None if the forest has none.
    """
    words = tuple(translation)
    search = _Search(forest, words, longest)
    for node in range(forest.n_nodes):
        if forest.node_cat[node] == REST:
            continue
        edges = range(*forest.node_edges[node : node + 2].tolist())
        for edge in edges:
            tails = forest.tails(edge)
            for app in range(*forest.edge_apps[edge : edge + 2].tolist()):
                if missing(int(forest.app_rule[app])):
                    search.add_missing(node, app, float(scores[app]))
                else:
                    target = target_of(forest, grammar, app)
                    search.add(node, app, float(scores[app]), target, tails)
                    for first in range(len(target) - 1 if swaps else 0):
                        if target[first] != target[first + 1]:
                            search.add(node, app, float(scores[app]), swapped(target, first), tails, first)
    return search.best(forest.n_nodes - 1)


class _Search:
    """The intervals of all nodes so far."""

    def __init__(self, forest: Forest, words: tuple[int, ...], longest: int):
        self.forest, self.words, self.longest = forest, words, longest
        self.places: dict[int, list[int]] = defaultdict(list)
        for place, word in enumerate(words):
            self.places[word].append(place)
        self.found: list[dict[Interval, _Item]] = [{} for _ in range(forest.n_nodes)]
        self.from_: list[dict[int, list[int]] | None] = [None] * forest.n_nodes

    def add(
        self, node: int, app: int, score: float, target: Sequence[int], tails: Sequence[int], swap: int = -1
    ) -> None:
        """Adds the intervals of an application whose tails are complete; ``swap`` is as of ``_Item``."""
        if any(symbol >= 0 and symbol not in self.places for symbol in target):
            return
        if not all(self.found[tail] for tail in tails):
            return
        for begin, end, taken in self._matches(target, tails):
            items = [self.found[tail][interval] for tail, interval in zip(tails, taken, strict=True)]
            cost = sum(item.cost for item in items) + SWAP * (swap >= 0)
            loss = sum(item.loss for item in items) - score
            self._keep(node, (begin, end), _Item(cost, loss, app, taken, swap))

    def add_missing(self, node: int, app: int, score: float) -> None:
        """Adds every short interval."""
        i, j = self.forest.node_span[node].tolist()
        for begin in range(len(self.words)):
            for end in range(begin + 1, min(begin + self.longest, len(self.words)) + 1):
                self._keep(node, (begin, end), _Item(j - i + end - begin, -score, app, (), -1))

    def _keep(self, node: int, interval: Interval, item: _Item) -> None:
        best = self.found[node].get(interval)
        if best is None or item[:2] < best[:2]:
            self.found[node][interval] = item

    def _matches(self, target: Sequence[int], tails: Sequence[int]) -> Iterator[tuple[int, int, tuple[Interval, ...]]]:
        """Begin, end and the intervals of the tails in which a target side yields the translation."""
        first = target[0]
        begins = self.places[first] if first >= 0 else [*self._ends(tails[-1 - first])]
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
        apps, intervals, swaps, waiting = [], [], [], [(root, whole)]
        while waiting:
            node, interval = waiting.pop()
            item = self.found[node][interval]
            apps.append(item.app)
            intervals.append(interval)
            swaps.append(item.swap)
            tails = self.forest.tails(int(self.forest.app_edge[item.app]))
            waiting += reversed([*zip(tails, item.tails, strict=True)])
        item = self.found[root][whole]
        return Forced(tuple(apps), tuple(intervals), tuple(swaps), item.cost, -item.loss)
