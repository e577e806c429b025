"""Indicators of target words."""

from __future__ import annotations

from collections.abc import Mapping

from lscfg.functions.function import RuleFunction, RuleSides, escaped
from lscfg.functions.words import word_indicators
from lscfg.settings import Declared


class OutputIndicator(RuleFunction[Declared]):
    """cdec's OutputIndicator: each target word of a rule is a feature, such as ``T:house``."""

    HELP = "one feature for each target word"
    HEADS = ("T:",)
    Settings = Declared

    def of_rule(self, rule: RuleSides, settings: Declared) -> Mapping[str, float]:
        return {escaped(name): 1.0 for name in word_indicators("T", rule.target)}
