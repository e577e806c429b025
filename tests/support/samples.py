"""Samples of derivations, and sums of features over applications, from the C interface of the kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lscfg._kernel import ffi, lib
from lscfg.kernel.base import check
from lscfg.kernel.forest import Forest
from lscfg.kernel.scalar import _integers, _reals, _values

_ROOM = 1 << 22
"""Applications that the kernel's buffer holds at once; pages that no sample reaches cost nothing."""

_ROWS = (np.int64, np.int32, np.float64)


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
