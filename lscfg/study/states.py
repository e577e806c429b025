"""Hidden states of a model, described by their share of nodes and their typical rules."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lscfg.grammar.table import RuleTable
from lscfg.model.parameters import Parameters
from lscfg.model.shared import stored, sum_of_rules, sums_by_state

LEAST = float(np.finfo(float).tiny)

LEXICAL = 0.05
"""Least share of rules without nonterminals in a state that these rules name."""


@dataclass(frozen=True)
class States:
    """The states of a model whose parameters are probabilities."""

    table: RuleTable
    """The rules, by arity."""
    rules: np.ndarray
    """float64 [rules, m], p(rule | state), the states of nonterminals summed out."""
    unknown: np.ndarray
    """float64 [m], p(OOV rule | state)."""
    root: np.ndarray
    """float64 [m], p(state | root of a sentence)."""
    pairs: np.ndarray
    """float64 [m, m, m], p(states of both nonterminals | state, rule of arity 2); zeros for other rules."""
    share: np.ndarray
    """float64 [m], share of a state in the nodes of trees sampled from the model."""
    entropy: np.ndarray
    """float64 [m], entropy of the rules of a state, in bits."""

    @classmethod
    def of(cls, parameters: Parameters) -> States | None:
        """The states of a model; None for several categories, or if negative parameters are no probabilities."""
        tensors = parameters.tensors
        every = (*(stored(one)[0] for one in tensors), parameters.root, parameters.unk)
        if parameters.rules.lhs is not None or any((part < 0).any() for part in every):
            return None
        mass = np.concatenate([*map(sums_by_state, tensors)])
        total = np.maximum(mass.sum(axis=0) + parameters.unk, LEAST)
        rules, unknown = mass / total, parameters.unk / total
        root = parameters.root / max(parameters.root.sum(), LEAST)
        pairs = sum_of_rules(tensors[2])
        # expected children in each state of a node in a state
        children = (sum_of_rules(tensors[1]) + pairs.sum(axis=2) + pairs.sum(axis=1)) / total[:, None]
        both = np.concatenate([rules, unknown[None]])
        entropy = -np.sum(both * np.log2(np.maximum(both, LEAST)), axis=0)
        scaled = pairs / np.maximum(pairs.sum(axis=(1, 2), keepdims=True), LEAST)
        return cls(parameters.rules, rules, unknown, root, scaled, _shares(root, children), entropy)

    @property
    def order(self) -> list[int]:
        """The states, the most used first."""
        return [int(state) for state in np.argsort(-self.share, kind="stable")]

    def best_rules(self, state: int, arity: int, n: int) -> list[int]:
        """The n most probable rules of an arity."""
        first, last = np.searchsorted(self.table.arity, [arity, arity + 1]).tolist()
        p = self.rules[first:last, state]
        return [first + rule for rule in np.argsort(-p, kind="stable")[:n].tolist() if p[rule] > 0]

    def name(self, state: int, n: int = 3) -> str:
        """Typical target sides: of rules without nonterminals, those most distinctive of the state.

        A rule counts p(r | h) log(p(r | h) / p(r)), its part of the divergence between the state and all states, or
        p(r | h) if the model has one state. A state with few rules without nonterminals is named by other rules.
        """
        p = self.rules[:, state]
        mean = self.rules @ self.share
        worth = p * np.log(np.maximum(p, LEAST) / np.maximum(mean, LEAST))
        lexical = self.table.arity == 0
        chosen = lexical if p[lexical].sum() >= LEXICAL else ~lexical
        if not (worth[chosen] > 1e-9).any():
            worth = p
        found: list[str] = []
        for rule in np.argsort(-np.where(chosen, worth, -np.inf), kind="stable").tolist():
            if len(found) == n or not chosen[rule] or not p[rule] > 0:
                break
            text = self.table.tgt_text(rule)
            if text not in found:
                found.append(text)
        return ", ".join(found)


def _shares(root: np.ndarray, children: np.ndarray) -> np.ndarray:
    """The share of each state in the nodes of a sampled tree.

    The expected numbers of nodes n solve n = root + children' n. If sampled trees do not end, the solution has negative
    numbers, and the shares are those of the largest eigenvector.
    """
    m = len(root)
    try:
        nodes = np.linalg.solve(np.eye(m) - children.T, root)
    except np.linalg.LinAlgError:
        nodes = np.full(m, -1.0)
    if not (np.isfinite(nodes).all() and (nodes >= -1e-9 * np.abs(nodes).max()).all()):
        nodes = root + 1 / m
        for _ in range(200):
            nodes = nodes @ (children + 1e-9)
            nodes /= max(nodes.sum(), LEAST)
    nodes = np.maximum(nodes, 0)
    shares: np.ndarray = nodes / max(nodes.sum(), LEAST)
    return shares
