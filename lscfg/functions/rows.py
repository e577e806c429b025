"""A sparse matrix by rows, with the operations of the decoder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

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
    more: tuple[np.ndarray, np.ndarray] | None = None
    """Columns and values of entries after ``columns`` and ``values``, which may be large arrays of a grammar."""

    def _entries(self, entries: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Columns and values of some entries."""
        size = len(self.values)
        later = entries >= size
        if self.more is None or not later.any():
            return self.columns[entries], self.values[entries]
        columns, values = np.empty(len(entries), np.int64), np.empty(len(entries))
        columns[later], values[later] = (more[entries[later] - size] for more in self.more)
        np.logical_not(later, out=later)
        columns[later], values[later] = self.columns[entries[later]], self.values[entries[later]]
        return columns, values

    def products(self, weights: np.ndarray) -> np.ndarray:
        """The product of each row with the weights [width]."""
        result = np.zeros(len(self.offsets) - 1)
        for first in range(0, len(result), _BLOCK):
            offsets = self.offsets[first : first + _BLOCK + 1]
            rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
            entries = slice(offsets[0], offsets[-1])
            terms = self.values[entries] * weights[self.columns[entries]]
            if self.more is not None and offsets[-1] > (size := len(self.values)):
                columns, values = (part[max(0, offsets[0] - size) : offsets[-1] - size] for part in self.more)
                terms = np.concatenate([terms, values * weights[columns]])
            result[first : first + _BLOCK] = np.bincount(rows, terms, len(offsets) - 1)
        return result

    def sums(self, rows: np.ndarray, groups: np.ndarray) -> np.ndarray:
        """Sums of rows [groups, width]; group g contains the rows from ``groups[g]`` up to ``groups[g + 1]``."""
        count = len(groups) - 1
        lengths = self.offsets[rows + 1] - self.offsets[rows]
        ends = np.cumsum(lengths)
        entries = np.arange(lengths.sum()) + np.repeat(self.offsets[rows] - (ends - lengths), lengths)
        group = np.repeat(np.repeat(np.arange(count), np.diff(groups)), lengths)
        columns, values = self._entries(entries)
        sums = np.bincount(group * self.width + columns, values, count * self.width)
        return sums.astype(np.float64, copy=False).reshape(count, self.width)  # an empty sum would be an integer


@dataclass(frozen=True)
class FewRows:
    """Features by name of a few rule applications; all others have none."""

    names: tuple[str, ...]
    """Names of the columns, each once."""
    apps: np.ndarray
    """int64 [n], ascending."""
    values: np.ndarray
    """float64 [n, names]."""

    def scores(self, weights: np.ndarray) -> np.ndarray:
        """The product of the features of each of the n applications with the weights [names]."""
        sums = (self.values * weights).cumsum(axis=1)  # one term after the other, as in ``SparseRows``
        return np.asarray(sums[:, -1] if self.names else np.zeros(len(sums)))

    def sums(self, apps: np.ndarray, groups: np.ndarray) -> np.ndarray:
        """Sums over groups of applications, float64 [groups, names]; ``groups`` as in ``SparseRows.sums``."""
        sums = np.zeros((len(groups) - 1, len(self.names)))
        if len(self.apps):
            place = np.minimum(np.searchsorted(self.apps, apps), len(self.apps) - 1)
            for k in np.flatnonzero(self.apps[place] == apps).tolist():
                sums[np.searchsorted(groups, k, "right") - 1] += self.values[place[k]]
        return sums

    def part(self, kept: np.ndarray) -> FewRows:
        """The features of a part of the applications, ascending."""
        place = np.searchsorted(kept, self.apps)
        inside = place < len(kept)
        inside[inside] = kept[place[inside]] == self.apps[inside]
        return replace(self, apps=place[inside], values=self.values[inside])

    @property
    def size(self) -> int:
        """Bytes of the arrays."""
        return self.apps.nbytes + self.values.nbytes


@dataclass(frozen=True)
class NamedRows:
    """Features of rule applications by name: application a has row ``row_of[a]`` of ``rows``."""

    names: tuple[str, ...]
    """Names of the columns, each once."""
    rows: SparseRows
    row_of: np.ndarray
    """int64 [n_apps]."""

    @classmethod
    def of(cls, features: Sequence[Mapping[str, float]], row_of: np.ndarray) -> NamedRows:
        """The features of some rows, of which applications share one if they have equal features.

        Args:
            features: of each row by name.
            row_of: row of each application, -1 for no features.
        """
        columns: dict[str, int] = {}
        cells = [[(columns.setdefault(name, len(columns)), value) for name, value in row.items()] for row in features]
        offsets = np.cumsum([0, *map(len, cells), 0])  # the last row, of number -1, is empty
        flat = [cell for row in cells for cell in row]
        rows = SparseRows(
            offsets,
            np.array([column for column, _ in flat], np.int64),
            np.array([value for _, value in flat], np.float64),
            len(columns),
        )
        return cls(tuple(columns), rows, np.where(row_of < 0, len(cells), row_of))

    def scores(self, weights: np.ndarray) -> np.ndarray:
        """The product of each application's features with the weights [names], float64 [n_apps]."""
        found: np.ndarray = self.rows.products(weights).take(self.row_of)
        return found

    def sums(self, apps: np.ndarray, groups: np.ndarray) -> np.ndarray:
        """Sums over groups of applications, float64 [groups, names]; ``groups`` as in ``SparseRows.sums``."""
        return self.rows.sums(self.row_of[apps], groups)

    def part(self, kept: np.ndarray) -> NamedRows:
        """The features of a part of the applications."""
        return replace(self, row_of=self.row_of[kept])

    @property
    def size(self) -> int:
        """Bytes of the arrays."""
        return self.row_of.nbytes + self.rows.values.nbytes * 2
