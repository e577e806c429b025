"""Lines that arrive over time, as from a pipe: one by one, without waiting for the end of the input."""

from __future__ import annotations

import os
import select
import sys
from collections import deque
from typing import Self

from lscfg.errors import InputError
from lscfg.io.compression import compression_of
from lscfg.io.encoding import text_beginning

STANDARD_INPUT = "standard input"

LONGEST = 1 << 20
"""Bytes of the longest line; longer lines are cut."""


def check_standard_input() -> None:
    """Refuses standard input that was closed before the command began: the file in its place is no empty text.

    Raises:
        InputError: it was closed.
    """
    if sys.stdin is None:
        raise InputError("is closed; name a file, or write < FILE", STANDARD_INPUT)


class LineStream:
    """An iterator over the lines of an open file, without newlines and a byte order mark; a few lines fill memory.

    Args:
        descriptor: the descriptor of the file, which messages call standard input.

    Raises:
        InputError: it is that of standard input, which was closed.
    """

    def __init__(self, descriptor: int = 0):
        if descriptor == 0:
            check_standard_input()
        self._descriptor = descriptor
        self._lines: deque[bytes] = deque()
        self._rest = b""
        self._begun = self._ended = False

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> bytes:
        """Waits for the next line.

        Raises:
            InputError: the file cannot be read, is compressed or is not a UTF-8 text from its first line on.
        """
        while not self._lines and not self._ended:
            self._read()
        if not self._lines:
            raise StopIteration
        return self._lines.popleft()

    def fileno(self) -> int:
        """The descriptor to wait for."""
        return self._descriptor

    def ready(self) -> bool:
        """True if the next line, or the end, has arrived.

        Raises:
            InputError: the file cannot be read.
        """
        while not self._lines and not self._ended and self._readable(0):
            self._read()
        return bool(self._lines) or self._ended

    def _readable(self, seconds: float | None) -> bool:
        poll = select.poll()
        poll.register(self._descriptor, select.POLLIN)
        return bool(poll.poll(None if seconds is None else 1000 * seconds))

    def _read(self) -> None:
        self._readable(None)  # the pipe may be non-blocking
        try:
            data = os.read(self._descriptor, 1 << 16)
        except OSError as error:
            raise InputError(f"cannot read: {error.strerror or error}", STANDARD_INPUT) from error
        if not data:
            self._ended = True
            lines = [self._rest] if self._rest else []
        else:
            *lines, rest = (self._rest + data).split(b"\n")
            self._rest = rest[: LONGEST + 1]
        if lines and not self._begun:
            self._begun = True
            lines[0] = self._beginning(lines[0])
            if self._ended and not lines[0]:
                lines = []  # the byte order mark was all
        self._lines.extend(line.rstrip(b"\r") for line in lines)

    def _beginning(self, line: bytes) -> bytes:
        if name := compression_of(line):
            raise InputError(f"compressed by {name}; decompress it on the way, as with gzip -dc", STANDARD_INPUT)
        return text_beginning(line if self._ended else line + b"\n", STANDARD_INPUT).removesuffix(b"\n")
