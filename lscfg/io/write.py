"""Files written as text or bytes: renamed when they are complete, compressed if the name ends in .gz."""

from __future__ import annotations

import errno
import fcntl
import gzip
import io
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from lscfg.errors import InputError
from lscfg.io.compression import check_ending
from lscfg.io.folders import NEW, make_folder, make_temporary
from lscfg.io.read import read_blocks, read_bytes
from lscfg.later import later

if TYPE_CHECKING:
    from lscfg.parallel import threads as threads_of
else:
    threads_of = later("lscfg.parallel.threads")

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Numbers of errors for a full disk or quota."""

_DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/(\d{1,9})")


def check_output(path: str | os.PathLike[str]) -> None:
    """Refuses a path that cannot be written, before work whose result would be lost.

    Raises:
        InputError: the path is a folder, its ending promises a compression other than gzip, or its own folder cannot be
            made or written.
    """
    check_ending(path)
    _check_place(path)


def _check_place(path: str | os.PathLike[str]) -> None:
    with _writing(path):
        if (number := _descriptor_of(path)) is not None:
            if not fcntl.fcntl(number, fcntl.F_GETFL) & (os.O_WRONLY | os.O_RDWR):
                raise InputError("is not open for writing; name another output", path)
            return
        place = _target(path)
        if place.is_dir():
            raise InputError("is a folder; name a file in it", path)
        folder = make_folder(place.parent)
        if not os.access(place if _is_special(place) else folder, os.W_OK):
            read_only = os.statvfs(folder).f_flag & os.ST_RDONLY
            raise InputError(f"cannot write: {os.strerror(errno.EROFS if read_only else errno.EACCES)}", path)


def check_replaceable(path: str | os.PathLike[str], *contents: str) -> None:
    """Refuses an existing file, for files whose names a command chooses and its user does not give.

    Args:
        contents: text of lscfg that may be replaced.

    Raises:
        InputError: a file with other content exists.
    """
    if os.path.lexists(path) and not (contents and read_bytes(path) in [text.encode() for text in contents]):
        raise InputError("already exists; name another folder, or remove the file", path)


def _target(path: str | os.PathLike[str]) -> Path:
    """The file to write: for a link, its target."""
    path = Path(path)
    return Path(os.path.realpath(path)) if path.is_symlink() and not _is_special(path) else path


def _descriptor_of(path: str | os.PathLike[str]) -> int | None:
    """The number of an open file of this process, such as 1 for ``/dev/stdout``; None for other names."""
    place = os.path.abspath(path)
    found = _DESCRIPTOR.fullmatch(place)
    return int(found[1]) if found else {"/dev/stdout": 1, "/dev/stderr": 2}.get(place)


def _is_special(path: Path) -> bool:
    """True for a pipe, a device, an open file or a system link to one, which is written and not replaced."""
    of_system = path.absolute().parent == Path("/dev") or str(path.absolute()).startswith("/proc/")
    there = path.exists() and not path.is_dir() and (of_system or not path.is_file())
    return there or _descriptor_of(path) is not None


def _open_special(path: Path) -> int:
    """Opens a special file. A copy of a descriptor keeps the place in its file, which may contain other output."""
    number = _descriptor_of(path)
    return os.open(path, NEW | os.O_TRUNC, 0o666) if number is None else os.dup(number)


@contextmanager
def _replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Opens a temporary file next to ``path``, which takes its name at the end of the block if no error occurs."""
    _check_place(path)
    place = _target(path)
    special = _is_special(place)
    if special and sys.stdout is not None:
        sys.stdout.flush()  # earlier output, perhaps to the same file
    with _writing(path):
        new = (place, _open_special(place)) if special else make_temporary(place.parent)
    temporary, descriptor = new
    lock = os.dup(descriptor)  # held until the file has its name
    try:
        with open(descriptor, "wb") as file:
            yield file
        if not special:
            with _writing(path):
                os.replace(temporary, place)
    except BaseException as error:
        if not special:
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in FULL:
            raise InputError(f"cannot write: {error.strerror}", path) from error
        raise
    finally:
        os.close(lock)


@contextmanager
def _writing(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turns errors of the system into an InputError that names the file."""
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror or error}", path) from error


@contextmanager
def atomic_write(path: str | os.PathLike[str], mode: str = "w", level: int = 9) -> Iterator[IO[Any]]:
    """Opens a temporary file next to ``path``, which takes its name at the end of the block if no error occurs.

    ``mode`` is ``"w"`` (UTF-8 text) or ``"wb"``. A file whose name ends in .gz is compressed, without a time stamp, so
    that equal content gives equal bytes; ``level`` is 1 (fast) to 9.

    Raises:
        InputError: the file cannot be written.
    """
    check_ending(path)
    with _replacing(path) as raw:
        binary = gzip.GzipFile("", "wb", level, raw, mtime=0) if str(path).endswith(".gz") else raw
        if mode == "wb":
            yield binary  # type: ignore[misc]
        else:
            text = io.TextIOWrapper(binary, encoding="utf-8", newline="\n")
            yield text
            text.flush()
            text.detach()
        if binary is not raw:
            binary.close()


def write_blocks(
    path: str | os.PathLike[str], blocks: Iterable[Callable[[], bytes]], threads: int = 1, level: int = 5
) -> None:
    """Writes the bytes that each of ``blocks`` returns, in order, atomically; compressed if the name ends in .gz.

    Each block is compressed by itself, so that the number of threads does not change the file.

    Args:
        threads: number of threads that make and compress blocks.
        level: level of compression, 1 (fast) to 9.

    Raises:
        InputError: the file cannot be written.
    """
    check_ending(path)
    zipped = str(path).endswith(".gz")

    def make(block: Callable[[], bytes]) -> tuple[bytes, bytes]:
        data = block()
        if not zipped:
            return data, data
        deflate = zlib.compressobj(level, zlib.DEFLATED, -zlib.MAX_WBITS)
        # a flushed block ends at a byte and leaves the stream open for the next one
        return data, deflate.compress(data) + deflate.flush(zlib.Z_SYNC_FLUSH)

    # a thread even if threads is 1: this thread reads and writes blocks meanwhile
    with _replacing(path) as raw, threads_of.Threads(threads, ahead=2) as engine:
        checksum = size = 0
        if zipped:
            raw.write(b"\x1f\x8b\x08\0\0\0\0\0\0\xff")  # deflate, no name, no time, unknown system
        for data, packed in engine.map(make, blocks):
            checksum, size = zlib.crc32(data, checksum), size + len(data)
            raw.write(packed)
        if zipped:
            raw.write(zlib.compressobj(level, zlib.DEFLATED, -zlib.MAX_WBITS).flush())
            raw.write(checksum.to_bytes(4, "little") + (size & 0xFFFFFFFF).to_bytes(4, "little"))


def write_lines(path: str | os.PathLike[str], lines: Iterable[str]) -> None:
    """Writes the lines, each ended by a newline, atomically."""
    with atomic_write(path) as file:
        file.writelines(line + "\n" for line in lines)


def put_lines(path: str | os.PathLike[str] | None, lines: Iterable[str]) -> None:
    """Writes the lines, to standard output without a path."""
    if path:
        write_lines(path, lines)
    else:
        sys.stdout.writelines(line + "\n" for line in lines)


def put_as_they_come(path: str | os.PathLike[str] | None, groups: Iterable[Iterable[str]]) -> None:
    """Writes lines that arrive over time, to standard output without a path.

    The reader of standard output, a pipe or a device receives each group before the next one is drawn. A file takes its
    name when all lines are written.
    """
    with nullcontext(sys.stdout) if path is None else atomic_write(path) as file:
        for lines in groups:
            file.writelines(line + "\n" for line in lines)
            if path is None or _is_special(Path(path)):
                file.flush()


def copy_file(source: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """Copies the bytes of a file, which takes its name when all are written.

    Raises:
        InputError: the source cannot be read, or the target cannot be written.
    """
    try:
        with open(source, "rb") as file, _replacing(target) as copy:
            while block := file.read(1 << 20):
                copy.write(block)
    except OSError as error:
        raise InputError(f"cannot be copied to {os.fspath(target)}: {error.strerror or error}", source) from error


def copy_text(source: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """Copies a text file; .gz in a name means compression."""
    with atomic_write(target, "wb") as file:
        for block, _ in read_blocks(source, 1 << 16):
            file.write(block)
