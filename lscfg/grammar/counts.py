"""Rules of a corpus and their counts, the result of every rule extractor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from lscfg.grammar.table import MAX_TENSOR_ARITY, RuleTable

FEATURES = (
    "EgivenF",
    "FgivenE",
    "MaxLexEgivenF",
    "MaxLexFgivenE",
    "CountEF",
    "SampleCountF",
    "IsSingletonF",
    "IsSingletonFE",
)
"""The features of each rule. EgivenF, FgivenE: -log10 of the relative frequencies P(e|f), P(f|e). MaxLexEgivenF,
MaxLexFgivenE: -log10 of the lexical weights. CountEF, SampleCountF: log10(1 + count) of the rule, of its source side.
IsSingletonF, IsSingletonFE: 1 if the source side, the rule occurs once (even with a fraction of a count)."""

GLUE_FEATURES = ("Glue", "Inverse")
"""Features of a grammar with rules of bare nonterminals. Glue: 1 for [X,1] [X,2] in order, the counterpart of the
glue rule of a Hiero grammar. Inverse: 1 if the two nonterminals of a rule change places."""


def bare_rules(rules: RuleTable) -> np.ndarray:
    """bool [rules]: True for rules of two nonterminals without words."""
    result: np.ndarray = (rules.arity == 2) & (rules.src_length == 2) & (np.diff(rules.offsets) == 4)
    return result


@dataclass(frozen=True, eq=False)
class RuleCounts:
    """The rules of a corpus, their counts, and the linked words.

    Attributes:
        rules: the rule types.
        count: float64 [rules], the number of occurrences, or the sum of their shares.
        tokens: int64 [rules], the number of occurrences.
        lexicon: int32 [pairs, 2], linked words (source, target); -1 next to a word without a link.
        lexicon_count: int64 [pairs], number of links.
        max_arity: most nonterminals of a rule in a grammar.
        target_count: float64 [target sides], count of each target side (by ``rules.target_id``) over all rules of the
            corpus, if ``rules`` are only some of them; otherwise None.
        lexicon_total: int64 [words + 1, 2], links of each word as source and as target word in the corpus, first those
            of no word, if ``lexicon`` contains only some of them; otherwise None.
        history: history of learning, as JSON data for reports; empty for counted rules.
    """

    rules: RuleTable
    count: np.ndarray
    tokens: np.ndarray
    lexicon: np.ndarray
    lexicon_count: np.ndarray
    max_arity: int = field(default=MAX_TENSOR_ARITY, kw_only=True)
    target_count: np.ndarray | None = field(default=None, kw_only=True)
    lexicon_total: np.ndarray | None = field(default=None, kw_only=True)
    history: Mapping[str, Any] = field(default_factory=dict, kw_only=True)

    own_glue: ClassVar[bool] = False
    """True if the grammar has rules of bare nonterminals and a root rule instead of the decoder's glue rules."""

    plain_glue: ClassVar[bool] = False
    """True if rules of bare nonterminals have no counts; their only features are Glue and Inverse."""

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features of a grammar of these rules."""
        return FEATURES + GLUE_FEATURES if self.own_glue else FEATURES

    def own_columns(self, which: np.ndarray) -> list[np.ndarray]:
        """Values of additional features of this extractor, float64 [len(which)] each."""
        return []

    def side_counts(self) -> tuple[np.ndarray, np.ndarray]:
        """Counts of the source and of the target side of each rule over all rules of the corpus, float64 [rules]."""
        source, target, of_side = self.rules.source_id, self.rules.target_id, self.target_count
        of_target = np.bincount(target, self.count) if of_side is None else of_side
        return np.bincount(source, self.count)[source], of_target[target]

    def barred(self) -> dict[str, np.ndarray]:
        """bool [rules] by reason: True for rules that are counted but excluded from grammars."""
        return {f"more than {self.max_arity} nonterminals": self.rules.arity > self.max_arity}

    def statistics(self) -> dict[str, int]:
        """Rule types and tokens by arity, for the log."""
        arity = np.minimum(self.rules.arity, MAX_TENSOR_ARITY + 1)
        sizes = {"rule tokens": int(self.tokens.sum()), "rule types": len(self.rules)}
        for k in range(MAX_TENSOR_ARITY + 2):
            name = f"arity {k}" if k <= MAX_TENSOR_ARITY else f"arity > {MAX_TENSOR_ARITY}"
            if k <= MAX_TENSOR_ARITY or (arity == k).any():
                sizes[f"types of {name}"] = int((arity == k).sum())
                sizes[f"tokens of {name}"] = int(self.tokens[arity == k].sum())
        return sizes


# ---- sizes ----


def effective_size(counted: RuleCounts, m: int, kept: np.ndarray | None = None) -> int:
    """Rules counted once for each assignment of m states to their nonterminals, as in the paper's Table 2.

    Singletons without nonterminals share the parameters of the OOV rule and count as one rule.
    """
    rules, tokens = counted.rules, counted.tokens
    chosen = np.arange(len(rules)) if kept is None else kept
    arity = rules.arity[chosen]
    repeated = int(((arity == 0) & (tokens[chosen] > 1)).sum())
    return m * (1 + repeated) + m**2 * int((arity == 1).sum()) + m**3 * int((arity == 2).sum())
