"""Indicators of rules with the sizes of the spans below them."""

from __future__ import annotations

import math

import numpy as np

from lscfg.functions.function import FeatureFunction, Gap, ParsedInput
from lscfg.functions.rows import NamedRows
from lscfg.settings import Declared


def size_class(words: int) -> int:
    """cdec's class of a span of some words: classes of long spans are wider."""
    return int(math.log(words + 1) / math.log(1.39)) - 1 if words else 0


class SourceSpanSizeFeatures(FeatureFunction[Declared]):
    """cdec's SourceSpanSizeFeatures: a rule with the sizes of its gaps, ``SSS:[X2]_verde:green_[1]``.

    cdec computes the name once for a rule and its span, so other sizes of the gaps keep the first name there, and
    scores differ where these features have weights.
    """

    HELP = "one feature for each rule with nonterminals and the sizes of their spans, of which cdec keeps the first"
    HEADS = ("SSS:",)
    Settings = Declared

    def values(self, given: ParsedInput, settings: Declared) -> NamedRows:
        forest, (rules, rule_of) = given.forest, given.rules
        width = forest.node_span[:, 1] - forest.node_span[:, 0]
        edges = forest.app_edge.tolist()
        tails = [[size_class(int(width[tail])) for tail in forest.tails(edge)] for edge in range(forest.n_edges)]
        most = max(map(len, tails), default=0)
        table = np.array([sizes + [0] * (most - len(sizes)) for sizes in tails], np.int64).reshape(-1, most)
        first, group = given.distinct(table[forest.app_edge])
        features: list[dict[str, float]] = []
        for app in first.tolist():
            rule = rules[rule_of[app]] if rule_of[app] >= 0 else None
            if rule is None or not rule.gaps:
                features.append({})
                continue
            sizes = tails[edges[app]]
            source = [f"[{one.category}{sizes[one.number]}]" if isinstance(one, Gap) else one for one in rule.source]
            target = [f"[{one.number + 1}]" if isinstance(one, Gap) else one for one in rule.target]
            features.append({f"SSS:{'_'.join(source)}:{'_'.join(target)}": 1.0})
        return NamedRows.of(features, group)
