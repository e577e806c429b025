"""Sums, maxima, samples and expectations over the derivations of any forest, with one weight for each application.

A derivation's weight is the product of its applications' weights. Weights are natural logarithms, float64 [n_apps];
``-inf`` makes an application impossible. The functions keep no state, so threads may share a forest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lscfg._kernel import ffi, lib
from lscfg.kernel.base import check
from lscfg.kernel.forest import Forest

SUM, MAX = int(lib.LSCFG_SUM), int(lib.LSCFG_MAX)
"""Semirings: the sum over derivations, and the best derivation."""

_ROOM = 1 << 22
"""Applications that the kernel's buffer holds at once; pages that no sample reaches cost nothing."""


@dataclass(frozen=True)
class Inside:
    """Inside values, and the share of each application in them."""

    nodes: np.ndarray
    """float64 [n_nodes], logarithm of the sum or maximum over the derivations of each node; ``-inf`` if none is
    possible.
    """
    share: np.ndarray
    """float64 [n_apps]. Sum: probability of the application given its head, 0 at impossible nodes. Maximum: logarithm
    of the application's value over its head's value, 0 for the best, otherwise negative.
    """

    @property
    def log_g(self) -> float:
        """The inside value of the root; ``-inf`` if no derivation is possible."""
        return float(self.nodes[-1])


@dataclass(frozen=True)
class ForestMarginals:
    """Marginals of applications and nodes."""

    log_g: float
    """Logarithm of the sum (or, from ``max_marginals``, the maximum) over all derivations."""
    apps: np.ndarray
    """float64 [n_apps]. Sum: probability that a derivation uses the application, 0 if no derivation is possible.
    Maximum: logarithm of the best derivation with the application over the best of all, ``-inf`` if none is
    possible.
    """
    nodes: np.ndarray
    """float64 [n_nodes], the same for nodes."""


@dataclass(frozen=True)
class BestDerivation:
    """The derivation of the highest weight."""

    score: float
    """Logarithm of its weight."""
    apps: np.ndarray
    """int32, its applications, depth first, tails in source order."""


@dataclass(frozen=True)
class SampledDerivations:
    """Derivations in the order of sampling, with repetitions."""

    offsets: np.ndarray
    """int64 [n + 1], where the applications of each derivation begin in ``apps``."""
    apps: np.ndarray
    """int32, depth first, tails in source order."""

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, number: int) -> np.ndarray:
        """Returns the applications of one derivation, int32."""
        if not 0 <= number < len(self):
            raise IndexError(f"derivation {number} of {len(self)}")
        return self.apps[self.offsets[number] : self.offsets[number + 1]]


def inside(forest: Forest, log_weight: np.ndarray, semiring: int = SUM) -> Inside:
    """Computes inside values and shares, by log-sum-exp (``SUM``) or by the maximum (``MAX``).

    Raises:
        InputError: a weight is NaN or +inf, or products of weights exceed 1e300 in logarithms.
    """
    weights = _values(log_weight, forest.n_apps)
    found = Inside(np.empty(forest.n_nodes), np.empty(forest.n_apps))
    error = ffi.new("lscfg_error *")
    check(
        lib.lscfg_forest_inside(
            forest._pointer, _reals(weights), semiring, _reals(found.nodes), _reals(found.share), error
        ),
        error,
    )
    return found


def marginals(forest: Forest, share: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns probabilities of applications [n_apps] and nodes [n_nodes], from the shares of ``inside`` for sums."""
    return _marginals(forest, SUM, share)


def expect(forest: Forest, log_weight: np.ndarray) -> ForestMarginals:
    """Runs ``inside`` and ``marginals``; the marginals are the gradient of ``log_g`` by ``log_weight``.

    Raises:
        InputError: as ``inside``.
    """
    weights = _values(log_weight, forest.n_apps)
    apps, nodes, log_g = np.empty(forest.n_apps), np.empty(forest.n_nodes), ffi.new("double *")
    error = ffi.new("lscfg_error *")
    check(
        lib.lscfg_forest_expect(forest._pointer, _reals(weights), log_g, _reals(apps), _reals(nodes), error),
        error,
    )
    return ForestMarginals(float(log_g[0]), apps, nodes)


def max_marginals(forest: Forest, log_weight: np.ndarray) -> ForestMarginals:
    """Compares the best derivation through each application and node with the best of all, for pruning.

    Raises:
        InputError: as ``inside``.
    """
    found = inside(forest, log_weight, MAX)
    return ForestMarginals(found.log_g, *_marginals(forest, MAX, found.share))


def viterbi(forest: Forest, log_weight: np.ndarray) -> BestDerivation | None:
    """Finds the best derivation, None if none is possible; ties go to the lowest application number at each node.

    Raises:
        InputError: as ``inside``.
    """
    found = inside(forest, log_weight, MAX)
    apps, n = np.empty(forest.n_nodes, np.int32), ffi.new("int32_t *")
    error = ffi.new("lscfg_error *")
    code = lib.lscfg_forest_viterbi(forest._pointer, _reals(found.share), _integers(apps, "int32_t"), n, error)
    check(code, error)
    return None if code == lib.LSCFG_NO_PARSE else BestDerivation(found.log_g, apps[: n[0]].copy())


def sample_derivations(
    forest: Forest, share: np.ndarray, n: int, seed: int, first: int = 0
) -> SampledDerivations | None:
    """Samples independent derivations number ``first .. first + n - 1`` of a seed; None if no derivation is possible.

    Number k depends on the seed, k and the shares alone: blocks sampled by threads join to the same list.

    Args:
        share: float64 [n_apps], not negative. Each node samples an application in proportion to its share. Shares of
            ``inside`` for sums sample derivations in proportion to their weights; ones sample every choice uniformly.
        n: number of derivations, at least 0.
        seed: 0 to 2^64 - 1.
        first: at least 0.

    Raises:
        InputError: a share is negative or not finite, or a sampled node has only shares of 0.
        ValueError: n or first is negative.
    """
    share = _values(share, forest.n_apps)
    if n < 0 or first < 0:
        raise ValueError(f"{n} samples from number {first} on")
    block = max(_ROOM // max(forest.n_nodes, 1), 1)
    lengths, drawn = [], []
    error = ffi.new("lscfg_error *")
    for begin in range(0, max(n, 1), block):
        count = min(block, n - begin)
        offsets, apps = np.empty(count + 1, np.int64), np.empty(count * forest.n_nodes, np.int32)
        buffers = _integers(offsets, "int64_t"), _integers(apps, "int32_t")
        code = lib.lscfg_forest_sample(forest._pointer, _reals(share), seed, first + begin, count, *buffers, error)
        check(code, error)
        if code == lib.LSCFG_NO_PARSE:
            return None
        lengths.append(np.diff(offsets))
        drawn.append(apps[: offsets[-1]].copy())
    return SampledDerivations(np.concatenate([[0], *lengths]).cumsum(), np.concatenate(drawn))


def covariance(forest: Forest, share: np.ndarray, value: np.ndarray) -> tuple[float, np.ndarray]:
    """Returns the mean of a sum over derivations, and its covariance with the number of uses of each application.

    This is the first-order expectation semiring of Li and Eisner (2009), for all applications at once. The covariance
    is the gradient of the mean by ``log_weight``: of the expected linear BLEU, for example, or of the risk.

    Args:
        share: float64 [n_apps], from ``inside`` for sums.
        value: float64 [n_apps], finite unless the share is 0; the value of a derivation is the sum over its
            applications.

    Returns:
        The mean, and float64 [n_apps]; zeros if no derivation is possible.
    """
    share, value = _values(share, forest.n_apps), _values(value, forest.n_apps)
    mean, out = ffi.new("double *"), np.empty(forest.n_apps)
    error = ffi.new("lscfg_error *")
    check(
        lib.lscfg_forest_covariance(forest._pointer, _reals(share), _reals(value), mean, _reals(out), error),
        error,
    )
    return float(mean[0]), out


def add_features(
    forest: Forest,
    amount: np.ndarray,
    features: tuple[np.ndarray, np.ndarray, np.ndarray],
    out: np.ndarray,
    row: np.ndarray | None = None,
) -> None:
    """Adds the features of all applications, each times an amount, to ``out`` in place.

    Args:
        amount: float64 [n_apps]; probabilities give expected features.
        features: compressed rows as in ``Grammar.features``: indptr int64, indices int32, values float64.
        out: float64 [n_features], contiguous.
        row: int32 [n_apps], the row of each application, -1 for none; None: application a has row a.

    Raises:
        ValueError: a row or a feature is out of range.
    """
    amount = _values(amount, forest.n_apps)
    indptr, indices, values = (np.ascontiguousarray(a, t) for a, t in zip(features, _ROWS, strict=True))
    row = np.arange(forest.n_apps, dtype=np.int32) if row is None else np.ascontiguousarray(row, np.int32)
    if row.shape != (forest.n_apps,) or (len(row) and not -1 <= row.min() <= row.max() < len(indptr) - 1):
        raise ValueError(f"rows of {forest.n_apps} applications in {len(indptr) - 1} rows of features")
    n = int(indptr[-1])
    if indptr[0] != 0 or (np.diff(indptr) < 0).any() or len(indices) < n or len(values) < n:
        raise ValueError(f"compressed rows of {n} values, {len(indices)} indices, {len(values)} values")
    if n and not 0 <= indices[:n].min() <= indices[:n].max() < len(out):
        raise ValueError(f"feature numbers beyond 0 to {len(out) - 1}")
    if out.dtype != np.float64 or not out.flags.c_contiguous:
        raise ValueError("the sums must be contiguous and of type float64")
    buffers = _integers(row, "int32_t"), _integers(indptr, "int64_t"), _integers(indices, "int32_t")
    lib.lscfg_forest_add_features(forest._pointer, _reals(amount), *buffers, _reals(values), _reals(out))


_ROWS = (np.int64, np.int32, np.float64)


def _marginals(forest: Forest, semiring: int, share: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    share = _values(share, forest.n_apps)
    apps, nodes = np.empty(forest.n_apps), np.empty(forest.n_nodes)
    error = ffi.new("lscfg_error *")
    check(
        lib.lscfg_forest_marginals(forest._pointer, semiring, _reals(share), _reals(apps), _reals(nodes), error),
        error,
    )
    return apps, nodes


def _values(array: np.ndarray, n: int) -> np.ndarray:
    """Returns the values of all applications in the kernel's type."""
    if np.shape(array) != (n,):
        raise ValueError(f"{n} values wanted, one for each application, got shape {np.shape(array)}")
    return np.ascontiguousarray(array, np.float64)


def _integers(array: np.ndarray, kind: str) -> Any:
    return ffi.from_buffer(f"{kind}[]", array)


def _reals(array: np.ndarray) -> Any:
    return ffi.from_buffer("double[]", array)
