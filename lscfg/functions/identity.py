"""Indicators of single rules."""

from __future__ import annotations

from collections.abc import Mapping

from lscfg.functions.function import Gap, RuleFunction, RuleSides, escaped
from lscfg.settings import Declared


class RuleIdentityFeatures(RuleFunction[Declared]):
    """cdec's RuleIdentityFeatures: each rule is a feature, such as ``R:X:NX_verde:green_N1``."""

    HELP = "one feature for each rule"
    HEADS = ("R:",)
    Settings = Declared

    def of_rule(self, rule: RuleSides, settings: Declared) -> Mapping[str, float]:
        source = "_".join(f"N{one.category}" if isinstance(one, Gap) else one for one in rule.source)
        target = "_".join(f"N{one.number + 1}" if isinstance(one, Gap) else one for one in rule.target)
        return {escaped(f"R:{rule.category}:{source}:{target}"): 1.0}
