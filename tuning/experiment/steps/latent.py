"""Latent features: a model of hidden states, and context models, as features of a decoder."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Generic, Self

from safetensors import safe_open

from lscfg import kernel
from lscfg.context.task import scorer_adder
from lscfg.estimate.estimator import DEFAULT_ESTIMATOR, ESTIMATORS
from lscfg.estimate.run import ContextInputs, estimate_model
from lscfg.extract.derive import Derivations
from lscfg.extract.extractor import EXTRACT, EXTRACTORS, TREES, with_boundary
from lscfg.extract.minimal import MinimalRules
from lscfg.grammar.counts import effective_size
from lscfg.grammar.table import MAX_TENSOR_ARITY
from lscfg.io.text import write_json
from lscfg.kernel import BOUNDARY_FEATURES, CONTEXT_FEATURES, SENSE_FEATURES, FeatureOptions, feature_names
from lscfg.kinds import (
    CONTEXT_MODELS,
    DEFAULT_CONTEXT_MODEL,
    DEFAULT_SENSE_MODEL,
    SENSE_MODELS,
    kind,
)
from lscfg.settings import SettingError, settings_of
from lscfg.settings_file import Keys, Reader
from lscfg.tuning.experiment.schema import Chosen, read_chosen
from lscfg.tuning.experiment.stage import File, Input, Stage, version
from lscfg.tuning.experiment.stages.rules import DERIVATIONS, SIZE, derive_stage, learned_files
from lscfg.tuning.experiment.system import (
    PLAIN_KEYS,
    Draft,
    Experiment,
    Fault,
    RuleFiles,
    StageFiles,
    System,
    SystemPlan,
    SystemStep,
)

MODEL = "model.lscfg"
NO_ESTIMATOR = "none"


def read_context(table: Any, keys: Keys, reader: Reader) -> Chosen:
    """The context model that a table asks for."""
    return read_chosen(CONTEXT_MODELS, "model", DEFAULT_CONTEXT_MODEL, table, keys, reader)


def read_scorer(table: Any, keys: Keys, reader: Reader) -> Chosen:
    """The scorer of target sides that a table asks for."""
    return read_chosen(SENSE_MODELS, "model", DEFAULT_SENSE_MODEL, table, keys, reader)


@dataclass(frozen=True)
class Latent(SystemStep):
    """Latent features of a model of the system's trees."""

    NAME: ClassVar[str] = "latent"
    KEYS: ClassVar[tuple[str, ...]] = ("estimator", "features", "context", "sense")
    COLUMNS: ClassVar[Mapping[str, Any]] = {
        "estimator": NO_ESTIMATOR,
        "states": None,
        "effective_rules": None,
        "singular_values": None,
    }

    estimator: Chosen
    own_features: tuple[str, ...] = ()
    """Names of the features; none: those of [features]."""
    context: Chosen | None = None
    """The context model; None: that of [context]."""
    sense: Chosen | None = None
    """The scorer of target sides; None: that of [sense]."""

    @classmethod
    def read(cls, table: dict[str, Any], shared: Mapping[str, Any], keys: Keys, reader: Reader) -> Self | None:
        context = read_context(table["context"], (*keys, "context"), reader) if "context" in table else None
        scorer = read_scorer(table["sense"], (*keys, "sense"), reader) if "sense" in table else None
        default = DEFAULT_ESTIMATOR if "features" in table else NO_ESTIMATOR
        name = reader.value(str, table.pop("estimator", default), (*keys, "estimator"))
        if name == NO_ESTIMATOR:
            for key in table:
                if key in ("context", "sense"):
                    raise reader.error((*keys, key), f"{key} is for a system with an estimator and features of it")
                if key not in PLAIN_KEYS:
                    raise reader.error((*keys, key), f"{key} is not for a system without estimator")
            return None
        if name not in ESTIMATORS.names():
            raise reader.not_one_of((*keys, "estimator"), name, (NO_ESTIMATOR, *ESTIMATORS.names()))
        features = reader.value(tuple[str, ...], table.pop("features", []), (*keys, "features"))
        settings = ESTIMATORS[name].Settings
        own = {item.name for item in settings_of(settings)}
        others = {item.name for other in ESTIMATORS.names() for item in settings_of(ESTIMATORS[other].Settings)}
        for key in ("context", "sense"):
            table.pop(key, None)
        for key in table:
            if key in others - own - {*PLAIN_KEYS}:
                raise reader.error((*keys, key), f"{key} is not for the estimator {name}")
        made = reader.build(settings, {key: table.pop(key) for key in [*table] if key in own}, keys)
        return cls(Chosen.of(ESTIMATORS[name], name, made), features, context, scorer)

    def known_keys(self) -> tuple[str, ...]:
        return (*self.KEYS, *(item.name for item in settings_of(type(self.estimator.settings))))

    @property
    def over_forests(self) -> bool:
        """Whether the estimator needs all minimal derivations of each pair."""
        return bool(getattr(self.estimator.settings, "forests", False))

    def features(self, experiment: Experiment) -> tuple[str, ...]:
        return feature_names(self.own_features or experiment.features.names)

    def context_model(self, experiment: Experiment) -> Chosen | None:
        """The context model that the features need."""
        if {*CONTEXT_FEATURES}.isdisjoint(self.features(experiment)):
            return None
        return self.context or experiment.context

    def scorer(self, experiment: Experiment) -> Chosen | None:
        """The scorer of target sides that the features need."""
        if {*SENSE_FEATURES}.isdisjoint(self.features(experiment)):
            return None
        return self.sense or experiment.sense

    def needs_boundary(self, experiment: Experiment) -> bool:
        """Whether the features need weights of spans."""
        return not {*BOUNDARY_FEATURES}.isdisjoint(self.features(experiment))

    def check(self, system: System, experiment: Experiment, before: Collection[str]) -> Fault | None:
        assert system.rules is not None
        if self.over_forests and (experiment.derive.binarise or experiment.derive.max_arity < MAX_TENSOR_ARITY):
            return Fault(
                "forests", "forests have all minimal rules: set binarise = false and max_arity = 2 in [derive]"
            )
        if self.over_forests and system.rules.trees != TREES:
            return Fault("trees", "trees is not for a system over forests, which are of alignments")
        try:
            if self.own_features:
                FeatureOptions(names=self.own_features)
        except SettingError as error:
            return Fault("features", f"features {error.requirement}")
        for key, needed in (("context", self.context_model(experiment)), ("sense", self.scorer(experiment))):
            if getattr(self, key) and not needed:
                return Fault(key, f"{key} is for a system with an estimator and features of it")
        if self.needs_boundary(experiment):
            learned = with_boundary(system.rules.extractors)
            if not learned or not experiment.of(system).sources[learned].facts()["passes"]:
                message = "SpanBoundary needs biparsed rules: add +biparsed to grammar, and passes to [biparsed]"
                return Fault("features", message)
        return None

    def without_features(self) -> SystemStep | None:
        return None

    def train(self, draft: Draft) -> Iterator[Stage]:
        """The model, with a context model of the system's rules if features need one."""
        files = draft.files
        if self.over_forests:
            forests = derive_stage(draft.experiment, files, forests=True)
            yield forests
            files = replace(files, derivations=forests / DERIVATIONS)
        assert files.derivations is not None
        settings, read = self._settings(draft), RuleFiles[Input]()
        if extractors := settings.extractors:
            read = files.needed(*(need for one in extractors for need in EXTRACTORS[one.name].NEEDS))
            learned = {
                table: folder
                for one in extractors
                for table, folder in learned_files(files, draft.settings_of(one.name)).items()
            }
            read = replace(read, learned=learned)
        context = settings.context
        chosen = [one for one in (context.model, context.scorer) if one] if context else []
        more = tuple(draft.experiment.monolingual.source) if any(_takes_text(one) for one in chosen) else ()
        inputs = ModelFiles(files.derivations, read, files.source if context else None, more)
        draft.model = Stage("estimate", estimate, settings, inputs)
        draft.features = draft.model / MODEL
        yield draft.model

    def _settings(self, draft: Draft) -> ModelSettings:
        experiment, rules = draft.experiment, draft.system.rules
        assert rules is not None
        model, scorer = self.context_model(experiment), self.scorer(experiment)
        context = boundary = None
        if model or scorer:
            extractors = tuple(draft.settings_of(name).only(EXTRACT) for name in rules.extractors)
            context = ContextSettings(model, scorer, extractors)
        if self.needs_boundary(experiment):
            boundary = draft.settings_of(with_boundary(rules.extractors)).only(EXTRACT)
        return ModelSettings(self.estimator, context, boundary)

    def extend(self, draft: Draft) -> Iterator[Stage]:
        """No stages; latent features that the system before lacks begin at several values."""
        experiment, system = draft.experiment, draft.system
        names = {*experiment.features.names} & {*kernel.START_WEIGHTS}
        decoder = draft.before[system.before].decoder if system.before else None
        names -= {*decoder.features.names} if decoder and decoder.features else set()
        if system.start and names:
            draft.latent_starts = experiment.tuning.latent_starts
        return iter(())

    def columns(self, plan: SystemPlan, files: StageFiles) -> dict[str, Any]:
        assert plan.model is not None
        size = files.json(plan.model / SIZE)
        return {
            "estimator": self.estimator.name,
            "states": size["states"],
            "effective_rules": size["effective"],
            "singular_values": _singular_values(files.path(plan.model / MODEL)),
        }


def _takes_text(chosen: Chosen) -> bool:
    return bool(getattr(chosen.settings, "takes_text", False))


def _singular_values(path: Path) -> list[float] | None:
    """Singular values in the header of a model of the spectral estimator."""
    with safe_open(path, "numpy") as file:
        found: list[float] | None = json.loads(file.metadata()["about"]).get("singular values")
    return found


@dataclass(frozen=True)
class ContextSettings:
    """Settings of a context model."""

    model: Chosen | None
    scorer: Chosen | None
    """Scorer of target sides."""
    extractors: tuple[Chosen, ...]
    """Extractors of the rules that get context."""


@dataclass(frozen=True)
class ModelSettings:
    """Settings of a model."""

    estimator: Chosen
    context: ContextSettings | None = None
    boundary: Chosen | None = None
    """Extractor whose weights of spans the model takes."""

    @property
    def extractors(self) -> list[Chosen]:
        """Extractors whose files the model needs."""
        return [*(self.context.extractors if self.context else ()), *([self.boundary] if self.boundary else [])]


@dataclass(frozen=True)
class ModelFiles(Generic[File]):
    """Files that a model is learned from."""

    derivations: File
    rules: RuleFiles[File]
    """Files of the extractors."""
    source: File | None = None
    """Source text of a context model."""
    more_source: tuple[File, ...] = ()
    """Further source text for context models with dense values of words."""


@version(1, growth=40)
def estimate(folder: Path, settings: ModelSettings, inputs: ModelFiles[Path], jobs: int) -> None:
    """Writes the model of an estimator; an estimator that iterates goes on from its checkpoints in the folder."""
    name, own = settings.estimator.name, settings.estimator.settings
    found, files = ESTIMATORS[name], inputs.rules.inputs()
    trees = Derivations.load(inputs.derivations)
    resume = any((folder / name).exists() for name in found.CHECKPOINTS[:1])
    model = estimate_model(trees, name, own, jobs, folder, resume, _context(settings.context, inputs))
    if spans := settings.boundary:
        model = replace(model, boundary=EXTRACTORS[spans.name].boundary(files, spans.settings))
    model.save(folder / MODEL)
    for name in found.CHECKPOINTS:
        (folder / name).unlink(missing_ok=True)
    size = effective_size(MinimalRules.of(trees), model.rank)
    write_json(folder / SIZE, {"states": model.rank, "effective": size})


def _context(settings: ContextSettings | None, inputs: ModelFiles[Path]) -> ContextInputs | None:
    if settings is None:
        return None
    assert inputs.source is not None
    sources = tuple((EXTRACTORS[one.name], one.settings) for one in settings.extractors)
    name = settings.model.name if settings.model else ""
    own = settings.model.settings if settings.model else kind(CONTEXT_MODELS, DEFAULT_CONTEXT_MODEL).Settings()
    scorer: Any = settings.scorer
    add_scorer = scorer_adder(scorer.name, scorer.settings) if scorer else None
    files = inputs.rules.inputs()
    return ContextInputs(name, own, inputs.source, files, sources, 0.0, add_scorer, inputs.more_source)
