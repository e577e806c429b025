"""Indicators of copied words."""

from __future__ import annotations

import numpy as np

from lscfg.functions.function import FeatureFunction, ParsedInput
from lscfg.functions.rows import NamedRows
from lscfg.kernel.extra_rules import layer_begin
from lscfg.settings import Declared

NUMBER, TRANSLATED, CAPITAL, OTHER = range(4)


class Copies(FeatureFunction[Declared]):
    """Sets one of four features to 1 for a copied word, whether a rule or pass-through copies the word.

    A number or sign is usually right, a capitalised word may be a name, and a word that the grammar translates is
    wrong unless it is a loan.
    """

    HELP = "features of copied words: numbers and signs, words with a translation, capitalised words, others"
    Settings = Declared

    def names(self, settings: Declared) -> tuple[str, ...]:
        return tuple(
            self.name.replace("Copies", "Copy") + kind for kind in ("Number", "Translated", "Capital", "Other")
        )

    def values(self, given: ParsedInput, settings: Declared) -> NamedRows:
        rules, rule_of = given.rules
        copied = [rule.source[0] if len(rule.source) == 1 and rule.source == rule.target else None for rule in rules]
        alone = np.array([len(rule.source) == 1 and not rule.gaps for rule in rules] + [False])
        copies = np.array([isinstance(word, str) for word in copied] + [False])
        borders = layer_begin(given.grammar)  # later rules are a layer's
        starts = {*given.spans[alone[rule_of] & ~copies[rule_of] & (given.forest.app_rule < borders), 0].tolist()}
        kinds = np.full(len(rule_of), -1, np.int64)
        for app in np.flatnonzero(copies[rule_of]).tolist():
            word, at = copied[rule_of[app]], int(given.spans[app, 0])
            assert isinstance(word, str)
            if any(map(str.isdigit, word)) or not any(map(str.isalpha, word)):
                kinds[app] = NUMBER
            elif at in starts:
                kinds[app] = TRANSLATED
            else:
                kinds[app] = CAPITAL if word[0].isupper() else OTHER
        return NamedRows.of([{name: 1.0} for name in self.names(settings)], kinds)
