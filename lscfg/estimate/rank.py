"""Number of hidden states by held-out moments: the rank whose covariance predicts that of other sentences best.

Sentence pairs, each with the trees of all its alignments, are split at random into halves A and B. With the singular
triples (u, s, v) of the covariance of A and rho = u' B v,

    ||B - U S V'||^2 = ||B||^2 - sum over k <= m of (2 s_k rho_k - s_k^2)

so the sum, a curve over m, is largest at the best rank. Noise has singular values, too, but no rho.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from lscfg import log
from lscfg.errors import InputError
from lscfg.estimate.features import INSIDE, OUTSIDE, extract_features, scale
from lscfg.estimate.occurrences import Occurrences
from lscfg.estimate.svd import truncated_svd
from lscfg.extract.derive import Derivations

MOST = 64
"""Maximum number of states that is tried: tensors of rules with two nonterminals grow with its cube."""

DEALS = 5
"""Number of random splits; each half predicts the other."""

EXAMPLES = 10
"""Minimum examples of a feature: rarer features are noise that hides the rank."""


@dataclass(frozen=True)
class HeldOutRank:
    """A chosen number of states.

    Attributes:
        m: the number.
        curve: float64 [numbers tried], median of the gains with 1, 2, ... states.
    """

    m: int
    curve: np.ndarray

    def tell(self) -> None:
        """Logs the choice and the curve at powers of two, as a share of its maximum."""
        most = self.curve[self.m - 1]
        tried = [1 << k for k in range(len(self.curve).bit_length()) if 1 << k <= len(self.curve)]
        shares = ", ".join(f"{m}: {self.curve[m - 1] / most:.1%}" for m in tried) if most > 0 else "none"
        log.info(f"m = {self.m} hidden states, by held-out moments; gain with fewer or more: {shares}")


def rank_of_derivations(derivations: Derivations, forests: bool, seed: int, threads: int = 1) -> HeldOutRank:
    """Chooses the number of states by the default features of spectral estimation, and logs the choice.

    Args:
        forests: expect moments over all minimal derivations instead of one tree.

    Raises:
        InputError: the derivations hold nothing to count, or see ``held_out_rank``.
    """
    examples, seen = Occurrences.of(derivations, forests, threads)
    chosen, weight = seen.is_example, seen.node_weight
    features = (
        extract_features(examples, INSIDE, True, seen=seen),
        extract_features(examples, OUTSIDE, False, seen=seen),
    )
    phi, psi = (scale(side.matrix, chosen, weight, side.squares)[chosen] for side in features)
    some = None if weight is None else weight[chosen]
    found = held_out_rank(phi, psi, seen.pair(examples)[chosen], some, seed, threads=threads)
    found.tell()
    return found


def held_out_rank(
    phi: sparse.csr_matrix,
    psi: sparse.csr_matrix,
    pair: np.ndarray,
    weight: np.ndarray | None,
    seed: int,
    method: str = "arpack",
    threads: int = 1,
) -> HeldOutRank:
    """Chooses the number of states.

    Args:
        phi, psi: scaled inside and outside features of the examples, [examples, columns] each.
        pair: int64 [examples], the sentence pair of each example.
        weight: float64 [examples], weight of each example; None: 1.
        seed, method, threads: as for ``truncated_svd``; the seed also splits the pairs.

    Raises:
        InputError: no feature has enough examples, or halves of the text have no feature in common.
    """
    phi, psi = _frequent(phi), _frequent(psi)
    if not min(phi.shape[1], psi.shape[1]):
        raise InputError(f"no feature has {EXAMPLES} examples, so m cannot be chosen; set m, or use more text")
    pairs = int(pair.max(initial=-1)) + 1
    curves = []
    for deal in range(DEALS):
        half = np.random.default_rng([seed, deal]).permutation(pairs) < pairs // 2
        parts = [_covariance(phi, psi, half[pair] == side, weight) for side in (True, False)]
        for ours, held_out in (parts, parts[::-1]):
            curves.append(_gains(ours, held_out, seed, method, threads))
    length = max(map(len, curves))
    curve = np.median([np.pad(one, (0, length - len(one)), mode="edge") for one in curves], axis=0)
    return HeldOutRank(int(curve.argmax()) + 1, curve)


def _frequent(features: sparse.csr_matrix) -> sparse.csr_matrix:
    """The columns with enough examples."""
    return features[:, np.bincount(features.indices, minlength=features.shape[1]) >= EXAMPLES]


def _covariance(
    phi: sparse.csr_matrix, psi: sparse.csr_matrix, chosen: np.ndarray, weight: np.ndarray | None
) -> sparse.csr_matrix:
    """The mean of the outer products of some examples."""
    outside = psi[chosen]
    if weight is not None:
        outside.data *= np.repeat(weight[chosen], np.diff(outside.indptr))
    return ((phi[chosen].T @ outside) / max(int(chosen.sum()), 1)).tocsr()


def _gains(ours: sparse.csr_matrix, held_out: sparse.csr_matrix, seed: int, method: str, threads: int) -> np.ndarray:
    """The curve of one half as a prediction of the other."""
    with log.held_back():  # of a rank that is too small, which ends the curve
        u, sigma, v = truncated_svd(ours, min(MOST, *ours.shape), seed, method, threads)
    rho = np.einsum("ik,ik->k", u, held_out @ v)
    return np.asarray(np.cumsum(2 * sigma * rho - sigma**2))
