"""Systems of an experiment: rules, and steps that add to them, as an experiment file states them and as stages."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar

from lscfg.extract.extractor import EXTRACTORS, TREES, Decoding, RuleInputs, extractor_names
from lscfg.kernel import LATENT_FEATURES, FeatureOptions, TreeOptions, feature_names
from lscfg.prepare.settings import PrepareSettings
from lscfg.settings import Declared
from lscfg.settings_file import Keys, Reader
from lscfg.tuning.experiment.schema import (
    Alignment,
    Chosen,
    Corpus,
    DecoderSettings,
    EvaluationSettings,
    LanguageModelSettings,
    Monolingual,
    RawCorpus,
    Report,
    Tuning,
)
from lscfg.tuning.experiment.stage import File, Input, Output, Stage, side_input

S = TypeVar("S", bound="SystemStep")


class Fault(NamedTuple):
    """A wrong key of a system."""

    key: str
    message: str


class SystemStep(ABC):
    """An addition to the rules of a system, such as latent features.

    A step is a frozen dataclass. It reads its keys from the table of a system, checks them, adds stages to the plan of
    the system, and adds columns to the row of the system in the results. ``lscfg.tuning.experiment.steps`` lists all.
    """

    NAME: ClassVar[str]
    KEYS: ClassVar[tuple[str, ...]]
    """Keys of the step in the table of a system."""
    COLUMNS: ClassVar[Mapping[str, object]] = {}
    """Columns of the results with their values for a system without the step."""
    CHOOSES: ClassVar[bool] = False
    """True: the system only chooses from the translations of others, without rules."""

    @classmethod
    @abstractmethod
    def read(cls, table: dict[str, object], shared: Mapping[str, object], keys: Keys, reader: Reader) -> Self | None:
        """Takes the keys of the step out of the table of a system; None: the system does not have the step.

        Args:
            shared: tables of the file that systems share, by name.

        Raises:
            InputError: a value is wrong.
        """

    def known_keys(self) -> tuple[str, ...]:
        """Keys that the table of the system may have."""
        return self.KEYS

    def check(self, system: System, experiment: Experiment, before: Collection[str]) -> Fault | None:
        """The first fault that the reader of a single table cannot see.

        Args:
            before: names of the systems before this one.
        """
        return None

    def features(self, experiment: Experiment) -> tuple[str, ...]:
        """Names of the latent features that the decoder has because of the step."""
        return ()

    def without_features(self) -> SystemStep | None:
        """The step in the same system without latent features."""
        return self

    def train(self, draft: Draft) -> Iterator[Stage]:
        """Stages that need no other system; they are made before all tunings."""
        return iter(())

    def extend(self, draft: Draft) -> Iterator[Stage]:
        """Stages that may need the plans of the systems before this one."""
        return iter(())

    def translations(self, draft: Draft) -> SystemPlan | None:
        """The plan of a system that has no decoder; None: a decoder is tuned with what is in the draft."""
        return None

    def columns(self, plan: SystemPlan, files: StageFiles) -> dict[str, object]:
        """Values of ``COLUMNS``."""
        return {}


@dataclass(frozen=True)
class SystemRules:
    """Keys of a system that choose its rules."""

    grammar: str = "minimal"
    """Rule extractors, joined by +; ``both`` is Hiero's rules and the minimal ones, decoded without glue rules."""
    grammar_file: Path | None = None
    """A grammar in cdec's format (.gz allowed) instead of the extracted one; decoded as ``grammar`` says."""
    trees: str = TREES
    """The rule extractor whose trees the model and the minimal rules come from."""
    alignment: str = ""
    """A rule extractor whose word alignment the rules and the model come from; empty: that of [alignment]."""

    @property
    def extractors(self) -> tuple[str, ...]:
        """The extractors of the rules."""
        return extractor_names(self.grammar)


RULE_KEYS = tuple(item.name for item in dataclasses.fields(SystemRules))
PLAIN_KEYS = (*RULE_KEYS, "start", "weights_of")
"""Keys of a system that belong to no step."""


@dataclass(frozen=True)
class System:
    """One row of the results."""

    rules: SystemRules | None = field(default_factory=SystemRules)
    """None for a system that only chooses from the translations of others."""
    steps: Mapping[str, SystemStep] = field(default_factory=dict)
    """By name, in the order in which the steps are taken."""
    start: str = ""
    """An earlier system whose tuned weights the tuning starts from; empty: the weights of [tuning]."""
    weights_of: str = ""
    """An earlier system whose tuned weights replace a tuning; empty: the system is tuned."""
    own: Mapping[str, Declared] = field(default_factory=dict)
    """Settings of rule extractors that replace the shared ones, by extractor."""

    @property
    def before(self) -> str:
        """The system whose tuned weights this one starts from."""
        return self.weights_of or self.start

    @property
    def tuned(self) -> bool:
        """True if the system has weights."""
        return self.rules is not None

    @property
    def translates_new_text(self) -> bool:
        """True if the system keeps all rules of the text, not only those that match the sentences of dev and test."""
        return self.rules is not None and not any(EXTRACTORS[name].FILTERED for name in self.rules.extractors)

    def step(self, kind: type[S]) -> S | None:
        """The step of a class, if the system has it."""
        found = self.steps.get(kind.NAME)
        return found if isinstance(found, kind) else None


@dataclass(frozen=True)
class Experiment:
    """A whole experiment file."""

    corpus: Corpus | RawCorpus
    systems: dict[str, System]
    extractors: dict[str, Declared]
    """Settings of every rule extractor."""
    contexts: tuple[Chosen, ...] = ()
    """Context models that have a table in [context]; the others have their defaults."""
    monolingual: Monolingual = field(default_factory=Monolingual)
    prepare: PrepareSettings = field(default_factory=PrepareSettings)
    alignment: Alignment = field(default_factory=Alignment)
    derive: TreeOptions = field(default_factory=TreeOptions)
    language_model: LanguageModelSettings = field(default_factory=LanguageModelSettings)
    decoder: DecoderSettings = field(default_factory=DecoderSettings)
    features: FeatureOptions = field(default_factory=FeatureOptions)
    tuning: Tuning = field(default_factory=Tuning)
    evaluation: EvaluationSettings = field(default_factory=EvaluationSettings)
    report: Report = field(default_factory=Report)

    def latent_features(self, system: System) -> tuple[str, ...]:
        """Names of the latent features of a system."""
        return next((names for step in system.steps.values() if (names := step.features(self))), ())

    @property
    def latent_systems(self) -> list[str]:
        """Names of the systems with latent features."""
        return [name for name, system in self.systems.items() if self.latent_features(system)]

    def check_decoder(self) -> None:
        """Finds everything that the decoder needs, so that nothing is missing after hours of work.

        Raises:
            InputError: the decoder or its plug-in for latent features is not installed.
        """
        self.decoder.host.check(self.latent_systems, self.decoder.plugin)

    def decoding(self, extractors: Sequence[str]) -> Decoding:
        """Settings of a decoder for the rules of extractors."""
        return Decoding.joined([EXTRACTORS[name].decoding(self.extractors[name]) for name in extractors])

    def of(self, system: System) -> Experiment:
        """The experiment with the settings of one system, without start weights of features that it does not have."""
        latent = self.latent_features(system)
        features = dataclasses.replace(self.features, names=feature_names(latent or self.features.names))
        absent = {*LATENT_FEATURES} - ({*features.names} if latent else set())
        weights = {name: value for name, value in self.tuning.weights.items() if name not in absent}
        tuning = dataclasses.replace(self.tuning, weights=weights)
        return dataclasses.replace(self, features=features, tuning=tuning, extractors=self.extractors | {**system.own})


# ---- as stages ----


@dataclass(frozen=True)
class Texts:
    """Text files of an experiment: given, or made by the preparation of raw text."""

    source: Input
    target: Input
    dev_source: Input
    dev_references: tuple[Input, ...]
    test_source: Input
    test_references: tuple[Input, ...]
    alignment: tuple[Input, ...] = ()
    more_source: tuple[Input, ...] = ()
    more_target: tuple[Input, ...] = ()
    """Monolingual text."""
    prepared: Stage | None = None
    """The preparation."""
    more: Stage | None = None
    """The preparation of monolingual text."""
    raw_references: tuple[Input, ...] = ()
    """References of the test set as people wrote them, if the text was prepared."""
    raw_tokens: str = ""
    """Tokeniser of BLEU for these."""
    trials: tuple[Stage, ...] = ()
    """Stages before the preparation, if the development set chooses pieces."""

    def moved(self, stage: Stage) -> Texts:
        """The texts of another preparation with the same files."""

        def own(file: Input) -> Input:
            return Output(stage, file.name) if isinstance(file, Output) and file.stage is self.prepared else file

        return dataclasses.replace(
            self,
            source=own(self.source),
            target=own(self.target),
            dev_source=own(self.dev_source),
            dev_references=tuple(map(own, self.dev_references)),
            test_source=own(self.test_source),
            test_references=tuple(map(own, self.test_references)),
            raw_references=tuple(map(own, self.raw_references)),
            prepared=stage,
        )


@dataclass(frozen=True)
class RuleFiles(Generic[File]):
    """Files that rules are extracted from; see ``RuleInputs``."""

    source: File | None = None
    target: File | None = None
    alignments: tuple[File, ...] = ()
    derivations: File | None = None
    learned: Mapping[str, File] = side_input()
    """Folders of what extractors have learned, by extractor."""

    def needed(self, *needs: str) -> RuleFiles[File]:
        """The files that extractors with these needs read."""
        text = RuleFiles(self.source, self.target, self.alignments) if "text" in needs else RuleFiles[File]()
        return dataclasses.replace(text, derivations=self.derivations if "derivations" in needs else None)

    def inputs(self: RuleFiles[Path], wanted: Sequence[str] | None = None) -> RuleInputs:
        """The files for an extractor; ``wanted`` as for ``RuleInputs``."""
        source, target = self.source or Path(), self.target or Path()
        return RuleInputs(source, target, self.alignments, self.derivations, wanted, self.learned)


@dataclass(frozen=True)
class SystemDecoder:
    """Settings of the decoder of a system."""

    decoder: DecoderSettings
    decoding: Decoding
    features: FeatureOptions | None
    """None without latent features."""


@dataclass(frozen=True)
class DecoderFiles(Generic[File]):
    """Files of the decoder of a system."""

    rules: File
    lm: File
    model: File | None = None
    programs: Mapping[str, File] = field(default_factory=dict)
    """Installed programs that the output depends on, and the ``plug-in`` of latent features."""


@dataclass(frozen=True)
class SystemPlan:
    """Stages of one system; the lists have an element for each run of the tuning."""

    rules: Stage | None
    model: Stage | None
    decoder: SystemDecoder | None
    """None for a system that chooses from the translations of its ``members``."""
    files: DecoderFiles[Input] | None
    members: Sequence[SystemPlan] = ()
    own: Sequence[Stage] = ()
    """Stages before the tuning that belong to this system alone."""
    tuned: list[Stage] = field(default_factory=list)
    tried: list[list[Stage]] = field(default_factory=list)
    """Stages that each of ``tuned`` chooses from: tunings, if there are several, or lists of the members."""
    decoded: list[Stage] = field(default_factory=list)
    scored: list[Stage] = field(default_factory=list)
    restored: list[Stage] = field(default_factory=list)
    """Empty unless the text was prepared."""

    @property
    def grammars(self) -> list[Stage]:
        """The rules of the system, or those of its members, each once."""
        every = [self.rules, *(member.rules for member in self.members)]
        return list({stage.key: stage for stage in every if stage}.values())

    def runs(self) -> Iterator[tuple[Stage, ...]]:
        """Stages of each run, in order."""
        parts = [self.tuned, self.decoded, self.scored, *([self.restored] if self.restored else [])]
        yield from zip(*parts, strict=True)

    def stages(self) -> Iterator[Stage]:
        """All stages that belong to this system alone, in order."""
        yield from self.own
        for tried, run in zip(self.tried, self.runs(), strict=True):
            yield from tried
            yield from run

    def stage(self, name: str) -> Stage | None:
        """The stage of that name before the tuning."""
        return next((stage for stage in self.own if stage.name == name), None)


class StageFiles(ABC):
    """Files of finished stages."""

    @abstractmethod
    def path(self, output: Output) -> Path:
        """Path of a file."""

    @abstractmethod
    def json(self, output: Output) -> Any:
        """Content of a JSON file."""


@dataclass
class Draft:
    """A system while its steps add stages to its plan."""

    experiment: Experiment
    """The experiment with the settings of this system."""
    system: System
    texts: Texts
    lm: Stage
    files: RuleFiles[Input]
    before: Mapping[str, SystemPlan]
    """Plans of the systems before this one."""
    rules: Stage | None = None
    """The grammar; each step may replace it."""
    model: Stage | None = None
    """The model of hidden states."""
    features: Output | None = None
    """Model file of the decoder's latent features."""
    start: Output | None = None
    """Weights that the tuning starts from instead of those of the system before."""
    latent_starts: Sequence[float] = (0.0,)
    """Shares of the language model's weight at which latent features begin; each is a tuning."""
    counterparts: Mapping[str, str] = field(default_factory=dict)
    """Features of new rules, and the features whose tuned weights they begin with."""
    own: list[Stage] = field(default_factory=list)
    """Stages before the tuning that belong to this system alone."""

    @property
    def grammar(self) -> Stage:
        """The rules so far."""
        assert self.rules is not None
        return self.rules

    def settings_of(self, extractor: str) -> Chosen:
        """A rule extractor with its settings in this system."""
        return Chosen.of(EXTRACTORS[extractor], extractor, self.experiment.extractors[extractor])
