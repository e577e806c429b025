"""The extra rules, whose numbers follow those of a grammar's own (plugin/forest/extra_rules.h)."""

from __future__ import annotations

from collections.abc import Sized

import numpy as np

from lscfg._kernel import lib

GLUE_TOP, GLUE = int(lib.LSCFG_RULE_GLUE_TOP), int(lib.LSCFG_RULE_GLUE)
"""Glue over one node and over two: [S] -> [X,1] and [S] -> [S,1] [X,2]."""

PASS, PASS_KNOWN = int(lib.LSCFG_RULE_PASS), int(lib.LSCFG_RULE_PASS_KNOWN)
"""The source word of a span, passed through; such a word that a rule also translates alone."""

OTHER_RULE = int(lib.LSCFG_RULE_UNKNOWN)
"""Any rule outside the grammar; it has no features."""

EXTRA_RULES = int(lib.LSCFG_EXTRA_RULES)
"""Number of extra rules; the last one joins tails of an edge with more than two (``REST``)."""


def layer_begin(grammar: Sized) -> int:
    """The number of the first rule of a layer over the grammar, or of the layer itself."""
    return len(grammar) + EXTRA_RULES


def is_extra(grammar: Sized, rule: int) -> bool:
    """True for a rule of neither the grammar nor a layer."""
    return len(grammar) <= rule < layer_begin(grammar)


def passes_word(grammar: Sized, rules: np.ndarray) -> np.ndarray:
    """Marks the rules that pass a word through, bool, as many as there are rules."""
    return np.isin(rules, (len(grammar) + PASS, len(grammar) + PASS_KNOWN))


def extra_sides(extra: int, word: str) -> tuple[str, str]:
    """Both sides of an extra rule as text.

    Args:
        extra: its number minus the size of the grammar.
        word: the word of a rule that passes one through.
    """
    text = {GLUE_TOP: "[X,1]", GLUE: "[S,1] [X,2]"}.get(extra, word)
    return text, text
