"""Rule applications of a forest: those of phrases, those of a node, copies of words, and usual values of features."""

from __future__ import annotations

import numpy as np

from lscfg.kernel import Forest, Grammar
from lscfg.kernel.extra_rules import passes_word


def medians(values: np.ndarray) -> np.ndarray:
    """Medians of the columns of one or more rows, bit for bit those of ``numpy.median``."""
    half, columns = len(values) // 2, np.ascontiguousarray(values.T)
    columns.partition([half - 1, half] if half else [0], axis=1)
    middle = columns[:, half]
    return middle if len(values) % 2 else (columns[:, half - 1] + middle) / 2


def phrases_of(forest: Forest, size: int) -> np.ndarray:
    """Applications of phrases of a grammar of this size, ascending."""
    edges, starts = np.flatnonzero(np.asarray(forest.edge_tail)[:, 0] < 0), np.asarray(forest.edge_apps)
    end = starts[edges + 1]
    counts = end - starts[edges]
    apps = np.arange(counts.sum()) + np.repeat(end - np.cumsum(counts), counts)
    return np.asarray(apps[np.asarray(forest.app_rule)[apps] < size])


def share_node(forest: Forest, apps: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Marks other applications to nodes of some applications, bool [others]."""
    edge_head, app_edge = np.asarray(forest.edge_head), np.asarray(forest.app_edge)
    found = np.zeros(forest.n_nodes, bool)
    found[edge_head[app_edge[apps]]] = True
    return np.asarray(found[edge_head[app_edge[others]]])


def copies_of(forest: Forest, grammar: Grammar, chosen: np.ndarray) -> np.ndarray:
    """For each chosen application the one that copies the words of its node; itself without such an application."""
    node = forest.edge_head[forest.app_edge]
    own = np.arange(forest.n_apps)
    copies = passes_word(grammar, forest.app_rule)
    copy_of = np.full(forest.n_nodes, -1)
    copy_of[node[copies]] = own[copies]
    found = copy_of[node[chosen]]
    return np.asarray(np.where(found < 0, own[chosen], found))
