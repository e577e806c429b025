"""The cheapest way to derive a translation if rules may be missing, or may swap two neighbours.

Each node of the forest gets a matrix of costs, one for each interval of the translation. The matrix of a rule is the
min-plus product of the matrices of its target symbols, so all intervals of a node are found at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
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


class _Shape(NamedTuple):
    """A target side whose words occur in the translation.

    Attributes:
        tails: numbers of its tails, in its order.
        first, last: numbers of words before the first tail and after the last one; without tails, first is all words.
        begins, ends: places of these words in the translation; empty without words.
        between: words between two tails.
    """

    tails: tuple[int, ...]
    first: int
    last: int
    begins: Sequence[int]
    ends: Sequence[int]
    between: tuple[int, ...]


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
        self.targets = possible_targets(forest, grammar, {*words})
        self.hole_apps: dict[int, int] = {}
        self.known_apps: dict[int, list[int]] = {}
        edges = forest.app_edge.tolist()
        holes = {rule for rule in np.unique(forest.app_rule).tolist() if missing(rule)}
        for app in np.flatnonzero(np.isin(forest.app_rule, [*holes])).tolist():
            self.hole_apps[edges[app]] = app
        for app, rule in zip(self.targets, forest.app_rule[[*self.targets]].tolist(), strict=True):
            if rule not in holes:
                self.known_apps.setdefault(edges[app], []).append(app)
        self.joined: dict[tuple[tuple[int, ...], tuple[int, ...]], Costs | None] = {}
        self.runs: dict[tuple[int, ...], list[int]] = {}
        self.shapes: dict[tuple[int, ...], _Shape | None] = {}
        self.swaps_of: dict[tuple[int, ...], list[tuple[int, tuple[int, ...]]]] = {}
        self.holes: list[int] = [-1] * forest.n_nodes
        self.ways: list[list[_Way]] = [[] for _ in range(forest.n_nodes)]
        self.costs: list[Costs] = []
        self.starts: list[list[bool]] = []  # of each node, places where an interval begins
        self.stops: list[list[bool]] = []
        for node in range(forest.n_nodes):
            costs = self._node(node)
            self.costs.append(costs)
            self.starts.append((costs.min(axis=1) < NEVER).tolist())
            self.stops.append((costs.min(axis=0) < NEVER).tolist())

    def _node(self, node: int) -> Costs:
        """The costs of a node after its tails, int16 [words + 1, words + 1], by begin and end of the interval."""
        found = np.full_like(self.start, NEVER)
        if self.forest.node_cat[node] == REST:
            return found
        i, j = self.forest.node_span[node].tolist()
        for edge in range(*self.forest.node_edges[node : node + 2].tolist()):
            if (hole := self.hole_apps.get(edge)) is not None:
                self.holes[node] = hole
                np.minimum(found, self.hole + (j - i), out=found, where=self.hole < NEVER)
            if ways := self._variants(self.known_apps.get(edge, ())):
                tails = self.forest.tails(edge)
                for way in ways:
                    shape = self.shapes[way.target]
                    assert shape is not None
                    self._join(found, way.target, shape, tails, SWAP * (way.swap >= 0))
                self.ways[node] += ways
        return np.minimum(found, NEVER, out=found)

    def _join(self, found: Costs, target: tuple[int, ...], shape: _Shape, tails: Sequence[int], more: int) -> None:
        """Lowers the costs of a node by those of a target side with additional costs.

        Words restrict the intervals of the tails next to them, so only few rows and columns of the matrices count.
        """
        _, first, last, begins, ends, between = shape
        if not target:
            np.minimum(found, self.start + more, out=found)
            return
        if not shape.tails:
            for begin in begins:
                found[begin, begin + first] = min(int(found[begin, begin + first]), more)
            return
        if len(shape.tails) > 2:
            cost = self._spelled(target, tails, self.start)
            if cost is not None:
                np.minimum(found, cost + more, out=found)
            return
        costs = self._between(tuple([tails[k] for k in shape.tails]), between)
        if costs is None:
            return
        if first and last:
            for begin in begins:
                for end in ends:
                    total, stop = int(costs[begin + first, end]) + more, end + last
                    found[begin, stop] = min(int(found[begin, stop]), total)
        elif first:
            for begin in begins:
                np.minimum(found[begin], costs[begin + first] + more, out=found[begin])
        elif last:
            for end in ends:
                column = found[:, end + last]
                np.minimum(column, costs[:, end] + more, out=column)
        else:
            np.minimum(found, costs + more, out=found)

    def _between(self, tails: tuple[int, ...], words: tuple[int, ...]) -> Costs | None:
        """The costs of one tail, or of two with words between them, whatever the edge; None if they fit nowhere."""
        if len(tails) == 1:
            return self.costs[tails[0]]
        key = tails, words
        if key not in self.joined:
            left, right = self.costs[tails[0]], self.costs[tails[1]]
            stops, starts = self.stops[tails[0]], self.starts[tails[1]]
            length = len(words)
            places = self._places(words) if words else range(len(self.words) + 1)
            places = [place for place in places if stops[place] and starts[place + length]]
            made: Costs | None = None
            if len(places) == 1:
                made = left[:, places[0], None] + right[places[0] + length]
            elif places:
                after = [place + length for place in places]
                made = (left[:, places, None] + right[None, after]).min(axis=1)
            self.joined[key] = None if made is None else np.minimum(made, NEVER, out=made)
        return self.joined[key]

    def _places(self, words: Sequence[int]) -> Sequence[int]:
        """Places of the translation where some words occur, one or more."""
        key = tuple(words)
        if (known := self.runs.get(key)) is None:
            begins = self.follows[key[0]].tolist()
            known = self.runs[key] = [k for k in begins if self.words[k : k + len(key)] == key]
        return known

    def _variants(self, apps: Sequence[int]) -> list[_Way]:
        """The target sides of an edge's applications, then those with swaps, each once, as far as they can fit."""
        found: dict[tuple[int, ...], _Way] = {}
        for app in apps:
            found.setdefault(self.targets[app], _Way(app, -1, self.targets[app]))
        for app, _, target in [*found.values()] if self.swaps else ():
            for k, other in self._swapped(target):
                found.setdefault(other, _Way(app, k, other))
        return [way for target, way in found.items() if self._shape(target) is not None]

    def _swapped(self, target: tuple[int, ...]) -> list[tuple[int, tuple[int, ...]]]:
        """The target sides with two neighbours swapped that can fit, each with the place of the first."""
        if (known := self.swaps_of.get(target)) is None:
            others = [(k, (*target[:k], target[k + 1], target[k], *target[k + 2 :])) for k in range(len(target) - 1)]
            known = self.swaps_of[target] = [one for one in others if self._shape(one[1]) is not None]
        return known

    def _shape(self, target: tuple[int, ...]) -> _Shape | None:
        """The shape of a target side; None if words next to each other are not adjacent in the translation."""
        if target not in self.shapes:
            gaps = [k for k, symbol in enumerate(target) if symbol < 0]
            starts, stops = [-1, *gaps], [*gaps, len(target)]
            runs = [target[i + 1 : j] for i, j in zip(starts, stops, strict=True)]
            places = [self._places(run) if run else () for run in runs]
            made = None
            if all(place or not run for run, place in zip(runs, places, strict=True)) and not (
                gaps and runs[0] and runs[-1] and places[0][0] >= places[-1][-1]
            ):
                last = len(runs[-1]) if gaps else 0
                tails = tuple(-1 - target[k] for k in gaps)
                between = runs[1] if len(gaps) == 2 else ()
                made = _Shape(tails, len(runs[0]), last, places[0], places[-1], between)
            self.shapes[target] = made
        return self.shapes[target]

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
        i, j = self.forest.node_span[node].tolist()
        for way in self.ways[node]:
            tails = self.forest.tails(int(self.forest.app_edge[way.app]))
            if not self._can_yield(way.target, begin, end):
                continue
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
