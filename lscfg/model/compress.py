"""Models of low rank: tensors of rules with two nonterminals by CP decomposition (Cohen & Collins 2012)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from lscfg import log
from lscfg.errors import InputError
from lscfg.io import tensors
from lscfg.model.parameters import Parameters, rounded, save_low_rank, save_sparse
from lscfg.model.sparse import SparseTensors, sparse
from lscfg.parallel.choose import in_threads

# Each tensor is decomposed by itself, by alternating least squares; a basis shared by all rules was far worse. Signed
# estimates compress badly: where g is the remainder of a cancellation, small errors of tensors become large errors of
# marginals.

BLOCK = 1 << 18
"""Values of the tensors that are decomposed together, few enough for the cache."""


@dataclass(frozen=True)
class CPSettings:
    """Settings of tensor decomposition.

    Attributes:
        rank: most components of a tensor, 1 or more.
        tolerance: a tensor gets the fewest components of 1, 2, 4, ... and ``rank`` whose residual has no greater
            share of its norm, in [0, 1).
        iterations: most sweeps of alternating least squares for each number of components.
        threads: number of threads; the result does not depend on it.
    """

    rank: int
    tolerance: float = 0.01
    iterations: int = 100
    threads: int = 1

    def __post_init__(self) -> None:
        if self.rank < 1 or self.iterations < 1 or self.threads < 1:
            raise InputError("rank, iterations and threads must be 1 or more")
        if not 0 <= self.tolerance < 1:
            raise InputError(f"the tolerance is a share in [0, 1), not {self.tolerance}")


@dataclass(frozen=True)
class LowRank:
    """Tensors as sums of outer products: tensor k is the sum of u (x) v (x) w over its components.

    Attributes:
        components: int64 [tensors + 1], first component of each tensor.
        factors: float32 [components, 3, m]: u of the left-hand side, v and w of the nonterminals in source order.
        error: float64 [tensors], norm of the residual over the norm of the tensor; 0 for a tensor of zeros.
    """

    components: np.ndarray
    factors: np.ndarray
    error: np.ndarray

    @property
    def ranks(self) -> np.ndarray:
        """int64 [tensors], number of components."""
        return np.diff(self.components)


def low_rank(full: np.ndarray, settings: CPSettings) -> LowRank:
    """CP decompositions of tensors [n, m, m, m], by alternating least squares from the tensors' leading subspaces.

    Raises:
        InputError: a component is too large for single precision.
    """
    n, m = full.shape[:2]
    size = max(BLOCK // m**3, 1)
    starts = range(0, n, size)
    blocks = (full[first : first + size].astype(np.float64) for first in starts)
    with in_threads(settings.threads) as engine:
        parts = engine.map(partial(_decompose_block, settings), blocks)
        found = list(log.progress(parts, "decomposing", len(starts)))
    ranks = np.concatenate([np.zeros(0, np.int64), *(part[0] for part in found)])
    factors = np.concatenate([np.zeros((0, 3, m), np.float32), *(part[1] for part in found)])
    if not np.isfinite(factors).all():
        raise InputError("a component is too large for single precision")
    error = np.concatenate([np.zeros(0), *(part[2] for part in found)])
    return LowRank(np.concatenate([[0], np.cumsum(ranks)]), factors, error)


def _decompose_block(settings: CPSettings, full: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ranks, factors of all tensors one after the other, and errors."""
    n, m = full.shape[:2]
    norm = np.linalg.norm(full.reshape(n, -1), axis=1)
    left = np.nonzero(norm > 0)[0]
    parts: list[np.ndarray] = [np.zeros((0, 3, m))] * n
    error = np.zeros(n)
    for rank in _ranks(settings.rank):
        if not len(left):
            break
        factors, residual = _als(full[left] / norm[left, None, None, None], rank, settings)
        done = (residual <= settings.tolerance) | (rank == settings.rank)
        for index in np.nonzero(done)[0]:
            scaled = factors[index].copy()
            scaled[:, 0] *= norm[left[index]]
            parts[left[index]] = scaled
        error[left[done]] = residual[done]
        left = left[~done]
    with np.errstate(over="ignore"):
        together = np.concatenate(parts).astype(np.float32)
    return np.array([len(part) for part in parts], np.int64), together, error


def _ranks(most: int) -> Iterator[int]:
    rank = 1
    while rank < most:
        yield rank
        rank *= 2
    yield most


def _als(full: np.ndarray, rank: int, settings: CPSettings) -> tuple[np.ndarray, np.ndarray]:
    """Components [n, rank, 3, m] of tensors [n, m, m, m] of norm 1, and the norms of the residuals, [n]."""
    n, m = full.shape[:2]
    unfolded = [np.moveaxis(full, 1 + mode, 1).reshape(n, m, m * m) for mode in range(3)]
    factors = [_leading(matrix, rank, mode) for mode, matrix in enumerate(unfolded)]
    residual = np.ones(n)
    going = np.arange(n)
    for _ in range(settings.iterations):
        tensors_now = [matrix[going] for matrix in unfolded]
        here = [factor[going] for factor in factors]
        for mode in range(3):
            a, b = (here[k] for k in range(3) if k != mode)
            gram = (a @ a.transpose(0, 2, 1)) * (b @ b.transpose(0, 2, 1))
            gram += (1e-12 * np.trace(gram, axis1=1, axis2=2) + 1e-300)[:, None, None] * np.eye(rank)
            products = (a[:, :, :, None] * b[:, :, None, :]).reshape(len(going), rank, m * m)
            moments = products @ tensors_now[mode].transpose(0, 2, 1)
            here[mode] = np.linalg.solve(gram, moments)
            if mode < 2:  # the last one carries the scale
                here[mode] /= np.maximum(np.linalg.norm(here[mode], axis=2, keepdims=True), 1e-300)
        made = here[2].transpose(0, 2, 1) @ products
        after = np.linalg.norm((tensors_now[2] - made).reshape(len(going), -1), axis=1)
        for mode in range(3):
            factors[mode][going] = here[mode]
        slow = residual[going] - after < 1e-4 * after
        residual[going] = after
        going = going[~slow & (after > settings.tolerance)]
        if not len(going):
            break
    return np.stack(factors, axis=2), residual


def _leading(matrix: np.ndarray, rank: int, mode: int) -> np.ndarray:
    """A start [n, rank, m]: the leading left singular vectors of the unfoldings, and random vectors beyond m."""
    n, m = matrix.shape[:2]
    vectors = np.linalg.eigh(matrix @ matrix.transpose(0, 2, 1))[1][:, :, ::-1].transpose(0, 2, 1)[:, :rank]
    if rank > m:
        more = np.random.default_rng(mode).normal(size=(rank - m, m)) / np.sqrt(m)
        vectors = np.concatenate([vectors, np.broadcast_to(more, (n, rank - m, m))], axis=1)
    return np.array(vectors)


MOST_DROPPED = 0.01
"""The largest share of the parameters' sum that a sparse model may lack."""


def make_sparse(path: str | os.PathLike[str], output: str | os.PathLike[str], share: float) -> SparseTensors:
    """Writes the model with sparse tensors for its rules of one and two nonterminals; returns those of two.

    Args:
        share: of a tensor's sum below which an entry is dropped, in (0, 1).

    Raises:
        InputError: the model cannot be read, has negative parameters, or would lose more than a hundredth of its sum.
    """
    if not 0 < share < 1:
        raise InputError(f"the share of an entry must lie between 0 and 1, not {share}")
    parameters, single = Parameters.load(path), np.dtype(np.float32)
    one, two = (sparse(rounded(np.asarray(tensors), single), share) for tensors in parameters.tensors[1:])
    worst = max(one.dropped, two.dropped)
    if worst > MOST_DROPPED:
        raise InputError(f"would lose {worst:.1%} of the sum of its parameters; use less than --sparse {share:g}", path)
    about = parameters.about | {"least share of an entry": share, "dropped": round(worst, 6)}
    save_sparse(output, parameters, one, two, about)
    return two


def compress(path: str | os.PathLike[str], output: str | os.PathLike[str], settings: CPSettings) -> LowRank:
    """Writes the model with tensors of low rank for its rules of two nonterminals.

    Raises:
        InputError: the model cannot be read, or already has low rank.
    """
    if "C2.components" in tensors.load(path, "model")[0]:
        raise InputError("the model already has low rank; compress the original model", path)
    parameters = Parameters.load(path)
    found = low_rank(np.asarray(parameters.tensors[2]), settings)
    about = parameters.about | {
        "components at most": settings.rank,
        "tolerance of a tensor": settings.tolerance,
        "components": int(found.components[-1]),
    }
    save_low_rank(output, parameters, found.components, found.factors, about)
    return found
