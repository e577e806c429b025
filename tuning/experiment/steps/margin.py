"""Weights of rules and words that are learned on the training text, next to the tuned weights of another system."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Generic, Self

from lscfg.errors import InputError
from lscfg.extract.extractor import EXTRACTORS
from lscfg.formats.ini import UNKNOWN_WORDS
from lscfg.formats.weights import read_weights
from lscfg.io.write import copy_text
from lscfg.kernel import BOUNDARY_FEATURES, feature_names
from lscfg.settings_file import Keys, Reader
from lscfg.tuning.experiment.schema import Chosen
from lscfg.tuning.experiment.stage import File, Stage, version
from lscfg.tuning.experiment.stages.decoding import WEIGHTS, decoder_config, draft_decoder
from lscfg.tuning.experiment.stages.rules import SIZE
from lscfg.tuning.experiment.system import (
    DecoderFiles,
    Draft,
    Experiment,
    Fault,
    RuleFiles,
    System,
    SystemDecoder,
    SystemStep,
)
from lscfg.tuning.margin.folds import FoldRules
from lscfg.tuning.margin.settings import MarginSettings
from lscfg.tuning.margin.system import INI, MODEL, START, learn_system


@dataclass(frozen=True)
class Margin(SystemStep):
    """Weights of rules, words and span boundaries, learned by hope and fear."""

    NAME: ClassVar[str] = "margin"
    KEYS: ClassVar[tuple[str, ...]] = ("margin",)

    settings: MarginSettings

    @classmethod
    def read(cls, table: dict[str, object], shared: Mapping[str, object], keys: Keys, reader: Reader) -> Self | None:
        if cls.NAME not in table:
            return None
        own = table.pop(cls.NAME)
        if not isinstance(own, dict):
            raise reader.error((*keys, cls.NAME), f"{cls.NAME} must be a table, such as {{ passes = 2 }}")
        return cls(reader.build(MarginSettings, own, (*keys, cls.NAME)))

    def check(self, system: System, experiment: Experiment, before: Collection[str]) -> Fault | None:
        assert system.rules is not None
        if not system.start:
            message = "margin adds to the tuned weights of a system with the same rules: name it with start"
            return Fault(self.NAME, message)
        if len(system.steps) > 1 or system.rules.grammar_file:
            return Fault(self.NAME, "margin needs rules of the training text, and no latent features")
        try:
            extractors = system.rules.extractors
        except InputError:  # reported for the grammar itself
            return None
        if len(extractors) > 1 or EXTRACTORS[extractors[0]].NEEDS != ("text",):
            message = "margin is for the rules of one extractor that needs text alone, such as hiero or biparsed"
            return Fault(self.NAME, message)
        if experiment.decoder.functions or experiment.decoder.unknown != UNKNOWN_WORDS[0]:
            return Fault(self.NAME, 'margin supports neither functions nor unknown = "similar" of [decoder]')
        return None

    def features(self, experiment: Experiment) -> tuple[str, ...]:
        return feature_names(BOUNDARY_FEATURES)

    def extend(self, draft: Draft) -> Iterator[Stage]:
        """The weights, learned next to those of the first run of the system that the tuning starts from."""
        system = draft.system
        assert system.rules is not None
        extractor = draft.settings_of(system.rules.extractors[0])
        decoder, files = draft_decoder(draft)
        inputs = MarginFiles(
            draft.files.needed(*EXTRACTORS[extractor.name].NEEDS),
            replace(files, programs={}),
            draft.grammar / SIZE,
            draft.before[system.start].tuned[0] / WEIGHTS,
        )
        draft.rules = Stage("margin", margin, MarginWork(extractor, self.settings, decoder), inputs)
        draft.features, draft.start = draft.rules / MODEL, draft.rules / START
        yield draft.rules


@dataclass(frozen=True)
class MarginWork:
    """Settings of the stage."""

    extractor: Chosen
    margin: MarginSettings
    decoder: SystemDecoder


@dataclass(frozen=True)
class MarginFiles(Generic[File]):
    """The training text, the system without learned weights, and its tuned weights."""

    text: RuleFiles[File]
    decoder: DecoderFiles[File]
    size: File
    start: File


@version(3, spare=(INI,))
def margin(folder: Path, settings: MarginWork, inputs: MarginFiles[Path], jobs: int) -> None:
    """Writes a grammar and a model of span boundaries with learned weights."""
    rules = FoldRules(EXTRACTORS[settings.extractor.name], settings.extractor.settings, settings.margin.order)
    config = decoder_config(settings.decoder, Path.cwd(), inputs.decoder)
    weights = read_weights(inputs.start)
    learn_system(inputs.text.inputs(), rules, config, weights, settings.margin, folder, jobs)
    copy_text(inputs.size, folder / SIZE)
