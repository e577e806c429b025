"""Settings of Hiero grammars, which an index of rules on demand shares with the extractor."""

from __future__ import annotations

from dataclasses import dataclass

from lscfg.extract.extractor import SELECT, GluedSettings
from lscfg.grammar.table import MAX_TENSOR_ARITY
from lscfg.settings import Declared, setting


@dataclass(frozen=True)
class HieroLimits(Declared):
    """Limits of the extracted rules; the defaults are Chiang's.

    Raises:
        InputError: a limit is out of range.
    """

    max_phrase: int = setting(10, "maximum source words of a phrase pair", least=1, most=1000)
    max_target_phrase: int = setting(
        0, "maximum target words of a phrase pair; 0: no limit, or max_phrase for loose pairs", least=0, most=1000
    )
    max_symbols: int = setting(5, "maximum words and nonterminals on the source side of a rule", least=1, most=1000)
    max_arity: int = setting(2, "maximum nonterminals of a rule", least=0, most=MAX_TENSOR_ARITY)
    loose: bool = setting(False, "allow words without links at the borders of phrase pairs")
    min_hole: int = setting(1, "minimum source words of a phrase pair that becomes a nonterminal", least=1, most=1000)
    no_singletons: bool = setting(False, "leave out rules that occur once and have more than one source word")

    @property
    def target_phrase(self) -> int:
        """Most target words of a phrase pair; 0: no limit.

        Loose phrase pairs have a limit, as in Moses, since few links allow a phrase pair for almost every pair of
        spans.
        """
        return self.max_target_phrase or (self.max_phrase if self.loose else 0)


@dataclass(frozen=True)
class HieroSettings(GluedSettings, HieroLimits):
    """The Hiero grammar and its decoder."""

    significance: float | None = setting(
        None,
        "minimum significance of a rule by Fisher's exact test; sides that occur once, and together, have 0",
        shown="keep all rules",
        part=SELECT,
    )
