"""Safetensors files: named arrays with string metadata."""

from __future__ import annotations

import contextlib
import json
import math
import mmap
import os
import sys
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from lscfg.errors import InputError, cut, quote
from lscfg.io.compression import is_compressed
from lscfg.io.narrow import widened
from lscfg.io.read import open_bytes, read_bytes
from lscfg.io.write import atomic_write
from lscfg.json_text import parse_json

_DTYPES = {"int64": "I64", "float64": "F64", "int32": "I32", "float32": "F32", "uint16": "U16", "uint8": "U8"}
"""Names of the format for the types in files of lscfg."""

FORMAT = "1"
"""Value of ``format`` in the metadata; files without ``format`` have this format, too."""

PACKED = "2"
"""The format of models with packed tensors, which older versions cannot read."""

WITH_CATEGORIES = "3"
"""The format of models with several categories, packed or not."""

NARROW = "4"
"""The format of models with arrays in fewer bytes (``lscfg.io.narrow``)."""

COMPILED = "2"
"""The format of compiled grammars and language models with such arrays."""

COMPILED_KINDS = ("grammar", "ngrams")
"""Kinds of compiled files."""

CHECKSUM, CHECKSUM_KIND = "checksum", "crc32"
"""Name of the last array, and of its kind in the metadata: the CRC-32 of all bytes before, little-endian.

Files of older versions have neither. The kernel checks models, too. CRC-32 finds every change within 32 bits and takes
half of the time of SHA-256.
"""

DOUBLE = np.dtype(np.float64)


@dataclass(frozen=True, eq=False)
class Blocks:
    """An array that is made block by block while it is written, so that memory never holds the whole array."""

    shape: tuple[int, ...]
    """Shape of the whole array."""
    parts: Callable[[np.dtype], Iterator[np.ndarray]]
    """Yields blocks of the first axis in order, in the given type; each block is used up before the next one."""
    dtype: np.dtype = DOUBLE
    """Type of the array."""

    def astype(self, dtype: np.dtype) -> Blocks:
        """Converts the array to another type."""
        return replace(self, dtype=dtype)

    @property
    def nbytes(self) -> int:
        """Bytes of the whole array."""
        return math.prod(self.shape) * self.dtype.itemsize

    def array(self) -> np.ndarray:
        """The whole array."""
        whole, first = np.empty(self.shape, self.dtype), 0
        for part in self.parts(self.dtype):
            whole[first : first + len(part)] = part
            first += len(part)
        return whole


class Spool:
    """An array that grows piece by piece in an unnamed temporary file, so that memory never holds the whole array.

    Args:
        folder: folder of the temporary file, with enough space.
        dtype: type of the pieces.
        row: shape of a row; pieces are joined along the first axis.
    """

    def __init__(self, folder: str | os.PathLike[str], dtype: type[np.generic], row: tuple[int, ...] = ()):
        self.dtype = np.dtype(dtype)
        self._row = row
        self._rows = 0
        self._folder = folder
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
            import tempfile

            self.file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - close() ends it
        except OSError as error:
            raise InputError(f"cannot write a temporary file there: {error.strerror or error}", folder) from error

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array so far."""
        return (self._rows, *self._row)

    def append(self, piece: np.ndarray) -> None:
        """Adds rows.

        Raises:
            ValueError: the piece has another type or shape.
            InputError: the piece cannot be written.
        """
        if piece.dtype != self.dtype or piece.shape[1:] != self._row:
            raise ValueError(f"rows of {piece.dtype} {piece.shape[1:]}, not {self.dtype} {self._row}")
        try:
            self.file.write(np.ascontiguousarray(piece).data)
        except OSError as error:
            raise InputError(f"cannot write a temporary file there: {error.strerror}", self._folder) from error
        self._rows += len(piece)

    def close(self) -> None:
        """Frees the space."""
        with contextlib.suppress(OSError):  # raised for unwritten data, which nobody needs any more
            self.file.close()


def check_model_output(path: str | os.PathLike[str]) -> None:
    """Refuses to compress a model.

    Raises:
        InputError: the name ends in .gz.
    """
    if os.fspath(path).endswith(".gz"):
        raise InputError("decoders map a model, which cannot be compressed; leave out .gz", path)


def save(
    path: str | os.PathLike[str], arrays: Mapping[str, np.ndarray | Blocks | Spool], metadata: Mapping[str, str]
) -> None:
    """Writes the arrays; equal values and metadata give equal bytes.

    The arrays go to the file one after the other, straight from memory: the library would build the whole file as one
    string first, which takes longer than the estimation of a large model, and would not order the metadata. Arrays of
    wider items come first, so that all are aligned; the checksum comes last. A file whose name ends in .gz is
    compressed.

    Raises:
        InputError: the file cannot be written, or as ``check_model_output``.
    """
    if metadata.get("lscfg") == "model":
        check_model_output(path)
    order = sorted(arrays, key=lambda name: (-arrays[name].dtype.itemsize, name))
    header: dict[str, object] = {"__metadata__": dict(sorted({**metadata, CHECKSUM: CHECKSUM_KIND}.items()))}
    end = 0
    for name in order:
        array = arrays[name]
        begin, end = end, end + math.prod(array.shape) * array.dtype.itemsize
        header[name] = {"dtype": _DTYPES[array.dtype.name], "shape": list(array.shape), "data_offsets": [begin, end]}
    header[CHECKSUM] = {"dtype": "U8", "shape": [4], "data_offsets": [end, end + 4]}
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    text += b" " * (-len(text) % 8)
    with atomic_write(path, "wb") as file:
        summed = _Summed(file)
        summed.write(len(text).to_bytes(8, "little") + text)
        for name in order:
            _write_array(summed, arrays[name])
        file.write(summed.checksum.to_bytes(4, "little"))


class _Summed:
    """A file that is written, and the CRC-32 of what was written."""

    def __init__(self, file: IO[bytes]):
        self._file, self.checksum = file, 0

    def write(self, data: bytes | memoryview) -> int:
        self.checksum = zlib.crc32(data, self.checksum)
        return self._file.write(data)


def _check_sum(data: memoryview, metadata: Mapping[str, str], path: str | os.PathLike[str]) -> None:
    """Compares the bytes of a whole file with the checksum at their end.

    Raises:
        InputError: they differ.
    """
    if zlib.crc32(data[:-4]) != int.from_bytes(data[-4:], "little") or metadata.get(CHECKSUM) != CHECKSUM_KIND:
        raise InputError("damaged: the checksum does not fit; copy or make the file again", path)


def _check_whole(path: str | os.PathLike[str], metadata: Mapping[str, str]) -> None:
    """Compares a file with its checksum, without reading it into memory; see ``_check_sum``."""
    with (
        open(path, "rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped,
        memoryview(mapped) as data,
    ):
        _check_sum(data, metadata, path)


def _write_array(file: _Summed, array: np.ndarray | Blocks | Spool) -> None:
    if isinstance(array, Spool):
        import shutil

        array.file.seek(0)
        shutil.copyfileobj(array.file, file, 1 << 20)
        return
    for part in array.parts(array.dtype) if isinstance(array, Blocks) else (array,):
        values = np.ascontiguousarray(part)
        if sys.byteorder == "big":
            values = values.byteswap()
        file.write(values.reshape(-1).view(np.uint8).data)


def _type_of(name: str, code: str, shape: Sequence[int], path: str | os.PathLike[str]) -> np.dtype:
    """NumPy's type for a type of the format.

    Raises:
        InputError: files of lscfg do not use the type, or NumPy has no arrays of the shape, not even empty ones.
    """
    for known, its_code in _DTYPES.items():
        if its_code == code and math.prod(size for size in shape if size) < 2**60:
            return np.dtype(known).newbyteorder("<")
    raise InputError(
        f"array {quote(name)} is {code} {list(shape)}, which no file of lscfg uses; make the file again", path
    )


def _load_compressed(path: str | os.PathLike[str]) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Arrays and metadata of a compressed file, which is read as a whole."""
    import safetensors

    data = read_bytes(path)
    arrays = {}
    for name, found in safetensors.deserialize(data):  # checks the header, too
        arrays[name] = np.frombuffer(found["data"], _type_of(name, found["dtype"], found["shape"], path)).reshape(
            found["shape"]
        )
    try:
        header = parse_json(data[8 : 8 + int.from_bytes(data[:8], "little")])
    except ValueError as error:
        raise InputError(f"its header is not JSON ({error}); make the file again", path) from error
    metadata = header.get("__metadata__") or {}
    if CHECKSUM in arrays or CHECKSUM in metadata:
        _check_sum(memoryview(data), metadata, path)
        arrays.pop(CHECKSUM, None)
    return arrays, metadata


def is_tensors(path: str | os.PathLike[str]) -> bool:
    """True for a file of arrays, perhaps compressed, by its first bytes; False for text and for a missing file."""
    if not os.path.isfile(path):
        return False
    with open_bytes(path) as file:
        begin = file.read(9)
    return len(begin) == 9 and b"\0" in begin[:8] and begin[8:] == b"{"


def load(
    path: str | os.PathLike[str], kind: str, names: Collection[str] | None = None
) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Arrays and metadata of a file of the given kind.

    Args:
        kind: the expected value of ``lscfg`` in the metadata, such as ``"model"``.
        names: names of the arrays to read; None: all.

    Raises:
        InputError: the file is missing, cut off or of another kind, or lacks an array.
    """
    import safetensors

    try:
        if is_compressed(path):
            arrays, metadata = _load_compressed(path)
            _check(kind, metadata, arrays, names, path)
            found = {name: arrays[name] for name in (arrays if names is None else names)}
            return (_wide(found, path) if names is None and _is_narrow(metadata) else found), metadata
        with safetensors.safe_open(os.fspath(path), "numpy") as file:
            metadata = dict(file.metadata() or {})
            present = sorted(file.keys())
            _check(kind, metadata, present, names, path)
            wanted = [name for name in (present if names is None else names) if name != CHECKSUM]
            if wanted and (CHECKSUM in present or CHECKSUM in metadata):
                _check_whole(path, metadata)
            for name in wanted:
                header = file.get_slice(name)
                _type_of(name, header.get_dtype(), header.get_shape(), path)
            found = {name: file.get_tensor(name) for name in wanted}
            return (_wide(found, path) if names is None and _is_narrow(metadata) else found), metadata
    except OSError as error:
        reason = error.strerror or str(error).removesuffix(f": {os.fspath(path)}")  # safetensors adds the path
        raise InputError(f"cannot read: {reason}", path) from error
    except safetensors.SafetensorError as error:
        if _is_text(path):
            cure = "name a model, derivations or another binary file that lscfg wrote"
            raise InputError(f"not a safetensors file but text; {cure}", path) from error
        raise InputError(f"not a safetensors file, or cut off ({error}); make it again", path) from error


def _is_narrow(metadata: Mapping[str, str]) -> bool:
    """True for files whose arrays may be narrow; in others, an array may have a name that ends as theirs."""
    return metadata.get("lscfg") in COMPILED_KINDS or metadata.get("format") == NARROW


def _wide(arrays: dict[str, np.ndarray], path: str | os.PathLike[str]) -> dict[str, np.ndarray]:
    try:
        return widened(arrays)
    except ValueError as error:
        raise InputError(f"damaged: {error}; make the file again", path) from error


def _is_text(path: str | os.PathLike[str]) -> bool:
    """True if a file begins with text, such as a grammar or a language model."""
    with open(path, "rb") as file:
        begin = file.read(512)
    text = begin.decode("utf-8", "replace").rstrip("\ufffd")  # a character may be cut
    return b"\0" not in begin and "\ufffd" not in text and bool(text.strip())


def metadata_json(metadata: Mapping[str, str], key: str, default: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The JSON object under a key of the metadata.

    Args:
        default: the value if the key is missing.

    Raises:
        ValueError: the key is missing, or its value is not an object.
    """
    if default is not None and key not in metadata:
        return dict(default)
    try:
        found = parse_json(metadata.get(key, ""), infinities=True)
    except ValueError as error:
        raise ValueError(f"its metadata '{key}' is not JSON ({error})") from error
    if not isinstance(found, dict):
        raise ValueError(f"its metadata '{key}' is not a JSON object")
    return found


class _OtherKindError(InputError):
    """A file of lscfg of another kind."""


def _check(
    kind: str,
    metadata: Mapping[str, str],
    present: Collection[str],
    names: Collection[str] | None,
    path: str | os.PathLike[str],
) -> None:
    if metadata.get("lscfg") != kind:
        raise _OtherKindError(f"not an lscfg {kind} file, but {quote(metadata.get('lscfg', 'something else'))}", path)
    has = cut(metadata.get("format", FORMAT))
    reads = (FORMAT, PACKED, WITH_CATEGORIES, NARROW) if kind == "model" else (FORMAT,)
    reads = (COMPILED,) if kind in COMPILED_KINDS else reads
    if has not in reads:
        known = f"format {FORMAT}" if len(reads) == 1 else f"formats {reads[0]} to {reads[-1]}"
        raise InputError(f"the {kind} has format {has}, and this version of lscfg reads {known}; update it", path)
    for name in names or ():
        if name not in present:
            raise InputError(f"array {quote(name)} is missing; make the file again", path)


def file_kind(path: str | os.PathLike[str]) -> str:
    """The kind of an lscfg file: ``model`` or ``derivations``.

    Raises:
        InputError: the file is neither, or as ``load``.
    """
    for candidate in ("model", "derivations"):
        try:
            load(path, candidate, [])
            return candidate
        except _OtherKindError as error:
            problem = error
    raise problem
