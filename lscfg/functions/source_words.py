"""Penalty for source words, which differ between the paths of a lattice."""

from __future__ import annotations

from collections.abc import Mapping

from lscfg.functions.function import WORD_PENALTY, RuleFunction, RuleSides
from lscfg.settings import Declared


class SourceWordPenalty(RuleFunction[Declared]):
    """cdec's SourceWordPenalty: each source word counts -1 / ln 10."""

    HELP = "number of source words, times -1 / ln 10"
    Settings = Declared

    def names(self, settings: Declared) -> tuple[str, ...]:
        return (self.name,)

    def of_rule(self, rule: RuleSides, settings: Declared) -> Mapping[str, float]:
        words = len(rule.source) - len(rule.gaps)
        return {self.name: WORD_PENALTY * words} if words else {}
