"""Phrase pairs of minimal derivations: the tokens of phrase sense disambiguation, and a grammar of them.

A node whose rule has a word on its source side is a phrase pair, consisting of the words that it covers on both sides:
nonterminals are expanded to the yields of their children (thesis, section 4.1; Saluja 2015). Phrase pairs nest like
their nodes. In a grammar, two rules of bare nonterminals concatenate them, in order or swapped: an inversion
transduction grammar (Wu 1997) over phrases.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lscfg.errors import InputError
from lscfg.extract.derive import Derivations
from lscfg.extract.extractor import Decoding, ExtractorSettings, RuleExtractor, RuleInputs
from lscfg.extract.yields import Yields, expand_ranges
from lscfg.grammar.counts import RuleCounts
from lscfg.grammar.table import RuleTable
from lscfg.grammar.tokens import RuleTokens
from lscfg.settings import setting

MAX_WORDS = 5
"""Most source words of a phrase pair (thesis, section 4.2)."""

PHRASE_TARGETS = 20
"""Most target sides of a source phrase (thesis, section 4.2)."""


@dataclass(frozen=True)
class PhrasePairSettings(ExtractorSettings, defaults={"max_targets": PHRASE_TARGETS}):
    """Settings of phrase pairs and their grammar."""

    max_words: int = setting(MAX_WORDS, "maximum source words of a phrase pair", least=1)


class PhraseRules(RuleCounts):
    """Phrase pairs, and the two rules that concatenate phrases, which have no frequencies."""

    own_glue = True
    plain_glue = True

    @classmethod
    def of(cls, derivations: Derivations, max_words: int = MAX_WORDS) -> PhraseRules:
        """The phrase pairs of derivation trees with their counts, in which a token counts with the weight of its tree.

        Raises:
            InputError: the derivations contain none.
        """
        tokens, weight = phrase_tokens(derivations, max_words), derivations.node_weight
        of_token = None if weight is None else weight[phrase_nodes(derivations, max_words)]
        weighted, number = (
            np.concatenate([np.bincount(tokens.places[:, 0], each, len(tokens.rules)), [1, 1]])
            for each in (of_token, None)
        )
        lexicon = derivations.lexicon, derivations.lexicon_count
        return cls(_with_glue(tokens.rules), weighted.astype(np.float64), number.astype(np.int64), *lexicon)


class Phrases(RuleExtractor[PhrasePairSettings]):
    """Phrase pairs of minimal derivation trees."""

    HELP = "phrase pairs of minimal derivation trees, in any order"
    VERSION = 2
    Settings = PhrasePairSettings
    NEEDS = ("derivations",)

    def rules(self, inputs: RuleInputs, settings: PhrasePairSettings) -> PhraseRules:
        """The phrase pairs of the derivations, and glue.

        Raises:
            InputError: derivations are missing or contain no phrase pairs.
        """
        return PhraseRules.of(_trees(inputs), settings.max_words)

    def tokens(self, inputs: RuleInputs, settings: PhrasePairSettings) -> RuleTokens:
        """The phrase pair tokens of the derivations; see ``rules``."""
        return phrase_tokens(_trees(inputs), settings.max_words)

    def decoding(self, settings: PhrasePairSettings) -> Decoding:
        """Rules of bare nonterminals replace the decoder's glue; spans may be of any length."""
        return Decoding()


def phrase_tokens(derivations: Derivations, max_words: int = MAX_WORDS) -> RuleTokens:
    """The phrase pairs of derivation trees, in the order of the nodes.

    A rule with a word on its source side that covers at most ``max_words`` source words gives one: the words of its
    source and its target span. With several alignments, each tree contributes its tokens.

    Raises:
        InputError: the derivations contain none.
    """
    table, span = derivations.rules, derivations.span
    yields = Yields.of(derivations)
    node = phrase_nodes(derivations, max_words)
    lengths = [yields.length(side) for side in (0, 1)]
    begin = np.column_stack([yields.begin[0][node], len(yields.words[0]) + yields.begin[1][node]])
    length = np.column_stack([lengths[0][node], lengths[1][node]])
    symbols = np.concatenate(yields.words)[expand_ranges(begin.ravel(), length.ravel())]
    every = RuleTable(
        table.words,
        symbols.astype(np.int32),
        np.concatenate([[0], np.cumsum(length.sum(axis=1))]).astype(np.int64),
        length[:, 0].astype(np.int32),
        np.zeros(len(node), np.int32),
    )
    sides = every.source_id * len(node) + every.target_id
    _, first, which = np.unique(sides, return_index=True, return_inverse=True)
    kept = np.sort(first)  # types in the order of their first tokens
    places = np.full((len(node), 8), -1, np.int32)
    places[:, 0] = np.searchsorted(kept, first)[which]
    places[:, 1] = (np.searchsorted(derivations.trees, node, "right") - 1) % derivations.pairs
    places[:, 2:4] = span[node, :2]
    return RuleTokens(every.select(kept), places)


def phrase_nodes(derivations: Derivations, max_words: int = MAX_WORDS) -> np.ndarray:
    """Nodes that are phrase pairs, int64; see ``phrase_tokens``.

    Raises:
        InputError: the derivations contain none.
    """
    span = derivations.span.astype(np.int64)
    source, target = span[:, 1] - span[:, 0], span[:, 3] - span[:, 2]
    wordy = _has_source_word(derivations.rules)[derivations.rule]
    found = np.nonzero(wordy & (source <= max_words) & (source > 0) & (target > 0))[0]
    if not len(found):
        raise InputError(f"the derivations have no phrase pair of at most {max_words} source words")
    return found


def _has_source_word(table: RuleTable) -> np.ndarray:
    """bool [rules]: True for rules with a word on the source side."""
    rule = np.repeat(np.arange(len(table)), np.diff(table.offsets))
    source = np.arange(len(rule)) < (table.offsets[:-1] + table.src_length)[rule]
    return np.bincount(rule[source & (table.symbols >= 0)], minlength=len(table)) > 0


def _with_glue(table: RuleTable) -> RuleTable:
    """The rules, followed by two nonterminals in order and swapped."""
    glue = np.array([-1, -1, -1, -2, -1, -1, -2, -1], np.int32)
    return RuleTable(
        table.words,
        np.concatenate([table.symbols, glue]),
        np.concatenate([table.offsets, table.offsets[-1] + np.array([4, 8])]),
        np.concatenate([table.src_length, np.array([2, 2], np.int32)]),
        np.concatenate([table.arity, np.array([2, 2], np.int32)]),
    )


def _trees(inputs: RuleInputs) -> Derivations:
    if inputs.derivations is None:
        raise InputError("phrase pairs need derivations")
    return Derivations.load(inputs.derivations)
