"""Expansion: rules for phrases that the parallel text lacks, found in monolingual text."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, Self

from lscfg.extract.extractor import EXTRACTORS
from lscfg.grammar.select import MAX_TARGETS
from lscfg.induce.propagated.expansion import COUNTERPARTS
from lscfg.induce.propagated.phrases import LIMITS, PhraseFile, PhraseSettings, collect, read_graph, write_graph
from lscfg.induce.propagated.rules import make_rules
from lscfg.induce.propagated.spaces import GraphSettings, source_graph
from lscfg.induce.propagated.spread import GOLD, PropagationSettings
from lscfg.induce.propagated.states import read_rules, with_states
from lscfg.io.json_files import read_json, write_json
from lscfg.io.write import write_lines
from lscfg.model.parameters import Parameters
from lscfg.settings import Declared, settings_of
from lscfg.settings_file import Keys, Reader
from lscfg.study.states import States
from lscfg.tuning.experiment.schema import Chosen, RawCorpus
from lscfg.tuning.experiment.stage import File, Input, Stage, version
from lscfg.tuning.experiment.stages.decoding import NBEST, lists_stage
from lscfg.tuning.experiment.stages.rules import (
    GRAMMAR,
    SIZE,
    STATISTICS,
    GrammarFiles,
    align_stage,
    grammar,
    union_stage,
)
from lscfg.tuning.experiment.steps.latent import MODEL, Latent
from lscfg.tuning.experiment.system import (
    Draft,
    Experiment,
    Fault,
    RuleFiles,
    StageFiles,
    System,
    SystemPlan,
    SystemStep,
)

PHRASES, WANTED, GRAPH, EXAMPLES = "phrases", "wanted", "graph", "examples.json"

TABLE = "propagated"
"""The table of experiment files, and of systems, with the settings of propagation."""


@dataclass(frozen=True)
class Propagation:
    """Settings of propagation; the keys of [propagated] are those of all three parts."""

    phrases: PhraseSettings = field(default_factory=PhraseSettings)
    graph: GraphSettings = field(default_factory=GraphSettings)
    rules: PropagationSettings = field(default_factory=PropagationSettings)


PARTS: dict[str, type[Declared]] = {"phrases": PhraseSettings, "graph": GraphSettings, "rules": PropagationSettings}


def read_propagation(table: Mapping[str, object], keys: Keys, reader: Reader) -> Propagation:
    """The settings of a table.

    Raises:
        InputError: a key is unknown, or a value is out of its range.
    """
    names = {part: {item.name for item in settings_of(cls)} for part, cls in PARTS.items()}
    every = sorted(set().union(*names.values()))
    for name in table:
        if name not in every:
            raise reader.unknown((*keys, name), every)
    made = {
        part: reader.build(cls, {name: table[name] for name in table if name in names[part]}, keys)
        for part, cls in PARTS.items()
    }
    return Propagation(**made)


@dataclass(frozen=True)
class Expand(SystemStep):
    """Rules of monolingual text in addition to those of the parallel text."""

    NAME: ClassVar[str] = "expand"
    KEYS: ClassVar[tuple[str, ...]] = ("expand", "states", TABLE)
    COLUMNS: ClassVar[Mapping[str, object]] = {"expansion": None, "candidates": None}

    propagation: Propagation
    states: bool = False
    """True: the model learns the hidden states of these rules from their neighbours."""

    @classmethod
    def read(cls, table: dict[str, object], shared: Mapping[str, Any], keys: Keys, reader: Reader) -> Self | None:
        own, expand, states = table.pop(TABLE, {}), table.pop("expand", False), table.pop("states", False)
        if not isinstance(own, dict):
            raise reader.error((*keys, TABLE), f"{TABLE} must be a table")
        for key, value in ((TABLE, own), ("states", states)):
            if value and expand is not True:
                raise reader.error((*keys, key), f"{key} needs expand = true")
        if not reader.value(bool, expand, (*keys, "expand")):
            return None
        propagation = read_propagation({**shared.get(TABLE, {}), **own}, (*keys, TABLE), reader)
        return cls(propagation, reader.value(bool, states, (*keys, "states")))

    def check(self, system: System, experiment: Experiment, before: Collection[str]) -> Fault | None:
        texts, rules = experiment.monolingual, self.propagation.rules
        if isinstance(experiment.corpus, RawCorpus):
            return Fault("expand", "expand needs tokenised text, not raw = true")
        if not texts.source or not texts.target:
            return Fault("expand", "expand needs text: name source and target in [monolingual]")
        if "decoder" in rules.candidates and not system.before:
            message = "start must name the system whose translations are candidates; or leave decoder out of candidates"
            return Fault("start", message)
        if rules.method == GOLD and not (texts.gold_source and texts.gold_target):
            return Fault("expand", "method gold needs gold_source and gold_target in [monolingual]")
        if self.states and not system.step(Latent):
            return Fault("states", "states needs a system with an estimator")
        return None

    def without_features(self) -> SystemStep | None:
        return dataclasses.replace(self, states=False)

    def extend(self, draft: Draft) -> Iterator[Stage]:
        """The new rules, the grammar with them, and a model with their hidden states."""
        stages = list(self._rules(draft))
        found = {stage.name: stage for stage in stages}
        made = found["propagate"]
        draft.rules = union_stage("expanded", [draft.grammar, made])
        draft.counterparts = COUNTERPARTS
        yield from (*stages, draft.rules)
        if self.states and (model := draft.model):
            files = StateFiles(
                model / MODEL,
                model / SIZE,
                made / GRAMMAR,
                found["phrases"] / PHRASES,
                found["graph"] / GRAPH,
            )
            draft.model = Stage("states", states, None, files)
            draft.features = draft.model / MODEL
            yield draft.model

    def _rules(self, draft: Draft) -> Iterator[Stage]:
        experiment, texts, own = draft.experiment, draft.texts, self.propagation
        mono, translated = experiment.monolingual, (texts.dev_source, texts.test_source)
        inputs = PhraseInputs(draft.files.needed("text"), texts.more_source, texts.more_target, translated)
        found = Stage("phrases", phrases, own.phrases, inputs)
        yield found
        similar = Stage("graph", graph, own.graph, GraphInputs(found / PHRASES))
        yield similar
        gold = lists = None
        if mono.gold_source and mono.gold_target:
            *_, gold = stages = list(_gold(draft, mono.gold_source, mono.gold_target))
            yield from stages
        if "decoder" in own.rules.candidates and own.rules.method != GOLD:
            lists = lists_stage("nbest", draft.before[draft.system.before], 0, found / WANTED)
            yield lists
        files = PropagationFiles(
            found / PHRASES,
            similar / GRAPH,
            texts.test_source,
            gold / GRAMMAR if gold else None,
            lists / NBEST if lists else None,
        )
        yield Stage("propagate", propagate, own.rules, files)

    def columns(self, plan: SystemPlan, files: StageFiles) -> dict[str, object]:
        made = plan.stage("propagate")
        assert made is not None
        return {"expansion": files.json(made / STATISTICS), "candidates": files.json(made / EXAMPLES)}


def _gold(draft: Draft, source: Path, target: Path) -> Iterator[Stage]:
    """The stages from a fuller parallel text to its phrase pairs, extracted as the labels are."""
    links = align_stage(draft.experiment, source, target)
    yield links[0].stage
    hiero = EXTRACTORS["hiero"]
    settings = hiero.Settings.of({**dataclasses.asdict(LIMITS), "max_targets": MAX_TARGETS})
    files = RuleFiles[Input](source, target, links)
    wanted = (draft.texts.dev_source, draft.texts.test_source)
    yield Stage("grammar-gold", grammar, Chosen.of(hiero, "hiero", settings), GrammarFiles(files, wanted))


@dataclass(frozen=True)
class PhraseInputs(Generic[File]):
    """Parallel text with its alignments, monolingual text of both sides, and texts that will be translated."""

    parallel: RuleFiles[File]
    source: tuple[File, ...]
    target: tuple[File, ...]
    wanted: tuple[File, ...]


@version(3)
def phrases(folder: Path, settings: PhraseSettings, inputs: PhraseInputs[Path], jobs: int) -> None:
    """Writes phrases of both sides; those of the dev and test text without a translation are to be translated."""
    text = inputs.parallel
    assert text.source is not None and text.target is not None
    more = [*inputs.source], [*inputs.target]
    found = collect((text.source, text.target), [*text.alignments], more, [*inputs.wanted], settings, jobs)
    found.write(folder / PHRASES)
    write_lines(folder / WANTED, found.unlabelled_texts())
    write_json(folder / STATISTICS, found.statistics())


@dataclass(frozen=True)
class GraphInputs(Generic[File]):
    """Phrases of both sides."""

    phrases: File


@version(5)
def graph(folder: Path, settings: GraphSettings, inputs: GraphInputs[Path], jobs: int) -> None:
    """Writes the most similar phrases of each source phrase."""
    found = PhraseFile.read(inputs.phrases)
    write_graph(folder / GRAPH, source_graph(found.source, found.words, settings, jobs), found, settings.facts())


@dataclass(frozen=True)
class PropagationFiles(Generic[File]):
    """Phrases and their graph, the text whose coverage is measured, a fuller grammar, lists of a decoder."""

    phrases: File
    graph: File
    text: File
    gold: File | None = None
    nbest: File | None = None


@version(3, growth=40)
def propagate(folder: Path, settings: PropagationSettings, inputs: PropagationFiles[Path], jobs: int) -> None:
    """Writes rules for phrases without a translation, their coverage of the test text, and measures of quality."""
    made = make_rules({name: path for name, path in vars(inputs).items() if path}, settings, jobs)
    write_lines(folder / GRAMMAR, made.lines)
    write_json(folder / SIZE, {"rules": len(made.lines)})
    write_json(folder / STATISTICS, made.figures)
    write_json(folder / EXAMPLES, made.examples)


@dataclass(frozen=True)
class StateFiles(Generic[File]):
    """A model and its size, new rules, and the phrases and graph that these come from."""

    model: File
    size: File
    rules: File
    phrases: File
    graph: File


@version(1, growth=40)
def states(folder: Path, settings: None, inputs: StateFiles[Path], jobs: int) -> None:
    """Writes a model with the hidden states of new rules, too."""
    found = PhraseFile.read(inputs.phrases)
    similarities, _ = read_graph(inputs.graph, found)
    model = Parameters.load(inputs.model)
    known = States.of(model)
    wider = with_states(model, known.share if known else None, found, similarities, read_rules(inputs.rules))
    wider.save(folder / MODEL)
    write_json(folder / SIZE, read_json(inputs.size))
