"""Similarities along a whole graph: Laplacian eigenmaps and diffusion maps (thesis, sections 5.4 and 6.1).

With the weights W of a graph and its degrees D, the leading eigenvectors v of D^-1/2 W D^-1/2 with values λ place node
i at the coordinates λ^t v_i / sqrt(D_i): eigenmaps for t = 0 (Belkin & Niyogi 2003), and for t steps of a random walk
diffusion maps (Coifman & Lafon 2006), whose distance is that of the distributions after t steps. The first vector is
equal for all nodes and left out.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, eigsh

from lscfg.estimate.svd import normalised_rows

TIMES = {"laplacian": 0, "diffusion": 4}
"""Steps of the walk by space."""

DENSE = 300
"""Number of nodes up to which all eigenvectors are computed."""


def coordinates(graph: sparse.csr_matrix, rank: int, time: int) -> np.ndarray:
    """Coordinates of the nodes, float64 [nodes, at most rank]; 0 for nodes without neighbours.

    Args:
        graph: symmetric, without negative values.
        time: steps t of the walk.
    """
    degree = np.asarray(graph.sum(axis=1)).ravel()
    linked = np.flatnonzero(degree > 0)
    placed = np.zeros((len(degree), max(min(rank, len(linked) - 1), 0)))
    if not placed.shape[1]:
        return placed
    root = np.sqrt(degree[linked])
    first = root / np.linalg.norm(root)
    scaled = sparse.diags(1 / root) @ graph[linked][:, linked] @ sparse.diags(1 / root)
    if len(linked) <= DENSE:
        values, vectors = np.linalg.eigh(scaled.toarray() - 2 * np.outer(first, first))  # its value 1 becomes -1
    else:
        without = LinearOperator(scaled.shape, lambda x: scaled @ x - 2 * first * (first @ x.ravel()), dtype=float)
        start = np.random.default_rng(1).standard_normal(len(linked))
        values, vectors = eigsh(without, placed.shape[1], which="LA", v0=start)
    leading = np.argsort(-values)[: placed.shape[1]]
    placed[linked] = vectors[:, leading] * values[leading] ** time / root[:, None]
    return placed


def along_graph(graph: sparse.csr_matrix, rank: int, time: int) -> sparse.csr_matrix:
    """The edges of a graph with the cosines of their ends' coordinates; edges without a positive one are dropped.

    Args:
        graph: directed or not; coordinates are those of the graph with the mean of both directions.
    """
    return with_cosines(graph, coordinates(((graph + graph.T) / 2).tocsr(), rank, time))


def with_cosines(graph: sparse.csr_matrix, placed: np.ndarray) -> sparse.csr_matrix:
    """The edges of a graph with the cosines of their ends' coordinates; edges without a positive one are dropped.

    Args:
        placed: float64 [nodes, dimensions].
    """
    placed = normalised_rows(placed)
    edges = graph.tocoo()
    cosine = np.einsum("ek,ek->e", placed[edges.row], placed[edges.col])
    kept = cosine > 0
    there = (edges.row[kept], edges.col[kept])
    return sparse.csr_matrix((np.minimum(cosine[kept], 1), there), shape=graph.shape).sorted_indices()
