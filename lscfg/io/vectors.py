"""Word vectors as text: a word and its numbers on each line."""

from __future__ import annotations

import math
import os
from collections.abc import Collection

import numpy as np

from lscfg.errors import InputError, quote
from lscfg.io.read import stream_lines


def read_vectors(path: str | os.PathLike[str], words: Collection[str]) -> np.ndarray:
    """Vectors of words, float64 [words, dimensions], 0 for words without a vector in the file.

    A line of the file holds a word and its numbers; a first line with two numbers, as word2vec writes it, is skipped.

    Raises:
        InputError: a line has another number of values or a value that is not finite, or no word has a vector.
    """
    number = {word: k for k, word in enumerate(words)}
    rows: list[int] = []
    values: list[list[float]] = []
    size = 0
    for line, text in enumerate(stream_lines(path), 1):
        word, *fields = text.split() or [""]
        if line == 1 and len(fields) == 1:
            continue
        size = size or len(fields)
        if not fields or len(fields) != size:
            raise InputError(f"{len(fields)} values, but {size} on earlier lines; make the vectors again", path, line)
        if word not in number:
            continue
        try:
            own = [float(field) for field in fields]
        except ValueError as error:
            raise InputError(f"{error}; make the vectors again", path, line) from None
        if not all(map(math.isfinite, own)):
            raise InputError(f"the vector of {quote(word)} is not finite; make the vectors again", path, line)
        rows.append(number[word])
        values.append(own)
    if not rows:
        raise InputError(
            "no word of the text has a vector; were the vectors learned from text of the same tokenisation?", path
        )
    found = np.zeros((len(number), size))
    found[rows] = values
    return found
