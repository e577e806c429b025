"""The n-grams of a text and their counts, order by order.

Every n-gram is a row of a table of its order. Tables are sorted by last word, then last but one, and so on ("suffix
order"), so that an n-gram is a pair (row of its suffix one order down, first word), which packs into one integer.
Suffixes ascend from row to row; contexts do not.
"""

from __future__ import annotations

import os
import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lscfg.errors import InputError
from lscfg.io.read import stream_lines
from lscfg.kernel import refused_characters
from lscfg.log import warning

UNK, BOS, EOS = 0, 1, 2
_REFUSED = re.compile("[" + "".join(character for character in refused_characters() if not character.isascii()) + "]")

SPECIALS = ("<unk>", "<s>", "</s>")


@dataclass(frozen=True, eq=False)
class Counts:
    """All n-grams of one order, in suffix order; every array has shape (n,)."""

    first: np.ndarray
    """First word of each n-gram."""
    suffix: np.ndarray
    """Row of the n-gram without its first word, one order down."""
    context: np.ndarray
    """Row of the n-gram without its last word, one order down."""
    raw: np.ndarray
    """Occurrences in the text."""

    def __len__(self) -> int:
        return len(self.first)


def tokenized_lines(path: str | os.PathLike[str]) -> Iterator[list[str]]:
    """The words of each line of a text, split as ``lmplz`` splits: at space, tab, NUL and carriage return only.

    Other blanks of Unicode (such as the no-break space) are parts of words; a warning reports words that no grammar can
    contain. A last line that lacks its newline counts.

    Raises:
        InputError: unreadable, not UTF-8, without any word, or a word of the text is one that models reserve.
    """
    empty, refused, first = True, 0, 0
    for number, line in enumerate(stream_lines(path), 1):
        words = [word for word in line.replace("\t", " ").replace("\r", " ").replace("\0", " ").split(" ") if word]
        for reserved in (*SPECIALS, "<UNK>"):  # KenLM reads <UNK> as <unk>
            if reserved in words:
                raise InputError(
                    f"word {reserved} is reserved by the language model; replace it in the text, as lscfg prepare does",
                    path,
                    number,
                )
        if not line.isascii() and _REFUSED.search(line):
            refused, first = refused + 1, first or number
        empty = empty and not words
        yield words
    if refused:
        warning(
            f"{path}:{first}: {refused} lines have words with invisible characters or other spaces than the blank,"
            " which no grammar contains; clean the text with lscfg prepare"
        )
    if empty:
        raise InputError(
            "no words to estimate a model from; use a text with one tokenised sentence per line, as from lscfg prepare",
            path,
        )


def read_corpus(path: str | os.PathLike[str]) -> tuple[list[str], np.ndarray, int]:
    """The vocabulary, the text as word indices with ``<s>`` and ``</s>`` around lines, and the longest line's length.

    An empty line is the sentence ``<s> </s>``.

    Raises:
        InputError: see ``tokenized_lines``.
    """
    index = {word: number for number, word in enumerate(SPECIALS)}
    number_of = index.setdefault
    tokens, longest = array("i"), 0
    for words in tokenized_lines(path):
        tokens.append(BOS)
        tokens.extend([number_of(word, len(index)) for word in words])
        tokens.append(EOS)
        longest = max(longest, len(words) + 2)
    return list(index), np.array(tokens, np.int32), longest


def row_type(size: int) -> type[np.signedinteger]:
    """The type of row numbers below ``size``."""
    return np.int32 if size < 2**31 else np.int64


def count_orders(words: int, text: np.ndarray, order: int) -> list[Counts]:
    """Counts the n-grams of orders 1 to ``order``; ``<s>`` occurs only as the first word of an n-gram.

    Unigrams are all words, so that row and word index are the same; ``<unk>`` and ``<s>`` have count 0, since neither
    is ever predicted.
    """
    unigrams = np.bincount(text, minlength=words).astype(np.int64)
    unigrams[BOS] = 0
    none = np.zeros(words, np.int32)
    tables = [Counts(np.arange(words, dtype=np.int32), none, none, unigrams)]
    at = np.arange(len(text))
    place = at - np.maximum.accumulate(np.where(text == BOS, at, 0))  # position of each word in its sentence
    rows = text  # row of the n-gram of the order below that ends with each word
    for length in range(2, order + 1):
        ends = np.flatnonzero(place >= length - 1)
        key = rows[ends].astype(np.int64) * words + text[ends - (length - 1)]
        unique, example, inverse, count = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
        suffix, first = np.divmod(unique, words)
        below = row_type(len(tables[-1]))
        context = rows[ends[example] - 1].astype(below)
        tables.append(Counts(first.astype(np.int32), suffix.astype(below), context, count.astype(np.int64)))
        rows = np.full(len(text), -1, row_type(len(text)))
        rows[ends] = inverse
    return tables


def adjusted_counts(tables: list[Counts]) -> list[np.ndarray]:
    """Adjusted counts of every order, int64; the arrays have the tables' shapes."""
    adjusted = []
    for table, above in pairwise(tables):
        # Each row of the next order is a distinct word before its suffix. Nothing precedes <s>, so n-grams that begin
        # with <s> keep their raw counts (which is 0 for <s> itself).
        left = np.bincount(above.suffix, minlength=len(table))
        adjusted.append(np.where(table.first == BOS, table.raw, left))
    return [*adjusted, tables[-1].raw]
