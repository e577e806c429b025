"""Latent features: a model of hidden states, and context models, as features of a decoder."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Generic, Self

from lscfg import kernel
from lscfg.context.inputs import ContextInputs
from lscfg.context.learner import CONTEXT_MODELS, chosen_models
from lscfg.estimate.estimator import DEFAULT_ESTIMATOR, ESTIMATORS
from lscfg.extract.derive import Derivations
from lscfg.extract.extractor import EXTRACT, EXTRACTORS, TREES, with_boundary
from lscfg.extract.minimal import MinimalRules
from lscfg.grammar.counts import effective_size
from lscfg.grammar.table import MAX_TENSOR_ARITY
from lscfg.io import tensors
from lscfg.io.json_files import write_json
from lscfg.kernel import BOUNDARY_FEATURES, FeatureOptions, feature_names
from lscfg.model.parameters import Parameters
from lscfg.settings import SettingError, settings_of
from lscfg.settings_file import Keys, Reader
from lscfg.tuning.experiment.schema import Chosen
from lscfg.tuning.experiment.stage import File, Input, Output, Stage, version
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
PARTS = ("neural", "orientation")
"""Estimators of a part that joins other models; the part and its features have the same name."""


def read_contexts(table: object, keys: Keys, reader: Reader) -> tuple[Chosen, ...]:
    """The context models that have a table in a table, such as [context.residual].

    Raises:
        InputError: a key is not a context model, or two context models give the same features.
    """
    if not isinstance(table, dict):
        raise reader.error(keys, f"{keys[-1]} must be a table")
    found: list[Chosen] = []
    for name, own in table.items():
        place = (*keys, name)
        if name == "model":
            raise reader.error(place, f"context models have a table each: [{'.'.join(keys)}.NAME]")
        if name not in CONTEXT_MODELS:
            raise reader.unknown(place, CONTEXT_MODELS.names())
        if not isinstance(own, dict):
            raise reader.error(place, f"{name} must be a table, as in [{'.'.join(place)}]")
        learner = CONTEXT_MODELS[name]
        for other in found:
            if CONTEXT_MODELS[other.name].FEATURES == learner.FEATURES:
                raise reader.error(place, f"{name} and {other.name} give the same features: leave out one of them")
        found.append(Chosen.of(learner, name, reader.build(learner.Settings, own, place)))
    return tuple(found)


@dataclass(frozen=True)
class Latent(SystemStep):
    """Latent features of a model of the system's trees."""

    NAME: ClassVar[str] = "latent"
    KEYS: ClassVar[tuple[str, ...]] = ("estimator", "features", "context")
    COLUMNS: ClassVar[Mapping[str, object]] = {
        "estimator": NO_ESTIMATOR,
        "states": None,
        "effective_rules": None,
        "singular_values": None,
    }

    estimator: Chosen
    own_features: tuple[str, ...] = ()
    """Names of the features; none: those of [features]."""
    contexts: tuple[Chosen, ...] = ()
    """Context models that replace those of [context] with the same features."""

    @classmethod
    def read(cls, table: dict[str, object], shared: Mapping[str, object], keys: Keys, reader: Reader) -> Self | None:
        contexts = read_contexts(table["context"], (*keys, "context"), reader) if "context" in table else ()
        default = DEFAULT_ESTIMATOR if "features" in table else NO_ESTIMATOR
        name = reader.value(str, table.pop("estimator", default), (*keys, "estimator"))
        if name == NO_ESTIMATOR:
            for key in table:
                if key == "context":
                    raise reader.error((*keys, key), f"{key} is for a system with an estimator and features of it")
                if key not in PLAIN_KEYS:
                    raise reader.error((*keys, key), f"{key} needs a system with an estimator")
            return None
        if name not in ESTIMATORS.names():
            raise reader.not_one_of((*keys, "estimator"), name, (NO_ESTIMATOR, *ESTIMATORS.names()))
        features = reader.value(tuple[str, ...], table.pop("features", []), (*keys, "features"))
        settings = ESTIMATORS[name].Settings
        own = {item.name for item in settings_of(settings)}
        others = {item.name for other in ESTIMATORS.names() for item in settings_of(ESTIMATORS[other].Settings)}
        table.pop("context", None)
        for key in table:
            if key in others - own - {*PLAIN_KEYS}:
                raise reader.error((*keys, key), f"{key} does not apply to the estimator {name}")
        made = reader.build(settings, {key: table.pop(key) for key in [*table] if key in own}, keys)
        return cls(Chosen.of(ESTIMATORS[name], name, made), features, contexts)

    def known_keys(self) -> tuple[str, ...]:
        return (*self.KEYS, *(item.name for item in settings_of(type(self.estimator.settings))))

    @property
    def over_forests(self) -> bool:
        """True if the estimator needs all minimal derivations of each pair."""
        return bool(getattr(self.estimator.settings, "forests", False))

    def features(self, experiment: Experiment) -> tuple[str, ...]:
        return feature_names(self.own_features or experiment.features.names)

    def context_models(self, experiment: Experiment) -> tuple[Chosen, ...]:
        """The context models that the features need."""
        given = {one.name: one.settings for one in (*self.contexts, *experiment.contexts)}
        given |= {one.name: one.settings for one in self.contexts}
        found = chosen_models(self.features(experiment), given)
        return tuple(Chosen.of(CONTEXT_MODELS[name], name, settings) for name, settings in found.items())

    def needs_boundary(self, experiment: Experiment) -> bool:
        """True if the features need weights of spans."""
        return not {*BOUNDARY_FEATURES}.isdisjoint(self.features(experiment))

    def needed_parts(self, experiment: Experiment) -> list[str]:
        """Parts that the features need and the estimator does not learn."""
        wanted = self.features(experiment)
        needed = [name for name in PARTS if not {*feature_names((name,))}.isdisjoint(wanted)]
        return [name for name in needed if name != self.estimator.name]

    def check(self, system: System, experiment: Experiment, before: Collection[str]) -> Fault | None:
        assert system.rules is not None
        if self.over_forests and (experiment.derive.binarise or experiment.derive.max_arity < MAX_TENSOR_ARITY):
            return Fault(
                "forests", "forests need all minimal rules: set binarise = false and max_arity = 2 in [derive]"
            )
        if self.over_forests and system.rules.trees != TREES:
            return Fault("trees", "trees cannot be combined with forests, which come from alignments")
        try:
            if self.own_features:
                FeatureOptions(names=self.own_features)
        except SettingError as error:
            return Fault("features", f"features {error.requirement}")
        needed = {one.name for one in self.context_models(experiment)}
        for one in self.contexts:
            if one.name not in needed:
                return Fault("context", f"{one.name} is for a system with an estimator and features of it")
        if self.needs_boundary(experiment):
            learned = with_boundary(system.rules.extractors)
            if not learned or not experiment.of(system).extractors[learned].facts()["passes"]:
                message = "SpanBoundary needs biparsed rules: add +biparsed to grammar, and passes to [biparsed]"
                return Fault("features", message)
        return None

    def without_features(self) -> SystemStep | None:
        return None

    def train(self, draft: Draft) -> Iterator[Stage]:
        """The model, with a context model of the system's rules and the parts that features need."""
        files, parts = draft.files, tuple[Output, ...]()
        for name in self.needed_parts(draft.experiment):
            part = _part(draft, name)
            yield part
            parts = (*parts, part / MODEL)
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
        chosen = context.models if context else ()
        takes_text = any(CONTEXT_MODELS[one.name].TAKES_TEXT for one in chosen)
        more = draft.texts.more_source if takes_text else ()
        inputs = ModelFiles(files.derivations, read, files.source if context else None, more, parts)
        draft.model = Stage("estimate", estimate, settings, inputs)
        draft.features = draft.model / MODEL
        yield draft.model

    def _settings(self, draft: Draft) -> ModelSettings:
        experiment, rules = draft.experiment, draft.system.rules
        assert rules is not None
        models = self.context_models(experiment)
        context = boundary = None
        if models:
            extractors = tuple(draft.settings_of(name).only(EXTRACT) for name in rules.extractors)
            context = ContextPart(models, extractors)
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

    def columns(self, plan: SystemPlan, files: StageFiles) -> dict[str, object]:
        assert plan.model is not None
        size = files.json(plan.model / SIZE)
        return {
            "estimator": self.estimator.name,
            "states": size["states"],
            "effective_rules": size["effective"],
            "singular_values": _singular_values(files.path(plan.model / MODEL)),
        }


def _part(draft: Draft, name: str) -> Stage:
    """A part of models, with default settings, that all systems with the same trees share.

    It is the stage of a system that has the part alone, so the stage has the same name.
    """
    assert draft.files.derivations is not None
    chosen = Chosen.of(ESTIMATORS[name], name, ESTIMATORS[name].Settings())
    return Stage("estimate", estimate, ModelSettings(chosen), ModelFiles(draft.files.derivations, RuleFiles[Input]()))


def _singular_values(path: Path) -> list[float] | None:
    """Singular values in the header of a model of the spectral estimator."""
    _, metadata = tensors.load(path, "model", [])
    found: list[float] | None = tensors.metadata_json(metadata, "about").get("singular values")
    return found


@dataclass(frozen=True)
class ContextPart:
    """Settings of context models."""

    models: tuple[Chosen, ...]
    extractors: tuple[Chosen, ...]
    """Extractors of the rules that get context."""


@dataclass(frozen=True)
class ModelSettings:
    """Settings of a model."""

    estimator: Chosen
    context: ContextPart | None = None
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
    network: tuple[File, ...] = ()
    """Models whose parts join the model."""


@version(1, growth=40)
def estimate(folder: Path, settings: ModelSettings, inputs: ModelFiles[Path], jobs: int) -> None:
    """Writes the model of an estimator; an estimator that iterates goes on from its checkpoints in the folder."""
    name, own = settings.estimator.name, settings.estimator.settings
    found, files = ESTIMATORS[name], inputs.rules.inputs()
    trees = Derivations.load(inputs.derivations)
    resume = any((folder / name).exists() for name in found.CHECKPOINTS[:1])
    context = _context(settings.context, inputs)
    data = context.read(trees) if context else None
    model = found.estimate(trees, own, jobs, folder, resume)
    if data:
        model = data.add(model, jobs)
    if spans := settings.boundary:
        model = replace(model, boundary=EXTRACTORS[spans.name].boundary(files, spans.settings))
    for path in inputs.network:
        given = Parameters.load(path)
        model = replace(model, neural=given.neural or model.neural, orientation=given.orientation or model.orientation)
    model.save(folder / MODEL)
    for name in found.CHECKPOINTS:
        (folder / name).unlink(missing_ok=True)
    size = effective_size(MinimalRules.of(trees), model.rank)
    write_json(folder / SIZE, {"states": model.rank, "effective": size})


def _context(settings: ContextPart | None, inputs: ModelFiles[Path]) -> ContextInputs | None:
    if settings is None:
        return None
    assert inputs.source is not None
    models = {one.name: one.settings for one in settings.models}
    extractors = {one.name: one.settings for one in settings.extractors}
    return ContextInputs(models, inputs.source, inputs.rules.inputs(), extractors, more_texts=inputs.more_source)
