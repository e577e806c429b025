"""Word vectors as text, as word2vec, GloVe and fastText write them: a word and its numbers on each line."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, islice

import numpy as np

from lscfg.errors import InputError, quote
from lscfg.io.numbers import parse_number
from lscfg.io.read import stream_lines
from lscfg.log import warning

_LOOK = 1000
"""Lines at the beginning that decide how many numbers a vector has."""

_HEADER = re.compile(r"([0-9]{1,18}) ([0-9]{1,9}) *")


def read_vectors(path: str | os.PathLike[str], words: Collection[str]) -> np.ndarray:
    """Vectors of words, float64 [words, dimensions], 0 for words without a vector in the file.

    A line of the file holds a word and its numbers, separated by blanks; blanks may be part of the word, as in GloVe's
    files. A first line with the numbers of words and dimensions, as in word2vec and fastText, is skipped.

    Raises:
        InputError: a line has another number of values or a value that is not finite, or no word has a vector.
    """
    return parse_vectors(stream_lines(path), path, words)


def parse_vectors(lines: Iterable[str], path: str | os.PathLike[str], words: Collection[str]) -> np.ndarray:
    """The vectors in the lines of a file; see ``read_vectors``.

    Raises:
        InputError: as ``read_vectors``.
    """
    number = {word: k for k, word in enumerate(words)}
    values: dict[int, list[float]] = {}
    rest = iter(lines)
    header = _header(first := list(islice(rest, 1)))
    first = _beginning([] if header else first, rest, path, header)
    size = header[1] if header else _size(first)
    begin = 2 if header else 1
    line, twice = begin - 1, list[str]()
    for line, text in enumerate(chain(first, rest), begin):
        word, fields = _fields(text, size)
        if len(fields) != size or not fields:
            raise InputError(f"{len(fields)} values, but {size} on other lines; make the vectors again", path, line)
        if word not in number:
            continue
        if number[word] in values:
            twice.append(word)
            continue
        try:
            values[number[word]] = [parse_number(field) for field in fields]
        except ValueError as error:
            raise InputError(f"vector of {quote(word)}: {error}; make the vectors again", path, line) from None
    if header and header[0] != line - 1:
        warning(f"{path}: the first line announces {header[0]} vectors, but {line - 1} follow; the file may be cut off")
    if twice:
        warning(f"{path}: words that occur twice: {len(twice)} (first vector kept), for example {quote(twice[0])}")
    if not values:
        raise InputError(
            "no word of the text has a vector; were the vectors learned from text of the same tokenisation?", path
        )
    found = np.zeros((len(number), size))
    found[[*values]] = [*values.values()]
    return found


def _header(lines: Sequence[str]) -> tuple[int, int] | None:
    """The numbers of words and dimensions, if the line has nothing else."""
    found = _HEADER.fullmatch(lines[0]) if lines else None
    return (int(found[1]), int(found[2])) if found else None


def _beginning(
    first: list[str], rest: Iterator[str], path: str | os.PathLike[str], header: tuple[int, int] | None
) -> list[str]:
    """The first lines.

    Raises:
        InputError: the vectors are binary.
    """
    try:
        return first + list(islice(rest, _LOOK))
    except InputError as error:
        if header and error.line == 2:
            raise InputError("vectors in binary form; write them as text", path) from error
        raise


def _size(lines: Sequence[str]) -> int:
    """The number of values that most lines have; of equally frequent numbers the one that comes first."""
    counts = Counter(len(_parts(line)) - 1 for line in lines)
    return counts.most_common(1)[0][0] if counts else 0


def _fields(line: str, size: int) -> tuple[str, list[str]]:
    """A word and its values; in a line that is longer than others, parts that are not numbers belong to the word."""
    word, *fields = _parts(line)
    more = len(fields) - size
    if more > 0 and not all(map(_is_number, fields[:more])):
        return " ".join([word, *fields[:more]]), fields[more:]
    return word, fields


def _parts(line: str) -> list[str]:
    """The word, or its first part, and what follows; a line that begins with a blank has the empty word."""
    first, *others = line.replace("\t", " ").split(" ")
    return [first, *filter(None, others)]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
