"""Occurrences of rules in trees or forests, with their probabilities, over which moments are sums.

The forest of a pair contains all its derivations. With one state, the rewriting of a node does not depend on its
outside. So the mean over derivations of an inside value times an outside value of a node is the product of their means
given the node. The same holds for a rule and the nodes around it. The moments over all derivations are therefore sums
over the nodes and rules of the forest, without drawing or listing derivations.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from lscfg.errors import InputError
from lscfg.estimate.pieces import EXACT, Pieces, edge_posteriors, whole_counts
from lscfg.extract.derive import Derivations
from lscfg.extract.examples import Examples
from lscfg.extract.yields import expand_ranges

# Moments over forests are exact without listing derivations: with one state, the rewriting of a node does not depend
# on its outside, so the mean of an inside and an outside feature over all derivations is the product of their means
# given the node. EM with one state gives the edge probabilities.


@dataclass(frozen=True, eq=False)
class Incidence:
    """Incidence of nodes and rules: the rules that rewrite the nodes, or the rules above them.

    Attributes:
        node: int [views], in ascending order; token: int [views], -1 above a root.
        slot: int [views], index of the node among the nonterminals of a rule above it.
        share: float64 [views], probability of the rule given the node; None: each node has one view.
    """

    node: np.ndarray
    token: np.ndarray
    slot: np.ndarray
    share: np.ndarray | None = None

    def mean(self, seen: sparse.csr_matrix, nodes: int) -> sparse.csr_matrix:
        """Averages the columns of each node's views, float64 [nodes, columns]."""
        if self.share is None:
            return seen
        matrix = sparse.csr_matrix((self.share, (self.node, np.arange(len(self.node)))), (nodes, len(self.node)))
        found = (matrix @ seen).tocsr()
        found.sort_indices()
        return found


@dataclass(frozen=True, eq=False)
class Occurrences:
    """The rule tokens of trees or forests and the nodes between them.

    In a tree a node has one token, with the node's number. In forests nodes are in the order of trees: by their
    begin, larger ones first. Numbers of trees are int32, which take half of the memory, those of forests int64.

    Attributes:
        head: int [tokens], the node that is rewritten; type: int [tokens], see ``Examples``.
        rule: int [tokens], of the derivations; children: int [tokens, 2], nodes, or -1.
        is_example: bool [nodes]; is_root: bool [nodes]; span: int32 [nodes, 4]; tree: int [nodes].
        below: views of nodes with the rules that rewrite them; above: views with the rules above them.
        place: int [nodes], number of each node in the trees or forests.
        weight: float64 [tokens], probability of each token; None: 1.
        node_weight: float64 [nodes], probability of each node.
    """

    head: np.ndarray
    type: np.ndarray
    rule: np.ndarray
    children: np.ndarray
    is_example: np.ndarray
    is_root: np.ndarray
    span: np.ndarray
    tree: np.ndarray
    below: Incidence
    above: Incidence
    place: np.ndarray
    weight: np.ndarray | None = None
    node_weight: np.ndarray | None = None

    @classmethod
    def of(cls, derivations: Derivations, forests: bool, threads: int = 1) -> tuple[Examples, Occurrences]:
        """Occurrences of derivations, and their examples.

        Args:
            forests: in all minimal derivations instead of one tree; see ``of_forests``.

        Raises:
            InputError: the derivations have no forests, or contain nothing to estimate from.
        """
        if forests:
            examples, seen = cls.of_forests(derivations, threads)
        else:
            examples = Examples.of(derivations)
            seen = cls.of_trees(examples)
        if not examples.n_examples:
            raise InputError("the derivations contain no rule of at most two nonterminals")
        return examples, seen

    @classmethod
    def of_trees(cls, examples: Examples) -> Occurrences:
        """Occurrences in derivation trees."""
        derivations, every = examples.derivations, np.arange(len(examples.type), dtype=np.int32)
        return cls(
            every,
            examples.type,
            derivations.rule,
            examples.children,
            examples.is_example,
            examples.is_root,
            derivations.span,
            np.repeat(np.arange(len(derivations), dtype=np.int32), np.diff(derivations.trees)),
            Incidence(every, every, np.zeros(len(every), np.int8)),
            Incidence(every, examples.parent, examples.slot),
            every,
            examples.weight,
            examples.weight,
        )

    @classmethod
    def of_forests(cls, derivations: Derivations, threads: int = 1) -> tuple[Examples, Occurrences]:
        """Occurrences in all minimal derivations, and examples with the rules of the forests and their expected counts.

        EM with one state gives the probability of a derivation.

        Raises:
            InputError: the derivations have no forests.
        """
        forests = derivations.forests
        if forests is None:
            raise InputError("the derivations contain no forests; create them with lscfg derive --forests")
        examples = Examples.of(dataclasses.replace(derivations, rules=forests.rules))
        pieces = Pieces.of_forests(examples, forests)
        found, rule = edge_posteriors(pieces, examples, None, threads)
        examples = dataclasses.replace(examples, counts=whole_counts(rule, found, len(examples.rules)))
        weight = np.ones(len(forests.rule))  # rules of many nonterminals occur in all derivations
        weight[expand_ranges(forests.edge[pieces.node], np.diff(forests.edge)[pieces.node])] = np.maximum(found, EXACT)
        weight[np.abs(weight - 1) < EXACT] = 1

        # nodes, and with them their edges, in the order of trees
        tree = np.repeat(np.arange(len(derivations)), np.diff(forests.first))
        order = np.lexsort((-forests.span[:, 1], forests.span[:, 0], tree))
        number = np.empty(len(order) + 1, np.int64)
        number[order], number[-1] = np.arange(len(order)), -1  # the last entry means "no child"
        sizes = np.diff(forests.edge)[order]
        edge = expand_ranges(forests.edge[order], sizes)
        head, weight = np.repeat(np.arange(len(order)), sizes), weight[edge]
        node_weight = np.bincount(head, weight, len(order))
        node_weight[np.abs(node_weight - 1) < EXACT] = 1

        # each tail sees the edge from below; a root sees nothing
        arity = forests.arity[edge].astype(np.int64)
        tail = number[forests.tail[expand_ranges(forests.first_tail[:-1][edge], arity)]]
        token, slot = np.repeat(np.arange(len(edge)), arity), expand_ranges(np.zeros(len(edge), np.int64), arity)
        roots = number[forests.first[:-1][np.diff(forests.first) > 0]]
        is_root = np.zeros(len(order), bool)
        is_root[roots] = True
        nothing = np.full(len(roots), -1)
        node, token = np.concatenate([tail, roots]), np.concatenate([token, nothing])
        by_node = np.argsort(node, kind="stable")
        node, token, slot = node[by_node], token[by_node], np.concatenate([slot, nothing])[by_node]
        seen = np.where(token >= 0, weight[token], 1.0)

        kind = np.argsort(examples.type_rule)[forests.rule[edge]]
        is_example = np.zeros(len(order), bool)
        is_example[head] = kind < len(examples.rules)
        return examples, cls(
            head,
            kind,
            forests.rule[edge].astype(np.int64),
            number[forests.children[edge]],
            is_example,
            is_root,
            forests.span[order],
            tree[order],
            Incidence(head, np.arange(len(edge)), np.zeros(len(edge), np.int64), weight / _sums(head, weight)),
            Incidence(node, token, slot, seen / _sums(node, seen)),
            order,
            weight,
            node_weight,
        )

    def pair(self, examples: Examples) -> np.ndarray:
        """int [nodes], sentence pair of each node, whose trees of several alignments share it."""
        result: np.ndarray = self.tree % examples.derivations.pairs
        return result

    def category(self, examples: Examples) -> np.ndarray:
        """int32 [nodes], category of each node; ``examples`` are those of the occurrences."""
        found = np.zeros(len(self.is_example), np.int32)
        found[self.head] = examples.derivations.rules.category[self.rule]
        return found

    @cached_property
    def is_counted(self) -> np.ndarray:
        """bool [tokens], True if the rule gets parameters."""
        result: np.ndarray = self.is_example[self.head]
        return result


def _sums(group: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Sum over the group of each value, float64 [values]."""
    result: np.ndarray = np.bincount(group, values)[group]
    return result
