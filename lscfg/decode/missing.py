"""The cheapest way to derive a translation if rules may be missing, or may swap two neighbours.

Each node of the forest gets a matrix of costs, one for each interval of the translation. The matrix of a rule is the
min-plus product of the matrices of its target symbols, so all intervals of a node are found at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lscfg.decode.forced import Interval, possible_targets
from lscfg.kernel import Forest, Grammar
from lscfg.kernel.forest import REST

SWAP = 1
"""Cost of a rule with two target symbols swapped: less than that of a missing rule, which has a word on each side."""

NEVER = 10_000
"""Cost of an interval that a node cannot yield; the sum of two fits into 16 bits."""

Costs = NDArray[np.int16]


@dataclass(frozen=True)
class Patched:
    """A derivation of a given translation by rules of the grammar and others.

    Attributes:
        apps: applications from the root down, the first tail first.
        intervals: words [i, j) of the translation that each yields.
        swaps: for each, the first of two neighbouring symbols of its target side that change places, -1 for none.
        cost: words of missing rules, of both sides, and ``SWAP`` for each swap.
    """

    apps: tuple[int, ...]
    intervals: tuple[Interval, ...]
    swaps: tuple[int, ...]
    cost: int


class _Way(NamedTuple):
    """An application of a rule of the grammar, perhaps with a swap."""

    app: int
    swap: int
    target: tuple[int, ...]


def cheapest_derivation(
    forest: Forest,
    grammar: Grammar,
    translation: Sequence[int],
    missing: Callable[[int], bool],
    longest: int,
    swaps: bool = True,
) -> Patched | None:
    """The cheapest derivation of a translation, the first of equal ones.

    Args:
        translation: numbers of its words, one or more.
        missing: true for a rule that may yield any words at a cost of the words on both sides.
        longest: maximum number of target words of a missing rule.
        swaps: each other rule may swap two neighbouring symbols of its target side, at the cost ``SWAP``.

    Returns:
        The derivation; None if the forest has none.
    """
    return _Patching(forest, grammar, tuple(translation), missing, longest, swaps).best()


class _Patching:
    """The costs of all nodes."""

    def __init__(
        self,
        forest: Forest,
        grammar: Grammar,
        words: tuple[int, ...],
        missing: Callable[[int], bool],
        longest: int,
        swaps: bool,
    ):
        self.forest, self.words, self.swaps = forest, words, swaps
        size = len(words) + 1
        self.follows = {word: np.array([i for i, one in enumerate(words) if one == word]) for word in {*words}}
        lengths = np.arange(size)[None] - np.arange(size)[:, None]
        self.hole = np.where((lengths > 0) & (lengths <= longest), lengths, NEVER).astype(np.int16)
        self.start = np.where(lengths == 0, 0, NEVER).astype(np.int16)
        self.pairs = {*pairwise(words)}
        self.targets = possible_targets(forest, grammar, {*words})
        self.rules = [missing(rule) for rule in forest.app_rule.tolist()]
        self.holes: list[int] = [-1] * forest.n_nodes
        self.ways: list[list[_Way]] = [[] for _ in range(forest.n_nodes)]
        self.costs: list[Costs] = []
        for node in range(forest.n_nodes):
            self.costs.append(self._node(node))

    def _node(self, node: int) -> Costs:
        """The costs of a node after its tails, int16 [words + 1, words + 1], by begin and end of the interval."""
        found = np.full_like(self.start, NEVER)
        if self.forest.node_cat[node] == REST:
            return found
        i, j = self.forest.node_span[node].tolist()
        for edge in range(*self.forest.node_edges[node : node + 2].tolist()):
            tails = self.forest.tails(edge)
            apps = range(*self.forest.edge_apps[edge : edge + 2].tolist())
            for app in apps:
                if self.rules[app]:
                    self.holes[node] = app
                    np.minimum(found, self.hole + (j - i), out=found, where=self.hole < NEVER)
            for way in self._variants([app for app in apps if app in self.targets and not self.rules[app]]):
                cost = self._spelled(way.target, tails, self.start)
                if cost is not None and cost.min() < NEVER:
                    self.ways[node].append(way)
                    np.minimum(found, cost + SWAP * (way.swap >= 0), out=found)
        return found

    def _variants(self, apps: Sequence[int]) -> list[_Way]:
        """The target sides of an edge's applications, then those with swaps, each once, as far as they can fit."""
        found: dict[tuple[int, ...], _Way] = {}
        for app in apps:
            found.setdefault(self.targets[app], _Way(app, -1, self.targets[app]))
        for app, _, target in [*found.values()] if self.swaps else ():
            for k in range(len(target) - 1):
                other = (*target[:k], target[k + 1], target[k], *target[k + 2 :])
                found.setdefault(other, _Way(app, k, other))
        return [way for target, way in found.items() if self._fits(target)]

    def _fits(self, target: tuple[int, ...]) -> bool:
        """False if two neighbouring words are not adjacent in the translation."""
        return all(one < 0 or other < 0 or (one, other) in self.pairs for one, other in pairwise(target))

    def _spelled(self, target: Sequence[int], tails: Sequence[int], start: Costs) -> Costs | None:
        """The costs after all symbols of a target side; None if it fits nowhere.

        Args:
            start: [n, words + 1], costs before the first symbol.
        """
        cost = start
        for symbol in target:
            after = self._step(cost, symbol, tails)
            if after is None:
                return None
            cost = after
        return cost

    def _step(self, cost: Costs, symbol: int, tails: Sequence[int]) -> Costs | None:
        """The costs after one more symbol; None if none is possible."""
        if symbol >= 0:
            after = np.full_like(cost, NEVER)
            places = self.follows[symbol]
            after[:, places + 1] = cost[:, places]
            return after
        tail = self.costs[tails[-1 - symbol]]
        if cost is self.start:
            return tail
        between = np.flatnonzero((cost.min(axis=0) < NEVER) & (tail.min(axis=1) < NEVER))
        if not len(between):
            return None
        product: Costs = (cost[:, between, None] + tail[None, between]).min(axis=1)
        return np.minimum(product, NEVER, out=product)

    def best(self) -> Patched | None:
        """The cheapest derivation of the whole translation."""
        root, whole = self.forest.n_nodes - 1, (0, len(self.words))
        total = int(self.costs[root][whole])
        if total >= NEVER:
            return None
        apps, intervals, swaps, waiting = [], [], [], [(root, whole)]
        while waiting:
            node, interval = waiting.pop()
            app, swap, below = self._way(node, interval)
            apps.append(app)
            intervals.append(interval)
            swaps.append(swap)
            waiting += reversed(below)
        return Patched(tuple(apps), tuple(intervals), tuple(swaps), total)

    def _way(self, node: int, interval: Interval) -> tuple[int, int, list[tuple[int, Interval]]]:
        """Application, swap, and tails with their intervals, of the cheapest way to yield an interval."""
        (begin, end), wanted = interval, int(self.costs[node][interval])
        i, j = self.forest.node_span[node].tolist()
        for way in self.ways[node]:
            tails = self.forest.tails(int(self.forest.app_edge[way.app]))
            rows = [self.start[begin : begin + 1]]
            for symbol in way.target:
                after = self._step(rows[-1], symbol, tails)
                rows.append(np.full_like(rows[0], NEVER) if after is None else after)
            if int(rows[-1][0, end]) + SWAP * (way.swap >= 0) != wanted:
                continue
            parts: dict[int, tuple[int, Interval]] = {}
            for symbol, row in zip(reversed(way.target), reversed(rows[:-1]), strict=True):
                if symbol >= 0:
                    end -= 1
                    continue
                tail = tails[-1 - symbol]
                middle = int((row[0] + self.costs[tail][:, end]).argmin())
                parts[-1 - symbol] = tail, (middle, end)
                end = middle
            return way.app, way.swap, [parts[k] for k in range(len(tails))]
        assert self.holes[node] >= 0 and int(self.hole[interval]) + j - i == wanted
        return self.holes[node], -1, []
