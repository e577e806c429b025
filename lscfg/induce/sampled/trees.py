"""Samples as derivation trees, from which estimators learn parameters of composed rules."""

from __future__ import annotations

import numpy as np

from lscfg.errors import InputError
from lscfg.extract.derive import Derivations
from lscfg.grammar.table import RuleTable
from lscfg.induce.sampled.rules import SampledCorpus
from lscfg.kernel import DeriveOptions


def sampled_trees(found: SampledCorpus) -> Derivations:
    """The trees of all samples; trees of a pair have a total weight of 1 for each alignment.

    The trees of the second sample follow those of the first, like trees of a second alignment.

    Args:
        found: samples with the places of their rules.

    Raises:
        InputError: every pair was left out.
    """
    rules = found.rules.rules
    total = found.rules.samples * found.rules.pairs
    if not len(found.places):
        raise InputError("no trees: every pair was left out")
    rule, begin, end = (found.places[:, column].astype(np.int64) for column in (0, 2, 3))
    order = np.lexsort((-end, begin, found.tree))  # preorder, children in source order
    rule, begin, end, tree = rule[order], begin[order], end[order], found.tree[order]
    parent = _parents(tree, end)
    slot = _slots(parent)
    after = _ends_of_subtrees(tree, begin, end)
    target = _targets(rules, rule, parent, slot, after)
    trees = np.searchsorted(tree, np.arange(total + 1))
    empty = int((np.diff(trees) == 0).sum())
    return Derivations(
        rules,
        trees,
        rule.astype(np.int32),
        parent.astype(np.int32),
        slot.astype(np.int32),
        np.column_stack([begin, end, *target]).astype(np.int32),
        found.rules.lexicon,
        found.rules.lexicon_count,
        DeriveOptions(),
        {"too long": empty} if empty else {},
        found.rules.samples * found.alignments,
        sample=np.repeat(np.arange(found.rules.samples, dtype=np.int32), found.rules.pairs),
        weight=np.full(total, 1 / found.rules.samples),
        state=None if found.state is None else found.state[order],
    )


def _parents(tree: np.ndarray, end: np.ndarray) -> np.ndarray:
    """int64 [nodes], the parents of nodes in preorder, -1 at roots."""
    node = np.arange(len(tree))
    root = np.diff(tree, prepend=-1) > 0
    above = np.where(root, -1, node - 1)
    while True:  # a following node that does not contain this node has the same ancestors
        wrong = (above >= 0) & (end[above] < end)
        if not wrong.any():
            return above
        above[wrong] = above[above[wrong]]


def _slots(parent: np.ndarray) -> np.ndarray:
    """int64 [nodes], index of each node among its parent's children; 0 at roots."""
    order = np.argsort(parent, kind="stable")
    first = np.searchsorted(parent[order], parent[order])
    slot = np.empty(len(parent), np.int64)
    slot[order] = np.arange(len(parent)) - first
    return np.where(parent < 0, 0, slot)


def _ends_of_subtrees(tree: np.ndarray, begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    """int64 [nodes], the first node after the tree below each node."""
    width = int(end.max()) + 1
    result: np.ndarray = np.searchsorted(tree * width + begin, tree * width + end)
    return result


def _targets(
    rules: RuleTable, rule: np.ndarray, parent: np.ndarray, slot: np.ndarray, after: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Begins and ends of target spans, int64 [nodes] each."""
    words = np.diff(rules.offsets) - rules.src_length - rules.arity
    before = np.concatenate([[0], np.cumsum(words[rule])])
    length = before[after] - before[:-1]
    # position of each child among the symbols of its parent's target side, which orders words and children
    symbol_rule = np.repeat(np.arange(len(rules)), np.diff(rules.offsets))
    place = np.arange(len(rules.symbols)) - (rules.offsets[:-1] + rules.src_length)[symbol_rule]
    gap = (rules.symbols < 0) & (place >= 0)
    first_gap = np.concatenate([[0], np.cumsum(rules.arity)])
    of_slot = np.zeros(first_gap[-1], np.int64)
    of_slot[first_gap[symbol_rule[gap]] - 1 - rules.symbols[gap]] = place[gap]
    child = np.flatnonzero(parent >= 0)
    at = of_slot[first_gap[rule[parent[child]]] + slot[child]]
    order = np.lexsort((at, parent[child]))
    child, at = child[order], at[order]
    # before a child: its parent's preceding symbols, where each sibling has its own length
    more = np.concatenate([[0], np.cumsum(length[child] - 1)])
    offset = np.zeros(len(rule), np.int64)
    offset[child] = at + more[:-1] - more[np.searchsorted(parent[child], parent[child])]
    above = parent.copy()
    while (above >= 0).any():  # each step doubles the distance upwards
        known = above >= 0
        higher = above[known]
        offset[known] += offset[higher].copy()
        above[known] = above[higher]
    return offset, offset + length
