"""Text: strict UTF-8 lines in, atomically renamed files out, gzip by the name's ending; tables."""

from __future__ import annotations

import errno
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Any

from lscfg.errors import InputError
from lscfg.parallel.threads import Threads

_BARS = re.compile(r"\|\|\|(?!\S)(?<!\S\|\|\|)")  # the literal first: ten times as fast as it is last

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Of errors in writing: there is no room."""


@contextmanager
def _reading(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """The file's bytes, decompressed if its name ends in .gz.

    Raises:
        InputError: it cannot be read, or its compressed data are cut or damaged.
    """
    try:
        with gzip.open(path) if str(path).endswith(".gz") else open(path, "rb") as file:
            yield file  # type: ignore[misc]
    except (EOFError, zlib.error) as error:
        raise InputError("compressed file is cut off or damaged; make it anew", path) from error
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror or error}", path) from error


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
    """The file's bytes, decompressed if its name ends in .gz, some lines at a time: each block and its number of lines.

    Raises:
        InputError: the file cannot be read, or its compressed data are cut or damaged.
    """
    with _reading(path) as file:
        while block := list(islice(file, lines)):
            yield b"".join(block), len(block)


def read_chunks(path: str | os.PathLike[str], size: int = 1 << 16) -> Iterator[bytes]:
    """The file's bytes, decompressed if its name ends in .gz, at most ``size`` at a time.

    Raises:
        InputError: the file cannot be read, or its compressed data are cut or damaged.
    """
    with _reading(path) as file:
        while chunk := file.read(size):
            yield chunk


def read_lines(path: str | os.PathLike[str]) -> list[str]:
    """The lines of a UTF-8 file without their newlines; only ``\\n`` (or ``\\r\\n``) ends a line.

    Raises:
        InputError: the file cannot be read or a line is not UTF-8 (file and line are named).
    """
    text = check_utf8(read_bytes(path), path)
    if not text:
        return []
    lines = text.removesuffix("\n").split("\n")
    return [line.removesuffix("\r") for line in lines] if "\r" in text else lines


def check_utf8(data: bytes, path: str | os.PathLike[str]) -> str:
    """The text of a file's bytes.

    Raises:
        InputError: a line is not UTF-8.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError("not valid UTF-8; convert the file, for example with iconv", path, line) from error


def stream_lines(path: str | os.PathLike[str]) -> Iterator[str]:
    """The lines that ``read_lines`` would give, one by one, in memory for one line.

    Raises:
        InputError: as ``read_lines``.
    """
    with _reading(path) as file:
        for number, line in enumerate(file, 1):
            try:
                text = line.decode("utf-8")
            except UnicodeDecodeError as error:
                raise InputError("not valid UTF-8; convert the file, for example with iconv", path, number) from error
            yield text.removesuffix("\n").removesuffix("\r")


def make_folder(path: str | os.PathLike[str]) -> Path:
    """The folder, made with those above it if it is not there.

    Raises:
        InputError: it cannot be made.
    """
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made a folder: {error.strerror or error}", path) from error
    return folder


def check_output(path: str | os.PathLike[str]) -> None:
    """Refuses what cannot be written as a file; to be called before work whose result would be lost.

    Raises:
        InputError: it is a folder, or its own folder cannot be made or written.
    """
    path = Path(path)
    if path.is_dir():
        raise InputError("is a folder; name a file in it", path)
    folder = make_folder(path.parent)
    if not os.access(path if _is_special(path) else folder, os.W_OK):
        raise InputError("cannot write: Permission denied", path)


def _is_special(path: Path) -> bool:
    """A pipe, a device or a link of the system's to one: to be written, not replaced."""
    place = str(path.absolute())
    of_system = path.absolute().parent == Path("/dev") or place.startswith(("/dev/fd/", "/proc/"))
    return path.exists() and not path.is_dir() and (of_system or not path.is_file())


_TEMPORARY = ".tmp"


def remove_temporaries(folder: Path) -> None:
    """Removes what a process that was killed has left of files that it was writing there."""
    for left in folder.glob(f".*{_TEMPORARY}"):
        left.unlink()


@contextmanager
def _replacing(path: Path) -> Iterator[IO[bytes]]:
    """A temporary neighbour of ``path`` that takes its name when all went well."""
    check_output(path)
    special = _is_special(path)
    temporary = path if special else path.with_name(f".{path.name}.{os.getpid()}{_TEMPORARY}")
    try:
        raw = open(temporary, "wb")  # noqa: SIM115 (closed below)
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror or error}", path) from error
    try:
        with raw:
            yield raw
        if not special:
            os.replace(temporary, path)
    except BaseException as error:
        if not special:
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in FULL:
            raise InputError(f"cannot write: {error.strerror}", path) from error
        raise


@contextmanager
def atomic_write(path: str | os.PathLike[str], mode: str = "w") -> Iterator[IO]:
    """Opens a temporary neighbour of ``path`` for writing; it takes the name only when all went well.

    ``mode`` is ``"w"`` (UTF-8 text) or ``"wb"``. A name ending in .gz is compressed, without a time stamp in it, so
    that equal content gives equal bytes.

    Raises:
        InputError: the file cannot be written.
    """
    path = Path(path)
    with _replacing(path) as raw:
        binary = gzip.GzipFile("", "wb", fileobj=raw, mtime=0) if path.name.endswith(".gz") else raw
        if mode == "wb":
            yield binary  # type: ignore[misc]
        else:
            text = io.TextIOWrapper(binary, encoding="utf-8", newline="\n")  # type: ignore[type-var]
            yield text
            text.flush()
            text.detach()
        if binary is not raw:
            binary.close()


def write_blocks(path: str | os.PathLike[str], blocks: Iterable[Callable[[], bytes]], threads: int = 1) -> None:
    """Writes the bytes that each of ``blocks`` makes, in order, atomically; .gz is compressed.

    Blocks are made and compressed by ``threads`` threads, each block for itself, so that the number of threads does not
    change the file.

    Raises:
        InputError: the file cannot be written.
    """
    path = Path(path)
    zipped = path.name.endswith(".gz")

    def make(block: Callable[[], bytes]) -> tuple[bytes, bytes]:
        data = block()
        if not zipped:
            return data, data
        deflate = zlib.compressobj(5, zlib.DEFLATED, -zlib.MAX_WBITS)
        # a flushed block ends at a byte and leaves the stream open for the next one
        return data, deflate.compress(data) + deflate.flush(zlib.Z_SYNC_FLUSH)

    # a thread even for one: blocks are read and written meanwhile
    with _replacing(path) as raw, Threads(threads, ahead=2) as engine:
        checksum = size = 0
        if zipped:
            raw.write(b"\x1f\x8b\x08\0\0\0\0\0\0\xff")  # deflate, no name, no time, unknown system
        for data, packed in engine.map(make, blocks):
            checksum, size = zlib.crc32(data, checksum), size + len(data)
            raw.write(packed)
        if zipped:
            raw.write(zlib.compressobj(5, zlib.DEFLATED, -zlib.MAX_WBITS).flush())
            raw.write(checksum.to_bytes(4, "little") + (size & 0xFFFFFFFF).to_bytes(4, "little"))


@contextmanager
def replaced_folder(path: str | os.PathLike[str], mark: str) -> Iterator[Path]:
    """A temporary neighbour of the folder that takes its name when all went well.

    Args:
        mark: a file of a folder that was made so before, which alone gives way.

    Raises:
        InputError: there is something else by that name, or the folder cannot be made.
    """
    path = Path(path).absolute()
    if path.exists() and not (path / mark).is_file() and not (path.is_dir() and not any(path.iterdir())):
        raise InputError(f"is there, and not a folder with {mark} that could be replaced; give another name", path)
    make_folder(path.parent)
    temporary, old = (path.with_name(f".{path.name}.{os.getpid()}{end}") for end in (_TEMPORARY, f".old{_TEMPORARY}"))
    try:
        yield make_folder(temporary)
        if path.exists():
            path.rename(old)
        temporary.rename(path)
    finally:
        if old.exists() and not path.exists():
            old.rename(path)
        shutil.rmtree(temporary, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def split_fields(line: str) -> list[str]:
    """What stands between ``|||``, without blanks around it; bars within a word are part of it."""
    return [field.strip() for field in _BARS.split(line)]


def write_lines(path: str | os.PathLike[str], lines: Iterable[str]) -> None:
    """Writes the lines, each ended by a newline, atomically."""
    with atomic_write(path) as file:
        file.writelines(line + "\n" for line in lines)


def put_lines(path: str | os.PathLike[str] | None, lines: Iterable[str]) -> None:
    """The same, or to standard output where there is no path."""
    if path:
        write_lines(path, lines)
    else:
        sys.stdout.writelines(line + "\n" for line in lines)


def copy_text(source: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """A copy, compressed or not as each name says."""
    with atomic_write(target, "wb") as file:
        for block, _ in read_blocks(source, 1 << 16):
            file.write(block)


def write_json(path: str | os.PathLike[str], value: Any) -> None:
    """Writes the value, indented, in the order of its keys as they are."""
    with atomic_write(path) as file:
        json.dump(value, file, indent=1, ensure_ascii=False)
        file.write("\n")


def align_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of equal width: the first column to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))])
        for row in rows
    ]
