"""Rules for one sentence over the grammar of a decoder: terms, corrections and similar sentences."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np

from lscfg.kernel import EXTRA_RULES, Forest, Grammar, GrammarLayer, X

ADDED = ("Terminology", "Correction", "Memory", "MemoryScore")
"""Features of these rules, which the grammar's rules lack; docs/guides/terms.md defines them."""

START_WEIGHTS = (1.0, 0.0, 0.0, 0.0)
"""Weights of the features ``ADDED`` that the weight file lacks; similar sentences and others gain with each system."""

TERMINOLOGY, CORRECTION = 0, 1


def added_weights(weights: Mapping[str, float]) -> tuple[float, ...]:
    """Weights of the features ``ADDED``."""
    return tuple(float(weights.get(name, usual)) for name, usual in zip(ADDED, START_WEIGHTS, strict=True))


class EncodedRule(NamedTuple):
    """A rule in the words of a grammar."""

    number: int
    """Number of the equal rule of the grammar, -1 if there is none."""
    source: tuple[int, ...]
    target: tuple[int, ...]


class AddedFeatures(NamedTuple):
    """Values of the features ``ADDED`` of the applications of a forest that have some."""

    apps: np.ndarray
    """int [n], distinct."""
    values: np.ndarray
    """float64 [n, features]."""

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


class RuleEncoder:
    """Encodes rules in the words of a grammar, and keeps them.

    Attributes:
        places: zeros [rules and extra rules of the grammar], which users borrow and return as zeros.
    """

    def __init__(self, grammar: Grammar):
        self.grammar = grammar
        self.places = np.zeros(len(grammar) + EXTRA_RULES, np.int32)
        self._encoded = lru_cache(1 << 17)(partial(encode, grammar))

    def __call__(self, source: str, target: str) -> EncodedRule:
        """See ``encode``."""
        return self._encoded(source, target)


class SentenceRules:
    """Collects the rules of a sentence; then ``layer`` parses the sentence with them.

    Args:
        encoder: of the finished grammar of the decoder.
    """

    def __init__(self, encoder: RuleEncoder):
        self._grammar, self._places = encoder.grammar, encoder.places
        self._numbers: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {}  # by both sides
        self._added: list[tuple[float, ...]] = []
        self._single: list[bool] = []
        self._lengths: list[int] = []
        self._known: dict[int, float] = {}  # feature Correction of rules of the grammar

    def add(
        self, source: tuple[int, ...], target: tuple[int, ...], added: tuple[float, ...], single: bool = False
    ) -> None:
        """Adds a rule, unless there is an equal one.

        Args:
            added: values of the features ``ADDED``.
            single: the rule gets the features of ``NewPhrases`` instead of those of the sentence's usual phrase rule.
        """
        number = len(self._added)
        if self._numbers.setdefault((source, target), number) == number:
            self._added.append(added)
            self._single.append(single)
            self._lengths.append(len(target) - source.count(-1 - X))  # a target side names each nonterminal once

    def correct(self, rule: EncodedRule, value: float) -> None:
        """Adds a rule of corrections, or gives an equal rule of the grammar the feature ``Correction``."""
        if rule.number >= 0:
            self._known[rule.number] = value
        else:
            self.add(rule.source, rule.target, (0.0, value, 0.0, 0.0), single=True)

    def resemble(self, rule: EncodedRule, similarity: float) -> None:
        """Adds the frame of a similar sentence."""
        self.add(rule.source, rule.target, (0.0, 0.0, 1.0, similarity))

    def layer(self) -> GrammarLayer:
        """The unfinished layer of all rules over the grammar."""
        made = GrammarLayer(self._grammar)
        made.add_all(X, [*self._numbers])
        return made

    def numbers(self, forest: Forest) -> tuple[np.ndarray, np.ndarray]:
        """Marks the applications of these rules, bool [n_apps], and numbers them here, int [marked]."""
        first = len(self._grammar) + EXTRA_RULES
        marks = (forest.app_rule >= first) & (forest.app_rule < first + len(self._numbers))
        return marks, forest.app_rule[marks] - first

    def single(self, numbers: np.ndarray) -> tuple[np.ndarray, list[tuple[tuple[int, ...], tuple[int, ...]]]]:
        """Marks rules that get the features of ``NewPhrases``, bool [n], and both sides of all rules by number."""
        return np.array(self._single, bool)[numbers], [*self._numbers]

    def lengths(self, numbers: np.ndarray) -> np.ndarray:
        """Numbers of target words of rules."""
        return np.asarray(np.array(self._lengths, np.int64)[numbers])

    def added(self, forest: Forest, marks: np.ndarray, numbers: np.ndarray) -> AddedFeatures:
        """Values of the features ``ADDED``."""
        apps = np.flatnonzero(marks)
        values = np.array(self._added).reshape(-1, len(ADDED))[numbers]
        if self._known:
            rules = np.fromiter(self._known, np.int64, len(self._known))
            self._places[rules] = np.arange(1, len(rules) + 1)
            place = self._places.take(np.minimum(forest.app_rule, len(self._places) - 1))  # the last: rules of layers
            self._places[rules] = 0
            corrected = np.flatnonzero(place)
            more = np.zeros((len(corrected), len(ADDED)))
            more[:, CORRECTION] = np.fromiter(self._known.values(), float, len(rules))[place[corrected] - 1]
            apps, values = np.concatenate([apps, corrected]), np.concatenate([values, more])
        return AddedFeatures(apps, values)
