"""Spectral estimation: the method of moments (paper, section 4.1 and Fig. 2a)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import svds

from lscfg.derive import Derivations
from lscfg.errors import InputError
from lscfg.estimate.examples import Examples
from lscfg.estimate.features import INSIDE, OUTSIDE, inside_features, outside_features, scale
from lscfg.estimate.mle import by_arity, spread_oov
from lscfg.kernel import add_moments
from lscfg.log import warn
from lscfg.parameters import MAX_ARITY, Parameters

SMALLEST_SINGULAR_VALUE = 1e-8
"""Directions whose singular value is less than this part of the first are noise, and are dropped."""

DENSE = 400
"""Smaller covariance matrices are decomposed as dense ones."""


@dataclass(frozen=True)
class SpectralSettings:
    """What the spectral estimator may be told.

    Attributes:
        rank: m, the number of hidden states, at least 1.
        inside, outside: feature templates (see ``lscfg.estimate.features``).
        seed: of the start vector of the SVD.
    """

    rank: int = 8
    inside: tuple[str, ...] = INSIDE
    outside: tuple[str, ...] = OUTSIDE
    seed: int = 1

    def __post_init__(self) -> None:
        if self.rank < 1:
            raise InputError(f"the number of hidden states must be at least 1, got {self.rank}")


def truncated_svd(matrix: sparse.csr_matrix, rank: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """U [rows, k], singular values [k] in falling order, V [columns, k]; k = rank or less.

    The signs are fixed by the entry of largest absolute value of each column of U, which is positive. Directions below
    ``SMALLEST_SINGULAR_VALUE`` are dropped with a warning.

    Raises:
        InputError: the matrix has no such rank.
    """
    if rank > min(matrix.shape):
        raise InputError(
            f"{rank} hidden states from {matrix.shape[0]} inside and {matrix.shape[1]} outside features; "
            f"at most {min(matrix.shape)} are possible, give more text or a smaller m"
        )
    if min(matrix.shape) <= max(DENSE, rank + 1):
        u, sigma, vt = np.linalg.svd(matrix.toarray(), full_matrices=False)
        u, sigma, vt = u[:, :rank], sigma[:rank], vt[:rank]
    else:
        start = np.random.default_rng(seed).normal(size=min(matrix.shape))
        u, sigma, vt = svds(matrix, k=rank, v0=start, solver="arpack")
        order = np.argsort(-sigma, kind="stable")
        u, sigma, vt = u[:, order], sigma[order], vt[order]
    kept = int((sigma > SMALLEST_SINGULAR_VALUE * sigma[0]).sum()) if sigma[0] > 0 else 0
    if not kept:
        raise InputError(
            "the inside and outside features do not vary together at all; is the corpus a single sentence?"
        )
    if kept < rank:
        warn(f"only {kept} of {rank} singular values are above the noise; the model gets {kept} states")
    signs = np.sign(u[np.abs(u[:, :kept]).argmax(axis=0), np.arange(kept)])
    return u[:, :kept] * signs, sigma[:kept], vt[:kept].T * signs


def estimate_spectral(derivations: Derivations, settings: SpectralSettings) -> Parameters:
    """C^r = count(r) / M x the mean over tokens of Z(o) (x) Y(t2) (x) Y(t3); C^S = the mean of Y over roots.

    Step 0 decomposes the covariance of scaled inside and outside features (Eq. 1), step 1 projects every node to
    Y(t) = U' phi(t) and Z(o) = S^-1 V' psi(o), steps 2 and 3 sum outer products. Singletons without nonterminals are
    estimated as one OOV rule, whose tensor they share.

    Raises:
        InputError: too little text for the rank asked.
    """
    examples = Examples.of(derivations)
    n = examples.n_examples
    if not n:
        raise InputError("the derivations hold no rule of at most two nonterminals")
    phi = scale(inside_features(examples, settings.inside), examples.is_example)
    psi = scale(outside_features(examples, settings.outside), examples.is_example)
    covariance = (phi[examples.is_example].T @ psi[examples.is_example]) / n
    u, sigma, v = truncated_svd(covariance.tocsr(), settings.rank, settings.seed)
    y, z = phi @ u, psi @ (v / sigma)
    tensors = _moments(examples, y, z)
    for tensor in tensors:
        tensor /= n
    tensors[0], unk = spread_oov(tensors[0], by_arity(examples.counts, examples)[0])
    roots = examples.is_root & examples.is_example
    root = y[roots].mean(axis=0) if roots.any() else y[examples.is_root].mean(axis=0)
    about = {
        "method": "spectral",
        "rule tokens": n,
        "sentences": len(derivations),
        "inside features": int(phi.shape[1]),
        "outside features": int(psi.shape[1]),
        "inside templates": list(settings.inside),
        "outside templates": list(settings.outside),
        "singular values": sigma.tolist(),
        "rank asked": settings.rank,
        "seed": settings.seed,
    }
    return Parameters(examples.rules, (tensors[0], tensors[1], tensors[2]), root, unk, about)


def _moments(examples: Examples, y: np.ndarray, z: np.ndarray) -> list[np.ndarray]:
    """Sums over each rule's tokens of Z (x) Y ..., by arity: float64 [rules, m], [., m, m], [., m, m, m]."""
    m = y.shape[1]
    arity = examples.rules.arity
    sums = []
    for k in range(MAX_ARITY + 1):
        first = int(np.searchsorted(arity, k))
        out = np.zeros((int((arity == k).sum()), *[m] * (k + 1)))
        nodes = np.nonzero(examples.is_example)[0]
        nodes = nodes[arity[examples.type[nodes]] == k]
        add_moments(examples.type[nodes] - first, nodes, examples.children[nodes, :k], z, y, out)
        sums.append(out)
    return sums
