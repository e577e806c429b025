"""Context models: target sides among the words around a rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lscfg.grammar.table import RuleTable
from lscfg.kernel import CONTEXT_LENGTHS, CONTEXT_SHAPES, CONTEXT_WORD_KINDS


@dataclass(frozen=True)
class ContextModel:
    """How what is around a rule application speaks for its target side (``lscfg.context.loglinear``).

    Attributes:
        rules: its own rules, of up to two nonterminals in any order; those of a source side are chosen among.
        counts: float64 [rules] > 0, in the corpus.
        offsets: int64 [outcomes + 1], where those of each outcome begin: the rules, the words of the vocabulary as
            target words, the shapes of rules.
        items: int32 [weights], context items, ascending for each; weights: float32 [weights].
    """

    rules: RuleTable
    counts: np.ndarray
    offsets: np.ndarray
    items: np.ndarray
    weights: np.ndarray

    @staticmethod
    def outcomes(rules: RuleTable) -> int:
        """Number of outcomes of some rules."""
        return len(rules) + len(rules.words) + CONTEXT_SHAPES

    def arrays(self) -> dict[str, np.ndarray]:
        """By their names in model files."""
        own = {name: getattr(self, name) for name in ("counts", "offsets", "items", "weights")}
        tables = {name: array for name, array in self.rules.arrays().items() if name != "rules.arity"}
        return {f"context.{name}": array for name, array in (own | tables).items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> ContextModel:
        """The inverse of ``arrays``.

        Raises:
            KeyError: one is missing.
        """
        start = "context."
        own = {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}
        symbols, offsets, lengths = (own[f"rules.{name}"] for name in ("symbols", "offsets", "src_length"))
        source = np.arange(len(symbols)) - np.repeat(offsets[:-1], np.diff(offsets)) < np.repeat(
            lengths, np.diff(offsets)
        )
        nonterminals = np.concatenate([[0], np.cumsum(source & (symbols < 0))])
        own["rules.arity"] = np.diff(nonterminals[offsets]).astype(np.int32)
        return cls(RuleTable.from_arrays(own), own["counts"], own["offsets"], own["items"], own["weights"])


def context_items(words: int) -> int:
    """Number of context items with so many words (docs/FORMATS.md)."""
    return CONTEXT_WORD_KINDS * (words + 2) + 2 * CONTEXT_LENGTHS
