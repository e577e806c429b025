"""Rules for one sentence over the grammar of a decoder: terms, corrections and similar sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from lscfg.kernel import Forest, Grammar, GrammarLayer, X
from lscfg.kernel.extra_rules import layer_begin

ADDED = ("Terminology", "Correction", "Memory", "MemoryScore")
"""Features of these rules, which the grammar's rules lack; docs/guides/terms.md defines them."""

START_WEIGHTS = (1.0, 0.0, 0.0, 0.0)
"""Weights of the features ``ADDED`` that the weight file lacks; similar sentences and others gain with each system."""

TERMINOLOGY, CORRECTION = 0, 1

Sides = tuple[tuple[int, ...], tuple[int, ...]]
"""Source and target symbols of a rule."""


def added_weights(weights: Mapping[str, float]) -> tuple[float, ...]:
    """Weights of the features ``ADDED``."""
    return tuple(float(weights.get(name, usual)) for name, usual in zip(ADDED, START_WEIGHTS, strict=True))


class EncodedRule(NamedTuple):
    """A rule in the words of a grammar."""

    number: int
    """Number of the equal rule of the grammar, -1 if there is none."""
    source: tuple[int, ...]
    target: tuple[int, ...]


class EncodedPhrases(NamedTuple):
    """Phrases of corrections in the words of a grammar: those of its rules, and n new ones."""

    rules: np.ndarray
    """int [rules], distinct rules of the grammar."""
    rule_values: np.ndarray
    """float64 [rules], their feature ``Correction``."""
    numbers: np.ndarray
    """int [n], numbers of the new phrases in the ``PhraseTable``, distinct."""
    values: np.ndarray
    """float64 [n], their feature ``Correction``."""
    symbols: np.ndarray
    """int32, source and target words of each new phrase in turn."""
    lengths: np.ndarray
    """int64 [n, 2], numbers of their source and target words."""


class AddedFeatures(NamedTuple):
    """Values of the features ``ADDED`` of the applications of a forest that have some."""

    apps: np.ndarray
    """int [n], distinct."""
    values: np.ndarray
    """float64 [n, features]."""

    def with_terms(self, terms: Mapping[int, float]) -> AddedFeatures:
        """These values with those of the terms of some applications, added to ``Terminology``."""
        if not terms:
            return self
        apps = np.union1d(self.apps, [*terms])
        values = np.zeros((len(apps), self.values.shape[1]))
        values[np.searchsorted(apps, self.apps)] = self.values
        values[np.searchsorted(apps, [*terms]), TERMINOLOGY] += [*terms.values()]
        return AddedFeatures(apps, values)

    def part(self, kept: np.ndarray, size: int) -> AddedFeatures:
        """The values of a part of a forest, whose applications are numbers in the whole of ``size`` applications."""
        place = np.zeros(size, np.int64)
        place[self.apps] = np.arange(1, len(self.apps) + 1)
        apps = np.flatnonzero(place[kept])
        return AddedFeatures(apps, self.values[place[kept][apps] - 1])


def encode(grammar: Grammar, source: str, target: str) -> EncodedRule:
    """Encodes both sides of a rule, whose nonterminals are ``[X,1]`` and so on, and ``[1]`` and so on."""
    words, gaps = source.split(" "), dict[str, int]()
    for word in words:
        if word.startswith("[X,") and word.endswith("]"):
            gaps[f"[{word[3:]}"] = -1 - len(gaps)
    add = grammar.vocab.add_line
    if not gaps:
        sides = tuple(add(source).tolist()), tuple(add(target).tolist())
    else:
        src = [-1 - X if word.startswith("[X,") else int(add(word)[0]) for word in words]
        tgt = [gaps[word] if word in gaps else int(add(word)[0]) for word in target.split(" ")]
        sides = tuple(src), tuple(tgt)
    return EncodedRule(grammar.find(X, *sides), *sides)


class Applied(NamedTuple):
    """Applications of a sentence's rules in a forest, ascending; rules of the layer are numbered as in the layer."""

    layer: np.ndarray
    """int [n], of all rules of the layer, those that unknown words borrow included."""
    numbers: np.ndarray
    """int [n], numbers of their rules."""
    corrected: np.ndarray
    """int [m], of rules of the grammar with the feature ``Correction``."""
    values: np.ndarray
    """float64 [m], their feature ``Correction``."""


class SentenceRules:
    """Collects the rules of a sentence; then ``layer`` parses the sentence with them.

    Args:
        grammar: the finished grammar of the decoder.
        weighted: ``Correction`` has a weight, so ``applied`` also finds the rules of the grammar with this feature.

    Attributes:
        sides: both sides of the rules that are no phrases of corrections, in order, with their numbers.
    """

    def __init__(self, grammar: Grammar, weighted: bool):
        self._grammar, self._weighted = grammar, weighted
        self.sides: dict[Sides, int] = {}  # before the phrases of corrections, then after them
        self._terms: dict[int, dict[tuple[int, int], float]] = {}  # spans and values of the terms of a rule
        self._added: list[tuple[float, ...]] = []  # of the same rules
        self._phrases: EncodedPhrases | None = None
        self._first_phrase = 0

    def __len__(self) -> int:
        return len(self.sides) + (0 if self._phrases is None else len(self._phrases.numbers))

    def add(self, source: tuple[int, ...], target: tuple[int, ...], added: tuple[float, ...]) -> None:
        """Adds a rule with the features of the sentence's usual phrase rule, unless there is an equal one.

        Args:
            added: values of the features ``ADDED``.
        """
        if (source, target) not in self.sides:
            self.sides[source, target] = len(self.sides)
            self._added.append(added)

    def add_term(self, span: tuple[int, int], source: tuple[int, ...], target: tuple[int, ...], value: float) -> None:
        """Adds the rule of a form of a term, before ``correct``; elsewhere, equal words may not use the rule.

        Args:
            span: source words [i, j) of the term.
            value: ``Terminology`` of the rule there.
        """
        self.add(source, target, (0.0,) * len(ADDED))
        self._terms.setdefault(self.sides[source, target], {}).setdefault(span, value)

    def everywhere(self, words: Sequence[int]) -> set[Sides]:
        """Both sides of the terms' rules that hold wherever a sentence contains the words of their source side."""
        found = set[Sides]()
        for sides, number in self.sides.items():
            own, size = [*sides[0]], len(sides[0])
            spans = ((i, i + size) for i in range(len(words) - size + 1) if [*words[i : i + size]] == own)
            if number in self._terms and all(span in self._terms[number] for span in spans):
                found.add(sides)
        return found

    def correct(self, phrases: EncodedPhrases) -> None:
        """Adds the phrases of corrections, once: new rules other than ``sides``, and values of rules of the grammar."""
        self._phrases, self._first_phrase = phrases, len(self.sides)

    def resemble(self, rule: EncodedRule, similarity: float) -> None:
        """Adds the frame of a similar sentence."""
        self.add(rule.source, rule.target, (0.0, 0.0, 1.0, similarity))

    def layer(self) -> GrammarLayer:
        """The unfinished layer of all rules over the grammar."""
        made = GrammarLayer(self._grammar)
        sides, first = [*self.sides], self._first_phrase
        if before := sides[:first]:
            made.add_all(X, before)
        if self._phrases is not None:
            made.add_flat(X, self._phrases.symbols, self._phrases.lengths.ravel())
        if after := sides[first:]:
            made.add_all(X, after)
        return made

    def applied(self, forest: Forest, phrases: np.ndarray) -> Applied:
        """The applications of these rules, and of those that unknown words borrow.

        Args:
            phrases: applications of the grammar's rules without nonterminals, ascending.
        """
        app_rule, first = np.asarray(forest.app_rule), layer_begin(self._grammar)
        layer = np.flatnonzero(app_rule >= first)
        corrected, values = phrases[:0], np.empty(0)
        if self._weighted and self._phrases is not None and len(self._phrases.rules):
            order = np.argsort(self._phrases.rules)
            known, rules = self._phrases.rules[order], app_rule[phrases]
            place = np.minimum(np.searchsorted(known, rules), len(known) - 1)
            equal = known[place] == rules
            corrected, values = phrases[equal], self._phrases.rule_values[order[place[equal]]]
        return Applied(layer, app_rule[layer] - first, corrected, values)

    def term_values(self, forest: Forest) -> dict[int, float | None]:
        """``Terminology`` of each application of a term's rule by number; None at words without such a term."""
        if not self._terms:
            return {}
        app_rule, first = np.asarray(forest.app_rule), layer_begin(self._grammar)
        apps = np.flatnonzero(np.isin(app_rule, [first + number for number in self._terms]))
        spans = np.asarray(forest.node_span)[np.asarray(forest.edge_head)[np.asarray(forest.app_edge)[apps]]]
        rules = (app_rule[apps] - first).tolist()
        return {
            app: self._terms[rule].get((i, j))
            for app, rule, (i, j) in zip(apps.tolist(), rules, spans.tolist(), strict=True)
        }

    def phrases(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Marks the phrases of corrections among these rules, bool [n], and numbers them in the table, int [marked]."""
        own = numbers - self._first_phrase
        if self._phrases is None:
            return np.zeros(len(numbers), bool), own[:0]
        marks = (own >= 0) & (own < len(self._phrases.numbers))
        return marks, self._phrases.numbers[own[marks]]

    def lengths(self) -> np.ndarray:
        """Number of target words of each rule, int [rules]; a target side names each nonterminal once."""
        first, phrases = self._first_phrase, self._phrases
        found = np.array([len(target) - source.count(-1 - X) for source, target in self.sides], np.int64)
        return found if phrases is None else np.concatenate([found[:first], phrases.lengths[:, 1], found[first:]])

    def added(self, applied: Applied, own: np.ndarray) -> AddedFeatures | None:
        """Values of the features ``ADDED``; None if none of them has a weight.

        Args:
            own: marks the rules of the layer that are these, bool [n].
        """
        if not self._added and not self._weighted:
            return None
        first, phrases = self._first_phrase, self._phrases
        end = first if phrases is None else first + len(phrases.values)
        table = np.zeros((len(self), len(ADDED)))
        if self._added:
            table[:first], table[end:] = self._values(0, first), self._values(first, None)
        if phrases is not None:
            table[first:end, CORRECTION] = phrases.values
        layer = applied.layer[own]
        values = np.zeros((len(layer) + len(applied.corrected), len(ADDED)))
        values[: len(layer)] = table[applied.numbers[own]]
        values[len(layer) :, CORRECTION] = applied.values
        return AddedFeatures(np.concatenate([layer, applied.corrected]), values)

    def _values(self, begin: int, end: int | None) -> np.ndarray:
        return np.array(self._added[begin:end], np.float64).reshape(-1, len(ADDED))
