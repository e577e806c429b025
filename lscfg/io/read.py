"""Files read as text or bytes: strict UTF-8 lines, decompressed if the content is compressed."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import IO

from lscfg.errors import InputError
from lscfg.io.compression import decompressed
from lscfg.io.encoding import MARK, not_utf8, text_beginning
from lscfg.io.stream import check_standard_input

STDIN_FILE = "/dev/stdin"
_BARS = re.compile(r"\|\|\|(?!\S)(?<!\S\|\|\|)")  # the literal first: ten times as fast as it is last


@contextmanager
def open_bytes(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Opens a file, decompressed if its content is compressed; every failure raises an InputError that names the file.

    Raises:
        InputError: the file cannot be read, or its compressed data are cut or damaged.
    """
    if os.fspath(path) == STDIN_FILE:
        check_standard_input()
    try:
        with open(path, "rb") as file:
            check_end(file.fileno(), path)
            with decompressed(file, path) as content:
                yield content
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror or error}", path) from error


def check_end(file: int, path: str | os.PathLike[str]) -> None:
    """Refuses an endless device such as /dev/zero, which would fill the memory.

    Args:
        file: the descriptor of the file.

    Raises:
        InputError: the file is such a device.
    """
    status = os.fstat(file)
    empty = stat.S_ISCHR(status.st_mode) and status.st_rdev == os.stat(os.devnull).st_rdev
    if stat.S_ISCHR(status.st_mode) and not os.isatty(file) and not empty:
        raise InputError("is a device without an end; name a file", path)


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """The content of a file, decompressed if it is compressed.

    Raises:
        InputError: the file cannot be read, or its compressed data are cut or damaged.
    """
    with open_bytes(path) as file:
        return file.read()


def file_hash(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a file, in hexadecimal.

    Raises:
        InputError: the file cannot be read.
    """
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror or error}", path) from error


def read_blocks(path: str | os.PathLike[str], lines: int) -> Iterator[tuple[bytes, int]]:
    """Yields blocks of lines of a text file, decompressed if it is compressed, each with its number of lines.

    Raises:
        InputError: the file cannot be read, its compressed data are cut or damaged, or it is not text of UTF-8.
    """
    with open_bytes(path) as file:
        first = True
        while block := list(islice(file, lines)):
            if first and not (line := text_beginning(block[0], path)):
                return  # the byte order mark was all
            if first:
                block[0] = line
            first = False
            yield b"".join(block), len(block)


def read_chunks(path: str | os.PathLike[str], size: int = 1 << 16) -> Iterator[bytes]:
    """Yields the bytes of a file, at most ``size`` at a time; a file is decompressed if it is compressed.

    Raises:
        InputError: the file cannot be read, or its compressed data are cut or damaged.
    """
    with open_bytes(path) as file:
        while chunk := file.read(size):
            yield chunk


def read_lines(path: str | os.PathLike[str], closed: bool = False) -> list[str]:
    r"""The lines of a UTF-8 file without their newlines and a byte order mark; ``\\n`` or ``\\r\\n`` ends a line.

    Args:
        closed: refuse a last line without a newline, which may come from a file that is cut off.

    Raises:
        InputError: the file cannot be read, its lines end in a carriage return alone, or a line is not UTF-8 (file and
            line are named).
    """
    text = decode_text(read_bytes(path), path, closed)
    if not text:
        return []
    lines = text.removesuffix("\n").split("\n")
    return [line.rstrip("\r") for line in lines] if "\r" in text else lines


def read_utf8(path: str | os.PathLike[str], closed: bool = False) -> bytes:
    """The content of a UTF-8 file as bytes, without a byte order mark; for ``closed`` see ``read_lines``.

    Raises:
        InputError: as ``read_lines``.
    """
    data = read_bytes(path)
    decode_text(data, path, closed)
    return data.removeprefix(MARK)


def decode_text(data: bytes, path: str | os.PathLike[str], closed: bool = False) -> str:
    """Decodes the bytes of a file without a byte order mark; for ``closed`` see ``read_lines``.

    Raises:
        InputError: as ``read_lines``.
    """
    data = text_beginning(data, path)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        before = not data[: error.start].isascii()
        raise not_utf8(data[error.start :], path, line, before, _cut(error)) from error
    if closed and text and not text.endswith("\n"):
        raise InputError(
            "the last line has no newline: the file may be cut; make it again, or end the line if it is whole",
            path,
            text.count("\n") + 1,
        )
    return text


def stream_lines(path: str | os.PathLike[str]) -> Iterator[str]:
    """Yields the lines of a file as ``read_lines`` returns them; it holds one line in memory.

    Raises:
        InputError: see ``read_lines``.
    """
    ascii_so_far = True
    with open_bytes(path) as file:
        for number, line in enumerate(file, 1):
            if number == 1 and not (line := text_beginning(line, path)):
                return  # the byte order mark was all
            try:
                text = line.removesuffix(b"\n").rstrip(b"\r").decode("utf-8")
            except UnicodeDecodeError as error:
                cut = _cut(error) and not line.endswith(b"\n")
                raise not_utf8(line, path, number, not ascii_so_far, cut) from error
            ascii_so_far = ascii_so_far and text.isascii()
            yield text


def _cut(error: UnicodeDecodeError) -> bool:
    """True if the bytes end within a character."""
    return error.reason == "unexpected end of data" and error.end == len(error.object)


def split_fields(line: str) -> list[str]:
    """The fields between ``|||``, stripped; bars within a word belong to the word."""
    return [field.strip() for field in _BARS.split(line)]
