"""Errors, memory and vocabularies of the C kernel (plugin/base)."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np

from lscfg.errors import InputError, KernelError, NotBuiltError, quote

try:
    from lscfg._kernel import ffi, lib
except ModuleNotFoundError as error:
    if error.name != "lscfg._kernel":
        raise
    raise NotBuiltError from None


def check(code: int, error: Any, path: str | os.PathLike[str] | None = None) -> None:
    """Raises an exception for a negative status.

    Raises:
        InputError: malformed input, or a file that cannot be opened.
        KernelError: any other failure.
    """
    if code >= 0:
        return
    message = ffi.string(error.message).decode("utf-8", "replace")
    if code in (lib.LSCFG_EINPUT, lib.LSCFG_EIO):
        raise InputError(message, path, int(error.line) or None)
    raise KernelError(message)


def view(pointer: object, shape: int | tuple[int, ...], dtype: Any, owner: object) -> np.ndarray:
    """Returns kernel memory as a read-only array that keeps ``owner`` alive."""
    count = math.prod(shape) if isinstance(shape, tuple) else shape
    if count == 0:
        return np.empty(shape, dtype)
    array = np.frombuffer(ffi.buffer(pointer, count * np.dtype(dtype).itemsize), dtype).reshape(shape)
    return array.view(_Owned)._own(owner)


class _Owned(np.ndarray):
    """An array with a reference to the object that owns its memory."""

    _owner: object = None

    def __array_finalize__(self, parent: object) -> None:
        self._owner = getattr(parent, "_owner", None)

    def _own(self, owner: object) -> _Owned:
        self._owner = owner
        self.flags.writeable = False
        return self


def utf8(text: str) -> bytes:
    """The bytes of a text.

    Raises:
        TypeError: the text is not a string.
        InputError: the text contains half of a surrogate pair, which is not a character.
    """
    if not isinstance(text, str):
        raise TypeError(f"expected a string, not {quote(repr(text))[1:-1]}")
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise InputError(
            f"{quote(text)} contains half of a surrogate pair, which is not a character; decode the text as UTF-8"
        ) from None


class Vocab:
    """Interned words; ids count from 0 in order of addition."""

    def __init__(self) -> None:
        self._pointer = ffi.gc(lib.lscfg_vocab_new(), lib.lscfg_vocab_free)
        if self._pointer == ffi.NULL:
            raise KernelError("out of memory")

    def __len__(self) -> int:
        return int(lib.lscfg_vocab_size(self._pointer))

    def add(self, word: str) -> int:
        """Returns the id of a word; a new word gets the next id.

        Raises:
            KernelError: out of memory.
        """
        data = utf8(word)
        if (found := int(lib.lscfg_vocab_add(self._pointer, data, len(data)))) < 0:
            raise KernelError("out of memory")
        return found

    def find(self, word: str) -> int:
        """Returns the id of a word, -1 if it is unknown."""
        data = utf8(word)
        return int(lib.lscfg_vocab_find(self._pointer, data, len(data)))

    def word(self, index: int) -> str:
        """Returns the word of an id in ``range(len(self))``.

        Raises:
            IndexError: the id is not in this range.
        """
        if not 0 <= index < len(self):
            raise IndexError(index)
        length = ffi.new("size_t *")
        word = lib.lscfg_vocab_word(self._pointer, index, length)
        result: str = ffi.buffer(word, length[0])[:].decode("utf-8")
        return result

    def add_line(self, line: str) -> np.ndarray:
        """Adds the words of a line, separated by blanks; returns their ids, int32.

        Raises:
            KernelError: the kernel is out of memory.
        """
        data = utf8(line)
        ids = np.empty(len(data) // 2 + 1, np.int32)
        count = lib.lscfg_vocab_line(self._pointer, data, len(data), ffi.from_buffer("int32_t[]", ids), len(ids))
        if count < 0:
            raise KernelError("out of memory")
        return ids[:count]


class LineError(InputError):
    """A bad line of parallel text: ``stream`` is 0 for source, 1 for target, 2 for links; ``pair`` counts from 1."""

    def __init__(self, message: str, stream: int, pair: int):
        super().__init__(message)
        self.stream = stream
        self.pair = pair

    def at(self, pair: int, links: str | os.PathLike[str] | None) -> InputError:
        """Returns the error with its position: the line of the alignment file if links are bad, else the pair."""
        if self.stream == lib.LSCFG_LINKS and links is not None:
            return InputError(str(self), links, pair)
        return InputError(f"sentence pair {pair}: {self}")


def words_fault(line: str) -> str | None:
    """Explains why a grammar cannot contain a line of words; None if it can. An empty line is allowed."""
    try:
        data = utf8(line)
    except InputError as half:
        return str(half)
    error = ffi.new("lscfg_error *")
    code = lib.lscfg_check_words(data, len(data), error)
    check(code, error)
    return ffi.string(error.message).decode("utf-8", "replace") if code else None


def refused_characters() -> list[str]:
    """Returns all characters that no word may contain, except the blank: controls, spaces, invisible characters."""
    found = []
    code = lib.lscfg_refused_character(0)
    while code >= 0:
        found.append(chr(code))
        code = lib.lscfg_refused_character(code + 1)
    return found
