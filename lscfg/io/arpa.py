r"""ARPA language models: a cheap check of the structure.

SRILM and KenLM define the format: a ``\\data\\`` header with the number of n-grams of each order, then one section
for each order, then ``\\end\\``. All numbers are log10.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from lscfg.errors import InputError, quote
from lscfg.io.encoding import KENLM, text_beginning
from lscfg.io.read import open_bytes

_COUNT = re.compile(rb"ngram +(\d{1,3}) *= *(\d{1,18})")


LARGEST = 3.4e38
"""Largest absolute value of a number in single precision, in which KenLM computes."""

TINY = 7e-46
"""Largest number that is 0 in single precision."""

CURE = "a decoder needs a finite number of at most 0: write -99 for a probability of 0"
"""End of messages about a probability that no decoder can use."""

Lines = Iterator[tuple[int, bytes]]


def is_binary(path: str | os.PathLike[str]) -> bool:
    """True for a model in KenLM's binary format.

    Raises:
        InputError: the file cannot be read.
    """
    try:
        with open(path, "rb") as file:
            return file.read(len(KENLM)) == KENLM
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror or error}", path) from error


def arpa_lines(path: str | os.PathLike[str]) -> Lines:
    """Numbered lines, stripped; a damaged file raises an InputError."""
    with open_bytes(path) as file:
        for number, line in enumerate(file, 1):
            yield number, (text_beginning(line, path) if number == 1 else line).strip(b" \t\r\n")


def _header(lines: Lines, path: str | os.PathLike[str]) -> tuple[int, ...]:
    """Reads up to the line of the unigram section, and returns the counts."""
    for number, line in lines:
        if line == b"\\data\\":
            break
        if line and not line.startswith(b"#"):
            raise InputError("not an ARPA file: no \\data\\ line; make one with lscfg lm", path, number)
    else:
        raise InputError("not an ARPA file: no \\data\\ line; make one with lscfg lm", path)
    counts: list[int] = []
    for number, line in lines:
        if line == b"\\1-grams:" and counts:
            return tuple(counts)
        if not line:
            continue
        match = _COUNT.fullmatch(line)
        if not match or int(match[1]) != len(counts) + 1:
            wanted = f"ngram {len(counts) + 1}=COUNT" + (" or \\1-grams:" if counts else "")
            raise InputError(f"damaged ARPA header: expected {wanted}; make the file again", path, number)
        counts.append(int(match[2]))
    raise InputError("ARPA file is cut off in its header; make it again", path, number + 1)


def _entries(lines: Lines, counts: tuple[int, ...], path: str | os.PathLike[str]) -> Iterator[tuple[int, int, bytes]]:
    """(order, line number, line) of every n-gram after the header; checks sections, counts and the end."""
    number = 0
    for order, count in enumerate(counts, 1):
        seen = 0
        closing = b"\\%d-grams:" % (order + 1) if order < len(counts) else b"\\end\\"
        for number, line in lines:
            if line.startswith(b"\\"):
                if line != closing:
                    raise InputError(f"expected {closing.decode()} here; the ARPA file is damaged", path, number)
                break
            if line:
                seen += 1
                yield order, number, line
        else:
            raise InputError("ARPA file is cut off: no \\end\\ line; make it again", path, number + 1)
        if seen != count:
            raise InputError(f"{seen} {order}-grams, but {count} in the header; make the file again", path, number)
    # Reading to the very end lets gzip find a wrong checksum.
    for number, line in lines:
        if line:
            raise InputError("text after the \\end\\ line; the ARPA file is damaged", path, number)


def arpa_entries(path: str | os.PathLike[str]) -> tuple[tuple[int, ...], Iterator[tuple[int, int, bytes]]]:
    """The number of n-grams of each order, and (order, line number, line) of every n-gram, in one pass.

    Raises:
        InputError: see ``check_arpa``; on the way the iterator raises it, too.
    """
    lines = arpa_lines(path)
    counts = _header(lines, path)
    return counts, _entries(lines, counts, path)


def check_arpa(path: str | os.PathLike[str], order: int | None = None) -> int:
    r"""Checks the structure of an ARPA file (plain or compressed) in one pass without storing it; returns its order.

    Raises:
        InputError: the file cannot be read; the header is damaged or cut off; the number of n-grams of a section
            differs from the header; ``\\end\\`` is missing; or the order differs from the expected one.
    """
    counts, entries = arpa_entries(path)
    if order is not None and order != len(counts):
        raise InputError(f"ARPA file of order {len(counts)}, expected {order}", path)
    for length, number, line in entries:
        _check_probability(line, length, path, number)
    return len(counts)


def _check_probability(line: bytes, length: int, path: str | os.PathLike[str], number: int) -> None:
    """Refuses what no decoder can multiply by a weight; <s> may have any probability, since nothing predicts <s>."""
    text, _, words = line.replace(b"\t", b" ").partition(b" ")
    try:
        value = float(text)
    except ValueError:
        return  # KenLM decides about all else
    if -LARGEST <= value <= TINY:
        return
    gram = " ".join(words.decode("utf-8", "replace").split()[:length])
    if gram != "<s>":
        raise InputError(f"the log10 probability of {quote(gram)} is {value:g}; {CURE}", path, number)
