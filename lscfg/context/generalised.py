"""Generalised canonical correlation analysis of sparse views (MAXVAR; Kettenring 1971; thesis, section 6.1).

With X_j the matrix of a view, the k leading eigenvectors G of the sum over views of w_j X_j (X_j'X_j + gamma I)^-1 X_j'
are the coordinates of the rows on which all views agree best. The matrix of all rows is never formed: with truncated
decompositions X_j = A_j S_j B_j' and T_j = S_j^2 / (S_j^2 + gamma), it is Z Z' for Z = [sqrt(w_j) A_j T_j^1/2], and Z'Z
has one row for each singular value of each view (Rastogi, Van Durme & Arora 2015).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from lscfg import log
from lscfg.errors import InputError
from lscfg.estimate.svd import signs_of, truncated_svd

RANK = 300
"""Singular values of a view."""


def generalised_directions(
    views: Sequence[sparse.csr_matrix],
    k: int,
    gammas: Sequence[float],
    weights: Sequence[float] | None = None,
    seed: int = 1,
    threads: int = 1,
) -> tuple[list[np.ndarray], np.ndarray]:
    """Directions U_j of each view, such that the sum of X_j U_j is G.

    Args:
        views: [n, d_j]; a row that lacks a view has zeros there.
        gammas: regularisation of each view, at least 0.
        weights: w_j, above 0; None: 1.

    Returns:
        float64 [d_j, k] for each view; float64 [k], eigenvalues, falling, at most the sum of the weights.

    Raises:
        InputError: the views have fewer than k directions.
    """
    shares = np.sqrt(np.ones(len(views)) if weights is None else np.asarray(weights, float))
    scaled = []
    for view, gamma, share in zip(views, gammas, shares, strict=True):
        square = (view.T @ view).tocsr()
        with log.held_back():  # of a view with fewer directions
            _, squares, basis = truncated_svd(square, min(RANK, square.shape[0]), seed, threads=threads)
        # S^-1 T^1/2 = (S^2 + gamma)^-1/2
        scaled.append(basis * (share / np.sqrt(squares + gamma)))
    sizes = np.cumsum([0, *(one.shape[1] for one in scaled)])
    if k > sizes[-1]:
        raise InputError(f"{k} dimensions, but the views have only {sizes[-1]} directions; choose a smaller k")
    gram = np.empty((sizes[-1], sizes[-1]))
    for i, (x, u) in enumerate(zip(views, scaled, strict=True)):
        for j, (y, v) in enumerate(zip(views, scaled, strict=True)):
            if j >= i:
                block = u.T @ ((x.T @ y) @ v)
                gram[sizes[i] : sizes[i + 1], sizes[j] : sizes[j + 1]] = block
                gram[sizes[j] : sizes[j + 1], sizes[i] : sizes[i + 1]] = block.T
    values, vectors = np.linalg.eigh((gram + gram.T) / 2)
    values, vectors = values[::-1][:k], vectors[:, ::-1][:, :k]
    vectors = vectors / np.sqrt(np.maximum(values, np.finfo(float).tiny))
    found = [one @ vectors[begin:end] for one, begin, end in zip(scaled, sizes, sizes[1:], strict=False)]
    signs = signs_of(np.concatenate(found))
    return [one * signs for one in found], values
