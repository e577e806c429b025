"""The part of a forest that keeps the zones and walls of a sentence (Moses' tags ``<zone>`` and ``<wall/>``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from lscfg.decode.links import Pairs
from lscfg.formats.marked import Wall, WordOrder
from lscfg.kernel import REST, Forest, Grammar
from lscfg.kernel.extra_rules import is_extra


def keeping_order(
    forest: Forest, grammar: Grammar, links: Callable[[int], Pairs], order: WordOrder, size: int, glue: int, most: int
) -> np.ndarray:
    """Applications that keep zones and walls, bool [n_apps].

    The words of a zone are the span of a node, so their translation is not interrupted. Within a rule, no target symbol
    whose source is after a wall precedes one whose source is before the wall. The source of a nonterminal is its span;
    that of a word are the words linked to it, of rules of a layer all words of the rule.

    Args:
        forest: of a sentence.
        grammar: of the forest, a layer.
        links: links of the rules of the grammar below the layer.
        order: zones and walls.
        size: number of rules below the layer.
        glue: the layer's rule that joins two nodes within zones.
        most: words that a rule below the layer may cover; the forest may have larger spans.
    """
    heads = forest.node_span[forest.edge_head]
    begin, end = heads.T
    rest = forest.node_cat[forest.edge_head] == REST
    keep, inside = np.ones(forest.n_edges, bool), np.zeros(forest.n_edges, bool)
    for a, b in order.zones:
        within = (begin >= a) & (end <= b)
        inside |= within
        for edge in np.flatnonzero((begin < b) & (end > a) & ~rest & ~within).tolist():
            keep[edge] &= any(i <= a and b <= j for i, j in _tail_spans(forest, edge))
    apps: np.ndarray = keep[forest.app_edge] & ((forest.app_rule != glue) | inside[forest.app_edge])
    for edge in np.flatnonzero(~rest & (end - begin > most)).tolist():
        if _tail_spans(forest, edge) != [tuple(heads[edge].tolist())]:
            first, last = forest.edge_apps[edge : edge + 2].tolist()
            apps[first:last] &= forest.app_rule[first:last] >= size
    for wall in order.walls:
        a, b = wall.scope
        crossing = (begin >= a) & (begin < wall.place) & (end > wall.place) & (end <= b) & ~rest
        for edge in np.flatnonzero(crossing).tolist():
            for app in range(*forest.edge_apps[edge : edge + 2].tolist()):
                apps[app] &= _keeps_wall(forest, grammar, links, wall, app, size)
    return apps


def _tail_spans(forest: Forest, edge: int) -> list[tuple[int, int]]:
    return [tuple(forest.node_span[tail].tolist()) for tail in forest.tails(edge)]


def _keeps_wall(
    forest: Forest, grammar: Grammar, links: Callable[[int], Pairs], wall: Wall, app: int, size: int
) -> bool:
    """True if no target symbol from after the wall precedes one from before it."""
    rule, edge = int(forest.app_rule[app]), int(forest.app_edge[app])
    if is_extra(grammar, rule):  # keep the order of their tails
        return True
    spans, own = _tail_spans(forest, edge), list[int]()
    place, left = int(forest.node_span[forest.edge_head[edge]][0]), iter(spans)
    for symbol in grammar.src(rule):
        if symbol >= 0:
            own.append(place)
        place = place + 1 if symbol >= 0 else next(left)[1]
    target = grammar.tgt(rule)
    count = sum(symbol >= 0 for symbol in target)
    pairs = links(rule) if rule < size else [(i, j) for i in range(len(own)) for j in range(count)]
    sources = [[own[i] for i, j in pairs if j == number] for number in range(count)]
    after, words = False, iter(sources)
    for symbol in target:
        found: Sequence[int] = next(words) if symbol >= 0 else range(*spans[-1 - symbol])
        if found and after and min(found) < wall.place:
            return False
        after |= bool(found) and max(found) >= wall.place
    return True
