"""The rule extractor that samples."""

from __future__ import annotations

from dataclasses import dataclass

from lscfg.extract.derive import Derivations
from lscfg.extract.extractor import Decoding, GluedSettings, RuleExtractor, RuleInputs
from lscfg.grammar.tokens import RuleTokens
from lscfg.induce.sampled.rules import SampledRules, SamplingSettings, sample_rules, sampled_tokens
from lscfg.induce.sampled.trees import sampled_trees


@dataclass(frozen=True)
class SampledSettings(GluedSettings, SamplingSettings):
    """The sampled grammar and its decoder."""


class Sampled(RuleExtractor[SampledSettings]):
    """Rules of any size, sampled from all derivations of the text."""

    HELP = "rules of any size, sampled from all derivations of the text"
    VERSION = 3
    Settings = SampledSettings
    NEEDS = ("text",)
    FILTERED = True

    def rules(self, inputs: RuleInputs, settings: SampledSettings) -> SampledRules:
        """The kept rules of a corpus with all its alignments; see ``sample_rules``."""
        return sample_rules(inputs, settings).rules

    def tokens(self, inputs: RuleInputs, settings: SampledSettings) -> RuleTokens:
        """The rule tokens of the samples; see ``sample_rules``."""
        return sampled_tokens(sample_rules(inputs, settings, places=True))

    def trees(self, inputs: RuleInputs, settings: SampledSettings) -> Derivations:
        """The trees of all samples; see ``sampled_trees``."""
        return sampled_trees(sample_rules(inputs, settings, places=True))

    def decoding(self, settings: SampledSettings) -> Decoding:
        """Uses the decoder's glue rules; without a filter, rules of bare nonterminals replace glue."""
        return Decoding() if settings.rule_filter == "none" else Decoding(glue=True, max_span=settings.max_span)
