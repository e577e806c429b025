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
"""The byte order mark. Some editors write it before the text, where it would be part of the first word."""


@contextmanager
def _reading(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """The file's content, decompressed if its name ends in .gz; whatever goes wrong becomes an error that names it."""
    try:
        with open(path, "rb") as file:
            check_end(file.fileno(), path)
            if not str(path).endswith(".gz"):
                yield file
            elif file.peek(1):
                with gzip.GzipFile(fileobj=file) as content:
                    yield content  # type: ignore[misc]
            else:  # Python takes it for the empty text, gzip -t does not
                raise EOFError
    except (EOFError, zlib.error) as error:
        raise InputError("compressed file is cut off or damaged; make it anew", path) from error
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror or error}", path) from error


def check_end(file: int, path: str | os.PathLike[str]) -> None:
    """Refuses a device that no read comes to an end of, such as /dev/zero: it would fill all memory.

    Args:
        file: its descriptor.

    Raises:
        InputError: the file is one.
    """
    status = os.fstat(file)
    empty = stat.S_ISCHR(status.st_mode) and status.st_rdev == os.stat(os.devnull).st_rdev
    if stat.S_ISCHR(status.st_mode) and not os.isatty(file) and not empty:
        raise InputError("is a device that has no end; name a file", path)


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """The file's content, decompressed if its name ends in .gz.

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
    """The bytes of a text file, decompressed if its name ends in .gz, some lines at a time: each block and its number
    of lines.

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
    """The file's bytes, decompressed if its name ends in .gz, at most ``size`` at a time.

    Raises:
        InputError: the file cannot be read, or its compressed data are cut or damaged.
    """
    with _reading(path) as file:
        while chunk := file.read(size):
            yield chunk


def read_lines(path: str | os.PathLike[str], closed: bool = False) -> list[str]:
    """The lines of a UTF-8 file without their newlines; only ``\\n`` (or ``\\r\\n``) ends a line.

    Args:
        closed: the last line must have its newline. Of a file that is cut, it may still look whole.

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
    """The text of a file's bytes; ``closed`` as of ``read_lines``.

    Raises:
        InputError: it begins with a byte order mark, or a line is not UTF-8.
    """
    _check_mark(data, path)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _not_utf8(path, data.count(b"\n", 0, error.start) + 1) from error
    if closed and text and not text.endswith("\n"):
        raise InputError(
            "the last line has no newline: the file may be cut; make it anew, or end the line if it is whole",
            path,
            text.count("\n") + 1,
        )
    return text


def stream_lines(path: str | os.PathLike[str], marked: bool = False) -> Iterator[str]:
    """The lines that ``read_lines`` would give, one by one, in memory for one line.

    Args:
        marked: the text may begin with a byte order mark, which is left out.

    Raises:
        InputError: as ``read_lines``.
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
        raise InputError("begins with a byte order mark; remove it, as sed '1s/^\\xef\\xbb\\xbf//' does", path, 1)


def _not_utf8(path: str | os.PathLike[str], line: int) -> InputError:
    return InputError("not valid UTF-8; convert the file, for example with iconv", path, line)


def split_fields(line: str) -> list[str]:
    """What stands between ``|||``, without blanks around it; bars within a word are part of it."""
    return [field.strip() for field in _BARS.split(line)]
