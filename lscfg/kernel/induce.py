"""Nearest neighbours of phrases by their contexts in monolingual text (plugin/induce)."""

from __future__ import annotations

import numpy as np

from lscfg._kernel import ffi, lib
from lscfg.kernel.base import check

HEAD = int(lib.LSCFG_HEAD)


class Vectors:
    """Unit vectors with a search for the most similar ones.

    Args:
        by_row: offsets int64, numbers int32 and values float32 of a sparse matrix in SciPy's compressed rows, without
            the columns that have a single row.
        by_column: the same matrix in compressed columns.
        dense: float32 [rows, any], values in the other columns. The search is fast if the first ones hold most of the
            length of each row.

    Raises:
        ValueError: inconsistent arrays.
    """

    def __init__(
        self,
        by_row: tuple[np.ndarray, np.ndarray, np.ndarray],
        by_column: tuple[np.ndarray, np.ndarray, np.ndarray],
        dense: np.ndarray,
    ):
        rows, columns = len(by_row[0]) - 1, len(by_column[0]) - 1
        for (begin, number, value), end in ((by_row, columns), (by_column, rows)):
            fits = len(number) == len(value) == begin[-1] and begin[0] == 0 and not (np.diff(begin) < 0).any()
            if not fits or (len(number) and not 0 <= number.min() <= number.max() < end):
                raise ValueError("the offsets and numbers are of no sparse matrix")
        if len(dense) != rows:
            raise ValueError(f"{len(dense)} dense rows for {rows} vectors")
        self.rows = rows
        types = (np.int64, np.int32, np.float32)
        kept = [np.ascontiguousarray(part, kind) for part, kind in zip((*by_row, *by_column), types * 2, strict=True)]
        kept += [np.ascontiguousarray(dense, np.float32)]
        head, first = np.zeros((rows, HEAD), np.float32), min(dense.shape[1], HEAD - 1)
        head[:, :first] = kept[6][:, :first]
        head[:, -1] = np.sqrt((kept[6][:, first:].astype(float) ** 2).sum(1))
        kept += [np.sqrt((kept[6].astype(float) ** 2).sum(1)).astype(np.float32), head]
        self._kept = kept  # the kernel points into them
        names = {np.dtype(np.int64): "int64_t[]", np.dtype(np.int32): "int32_t[]", np.dtype(np.float32): "float[]"}
        pointers = [ffi.from_buffer(names[part.dtype], part) for part in kept]
        self._pointer = ffi.new("lscfg_vectors *", [rows, *pointers[:6], dense.shape[1], *pointers[6:]])

    def nearest(self, first: int, last: int, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Finds the k most similar other rows for each of the rows first .. last-1, best first.

        Returns:
            int32 [rows], number of neighbours; int32 and float32 [their sum], the neighbours and their similarities (>
                0).

        Raises:
            KernelError: the kernel is out of memory.
        """
        size = last - first
        found = np.zeros(size, np.int32)
        neighbours, similarity = np.empty((size, k), np.int32), np.empty((size, k), np.float32)
        error = ffi.new("lscfg_error *")
        code = lib.lscfg_neighbours(
            self._pointer,
            first,
            last,
            k,
            ffi.from_buffer("int32_t[]", found),
            ffi.from_buffer("int32_t[]", neighbours),
            ffi.from_buffer("float[]", similarity),
            error,
        )
        check(code, error)
        full = np.arange(k) < found[:, None]
        return found, neighbours[full], similarity[full]
