"""Places of inline tags in a translation, from the links of its words.

A pair of tags covers a range of source words. In the translation it covers an interval of words. The interval costs the
words outside that are linked into the range, and the words inside that are linked only elsewhere. A single tag takes a
border of words, which costs the links that cross: from an earlier source word to a later target word, or the other way
round. Pairs stay nested as they are; siblings do not overlap, in any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

BUDGET = 20_000_000
"""Elementary steps of an exact search; beyond them outer tags are placed before inner ones, siblings in the order of
their links."""

_FAR = np.int64(1) << 60
_COST, _LENGTH = np.int64(1) << 36, np.int64(1) << 18
"""Keys order placements by cost, then by length, then by the sum of their beginnings."""

_MOST_CROSSING = 1 << 14
"""Crossing links beyond which all borders are equally bad, so that sums of keys stay below ``_FAR``."""


@dataclass
class TagNode:
    """A pair of tags, or a single tag.

    Attributes:
        tag: number of the tag, of a pair of its first one.
        end: number of the second tag; None for a single tag.
        begin: first source word in the pair, or the first after the single tag.
        stop: first source word after the pair.
        children: inside the pair, in their order.
    """

    tag: int
    begin: int
    end: int | None = None
    stop: int = 0
    children: list[TagNode] = field(default_factory=list)


class PlacedTag(NamedTuple):
    """A tag in a translation, before a target word; ``word`` is the number of target words for the end."""

    tag: int
    word: int


def placed_tags(nodes: Sequence[TagNode], links: Sequence[Sequence[int]]) -> list[PlacedTag]:
    """The tags of a translation in their order, with well-nested pairs.

    Args:
        nodes: outermost tags in their order.
        links: source words of each target word.
    """
    return _Projection(links).place(nodes, 0, len(links))


class _Projection:
    def __init__(self, links: Sequence[Sequence[int]]):
        self._links, self._size = links, len(links)

    def place(self, nodes: Sequence[TagNode], low: int, high: int) -> list[PlacedTag]:
        """The tags of siblings within an interval of target words."""
        if not nodes:
            return []
        width = high - low + 1
        exact = self._steps(nodes, width, outermost=True) <= BUDGET
        costs = [self._costs(node, low, high, inner=exact) for node in nodes]
        orders = _masks(len(nodes)) if _small(len(nodes), width, 2) else _chain(self._ranked(nodes))
        sequence = _arranged(costs, orders, width)
        found: list[PlacedTag] = []
        for number, begin, stop in sequence:
            node = nodes[number]
            found.append(PlacedTag(node.tag, low + begin))
            found += self.place(node.children, low + begin, low + stop)
            if node.end is not None:
                found.append(PlacedTag(node.end, low + stop))
        return found

    def _steps(self, nodes: Sequence[TagNode], width: int, outermost: bool = False) -> int:
        """Steps of an exact search, ``BUDGET`` + 1 if there are more."""
        count = len(nodes)
        if not _small(count, width, 2 if outermost else 3):
            return BUDGET + 1
        own = (count << count) * width ** (2 if outermost else 3)
        return min(BUDGET + 1, own + sum(self._steps(node.children, width) for node in nodes if node.children))

    def _ranked(self, nodes: Sequence[TagNode]) -> list[int]:
        """Numbers of siblings in the order of their links; those without links follow their left neighbours."""
        ranks: list[tuple[float, int]] = []
        for number, node in enumerate(nodes):
            own = [j for j, links in enumerate(self._links) if any(node.begin <= i < node.stop for i in links)]
            ranks.append((float(np.median(own)) if own else ranks[-1][0] if ranks else -1.0, number))
        return [number for _, number in sorted(ranks)]

    def _costs(self, node: TagNode, low: int, high: int, inner: bool) -> Ints:
        """Keys of all intervals [i, j) of a tag within [low, high), int64 [width, width].

        Args:
            inner: include the best placement of the tags inside.
        """
        width = high - low + 1
        keys = np.full((width, width), _FAR)
        linked = [any(node.begin <= i < node.stop for i in links) for links in self._links]
        if node.end is None or not any(linked):
            crossing = self._crossing(node.begin)[low : high + 1]
            borders = np.arange(width)
            keys[borders, borders] = np.minimum(crossing, _MOST_CROSSING) * _COST + borders
        else:
            inside = np.array([0, *np.cumsum(linked)], np.int64)
            elsewhere = [bool(own) and not yes for own, yes in zip(self._links, linked, strict=True)]
            foreign = np.array([0, *np.cumsum(elsewhere)], np.int64)
            begin, stop = np.meshgrid(np.arange(low, high + 1), np.arange(low, high + 1), indexing="ij")
            cost = inside[-1] - (inside[stop] - inside[begin]) + foreign[stop] - foreign[begin]
            whole = cost * _COST + (stop - begin) * _LENGTH + (begin - low)
            keys = np.where(stop >= begin, whole, _FAR)
        if inner and node.children:
            children = [self._costs(child, low, high, True) for child in node.children]
            keys = np.minimum(keys + _all_arranged(children, width), _FAR)
        return keys

    def _crossing(self, border: int) -> Ints:
        """Number of links that cross for each border of the target, int64 [size + 1]."""
        before = np.zeros(self._size + 1, np.int64)  # links of earlier source words to later target words
        for j, links in enumerate(self._links):
            for i in links:
                if i < border:  # crosses all borders up to j
                    before[: j + 1] += 1
                else:
                    before[j + 1 :] += 1
        return before


def _small(count: int, width: int, power: int) -> bool:
    return count <= 8 and (count << count) * width**power <= BUDGET


def _masks(count: int) -> list[tuple[int, list[int]]]:
    """Sets of siblings in ascending order, each with the siblings that may come last."""
    return [(mask, [k for k in range(count) if mask >> k & 1]) for mask in range(1, 1 << count)]


def _chain(order: Sequence[int]) -> list[tuple[int, list[int]]]:
    """The sets of a single order."""
    mask, found = 0, []
    for number in order:
        mask |= 1 << number
        found.append((mask, [number]))
    return found


def _arranged(costs: Sequence[Ints], orders: Sequence[tuple[int, list[int]]], width: int) -> list[tuple[int, int, int]]:
    """The best arrangement of siblings in an interval: number, begin and end of each, from left to right."""
    best: dict[int, Ints] = {0: np.zeros(width, np.int64)}
    for mask, last in orders:
        keys = np.full(width, _FAR)
        for number in last:
            before = best[mask & ~(1 << number)]
            keys = np.minimum(keys, (before[:, None] + costs[number]).min(0))
        best[mask] = np.minimum(np.minimum.accumulate(keys), _FAR)
    options = dict(orders)
    found: list[tuple[int, int, int]] = []
    mask, stop = orders[-1][0], width - 1
    while mask:
        key = best[mask][stop]
        stop = int(np.argmax(best[mask] == key))  # the first place with that key
        number, begin = next(
            (number, int(hits[0]))
            for number in reversed(options[mask])
            if len(hits := np.flatnonzero(best[mask & ~(1 << number)] + costs[number][:, stop] == key))
        )
        found.append((number, begin, stop))
        mask, stop = mask & ~(1 << number), begin
    return found[::-1]


def _all_arranged(costs: Sequence[Ints], width: int) -> Ints:
    """Keys of the best arrangement of siblings within every interval, int64 [width, width]."""
    nothing = np.where(np.tri(width, k=-1, dtype=bool), _FAR, np.int64(0))
    best: dict[int, Ints] = {0: nothing}
    for mask, last in _masks(len(costs)):
        keys = np.full((width, width), _FAR)
        for number in last:
            before = best[mask & ~(1 << number)]
            for middle in range(width):
                keys = np.minimum(keys, before[:, middle, None] + costs[number][None, middle, :])
        best[mask] = np.minimum(np.minimum.accumulate(keys, axis=1), _FAR)
    return best[(1 << len(costs)) - 1]
