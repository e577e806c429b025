"""Counts of neighbouring symbols of target sides."""

from __future__ import annotations

from collections.abc import Mapping

from lscfg.functions.bigrams import bigram_counts
from lscfg.functions.function import Gap, RuleFunction, RuleSides
from lscfg.settings import Declared


class RuleTargetBigramFeatures(RuleFunction[Declared]):
    """cdec's RuleTargetBigramFeatures, such as ``RBT:green_X1``."""

    HELP = "one feature for each pair of neighbours on the target side"
    HEADS = ("RBT:",)
    Settings = Declared

    def of_rule(self, rule: RuleSides, settings: Declared) -> Mapping[str, float]:
        names = (f"{one.category}{one.number + 1}" if isinstance(one, Gap) else one for one in rule.target)
        return bigram_counts("RBT", names)
