"""Aligned pairs, their phrase pairs by trying all spans, the yields of their trees, and trees of a small corpus."""

import itertools
import math
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from lscfg.extract.derive import Derivations, derive


def expand(derivations: Derivations, below: dict[int, list[int]], node: int) -> tuple[list[str], list[str]]:
    """Source and target yield of a node."""
    rules, rule = derivations.rules, int(derivations.rule[node])
    yields = [expand(derivations, below, child) for child in below[node]]
    src, next_child = [], 0
    for symbol in rules.src(rule).tolist():
        if symbol < 0:
            src += yields[next_child][0]
            next_child += 1
        else:
            src.append(rules.words[symbol])
    tgt = []
    for symbol in rules.tgt(rule).tolist():
        tgt += yields[-1 - symbol][1] if symbol < 0 else [rules.words[symbol]]
    assert next_child == len(yields) == rules.arity[rule]
    return src, tgt


@st.composite
def aligned_pairs(draw: st.DrawFn) -> tuple[list[str], list[str], list[tuple[int, int]]]:
    """Source words, target words and links of pairs of up to eight words each."""
    n, m = draw(st.integers(1, 8)), draw(st.integers(1, 8))
    links = draw(st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, m - 1)), max_size=10))
    return [f"f{i}" for i in range(n)], [f"e{j}" for j in range(m)], sorted(links)


def tight_phrase_pairs(n: int, m: int, links: list[tuple[int, int]]) -> set[tuple[int, int, int, int]]:
    """(i, j, k, l) of all phrase pairs whose border words have links, by trying all spans."""
    found = set()
    for i in range(n):
        for j in range(i + 1, n + 1):
            inside = [t for s, t in links if i <= s < j]
            if not inside:
                continue
            k, last = min(inside), max(inside) + 1
            back = [s for s, t in links if k <= t < last]
            if min(back) >= i and max(back) < j and {i, j - 1} <= set(back):
                found.add((i, j, k, last))
    return found


def corpus(n: int = 60, seed: int = 0) -> Derivations:
    """Trees of n sentences of noun phrases and verbs, some of them with exchanged order."""
    rng = np.random.default_rng(seed)
    src, tgt, links = [], [], []
    for _ in range(n):
        words = rng.integers(0, 5, size=rng.integers(1, 7))
        order = rng.permutation(len(words)) if rng.random() < 0.5 else np.arange(len(words))
        src.append(" ".join(f"f{w}" for w in words))
        tgt.append(" ".join(f"e{words[o]}" for o in order))
        links.append(" ".join(f"{o}-{k}" for k, o in enumerate(order)))
    return derive(src, tgt, links)


@st.composite
def linked_lengths(draw, longest=6):
    """Sparse alignments, or permutations, where most nodes have several edges or more than two tails."""
    n = draw(st.integers(1, longest))
    if draw(st.booleans()):
        m, links = n, set(enumerate(draw(st.permutations(range(n)))))
    else:
        m = draw(st.integers(1, longest))
        links = draw(st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, m - 1)), max_size=8))
    return n, m, sorted(links)


def texts(n, m, links):
    """Both sides and the links as text."""
    line = " ".join(f"{i}-{j}" for i, j in links)
    return " ".join(f"f{i}" for i in range(n)), " ".join(f"e{j}" for j in range(m)), line


def aligned(n, seed=0, longest=6):
    """Sentence pairs in order, swapped or shuffled; some words have no link, some in front of all."""
    rng = np.random.default_rng(seed)
    src, tgt, links = [], [], []
    for _ in range(n):
        words = rng.integers(0, 4, size=rng.integers(1, longest + 1))
        size = len(words)
        order = (np.arange(size), np.arange(size)[::-1], rng.permutation(size))[rng.integers(3)]
        kept, front = rng.random(size) < 0.9, int(rng.random() < 0.3)
        src.append(" ".join(f"f{w}" for w in words))
        tgt.append(" ".join(["the"] * front + [f"e{words[o]}" for o in order]))
        links.append(" ".join(f"{o}-{k + front}" for k, o in enumerate(order) if kept[k]))
    return src, tgt, links


@dataclass(frozen=True)
class Edge:
    """A minimal rule at its position: its children in source order, and its number in the table."""

    tails: tuple[int, ...]
    rule: int


class Decomposition:
    """All minimal derivations of a pair, with tails before heads and the whole pair as the last node.

    Attributes:
        rules: the rule table.
        span: int32 [nodes, 4], source i, j and target i, j.
        edges: by node.
    """

    def __init__(self, src: str, tgt: str, links: str):
        forests = derive([src], [tgt], [links], forests=True).forests
        self.rules, self.span = forests.rules, forests.span[::-1]
        tails = (len(forests.span) - 1 - forests.tail).tolist()
        bounds = itertools.pairwise(forests.first_tail.tolist())
        edges = [Edge(tuple(tails[i:j]), rule) for (i, j), rule in zip(bounds, forests.rule.tolist(), strict=True)]
        self.edges = [edges[i:j] for i, j in itertools.pairwise(forests.edge.tolist())][::-1]

    @property
    def spans(self) -> list[tuple[int, ...]]:
        """Spans as tuples."""
        return list(map(tuple, self.span.tolist()))

    @property
    def levels(self) -> list[int]:
        """Minimal rules in each derivation of a node, equal for all by lemma 3."""
        levels: list[int] = []
        for edge, *_ in self.edges:
            levels.append(1 + sum(levels[tail] for tail in edge.tails))
        return levels

    def derivations(self) -> int:
        """The exact number of derivations."""
        counts: list[int] = []
        for edges in self.edges:
            counts.append(sum(math.prod(counts[tail] for tail in edge.tails) for edge in edges))
        return counts[-1]
