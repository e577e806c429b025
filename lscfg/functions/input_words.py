"""Indicators of source words."""

from __future__ import annotations

from collections.abc import Mapping

from lscfg.functions.function import RuleFunction, RuleSides
from lscfg.functions.words import word_indicators
from lscfg.settings import Declared


class InputIndicator(RuleFunction[Declared]):
    """cdec's InputIndicator: each source word of a rule is a feature, such as ``S:casa``."""

    HELP = "one feature for each source word"
    HEADS = ("S:",)
    Settings = Declared

    def of_rule(self, rule: RuleSides, settings: Declared) -> Mapping[str, float]:
        return word_indicators("S", rule.source)
