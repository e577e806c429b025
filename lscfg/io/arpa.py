r"""ARPA language models: a cheap check of the structure, and a plain reader for inspection.

SRILM and KenLM define the format: a ``\\data\\`` header with the number of n-grams of each order, then one section
for each order, then ``\\end\\``. All numbers are log10.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

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


@dataclass(frozen=True)
class Arpa:
    """The content of an ARPA file."""

    counts: tuple[int, ...]
    """Number of n-grams of each order, unigrams first."""
    log_probs: dict[tuple[str, ...], float]
    """log10 probability of the last word of each n-gram, given the other words."""
    log_backoffs: dict[tuple[str, ...], float]
    """log10 backoff weight of each n-gram below the highest order; 0 if the file contains none."""

    @property
    def order(self) -> int:
        """Length of the longest n-grams."""
        return len(self.counts)

    def log_prob(self, context: tuple[str, ...], word: str) -> float:
        """log10 probability of the word after the context, backing off; a word outside the vocabulary is ``<unk>``."""
        gram = (*context[max(0, len(context) - self.order + 1) :], word)
        penalty = 0.0
        while gram not in self.log_probs:
            if len(gram) == 1:
                return penalty + self.log_probs.get(("<unk>",), -math.inf)
            penalty += self.log_backoffs.get(gram[:-1], 0.0)
            gram = gram[1:]
        return penalty + self.log_probs[gram]


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


def check_arpa(path: str | os.PathLike[str], order: int | None = None) -> int:
    r"""Checks the structure of an ARPA file (plain or compressed) in one pass without storing it; returns its order.

    Raises:
        InputError: the file cannot be read; the header is damaged or cut off; the number of n-grams of a section
            differs from the header; ``\\end\\`` is missing; or the order differs from the expected one.
    """
    lines = arpa_lines(path)
    counts = _header(lines, path)
    if order is not None and order != len(counts):
        raise InputError(f"ARPA file of order {len(counts)}, expected {order}", path)
    for length, number, line in _entries(lines, counts, path):
        _check_probability(line, length, path, number)
    return len(counts)


def _check_probability(line: bytes, length: int, path: str | os.PathLike[str], number: int) -> None:
    """Refuses what no decoder can multiply by a weight; <s> may have any probability, since nothing predicts <s>."""
    text, _, words = line.replace(b"\t", b" ").partition(b" ")
    try:
        value = float(text)
    except ValueError:
        return  # KenLM decides about all else
    if not -LARGEST <= value <= TINY and words.split(b" ")[:1] != [b"<s>"]:
        gram = " ".join(words.decode("utf-8", "replace").split()[:length])
        raise InputError(f"the log10 probability of {quote(gram)} is {value:g}; {CURE}", path, number)


def read_arpa(path: str | os.PathLike[str]) -> Arpa:
    """Reads an ARPA file, which may be compressed, into memory, for tests and inspection rather than decoding.

    Raises:
        InputError: see ``check_arpa``; or a line is not UTF-8, has the wrong number of words or a bad number, or
            repeats an n-gram.
    """
    lines = arpa_lines(path)
    counts = _header(lines, path)
    log_probs: dict[tuple[str, ...], float] = {}
    log_backoffs: dict[tuple[str, ...], float] = {}
    for order, number, line in _entries(lines, counts, path):
        try:
            fields = line.decode("utf-8").replace("\t", " ").split(" ")
        except UnicodeDecodeError as error:
            raise InputError("not valid UTF-8; make the file again", path, number) from error
        gram = tuple(fields[1 : order + 1])
        with_backoff = len(fields) == order + 2 and order < len(counts)
        if len(gram) != order or not (with_backoff or len(fields) == order + 1):
            wanted = f"a probability, {order} words" + (" and optionally a backoff" if order < len(counts) else "")
            raise InputError(f"expected {wanted} on this line; the ARPA file is damaged", path, number)
        try:
            prob, backoff = float(fields[0]), float(fields[-1]) if with_backoff else 0.0
        except ValueError as error:
            raise InputError("bad number; the ARPA file is damaged", path, number) from error
        if not prob <= 0 or not math.isfinite(backoff):
            raise InputError("log10 probability above 0 or bad backoff; the ARPA file is damaged", path, number)
        if gram in log_probs:
            raise InputError(f"n-gram {' '.join(gram)} occurs twice; the ARPA file is damaged", path, number)
        log_probs[gram] = prob
        if order < len(counts):
            log_backoffs[gram] = backoff
    return Arpa(counts, log_probs, log_backoffs)
