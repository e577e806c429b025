"""Training examples: the nodes of the derivation trees, with the rules around them (paper, section 4.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lscfg.extract.derive import Derivations
from lscfg.grammar.table import MAX_TENSOR_ARITY, RuleTable

DIGITS = 9
"""Decimals of counts that are sums of weights, so that ten tenths make 1."""


@dataclass(frozen=True, eq=False)
class Examples:
    """All nodes of the trees, and the role of their rules in estimation.

    Rules of more than two nonterminals (or of more than ``DeriveOptions.max_arity``) get no parameters, and nodes that
    they rewrite are not examples. Such a node still has an inside tree, which the rule of its parent needs, and is the
    parent of its children's outside trees.

    Attributes:
        derivations: the derivations of the examples.
        type_rule: int64 [types], the rule of each type in ``derivations``.
        rules: the rules that get parameters, in order of arity.
        type: int32 [nodes], the node's rule: a number of ``rules``, or ``len(rules)`` + a separate number for rules of
            too many nonterminals.
        n_types: number of rule types, including those of too many nonterminals.
        parent: int32 [nodes], -1 at roots; slot: int32 [nodes]; children: int32 [nodes, 2], -1 where there is none (of
            more than two children the first two).
        is_example: bool [nodes]; is_root: bool [nodes].
        counts: [rules], tokens of each rule; int64, or float64 for fractions of tokens.
        weight: float64 [nodes], weight of each node's token; None: 1.
    """

    derivations: Derivations
    type_rule: np.ndarray
    rules: RuleTable
    type: np.ndarray
    n_types: int
    parent: np.ndarray
    slot: np.ndarray
    children: np.ndarray
    is_example: np.ndarray
    is_root: np.ndarray
    counts: np.ndarray
    weight: np.ndarray | None = None

    @classmethod
    def of(cls, derivations: Derivations) -> Examples:
        """The examples of a corpus's derivations."""
        arity = derivations.rules.arity
        order = np.argsort(arity, kind="stable")
        number = np.empty(len(order), np.int32)
        number[order] = np.arange(len(order))
        n_kept = int((arity <= min(MAX_TENSOR_ARITY, derivations.options.max_arity)).sum())
        node_type = number[derivations.rule]
        parent = derivations.parent
        children = np.full((len(node_type), 2), -1, np.int32)
        inner = np.nonzero((parent >= 0) & (derivations.slot < 2))[0]
        children[parent[inner], derivations.slot[inner]] = inner
        is_example, weight = node_type < n_kept, derivations.node_weight
        counts = np.bincount(node_type[is_example], None if weight is None else weight[is_example], n_kept)
        return cls(
            derivations,
            order,
            derivations.rules.select(order[:n_kept]),
            node_type,
            len(order),
            parent,
            derivations.slot,
            children,
            is_example,
            parent < 0,
            counts if weight is None else np.round(counts, DIGITS),
            weight,
        )

    @property
    def n_examples(self) -> int | float:
        """M, the number of rule tokens that have parameters."""
        return int(self.is_example.sum()) if self.weight is None else float(self.weight[self.is_example].sum())

    @property
    def category(self) -> np.ndarray:
        """int32 [nodes], category of each node."""
        return self.derivations.category

    def singletons(self) -> np.ndarray:
        """bool [rules]: rules without nonterminals that occur once; the OOV rule replaces them (paper, 5.1)."""
        result: np.ndarray = (self.rules.arity == 0) & (self.counts <= 1)
        return result
