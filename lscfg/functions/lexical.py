"""Indicators of translated, deleted and inserted words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from lscfg.functions.function import Gap, RuleFunction, RuleSides, escaped
from lscfg.settings import Declared, setting


@dataclass(frozen=True)
class LexicalSettings(Declared):
    """The arguments of LexicalFeatures."""

    translations: bool = setting(True, "no pairs of linked words")
    insertions: bool = setting(True, "no target words without a link")
    deletions: bool = setting(True, "no source words without a link")


class LexicalFeatures(RuleFunction[LexicalSettings]):
    """cdec's LexicalFeatures, such as ``LT:casa:house``, ``LD:la`` and ``LI:the``, by the links of a rule's line.

    The three arguments have cdec's order, which differs from the order in its help.
    """

    HELP = "one feature for each pair of linked words, deleted word and inserted word"
    HEADS = ("LT:", "LD:", "LI:")
    Settings = LexicalSettings

    def of_rule(self, rule: RuleSides, settings: LexicalSettings) -> Mapping[str, float]:
        words = [
            [None if isinstance(one, Gap) else escaped(one) for one in side] for side in (rule.source, rule.target)
        ]
        names = [f"LT:{words[0][i]}:{words[1][j]}" for i, j in rule.links if settings.translations]
        linked = [{pair[side] for pair in rule.links} for side in (0, 1)]
        for side, head, wanted in ((0, "LD", settings.deletions), (1, "LI", settings.insertions)):
            found = [
                f"{head}:{word}" for k, word in enumerate(words[side]) if word is not None and k not in linked[side]
            ]
            names += found if wanted else []
        return {name: float(count) for name, count in Counter(names).items()}
