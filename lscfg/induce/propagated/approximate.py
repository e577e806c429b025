"""Graphs of the most similar of many phrases in a dense space, by approximate search with faiss.

Exact search compares every pair of rows. Here rows are nodes of a navigable small world (Malkov and Yashunin 2020), and
a search follows its edges.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from lscfg import log
from lscfg.extras import need
from lscfg.induce.propagated.contexts import values_at
from lscfg.induce.propagated.neighbours import as_graph, in_blocks, nearest_dense_to, scattered
from lscfg.parallel.choose import in_threads

if TYPE_CHECKING:
    from faiss import Index

EDGES = 16
"""Edges of a node on each level of the graph except the lowest, which has twice as many."""

EFFORT = 100
"""Nodes examined for the edges of a new node."""

WIDTH = 2.5
"""Nodes that a search keeps per requested neighbour."""

FEWEST = 256
"""Least number of nodes that a search keeps."""

SAMPLE, SEED = 1000, 1
"""Random rows whose neighbours are compared with exact ones."""


def nearly_nearest_dense_rows(vectors: np.ndarray, k: int, threads: int = 1) -> sparse.csr_matrix:
    """Like ``nearest_dense_rows``, but less similar rows may replace some neighbours.

    The log states the share of true neighbours found, estimated on a sample. One thread builds the graph, so that the
    number of threads changes nothing.

    Args:
        vectors: float32 [rows, dimensions], of length 1 or 0.

    Raises:
        InputError: faiss is not installed.
    """
    need("graph")
    import faiss

    rows = np.flatnonzero(vectors.any(1))
    own = np.ascontiguousarray(vectors[rows])
    faiss.omp_set_num_threads(1)
    index = faiss.IndexHNSWFlat(vectors.shape[1], EDGES, faiss.METRIC_INNER_PRODUCT)
    index.hnsw.efConstruction = EFFORT
    index.hnsw.efSearch = max(FEWEST, int(WIDTH * min(k, len(own))))
    index.add(own)
    with in_threads(threads) as engine:
        found = list(engine.map(partial(_block, index, own, k), in_blocks(np.arange(len(own)))))
    graph = as_graph(found, len(own))
    sample = np.sort(np.random.default_rng(SEED).permutation(len(own))[:SAMPLE])
    log.info(f"approximate neighbours: {_recall(own, graph, sample, k):.3f} of the true ones, by {len(sample)} phrases")
    return scattered(graph, rows, len(vectors)).sorted_indices()


def _block(index: Index, vectors: np.ndarray, k: int, block: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    import faiss

    faiss.omp_set_num_threads(1)  # the setting is per thread
    cosine, which = index.search(vectors[block], min(k + 1, len(vectors)))
    kept = (which >= 0) & (which != block[:, None]) & (cosine > 0)
    kept &= kept.cumsum(1) <= k
    return kept.sum(1).astype(np.int32), which[kept].astype(np.int32), cosine[kept]


def _recall(vectors: np.ndarray, graph: sparse.csr_matrix, sample: np.ndarray, k: int) -> float:
    """The share of the sample's true neighbours in the graph; 1 without neighbours."""
    hits = [np.zeros(0, bool)]
    for part in in_blocks(sample):  # in blocks, because the cosines with many phrases would take gigabytes
        sizes, which, _ = nearest_dense_to(vectors, part, k)
        hits.append(values_at(graph, np.repeat(part, sizes), which) > 0)
    found = np.concatenate(hits)
    return float(found.mean()) if len(found) else 1.0
