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
    """The k most similar rows of each row, exactly: a row of the result has their cosines, all above 0.

    Args:
        matrix: of unit rows.
        apart: columns that make no two rows neighbours. Rows that share others have them in their cosine, too.
        first: so many rows get neighbours, the first ones; None: all.
    """
    k, matrix = min(k, matrix.shape[0]), matrix.tocsc()
    kept = np.setdiff1d(np.arange(matrix.shape[1]), apart)
    columns, dense = matrix[:, kept].sorted_indices(), matrix[:, apart].toarray()
    if dense.shape[1]:  # turned so that the first columns have most of the length, which changes no product
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
    """The k rows of another matrix that are most similar to each row, exactly, as pairs: row, and row of the other one.

    Args:
        rows, others: matrices of unit rows and the same columns. Only pairs of a cosine above 0 are found.
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
    """As ``nearest_rows`` for dense unit rows; rows of length 0 have no neighbours.

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
    """Of each of these rows: how many neighbours it has, which, and their cosines; arguments as above."""
    cosine = vectors[rows] @ vectors.T
    cosine[np.arange(len(rows)), rows] = 0
    size = min(k, cosine.shape[1])
    best = np.argpartition(-cosine, size - 1, axis=1)[:, :size]
    value = np.take_along_axis(cosine, best, 1)
    kept = value > 0
    return kept.sum(1).astype(np.int32), best[kept].astype(np.int32), value[kept]


def as_graph(found: list[tuple[np.ndarray, np.ndarray, np.ndarray]], size: int) -> sparse.csr_matrix:
    """The graph [size, size] of what was found of the first rows, as of ``nearest_dense_to``."""
    sizes, which, similarity = (np.concatenate(part) for part in zip(*[EMPTY, *found], strict=True))
    offsets = np.concatenate([[0], np.cumsum(np.pad(sizes, (0, size - len(sizes))))])
    graph = sparse.csr_matrix((similarity.astype(float), which, offsets), shape=(size, size))
    return graph.sorted_indices()


def scattered(graph: sparse.csr_matrix, rows: np.ndarray, size: int) -> sparse.csr_matrix:
    """The graph of these rows alone as one of all, [size, size]; others have no neighbours."""
    place = sparse.csr_matrix((np.ones(len(rows)), (rows, np.arange(len(rows)))), shape=(size, len(rows)))
    return (place @ graph @ place.T).tocsr()


def symmetric(graph: sparse.csr_matrix) -> sparse.csr_matrix:
    """Every edge with the mean of its similarities in both directions."""
    return ((graph + graph.T) / 2).tocsr().sorted_indices()


def transitions(graph: sparse.csr_matrix) -> sparse.csr_matrix:
    """The similarities of each row divided by their sum (Eq. 5.2); rows without neighbours stay empty."""
    total = np.asarray(graph.sum(1)).ravel()
    return sparse.diags(1 / np.where(total > 0, total, 1)).dot(graph).tocsr()
