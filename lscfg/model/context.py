"""Context models: target sides given the words around a rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lscfg.grammar.table import LAYOUT as RULES
from lscfg.grammar.table import MAX_TENSOR_ARITY, RuleTable
from lscfg.io.layout import arrays_below, check_layout, check_offsets, check_range, named_from
from lscfg.kernel import CONTEXT_LENGTHS, CONTEXT_SHAPES, CONTEXT_WORD_KINDS
from lscfg.model.low_dimensional import LowDimensionalModel

LAYOUT = {
    "counts": "float64 [rules]",
    "offsets": "int64 [outcomes + 1]",
    "items": "int32 [weights]",
    "weights": "float32 [weights]",
}
"""Arrays of a context model, apart from its rules, without ``context.`` (docs/reference/formats.md)."""


@dataclass(frozen=True, eq=False)
class ContextModel:
    """Weights of target sides given the context of a rule application (``lscfg.context.loglinear``).

    Attributes:
        rules: the rules of the context model, of up to two nonterminals in any order; rules of one source side compete.
        counts: float64 [rules] > 0, counts in the corpus.
        offsets: int64 [outcomes + 1], first weight of each outcome; outcomes are the rules, the words of the vocabulary
            as target words, and the shapes of rules.
        items: int32 [weights], context items, ascending for each outcome; weights: float32 [weights].
        low_dimensional: a low-dimensional context model of the same rules, or None; with one there may be no weights.
    """

    rules: RuleTable
    counts: np.ndarray
    offsets: np.ndarray
    items: np.ndarray
    weights: np.ndarray
    low_dimensional: LowDimensionalModel | None = None

    @property
    def has_weights(self) -> bool:
        """False if the context model is only low-dimensional."""
        return self.low_dimensional is None or len(self.weights) > 0

    @staticmethod
    def outcomes(rules: RuleTable) -> int:
        """Number of outcomes of a table of rules."""
        return len(rules) + len(rules.words) + CONTEXT_SHAPES

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays by their names in model files."""
        own = {name: getattr(self, name) for name in ("counts", "offsets", "items", "weights")}
        tables = {name: array for name, array in self.rules.arrays().items() if name != "rules.arity"}
        others = self.low_dimensional.arrays() if self.low_dimensional else {}
        return {f"context.{name}": array for name, array in (own | tables).items()} | others

    @classmethod
    def without_weights(
        cls, rules: RuleTable, counts: np.ndarray, low_dimensional: LowDimensionalModel
    ) -> ContextModel:
        """A context model that is only low-dimensional."""
        offsets = np.zeros(cls.outcomes(rules) + 1, np.int64)
        return cls(rules, counts, offsets, np.zeros(0, np.int32), np.zeros(0, np.float32), low_dimensional)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], kind: str = "") -> ContextModel:
        """The inverse of ``arrays``.

        Args:
            kind: kind of the low-dimensional context model, if any.

        Raises:
            ValueError: names an array that is missing or wrong.
        """
        start = "context."
        own = arrays_below(start, arrays)
        with named_from(start):
            check_layout(own, LAYOUT | {name: kind for name, kind in RULES.items() if name != "rules.arity"})
            own["rules.arity"] = _arity(own["rules.symbols"], own["rules.offsets"], own["rules.src_length"])
            rules, low_dimensional = RuleTable.from_arrays(own), None
        if "sense.items" in arrays:
            low_dimensional = LowDimensionalModel.from_arrays(arrays, kind, len(rules), len(rules.words))
        made = cls(rules, own["counts"], own["offsets"], own["items"], own["weights"], low_dimensional)
        made._check()
        return made

    def _check(self) -> None:
        """Refuses contents that no model can have.

        Raises:
            ValueError: names the wrong array.
        """
        self.rules.check_distinct()
        if self.rules.arity.max(initial=0) > MAX_TENSOR_ARITY:
            raise ValueError("array 'context.rules.symbols' has a rule of too many nonterminals")
        if len(self.offsets) != self.outcomes(self.rules) + 1:
            raise ValueError("array 'context.offsets' does not fit the context's rules and words")
        check_offsets("context.offsets", self.offsets, len(self.items))
        check_range("context.items", self.items, 0, context_items(len(self.rules.words)))
        falls = np.nonzero(np.diff(self.items) <= 0)[0] + 1
        if not np.isin(falls, self.offsets).all():
            raise ValueError("array 'context.items' does not ascend within an outcome")
        check_range("context.counts", self.counts, np.nextafter(0, 1), np.inf)
        check_range("context.weights", self.weights, float(np.finfo(np.float32).min), np.inf)


def _arity(symbols: np.ndarray, offsets: np.ndarray, src_length: np.ndarray) -> np.ndarray:
    """int32 [rules], number of nonterminals of each rule.

    Raises:
        ValueError: the offsets are wrong.
    """
    check_offsets("rules.offsets", offsets, len(symbols))
    lengths = np.diff(offsets)
    source = np.arange(len(symbols)) - np.repeat(offsets[:-1], lengths) < np.repeat(src_length, lengths)
    nonterminals = np.concatenate([[0], np.cumsum(source & (symbols < 0))])
    found: np.ndarray = np.diff(nonterminals[offsets]).astype(np.int32)
    return found


def context_items(words: int) -> int:
    """Number of context items for a number of words (docs/reference/formats.md)."""
    return CONTEXT_WORD_KINDS * (words + 2) + 2 * CONTEXT_LENGTHS
