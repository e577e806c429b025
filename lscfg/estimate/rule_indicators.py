"""Indicator features of rules: the rule, its sides, words, classes, order, shape and lengths."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from lscfg.grammar.table import RuleTable

TEMPLATES = ("rule", "source", "target", "words", "classes", "order", "shape", "lengths")
"""The rule itself; its source side; its target side; each source word and each target word; the classes of the first
and of the last target word; number and order of the nonterminals; the places around nonterminals that have words; the
numbers of words of both sides."""

LONG = 5
"""Sides of this number of words and of more form one class."""


@dataclass(frozen=True, eq=False)
class RuleIndicators:
    """Features of rules.

    Attributes:
        matrix: float64 [rules, columns], 1 for each feature of a rule.
        template: int64 [columns], number of the template of each column in ``TEMPLATES``.
        unknown: float64 [columns], features of a rule that rewrites an unknown word as one word.
    """

    matrix: sparse.csr_matrix
    template: np.ndarray
    unknown: np.ndarray

    @classmethod
    def of(cls, rules: RuleTable, classes: np.ndarray, templates: Iterable[str] = TEMPLATES) -> RuleIndicators:
        """The features of a table's rules.

        Args:
            classes: int64 [words], class of each target word, -1 for none.
            templates: the templates, one or more of ``TEMPLATES``.
        """
        made = _templates(rules, classes)
        rows, columns, template, unknown, first = [], [], [], [], 0
        for name in templates:
            for rule, key, of_unknown in made[name]():
                keys, column = np.unique(key, return_inverse=True)
                rows.append(rule)
                columns.append(first + column)
                template.append(np.full(len(keys), TEMPLATES.index(name)))
                unknown.append((keys == of_unknown).astype(np.float64))
                first += len(keys)
        row, column = np.concatenate(rows), np.concatenate(columns)
        matrix = sparse.csr_matrix((np.ones(len(row)), (row, column)), (len(rules), first))
        return cls(matrix, np.concatenate(template), np.concatenate(unknown))


_Group = tuple[np.ndarray, np.ndarray, int]
"""Rules, int64, and a key of a feature of each, int64; and the key of an unknown word, -1 for none."""


def _templates(rules: RuleTable, classes: np.ndarray) -> Mapping[str, Callable[[], list[_Group]]]:
    """Templates by name, each as a function that returns groups of features."""
    every, words, arity = np.arange(len(rules)), _Symbols.of(rules), rules.arity.astype(np.int64)
    lengths = [np.minimum(words.counts(side), LONG) for side in (0, 1)]
    both = lengths[0] * (LONG + 1) + lengths[1]
    return {
        "rule": lambda: [(every, every, -1)],
        "source": lambda: [(every, rules.source_id, -1)],
        "target": lambda: [(every, rules.target_id, -1)],
        "words": lambda: [(*words.distinct(side), -1) for side in (0, 1)],
        "classes": lambda: [(every, words.end(last, classes), -1) for last in (False, True)],
        "order": lambda: [(every, 2 * arity + words.crossed, 0)],
        "shape": lambda: [(every, words.shape, words.shape_of_word)],
        "lengths": lambda: [(every, lengths[0], 1), (every, lengths[1], 1), (every, both, LONG + 2)],
    }


@dataclass(frozen=True)
class _Symbols:
    """The symbols of rules: int64 [symbols] rule, side and value, and the nonterminals before it on its side."""

    rules: RuleTable
    rule: np.ndarray
    side: np.ndarray
    value: np.ndarray
    slot: np.ndarray

    @classmethod
    def of(cls, rules: RuleTable) -> _Symbols:
        rule, on_source = rules.on_source()
        side, gap = np.where(on_source, 0, 1), rules.symbols < 0
        begin: np.ndarray = np.cumsum(gap) - gap
        place = 2 * rule + side
        first = np.searchsorted(place, place)
        return cls(rules, rule, side, rules.symbols.astype(np.int64), begin - begin[first])

    def counts(self, side: int) -> np.ndarray:
        """int64 [rules], words of a side."""
        return np.bincount(self.rule[(self.side == side) & (self.value >= 0)], minlength=len(self.rules))

    def distinct(self, side: int) -> tuple[np.ndarray, np.ndarray]:
        """Rules and their words on a side, each word once."""
        chosen = (self.side == side) & (self.value >= 0)
        size = len(self.rules.words) + 1
        pairs = np.unique(self.rule[chosen] * size + self.value[chosen])
        return pairs // size, pairs % size

    def end(self, last: bool, classes: np.ndarray) -> np.ndarray:
        """int64 [rules], class of the first or last target word; one more class for a nonterminal there."""
        place = self.rules.offsets[1:] - 1 if last else self.rules.offsets[:-1] + self.rules.src_length
        symbol = self.value[np.minimum(place, len(self.value) - 1)]
        found = np.where(symbol >= 0, np.append(classes, -1)[np.maximum(symbol, -1)], -2)
        return np.where(place < self.rules.offsets[1:], found, -3) + 3  # target sides may be empty

    @property
    def crossed(self) -> np.ndarray:
        """int64 [rules], 1 if the second nonterminal comes first on the target side."""
        return np.bincount(
            self.rule[(self.side == 1) & (self.value == -2) & (self.slot == 0)], minlength=len(self.rules)
        )

    @property
    def shape(self) -> np.ndarray:
        """int64 [rules]: arity, and a bit for each place around nonterminals that has words."""
        bits = np.where(self.value >= 0, 1 << (3 * self.side + np.minimum(self.slot, 2)), 0)
        found = self.rules.arity.astype(np.int64) << 6
        np.bitwise_or.at(found, self.rule, bits)
        return found

    @property
    def shape_of_word(self) -> int:
        """Shape of a word translated as a word."""
        return 1 | 1 << 3
