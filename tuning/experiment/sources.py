"""The stages of an experiment that take rules from a corpus: what is learned of it, its trees and its grammars."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lscfg.grammar.source import DECODE, EXTRACT, LEARNED, RuleInputs, rule_source
from lscfg.settings import Declared
from lscfg.tuning.experiment.config import Experiment, System
from lscfg.tuning.experiment.stage import Input, Output, Stage, Texts, numbered_inputs
from lscfg.tuning.experiment.stages import rules


@dataclass(frozen=True)
class RuleFiles:
    """What rules may be taken from, made or not; see ``RuleInputs``."""

    source: Input
    target: Input
    alignments: Sequence[Input]
    derivations: Input

    def of(self, needs: tuple[str, ...]) -> dict[str, Input]:
        """Those that a source needs."""
        names = RuleInputs(Path(), Path(), (Path(),) * len(self.alignments), Path()).files(needs)
        every: dict[str, Input] = {"source": self.source, "target": self.target, "derivations": self.derivations}
        every |= numbered_inputs("alignments", self.alignments)
        return {name: every[name] for name in names}

    def learned(self, name: str, settings: Declared) -> dict[str, Output]:
        """What a source of rules learns of them before all else, once for all stages; nothing of most sources."""
        source = rule_source(name)
        facts = source.learning(settings) if hasattr(source, "learning") else {}
        if not facts:
            return {}
        facts = {"source": name, "source version": source.VERSION, "settings": facts}
        stage = Stage(f"learn-{name}", rules.learn, facts, {**self.of(source.NEEDS), **settings.files()})
        return {f"{LEARNED}{source.TABLE}": stage / rules.LEARNED}


def alignments_of(name: str, experiment: Experiment, inputs: RuleFiles) -> list[Output]:
    """The links that a source of rules finds."""
    source, settings = rule_source(name), experiment.sources[name]
    facts = {"source": name, "source version": source.VERSION, "settings": settings.facts(EXTRACT)}
    files = {**inputs.of(source.NEEDS), **settings.files()}
    stage = Stage(f"align-{name}", rules.source_alignments, facts, files, inputs.learned(name, settings))
    return [stage / file for file in source.ALIGNMENTS]


def trees_of(name: str, experiment: Experiment, inputs: RuleFiles) -> Stage:
    """The stage of the trees of a source of rules."""
    source, settings = rule_source(name), experiment.sources[name]
    facts = {"source": name, "source version": source.VERSION, "settings": settings.facts(EXTRACT)}
    files = {**inputs.of(source.NEEDS), **settings.files()}
    return Stage(f"derive-{name}", rules.source_trees, facts, files, inputs.learned(name, settings))


def grammar_stages(experiment: Experiment, texts: Texts, system: System, inputs: RuleFiles) -> Iterator[Stage]:
    """The stages of a system's grammar: its parts, and last the whole."""
    parts = []
    for name in system.sources:
        source, settings = rule_source(name), experiment.sources[name]
        files = {**inputs.of(source.NEEDS), **settings.files()}
        if source.FILTERED:
            files |= {"text 001": texts.dev_source, "text 002": texts.test_source}
        own = {key: value for key, value in settings.facts().items() if key not in settings.facts(DECODE)}
        facts = {"source": name, "source version": source.VERSION, "settings": own}
        parts.append(Stage(f"grammar-{name}", rules.grammar, facts, files, inputs.learned(name, settings)))
    yield from parts
    if len(parts) > 1:
        files = {f"grammar {number:03}": part / rules.GRAMMAR for number, part in enumerate(parts, 1)}
        yield Stage(f"grammar-{'+'.join(system.sources)}", rules.union, {}, files)
