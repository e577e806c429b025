"""Trees and forests for EM, cut at rules of more than two nonterminals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lscfg.extract.examples import Examples
from lscfg.extract.forests import Forests
from lscfg.extract.yields import expand_ranges
from lscfg.kernel.expectation import ARITIES, Expectation, TreeSet, Weights

PI, BELOW_WIDE = 0, 1
"""Kinds of roots: of sentences, and of trees below a rule of more than two nonterminals."""

ROUNDS = 10
"""Iterations of EM with one state that estimate the probabilities of forest edges."""

EXACT = 1e-9
"""Expected counts this close to a whole number are rounded to it."""


@dataclass(frozen=True, eq=False)
class Pieces:
    """The trees or forests of a corpus, cut at rules of more than two nonterminals.

    In a forest all derivations of the pair contain such a rule, since its node has no other one, and the nodes below
    it. So pieces of forests are as certain as pieces of trees.

    Attributes:
        node: int [nodes], the nodes of ``Examples``, or of ``Forests``, by piece, heads before tails; numbers of trees
            are int32, those of forests int64.
        first_node: int64 [pieces + 1]; sentence: int64 [pieces]; kind: int32 [pieces], ``PI`` or
            ``BELOW_WIDE``, plus twice the category of the root.
        arity: int8 [edges]; rule: int [edges]; children: int [edges, 2], see ``TreeSet``.
        nodes: number of nodes, including nodes outside all pieces.
        first_edge: int64 [nodes + 1], of forests; None: a node of a tree has the one edge of its number.
        weight: float64 [pieces], weight of each piece; None: 1.
    """

    node: np.ndarray
    first_node: np.ndarray
    sentence: np.ndarray
    kind: np.ndarray
    arity: np.ndarray
    rule: np.ndarray
    children: np.ndarray
    nodes: int
    first_edge: np.ndarray | None = None
    weight: np.ndarray | None = None

    @classmethod
    def of(cls, examples: Examples, trees: np.ndarray) -> Pieces:
        """The pieces of the derivations whose trees begin at nodes ``trees``."""
        node, number, roots = _cut(examples.parent, examples.is_example)
        return cls(
            node,
            np.append(roots, len(node)).astype(np.int64),
            np.searchsorted(trees, node[roots], side="right") - 1,
            _kind(examples.parent[node[roots]] < 0, examples.rules.category[examples.type[node[roots]]]),
            examples.rules.arity[examples.type[node]].astype(np.int8),
            examples.type[node],
            number[examples.children[node]],
            len(examples.type),
            weight=None if examples.weight is None else examples.weight[node[roots]],
        )

    @classmethod
    def of_forests(cls, examples: Examples, forests: Forests) -> Pieces:
        """The pieces of all derivations, whose rules have the numbers of ``examples``."""
        rule = np.argsort(examples.type_rule)[forests.rule]
        parent = np.full(len(forests.span), -1, np.int64)
        parent[forests.tail] = np.repeat(forests.head, forests.arity)  # any child, since all are in one piece
        node, number, roots = _cut(parent, rule[forests.edge[:-1]] < len(examples.rules))
        sizes = np.diff(forests.edge)[node]
        first_edge = np.concatenate([[0], np.cumsum(sizes)])
        edge = expand_ranges(forests.edge[node], sizes)
        return cls(
            node,
            np.append(roots, len(node)).astype(np.int64),
            np.searchsorted(forests.first[:-1], node[roots], side="right") - 1,
            _kind(parent[node[roots]] < 0, examples.rules.category[rule[forests.edge[node[roots]]]]),
            forests.arity[edge].astype(np.int8),
            rule[edge],
            number[forests.children[edge]],
            len(parent),
            first_edge,
        )

    @property
    def head(self) -> np.ndarray:
        """int [edges], the node that each edge rewrites."""
        every = np.arange(len(self.node), dtype=self.node.dtype)
        return every if self.first_edge is None else np.repeat(every, np.diff(self.first_edge))

    def in_corpus(self, chosen: np.ndarray) -> np.ndarray:
        """bool [nodes of the corpus], from bool [nodes]."""
        found = np.zeros(self.nodes, bool)
        found[self.node[chosen]] = True
        return found

    def of_sentences(self, chosen: np.ndarray | None) -> np.ndarray:
        """bool [nodes]: nodes of the selected sentences (bool [sentences]), or all."""
        if chosen is None:
            return np.ones(len(self.node), bool)
        return np.repeat(chosen[self.sentence], np.diff(self.first_node))

    def edges_of(self, chosen: np.ndarray | None) -> np.ndarray:
        """bool [edges]: edges of the selected sentences (bool [sentences]), or all."""
        nodes = self.of_sentences(chosen)
        return nodes if self.first_edge is None else np.repeat(nodes, np.diff(self.first_edge))

    def trees(self, row: np.ndarray, rows: tuple[int, int, int], chosen: np.ndarray | None = None) -> TreeSet:
        """The pieces of the selected sentences (bool [sentences]), or all.

        Args:
            row: int64 [rules], tensor of each rule among those of its arity; rows: number of tensors.
        """
        piece = np.ones(len(self.kind), bool) if chosen is None else chosen[self.sentence]
        keep, edges, first_edge = self.of_sentences(chosen), self.edges_of(chosen), None
        if self.first_edge is not None:
            first_edge = np.concatenate([[0], np.cumsum(np.diff(self.first_edge)[keep])])
        number = np.full(len(keep) + 1, -1, self.node.dtype)
        number[:-1][keep] = np.arange(int(keep.sum()))
        return TreeSet(
            np.concatenate([[0], np.cumsum(np.diff(self.first_node)[piece])]),
            self.kind[piece],
            self.arity[edges],
            row[self.rule[edges]],
            number[self.children[edges]],
            rows,
            first_edge,
            None if self.weight is None else self.weight[piece],
        )


def _kind(whole: np.ndarray, category: np.ndarray) -> np.ndarray:
    return np.asarray(np.where(whole, PI, BELOW_WIDE) + 2 * category, np.int32)


def _cut(parent: np.ndarray, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Nodes by piece; new number of each node and one more, or -1, both of the type of ``parent``; begin of each piece.

    Args:
        parent: int [nodes], -1 at roots; kept: bool [nodes], True for nodes in a piece.
    """
    n = len(parent)
    is_top = (parent < 0) | ~kept[np.maximum(parent, 0)]
    top = np.where(is_top, np.arange(n, dtype=parent.dtype), parent)
    while True:  # each step doubles the distance upwards
        higher = top[top]
        if (higher == top).all():
            break
        top = higher
    node = np.nonzero(kept)[0].astype(parent.dtype)
    node = node[np.argsort(top[node], kind="stable")]
    number = np.full(n + 1, -1, parent.dtype)  # the last entry means "no child"
    number[node] = np.arange(len(node))
    return node, number, np.nonzero(is_top[node])[0]


def edge_posteriors(
    pieces: Pieces, examples: Examples, chosen: np.ndarray | None = None, threads: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """Posteriors of edges in their forests, by EM with one state from a uniform start.

    Args:
        chosen: bool [sentences], selected sentences; None for all.

    Returns:
        Probability of each edge of these sentences, float64, and its rule in ``examples``, int64.
    """
    arity = examples.rules.arity
    row = np.zeros(len(arity), np.int64)
    sizes = []
    for k in ARITIES:
        of_arity = np.flatnonzero(arity == k)
        row[of_arity] = np.arange(len(of_arity))
        sizes.append(len(of_arity))
    trees = pieces.trees(row, (sizes[0], sizes[1], sizes[2]), chosen)
    rule, lhs = pieces.rule[pieces.edges_of(chosen)], examples.rules.lhs
    roots = np.ones((2 * len(examples.rules.categories), 1))
    expectation, frequency = Expectation(trees, threads), np.ones(len(arity))
    for _ in range(ROUNDS):
        tensors = [frequency[arity == k].reshape(-1, *[1] * (k + 1)) for k in ARITIES]
        probability = expectation.posteriors(Weights(tensors, np.ones(1), roots))
        frequency = np.bincount(rule, probability, len(arity)) / max(len(trees), 1)
        if lhs is not None:
            frequency /= np.maximum(np.bincount(lhs, frequency), np.finfo(np.float64).tiny)[lhs]
    return probability, rule


def expected_counts(pieces: Pieces, examples: Examples, chosen: np.ndarray | None, threads: int) -> np.ndarray:
    """float64 [rules], expected tokens of each rule in forests of selected sentences (bool [sentences]), or of all."""
    probability, rule = edge_posteriors(pieces, examples, chosen, threads)
    return whole_counts(rule, probability, len(examples.rules))


def whole_counts(rule: np.ndarray, probability: np.ndarray, n: int) -> np.ndarray:
    """float64 [n], expected count of each rule from edge probabilities, rounded if close to a whole number."""
    counts = np.bincount(rule, np.maximum(probability, EXACT), n)  # no possible rule has count 0
    whole = np.rint(counts)
    return np.where((whole > 0) & (np.abs(counts - whole) < EXACT * (1 + whole)), whole, counts)
