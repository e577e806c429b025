"""Word classes of cdec's language models: ``CLASS WORD LOGP`` in each line."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import NamedTuple

from lscfg.errors import InputError, quote
from lscfg.io.numbers import parse_number
from lscfg.io.read import read_lines

ROUNDING = 1e-6
"""Largest logarithm of a probability that a program which divides counts writes instead of 0."""


class WordClasses(NamedTuple):
    """A class for each word, and the logarithm of the word's probability in the class."""

    classes: dict[str, str]
    emissions: dict[str, float]


def read_word_classes(path: str | os.PathLike[str]) -> WordClasses:
    """Reads the classes of a file, once as long as the file does not change.

    Raises:
        InputError: the file has no line or its last one is cut off, a line is malformed, or a word has two classes.
    """
    try:
        state = os.stat(path)
    except OSError:
        return _read(os.fspath(path), 0, 0)  # which names the error
    return _read(os.fspath(path), state.st_size, state.st_mtime_ns)


@lru_cache(8)
def _read(path: str, size: int, changed: int) -> WordClasses:
    """The classes of a file of a size, changed at a time."""
    found = WordClasses({}, {})
    for number, line in enumerate(read_lines(path, closed=True), 1):
        cells = re.split("[ \t]+", line.strip(" \t"))
        if len(cells) != 3:
            raise InputError(f"expected CLASS WORD LOGP, found {quote(line)}", path, number)
        name, word, value = cells
        try:
            emission = parse_number(value)
        except ValueError as error:
            raise InputError(f"expected CLASS WORD LOGP, but {error}", path, number) from None
        if emission > ROUNDING:
            raise InputError(f"{quote(value)} is not the logarithm of a probability", path, number)
        if word in found.classes:
            raise InputError(f"a second class of {quote(word)}; keep one of the two", path, number)
        found.classes[word], found.emissions[word] = name, emission
    if not found.classes:
        raise InputError("no classes; write CLASS WORD LOGP in each line", path)
    return found
