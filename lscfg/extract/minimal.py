"""The rules of minimal derivations as a grammar."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lscfg.errors import InputError
from lscfg.extract.derive import Derivations
from lscfg.extract.examples import Examples
from lscfg.extract.extractor import Decoding, ExtractorSettings, RuleExtractor, RuleInputs
from lscfg.grammar.counts import RuleCounts
from lscfg.grammar.tokens import RuleTokens


@dataclass(frozen=True)
class MinimalSettings(ExtractorSettings):
    """Settings of the minimal grammar."""


class MinimalRules(RuleCounts):
    """The rules of minimal derivations."""

    own_glue = True

    @classmethod
    def of(cls, derivations: Derivations) -> MinimalRules:
        """The rules of derivation trees; a grammar contains rules up to the arity of the trees."""
        counts, lexicon = derivations.counts, (derivations.lexicon, derivations.lexicon_count)
        weighted = np.bincount(derivations.rule, derivations.node_weight, len(counts))
        most = derivations.options.max_arity
        return cls(derivations.rules, weighted.astype(np.float64), counts, *lexicon, max_arity=most)


class Minimal(RuleExtractor[MinimalSettings]):
    """Rules of minimal derivation trees."""

    HELP = "rules of minimal derivation trees"
    VERSION = 1
    Settings = MinimalSettings
    NEEDS = ("derivations",)

    def rules(self, inputs: RuleInputs, settings: MinimalSettings) -> MinimalRules:
        """The rules of the derivations.

        Raises:
            InputError: derivations are missing or cannot be read.
        """
        return MinimalRules.of(_trees(inputs))

    def tokens(self, inputs: RuleInputs, settings: MinimalSettings) -> RuleTokens:
        """The rule tokens of the derivations; see ``rules``."""
        return tokens_of(_trees(inputs))

    def decoding(self, settings: MinimalSettings) -> Decoding:
        """Rules of bare nonterminals replace glue; spans may be of any length."""
        return Decoding(model_rules=True)


def tokens_of(derivations: Derivations) -> RuleTokens:
    """The rule tokens of derivations without categories, except rules of too many nonterminals."""
    derivations = derivations.without_categories()
    examples = Examples.of(derivations)
    node = np.nonzero(examples.is_example)[0]
    places = np.full((len(node), 8), -1, np.int32)
    places[:, 0] = examples.type[node]
    places[:, 1] = (np.searchsorted(derivations.trees, node, "right") - 1) % derivations.pairs
    places[:, 2:4] = derivations.span[node, :2]
    for k, child in enumerate(examples.children[node].T):
        places[child >= 0, 4 + 2 * k : 6 + 2 * k] = derivations.span[child[child >= 0], :2]
    return RuleTokens(examples.rules, places)


def _trees(inputs: RuleInputs) -> Derivations:
    if inputs.derivations is None:
        raise InputError("minimal rules need derivations")
    return Derivations.load(inputs.derivations)
