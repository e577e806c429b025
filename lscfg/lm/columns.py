"""Columns of numbers in memory or on disk, and rows that go through buckets small enough for memory.

All is read and written in slices, one after the other, so that a model can be estimated of more text than fits into
memory. Without a limit of memory there is one slice, one bucket, and no file.
"""

from __future__ import annotations

import bisect
import errno
import os
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from tempfile import TemporaryFile
from typing import Self

import numpy as np

from lscfg.errors import InputError

ROW_BYTES = 120
"""Peak memory of a row while its bucket is sorted, measured, rounded up."""


def row_type(size: int) -> type[np.signedinteger]:
    """The type of numbers below ``size``."""
    return np.int32 if size < 2**31 else np.int64


class _File:
    """An unnamed temporary file, closed with the last column that lies in it."""

    def __init__(self, folder: str | os.PathLike[str]):
        self._folder, self.size = folder, 0
        try:
            self._file = TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115 - see below
        except OSError as error:
            raise self._failure(error) from error
        weakref.finalize(self, self._file.close)

    def write(self, at: int, values: np.ndarray) -> None:
        view, done = values.data.cast("B"), 0
        try:
            self._file.seek(at)
            while done < len(view):
                done += self._file.write(view[done:])
        except OSError as error:
            raise self._failure(error) from error
        self.size = max(self.size, at + len(view))

    def read(self, at: int, values: np.ndarray) -> None:
        view, done = values.data.cast("B"), 0
        try:
            self._file.seek(at)
            while done < len(view):
                count = self._file.readinto(view[done:])
                if not count:
                    raise OSError(errno.EIO, "it is shorter than what was written")
                done += count
        except OSError as error:
            raise self._failure(error, "read") from error

    def _failure(self, error: OSError, what: str = "write") -> InputError:
        return InputError(f"cannot {what} a temporary file there: {error.strerror or error}", self._folder)


class Column:
    """Numbers that are read and written in slices, and may grow at the end.

    Args:
        dtype: of the numbers.
        file: which may hold other columns, too; None: the numbers are in memory.
    """

    def __init__(self, dtype: type[np.generic], file: _File | None = None):
        self.dtype, self._file, self._size = np.dtype(dtype), file, 0
        self._parts: list[np.ndarray] = []  # in memory
        self._begins: list[int] = []  # rows with which pieces in the file begin, and where these are
        self._places: list[int] = []

    def __len__(self) -> int:
        return self._size

    def append(self, piece: np.ndarray) -> None:
        """Adds numbers at the end.

        Raises:
            InputError: they cannot be written.
        """
        if not len(piece):
            return
        if self._file is None:
            self._parts.append(piece.astype(self.dtype, copy=False))
        else:
            place = self._file.size
            if not self._begins or self._places[-1] + (self._size - self._begins[-1]) * self.dtype.itemsize != place:
                self._begins.append(self._size)
                self._places.append(place)
            self._file.write(place, np.ascontiguousarray(piece, self.dtype))
        self._size += len(piece)

    def __getitem__(self, part: slice) -> np.ndarray:
        begin, end, _ = part.indices(self._size)
        if self._file is None:
            whole: np.ndarray = self._whole()[begin:end]
            return whole
        found = np.empty(max(end - begin, 0), self.dtype)
        for place, first, last in self._pieces(begin, end):
            self._file.read(place, found[first - begin : last - begin])
        return found

    def __setitem__(self, part: slice, values: np.ndarray) -> None:
        begin, end, _ = part.indices(self._size)
        if self._file is None:
            self._whole()[begin:end] = values
            return
        values = np.ascontiguousarray(values, self.dtype)
        for place, first, last in self._pieces(begin, end):
            self._file.write(place, values[first - begin : last - begin])

    def _whole(self) -> np.ndarray:
        if len(self._parts) != 1:
            self._parts = [np.concatenate(self._parts) if self._parts else np.zeros(0, self.dtype)]
        return self._parts[0]

    def _pieces(self, begin: int, end: int) -> Iterator[tuple[int, int, int]]:
        """Place in the file, first row and end of what lies together there."""
        piece = bisect.bisect_right(self._begins, begin) - 1
        while begin < end:
            last = min(end, self._begins[piece + 1] if piece + 1 < len(self._begins) else self._size)
            yield self._places[piece] + (begin - self._begins[piece]) * self.dtype.itemsize, begin, last
            begin, piece = last, piece + 1


@dataclass(frozen=True)
class Room:
    """Where columns lie, and how many rows are in memory at a time.

    Attributes:
        block: most rows; None: all.
        folder: of temporary files; None: memory.
    """

    block: int | None = None
    folder: str | os.PathLike[str] | None = None

    @classmethod
    def of(cls, memory: float, folder: str | os.PathLike[str]) -> Self:
        """So many rows as ``memory`` GiB hold."""
        return cls(max(int(memory * 2**30 / ROW_BYTES), 1), folder)

    def columns(self, *dtypes: type[np.generic]) -> list[Column]:
        """Empty columns, which share a file: what lies there is gone when all of them are."""
        file = None if self.folder is None else _File(self.folder)
        return [Column(dtype, file) for dtype in dtypes]

    def column(self, dtype: type[np.generic]) -> Column:
        """An empty column, with a file of its own."""
        return self.columns(dtype)[0]

    def zeros(self, size: int, dtype: type[np.generic]) -> Column:
        """A column of zeros."""
        made = self.column(dtype)
        for part in self.slices(size):
            made.append(np.zeros(part.stop - part.start, dtype))
        return made

    def slices(self, size: int) -> Iterator[slice]:
        """Slices of rows, one after the other."""
        step = self.block or max(size, 1)
        return (slice(begin, min(begin + step, size)) for begin in range(0, size, step))


EVERYTHING = Room()
"""All rows at once, in memory."""


def ranges(weights: Column, room: Room) -> np.ndarray:
    """Splits rows into ranges of about a block's weight, and at least one row: int64 [ranges + 1], their ends."""
    ends, weight, most = [0], 0, room.block  # weight of the open range
    if most is None:
        return np.array([0, len(weights)])
    for part in room.slices(len(weights)):
        sums, begin, before = np.cumsum(weights[part]), 0, -weight
        while begin < len(sums) and sums[-1] - before > most:
            # the last row with which the range still fits; a row alone always does
            end = int(np.searchsorted(sums, before + most, "right"))
            end = max(end, begin + (ends[-1] == part.start + begin))
            ends.append(part.start + end)
            begin, before = end, int(sums[end - 1]) if end else 0
        weight = int(sums[-1]) - before if len(sums) else weight
    return np.array([*(end for end in ends if end < len(weights)), len(weights)], np.int64)


class Exchange:
    """Blocks of rows go to buckets by a number; what a bucket replies comes back in the order of the rows.

    Args:
        ends: of the numbers' ranges, int64 [buckets + 1].
        sent, replied: types of the columns.
    """

    def __init__(
        self,
        room: Room,
        ends: np.ndarray,
        sent: tuple[type[np.generic], ...],
        replied: tuple[type[np.generic], ...],
    ):
        self._ends = ends
        self._sent, self._replied = (_groups(room, dtypes, len(ends) - 1) for dtypes in (sent, replied))
        self._which = room.column(np.int32)  # bucket of each row, where there are several
        self._sizes: list[np.ndarray] = []  # for each block the rows of each bucket

    def send(self, number: np.ndarray, *columns: np.ndarray) -> None:
        """A block of rows, whose buckets ``number`` says."""
        which = np.searchsorted(self._ends, number, "right").astype(np.int32) - 1
        self._sizes.append(np.bincount(which, minlength=len(self._sent)))
        if len(self._sent) > 1:
            self._which.append(which)
            order = np.argsort(which, kind="stable")
            columns = tuple(values[order] for values in columns)
        begin = 0
        for bucket, size in zip(self._sent, self._sizes[-1].tolist(), strict=True):
            for column, values in zip(bucket, columns, strict=True):
                column.append(values[begin : begin + size])
            begin += size

    def buckets(self) -> Iterator[tuple[int, int, list[np.ndarray], list[Column]]]:
        """Range and rows of each bucket, in the order in which they were sent; replies to them are to be appended."""
        for bucket, (begin, end) in enumerate(pairwise(self._ends.tolist())):
            yield begin, end, [column[:] for column in self._sent[bucket]], self._replied[bucket]
        self._sent = []  # gives the space back

    def back(self) -> Iterator[list[np.ndarray]]:
        """The replies to each block, in the order of its rows."""
        read, first = np.zeros(len(self._replied), np.int64), 0
        for sizes in self._sizes:
            found = [
                np.concatenate([bucket[k][a : a + n] for bucket, a, n in zip(self._replied, read, sizes, strict=True)])
                for k in range(len(self._replied[0]))
            ]
            read += sizes
            size = int(sizes.sum())
            if len(self._replied) > 1:
                order = np.argsort(self._which[first : first + size], kind="stable")
                for values in found:
                    values[order] = values.copy()
            first += size
            yield found


def _groups(room: Room, dtypes: tuple[type[np.generic], ...], count: int) -> list[list[Column]]:
    """The same columns several times, in one file."""
    columns, n = room.columns(*dtypes * count), len(dtypes)
    return [columns[k * n : (k + 1) * n] for k in range(count)]
