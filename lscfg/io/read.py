"""Files read as text or bytes: strict UTF-8 lines, decompressed if the name ends in .gz."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import IO

from lscfg.errors import InputError

_BARS = re.compile(r"\|\|\|(?!\S)(?<!\S\|\|\|)")  # the literal first: ten times as fast as it is last


MARK = "\ufeff"
"""The byte order mark. Some editors write it before the text, where it would become part of the first word."""


@contextmanager
def _reading(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Opens a file, decompressed if its name ends in .gz; every failure raises an InputError that names the file."""
    try:
        with open(path, "rb") as file:
            check_end(file.fileno(), path)
            if not str(path).endswith(".gz"):
                yield file
            elif file.peek(1):
                with gzip.GzipFile(fileobj=file) as content:
                    yield content  # type: ignore[misc]
            else:  # Python reads it as empty text, gzip -t refuses it
                raise EOFError
    except (EOFError, zlib.error) as error:
        raise InputError("compressed file is cut off or damaged; make it again", path) from error
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
    """The content of a file, decompressed if its name ends in .gz.

    Raises:
        InputError: the file cannot be read, or its compressed data are cut or damaged.
    """
    with _reading(path) as file:
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
    """Yields blocks of lines of a text file, decompressed if its name ends in .gz, each with its number of lines.

    Raises:
        InputError: the file cannot be read, its compressed data are cut or damaged, or it begins with a byte order
            mark.
    """
    with _reading(path) as file:
        first = True
        while block := list(islice(file, lines)):
            if first:
                _check_mark(block[0], path)
            first = False
            yield b"".join(block), len(block)


def read_chunks(path: str | os.PathLike[str], size: int = 1 << 16) -> Iterator[bytes]:
    """Yields the bytes of a file, at most ``size`` at a time; a file is decompressed if its name ends in .gz.

    Raises:
        InputError: the file cannot be read, or its compressed data are cut or damaged.
    """
    with _reading(path) as file:
        while chunk := file.read(size):
            yield chunk


def read_lines(path: str | os.PathLike[str], closed: bool = False) -> list[str]:
    r"""The lines of a UTF-8 file without their newlines; only ``\\n`` (or ``\\r\\n``) ends a line.

    Args:
        closed: refuse a last line without a newline, which may come from a file that is cut off.

    Raises:
        InputError: the file cannot be read, begins with a byte order mark, or a line is not UTF-8 (file and line are
            named).
    """
    text = decode_text(read_bytes(path), path, closed)
    if not text:
        return []
    lines = text.removesuffix("\n").split("\n")
    return [line.removesuffix("\r") for line in lines] if "\r" in text else lines


def decode_text(data: bytes, path: str | os.PathLike[str], closed: bool = False) -> str:
    """Decodes the bytes of a file; for ``closed`` see ``read_lines``.

    Raises:
        InputError: the text begins with a byte order mark, or a line is not UTF-8.
    """
    _check_mark(data, path)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _not_utf8(path, data.count(b"\n", 0, error.start) + 1) from error
    if closed and text and not text.endswith("\n"):
        raise InputError(
            "the last line has no newline: the file may be cut; make it again, or end the line if it is whole",
            path,
            text.count("\n") + 1,
        )
    return text


def stream_lines(path: str | os.PathLike[str], marked: bool = False) -> Iterator[str]:
    """Yields the lines of a file as ``read_lines`` returns them; it holds one line in memory.

    Args:
        marked: skip a byte order mark at the beginning.

    Raises:
        InputError: see ``read_lines``.
    """
    with _reading(path) as file:
        for number, line in enumerate(file, 1):
            if number == 1 and marked:
                line = line.removeprefix(MARK.encode())
            elif number == 1:
                _check_mark(line, path)
            try:
                yield line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8")
            except UnicodeDecodeError as error:
                raise _not_utf8(path, number) from error


def _check_mark(data: bytes, path: str | os.PathLike[str]) -> None:
    if data.startswith(MARK.encode()):
        raise InputError(
            "begins with a byte order mark; remove it, for example with sed '1s/^\\xef\\xbb\\xbf//'", path, 1
        )


def _not_utf8(path: str | os.PathLike[str], line: int) -> InputError:
    return InputError("not valid UTF-8; convert the file, for example with iconv", path, line)


def split_fields(line: str) -> list[str]:
    """The fields between ``|||``, stripped; bars within a word belong to the word."""
    return [field.strip() for field in _BARS.split(line)]
