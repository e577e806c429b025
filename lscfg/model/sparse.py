"""Sparse tensors: small entries are dropped, the others stored in 8 bits.

Of a tensor of 16 states, 128 of 4,096 entries hold 98.5 % of the sum. Entries below a share of the tensor's sum become
0; if even the largest entry is below that share, entries below half of the largest become 0. The others become powers
of one base, times a factor of the tensor that restores the sum.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lscfg.errors import InputError
from lscfg.io.layout import arrays_below, check_layout, check_offsets, check_range, named_from
from lscfg.model.shared import SharedTensors

LAYOUT = {
    "index": "int32 [rules]",
    "first": "int64 [tensors + 1]",
    "positions": "uint16 [entries]",
    "codes": "uint8 [entries]",
    "scales": "float32 [tensors]",
    "levels": "float32 [256]",
}
"""The arrays of one arity in a file, without ``C1.`` or ``C2.`` (docs/reference/formats.md)."""

LEVELS = 256
"""Number of values that entries have before they are scaled."""

MOST_ENTRIES = 1 << 16
"""Largest number of entries of a whole tensor, since a position takes 16 bits."""

BLOCK = 256
"""Tensors that are converted at a time."""


@dataclass(frozen=True, eq=False)
class SparseTensors:
    """Tensors of one arity in the form of a file.

    Attributes:
        index: int32 [rules], the tensor of each rule.
        first: int64 [tensors + 1], first entry of each tensor.
        positions: uint16 [entries], places in the flat tensor; codes: uint8 [entries], numbers of levels.
        scales: float32 [tensors]; levels: float32 [256]. An entry is the product of a scale and a level.
        dropped: share of the sum of all rules' tensors that small entries had.
    """

    index: np.ndarray
    first: np.ndarray
    positions: np.ndarray
    codes: np.ndarray
    scales: np.ndarray
    levels: np.ndarray
    dropped: float

    def arrays(self, name: str) -> dict[str, np.ndarray]:
        """The arrays of a file by name, such as ``C2.index``."""
        return {f"{name}.{key}": getattr(self, key) for key in LAYOUT}


def sparse(tensors: np.ndarray, share: float) -> SparseTensors:
    """Drops entries below a share of their tensor's sum, and codes the others.

    Args:
        tensors: float32 [rules, m, ...], not negative.
        share: in (0, 1).

    Raises:
        InputError: an entry is negative, or a tensor has more than 65,536 entries.
    """
    flat = tensors.reshape(len(tensors), int(np.prod(tensors.shape[1:])))
    if flat.shape[1] > MOST_ENTRIES:
        raise InputError(f"tensors of {flat.shape[1]:,} entries; sparse ones have {MOST_ENTRIES:,} at most")
    if flat.size and flat.min() < 0:
        raise InputError("the model has negative parameters; only models of em, clusters and mle can be sparse")
    numbers: dict[bytes, int] = {}
    names = [hashlib.blake2b(row, digest_size=16).digest() for row in np.ascontiguousarray(flat)]
    index = np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int32)
    rows = np.unique(index, return_index=True)[1]  # the first rule of each tensor
    kept, counts, parts = np.zeros(len(rows)), np.zeros(len(rows), np.int64), []
    sums = np.zeros(len(rows))
    for begin in range(0, len(rows), BLOCK):
        values = flat[rows[begin : begin + BLOCK]].astype(np.float64)
        total = values.sum(1)
        largest = values.max(1, initial=0)
        least = np.where(largest < share * total, largest / 2, share * total)  # a flat tensor keeps its larger entries
        values[values < least[:, None]] = 0
        at, positions = np.nonzero(values)
        sums[begin : begin + BLOCK], kept[begin : begin + BLOCK] = total, values.sum(1)
        counts[begin : begin + BLOCK] = np.bincount(at, minlength=len(values))
        largest = np.maximum(values.max(1, initial=0), np.finfo(np.float64).tiny)
        parts.append((positions, values[at, positions] / largest[at]))
    positions = np.concatenate([np.zeros(0, np.int64), *(part[0] for part in parts)])
    ratios = np.concatenate([np.ones(1), *(part[1] for part in parts)])[1:]  # in (0, 1]
    step = max(-np.log2(ratios.min(initial=1.0)), 1e-6) / (LEVELS - 1)
    codes = np.rint(-np.log2(ratios) / step).astype(np.uint8)
    levels = np.exp2(-step * np.arange(LEVELS)).astype(np.float32)
    first = np.concatenate([[0], np.cumsum(counts)])
    owner = np.repeat(np.arange(len(rows)), counts)
    coded = np.bincount(owner, levels[codes].astype(np.float64), len(rows))
    scales = np.divide(sums, coded, out=np.zeros(len(rows)), where=coded > 0).astype(np.float32)
    all_sums = float(sums[index].sum())
    dropped = 1 - float(kept[index].sum()) / all_sums if all_sums else 0.0
    return SparseTensors(index, first.astype(np.int64), positions.astype(np.uint16), codes, scales, levels, dropped)


def unpack_sparse(arrays: Mapping[str, np.ndarray], name: str, shape: tuple[int, ...]) -> SharedTensors:
    """The tensors float32 [rules, *shape] of sparse arrays.

    Raises:
        ValueError: names an array that is missing or wrong.
    """
    prefix = f"{name}."
    own = arrays_below(prefix, arrays)
    length = int(np.prod(shape))
    with named_from(prefix):
        sizes = check_layout(own, LAYOUT)
        check_range("index", own["index"], 0, sizes["tensors"])
        check_range("positions", own["positions"], 0, length)
        check_offsets("first", own["first"], sizes["entries"])
    owner = np.repeat(np.arange(sizes["tensors"]), np.diff(own["first"]))
    with np.errstate(all="ignore"):  # of a damaged file; the caller refuses what is not finite
        values = own["scales"][owner] * own["levels"][own["codes"]]
    different = np.zeros((sizes["tensors"], length), np.float32)
    different[owner, own["positions"]] = values
    return SharedTensors(own["index"], np.arange(length, dtype=np.int32), different, shape)
