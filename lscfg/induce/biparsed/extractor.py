"""The rule extractor that parses both sides of sentence pairs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from lscfg.extract.derive import Derivations
from lscfg.extract.extractor import Decoding, GluedSettings, RuleExtractor, RuleInputs
from lscfg.grammar.tokens import RuleTokens
from lscfg.induce.biparsed.rules import FREE, Induced, InducedRules, induce, induced_tokens, induced_trees
from lscfg.induce.biparsed.rules import learn as learn_weights
from lscfg.induce.biparsed.settings import BiparseSettings
from lscfg.model.boundary import BoundaryModel


@dataclass(frozen=True)
class BiparsedSettings(GluedSettings, BiparseSettings):
    """The induced grammar and its decoder."""


class Biparsed(RuleExtractor[BiparsedSettings]):
    """Rules of all derivations of sentence pairs, weighted by a log-linear model."""

    HELP = "rules of all derivations of sentence pairs, weighed by a log-linear model; alignments are only a lexicon"
    VERSION = 4
    Settings = BiparsedSettings
    NEEDS = ("text",)
    FILTERED = True
    ALIGNMENTS = ("best", "likely")

    def rules(self, inputs: RuleInputs, settings: BiparsedSettings) -> InducedRules:
        """The rules of a corpus with their expected counts; see ``induce``."""
        return self._induce(inputs, settings).rules

    def tokens(self, inputs: RuleInputs, settings: BiparsedSettings) -> RuleTokens:
        """The rule tokens of the best derivations."""
        return induced_tokens(self._induce(inputs, settings))

    def trees(self, inputs: RuleInputs, settings: BiparsedSettings) -> Derivations:
        """The best derivations; see ``induced_trees``."""
        return induced_trees(self._induce(inputs, settings))

    def alignments(self, inputs: RuleInputs, settings: BiparsedSettings) -> dict[str, list[str]]:
        """Links of the best derivations, and links with a probability of at least 1/2."""
        found = self._induce(replace(inputs, wanted=[]), settings)  # only rules of best derivations are needed
        links = (found.best_links, found.likely_links)
        return {name: found.link_lines(chosen) for name, chosen in zip(self.ALIGNMENTS, links, strict=True)}

    def boundary(self, inputs: RuleInputs, settings: BiparsedSettings) -> BoundaryModel:
        """Learned weights of the words at the borders of source spans."""
        return learn_weights(inputs, settings, folder=inputs.learned.get(self.name), resume=True)

    def learning(self, settings: BiparsedSettings) -> dict[str, object]:
        """Settings that learned weights depend on; empty if no weights are learned."""
        return {name: value for name, value in settings.facts().items() if name not in FREE} if settings.passes else {}

    def learn(self, inputs: RuleInputs, settings: BiparsedSettings, folder: Path, jobs: int) -> None:
        """Writes the learned weights: the checkpoint of each fold after its last pass."""
        learn_weights(inputs, settings, jobs, folder, resume=True)

    def decoding(self, settings: BiparsedSettings) -> Decoding:
        """Uses the decoder's glue rules, and limits the span of other rules."""
        return Decoding(glue=True, max_span=settings.max_span)

    def _induce(self, inputs: RuleInputs, settings: BiparsedSettings) -> Induced:
        return induce(inputs, settings, folder=inputs.learned.get(self.name), resume=True)
