"""Compressed files: recognised by their content, decompressed by one reader; only gzip is written."""

from __future__ import annotations

import gzip
import importlib
import io
import os
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import IO, Any, Protocol

from lscfg.errors import InputError

ENDINGS = (".gz", ".xz", ".bz2", ".zst")
"""Endings of the names of files that lscfg reads; the content decides."""

UNWRITTEN = (".xz", ".bz2", ".zst", ".lzma", ".lz4", ".zip", ".7z", ".z", ".tgz", ".br")
"""Endings of compressed files that lscfg does not write."""

DAMAGED = "compressed file is cut off or damaged; make it again"

_CHUNK = 1 << 10  # small, since zstandard expands a chunk as a whole
_LONGEST = 10  # bytes of the longest beginning
_BEGINNINGS = {
    "gzip": re.compile(rb"\x1f\x8b"),
    "xz": re.compile(rb"\xfd7zXZ\0"),
    "bzip2": re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)", re.DOTALL),
    "Zstandard": re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"),  # the second: a frame to skip, of pzstd
}
_FIRST = b"\x1f\xfdB\x28" + bytes(range(0x50, 0x60))  # first bytes of these beginnings
_WINDOW = 31  # binary logarithm of the largest window that zstd --long makes


class _DamageError(Exception):
    """Compressed data that cannot be decompressed."""


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...

    @property
    def needs_input(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


def compression_of(data: bytes) -> str | None:
    """The compression that the first bytes of a file (10 suffice) reveal, such as ``"xz"``; None for other content."""
    return next((name for name, beginning in _BEGINNINGS.items() if beginning.match(data)), None)


def is_compressed(path: str | os.PathLike[str]) -> bool:
    """True if a file is compressed; False for pipes and devices, which a look would empty.

    Raises:
        InputError: the file cannot be read.
    """
    try:
        if not os.path.isfile(path):
            return False
        with open(path, "rb") as file:
            return compression_of(file.read(_LONGEST)) is not None
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror or error}", path) from error


def plain_name(name: str) -> str:
    """The name of a file without the ending of a compressed file."""
    return next((name[: -len(ending)] for ending in ENDINGS if name.lower().endswith(ending)), name)


def check_ending(path: str | os.PathLike[str]) -> None:
    """Refuses to write a file whose ending promises a compression that lscfg does not write.

    Raises:
        InputError: names the ending.
    """
    ending = os.path.splitext(path)[1]
    if ending.lower() in UNWRITTEN or (ending.lower() == ".gz" != ending):
        raise InputError(f"lscfg does not write {ending} files; end the name in .gz, or compress the file later", path)


@contextmanager
def decompressed(file: io.BufferedReader, path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Yields a file's content, decompressed if it is compressed.

    Raises:
        InputError: compressed data are cut off or damaged, or Zstandard needs a package that is not installed.
    """
    begin, file = _beginning(file)
    name = compression_of(begin)
    if name is None and not begin and str(path).endswith(ENDINGS):
        raise InputError(DAMAGED, path)  # as gzip -t says of an empty file
    try:
        match name:
            case None:
                yield file
            case "gzip":
                with gzip.GzipFile(fileobj=file) as content:
                    yield content  # type: ignore[misc]
            case _:
                with io.BufferedReader(_Expanded(file, _maker(name, path)), 1 << 16) as expanded:
                    yield expanded
    except (EOFError, zlib.error, gzip.BadGzipFile, _DamageError) as error:
        raise InputError(DAMAGED, path) from error


def _beginning(file: io.BufferedReader) -> tuple[bytes, io.BufferedReader]:
    """The first bytes of a file, enough to recognise its compression, and the file with all bytes.

    A pipe may deliver its first line byte by byte, and its writer may wait for an answer to that line.
    """
    begin = file.peek(_LONGEST)
    if len(begin) >= _LONGEST or begin[:1] not in _FIRST or not begin:
        return begin[:_LONGEST], file
    begin = b""
    while len(begin) < _LONGEST and not begin.endswith(b"\n") and (byte := file.read(1)):
        begin += byte
    return begin, io.BufferedReader(_Chained(begin, file))


class _Chained(io.RawIOBase):
    """Bytes that were read already, then the rest of a file."""

    def __init__(self, begin: bytes, file: io.BufferedReader):
        self._begin, self._file = begin, file

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._file.fileno()

    def readinto(self, buffer: Any) -> int:
        data = self._begin[: len(buffer)] or self._file.read1(len(buffer))
        self._begin = self._begin[len(data) :]
        buffer[: len(data)] = data
        return len(data)


class _Expanded(io.RawIOBase):
    """The decompressed content of a file of one compressed stream or several; nothing else may follow them."""

    def __init__(self, file: IO[bytes], make: Callable[[], _Decompressor]):
        self._file, self._make, self._stream = file, make, make()
        self._waiting = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = b""
        while not data and (not self._stream.eof or self._next_stream()):
            if not self._waiting and self._stream.needs_input and not (more := self._file.read(_CHUNK)):
                raise _DamageError
            elif not self._waiting and self._stream.needs_input:
                self._waiting = more
            waiting, self._waiting = self._waiting, b""
            try:
                data = self._stream.decompress(waiting, len(buffer))
            except Exception as error:  # each library has its own
                raise _DamageError from error
        buffer[: len(data)] = data
        return len(data)

    def _next_stream(self) -> bool:
        """Begins the next stream; False at the end of the file. Zero bytes may fill the space between streams."""
        rest = self._stream.unused_data.lstrip(b"\0")
        while not rest and (more := self._file.read(_CHUNK)):
            rest = more.lstrip(b"\0")
        self._waiting = rest
        if rest:
            self._stream = self._make()
        return bool(rest)


def _maker(name: str, path: str | os.PathLike[str]) -> Callable[[], _Decompressor]:
    """The constructor of decompressors.

    Raises:
        InputError: no module for Zstandard is installed.
    """
    if name != "Zstandard":
        module, of_module = {"xz": ("lzma", "LZMADecompressor"), "bzip2": ("bz2", "BZ2Decompressor")}[name]
        made: Callable[[], _Decompressor] = getattr(importlib.import_module(module), of_module)
        return made
    try:
        package = importlib.import_module("compression.zstd")
    except ImportError:
        try:
            zstandard = importlib.import_module("zstandard")
        except ImportError as error:
            message = "Zstandard needs a package: pip install zstandard; or decompress the file with zstd -d"
            raise InputError(message, path) from error
        return lambda: _Zstandard(zstandard)
    options = {package.DecompressionParameter.window_log_max: _WINDOW}
    found: Callable[[], _Decompressor] = partial(package.ZstdDecompressor, options=options)
    return found


class _Zstandard:
    """A decompressor of the package zstandard with the interface of Python's own ones."""

    needs_input = True

    def __init__(self, package: Any):
        self._stream = package.ZstdDecompressor(max_window_size=1 << _WINDOW).decompressobj()
        self._waiting = bytearray()

    @property
    def eof(self) -> bool:
        return bool(self._stream.eof) and not self._waiting

    @property
    def unused_data(self) -> bytes:
        return bytes(self._stream.unused_data)

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        if data and not self._stream.eof:
            self._waiting += self._stream.decompress(data)
        size = len(self._waiting) if max_length < 0 else max_length
        found = bytes(self._waiting[:size])
        del self._waiting[:size]
        self.needs_input = not self._waiting
        return found
