"""Indicators of the number of nonterminals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lscfg.functions.function import RuleFunction, RuleSides
from lscfg.settings import Declared, setting


@dataclass(frozen=True)
class AritySettings(Declared):
    """The argument of ArityPenalty."""

    most: int = setting(50, "largest number of nonterminals with an indicator", least=0)


class ArityPenalty(RuleFunction[AritySettings]):
    """cdec's ArityPenalty: ``Arity_2`` is 1 for a rule of two nonterminals."""

    HELP = "one feature for each number of nonterminals"
    HEADS = ("Arity_",)
    Settings = AritySettings

    def of_rule(self, rule: RuleSides, settings: AritySettings) -> Mapping[str, float]:
        arity = len(rule.gaps)
        return {f"Arity_{arity}": 1.0} if arity <= settings.most else {}
