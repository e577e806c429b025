"""Features of the embedded decoder by column: those of every sentence, then those of single sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from lscfg.decode.links import COSTS
from lscfg.decode.parsing import live_features
from lscfg.decode.unknown import SUBSTITUTES
from lscfg.formats.ini import DecoderConfig
from lscfg.functions.function import WORD_PENALTY
from lscfg.functions.rows import NamedRows, SparseRows
from lscfg.kernel import EXTRA_RULES, PASS, Grammar


class FeatureColumns:
    """The columns of the features of every sentence. Values of equally named features add up.

    Args:
        models: names of the language models.
        provided: names of the provider's features.

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
        columns: dict[str, int] = {}

        def column(name: str) -> int:
            return columns.setdefault(name, len(columns))

        indptr, indices, values = grammar.features()
        mapping = np.array([column(name) for name in grammar.feature_names], np.int64)
        size = len(grammar)
        self.rule_penalty = np.zeros(size + EXTRA_RULES)
        self.rule_penalty[:size] = WORD_PENALTY * grammar.target_lengths()
        self.rule_penalty[size + PASS] = WORD_PENALTY
        # rules after those of the grammar: glue over one node, glue over two, pass-through, others without features
        indptr = np.concatenate([indptr, indptr[-1] + np.minimum(np.arange(EXTRA_RULES), PASS)])
        indices = np.concatenate([mapping[indices], [column("Glue"), column("PassThrough")]])
        values = np.concatenate([values, [1.0, 1.0]])
        self.penalty = column("WordPenalty") if config.word_penalty else None
        pairs = [(column(name), column(name + "_OOV")) for name in models]
        self.lm = np.array(pairs, np.int64).reshape(-1, 2)
        self.extra = np.array([column(name) for name in provided], np.int64)
        if len({*provided}) < len(provided):
            raise ValueError(f"the provider names a feature twice: {provided}")
        for function in config.functions:
            for name in function.names():
                column(name)
        for name in SUBSTITUTES if config.substitutes else ():
            column(name)
        self.rules = SparseRows(indptr, indices, values, len(columns))
        self.names = tuple(columns)
        self.costs = np.array([columns[name] for name in COSTS if name in columns], np.int64)
        live = {*live_features(grammar)}
        self.live = tuple(name for name in columns if name in live or name not in grammar.feature_names)

    def cost(self, rule: int) -> float:
        """The sum of a rule's features ``COSTS``."""
        return float(self.translation_costs[rule])

    @cached_property
    def translation_costs(self) -> np.ndarray:
        """The sums of the features ``COSTS`` of all rules."""
        weights = np.zeros(len(self.names))
        weights[self.costs] = 1.0
        return self.rules.products(weights)


@dataclass(frozen=True)
class OwnFeatures:
    """Features of a sentence's rule applications from feature functions and from the input."""

    names: tuple[str, ...]
    """Features that the decoder's columns lack."""
    parts: tuple[tuple[NamedRows, np.ndarray], ...]
    """Features with the column of each, which counts on from the decoder's columns."""

    @classmethod
    def of(cls, known: Sequence[str], parts: Sequence[NamedRows]) -> OwnFeatures | None:
        """The features with columns after those of known names; None if there are no parts."""
        if not parts:
            return None
        columns = {name: column for column, name in enumerate(known)}
        placed = [
            (rows, np.array([columns.setdefault(name, len(columns)) for name in rows.names], np.int64))
            for rows in parts
        ]
        return cls(tuple(columns)[len(known) :], tuple(placed))

    def scores(self, weights: np.ndarray) -> np.ndarray:
        """The score of each application, float64 [n_apps], by the weights of all columns."""
        found: np.ndarray = sum(rows.scores(weights[columns]) for rows, columns in self.parts)  # type: ignore[assignment]
        return found

    def add(self, features: np.ndarray, apps: np.ndarray, groups: np.ndarray) -> np.ndarray:
        """Adds these features to the features [groups, decoder's columns] of groups of applications."""
        wide = np.pad(features, ((0, 0), (0, len(self.names))))
        for rows, columns in self.parts:
            wide[:, columns] += rows.sums(apps, groups)
        return wide

    def part(self, kept: np.ndarray) -> OwnFeatures:
        """The features of a part of the applications."""
        return replace(self, parts=tuple((rows.part(kept), columns) for rows, columns in self.parts))

    @property
    def size(self) -> int:
        """Bytes of the arrays."""
        return sum(rows.row_of.nbytes + rows.rows.values.nbytes * 2 for rows, _ in self.parts)
