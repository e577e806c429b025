"""Indicators of the pattern of words and nonterminals."""

from __future__ import annotations

from collections.abc import Mapping

from lscfg.functions.function import Gap, RuleFunction, RuleSides, Symbols
from lscfg.settings import Declared

PLACES = 5
"""Words, a nonterminal, words, a nonterminal, words."""


class RuleShape(RuleFunction[Declared]):
    """cdec's RuleShape: five digits for each side mark words and nonterminals.

    Rules of more than two nonterminals, on which cdec ends, have no shape.
    """

    HELP = "one feature for each pattern of words and nonterminals"
    HEADS = ("Shape_",)
    Settings = Declared

    def of_rule(self, rule: RuleSides, settings: Declared) -> Mapping[str, float]:
        source, target = _shape(rule.source), _shape(rule.target)
        return {f"Shape_S{source}_T{target}": 1.0} if len(source) == len(target) == PLACES else {}


def _shape(side: Symbols) -> str:
    """Digits of a side: at even places 1 for words, at odd places 1 for a nonterminal."""
    shape = ""
    for symbol in side:
        gap = isinstance(symbol, Gap)
        if not gap and len(shape) % 2:  # further words of the same place
            continue
        shape += ("01" if len(shape) % 2 == 0 else "1") if gap else "1"
    return shape.ljust(PLACES, "0")
