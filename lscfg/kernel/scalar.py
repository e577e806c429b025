"""Sums, maxima and expectations over the derivations of any forest, with one weight for each application.

A derivation's weight is the product of its applications' weights. Weights are natural logarithms, float64 [n_apps];
``-inf`` makes an application impossible. The functions keep no state, so threads may share a forest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lscfg._kernel import ffi, lib
from lscfg.kernel.base import check
from lscfg.kernel.forest import Forest

SUM, MAX = int(lib.LSCFG_SUM), int(lib.LSCFG_MAX)
"""Semirings: the sum over derivations, and the best derivation."""


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
        raise ValueError(f"expected {n} values, one for each application, got shape {np.shape(array)}")
    return np.ascontiguousarray(array, np.float64)


def _integers(array: np.ndarray, kind: str) -> object:
    return ffi.from_buffer(f"{kind}[]", array)


def _reals(array: np.ndarray) -> object:
    return ffi.from_buffer("double[]", array)
