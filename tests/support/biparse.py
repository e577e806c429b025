"""All derivations of a small sentence pair, from the definition of their space (Xiao et al. 2012, section 3)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import combinations, product

import numpy as np

Span = tuple[int, int]
Node = tuple[int, int, int, int]


@dataclass(frozen=True)
class AlignedRule:
    """Symbols are words, or -1 on the source side and -1-k on the target side; links are positions in the sides."""

    src: tuple[object, ...]
    tgt: tuple[object, ...]
    links: frozenset[Span]


@dataclass(frozen=True)
class Edge:
    """A rule over a source and a target span."""

    head: Node
    rule: AlignedRule
    tails: tuple[Node, ...]


def sides(i: int, j: int) -> Iterator[list[Span | int]]:
    """Source sides of a span: positions of words, and spans of nonterminals."""

    def tilings(at: int, symbols: int, tails: int) -> Iterator[list[Span | int]]:
        if at == j:
            yield []
            return
        if symbols == 5:
            return
        for rest in tilings(at + 1, symbols + 1, tails):
            yield [at, *rest]
        for end in range(at + 1, j + 1) if tails < 2 else ():
            for rest in tilings(end, symbols + 1, tails + 1):
                yield [(at, end), *rest]

    return (side for side in tilings(i, 0, 0) if side != [(i, j)] and (j - i <= 10 or len(side) == 2))


def edges_of(src: list[str], tgt: list[str], strict: bool = False) -> list[Edge]:
    """Every edge of the exact hypergraph, tails before heads."""
    n, m = len(src), len(tgt)
    subsets = [frozenset(c) for size in range(m + 1) for c in combinations(range(m), size)]
    nodes: dict[Span, list[Node]] = {}
    found = []
    for length in range(1, n + 1):
        for i in range(n - length + 1):
            j = i + length
            here: dict[Node, None] = {}
            for side in sides(i, j):
                choices = [nodes[s] if isinstance(s, tuple) else subsets for s in side]
                for chosen in product(*choices):
                    edge = _edge(src, tgt, (i, j), side, chosen, strict)
                    if edge:
                        found.append(edge)
                        here[edge.head] = None
            nodes[i, j] = list(here)
    return found


def _edge(src: list[str], tgt: list[str], span: Span, side: list, chosen: tuple, strict: bool) -> Edge | None:
    m, root = len(tgt), span == (0, len(src))
    tails = tuple(c for s, c in zip(side, chosen, strict=True) if isinstance(s, tuple))
    linked = set().union(*(c for s, c in zip(side, chosen, strict=True) if not isinstance(s, tuple)))
    below = [set(range(tail[2], tail[3])) for tail in tails]
    if (len(below) == 2 and below[0] & below[1]) or any(linked & words for words in below):
        return None
    covered = linked.union(*below)
    if not covered:
        return None
    k, end = min(covered), max(covered) + 1
    if root and strict and (k, end) != (0, m):
        return None
    if root:
        k, end = 0, m
    symbols: list[object] = []
    place = {}
    for h in range(k, end):
        owner = next((t for t, words in enumerate(below) if h in words), None)
        if owner is None:
            place[h] = len(symbols)
            symbols.append(tgt[h])
        elif -1 - owner not in symbols:
            symbols.append(-1 - owner)
    links = frozenset(
        (a, place[h]) for a, (s, c) in enumerate(zip(side, chosen, strict=True)) if not isinstance(s, tuple) for h in c
    )
    source = tuple(-1 if isinstance(s, tuple) else src[s] for s in side)
    return Edge((*span, k, end), AlignedRule(source, tuple(symbols), links), tails)


@dataclass
class Weights:
    """Weights of all features, 0 where there is none. Probabilities: p(target | source), p(source | target)."""

    lexicon: dict[tuple[str | None, str | None], tuple[float, float]]
    dense: tuple[float, float, float] = (1.0, 1.0, 0.0)
    rules: dict[tuple, float] = field(default_factory=dict)
    pairs: dict[tuple, float] = field(default_factory=dict)
    ends: dict[tuple, float] = field(default_factory=dict)
    around: dict[tuple, float] = field(default_factory=dict)

    def lexical(self, rule: AlignedRule) -> tuple[float, float]:
        """Logarithms of both lexical weights."""
        found = []
        for way, side in enumerate((rule.tgt, rule.src)):
            total = 0.0
            for at, word in enumerate(side):
                if not isinstance(word, str):
                    continue
                others = [link[way] for link in rule.links if link[1 - way] == at]
                partners = [(rule.src, rule.tgt)[way][other] for other in others] or [None]
                pairs = [(other, word) if way == 0 else (word, other) for other in partners]
                total += math.log(np.mean([max(self.lexicon.get(pair, (0, 0))[way], 1e-7) for pair in pairs]))
            found.append(total)
        return found[0], found[1]

    def features(self, rule: AlignedRule) -> dict[tuple, float]:
        """Features of a rule wherever it is used."""
        lexical = self.lexical(rule)
        found = {("dense", 0): lexical[0], ("dense", 1): lexical[1]}
        found["dense", 2] = sum(isinstance(word, str) for word in rule.tgt)
        found["rule", rule.src, rule.tgt] = 1.0
        for a, b in rule.links:
            key = ("pair", rule.src[a], rule.tgt[b])
            found[key] = found.get(key, 0.0) + 1
        return found

    def span_features(self, src: list[str], i: int, j: int) -> dict[tuple, float]:
        """Features of a source span."""
        before, behind = src[i - 1] if i else None, src[j] if j < len(src) else None
        return {("ends", src[i], src[j - 1]): 1.0, ("sides", before, behind): 1.0}

    def of(self, feature: tuple) -> float:
        """The weight of a feature."""
        kind, *key = feature
        if kind == "dense":
            return self.dense[key[0]]
        table = {"rule": self.rules, "pair": self.pairs, "ends": self.ends, "sides": self.around}[kind]
        return table.get(tuple(key), 0.0)

    def score(self, features: dict[tuple, float]) -> float:
        """The sum of weights times values."""
        return sum(self.of(feature) * value for feature, value in features.items())


def expectations(
    derivations: Callable[[], Iterator[dict[tuple, float]]], weights: Weights
) -> tuple[float, dict[tuple, float]]:
    """Logarithm of the sum over derivations, and expectations of features.

    Args:
        derivations: gives the features of each.
    """
    each = list(derivations())
    scores = np.array([weights.score(features) for features in each])
    log_sum = float(np.logaddexp.reduce(scores))
    found: dict[tuple, float] = {}
    for probability, features in zip(np.exp(scores - log_sum), each, strict=True):
        for feature, value in features.items():
            found[feature] = found.get(feature, 0.0) + probability * value
    return log_sum, found


def _joined(parts: list[dict[tuple, float]]) -> dict[tuple, float]:
    found: dict[tuple, float] = {}
    for part in parts:
        for feature, value in part.items():
            found[feature] = found.get(feature, 0.0) + value
    return found


def pair_derivations(src: list[str], tgt: list[str], edges: list[Edge], weights: Weights) -> Iterator[dict]:
    """Features of each derivation of both sides."""
    into: dict[Node, list[Edge]] = {}
    for edge in edges:
        into.setdefault(edge.head, []).append(edge)

    def below(node: Node) -> Iterator[dict]:
        for edge in into[node]:
            own = _joined([weights.features(edge.rule), weights.span_features(src, *edge.head[:2])])
            for parts in product(*(list(below(tail)) for tail in edge.tails)):
                yield _joined([own, *parts])

    return below((0, len(src), 0, len(tgt)))


def source_derivations(src: list[str], rules: set[AlignedRule], weights: Weights) -> Iterator[dict]:
    """Features of each derivation of the source side by rules with the same source sides."""
    by_side: dict[tuple, list[AlignedRule]] = {}
    for rule in rules:
        by_side.setdefault(rule.src, []).append(rule)

    def below(i: int, j: int) -> Iterator[dict]:
        for side in sides(i, j):
            key = tuple(-1 if isinstance(s, tuple) else src[s] for s in side)
            tails = [s for s in side if isinstance(s, tuple)]
            if key not in by_side:
                continue
            for parts in product(*(list(below(*tail)) for tail in tails)):
                for rule in by_side[key]:
                    yield _joined([weights.features(rule), weights.span_features(src, i, j), *parts])

    return below(0, len(src))
