"""Indicators of the words at the borders of a span."""

from __future__ import annotations

import numpy as np

from lscfg.functions.function import FeatureFunction, ParsedInput, escaped
from lscfg.functions.rows import NamedRows
from lscfg.functions.span_sizes import size_class
from lscfg.settings import Declared


class SpanFeatures(FeatureFunction[Declared]):
    """cdec's SpanFeatures without files: the words before and after each border of a span, and both with its size."""

    HELP = "features of the words at the borders of a span"
    HEADS = ("ES:", "BS:", "EBI:", "BBI:", "S:", "S_S:", "LS:", "S_LS:")
    Settings = Declared

    def values(self, given: ParsedInput, settings: Declared) -> NamedRows:
        _, rule_of = given.rules
        of_goal = np.array([given.grammar.category_name(cat) == "S" if cat >= 0 else False for cat in _heads(given)])
        first, group = given.distinct(np.column_stack([given.spans, of_goal]))
        before, after = ["BOS", *given.words], [*given.words, "EOS"]
        features: list[dict[str, float]] = []
        for app in first.tolist():
            i, j = given.spans[app].tolist()
            if rule_of[app] < 0:
                features.append({})
                continue
            goal = "S_" if of_goal[app] else ""
            names = (
                f"ES:{after[j]}",
                f"BS:{before[i]}",
                f"EBI:{before[j]}_{after[j]}",
                f"BBI:{before[i]}_{after[i]}",
                f"{goal}S:{before[i]}_{after[j]}",
                f"{goal}LS:{size_class(j - i)}_{before[i]}_{after[j]}",
            )
            features.append(dict.fromkeys(map(escaped, names), 1.0))
        return NamedRows.of(features, group)


def _heads(given: ParsedInput) -> list[int]:
    """The category of each application's head."""
    forest = given.forest
    found: list[int] = forest.node_cat[forest.edge_head[forest.app_edge]].tolist()
    return found
