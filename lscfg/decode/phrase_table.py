"""Phrases of corrections in the words of a grammar, with the features of those that the grammar lacks."""

from __future__ import annotations

from collections.abc import Container, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from lscfg.decode.new_phrases import NewPhrases
from lscfg.decode.recalled import StoredRule
from lscfg.decode.sentence_rules import EncodedPhrases, Sides
from lscfg.functions.rows import FewRows
from lscfg.kernel import Grammar, X
from lscfg.kernel.forest import find_rules

MOST_PHRASES = 1 << 17
"""Maximum number of phrases in a table; a full table is emptied."""


class _Source(NamedTuple):
    """The rules of a source phrase as arrays."""

    rules: tuple[StoredRule, ...]
    known: np.ndarray
    """float64 [rules of the grammar, 2], number of the rule and value."""
    new: np.ndarray
    """float64 [new phrases, 2], number in the table and value."""
    symbols: np.ndarray
    lengths: np.ndarray


class PhraseTable:
    """Keeps the phrases that sentences use, so that a sentence costs a look-up for each source, and a few arrays.

    Args:
        grammar: finished; new: features of new phrases of this grammar.
    """

    def __init__(self, grammar: Grammar, new: NewPhrases):
        self._grammar, self._new = grammar, new
        self._clear()

    def _clear(self) -> None:
        self._sources: dict[str, _Source] = {}
        self._codes: dict[tuple[str, str], int] = {}  # a rule of the grammar, or -1 minus the number of a new phrase
        self._sides: list[Sides] = []
        self._rows = np.empty((0, 2, len(self._new.names)))  # with room at the end

    def encoded(self, phrases: Sequence[tuple[StoredRule, ...]], but: Container[Sides] = ()) -> EncodedPhrases:
        """The phrases of some sources, one or more; their numbers are valid until the next call.

        Args:
            phrases: rules of each source.
            but: new phrases to leave out.
        """
        if len(self._codes) > MOST_PHRASES:
            self._clear()
        missing, get = list[tuple[StoredRule, ...]](), self._sources.get
        for rules in phrases:
            found = get(rules[0].source)
            if found is None or (found.rules is not rules and found.rules != rules):
                missing.append(rules)
        if missing:
            self._encode(missing)
        sources = [self._sources[rules[0].source] for rules in phrases]
        if but:
            sources = [self._source(one.rules, but) for one in sources]
        known, new, symbols, lengths = (np.concatenate([one[k] for one in sources]) for k in range(1, 5))
        numbers, new_numbers = known[:, 0].astype(np.int64), new[:, 0].astype(np.int64)
        return EncodedPhrases(numbers, known[:, 1], new_numbers, new[:, 1], symbols, lengths)

    def _encode(self, sources: Sequence[tuple[StoredRule, ...]]) -> None:
        keys = [rule[:2] for rules in sources for rule in rules]
        if unknown := [key for key in keys if key not in self._codes]:
            self._add(unknown)
        for rules in sources:
            self._sources[rules[0].source] = self._source(rules, ())

    def _source(self, rules: tuple[StoredRule, ...], but: Container[Sides]) -> _Source:
        codes = [self._codes[rule[:2]] for rule in rules]
        known = [(code, rule.value) for code, rule in zip(codes, rules, strict=True) if code >= 0]
        new = [(-1 - code, rule.value) for code, rule in zip(codes, rules, strict=True) if code < 0]
        if but:
            new = [one for one in new if self._sides[one[0]] not in but]
        sides = [self._sides[number] for number, _ in new]
        symbols = np.array([symbol for pair in sides for side in pair for symbol in side], np.int32)
        lengths = np.array([[len(side) for side in pair] for pair in sides], np.int64).reshape(-1, 2)
        known_array, new_array = (np.array(pairs, np.float64).reshape(-1, 2) for pairs in (known, new))
        return _Source(rules, known_array, new_array, symbols, lengths)

    def _add(self, phrases: Sequence[tuple[str, str]]) -> None:
        texts = [text for phrase in phrases for text in phrase]
        symbols = self._grammar.vocab.add_line(" ".join(texts))
        offsets = [0, *accumulate(text.count(" ") + 1 for text in texts)]
        rules, ids, first = find_rules(self._grammar, X, symbols, offsets), symbols.tolist(), len(self._sides)
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

    def features(self, numbers: np.ndarray, known: np.ndarray, apps: np.ndarray) -> FewRows:
        """Features of applications of new phrases.

        Args:
            numbers: of the phrase of each application.
            known: 1 for an application whose source side the grammar contains, else 0.
            apps: numbers of the applications, ascending.
        """
        return FewRows(self._new.names, apps, self._rows[numbers, known])
