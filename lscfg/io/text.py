"""Text: strict UTF-8 lines in, atomically renamed files out, gzip by the name's ending; tables."""

from __future__ import annotations

import bisect
import errno
import fcntl
import gzip
import hashlib
import io
import itertools
import json
import os
import re
import secrets
import shutil
import stat
import sys
import unicodedata
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from itertools import islice
from pathlib import Path
from typing import IO, Any

from lscfg.errors import InputError
from lscfg.parallel.threads import Threads

_BARS = re.compile(r"\|\|\|(?!\S)(?<!\S\|\|\|)")  # the literal first: ten times as fast as it is last

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Of errors in writing: there is no room."""


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
    with _writing(path):
        place = _place(path)
        if place.is_dir():
            raise InputError("is a folder; name a file in it", path)
        folder = make_folder(place.parent)
        if not os.access(place if _is_special(place) else folder, os.W_OK):
            read_only = os.statvfs(folder).f_flag & os.ST_RDONLY
            raise InputError(f"cannot write: {os.strerror(errno.EROFS if read_only else errno.EACCES)}", path)


def check_replaceable(path: str | os.PathLike[str], *contents: str) -> None:
    """Refuses a file that is there. For files whose names a command chooses, so that its user did not ask for them.

    Args:
        contents: text that lscfg itself writes there; it may be replaced.

    Raises:
        InputError: there is a file of other content.
    """
    if os.path.lexists(path) and not (contents and read_bytes(path) in [text.encode() for text in contents]):
        raise InputError("is there already and would be replaced; name another folder, or remove it", path)


def _place(path: str | os.PathLike[str]) -> Path:
    """The file that is to be written: where the path is a link, the file that it stands for."""
    path = Path(path)
    return Path(os.path.realpath(path)) if path.is_symlink() and not _is_special(path) else path


def _is_special(path: Path) -> bool:
    """A pipe, a device or a link of the system's to one: to be written, not replaced."""
    place = str(path.absolute())
    of_system = path.absolute().parent == Path("/dev") or place.startswith(("/dev/fd/", "/proc/"))
    return path.exists() and not path.is_dir() and (of_system or not path.is_file())


_TEMPORARY = ".lscfg.{}.tmp"

_NEW = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC


def remove_temporaries(folder: Path, below: bool = True) -> None:
    """Removes what killed processes have left of the files and folders that they were writing.

    The temporary of a living process is locked, and stays.

    Args:
        below: in folders below this one, too.
    """
    pattern = _TEMPORARY.format("*")
    for left in [*(folder.rglob(pattern) if below else folder.glob(pattern))]:
        with suppress(OSError):
            file = os.open(left, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if left.is_dir():
                    shutil.rmtree(left)
                else:
                    left.unlink()
            finally:
                os.close(file)


def _make_temporary(folder: Path) -> tuple[Path, int]:
    """A new, locked file of a name that nobody can guess, with the permissions of any new file; open for writing."""
    while True:
        path = folder / _TEMPORARY.format(secrets.token_hex(8))
        try:
            file = os.open(path, _NEW | os.O_EXCL | os.O_NOFOLLOW, 0o666)
        except FileExistsError:
            continue
        with suppress(OSError):  # where there are no locks, remove_temporaries gets none either
            fcntl.flock(file, fcntl.LOCK_EX)
        if os.fstat(file).st_nlink:  # else it was taken for a left one before it had its lock
            return path, file
        os.close(file)


@contextmanager
def _replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A temporary neighbour of ``path`` that takes its name when all went well."""
    check_output(path)
    place = _place(path)
    special = _is_special(place)
    with _writing(path):
        new = (place, os.open(place, _NEW | os.O_TRUNC, 0o666)) if special else _make_temporary(place.parent)
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
    """What the system refuses becomes an error that names the file."""
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror or error}", path) from error


@contextmanager
def atomic_write(path: str | os.PathLike[str], mode: str = "w", level: int = 9) -> Iterator[IO]:
    """Opens a temporary neighbour of ``path`` for writing; it takes the name only when all went well.

    ``mode`` is ``"w"`` (UTF-8 text) or ``"wb"``. A name ending in .gz is compressed, without a time stamp in it, so
    that equal content gives equal bytes; ``level`` is 1 (fast) to 9.

    Raises:
        InputError: the file cannot be written.
    """
    with _replacing(path) as raw:
        binary = gzip.GzipFile("", "wb", level, raw, mtime=0) if str(path).endswith(".gz") else raw
        if mode == "wb":
            yield binary  # type: ignore[misc]
        else:
            text = io.TextIOWrapper(binary, encoding="utf-8", newline="\n")  # type: ignore[type-var]
            yield text
            text.flush()
            text.detach()
        if binary is not raw:
            binary.close()


def write_blocks(
    path: str | os.PathLike[str], blocks: Iterable[Callable[[], bytes]], threads: int = 1, level: int = 5
) -> None:
    """Writes the bytes that each of ``blocks`` makes, in order, atomically; .gz is compressed.

    Blocks are made and compressed by ``threads`` threads, each block for itself, so that the number of threads does not
    change the file.

    Args:
        level: of compression, 1 (fast) to 9.

    Raises:
        InputError: the file cannot be written.
    """
    zipped = str(path).endswith(".gz")

    def make(block: Callable[[], bytes]) -> tuple[bytes, bytes]:
        data = block()
        if not zipped:
            return data, data
        deflate = zlib.compressobj(level, zlib.DEFLATED, -zlib.MAX_WBITS)
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
            raw.write(zlib.compressobj(level, zlib.DEFLATED, -zlib.MAX_WBITS).flush())
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
    remove_temporaries(make_folder(path.parent), below=False)
    number = secrets.token_hex(8)
    temporary = make_folder(path.with_name(_TEMPORARY.format(number)))
    old = path.with_name(f".{path.name}.{number}.old")  # no temporary: for a moment it is all there is
    lock = os.open(temporary, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield temporary
        if path.exists():
            path.rename(old)
        temporary.rename(path)
    finally:
        if old.exists() and not path.exists():
            old.rename(path)
        shutil.rmtree(temporary, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)
        os.close(lock)


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


def put_as_they_come(path: str | os.PathLike[str] | None, groups: Iterable[Iterable[str]]) -> None:
    """The same for lines that come over time: whoever reads them has each group before the next one is asked for.

    That is so for standard output, pipes and devices. A file has its name when all are written.
    """
    with nullcontext(sys.stdout) if path is None else atomic_write(path) as file:
        for lines in groups:
            file.writelines(line + "\n" for line in lines)
            if path is None or _is_special(Path(path)):
                file.flush()


def copy_text(source: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """A copy, compressed or not as each name says."""
    with atomic_write(target, "wb") as file:
        for block, _ in read_blocks(source, 1 << 16):
            file.write(block)


def write_json(path: str | os.PathLike[str], value: Any) -> None:
    """Writes the value, indented, in the order of its keys as they are."""
    with atomic_write(path) as file:
        json.dump(value, file, indent=1, ensure_ascii=False, allow_nan=False)
        file.write("\n")


def parse_json(text: str) -> Any:
    """The value of a JSON text. Python's own reader takes more than JSON allows: NaN, infinities, a key twice.

    Raises:
        ValueError: the text is none; the message says why in one line.
        RecursionError: it is nested too deeply.
    """
    return json.loads(text, parse_constant=_no_number, object_pairs_hook=_no_key_twice)


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object has a key twice")
    return found


WIDTH = 100
"""Columns of a terminal that a line of a command that shows something may fill."""


def fit(text: str, width: int = WIDTH) -> str:
    """A line cut to a number of columns, where characters of East Asian scripts fill two."""
    ends = list(itertools.accumulate(map(_columns, text)))
    if not ends or ends[-1] <= width:
        return text
    return text[: bisect.bisect_right(ends, width - 1)] + "…"


def _columns(letter: str) -> int:
    return 0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def align_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of equal width: the first column to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))])
        for row in rows
    ]
