"""Phrases of corrections in the words of a grammar, with the features of those that the grammar lacks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from lscfg.decode.memory import StoredRule
from lscfg.decode.new_phrases import NewPhrases
from lscfg.decode.sentence_rules import EncodedPhrases, Sides
from lscfg.functions.rows import NamedRows, SparseRows
from lscfg.kernel import Grammar, X

MOST_PHRASES = 1 << 17
"""Phrases that a table keeps; then it starts again."""


class PhraseTable:
    """Keeps the phrases that sentences use, so that a sentence costs a look-up for each phrase, and a few arrays.

    Args:
        grammar: finished; new: features of new phrases of this grammar.
    """

    def __init__(self, grammar: Grammar, new: NewPhrases):
        self._grammar, self._new = grammar, new
        self._clear()

    def _clear(self) -> None:
        self._codes: dict[tuple[str, str], int] = {}  # a rule of the grammar, or -1 minus the number of a new phrase
        self._sides: list[Sides] = []
        self._rows = np.empty((0, 2, len(self._new.names)))  # with room at the end

    def encoded(self, rules: Sequence[StoredRule]) -> EncodedPhrases:
        """The phrases of distinct rules; their numbers are valid until the next call."""
        if len(self._codes) > MOST_PHRASES:
            self._clear()
        keys = [rule[:2] for rule in rules]
        found = [*map(self._codes.get, keys)]
        if None in found:
            self._add([key for key, code in zip(keys, found, strict=True) if code is None])
            found = [*map(self._codes.get, keys)]
        codes = np.array(found, np.int64)
        values, new = np.array([rule[2] for rule in rules], np.float64), codes < 0
        numbers = -1 - codes[new]
        sides = [self._sides[number] for number in numbers.tolist()]
        lengths = np.array([len(target) for _, target in sides], np.int64)
        return EncodedPhrases(codes[~new], values[~new], sides, values[new], lengths, numbers)

    def _add(self, phrases: Sequence[tuple[str, str]]) -> None:
        texts = [text for phrase in phrases for text in phrase]
        symbols = self._grammar.vocab.add_line(" ".join(texts))
        offsets = [0, *accumulate(text.count(" ") + 1 for text in texts)]
        rules, ids, first = self._grammar.find_all(X, symbols, offsets), symbols.tolist(), len(self._sides)
        for k, (phrase, rule) in enumerate(zip(phrases, rules, strict=True)):
            if rule < 0:
                begin, middle, end = offsets[2 * k : 2 * k + 3]
                rule = -1 - len(self._sides)
                self._sides.append((tuple(ids[begin:middle]), tuple(ids[middle:end])))
            self._codes[phrase] = rule
        if (size := len(self._sides)) > len(self._rows):
            room = np.empty((max(size, 256), *self._rows.shape[1:]))
            self._rows = np.concatenate([self._rows, room])
        self._rows[first:size] = self._new.rows(self._sides[first:])

    def features(self, numbers: np.ndarray, known: np.ndarray, apps: np.ndarray, n_apps: int) -> NamedRows:
        """Features of applications of new phrases.

        Args:
            numbers: of the phrase of each application.
            known: 1 for an application whose source side the grammar contains, else 0.
            apps: numbers of the applications.
            n_apps: number of all applications, of which the others have no such features.
        """
        count, width = len(apps), len(self._new.names)
        row_of = np.full(n_apps, count)
        row_of[apps] = np.arange(count)
        offsets = np.arange(count + 2) * width
        offsets[-1] = offsets[-2]  # the last row is empty
        rows = SparseRows(offsets, np.tile(np.arange(width), count), self._rows[numbers, known].ravel(), width)
        return NamedRows(self._new.names, rows, row_of)
