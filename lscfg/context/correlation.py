"""Canonical correlation analysis (CCA) of two sparse views, exact and by approximations (thesis, section 4.1.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import linalg, sparse

from lscfg.context.generalised import generalised_directions
from lscfg.errors import InputError
from lscfg.estimate.svd import signs_of, truncated_svd

ALL_VIEWS = "gcca"
"""The way to whiten all views together, see ``lscfg.context.generalised``."""

WHITENINGS = ("diag", "identity", "rand", "full", "ppmi", ALL_VIEWS)
"""Ways to whiten each view: by the diagonal of its covariance; not at all; by random projections; exactly; not at all,
on pointwise mutual information; or all views together."""

MOST_EXACT = 5000
"""Most columns of a view whose covariance is inverted exactly."""

BLOCK = 20_000
"""Rows whose projections are in memory at a time."""

ROUNDS = 2
"""Rounds of the random projections."""


@dataclass(frozen=True)
class Correlation:
    """The canonical directions of two views.

    Attributes:
        left: float64 [d, k]; right: float64 [d', k]; sigma: float64 [k], falling; correlations if ``rand`` or ``full``.
        gaps: float64 [d'', k''], directions of items in gaps, correlated with both views and themselves; empty without
            gaps.
    """

    left: np.ndarray
    right: np.ndarray
    sigma: np.ndarray
    gaps: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    together: bool = False
    """True: all views lead to the same k coordinates; False: each view leads to its own."""

    def basis(self) -> np.ndarray:
        """float64 [items, dims], contribution of each item to a context; items to the left, to the right, in gaps."""
        parts = (self.left, self.right, *([self.gaps] if len(self.gaps) else []))
        return np.concatenate(parts) if self.together else np.asarray(linalg.block_diag(*parts))


def correlate(
    x: sparse.csr_matrix,
    y: sparse.csr_matrix,
    k: int,
    whiten: str = "diag",
    gamma: float = 2.0,
    relative: bool = False,
    seed: int = 1,
    oversampling: int = 100,
    threads: int = 1,
) -> Correlation:
    """The k leading directions of W_x X'Y W_y with W = (X'X + gamma I)^(-1/2) or an approximation.

    Args:
        x: [n, d]; y: [n, d'].
        whiten: one of ``WHITENINGS``; ``rand`` is of centred data (Mineiro & Karampatziakis 2014).
        gamma: regularisation, at least 0; with ``ppmi`` above 0: its logarithm is subtracted, so 1 has no effect.
        relative: True if gamma is in units of the mean variance of a view's columns.

    Raises:
        InputError: k exceeds the size of a view, a covariance cannot be inverted, or gamma is 0 with ``ppmi``.
    """
    most = min(x.shape[1], y.shape[1])
    if k > most:
        raise InputError(
            f"{k} dimensions for views of {x.shape[1]} and {y.shape[1]} items; at most {most} are possible"
        )
    if whiten == "ppmi" and not gamma:
        raise InputError("ppmi subtracts the logarithm of gamma; give a gamma above 0")
    ridges = [gamma * (_mean_square(view) if relative else 1.0) for view in (x, y)]
    if whiten == "rand":
        found = _randomised(x, y, k, (ridges[0], ridges[1]), seed, oversampling)
    elif whiten == "full":
        found = _exact(x, y, k, (ridges[0], ridges[1]))
    else:
        matrix = (x.T @ y).tocsr()
        scales = [np.ones(view.shape[1]) for view in (x, y)]
        if whiten == "ppmi":
            matrix = _mutual_information(matrix, x, y, gamma)
        elif whiten == "diag":
            squares = [np.asarray(view.multiply(view).sum(axis=0)).ravel() for view in (x, y)]
            scales = [1 / np.sqrt(square + ridge) for square, ridge in zip(squares, ridges, strict=True)]
        whitened = sparse.diags(scales[0]) @ matrix @ sparse.diags(scales[1])
        u, sigma, v = truncated_svd(whitened.tocsr(), k, seed, threads=threads)
        found = Correlation(scales[0][:, None] * u, scales[1][:, None] * v, sigma)
    signs = signs_of(found.left)
    return Correlation(found.left * signs, found.right * signs, found.sigma)


def correlate_all(
    views: Sequence[sparse.csr_matrix],
    k: int,
    gamma: float = 2.0,
    relative: bool = False,
    seed: int = 1,
    threads: int = 1,
) -> Correlation:
    """Directions of left, right and perhaps gaps by generalised correlation; see ``generalised_directions``."""
    gammas = [gamma * (_mean_square(view) if relative else 1.0) for view in views]
    (left, right, *others), values = generalised_directions(views, k, gammas, seed=seed, threads=threads)
    gaps = others[0] if others else np.zeros((0, 0))
    return Correlation(left, right, values, gaps, together=True)


def _mean_square(view: sparse.csr_matrix) -> float:
    return float(view.multiply(view).sum() / view.shape[1])


def _mutual_information(
    matrix: sparse.csr_matrix, x: sparse.csr_matrix, y: sparse.csr_matrix, gamma: float
) -> sparse.csr_matrix:
    """The positive part of log(n n_xy / ((n_x + 1) (n_y + 1))) - log gamma."""
    counts = matrix.tocoo()
    sums = [np.asarray(view.sum(axis=0)).ravel() + 1 for view in (x, y)]
    values = np.log(x.shape[0] * counts.data / (sums[0][counts.row] * sums[1][counts.col])) - np.log(gamma)
    found = sparse.csr_matrix((np.maximum(values, 0), (counts.row, counts.col)), matrix.shape)
    found.eliminate_zeros()
    return found


def _cholesky(matrix: np.ndarray, name: str) -> np.ndarray:
    """The lower factor.

    Raises:
        InputError: the matrix is singular.
    """
    lower, info = linalg.lapack.dpotrf(matrix, lower=1, clean=1)
    pivots = np.diag(lower)[: info - 1] if info > 0 else np.diag(lower)
    if info > 0 or (pivots < 1e-7 * np.sqrt(np.diag(matrix).max())).any():
        place = info if info > 0 else int((pivots < 1e-7 * np.sqrt(np.diag(matrix).max())).argmax()) + 1
        raise InputError(f"the covariance of the {name} view is singular at pivot {place}; give a gamma above 0")
    return np.asarray(lower)


def _exact(x: sparse.csr_matrix, y: sparse.csr_matrix, k: int, ridges: tuple[float, float]) -> Correlation:
    if max(x.shape[1], y.shape[1]) > MOST_EXACT:
        raise InputError(
            f"views of {x.shape[1]} and {y.shape[1]} items are too large to be whitened exactly; at most {MOST_EXACT}"
        )
    factors = []
    for view, ridge, name in ((x, ridges[0], "left"), (y, ridges[1], "right")):
        factors.append(_cholesky((view.T @ view).toarray() + ridge * np.eye(view.shape[1]), name))
    half = linalg.solve_triangular(factors[0], (x.T @ y).toarray(), lower=True)
    whitened = linalg.solve_triangular(factors[1], half.T, lower=True).T
    u, sigma, vt = np.linalg.svd(whitened, full_matrices=False)
    left = linalg.solve_triangular(factors[0], u[:, :k], lower=True, trans="T")
    right = linalg.solve_triangular(factors[1], vt[:k].T, lower=True, trans="T")
    return Correlation(left, right, sigma[:k])


def _randomised(
    x: sparse.csr_matrix,
    y: sparse.csr_matrix,
    k: int,
    ridges: tuple[float, float],
    seed: int,
    oversampling: int,
) -> Correlation:
    """Algorithm 1 of Mineiro & Karampatziakis (2014), on centred views."""
    n, rng = x.shape[0], np.random.default_rng(seed)
    means = [np.asarray(view.mean(axis=0)).ravel() for view in (x, y)]
    width = [min(k + oversampling, view.shape[1]) for view in (x, y)]
    q = [rng.normal(size=(view.shape[1], w)) for view, w in zip((x, y), width, strict=True)]

    def cross(of: sparse.csr_matrix, other: sparse.csr_matrix, basis: np.ndarray, a: int, b: int) -> np.ndarray:
        total = np.zeros((of.shape[1], basis.shape[1]))
        for begin in range(0, n, BLOCK):
            rows = slice(begin, begin + BLOCK)
            total += of[rows].T @ (other[rows] @ basis)
        return np.asarray(total - n * np.outer(means[a], means[b] @ basis))

    for _ in range(ROUNDS):
        q = [np.linalg.qr(basis)[0] for basis in q]
        q = [cross(x, y, q[1], 0, 1), cross(y, x, q[0], 1, 0)]
    q = [np.linalg.qr(basis)[0] for basis in q]
    for side, (view, ridge) in enumerate(zip((x, y), ridges, strict=True)):
        gram = q[side].T @ cross(view, view, q[side], side, side) + ridge * q[side].T @ q[side]
        values, vectors = np.linalg.eigh((gram + gram.T) / 2)
        kept = values > 1e-10 * values[-1]
        q[side] = q[side] @ (vectors[:, kept] / np.sqrt(values[kept]))
    u, sigma, vt = np.linalg.svd(q[0].T @ cross(x, y, q[1], 0, 1), full_matrices=False)
    return Correlation(q[0] @ u[:, :k], q[1] @ vt[:k].T, sigma[:k])
