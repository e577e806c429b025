"""Rules found by parsing sentence pairs on both sides, as a source of rules."""

from __future__ import annotations

from dataclasses import dataclass

from lscfg.extract.derive import Derivations
from lscfg.grammar.select import MAX_TARGETS
from lscfg.grammar.source import DECODE, SELECT, Decoding, RuleInputs
from lscfg.grammar.tokens import RuleTokens
from lscfg.induce.biparse.rules import InducedRules, induce, induced_tokens, induced_trees
from lscfg.induce.biparse.settings import BiparseSettings
from lscfg.model.boundary import BoundaryModel
from lscfg.settings import setting

HELP = "rules of all derivations of sentence pairs, weighed by a log-linear model; alignments are only a lexicon"
VERSION = 2
NEEDS = ("text",)
FILTERED = True
TABLE = "induce"


@dataclass(frozen=True)
class Settings(BiparseSettings):
    """The induced grammar and its decoder."""

    max_targets: int = setting(MAX_TARGETS, "most frequent target sides kept of each source side", least=1, part=SELECT)
    max_span: int = setting(
        15, "most words that a rule covers, glue apart; replaces the decoder's limit", least=1, part=DECODE
    )


def rules(inputs: RuleInputs, settings: BiparseSettings) -> InducedRules:
    """The rules of a corpus with their expected counts; see ``induce``."""
    return induce(inputs, settings).rules


def tokens(inputs: RuleInputs, settings: BiparseSettings) -> RuleTokens:
    """Where the best derivations have the rules."""
    return induced_tokens(induce(inputs, settings))


def trees(inputs: RuleInputs, settings: BiparseSettings) -> Derivations:
    """The best derivations; see ``induced_trees``."""
    return induced_trees(induce(inputs, settings))


def boundary(inputs: RuleInputs, settings: BiparseSettings) -> BoundaryModel:
    """Learned weights of the words at the borders of source spans."""
    return induce(inputs, settings).boundary


def decoding(settings: Settings) -> Decoding:
    """With the decoder's glue rules, and only so long."""
    return Decoding(glue=True, max_span=settings.max_span)
