"""Sampled rules as a source of rules."""

from __future__ import annotations

from dataclasses import dataclass

from lscfg.extract.derive import Derivations
from lscfg.grammar.select import MAX_TARGETS
from lscfg.grammar.source import DECODE, SELECT, Decoding, RuleInputs
from lscfg.grammar.tokens import RuleTokens
from lscfg.induce.sample.rules import SampledRules, SamplingSettings, sample_rules, sampled_tokens
from lscfg.induce.sample.trees import sampled_trees
from lscfg.settings import setting

HELP = "rules of any size, sampled from all derivations of the text"
VERSION = 2
NEEDS = ("text",)
FILTERED = True
TABLE = "sampling"


@dataclass(frozen=True)
class Settings(SamplingSettings):
    """The sampled grammar and its decoder."""

    max_targets: int = setting(MAX_TARGETS, "most frequent target sides kept of each source side", least=1, part=SELECT)
    max_span: int = setting(
        15, "most words that a rule covers, glue apart; replaces the decoder's limit", least=1, part=DECODE
    )


def rules(inputs: RuleInputs, settings: SamplingSettings) -> SampledRules:
    """The rules that were kept of a corpus with all its alignments; see ``sample_rules``."""
    return sample_rules(inputs, settings).rules


def tokens(inputs: RuleInputs, settings: SamplingSettings) -> RuleTokens:
    """Where samples have the rules; see ``sample_rules``."""
    return sampled_tokens(sample_rules(inputs, settings, places=True))


def trees(inputs: RuleInputs, settings: SamplingSettings) -> Derivations:
    """The trees of all samples; see ``sampled_trees``."""
    return sampled_trees(sample_rules(inputs, settings, places=True))


def decoding(settings: Settings) -> Decoding:
    """With the decoder's glue rules, and only so long; without a filter, rules of bare nonterminals are the glue."""
    return Decoding() if settings.rule_filter == "none" else Decoding(glue=True, max_span=settings.max_span)
