"""The rules of minimal derivations as a grammar."""

from __future__ import annotations

import numpy as np

from lscfg.extract.derive import Derivations
from lscfg.grammar.counts import RuleCounts


class MinimalRules(RuleCounts):
    """The rules of minimal derivations."""

    own_glue = True

    @classmethod
    def of(cls, derivations: Derivations) -> MinimalRules:
        """The rules of derivation trees; of as few nonterminals in a grammar as the trees were made for."""
        counts, lexicon = derivations.counts, (derivations.lexicon, derivations.lexicon_count)
        most = derivations.options.max_arity
        return cls(derivations.rules, counts.astype(np.float64), counts, *lexicon, max_arity=most)
