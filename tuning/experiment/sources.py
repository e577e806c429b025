"""The stages of an experiment that take rules from a corpus: what is learned of it, its trees and its grammars."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lscfg.extract.extractor import DECODE, EXTRACT, EXTRACTORS, LEARNED, RuleInputs
from lscfg.settings import Declared
from lscfg.tuning.experiment.schema import Experiment, System
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
        source = EXTRACTORS[name]
        facts = source.learning(settings)
        if not facts:
            return {}
        facts = {"source": name, "source version": source.VERSION, "settings": facts}
        stage = Stage(f"learn-{name}", rules.learn, facts, {**self.of(source.NEEDS), **settings.files()})
        return {f"{LEARNED}{name}": stage / rules.LEARNED}


def alignments_of(name: str, experiment: Experiment, inputs: RuleFiles) -> list[Output]:
    """The links that a source of rules finds."""
    settings = experiment.sources[name]
    stage = _stage("align", rules.source_alignments, name, settings, settings.facts(EXTRACT), inputs)
    return [stage / file for file in EXTRACTORS[name].ALIGNMENTS]


def trees_of(name: str, experiment: Experiment, inputs: RuleFiles) -> Stage:
    """The stage of the trees of a source of rules."""
    settings = experiment.sources[name]
    return _stage("derive", rules.source_trees, name, settings, settings.facts(EXTRACT), inputs)


def grammar_stages(experiment: Experiment, texts: Texts, system: System, inputs: RuleFiles) -> Iterator[Stage]:
    """The stages of a system's grammar: its parts, and last the whole."""
    parts = []
    wanted: dict[str, Input] = {"text 001": texts.dev_source, "text 002": texts.test_source}
    for name in system.sources:
        settings = experiment.sources[name]
        own = {key: value for key, value in settings.facts().items() if key not in settings.facts(DECODE)}
        filtered = wanted if EXTRACTORS[name].FILTERED else {}
        parts.append(_stage("grammar", rules.grammar, name, settings, own, inputs, filtered))
    yield from parts
    if len(parts) > 1:
        files = {f"grammar {number:03}": part / rules.GRAMMAR for number, part in enumerate(parts, 1)}
        yield Stage(f"grammar-{'+'.join(system.sources)}", rules.union, {}, files)


def _stage(
    kind: str,
    work: Callable[[Path, Mapping[str, Any], dict[str, Path], int], None],
    name: str,
    settings: Declared,
    own: Mapping[str, Any],
    inputs: RuleFiles,
    more: Mapping[str, Input] | None = None,
) -> Stage:
    """Work of a source of rules, which begins with what the source has learned.

    Args:
        own: what the work depends on of the settings; more: its files beside those that the source needs.
    """
    source = EXTRACTORS[name]
    facts = {"source": name, "source version": source.VERSION, "settings": own}
    files = {**inputs.of(source.NEEDS), **settings.files(), **(more or {})}
    return Stage(f"{kind}-{name}", work, facts, files, inputs.learned(name, settings))
