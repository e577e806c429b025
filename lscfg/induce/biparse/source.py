"""Rules found by parsing sentence pairs on both sides, as a source of rules."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lscfg.extract.derive import Derivations
from lscfg.grammar.select import MAX_TARGETS
from lscfg.grammar.source import DECODE, SELECT, Decoding, RuleInputs
from lscfg.grammar.tokens import RuleTokens
from lscfg.induce.biparse.rules import FREE, Induced, InducedRules, induce, induced_tokens, induced_trees
from lscfg.induce.biparse.rules import learn as learn_weights
from lscfg.induce.biparse.settings import BiparseSettings
from lscfg.model.boundary import BoundaryModel
from lscfg.settings import setting

HELP = "rules of all derivations of sentence pairs, weighed by a log-linear model; alignments are only a lexicon"
VERSION = 2
NEEDS = ("text",)
FILTERED = True
TABLE = "induce"
ALIGNMENTS = ("best", "likely")


@dataclass(frozen=True)
class Settings(BiparseSettings):
    """The induced grammar and its decoder."""

    max_targets: int = setting(MAX_TARGETS, "most frequent target sides kept of each source side", least=1, part=SELECT)
    max_span: int = setting(
        15, "most words that a rule covers, glue apart; replaces the decoder's limit", least=1, part=DECODE
    )


def rules(inputs: RuleInputs, settings: BiparseSettings) -> InducedRules:
    """The rules of a corpus with their expected counts; see ``induce``."""
    return _induce(inputs, settings).rules


def tokens(inputs: RuleInputs, settings: BiparseSettings) -> RuleTokens:
    """Where the best derivations have the rules."""
    return induced_tokens(_induce(inputs, settings))


def trees(inputs: RuleInputs, settings: BiparseSettings) -> Derivations:
    """The best derivations; see ``induced_trees``."""
    return induced_trees(_induce(inputs, settings))


def alignments(inputs: RuleInputs, settings: BiparseSettings) -> dict[str, list[str]]:
    """Links of the best derivations, and those of a probability of at least a half."""
    found = _induce(replace(inputs, wanted=[""]), settings)  # no rule is wanted but those of best derivations
    links = (found.best_links, found.likely_links)
    return {name: found.link_lines(chosen) for name, chosen in zip(ALIGNMENTS, links, strict=True)}


def boundary(inputs: RuleInputs, settings: BiparseSettings) -> BoundaryModel:
    """Learned weights of the words at the borders of source spans."""
    return learn_weights(inputs, settings, folder=inputs.learned.get(TABLE), resume=True)


def learning(settings: BiparseSettings) -> dict[str, Any]:
    """What learned weights depend on; nothing where none are learned."""
    return {name: value for name, value in settings.facts().items() if name not in FREE} if settings.passes else {}


def learn(inputs: RuleInputs, settings: BiparseSettings, folder: Path, jobs: int) -> None:
    """Learned weights, as the checkpoints of each fold after its last pass; see ``lscfg.induce.biparse.checkpoint``."""
    learn_weights(inputs, settings, jobs, folder, resume=True)


def _induce(inputs: RuleInputs, settings: BiparseSettings) -> Induced:
    return induce(inputs, settings, folder=inputs.learned.get(TABLE), resume=True)


def decoding(settings: Settings) -> Decoding:
    """With the decoder's glue rules, and only so long."""
    return Decoding(glue=True, max_span=settings.max_span)
