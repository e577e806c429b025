"""The features of rules in a grammar (paper, section 5.1)."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from lscfg.grammar.counts import FEATURES, RuleCounts, bare_rules

NO_TRANSLATION = 1e-7
"""Lexical probability of a word without a translation on the other side."""


# ---- features ----


class RuleFeatures:
    """The features of rules; relative frequencies are relative to all rules, including rules that are not written."""

    def __init__(self, counted: RuleCounts):
        self._counted = counted
        source = counted.rules.source_id
        self._count_f, self._count_e = counted.side_counts()
        self._single_f = np.bincount(source, counted.tokens)[source] == 1
        # -log10 of relative frequencies of links; a word without a link counts as linked to NULL
        pairs, links = counted.lexicon, counted.lexicon_count.astype(float)
        every = counted.lexicon_total
        given = [
            (words, np.bincount(words, links) if every is None else every[:, k])
            for k, words in enumerate((pairs + 1).T)
        ]
        costs = [-np.log10(links / total[words]) for words, total in given]
        self._lexicon_costs = np.stack(costs, 1)

    def __call__(self, which: np.ndarray) -> np.ndarray:
        """Values of ``RuleCounts.features`` for selected rules, float64 [len(which), features]."""
        counted = self._counted
        count, count_f, count_e = counted.count[which], self._count_f[which], self._count_e[which]
        lexical = self.lexical_weights(which)
        columns = [
            -np.log10(np.minimum(count / count_f, 1)),  # sums of shares are rounded
            -np.log10(np.minimum(count / count_e, 1)),
            lexical[:, 0],
            lexical[:, 1],
            np.log10(1 + count),
            np.log10(1 + count_f),
            self._single_f[which],
            counted.tokens[which] == 1,
        ]
        if counted.own_glue:
            columns += [self._glue[which], self._inverse[which]]
        columns += counted.own_columns(which)
        values = np.stack([np.asarray(c, float) for c in columns], 1) + 0.0  # + 0.0 turns -0 into 0
        if counted.plain_glue:
            values[self._bare[which], : len(FEATURES)] = 0
        return values

    def lexical_weights(self, which: np.ndarray) -> np.ndarray:
        """-log10 of the lexical weights (e|f) and (f|e) of selected rules, float64 [len(which), 2].

        Each word takes its best partner among the words of the other side and NULL (Koehn et al. 2003, with the maximum
        instead of the mean).
        """
        rules, worst = self._counted.rules, -float(np.log10(NO_TRANSLATION))
        return rules.kernel.lexical_weights(self._counted.lexicon, self._lexicon_costs, worst, which)

    @cached_property
    def _inverse(self) -> np.ndarray:
        """bool [rules]: True for rules that swap their two nonterminals."""
        rules = self._counted.rules
        rule = np.repeat(np.arange(len(rules)), np.diff(rules.offsets))
        in_target = np.arange(len(rule)) >= (rules.offsets[:-1] + rules.src_length)[rule]
        nonterminals = np.flatnonzero(in_target & (rules.symbols < 0))
        having, first = np.unique(rule[nonterminals], return_index=True)
        inverse = np.zeros(len(rules), bool)
        inverse[having] = rules.symbols[nonterminals[first]] == -2
        result: np.ndarray = inverse & (rules.arity == 2)
        return result

    @cached_property
    def _glue(self) -> np.ndarray:
        """bool [rules]: True for [X,1] [X,2] in order; also for the swapped rule if glue has no counts."""
        return self._bare if self._counted.plain_glue else self._bare & ~self._inverse

    @cached_property
    def _bare(self) -> np.ndarray:
        """bool [rules]: True for rules of two nonterminals without words."""
        return bare_rules(self._counted.rules)
