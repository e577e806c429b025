"""Features of the embedded decoder by column: those of every sentence, then those of single sentences."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lscfg.decode.links import COSTS
from lscfg.decode.parsing import index_of
from lscfg.errors import InputError, cut
from lscfg.formats.ini import DecoderConfig
from lscfg.functions.function import WORD_PENALTY
from lscfg.functions.rows import FewRows, NamedRows, SparseRows
from lscfg.kernel import FeaturePass, Grammar
from lscfg.kernel.extra_rules import EXTRA_RULES, GLUE, PASS, layer_begin
from lscfg.kernel.forest import feature_views, live_features
from lscfg.later import later

if TYPE_CHECKING:
    from lscfg.decode import unknown
    from lscfg.grammar import counts
else:
    counts = later("lscfg.grammar.counts")
    unknown = later("lscfg.decode.unknown")


class _Named:
    """Columns by name, each of one source."""

    def __init__(self, path: str | os.PathLike[str] | None):
        self.columns: dict[str, int] = {}
        self._sources: dict[str, str] = {}
        self._path = path

    def of(self, name: str, source: str) -> int:
        """The column of a feature.

        Raises:
            InputError: another source has a feature of this name.
        """
        other = self._sources.setdefault(name, source)
        if other != source:
            raise InputError(f"the feature {cut(name)} comes from {other} and from {source}; rename one", self._path)
        return self.columns.setdefault(name, len(self.columns))

    def refuse(self, heads: Sequence[str], but: Sequence[str], source: str) -> None:
        """Refuses features that begin as those of a source, except some."""
        found = [name for name in self.columns if heads and name.startswith(tuple(heads)) and name not in but]
        for name in found:
            self.of(name, source)


class FeatureColumns:
    """The columns of the features of every sentence.

    Args:
        models: names of the language models.
        provided: names of the provider's features.

    Raises:
        InputError: two sources, such as the grammar and a language model, have features of one name.

    Attributes:
        names: names of all columns; live: names of columns not 0 in every rule, which need a weight.
        rules: features of rules, extra rules included.
        rule_penalty: float64 [rules], WordPenalty of each rule.
        penalty: column of WordPenalty, if the decoder has it.
        lm: int64 [models, 2], columns of each model's log10 p and unknown words.
        extra: int64 [provided], columns of the provider's features.
        costs: columns of the features ``COSTS`` that the grammar has.
    """

    def __init__(self, config: DecoderConfig, grammar: Grammar, models: Sequence[str], provided: Sequence[str]):
        named = _Named(config.path)
        columns = named.columns
        indptr, indices, values = feature_views(grammar)
        for name in grammar.feature_names:  # their columns are their numbers
            named.of(name, "the grammar")
        for name in () if index_of(config) is None else counts.FEATURES:
            named.of(name, "the grammar")
        glue, passing = (
            named.of(name, "the grammar") for name in ("Glue", "PassThrough")
        )  # a grammar may have glue rules, too
        size = len(grammar)
        self.rule_penalty = np.zeros(layer_begin(grammar))
        self.rule_penalty[:size] = WORD_PENALTY * grammar.target_lengths()
        self.rule_penalty[size + PASS] = WORD_PENALTY
        # of the rules after those of the grammar, glue over two nodes and a word passed through have one feature each
        indptr = np.concatenate([indptr, indptr[-1] + np.isin(np.arange(EXTRA_RULES), (GLUE, PASS)).cumsum()])
        self.penalty = named.of("WordPenalty", "feature_function=WordPenalty") if config.word_penalty else None
        pairs = [(name, name + end) for name in models for end in ("", "_OOV")]
        emissions = [(one.name, feature) for one in config.models for feature in one.features[2:]]
        self.lm = np.array([named.of(of, f"the language model {name}") for name, of in pairs], np.int64).reshape(-1, 2)
        for name, of in emissions:
            named.of(of, f"the language model {name}")
        self.extra = np.array([named.of(name, "the latent features") for name in provided], np.int64)
        if len({*provided}) < len(provided):
            raise ValueError(f"the provider names a feature twice: {provided}")
        for function in config.functions:
            for name in function.names():
                named.of(name, f"feature_function={function.name}")
        for name in unknown.SUBSTITUTES if config.substitutes else ():
            named.of(name, "unknown_words=similar")
        for function in config.functions:
            named.refuse(function.heads(), function.names(), f"feature_function={function.name}")
        more = np.array([glue, passing], np.int32), np.ones(2)
        self.rules = SparseRows(indptr, indices, values, len(columns), more)
        self.names = tuple(columns)
        self.costs = np.array([columns[name] for name in COSTS if name in columns], np.int64)
        idle = {*grammar.feature_names}.difference(live_features(grammar))
        self.live = tuple(name for name in columns if name not in idle)

    def cost(self, rule: int) -> float:
        """The sum of a rule's features ``COSTS``."""
        return float(self.translation_costs[rule])

    @cached_property
    def translation_costs(self) -> np.ndarray:
        """The sums of the features ``COSTS`` of all rules."""
        weights = np.zeros(len(self.names))
        weights[self.costs] = 1.0
        return self.rules.products(weights)


class SourcedRows(NamedTuple):
    """Features of rule applications by their source."""

    source: str
    """Description for messages."""
    own: Sequence[str]
    """Names among the decoder's that belong to this source."""
    rows: NamedRows | FewRows


@dataclass(frozen=True)
class OwnFeatures:
    """Features of a sentence's rule applications from feature functions and from the input."""

    names: tuple[str, ...]
    """Features that the decoder's columns lack."""
    parts: tuple[tuple[NamedRows | FewRows, np.ndarray], ...]
    """Features with the column of each, which counts on from the decoder's columns."""

    @classmethod
    def of(cls, known: Sequence[str], parts: Sequence[SourcedRows]) -> OwnFeatures | None:
        """The features with columns after those of known names; None if there are no parts.

        Raises:
            InputError: two sources have features of one name.
        """
        if not parts:
            return None
        columns = {name: column for column, name in enumerate(known)}
        placed = []
        for source, own, rows in parts:
            if taken := columns.keys() & {*rows.names}.difference(own):
                raise InputError(f"{source} gives the feature {cut(min(taken))}, which has another source; rename one")
            placed.append((rows, np.array([columns.setdefault(name, len(columns)) for name in rows.names], np.int64)))
        return cls(tuple(columns)[len(known) :], tuple(placed))

    def add_scores(self, scores: np.ndarray, weights: np.ndarray) -> None:
        """Adds to the score of each application, float64 [n_apps], by the weights of all columns."""
        total = None
        for rows, columns in self.parts:
            if isinstance(rows, NamedRows):
                own = rows.scores(weights[columns])
                total = own if total is None else total + own
        whole = scores if total is None else total
        for rows, columns in self.parts:
            if isinstance(rows, FewRows):
                whole[rows.apps] += rows.scores(weights[columns])
        if total is not None:
            scores += total

    def add(self, features: np.ndarray, apps: np.ndarray, groups: np.ndarray) -> np.ndarray:
        """Adds these features to the features [groups, decoder's columns] of groups of applications."""
        wide = np.zeros((len(features), features.shape[1] + len(self.names)))
        wide[:, : features.shape[1]] = features
        for rows, columns in self.parts:
            wide[:, columns] += rows.sums(apps, groups)
        return wide

    def part(self, kept: np.ndarray) -> OwnFeatures:
        """The features of a part of the applications."""
        return replace(self, parts=tuple((rows.part(kept), columns) for rows, columns in self.parts))

    @property
    def size(self) -> int:
        """Bytes of the arrays."""
        return sum(rows.size for rows, _ in self.parts)


@dataclass(frozen=True)
class LayeredValues:
    """Values of a forest's applications, most of which are rows of the forest without the rules of a layer.

    An index is the numbers of applications, as an array or slice, and gives their rows.
    """

    values: np.ndarray
    """float64 [n, columns], of the other forest."""
    further: np.ndarray
    """float64 [m, columns]."""
    row_of: np.ndarray
    """int64 [n_apps]: row of ``values``, or n plus the row of ``further``."""

    def __matmul__(self, weights: np.ndarray) -> np.ndarray:
        products: np.ndarray = np.concatenate([self.values @ weights, self.further @ weights]).take(self.row_of)
        return products

    def __getitem__(self, apps: np.ndarray | slice) -> np.ndarray:
        rows = self.row_of[apps]
        found = np.empty((len(rows), self.further.shape[1]))
        other = rows >= len(self.values)
        found[~other] = self.values[rows[~other]]
        found[other] = self.further[rows[other] - len(self.values)]
        return found

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return self.values.nbytes + self.further.nbytes + self.row_of.nbytes


WHOLE = 64
"""Rows are multiplied by weights in groups of this size, for which BLAS returns the same bits as for all rows."""


@dataclass(frozen=True)
class ComputedRows:
    """Features of the applications of a large forest, computed again at each use.

    An index is the numbers of applications, as an array or slice.
    """

    source: FeaturePass
    refusal: str
    """Message for features that are not finite."""

    def __matmul__(self, weights: np.ndarray) -> np.ndarray:
        starts = self.source.starts
        products = np.empty(starts[-1])
        room = np.empty((WHOLE + self.source.largest, self.source.columns))
        done = filled = 0
        for node, end in self.source.blocks():
            found = self.source.of_nodes(node, end, room[filled:])
            if not np.isfinite(found).all():
                raise InputError(self.refusal)
            filled += len(found)
            ready = filled if end == len(starts) - 1 else filled - filled % WHOLE
            np.matmul(room[:ready], weights, out=products[done : done + ready])
            room[: filled - ready] = room[ready:filled].copy()
            done, filled = done + ready, filled - ready
        return products

    def __getitem__(self, apps: np.ndarray | slice) -> np.ndarray:
        starts = self.source.starts
        wanted = np.arange(starts[-1])[apps]
        nodes, which = np.unique(np.searchsorted(starts, wanted, "right") - 1, return_inverse=True)
        found = np.empty((len(wanted), self.source.columns))
        for number, node in enumerate(nodes.tolist()):
            chosen = which == number
            found[chosen] = self.source.of_nodes(node, node + 1)[wanted[chosen] - starts[node]]
        return found

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays; those of its inference are temporary, and so is a sentence with such rows."""
        return 2 * 8 * int(self.source.starts[-1])
