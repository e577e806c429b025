"""Words to the left and to the right of rule tokens, as two sparse matrices (thesis, section 4.1.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

import numpy as np
from scipy import sparse

from lscfg.errors import InputError
from lscfg.extract.yields import expand_ranges
from lscfg.kernel import CONTEXT_BEGIN, CONTEXT_END, CONTEXT_EXTRA_WORDS, CONTEXT_LENGTHS, CONTEXT_UNKNOWN
from lscfg.model.low_dimensional import end_of_items, first_gap_item, first_length_item


def number_words(lines: Sequence[str], vocabulary: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the words of all lines, int64, -1 for unknown words, and the begin of each line, int64 [lines + 1]."""
    numbers = {word: k for k, word in enumerate(vocabulary)}
    split = [line.split() for line in lines]
    first = np.concatenate([[0], np.cumsum([len(words) for words in split])]).astype(np.int64)
    return np.array([numbers.get(word, -1) for word in chain.from_iterable(split)], np.int64), first


def places_in_text(first: np.ndarray, begin: int, lengths: np.ndarray, seed: int) -> np.ndarray:
    """int64 [places, 3], spans at each word of the lines from ``begin`` on, with lengths drawn from the given ones."""
    sizes = np.diff(first)[begin:]
    line = np.repeat(np.arange(begin, begin + len(sizes)), sizes)
    place = np.arange(first[-1] - first[begin]) + first[begin] - first[line]
    end = place + np.random.default_rng(seed).choice(lengths, len(place))
    result: np.ndarray = np.column_stack([line, place, end])[end <= sizes[line - begin]]
    return result


class Look(NamedTuple):
    """The part of a token's sentence that serves as context.

    Attributes:
        window: words on each side; bag: True to ignore their distance.
        least: least count of a word at a distance; rarer words become one word.
        sentence: True to add the words of the whole sentence as a third side.
        gaps: True to add the first word, the last word and the length of each gap.
    """

    window: int
    bag: bool
    least: int
    sentence: bool = False
    gaps: bool = False


def repeated_items(around: sparse.csr_matrix) -> sparse.csr_matrix:
    """The items of each token, each as often as it is counted, with the value 1."""
    times = around.data.astype(np.int64)
    begin = np.concatenate([[0], np.cumsum(times)])[around.indptr]
    indices = np.repeat(around.indices, times)
    return sparse.csr_matrix((np.ones(len(indices)), indices, begin), around.shape)


@dataclass(frozen=True)
class Views:
    """The words around tokens; an item is a side, a distance and a word, numbered as in model files.

    Attributes:
        look: the part of the sentence that serves as context.
        items: int32 [items], the distinct items, ascending; items of the left side come first.
        split: number of items on the left side; outer: number of items outside gaps.
        matrix: [tokens, items], counts of items around each token.
    """

    look: Look
    items: np.ndarray
    split: int
    outer: int
    matrix: sparse.csr_matrix

    @property
    def sides(self) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
        """The views X [tokens, items of the left side] and Y [tokens, items of the right side]."""
        columns = self.matrix.tocsc()
        return columns[:, : self.split].tocsr(), columns[:, self.split : self.outer].tocsr()

    @property
    def gaps(self) -> sparse.csr_matrix:
        """The contents of the tokens' gaps, [tokens, items of gaps]."""
        return self.matrix.tocsc()[:, self.outer :].tocsr()

    def is_word(self, n_words: int) -> np.ndarray:
        """bool [items], True for items that are one of ``n_words`` vocabulary words."""
        plain = self.items % (n_words + CONTEXT_EXTRA_WORDS) < n_words
        found: np.ndarray = plain & (self.items < first_length_item(self.look.window, n_words))
        return found

    @classmethod
    def of(cls, words: tuple[np.ndarray, np.ndarray], n_words: int, places: np.ndarray, look: Look) -> Views:
        """The views of some tokens.

        Args:
            words: int32, numbers of the words of all sentences, -1 for unknown words; int64 [sentences + 1], begin of
                each sentence.
            n_words: size of the vocabulary.
            places: int [tokens, 3], sentence and span; with gaps [tokens, 7], and the spans of both, -1: none.

        Raises:
            InputError: one of the sides has no word that is frequent enough.
        """
        base, window = n_words + CONTEXT_EXTRA_WORDS, look.window
        first, lengths = first_gap_item(window, n_words), first_length_item(window, n_words)
        rows, found = _around(words, n_words, places, look)
        counts = np.bincount(found, minlength=end_of_items(window, n_words))
        item = np.arange(len(counts))
        rare = (item % base < n_words) & (item < lengths) & (counts < look.least)
        found = np.where(rare, item // base * base + n_words + CONTEXT_UNKNOWN, item)[found]
        kept = np.unique(found)
        split, both, outer = np.searchsorted(kept, [window * base, 2 * window * base, first]).tolist()
        if not split or split == both:
            raise InputError("no rule has words next to it: the sentences are too short for a context model")
        entries = (np.ones(len(rows)), (rows, np.searchsorted(kept, found)))
        matrix = sparse.csr_matrix(entries, (len(places), len(kept)))
        return cls(look, kept.astype(np.int32), split, outer, matrix)

    @classmethod
    def with_text(
        cls,
        source: Sequence[str],
        more: Sequence[str],
        vocabulary: Sequence[str],
        places: np.ndarray,
        look: Look,
        seed: int,
    ) -> tuple[Views, Views]:
        """The views of the tokens of some text, and the same views followed by spans of further text.

        Args:
            source: the sentences of the tokens; more: further text, whose spans have the lengths of tokens.
            vocabulary, places, look: see ``of``.
        """
        words, n = number_words([*source, *more], vocabulary), len(places)
        if more:
            spans = places_in_text(words[1], len(source), places[:, 2] - places[:, 1], seed)
            without_gaps = np.full((len(spans), places.shape[1] - 3), -1)
            places = np.concatenate([places, np.column_stack([spans, without_gaps])])
        found = cls.of(words, len(vocabulary), places, look)
        return replace(found, matrix=found.matrix[:n]), found

    def matrix_of(self, words: tuple[np.ndarray, np.ndarray], n_words: int, places: np.ndarray) -> sparse.csr_matrix:
        """[places, items], counts of these items around other places, as in a decoder.

        Args:
            words, n_words, places: see ``Views.of``; an empty span is a boundary.
        """
        base = n_words + CONTEXT_EXTRA_WORDS
        rows, found = _around(words, n_words, places, self.look)
        known = np.isin(found, self.items) | (found % base >= n_words)
        known |= found >= first_length_item(self.look.window, n_words)
        found = np.where(known, found, found // base * base + n_words + CONTEXT_UNKNOWN)
        there = np.isin(found, self.items)
        entries = (np.ones(there.sum()), (rows[there], np.searchsorted(self.items, found[there])))
        return sparse.csr_matrix(entries, (len(places), len(self.items)))


def _around(
    words: tuple[np.ndarray, np.ndarray], n_words: int, places: np.ndarray, look: Look
) -> tuple[np.ndarray, np.ndarray]:
    """int64, pairs of place and surrounding item, before rare items are merged; repeated items repeat."""
    columns = [_side(words, n_words, places, look.window, look.bag, side) for side in (0, 1)]
    if look.gaps:
        columns.append(_gaps(words, n_words, places, look.window))
    found = np.concatenate(columns, axis=1)
    there = found >= 0
    rows, items = [np.nonzero(there)[0]], [found[there]]
    if look.sentence:
        ids, first = words
        begin, lengths = first[places[:, 0]], np.diff(first)[places[:, 0]]
        word = ids[expand_ranges(begin, lengths)]
        rows.append(np.repeat(np.arange(len(places)), lengths))
        whole = 2 * look.window * (n_words + CONTEXT_EXTRA_WORDS)
        items.append(whole + np.where(word < 0, n_words + CONTEXT_UNKNOWN, word))
    return np.concatenate(rows), np.concatenate(items)


def _gaps(words: tuple[np.ndarray, np.ndarray], n_words: int, places: np.ndarray, window: int) -> np.ndarray:
    """int64 [tokens, 6], items of the first word, last word and length of each gap, or -1."""
    ids, first = words
    found = []
    for gap in (0, 1):
        begin, end = places[:, 3 + 2 * gap], places[:, 4 + 2 * gap]
        for last in (0, 1):
            word = ids[first[places[:, 0]] + np.where(begin < 0, 0, end - 1 if last else begin)]
            slot = first_gap_item(window, n_words) + (2 * gap + last) * (n_words + CONTEXT_EXTRA_WORDS)
            found.append(slot + np.where(word < 0, n_words + CONTEXT_UNKNOWN, word))
        length = np.minimum(end - begin, CONTEXT_LENGTHS) - 1
        found.append(first_length_item(window, n_words) + gap * CONTEXT_LENGTHS + length)
        found[-3:] = [np.where(begin < 0, -1, items) for items in found[-3:]]
    return np.column_stack(found)


def _side(
    words: tuple[np.ndarray, np.ndarray], n_words: int, places: np.ndarray, window: int, bag: bool, side: int
) -> np.ndarray:
    """int64 [tokens, window], items of one side of each token before rare items are merged, or -1."""
    ids, first = words
    base = n_words + CONTEXT_EXTRA_WORDS
    distance = np.arange(window)
    begin, end = first[places[:, 0]], first[places[:, 0] + 1]
    nearest = begin + (places[:, 2] if side else places[:, 1] - 1)
    at = nearest[:, None] + (distance if side else -distance)
    inside = (at >= begin[:, None]) & (at < end[:, None])
    word = ids[np.where(inside, at, 0)] if len(ids) else np.zeros(at.shape, np.int64)
    word = np.where(word < 0, n_words + CONTEXT_UNKNOWN, word)
    slot = side * window + (0 if bag else distance)
    found = np.where(inside, slot * base + word, -1)
    beyond = ~inside  # the end of the sentence counts once, wherever it is
    once = beyond & (np.cumsum(beyond, axis=1) == 1)
    found[once] = side * window * base + n_words + (CONTEXT_END if side else CONTEXT_BEGIN)
    return found
