"""Feature functions, which are kinds.

A new one is one class in one file and one row among the entry points ``lscfg.feature_functions``; its name is that of a
line ``feature_function=NAME ARGUMENTS`` in cdec.ini, and its settings are the arguments in their order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from lscfg.errors import InputError, cut, quote
from lscfg.functions.rows import NamedRows
from lscfg.kernel import Forest, Grammar
from lscfg.kernel.extra_rules import is_extra, passes_word
from lscfg.kernel.forest import EPSILON
from lscfg.kinds import Kind, Registry, SettingsT
from lscfg.settings import Declared, SettingError, settings_of

WORD_PENALTY = -1 / math.log(10)
"""Value of one word in cdec's WordPenalty and SourceWordPenalty."""


class Gap(NamedTuple):
    """A nonterminal of a rule."""

    number: int
    """Its number among the nonterminals of the source side, from 0."""
    category: str


BEGIN, END = "<s>", "</s>"
"""Marks before and after the words of a translation."""
MOST_ORDER = 13
"""Longest n-grams of the search."""

Symbols = tuple[str | Gap, ...]
"""One side of a rule: words and nonterminals."""


@dataclass(frozen=True)
class RuleSides:
    """A rule as text."""

    category: str
    source: Symbols
    target: Symbols
    links: tuple[tuple[int, int], ...] = ()
    """Places of linked symbols on both sides, from the fifth field of the rule's line."""

    @property
    def gaps(self) -> list[Gap]:
        """The nonterminals in source order."""
        return [symbol for symbol in self.source if isinstance(symbol, Gap)]


@dataclass(frozen=True)
class ParsedInput:
    """A parsed sentence or lattice."""

    forest: Forest
    grammar: Grammar
    """The forest's grammar, or a layer over it with rules of this sentence (``lscfg.kernel.GrammarLayer``)."""
    words: tuple[str, ...]
    """Words of the sentence; of a lattice, the word of the first arc from each state, as in cdec."""

    @cached_property
    def rules(self) -> tuple[list[RuleSides], np.ndarray]:
        """The applied rules, each once, and int64 [n_apps]: each application's rule by its place among them.

        The number of an application that only joins tails (``REST``) is -1.
        """
        forest = self.forest
        keys = forest.app_rule.astype(np.int64)
        categories = int(forest.node_cat.max(initial=0)) + 1  # a word may pass into several
        for app in np.flatnonzero(passes_word(self.grammar, keys)).tolist():
            edge = int(forest.app_edge[app])
            keys[app] = -1 - self._passed(edge) * categories - int(forest.node_cat[forest.edge_head[edge]])
        _, first, rule_of = np.unique(keys, return_index=True, return_inverse=True)
        rest = forest.is_rest
        found: list[RuleSides] = []
        number = np.full(len(first), -1, np.int64)
        for key, app in enumerate(first.tolist()):
            if not rest[app]:
                number[key] = len(found)
                found.append(self._sides(int(keys[app]), app))
        return found, number[rule_of.reshape(-1)]

    @cached_property
    def spans(self) -> np.ndarray:
        """int32 [n_apps, 2], the span of each application."""
        spans: np.ndarray = self.forest.node_span[self.forest.edge_head[self.forest.app_edge]]
        return spans

    def distinct(self, features: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Groups the applications by rule and further whole numbers.

        Args:
            features: int [n_apps, n].

        Returns:
            An application of each group, int64 [groups], and the group of each application, int64 [n_apps].
        """
        keys = np.column_stack([self.rules[1], features])
        _, first, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        return first, group.reshape(-1)

    def _passed(self, edge: int) -> int:
        """The word that a rule passes through."""
        forest = self.forest
        if forest.edge_paths is None or forest.paths is None:
            return int(forest.words[forest.node_span[forest.edge_head[edge], 0]])
        path = forest.words[forest.paths[forest.edge_paths[edge] : forest.edge_paths[edge + 1]]]
        return int(path[path != EPSILON][0])

    def _sides(self, key: int, app: int) -> RuleSides:
        grammar, edge = self.grammar, int(self.forest.app_edge[app])
        category = grammar.category_name(int(self.forest.node_cat[self.forest.edge_head[edge]]))
        if key < 0:
            word = grammar.vocab.word(self._passed(edge))
            return RuleSides(category, (word,), (word,), ((0, 0),))
        tails = self.forest.node_cat[self.forest.tails(edge)].tolist()
        gaps = [Gap(k, grammar.category_name(tail)) for k, tail in enumerate(tails)]
        if is_extra(grammar, key):  # glue
            return RuleSides(category, tuple(gaps), tuple(gaps))
        word_of, left = grammar.vocab.word, iter(gaps)
        source = tuple(word_of(symbol) if symbol >= 0 else next(left) for symbol in grammar.src(key))
        target = tuple(word_of(symbol) if symbol >= 0 else gaps[-1 - symbol] for symbol in grammar.tgt(key))
        return RuleSides(category, source, target, tuple(grammar.links(key)) if key < len(grammar) else ())


class FeatureFunction(Kind[SettingsT]):
    """A feature function: values of each rule application, whatever the rest of the derivation.

    Equal input must give equal values, and the names contain no blanks.
    """

    HEADS: ClassVar[tuple[str, ...]] = ()
    """Prefixes of the names that ``values`` may give besides ``names``."""

    def names(self, settings: SettingsT) -> tuple[str, ...]:
        """Features that every system with the function has, so that each needs a weight; by default none."""
        return ()

    def heads(self, settings: SettingsT) -> tuple[str, ...]:
        """See ``HEADS``, for functions whose prefixes depend on the arguments."""
        return self.HEADS

    def values(self, given: ParsedInput, settings: SettingsT) -> NamedRows:
        """The features of the applications of a forest."""
        raise NotImplementedError

    def settings(self, arguments: Sequence[str]) -> SettingsT:
        """The settings of a line's arguments.

        Raises:
            InputError: an argument is superfluous, has another type or is out of its range.
        """
        items = settings_of(self.Settings)
        if len(arguments) > len(items):
            takes = ", ".join(item.name for item in items) or "no arguments"
            raise InputError(f"{self.name} takes {takes}; found {quote(' '.join(arguments))}")
        values: dict[str, Any] = {}
        for item, text in zip(items, arguments, strict=False):
            try:
                values[item.name] = _READERS.get(item.kind, str)(text)
            except ValueError:
                raise InputError(f"{self.name}: {item.name} cannot be {quote(text)}") from None
        try:
            return self.Settings(**values)
        except SettingError as error:
            raise InputError(f"{self.name}: {error}") from None


def _switch(text: str) -> bool:
    return bool(int(text))  # as in cdec


_READERS: Mapping[type, Callable[[str], Any]] = {bool: _switch, int: int, float: float}


class RuleFunction(FeatureFunction[SettingsT]):
    """A feature function whose values depend on the rule alone."""

    def of_rule(self, rule: RuleSides, settings: SettingsT) -> Mapping[str, float]:
        """The features of a rule that are not 0."""
        raise NotImplementedError

    def values(self, given: ParsedInput, settings: SettingsT) -> NamedRows:
        rules, rule_of = given.rules
        return NamedRows.of([self.of_rule(rule, settings) for rule in rules], rule_of)


class WordFunction(FeatureFunction[SettingsT]):
    """A feature function with state: values of each target word after the words before it.

    The search treats it as a language model: partial translations that differ in the words which the function may still
    see stay apart, so every derivation gets exact values.
    """

    def order(self, settings: SettingsT) -> int:
        """Words that the function sees, the word itself included: 1 to ``MOST_ORDER``."""
        raise NotImplementedError

    def of_word(self, before: Sequence[str], word: str, settings: SettingsT) -> Mapping[str, float]:
        """The features of a word that are not 0.

        Args:
            before: the latest words before it, at most ``order`` - 1; ``BEGIN`` is the first at the beginning of a
                sentence. Fewer words without ``BEGIN``: those before are not known yet; the values only guide the
                search.
            word: the word, or ``END`` after the last one.
        """
        raise NotImplementedError

    def values(self, given: ParsedInput, settings: SettingsT) -> NamedRows:
        return NamedRows.of([], np.full(given.forest.n_apps, -1))


FEATURE_FUNCTIONS: Registry[FeatureFunction[Declared]] = Registry(
    "lscfg.feature_functions", FeatureFunction, "feature function"
)


@dataclass(frozen=True)
class FunctionLine:
    """A line ``feature_function=NAME ARGUMENTS``."""

    name: str
    arguments: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join([self.name, *self.arguments])

    def names(self) -> tuple[str, ...]:
        """See ``FeatureFunction.names``."""
        function = FEATURE_FUNCTIONS[self.name]
        return function.names(function.settings(self.arguments))

    def heads(self) -> tuple[str, ...]:
        """See ``FeatureFunction.heads``."""
        function = FEATURE_FUNCTIONS[self.name]
        return function.heads(function.settings(self.arguments))

    def values(self, given: ParsedInput) -> NamedRows:
        """The features of the applications of a forest.

        Raises:
            InputError: a value is not finite, or a name contains a blank.
        """
        function = FEATURE_FUNCTIONS[self.name]
        found = function.values(given, function.settings(self.arguments))
        self._check(found.names, found.rows.values)
        return found

    def of_words(self) -> tuple[int, Callable[[Sequence[str], str], Mapping[str, float]]] | None:
        """``order`` and ``of_word`` of a ``WordFunction``; None for another function.

        Raises:
            InputError: the order is out of its range; in the second, as for ``values``.
        """
        function = FEATURE_FUNCTIONS[self.name]
        if not isinstance(function, WordFunction):
            return None
        settings = function.settings(self.arguments)
        order = function.order(settings)
        if not 1 <= order <= MOST_ORDER:
            raise InputError(f"{self.name} has the order {order}; it must be 1 to {MOST_ORDER}")

        def of_word(before: Sequence[str], word: str) -> Mapping[str, float]:
            found = function.of_word(
                before[len(before) - order + 1 :] if len(before) >= order else before, word, settings
            )
            self._check(found, np.array([*found.values()]))
            return found

        return order, of_word

    def _check(self, names: Iterable[str], values: np.ndarray) -> None:
        if not np.isfinite(values).all():
            raise InputError(f"feature function {self.name} returned a value that is not finite")
        for name in names:
            if name.split() != [name]:
                raise InputError(f"feature function {self.name} names a feature {cut(name)!r}; remove the blank")


def escaped(name: str) -> str:
    """The name of a feature without the characters ``=`` and ``;``, as cdec writes it."""
    return name.replace("=", "_").replace(";", "_")
