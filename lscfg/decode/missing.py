"""The cheapest way to derive a translation if rules may be missing, or may swap two neighbours.

Each node of the forest gets a matrix of costs, one for each interval of the translation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lscfg.kernel import Forest, Grammar
from lscfg.kernel.extra_rules import PASS, is_extra
from lscfg.kernel.search import PATCH_NEVER as NEVER
from lscfg.kernel.search import PatchOptions, patch_costs

SWAP = 1
"""Cost of a rule with two target symbols swapped: less than that of a missing rule, which has a word on each side."""

Costs = NDArray[np.int16]

Interval = tuple[int, int]
"""Words [i, j) of the translation."""


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


def target_of(forest: Forest, grammar: Grammar, app: int) -> list[int]:
    """The target side of an application: a word's number, or -1-k for the k-th tail."""
    rule, edge = int(forest.app_rule[app]), int(forest.app_edge[app])
    if is_extra(grammar, rule):
        if rule < len(grammar) + PASS:  # glue
            return [-1 - k for k in range(len(forest.tails(edge)))]
        return [int(forest.words[forest.node_span[forest.edge_head[edge], 0]])]
    return list(grammar.tgt(rule))


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
        self.forest, self.grammar, self.words, self.swaps = forest, grammar, words, swaps
        size = len(words) + 1
        self.follows = {word: np.array([i for i, one in enumerate(words) if one == word]) for word in {*words}}
        self.start = np.where(np.eye(size, dtype=bool), 0, NEVER).astype(np.int16)
        holes = [rule for rule in np.unique(forest.app_rule).tolist() if missing(rule)]
        self.missing = np.isin(forest.app_rule, holes)
        options = PatchOptions(longest, SWAP if swaps else -1)
        self.costs = patch_costs(forest, grammar, self.missing, words, options)

    def _variants(self, edge: int) -> list[_Way]:
        """The target sides of an edge's applications, then those with swaps, each once."""
        found: dict[tuple[int, ...], _Way] = {}
        for app in range(*self.forest.edge_apps[edge : edge + 2].tolist()):
            target = tuple(target_of(self.forest, self.grammar, app))
            if not self.missing[app] and all(symbol < 0 or symbol in self.follows for symbol in target):
                found.setdefault(target, _Way(app, -1, target))
        for app, _, target in [*found.values()] if self.swaps else ():
            for k in range(len(target) - 1):
                other = (*target[:k], target[k + 1], target[k], *target[k + 2 :])
                found.setdefault(other, _Way(app, k, other))
        return [*found.values()]

    def _step(self, cost: Costs, symbol: int, tails: Sequence[int]) -> Costs:
        """The costs after one more symbol, [1, words + 1]."""
        if symbol < 0:
            after: Costs = (cost.T + self.costs[tails[-1 - symbol]]).min(axis=0, keepdims=True)
            return np.minimum(after, NEVER, out=after)
        after = np.full_like(cost, NEVER)
        places = self.follows[symbol]
        after[:, places + 1] = cost[:, places]
        return after

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

    def _can_yield(self, target: Sequence[int], begin: int, end: int) -> bool:
        """False if words at the ends of a target side differ from those of the interval [begin, end)."""
        if not target:
            return begin == end
        if begin == end:
            return all(symbol < 0 for symbol in target)
        first, last = target[0], target[-1]
        return (first < 0 or first == self.words[begin]) and (last < 0 or last == self.words[end - 1])

    def _way(self, node: int, interval: Interval) -> tuple[int, int, list[tuple[int, Interval]]]:
        """Application, swap, and tails with their intervals, of the cheapest way to yield an interval."""
        (begin, end), wanted = interval, int(self.costs[node][interval])
        edges = range(*self.forest.node_edges[node : node + 2].tolist())
        for edge in edges:
            tails = self.forest.tails(edge)
            for way in self._variants(edge):
                if not self._can_yield(way.target, begin, end):
                    continue
                rows = [self.start[begin : begin + 1]]
                for symbol in way.target:
                    rows.append(self._step(rows[-1], symbol, tails))
                if int(rows[-1][0, end]) + SWAP * (way.swap >= 0) == wanted:
                    return way.app, way.swap, self._parts(way.target, rows, tails, end)
        apps = self.forest.edge_apps
        return (
            next(app for edge in edges for app in range(*apps[edge : edge + 2].tolist()) if self.missing[app]),
            -1,
            [],
        )

    def _parts(
        self, target: Sequence[int], rows: Sequence[Costs], tails: Sequence[int], end: int
    ) -> list[tuple[int, Interval]]:
        """The tails with their intervals, from the costs before each symbol of the target side and after the last."""
        parts: dict[int, tuple[int, Interval]] = {}
        for symbol, row in zip(reversed(target), reversed(rows[:-1]), strict=True):
            if symbol >= 0:
                end -= 1
                continue
            tail = tails[-1 - symbol]
            middle = int((row[0] + self.costs[tail][:, end]).argmin())
            parts[-1 - symbol] = tail, (middle, end)
            end = middle
        return [parts[k] for k in range(len(tails))]
