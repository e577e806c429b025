"""Graphs of the most similar phrases."""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy import sparse

from lscfg.kernel.induce import Vectors
from lscfg.log import progress
from lscfg.parallel.engine import in_threads

BLOCK = 256
"""Rows whose neighbours are found at a time."""


def nearest_rows(matrix: sparse.csr_matrix, k: int, apart: np.ndarray, threads: int = 1) -> sparse.csr_matrix:
    """The k most similar rows of each row, exactly: a row of the result has their cosines, all above 0.

    Args:
        matrix: of unit rows.
        apart: columns that make no two rows neighbours. Rows that share others have them in their cosine, too.
    """
    matrix = matrix.tocsc()
    kept = np.setdiff1d(np.arange(matrix.shape[1]), apart)
    columns, dense = matrix[:, kept].sorted_indices(), matrix[:, apart].toarray()
    rows = columns.tocsr()
    parts = [(one.indptr, one.indices, one.data) for one in (rows, columns)]
    vectors = Vectors(parts[0], parts[1], dense)
    blocks = [(first, min(first + BLOCK, vectors.rows)) for first in range(0, vectors.rows, BLOCK)]
    with in_threads(threads) as engine:
        found = list(progress(engine.map(partial(_block, vectors, k), blocks), "neighbours", len(blocks)))
    none = (np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.float32))
    sizes, which, similarity = (np.concatenate(part) for part in zip(none, *found, strict=True))
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    graph = sparse.csr_matrix((similarity.astype(float), which, offsets), shape=(vectors.rows, vectors.rows))
    return graph.sorted_indices()


def _block(vectors: Vectors, k: int, block: tuple[int, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return vectors.nearest(*block, k)


def symmetric(graph: sparse.csr_matrix) -> sparse.csr_matrix:
    """Every edge with the mean of its similarities in both directions."""
    return ((graph + graph.T) / 2).tocsr().sorted_indices()


def transitions(graph: sparse.csr_matrix) -> sparse.csr_matrix:
    """The similarities of each row divided by their sum (Eq. 5.2); rows without neighbours stay empty."""
    total = np.asarray(graph.sum(1)).ravel()
    return sparse.diags(1 / np.where(total > 0, total, 1)).dot(graph).tocsr()
