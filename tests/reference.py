"""Fig. 1 of the paper in plain NumPy, edge by edge: what the kernel is held against, for numbers and for speed."""

from __future__ import annotations

import numpy as np

from lscfg.kernel import Forest, Grammar, X
from lscfg.parameters import Parameters


class FigureOne:
    """Tensor inside-outside over forests of a model's own grammar whose root is an X; no scaling, so short sentences.

    Args:
        parameters: the model, its rules in the order of the grammar's.
        grammar: the grammar of the forests.
    """

    def __init__(self, parameters: Parameters, grammar: Grammar):
        self.parameters, self.n_rules = parameters, len(grammar)
        self.tensor = [parameters.tensor(rule) for rule in range(self.n_rules)]

    def rule(self, forest: Forest, app: int) -> np.ndarray:
        """C^rule of an application; the pass-through rule has the OOV tensor."""
        rule = int(forest.app_rule[app])
        return self.tensor[rule] if rule < self.n_rules else self.parameters.unk

    def marginals(self, forest: Forest) -> tuple[np.ndarray, np.ndarray, float]:
        """Signed marginals of the applications and of the nodes, and g."""
        assert (forest.node_cat == X).all()
        m = self.parameters.rank
        alpha, beta = np.zeros((forest.n_nodes, m)), np.zeros((forest.n_nodes, m))
        apps = [range(forest.edge_apps[e], forest.edge_apps[e + 1]) for e in range(forest.n_edges)]
        tails = [[int(t) for t in pair if t >= 0] for pair in forest.edge_tail]
        edges = [range(forest.node_edges[q], forest.node_edges[q + 1]) for q in range(forest.n_nodes)]
        for q in range(forest.n_nodes):
            for e in edges[q]:
                for a in apps[e]:
                    value = self.rule(forest, a)
                    for t in reversed(tails[e]):
                        value = value @ alpha[t]
                    alpha[q] += value
        beta[-1] = self.parameters.root
        for q in reversed(range(forest.n_nodes)):
            for e in edges[q]:
                for a in apps[e]:
                    outer = np.tensordot(beta[q], self.rule(forest, a), 1)
                    if len(tails[e]) == 1:
                        beta[tails[e][0]] += outer
                    elif len(tails[e]) == 2:
                        left, right = tails[e]
                        beta[left] += outer @ alpha[right]
                        beta[right] += alpha[left] @ outer
        g = float(alpha[-1] @ beta[-1])
        mu = np.zeros(forest.n_apps)
        for e in range(forest.n_edges):
            for a in apps[e]:
                value = np.tensordot(beta[forest.edge_head[e]], self.rule(forest, a), 1)
                for t in reversed(tails[e]):
                    value = value @ alpha[t]
                mu[a] = value / g
        return mu, (alpha * beta).sum(axis=1) / g, g
