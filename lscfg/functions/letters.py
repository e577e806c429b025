"""Letters of translations."""

from __future__ import annotations

from collections.abc import Mapping

from lscfg.functions.function import Gap, RuleFunction, RuleSides
from lscfg.settings import Declared

MARKS = frozenset("￭▁")
"""Characters that mark where blanks are."""
UNIT = 10
"""Letters per unit, which brings the feature to the scale of other features."""


class LetterCount(RuleFunction[Declared]):
    """Letters of the target words of a rule, in tens: chrF follows the length in letters, WordPenalty that in words."""

    HELP = "letters of the target words, in tens"
    Settings = Declared

    def names(self, settings: Declared) -> tuple[str, ...]:
        return (self.name,)

    def of_rule(self, rule: RuleSides, settings: Declared) -> Mapping[str, float]:
        count = sum(sum(sign not in MARKS for sign in one) for one in rule.target if not isinstance(one, Gap))
        return {self.name: count / UNIT} if count else {}
