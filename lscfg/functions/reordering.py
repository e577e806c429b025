"""Indicators of monotone and swapped rules by the width of their spans."""

from __future__ import annotations

import numpy as np

from lscfg.functions.function import FeatureFunction, Gap, ParsedInput
from lscfg.functions.rows import NamedRows
from lscfg.functions.span_sizes import size_class
from lscfg.settings import Declared

WIDEST = 15
"""Words of the widest span with an indicator of its width."""


class CMR2008ReorderingFeatures(FeatureFunction[Declared]):
    """cdec's CMR2008ReorderingFeatures, of rules of two nonterminals below the goal (Chiang et al. 2008)."""

    HELP = "features of monotone and of swapped rules, in general and for each width of the span"
    HEADS = ("CMRMono_", "CMRReorder_")
    Settings = Declared

    def names(self, settings: Declared) -> tuple[str, ...]:
        return "CMRMono", "CMRReorder"

    def values(self, given: ParsedInput, settings: Declared) -> NamedRows:
        rules, rule_of = given.rules
        widths = given.spans[:, 1] - given.spans[:, 0]
        first, group = given.distinct(widths[:, np.newaxis])
        features: list[dict[str, float]] = []
        for app in first.tolist():
            rule = rules[rule_of[app]] if rule_of[app] >= 0 else None
            if rule is None or len(rule.gaps) != 2 or rule.category == "S":
                features.append({})
                continue
            swapped = next(one for one in rule.target if isinstance(one, Gap)).number > 0
            name, width = ("CMRReorder" if swapped else "CMRMono"), int(widths[app])
            features.append({name: 1.0} | ({f"{name}_{size_class(width)}": 1.0} if width <= WIDEST else {}))
        return NamedRows.of(features, group)
