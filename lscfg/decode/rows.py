"""A sparse matrix by rows, with the operations of the decoder."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_BLOCK = 1 << 16
"""Rows that are multiplied at a time, which limits memory."""


@dataclass(frozen=True)
class SparseRows:
    """Row r has ``values[k]`` in column ``columns[k]``, for each k from ``offsets[r]`` up to ``offsets[r + 1]``.

    Sums are sequential in the order of the entries.
    """

    offsets: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    width: int

    def products(self, weights: np.ndarray) -> np.ndarray:
        """The product of each row with the weights [width]."""
        result = np.zeros(len(self.offsets) - 1)
        for first in range(0, len(result), _BLOCK):
            offsets = self.offsets[first : first + _BLOCK + 1]
            entries = slice(offsets[0], offsets[-1])
            rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
            terms = self.values[entries] * weights[self.columns[entries]]
            result[first : first + _BLOCK] = np.bincount(rows, terms, len(offsets) - 1)
        return result

    def sums(self, rows: np.ndarray, groups: np.ndarray) -> np.ndarray:
        """Sums of rows [groups, width]; group g contains the rows from ``groups[g]`` up to ``groups[g + 1]``."""
        count = len(groups) - 1
        lengths = self.offsets[rows + 1] - self.offsets[rows]
        ends = np.cumsum(lengths)
        entries = np.arange(lengths.sum()) + np.repeat(self.offsets[rows] - (ends - lengths), lengths)
        group = np.repeat(np.repeat(np.arange(count), np.diff(groups)), lengths)
        cells = group * self.width + self.columns[entries]
        sums = np.bincount(cells, self.values[entries], count * self.width)
        return sums.astype(np.float64, copy=False).reshape(count, self.width)  # an empty sum would be an integer
