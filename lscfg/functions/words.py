"""Indicators of words."""

from __future__ import annotations

from collections.abc import Mapping

from lscfg.functions.function import Gap, Symbols

ESCAPED = {"=": "__EQ", ";": "__SC", ",": "__CO"}
"""Names of words that are one of these characters."""


def word_indicators(head: str, side: Symbols) -> Mapping[str, float]:
    """Each word of a side, as in cdec: 1 for a word that occurs twice in the rule, too."""
    return {f"{head}:{ESCAPED.get(word, word)}": 1.0 for word in side if not isinstance(word, Gap)}
