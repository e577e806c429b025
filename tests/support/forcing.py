"""A slow reference of the best derivation of a given translation: all ways of all nodes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from lscfg.decode.missing import Interval, target_of
from lscfg.kernel import Forest, Grammar
from lscfg.kernel.forest import REST
from lscfg.kernel.search import Forced


class _Item(NamedTuple):
    """The best way in which a node yields an interval."""

    score: float
    app: int
    tails: tuple[Interval, ...]
    begins: tuple[int, ...]
    """Beginnings of the tails, the last one on the target side first."""


def every_way(forest: Forest, grammar: Grammar, scores: np.ndarray, translation: Sequence[int]) -> Forced | None:
    """The best derivation of a translation.

    Args:
        scores: float64 [n_apps], score of each application without the language model.
        translation: numbers of its words.

    Returns:
        The derivation; None if the forest has none.
    """
    search = _Search(forest, tuple(translation))
    for node in range(forest.n_nodes):
        if forest.node_cat[node] == REST:
            continue
        for edge in range(*forest.node_edges[node : node + 2].tolist()):
            tails = forest.tails(edge)
            for app in range(*forest.edge_apps[edge : edge + 2].tolist()):
                search.add(node, app, float(scores[app]), target_of(forest, grammar, app), tails)
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
            begins = tuple(taken[-1 - symbol][0] for symbol in reversed(target) if symbol < 0)
            best = self.found[node].get((begin, end))
            if best is None or total > best.score or (total == best.score and app == best.app and begins < best.begins):
                self.found[node][begin, end] = _Item(total, app, taken, begins)

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
        return Forced(np.array(apps), np.array(intervals), self.found[root][whole].score)
