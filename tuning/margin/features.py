"""Sparse features of rule applications: the rule, its linked words, and the words at the borders of its span.

These are the features of the biparser (Xiao et al. 2012, section 5) for the rules of a decoder: each target word is
linked to the source word of the rule that it translates most often, as in lexical weights.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence

import numpy as np

from lscfg.extract.yields import expand_ranges
from lscfg.kernel import Forest, Grammar, X
from lscfg.kernel.base import Vocab
from lscfg.tuning.margin.folds import Lexicon

NOTHING = -1
"""Number instead of a word: the partner of an unlinked word, or a position outside the sentence."""

ENDS, SIDES = 0, 1
"""Kinds of words at borders: first and last of a span; before and after it."""


class Links:
    """Links between the words of a rule.

    Args:
        lexicon: how often words are linked.
        vocab: numbers of words; those of the lexicon are added.
    """

    def __init__(self, lexicon: Lexicon, vocab: Vocab):
        def number(word: str | None) -> int:
            return NOTHING if word is None else vocab.add(word)

        counts = {(number(source), number(target)): count for (source, target), count in lexicon.items()}
        total: dict[int, int] = {}
        for (source, _), count in counts.items():
            total[source] = total.get(source, 0) + count
        self._p = {pair: count / total[pair[0]] for pair, count in counts.items()}

    def of(self, source: Sequence[int], target: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Pairs of linked words; a word without a link is paired with ``NOTHING``.

        Args:
            source, target: symbols of a rule; those below 0 are nonterminals.
        """
        words = [word for word in source if word >= 0]
        linked = set()
        for translation in target:
            if translation < 0:
                continue
            best, best_p = NOTHING, 0.0
            for word in (*words, NOTHING):
                p = self._p.get((word, translation), 0.0)
                if p > best_p:
                    best, best_p = word, p
            linked.add(best)
            yield best, translation
        for word in words:
            if word not in linked:
                yield word, NOTHING


class FeatureNumbers:
    """Numbers for the features of the rules of some grammars with one vocabulary: of rules, then of linked words.

    Attributes:
        n_rules: different rules; words: pairs of linked words by their numbers, which follow those of rules.
    """

    def __init__(self, grammars: Sequence[Grammar], links: Links):
        self._grammars, self._links = grammars, links
        self._number: list[np.ndarray] = []  # of each grammar's rules
        self.n_rules = 0
        for grammar in grammars:
            self._number.append(self._numbered(grammar))
        self.words: dict[tuple[int, int], int] = {}
        self._rows = [self._row_table(place) for place in range(len(grammars))]

    def __len__(self) -> int:
        """Number of features."""
        return self.n_rules + len(self.words)

    def find(self, source: Sequence[int], target: Sequence[int]) -> int:
        """The number of a rule whose categories are all ``X``, -1 if no grammar has it."""
        for grammar, number in zip(self._grammars, self._number, strict=False):
            if (rule := grammar.find(X, source, target)) >= 0:
                return int(number[rule])
        return -1

    def of(self, source: Sequence[int], target: Sequence[int]) -> list[int]:
        """The features of a rule that occur in some grammar."""
        rule = self.find(source, target)
        pairs = (self.words.get(pair, -1) for pair in self._links.of(source, target))
        return [number for number in (rule, *pairs) if number >= 0]

    def rows(self, place: int, rules: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The features of rules of a grammar, one after another, and the number of features of each rule.

        Args:
            place: of the grammar; rules: their numbers there; numbers beyond the grammar have no features.
        """
        offsets, features = self._rows[place]
        rules = np.minimum(rules, len(offsets) - 2)
        lengths = offsets[rules + 1] - offsets[rules]
        return features[expand_ranges(offsets[rules], lengths)], lengths

    def _numbered(self, grammar: Grammar) -> np.ndarray:
        numbers = np.empty(len(grammar), np.int64)
        for rule in range(len(grammar)):
            known = self.find(grammar.src(rule), grammar.tgt(rule)) if self._number else -1
            if known < 0:
                known, self.n_rules = self.n_rules, self.n_rules + 1
            numbers[rule] = known
        return numbers

    def _row_table(self, place: int) -> tuple[np.ndarray, np.ndarray]:
        """Start of the features of each rule, and all features; the last row is empty."""
        grammar, numbers = self._grammars[place], self._number[place].tolist()
        offsets, features = array("q", [0]), array("q")
        for rule, number in enumerate(numbers):
            features.append(number)
            for pair in self._links.of(grammar.src(rule), grammar.tgt(rule)):
                features.append(self.words.setdefault(pair, len(self)))
            offsets.append(len(features))
        offsets.append(len(features))
        return np.array(offsets), np.array(features)


def border_keys(forest: Forest, words: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes of category ``X``, and for each the keys of the words at its ends and at its sides, int64 [n, 2].

    Args:
        words: size of the vocabulary.
    """
    nodes = np.flatnonzero(forest.node_cat == X)
    first, behind = forest.node_span[nodes].T
    around = np.concatenate([[0], forest.words.astype(np.int64) + 1, [0]])  # word i is around[i + 1]
    size = words + 1
    ends = (ENDS * size + around[first + 1]) * size + around[behind]
    sides = (SIDES * size + around[first]) * size + around[behind + 1]
    return nodes, np.column_stack([ends, sides])


def border_of(key: int, words: int) -> tuple[int, int, int]:
    """Decodes a key: kind, and both words."""
    key, second = divmod(key, words + 1)
    kind, first = divmod(key, words + 1)
    return kind, first - 1, second - 1
