"""Count of words in other scripts."""

from __future__ import annotations

from collections.abc import Mapping

from lscfg.functions.function import Gap, RuleFunction, RuleSides
from lscfg.settings import Declared


class NonLatinCount(RuleFunction[Declared]):
    """cdec's NonLatinCount: target words with a character outside ASCII, so that ``é`` counts, too."""

    HELP = "number of target words with characters outside ASCII"
    Settings = Declared

    def names(self, settings: Declared) -> tuple[str, ...]:
        return (self.name,)

    def of_rule(self, rule: RuleSides, settings: Declared) -> Mapping[str, float]:
        count = sum(not isinstance(symbol, Gap) and not symbol.isascii() for symbol in rule.target)
        return {self.name: float(count)} if count else {}
