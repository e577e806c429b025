"""Spectral estimation: the method of moments (paper, section 4.1 and Fig. 2a)."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, svds

from lscfg import log
from lscfg.errors import InputError
from lscfg.estimate.examples import Examples
from lscfg.estimate.features import INSIDE, OUTSIDE, FeatureSources, check_templates, extract, scale
from lscfg.estimate.mle import by_arity, keep_targets, one_state, spread_oov
from lscfg.extract.derive import Derivations
from lscfg.grammar.table import RuleTable
from lscfg.io.tensors import Blocks
from lscfg.kernel import add_moments
from lscfg.log import warn
from lscfg.model.context import ContextModel
from lscfg.model.parameters import OneState, Parameters, rounded, save_model
from lscfg.parallel.engine import Serial, in_threads
from lscfg.parallel.threads import Threads

SMALLEST_SINGULAR_VALUE = 1e-8
"""Directions whose singular value is less than this part of the first are noise, and are dropped."""

DENSE = 400
"""Smaller covariance matrices are decomposed as dense ones."""

SVD = ("arpack", "randomized")
"""Ways to decompose the covariance. The spectrum of rule indicators is flat, which suits ARPACK: for m = 16 on 49,500
sentence pairs (benchmarks/spectral.py) it takes 0.6 s to machine precision, the randomized method 4 s to 5e-4."""


@dataclass(frozen=True)
class SpectralSettings:
    """What the spectral estimator may be told.

    Attributes:
        rank: m, the number of hidden states, at least 1.
        inside, outside: feature templates (see ``lscfg.estimate.features``).
        seed: of the start vector of the SVD.
        min_count: features of fewer examples are dropped.
        scaling: whether columns are scaled by their frequency.
        smoothing: C of Cohen et al. 2013: tokens' square root at which a rule's own moments weigh as much as those of
            lower order; 0 for none.
        max_targets: most frequent target sides that a source side keeps; 0 for all.
        svd: ``"arpack"`` or ``"randomized"``.
        sources: files that feature templates need.
        threads: workers; the result does not depend on them.
    """

    rank: int = 8
    inside: tuple[str, ...] = INSIDE
    outside: tuple[str, ...] = OUTSIDE
    seed: int = 1
    min_count: int = 1
    scaling: bool = True
    smoothing: float = 0.0
    max_targets: int = 0
    svd: str = "arpack"
    sources: FeatureSources = FeatureSources()  # noqa: RUF009 (it cannot be changed)
    threads: int = 1

    def __post_init__(self) -> None:
        check_templates(self.inside, True)
        check_templates(self.outside, False)
        self.sources.check((*self.inside, *self.outside))
        if self.rank < 1:
            raise InputError(f"the number of hidden states must be at least 1, got {self.rank}")
        if self.min_count < 1:
            raise InputError(f"the feature threshold must be at least 1, got {self.min_count}")
        if not 0 <= self.smoothing < np.inf:
            raise InputError(f"smoothing must be a number of at least 0, got {self.smoothing}")
        if self.max_targets < 0:
            raise InputError(f"the number of target sides must be at least 0, got {self.max_targets}")
        if self.svd not in SVD:
            raise InputError(f"svd: one of {', '.join(SVD)}, got {self.svd!r}")
        if self.threads < 1:
            raise InputError(f"the number of threads must be at least 1, got {self.threads}")


class RowBlocks:
    """A sparse matrix whose products with dense ones are made by blocks of rows, on as many threads.

    A row's product is one sum, whichever block it is in: the values do not depend on the number of threads.
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


def truncated_svd(
    matrix: sparse.csr_matrix, rank: int, seed: int, method: str = "arpack", threads: int = 1
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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
        warn(f"only {kept} of {rank} singular values are above the noise; the model gets {kept} states")
    signs = np.sign(u[np.abs(u[:, :kept]).argmax(axis=0), np.arange(kept)])
    # rows side by side in memory: products with sparse matrices, and the kernel, want them so
    return np.ascontiguousarray(u[:, :kept] * signs), sigma[:kept], np.ascontiguousarray(vt[:kept].T * signs)


def _arpack(matrix: sparse.csr_matrix, rank: int, seed: int, threads: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """U, singular values in falling order and V' of a matrix of at least as many rows as columns.

    Most of ARPACK's time goes by the number of columns, and many of them (features of few examples) have one entry.
    Those with it in the same row are one direction: a column of their norm in their place changes neither A A' nor,
    with it, U and the singular values.
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
    """U, singular values and V' of the range of a random sample of the columns' combinations (Halko, Martinsson & Tropp
    2011, Algorithms 4.4 and 5.1). A flat spectrum, as that of rule indicators, needs the many power iterations."""
    width = min(rank + oversampling, min(matrix.shape))
    basis = np.random.default_rng(seed).normal(size=(matrix.shape[1], width))
    transposed = matrix.T.tocsr()
    for _ in range(iterations):
        left, _ = np.linalg.qr(matrix @ basis)
        basis, _ = np.linalg.qr(transposed @ left)
    left, _ = np.linalg.qr(matrix @ basis)
    u, sigma, vt = np.linalg.svd((transposed @ left).T, full_matrices=False)
    return (left @ u)[:, :rank], sigma[:rank], vt[:rank]


@dataclass(frozen=True)
class Embedding:
    """Every node in the latent space.

    Attributes:
        y: float64 [nodes, m], Y(t) = U' phi(t); z: float64 [nodes, m], Z(o) = S^-1 V' psi(o).
        sigma: float64 [m], singular values.
        columns: features of each template, for ``"inside"`` and ``"outside"``.
    """

    y: np.ndarray
    z: np.ndarray
    sigma: np.ndarray
    columns: dict[str, dict[str, int]]


def embed(examples: Examples, settings: SpectralSettings) -> Embedding:
    """Steps 0 and 1: decomposes the covariance of scaled inside and outside features (Eq. 1) and projects every node.

    Raises:
        InputError: too little text for the rank asked, or files that do not fit the corpus.
    """

    def matrix(side: tuple[tuple[str, ...], bool]) -> tuple[sparse.csr_matrix, dict[str, int]]:
        templates, inside = side
        features = extract(examples, templates, inside, settings.sources, settings.min_count)
        scaled = scale(features.matrix, examples.is_example) if settings.scaling else features.matrix
        return scaled, features.columns

    with in_threads(min(settings.threads, 2)) as engine:
        (phi, *inside), (psi, *outside) = engine.map(matrix, [(settings.inside, True), (settings.outside, False)])
    columns = {"inside": inside[0], "outside": outside[0]}
    for side, sizes in columns.items():
        log.info(f"{side} features " + ", ".join(f"{name} {n}" for name, n in sizes.items()))
    covariance = (phi[examples.is_example].T @ psi[examples.is_example]) / examples.n_examples
    u, sigma, v = truncated_svd(covariance.tocsr(), settings.rank, settings.seed, settings.svd, settings.threads)
    log.info(
        f"{covariance.nnz} covariances; singular values "
        + " ".join(f"{value:.4f}" for value in sigma)
        + f"; condition {sigma[0] / sigma[-1]:.1f}"
    )
    y, z = RowBlocks(phi, settings.threads) @ u, RowBlocks(psi, settings.threads) @ (v / sigma)
    return Embedding(y, z, sigma, columns)


@dataclass(frozen=True)
class Estimate:
    """Parameters of which the largest, those of two nonterminals, are made when they are asked for.

    At m = 16 they are 600 MB for 50,000 sentence pairs: made in blocks that stay in the cache and go to the file one by
    one, they take half of the time and a third of the memory that they take as one array.

    Attributes: as those of ``Parameters``, ``tensors`` being blocks.
    """

    rules: RuleTable
    tensors: tuple[Blocks, Blocks, Blocks]
    root: np.ndarray
    unk: np.ndarray
    about: dict[str, Any]
    one: OneState
    context: ContextModel | None = None

    @property
    def rank(self) -> int:
        """m, the number of hidden states."""
        return len(self.root)

    def parameters(self) -> Parameters:
        """All of them in memory."""
        first, second, third = (blocks.array() for blocks in self.tensors)
        return Parameters(self.rules, (first, second, third), self.root, self.unk, self.about, self.one, self.context)

    def save(self, path: str | os.PathLike[str], precision: DTypeLike = np.float32) -> None:
        """Writes the model file, the same bytes as ``parameters().save``.

        Raises:
            InputError: a value is not finite in the precision, or the file cannot be written.
        """
        save_model(path, self, self.tensors, precision)


def estimate_spectral(derivations: Derivations, settings: SpectralSettings) -> Parameters:
    """The parameters of ``spectral_estimate`` in memory."""
    return spectral_estimate(derivations, settings).parameters()


def spectral_estimate(derivations: Derivations, settings: SpectralSettings) -> Estimate:
    """C^r = count(r) / M x the mean over tokens of Z(o) (x) Y(t2) (x) Y(t3); C^S = the mean of Y over roots.

    Step 0 decomposes the covariance of scaled inside and outside features (Eq. 1), step 1 projects every node to
    Y(t) = U' phi(t) and Z(o) = S^-1 V' psi(o), steps 2 and 3 sum outer products. Singletons without nonterminals are
    estimated as one OOV rule, whose tensor they share.

    Raises:
        InputError: too little text for the rank asked, or files that do not fit the corpus.
    """
    examples = Examples.of(derivations)
    if not examples.n_examples:
        raise InputError("the derivations hold no rule of at most two nonterminals")
    embedding = embed(examples, settings)
    about: dict[str, Any] = {
        "method": "spectral",
        "rule tokens": examples.n_examples,
        "sentences": len(derivations),
        "inside templates": list(settings.inside),
        "outside templates": list(settings.outside),
        "features by template": embedding.columns,
        "feature threshold": settings.min_count,
        "feature scaling": settings.scaling,
        "singular values": embedding.sigma.tolist(),
        "condition": float(embedding.sigma[0] / embedding.sigma[-1]),
        "rank asked": settings.rank,
        "rank kept": len(embedding.sigma),
        "smoothing": settings.smoothing,
        "targets of a source side": settings.max_targets or "all",
        "svd": settings.svd,
        "seed": settings.seed,
    }
    about |= {
        f"{name} file": os.path.basename(path) for name, path in vars(settings.sources).items() if path is not None
    }
    return from_embedding(examples, embedding.y, embedding.z, settings, about)


def from_embedding(
    examples: Examples, y: np.ndarray, z: np.ndarray, settings: SpectralSettings, about: dict[str, Any]
) -> Estimate:
    """Steps 2 and 3 for embedded nodes, float64 [nodes, m] each."""
    y, z = np.ascontiguousarray(y), np.ascontiguousarray(z / examples.n_examples)
    kept = keep_targets(examples, settings.max_targets)
    everything = np.ones(len(kept), bool)
    means = (np.zeros(0), np.zeros(0))
    if settings.smoothing:
        means = y[examples.is_example].mean(axis=0), z[examples.is_example].mean(axis=0)
    # singletons share their mass before any of them is dropped
    lexical = _moments(examples, everything, 0, y, z, means, settings).array()
    lexical, unk = spread_oov(lexical, by_arity(examples.counts, examples)[0])
    lexical = lexical[by_arity(kept, examples)[0]]
    tensors = (
        Blocks(lexical.shape, lambda precision: iter([rounded(lexical, precision)])),
        _moments(examples, kept, 1, y, z, means, settings),
        _moments(examples, kept, 2, y, z, means, settings),
    )
    roots = examples.is_root & examples.is_example
    root = y[roots].mean(axis=0) if roots.any() else y[examples.is_root].mean(axis=0)
    rules = examples.rules if kept.all() else examples.rules.select(np.nonzero(kept)[0])
    return Estimate(rules, tensors, root, unk, about, one_state(examples, kept))


BLOCK = 1 << 20
"""Values of a block of tensors: it should stay in the cache while tokens are added to it."""


def _moments(
    examples: Examples,
    kept: np.ndarray,
    arity: int,
    y: np.ndarray,
    z: np.ndarray,
    means: tuple[np.ndarray, np.ndarray],
    settings: SpectralSettings,
) -> Blocks:
    """Sums over each kept rule's tokens of Z (x) Y ...: [rules, m], [., m, m] or [., m, m, m]; means for smoothing."""
    m = y.shape[1]
    chosen = kept & (examples.rules.arity == arity)
    number = np.cumsum(chosen) - 1
    nodes = np.nonzero(examples.is_example)[0]
    nodes = nodes[chosen[examples.type[nodes]]]
    # by rule, for the blocks; stable, so that sums keep the order of the tokens
    nodes = nodes[np.argsort(examples.type[nodes], kind="stable")]
    rows = number[examples.type[nodes]]
    n, size = int(chosen.sum()), max(BLOCK // m ** (arity + 1), 1)
    borders = np.searchsorted(rows, np.arange(0, n + size, size))

    # a sum over tokens cannot be larger; where even that is far from the largest number, values need no look
    bound = np.abs(z).max(initial=0) * np.abs(y).max(initial=0) ** arity * len(nodes)
    safe = bool(bound < np.finfo(np.float32).max / 2) and not settings.smoothing

    def make(spaces: list[np.ndarray], precision: np.dtype, block: int) -> np.ndarray:
        first = block * size
        out = spaces[block % len(spaces)][: min(size, n - first)]
        out.fill(0)
        tokens = slice(borders[block], borders[block + 1])
        here, local = nodes[tokens], rows[tokens] - first
        children = examples.children[here, :arity]
        add_moments(local, here, children, z, y, out, max(settings.threads - 1, 1))
        if arity and settings.smoothing:
            smooth(out, local, here, children, z, y, means, settings.smoothing)
        return out.astype(precision, copy=False) if safe else rounded(out, precision)

    def parts(precision: np.dtype) -> Iterator[np.ndarray]:
        # while a block is written, the next is made beside it in the other space
        engine = Threads(1, ahead=2) if settings.threads > 1 else Serial()
        spaces = [np.empty((min(size, n), *[m] * (arity + 1))) for _ in range(min(settings.threads, 2))]
        with engine:
            yield from engine.map(partial(make, spaces, precision), range(len(borders) - 1))

    return Blocks((n, *[m] * (arity + 1)), parts)


def smooth(
    sums: np.ndarray,
    rows: np.ndarray,
    nodes: np.ndarray,
    children: np.ndarray,
    z: np.ndarray,
    y: np.ndarray,
    means: tuple[np.ndarray, np.ndarray],
    c: float,
) -> None:
    """Interpolates the moments of rules of one or two nonterminals with those of lower order, in place.

    Cohen et al. 2013, section 5.4: with E the mean of a rule's Z (x) Y2 (x) Y3, E2 the mean of the three products of a
    pair's second moment and the third's mean, E3 the product of the three means, E4 that of the means over all
    examples, and w = sqrt(count) / (C + sqrt(count)), a rule gets

        w E + (1 - w) (w E2 + (1 - w) (w E3 + (1 - w) E4))

    and a rule of one nonterminal, where pairs are all there is, w E + (1 - w) (w E3 + (1 - w) E4).

    Args:
        sums: float64 [rules, m, m] or [rules, m, m, m], sums over tokens; changed.
        rows, nodes: int64 [tokens], each token's rule and node; children: int64 [tokens, arity].
        means: the means over all examples of Y and Z, float64 [m] each.
        c: C > 0.
    """
    n, m = len(sums), z.shape[1]
    count = np.bincount(rows, minlength=n).astype(float)
    weight = np.sqrt(count) / (c + np.sqrt(count))
    over = 1 / np.maximum(count, 1)
    none = np.empty((len(rows), 0), np.int64)

    def mean(of: np.ndarray, index: np.ndarray) -> np.ndarray:
        out = np.zeros((n, m))
        add_moments(rows, index, none, of, of, out)
        return out * over[:, None]

    def pair(first: np.ndarray, index: np.ndarray, second: np.ndarray) -> np.ndarray:
        out = np.zeros((n, m, m))
        add_moments(rows, index, second[:, None], first, y, out)
        return out * over[:, None, None]

    mean_y, mean_z = means
    outside = mean(z, nodes)
    inside = [mean(y, child) for child in children.T]
    if sums.ndim == 3:

        def blend(part: slice) -> None:
            w, k = weight[part, None, None], count[part, None, None]
            lower = w * outside[part, :, None] * inside[0][part, None, :] + (1 - w) * np.outer(mean_z, mean_y)
            sums[part] = w * sums[part] + (1 - w) * k * lower

    else:
        left, right = pair(z, nodes, children[:, 0]), pair(z, nodes, children[:, 1])
        both = pair(y, children[:, 0], children[:, 1])
        overall = np.einsum("a,b,c->abc", mean_z, mean_y, mean_y)

        def blend(part: slice) -> None:
            w, k = weight[part, None, None, None], count[part, None, None, None]
            second, third = inside[0][part, None, :, None], inside[1][part, None, None, :]
            first = outside[part, :, None, None]
            pairs = left[part, :, :, None] * third + right[part, :, None, :] * second + both[part, None, :, :] * first
            lower = w * (first * second * third) + (1 - w) * overall
            sums[part] = w * sums[part] + (1 - w) * k * (w / 3 * pairs + (1 - w) * lower)

    size = max(BLOCK // 64 // m ** (sums.ndim - 1), 1)  # the products of a part stay in the cache too
    for first in range(0, n, size):
        blend(slice(first, first + size))
