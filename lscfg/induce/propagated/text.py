"""Text as word numbers on disk, since a text may be larger than memory."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Iterator, Sequence

import numpy as np

from lscfg.corpus.parallel import check_sentence, plain_fault
from lscfg.errors import InputError
from lscfg.io.read import stream_lines
from lscfg.log import progress

BORDER = -1
"""Separates sentences; also precedes the first and follows the last sentence."""

BLOCK = 1 << 20
"""Most words to read at a time; a longer sentence is read whole."""

ITEM = np.dtype(np.int32).itemsize

CURE = "free some space, or set TMPDIR to a folder with more; a word takes 4 bytes"


class _Numbers:
    """Numbers, int32, in an unnamed file that vanishes with its last user."""

    def __init__(self) -> None:
        wanted = os.environ.get("TMPDIR")
        try:  # otherwise Python would use another folder if this one is missing or full
            self._file, path = tempfile.mkstemp(prefix="lscfg.", dir=wanted or None)
        except OSError as error:
            where = wanted or "temporary files"
            raise InputError(f"cannot hold the text's words as numbers: {error.strerror}; {CURE}", where) from error
        weakref.finalize(self, os.close, self._file)
        os.unlink(path)
        self._folder, self._size = os.path.dirname(path), 0

    def __len__(self) -> int:
        return self._size

    def append(self, numbers: Sequence[int]) -> None:
        """Appends numbers."""
        data = memoryview(np.array(numbers, np.int32).tobytes())
        self._size += len(numbers)
        try:
            while data:
                data = data[os.write(self._file, data) :]
        except OSError as error:
            message = f"cannot hold the text's words as numbers: {error.strerror}; {CURE}"
            raise InputError(message, self._folder) from error

    def read(self, first: int, end: int) -> np.ndarray:
        """The numbers at these positions."""
        data = b""
        while left := end * ITEM - first * ITEM - len(data):  # the system may return less than requested
            data += os.pread(self._file, left, first * ITEM + len(data))
        return np.frombuffer(data, np.int32)


class Text:
    """Sentences as numbers, int32, with ``BORDER`` around each, in parts of temporary files.

    Args:
        parts: file, with the first and last position of the part, each a ``BORDER``.
    """

    def __init__(self, *parts: tuple[_Numbers, int, int]):
        self._parts = parts

    def __len__(self) -> int:
        """Words and borders."""
        return sum(last + 1 - first for _, first, last in self._parts)

    def __add__(self, other: Text) -> Text:
        return Text(*self._parts, *other._parts)

    def blocks(self, size: int = 0) -> Iterator[np.ndarray]:
        """Blocks of sentences, int32, each with ``BORDER`` at both ends; none for a text without words.

        Args:
            size: most words of a block, unless a sentence is longer; 0: ``BLOCK``.
        """
        for file, first, last in self._parts:
            while first < last:
                reach = size or BLOCK
                while True:
                    end = min(first + reach, last) + 1
                    block = file.read(first, end)
                    borders = np.flatnonzero(block == BORDER)
                    if len(borders) > 1:
                        break
                    reach *= 2
                yield block[: borders[-1] + 1]
                first += int(borders[-1])

    def sentences(self) -> int:
        """The number of sentences, without empty ones."""
        return sum(int((block == BORDER).sum()) - 1 for block in self.blocks())

    def beginning(self, sentences: int) -> Text:
        """The first sentences."""
        parts = []
        for file, first, last in self._parts:
            end = first
            for block in Text((file, first, last)).blocks():
                borders = np.flatnonzero(block == BORDER)[: sentences + 1]
                end, sentences = end + int(borders[-1]), sentences + 1 - len(borders)
                if not sentences:
                    break
            parts.append((file, first, end))
        return Text(*parts)

    def array(self) -> np.ndarray:
        """The whole text, int32."""
        return np.concatenate([np.array([BORDER], np.int32), *(block[1:] for block in self.blocks())])

    def counts(self, words: int) -> np.ndarray:
        """int64 [words], counts in the text."""
        total = np.zeros(words, np.int64)
        for block in self.blocks():
            total += np.bincount(block[block >= 0], minlength=words)
        return total


def read_words(paths: Sequence[str | os.PathLike[str]], numbers: dict[str, int]) -> Text:
    """The words of some files; new ones get the next numbers.

    Raises:
        InputError: a file is missing, not UTF-8 or without a word, or has a line that cannot appear in a grammar; there
            is no room for temporary files.
    """
    file, held = _Numbers(), [BORDER]
    for path in paths:
        before = len(file) + len(held)
        for number, line in enumerate(progress(stream_lines(path), "read"), 1):
            if fault := plain_fault(line):
                raise InputError(fault, path, number)
            check_sentence(line, path, number, allow_empty=True)
            found = [numbers.setdefault(word, len(numbers)) for word in line.split()]
            if found:
                held += found
                held.append(BORDER)
            if len(held) > BLOCK:
                file.append(held)
                held = []
        if len(file) + len(held) == before:
            raise InputError("contains no words; name a file with text, one sentence per line", path)
    file.append(held)
    return Text((file, 0, len(file) - 1))
