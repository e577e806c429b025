"""Sums over the derivations of a forest with a weight for each application, in NumPy."""

from itertools import pairwise

import numpy as np

from lscfg.kernel import Forest


def inside(forest: Forest, log_weight: np.ndarray) -> np.ndarray:
    """float64 [n_nodes + 1], logarithm of the sum over the derivations of each node; 0 for the tail -1, which is none.

    A derivation weighs the product of its applications; those of a node lie side by side.
    """
    tails, values = forest.edge_tail[forest.app_edge], np.zeros(forest.n_nodes + 1)
    for node, (begin, end) in enumerate(pairwise(forest.edge_apps[forest.node_edges].tolist())):
        values[node] = np.logaddexp.reduce(log_weight[begin:end] + values[tails[begin:end]].sum(axis=1))
    return values


def log_sum(forest: Forest, log_weight: np.ndarray) -> float:
    """Logarithm of the sum over all derivations."""
    return float(inside(forest, log_weight)[-2])


def marginals(forest: Forest, log_weight: np.ndarray) -> np.ndarray:
    """float64 [n_apps], probability that a derivation uses each application."""
    head, tails = forest.edge_head[forest.app_edge], forest.edge_tail[forest.app_edge]
    values = inside(forest, log_weight)
    found, used = np.exp(log_weight + values[tails].sum(axis=1) - values[head]), np.zeros(forest.n_nodes + 1)
    used[-2] = 1
    for app in reversed(range(forest.n_apps)):
        found[app] *= used[head[app]]
        np.add.at(used, tails[app], found[app])
    return found
