"""The n-grams of a text and their counts, order by order.

Every n-gram is a row of a table of its order. Tables are sorted by last word, then last but one, and so on ("suffix
order"), so that an n-gram is a pair (row of its suffix one order down, first word), which packs into one integer.
Suffixes ascend from row to row; contexts do not.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lscfg.errors import InputError
from lscfg.io.text import stream_lines
from lscfg.lm.columns import Column, Exchange, Room, ranges, row_type

UNK, BOS, EOS = 0, 1, 2
SPECIALS = ("<unk>", "<s>", "</s>")

READ = 1 << 20
"""Words that are read before they go to a column."""


@dataclass(frozen=True)
class Counts:
    """All n-grams of one order, in suffix order; every column has shape (n,).

    Attributes:
        first: first word of each n-gram.
        suffix, context: rows one order down, the n-gram without its first and without its last word.
        raw: how often the text has it.
    """

    first: Column
    suffix: Column
    context: Column
    raw: Column

    def __len__(self) -> int:
        return len(self.first)


def tokenized_lines(path: str | os.PathLike[str]) -> Iterator[list[str]]:
    """The words of each line of a text, split as ``lmplz`` splits: at space, tab, NUL and carriage return only.

    Other blanks of Unicode (such as the no-break space) are parts of words. A last line that lacks its newline counts.

    Raises:
        InputError: unreadable, not UTF-8, without any word, or a word of the text is one that models reserve.
    """
    empty = True
    for number, line in enumerate(stream_lines(path), 1):
        words = [word for word in line.replace("\t", " ").replace("\r", " ").replace("\0", " ").split(" ") if word]
        for reserved in SPECIALS:
            if reserved in words:
                raise InputError(
                    f"word {reserved} is reserved by the language model; take it out of the text or write it otherwise",
                    path,
                    number,
                )
        empty = empty and not words
        yield words
    if empty:
        raise InputError("no words to estimate a model from; give a text of one tokenized sentence a line", path)


def read_corpus(path: str | os.PathLike[str], room: Room) -> tuple[list[str], Column, int]:
    """The vocabulary, the text as word indices with ``<s>`` and ``</s>`` round each line, and its longest line's words.

    An empty line is the sentence ``<s> </s>``.

    Raises:
        InputError: see ``tokenized_lines``; or a temporary file cannot be written.
    """
    index = {word: number for number, word in enumerate(SPECIALS)}
    number_of = index.setdefault
    text, tokens, longest = room.column(np.int32), array("i"), 0
    for words in tokenized_lines(path):
        tokens.append(BOS)
        tokens.extend([number_of(word, len(index)) for word in words])
        tokens.append(EOS)
        longest = max(longest, len(words) + 2)
        if len(tokens) >= READ:
            text.append(np.array(tokens, np.int32))
            del tokens[:]
    text.append(np.array(tokens, np.int32))
    return list(index), text, longest


def count_orders(words: int, text: Column, order: int, room: Room) -> list[Counts]:
    """Counts the n-grams of orders 1 to ``order``; an n-gram has ``<s>`` at most as its first word.

    Unigrams are all words, so that row and word index are the same; ``<unk>`` and ``<s>`` have count 0, for neither is
    ever predicted.
    """
    unigrams = np.zeros(words, np.int64)
    for part in room.slices(len(text)):
        unigrams += np.bincount(text[part], minlength=words)
    unigrams[BOS] = 0
    raw, every = room.column(np.int64), room.column(np.int32)
    raw.append(unigrams)
    every.append(np.arange(words))
    tables = [Counts(every, room.zeros(words, np.int32), room.zeros(words, np.int32), raw)]
    rows: Exchange | None = None
    for length in range(2, order + 1):
        below = row_type(len(tables[-1]))
        exchange = Exchange(room, ranges(tables[-1].raw, room), (below, np.int32, below), (row_type(len(text)),))
        for suffix, first, context in _ending(text, length, rows, room):
            exchange.send(suffix, suffix, first, context)
        table = Counts(*(room.column(dtype) for dtype in (np.int32, below, below, np.int64)))
        for _, _, (suffix, first, context), replies in exchange.buckets():
            key = suffix.astype(np.int64) * words + first
            unique, example, inverse, count = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
            replies[0].append(inverse + len(table))
            suffix, first = np.divmod(unique, words)
            for column, values in zip(
                (table.suffix, table.context, table.raw, table.first),
                (suffix, context[example], count, first),
                strict=True,
            ):
                column.append(values)
        tables.append(table)
        rows = exchange
    return tables


def _ending(
    text: Column, length: int, rows: Exchange | None, room: Room
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Row of the suffix, first word and row of the context of each n-gram of the text, for one block after the other.

    Args:
        rows: whose replies are the rows of the n-grams of the order below, as they end in the text; None: unigrams.
    """
    replies = iter(()) if rows is None else rows.back()
    begin = 0  # of the sentence in hand
    history, before = np.zeros(0, np.int32), np.full(1, -1)  # last words, and last row, of the block before
    for part in room.slices(len(text)):
        block, at = text[part], np.arange(part.start, part.stop)
        place = at - np.maximum(np.maximum.accumulate(np.where(block == BOS, at, -1)), begin)
        if rows is None:
            row = block
        else:
            row = np.full(len(block), -1, np.int64)
            row[place >= length - 2] = next(replies)[0]
        ends = np.flatnonzero(place >= length - 1)
        whole = np.concatenate([history, block])
        yield row[ends], whole[ends + (len(history) - length + 1)], np.concatenate([before, row])[ends]
        begin, history, before = int(at[-1] - place[-1]), whole[-length:], row[-1:]


def adjusted_counts(tables: list[Counts], room: Room) -> list[Column]:
    """Adjusted counts of every order; the columns have the tables' shapes."""
    adjusted = []
    for table, above in pairwise(tables):
        # Each row above is a distinct word to the left of its suffix. Nothing stands left of <s>, so what begins with
        # it keeps its raw count (which is 0 for <s> itself).
        left, counts = room.zeros(len(table), np.int64), room.column(np.int64)
        for part in room.slices(len(above)):
            suffix = above.suffix[part]
            touched = slice(int(suffix[0]), int(suffix[-1]) + 1)
            left[touched] = left[touched] + np.bincount(suffix - suffix[0])
        for part in room.slices(len(table)):
            counts.append(np.where(table.first[part] == BOS, table.raw[part], left[part]))
        adjusted.append(counts)
    return [*adjusted, tables[-1].raw]
