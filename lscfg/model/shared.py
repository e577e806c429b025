"""Tensors of which several rules share one, as a model file stores them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from lscfg.io.tensors import Blocks

BLOCK = 1 << 22
"""Bytes of tensors that are unpacked at a time."""


@dataclass(frozen=True, eq=False)
class SharedTensors:
    """The tensors of the rules of one arity, an array [rules, m, ...] that is unpacked row by row on demand.

    With 16 states, the tensors of 453,385 rules of two nonterminals would take 7.4 GB; 65,800 of them differ.

    Attributes:
        index: int32 [rules], the tensor of each rule.
        support: int32 [entries], ascending positions of the stored entries in a flat tensor; others are 0.
        values: float32 or float64 [tensors, entries].
        one: shape of one tensor.
    """

    index: np.ndarray
    support: np.ndarray
    values: np.ndarray
    one: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.index), *self.one)

    @property
    def dtype(self) -> np.dtype:
        result: np.dtype = self.values.dtype
        return result

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def __len__(self) -> int:
        return len(self.index)

    def __getitem__(self, rules: Any) -> np.ndarray:
        """The tensors of some rules, by number, range or array of numbers or flags."""
        index = self.index[rules]
        flat = np.zeros((*np.shape(index), math.prod(self.one)), self.dtype)
        flat[..., self.support] = self.values[index]
        return flat.reshape(*np.shape(index), *self.one)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """All tensors in memory."""
        return self.blocks().array().astype(self.dtype if dtype is None else dtype, copy=False)

    def blocks(self) -> Blocks:
        """All tensors, block by block."""
        rows = max(1, BLOCK // max(1, math.prod(self.one) * self.dtype.itemsize))

        def parts(dtype: np.dtype) -> Iterator[np.ndarray]:
            for first in range(0, len(self), rows):
                yield self[first : first + rows].astype(dtype, copy=False)

        return Blocks(self.shape, parts, self.dtype)


Tensors = np.ndarray | SharedTensors
"""The tensors of the rules of one arity, [rules, m, ...]."""


def stored(tensors: Tensors) -> tuple[np.ndarray, np.ndarray]:
    """The flat tensors that differ, [tensors, entries], without entries that are 0 in all; the tensor of each rule."""
    if isinstance(tensors, SharedTensors):
        return tensors.values, tensors.index
    flat = tensors.reshape(len(tensors), math.prod(tensors.shape[1:]))
    return flat, np.arange(len(tensors))


def sums_by_state(tensors: Tensors) -> np.ndarray:
    """Sums over the states of nonterminals, float64 [rules, m]."""
    result: np.ndarray
    if isinstance(tensors, SharedTensors):
        m = tensors.one[0]
        state = tensors.support // (math.prod(tensors.one) // m)
        result = (tensors.values @ np.eye(m)[state])[tensors.index]
    else:
        result = tensors.sum(axis=tuple(range(2, tensors.ndim)), dtype=np.float64)
    return result


def sum_of_rules(tensors: Tensors) -> np.ndarray:
    """Sum of the tensors of all rules, float64 [m, ...]."""
    if not isinstance(tensors, SharedTensors):
        result: np.ndarray = tensors.sum(axis=0, dtype=np.float64)
        return result
    flat = np.zeros(math.prod(tensors.one))
    rules = np.bincount(tensors.index, minlength=len(tensors.values))
    flat[tensors.support] = rules.astype(np.float64) @ tensors.values
    return flat.reshape(tensors.one)
