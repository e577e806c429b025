"""Forests of a corpus: all minimal derivations of each pair, besides its tree (Chung et al. 2014, section 3).

By their lemmas 2 and 3, derivations of a pair differ only in the bracketing of phrase sequences, and all have the same
number of rules. So all derivations contain a node whose rule is not a split into two phrases.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lscfg.grammar.table import RuleTable
from lscfg.io.layout import check_offsets, check_range

LAYOUT = {
    "forest.node": "int64 [trees + 1]",
    "forest.edge": "int64 [phrases + 1]",
    "forest.rule": "int32 [edges]",
    "forest.tail": "int32 [tails]",
    "forest.span": "int32 [phrases, 4]",
}
"""The arrays of forests in a derivation file (docs/reference/formats.md)."""


@dataclass(frozen=True, eq=False)
class Forests:
    """The forests of all pairs, one for each alignment; dropped pairs have none.

    Attributes:
        rules: the rules of trees, numbered as in ``Derivations``, followed by rules that only forests contain.
        first: int64 [trees + 1], the first node of each forest, its root; heads stand before their tails.
        edge: int64 [nodes + 1], the first edge of each node.
        rule: int32 [edges].
        tail: int32 [tails], the nodes below each edge in source order, one for each nonterminal of its rule.
        span: int32 [nodes, 4], source i, j and target i, j, half-open.
    """

    rules: RuleTable
    first: np.ndarray
    edge: np.ndarray
    rule: np.ndarray
    tail: np.ndarray
    span: np.ndarray

    @classmethod
    def of(cls, arrays: Mapping[str, np.ndarray], rules: RuleTable, number: np.ndarray) -> Forests:
        """The forests of a file whose arrays have the right shapes.

        Args:
            rules: all rules of the file in another order; number: int64 [rules], the new number of each.

        Raises:
            ValueError: a rule that is not in the table.
        """
        first, edge, rule, tail, span = (arrays[name] for name in LAYOUT)
        check_range("forest.rule", rule, 0, len(rules))
        return cls(rules, first, edge, number[rule].astype(np.int32), tail, span)

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays of a file, without the rules."""
        return dict(zip(LAYOUT, (self.first, self.edge, self.rule, self.tail, self.span), strict=True))

    @cached_property
    def arity(self) -> np.ndarray:
        """int32 [edges]."""
        result: np.ndarray = self.rules.arity[self.rule]
        return result

    @cached_property
    def head(self) -> np.ndarray:
        """int64 [edges], head of each edge."""
        return np.repeat(np.arange(len(self.span)), np.diff(self.edge))

    @cached_property
    def first_tail(self) -> np.ndarray:
        """int64 [edges + 1], first tail of each edge."""
        return np.concatenate([[0], np.cumsum(self.arity, dtype=np.int64)])

    @cached_property
    def children(self) -> np.ndarray:
        """int64 [edges, 2], the first two tails, or -1."""
        found = np.full((len(self.rule), 2), -1, np.int64)
        for slot in (0, 1):
            has = np.flatnonzero(self.arity > slot)
            found[has, slot] = self.tail[self.first_tail[has] + slot]
        return found

    def check(self, trees: np.ndarray, span: np.ndarray) -> None:
        """Refuses contents that no file of forests can have.

        Args:
            trees, span: arrays of the derivation trees of the same pairs.

        Raises:
            ValueError: the array, edge or pair that is wrong.
        """
        nodes, edges = len(self.span), len(self.rule)
        check_offsets("forest.node", self.first, nodes)
        check_offsets("forest.edge", self.edge, edges)
        if (np.diff(self.edge) < 1).any():
            raise ValueError("array 'forest.edge' has a node without an edge")
        if self.first_tail[-1] != len(self.tail):
            raise ValueError(
                f"array 'forest.tail' has {len(self.tail)} tails, but its rules need {self.first_tail[-1]}"
            )
        above = np.repeat(self.head, self.arity)
        last = np.repeat(self.first[1:], np.diff(self.first))[above]
        if ((self.tail <= above) | (self.tail >= last)).any():
            raise ValueError("array 'forest.tail' has a tail that does not follow its head in the same forest")
        self._check_spans(above)
        there = np.diff(trees) > 0
        if ((np.diff(self.first) > 0) != there).any():
            raise ValueError(
                "array 'forest.node' has a forest for a pair without a tree, or lacks one for a pair with a tree"
            )
        if (self.span[self.first[:-1][there]] != span[trees[:-1][there]]).any():
            raise ValueError("array 'forest.span' has a root that differs from the root of the pair's tree")

    def check_categories(self) -> None:
        """Refuses nodes whose edges differ in category, and tails of another category than their rule requires.

        Raises:
            ValueError: names the edge.
        """
        of_edge = self.rules.category[self.rule]
        of_node = of_edge[self.edge[:-1]]
        wrong = of_edge != of_node[self.head]
        edge = np.repeat(np.arange(len(self.rule)), self.arity)
        place = np.arange(len(edge)) - self.first_tail[edge]
        wanted = self.rules.gaps[self.rules.first_gap[self.rule[edge]] + place]
        wrong[edge[wanted != of_node[self.tail]]] = True
        if wrong.any():
            raise ValueError(f"edge {int(wrong.argmax())} of the forests has a rule of other categories than its nodes")

    def _check_spans(self, above: np.ndarray) -> None:
        """Checks that tails lie within their head, in source order, and leave room for the rule's words."""
        edge = np.repeat(np.arange(len(self.rule)), self.arity)
        span = self.span.astype(np.int64)
        wrong = np.zeros(len(self.rule), bool)
        length = np.diff(self.rules.offsets) - self.rules.src_length
        for side, symbols in ((0, self.rules.src_length), (2, length)):
            begin, end = span[:, side], span[:, side + 1]
            inside = (begin[self.tail] >= begin[above]) & (end[self.tail] <= end[above])
            covered = np.bincount(edge, (end - begin)[self.tail], len(self.rule))
            words = (symbols - self.rules.arity)[self.rule]
            wrong |= (end - begin)[self.head] - covered != words
            wrong[edge[~inside]] = True
        follows = np.flatnonzero(edge[1:] == edge[:-1])
        wrong[edge[follows[span[self.tail[follows], 1] > span[self.tail[follows + 1], 0]]]] = True
        if wrong.any():
            raise ValueError(f"edge {int(wrong.argmax())} of the forests has a rule that does not fit its spans")
