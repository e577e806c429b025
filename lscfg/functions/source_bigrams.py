"""Counts of neighbouring symbols of source sides."""

from __future__ import annotations

from collections.abc import Mapping

from lscfg.functions.bigrams import bigram_counts
from lscfg.functions.function import Gap, RuleFunction, RuleSides
from lscfg.settings import Declared


class RuleSourceBigramFeatures(RuleFunction[Declared]):
    """cdec's RuleSourceBigramFeatures, such as ``RBS:X_verde``."""

    HELP = "one feature for each pair of neighbours on the source side"
    HEADS = ("RBS:",)
    Settings = Declared

    def of_rule(self, rule: RuleSides, settings: Declared) -> Mapping[str, float]:
        return bigram_counts("RBS", (one.category if isinstance(one, Gap) else one for one in rule.source))
