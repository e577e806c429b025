"""ARPA files in memory."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass

from lscfg.errors import InputError
from lscfg.io.arpa import arpa_entries


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


def read_arpa(path: str | os.PathLike[str]) -> Arpa:
    """Reads an ARPA file, which may be compressed, into memory.

    Raises:
        InputError: see ``check_arpa``; or a line is not UTF-8, has the wrong number of words or a bad number, or
            repeats an n-gram.
    """
    counts, entries = arpa_entries(path)
    log_probs: dict[tuple[str, ...], float] = {}
    log_backoffs: dict[tuple[str, ...], float] = {}
    for order, number, line in entries:
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
