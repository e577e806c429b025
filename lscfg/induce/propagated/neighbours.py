"""Graphs of the most similar phrases."""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy import sparse

from lscfg.kernel.induce import Vectors
from lscfg.log import progress
from lscfg.parallel.choose import in_threads

# Neighbours are exact. The columns of the most frequent words are dense, because their inverted lists would make most
# of the work; the product with them is computed only for phrases that share another column and whose bound can still
# reach the best. Of 9,500 phrases met on average, 320 need it.

BLOCK = 256
"""Rows whose neighbours are found at a time."""

EMPTY = (np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.float32))
"""Result for no rows: sizes, neighbours, similarities."""


def nearest_rows(
    matrix: sparse.csr_matrix, k: int, apart: np.ndarray, threads: int = 1, first: int | None = None
) -> sparse.csr_matrix:
    """The exact k most similar rows of each row; a row of the result contains their cosines, all above 0.

    Args:
        matrix: a matrix of unit rows.
        apart: columns that alone make no two rows neighbours, but count in the cosine of rows that share other columns.
        first: number of leading rows that get neighbours; None: all.
    """
    k, matrix = min(k, matrix.shape[0]), matrix.tocsc()
    kept = np.setdiff1d(np.arange(matrix.shape[1]), apart)
    columns, dense = matrix[:, kept].sorted_indices(), matrix[:, apart].toarray()
    if dense.shape[1]:  # rotated so that the first columns hold most of the length, which changes no product
        dense = dense @ np.linalg.eigh(dense.T @ dense)[1][:, ::-1]
    rows = columns.tocsr()
    parts = [(one.indptr, one.indices, one.data) for one in (rows, columns)]
    vectors = Vectors(parts[0], parts[1], dense)
    last = vectors.rows if first is None else first
    blocks = [(begin, min(begin + BLOCK, last)) for begin in range(0, last, BLOCK)]
    with in_threads(threads) as engine:
        found = list(progress(engine.map(partial(_block, vectors, k), blocks), "neighbours", len(blocks)))
    return as_graph(found, vectors.rows)


def _block(vectors: Vectors, k: int, block: tuple[int, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return vectors.nearest(*block, k)


def nearest_others(
    rows: sparse.csr_matrix, others: sparse.csr_matrix, k: int, threads: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """The exact k most similar rows of another matrix for each row, as pairs of row numbers.

    Args:
        rows, others: matrices of unit rows with the same columns. Only pairs with a cosine above 0 are found.
    """
    k = min(k, others.shape[0])
    both = sparse.vstack([rows, others]).tocsr().sorted_indices()
    alone = sparse.vstack([sparse.csr_matrix(rows.shape), others]).tocsc().sorted_indices()
    by_row, by_column = ((one.indptr, one.indices, one.data) for one in (both, alone))
    vectors = Vectors(by_row, by_column, np.zeros((both.shape[0], 0)))
    blocks = [(at, min(at + BLOCK, rows.shape[0])) for at in range(0, rows.shape[0], BLOCK)]
    with in_threads(threads) as engine:
        found = [EMPTY, *engine.map(partial(_block, vectors, k), blocks)]
    sizes, which, _ = (np.concatenate(part) for part in zip(*found, strict=True))
    return np.repeat(np.arange(rows.shape[0]), sizes), which.astype(np.int64) - rows.shape[0]


def nearest_dense_rows(vectors: np.ndarray, k: int) -> sparse.csr_matrix:
    """Like ``nearest_rows`` for dense unit rows; rows of length 0 have no neighbours.

    Args:
        vectors: float32 [rows, dimensions].
    """
    blocks = in_blocks(np.arange(len(vectors)))
    found = [nearest_dense_to(vectors, rows, k) for rows in progress(blocks, "neighbours", len(blocks))]
    return as_graph(found, len(vectors))


def in_blocks(rows: np.ndarray) -> list[np.ndarray]:
    """The rows, ``BLOCK`` at a time."""
    return [rows[begin : begin + BLOCK] for begin in range(0, len(rows), BLOCK)]


def nearest_dense_to(vectors: np.ndarray, rows: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Number of neighbours, neighbours and cosines of each of these rows; for the arguments see ``nearest_rows``."""
    cosine = vectors[rows] @ vectors.T
    cosine[np.arange(len(rows)), rows] = 0
    size = min(k, cosine.shape[1])
    best = np.argpartition(-cosine, size - 1, axis=1)[:, :size]
    value = np.take_along_axis(cosine, best, 1)
    kept = value > 0
    return kept.sum(1).astype(np.int32), best[kept].astype(np.int32), value[kept]


def as_graph(found: list[tuple[np.ndarray, np.ndarray, np.ndarray]], size: int) -> sparse.csr_matrix:
    """The graph [size, size] of the neighbours of the first rows, as from ``nearest_dense_to``."""
    sizes, which, similarity = (np.concatenate(part) for part in zip(*[EMPTY, *found], strict=True))
    offsets = np.concatenate([[0], np.cumsum(np.pad(sizes, (0, size - len(sizes))))])
    graph = sparse.csr_matrix((similarity.astype(float), which, offsets), shape=(size, size))
    return graph.sorted_indices()


def scattered(graph: sparse.csr_matrix, rows: np.ndarray, size: int) -> sparse.csr_matrix:
    """A graph of selected rows as a graph of all rows, [size, size]; other rows have no neighbours."""
    place = sparse.csr_matrix((np.ones(len(rows)), (rows, np.arange(len(rows)))), shape=(size, len(rows)))
    return (place @ graph @ place.T).tocsr()


def symmetric(graph: sparse.csr_matrix) -> sparse.csr_matrix:
    """The graph with the mean of both directions' similarities on every edge."""
    return ((graph + graph.T) / 2).tocsr().sorted_indices()


def transitions(graph: sparse.csr_matrix) -> sparse.csr_matrix:
    """The similarities of each row divided by their sum (Eq. 5.2); rows without neighbours stay empty."""
    total = np.asarray(graph.sum(1)).ravel()
    return sparse.diags(1 / np.where(total > 0, total, 1)).dot(graph).tocsr()
