"""Truncated singular value decompositions of large sparse matrices: exact, by ARPACK, or randomised."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, svds

from lscfg.errors import InputError
from lscfg.log import warning
from lscfg.parallel.choose import in_threads

# ARPACK, not a randomised method: the spectrum of rule indicators is flat, and with m = 16 on 49,500 pairs ARPACK
# takes 0.6 s to machine precision where a randomised method takes 4 s to reach 5e-4. Columns with one entry in the
# same row are merged first, which changes neither U nor the singular values.

SMALLEST_SINGULAR_VALUE = 1e-8
"""Directions whose singular value is below this fraction of the first are noise and are dropped."""

DENSE = 400
"""Size below which covariance matrices are decomposed as dense ones."""

SVD = ("arpack", "randomized")
"""Ways to decompose the covariance. The spectrum of rule indicators is flat, which suits ARPACK: for m = 16 on 49,500
sentence pairs (benchmarks/spectral.py) it takes 0.6 s to machine precision, the randomized method 4 s to 5e-4."""


class RowBlocks:
    """A sparse matrix whose products with dense matrices are computed by blocks of rows in threads.

    The product of a row does not depend on its block, so values do not depend on the number of threads.
    """

    def __init__(self, matrix: sparse.csr_matrix, threads: int):
        self.shape = matrix.shape
        even = np.searchsorted(matrix.indptr, np.linspace(0, matrix.nnz, threads + 1)[1:-1])
        borders = [0, *even.tolist(), matrix.shape[0]]
        self._blocks = []
        for first, end in itertools.pairwise(borders):
            values = slice(matrix.indptr[first], matrix.indptr[end])
            rows = matrix.indptr[first : end + 1] - matrix.indptr[first]
            shape = (end - first, matrix.shape[1])
            self._blocks.append(sparse.csr_matrix((matrix.data[values], matrix.indices[values], rows), shape=shape))
        self._engine = in_threads(threads)

    def __matmul__(self, dense: np.ndarray) -> np.ndarray:
        products = list(self._engine.map(lambda block: block @ dense, self._blocks))
        return products[0] if len(products) == 1 else np.concatenate(products)


class Projected:
    """The product of a sparse and a dense matrix, whose rows are computed on demand.

    The product for all nodes of a large corpus would take more memory than all other data.

    Attributes:
        shape: shape of the product.
    """

    def __init__(self, matrix: sparse.csr_matrix, directions: np.ndarray):
        self._matrix, self._directions = matrix, directions
        self.shape = (matrix.shape[0], directions.shape[1])

    def __getitem__(self, rows: np.ndarray | slice) -> np.ndarray:
        """Selected rows, float64 [rows, columns], by number, by bool [all rows], or by range."""
        result: np.ndarray = self._matrix[rows] @ self._directions
        return result

    def bound(self) -> float:
        """Upper bound of absolute values."""
        sums = np.abs(self._matrix) @ np.ones(self._matrix.shape[1])
        return float(sums.max(initial=0) * np.abs(self._directions).max(initial=0))


class ProjectedByCategory:
    """Rows by a separate ``Projected`` for each category, with zeros after the columns of each.

    Attributes:
        shape: shape of the product.
    """

    def __init__(self, category: np.ndarray, parts: Mapping[int, Projected]):
        self._category, self._parts = category, parts
        self.shape = (len(category), max(part.shape[1] for part in parts.values()))

    def __getitem__(self, rows: np.ndarray | slice) -> np.ndarray:
        """Selected rows, as in ``Projected``; rows of a category without a product are zero."""
        number = np.arange(len(self._category))[rows]
        found = np.zeros((len(number), self.shape[1]))
        category = self._category[number]
        for c in np.unique(category).tolist():
            if c in self._parts:
                here = np.flatnonzero(category == c)
                found[here, : self._parts[c].shape[1]] = self._parts[c][number[here]]
        return found

    def bound(self) -> float:
        """Upper bound of absolute values."""
        return max(part.bound() for part in self._parts.values())


def signs_of(directions: np.ndarray) -> np.ndarray:
    """float64 [columns]: the factors that make the entry of largest absolute value of each column positive."""
    signs = np.sign(directions[np.abs(directions).argmax(axis=0), np.arange(directions.shape[1])])
    return np.where(signs == 0, 1.0, signs)


def normalised_rows(values: np.ndarray) -> np.ndarray:
    """The rows scaled to length 1; zero rows stay zero."""
    most = np.abs(values).max(axis=1, keepdims=True, initial=0)
    scaled = values / np.where((most > 1e150) | ((most > 0) & (most < 1e-150)), most, 1)  # squares stay in range
    lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
    return np.asarray(scaled / np.where(lengths > 0, lengths, 1))


def truncated_svd(
    matrix: sparse.csr_matrix, rank: int, seed: int, method: str = "arpack", threads: int = 1
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """U [rows, k], singular values [k] in falling order, V [columns, k]; k is at most the rank.

    The entry of largest absolute value in each column of U is positive, which fixes the signs. Directions below
    ``SMALLEST_SINGULAR_VALUE`` are dropped with a warning.

    Raises:
        InputError: the rank of the matrix is too small.
    """
    if rank > min(matrix.shape):
        raise InputError(
            f"{rank} hidden states from {matrix.shape[0]} inside and {matrix.shape[1]} outside features; "
            f"at most {min(matrix.shape)} are possible; use more text or a smaller m"
        )
    if min(matrix.shape) <= max(DENSE, rank + 1):
        u, sigma, vt = np.linalg.svd(matrix.toarray(), full_matrices=False)
        u, sigma, vt = u[:, :rank], sigma[:rank], vt[:rank]
    elif method == "randomized":
        u, sigma, vt = randomized_svd(matrix, rank, seed)
    elif matrix.shape[0] < matrix.shape[1]:
        v, sigma, ut = _arpack(matrix.T.tocsr(), rank, seed, threads)
        u, vt = ut.T, v.T
    else:
        u, sigma, vt = _arpack(matrix, rank, seed, threads)
    kept = int((sigma > SMALLEST_SINGULAR_VALUE * sigma[0]).sum()) if sigma[0] > 0 else 0
    if not kept:
        raise InputError(
            "the inside and outside features do not vary together at all; is the corpus a single sentence?"
        )
    if kept < rank:
        warning(f"only {kept} of {rank} singular values are above the noise; the model gets {kept} states")
    signs = signs_of(u[:, :kept])
    # rows contiguous in memory, for products with sparse matrices and for the kernel
    return np.ascontiguousarray(u[:, :kept] * signs), sigma[:kept], np.ascontiguousarray(vt[:kept].T * signs)


def _arpack(matrix: sparse.csr_matrix, rank: int, seed: int, threads: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """U, singular values in falling order and V' of a matrix with at least as many rows as columns.

    The number of columns determines ARPACK's time, and many columns (features of few examples) have one entry.
    Columns with their entry in the same row are one direction: replacing them by a column of their norm keeps A A' and,
    therefore, U and the singular values.
    """
    columns = matrix.tocsc()
    single = np.diff(columns.indptr) == 1
    first = columns.indptr[:-1][single]
    squares = np.bincount(columns.indices[first], columns.data[first] ** 2, matrix.shape[0])
    rows = np.nonzero(squares)[0]
    ones = (np.sqrt(squares[rows]), (rows, np.arange(len(rows))))
    merged = sparse.hstack([columns[:, ~single], sparse.csc_matrix(ones, (matrix.shape[0], len(rows)))], "csr")
    if rank >= min(merged.shape):
        merged = matrix
    start = np.random.default_rng(seed).normal(size=min(merged.shape))
    forward, back = RowBlocks(merged, threads), RowBlocks(merged.T.tocsr(), threads)
    operator = LinearOperator(
        merged.shape,
        matvec=forward.__matmul__,
        rmatvec=back.__matmul__,
        matmat=forward.__matmul__,
        rmatmat=back.__matmul__,
        dtype=merged.dtype,
    )
    u, sigma, _ = svds(operator, k=rank, v0=start, solver="arpack")
    order = np.argsort(-sigma, kind="stable")
    u, sigma = u[:, order], sigma[order]
    inverse = np.divide(1.0, sigma, out=np.zeros_like(sigma), where=sigma > 0)
    return u, sigma, (matrix.T @ u * inverse).T


def randomized_svd(
    matrix: sparse.csr_matrix, rank: int, seed: int, oversampling: int = 16, iterations: int = 12
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The leading singular vectors, from the range of random combinations of the columns.

    Halko, Martinsson and Tropp (2011): Algorithm 4.4 (subspace iteration), then 5.1 (direct SVD). A flat spectrum, like
    that of rule indicators, needs many iterations.

    Args:
        matrix: [rows, columns].
        rank: number of singular vectors, at least 1.
        seed: seed of the random combinations.
        oversampling: combinations beyond ``rank``, at least 0, limited by rows and columns.
        iterations: rounds of subspace iteration, at least 0.

    Returns:
        U [rows, k], singular values [k] in falling order, and V' [k, columns]; k is ``rank``, or the number of rows or
        columns where that is smaller.
    """
    width = min(rank + oversampling, *matrix.shape)
    basis = np.random.default_rng(seed).normal(size=(matrix.shape[1], width))
    transposed = matrix.T.tocsr()
    for _ in range(iterations):
        left, _ = np.linalg.qr(matrix @ basis)
        basis, _ = np.linalg.qr(transposed @ left)
    left, _ = np.linalg.qr(matrix @ basis)
    u, sigma, vt = np.linalg.svd((transposed @ left).T, full_matrices=False)
    return (left @ u)[:, :rank], sigma[:rank], vt[:rank]
