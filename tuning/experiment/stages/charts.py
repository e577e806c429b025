"""Stages for the report: choice of sentences with charts and derivations, and their charts and derivations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Generic

import numpy as np

from lscfg import log
from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.decode.derivations import Translated
from lscfg.decode.latent import UNKNOWN
from lscfg.decode.parsing import first_parse
from lscfg.errors import counted
from lscfg.formats.ini import write_ini
from lscfg.formats.weights import read_weights
from lscfg.io.folders import temporary_folder
from lscfg.io.json_files import read_json, write_json
from lscfg.io.read import read_lines
from lscfg.kernel import Binding, Grammar, Model, ParseOptions, X
from lscfg.model.parameters import Parameters
from lscfg.parallel.choose import in_processes
from lscfg.study.explain import Explainer
from lscfg.tuning.experiment.stage import File, Input, Stage, version
from lscfg.tuning.experiment.stages.decoding import INI, OUTPUT, WEIGHTS, decoder_config
from lscfg.tuning.experiment.stages.rules import GRAMMAR
from lscfg.tuning.experiment.steps.latent import MODEL
from lscfg.tuning.experiment.system import DecoderFiles, Experiment, SystemDecoder, SystemPlan, Texts
from lscfg.tuning.report.content import charted_sentences, different_sentences
from lscfg.tuning.report.trees import tree_record

SENTENCES, CHARTS, TREES = "sentences.json", "charts.json", "trees.json"


@dataclass(frozen=True)
class SentenceSettings:
    """Sentences that the experiment asks for."""

    sentences: tuple[int, ...]
    """Sentences with charts, counted from 1; none: those that the systems translate most differently."""
    trees: int
    """Number of sentences with derivations."""


@dataclass(frozen=True)
class SentenceFiles(Generic[File]):
    """The test set and its translations by system."""

    test_source: File
    outputs: Mapping[str, File]
    references: tuple[File, ...]


@version(2)
def sentences(folder: Path, settings: SentenceSettings, inputs: SentenceFiles[Path], jobs: int) -> None:
    """Writes which sentences of the test set have charts, and which derivations, counted from 0.

    Sentences with charts have derivations, too.
    """
    outputs = {name: read_lines(path) for name, path in sorted(inputs.outputs.items())}
    references = [read_lines(path) for path in inputs.references]
    sources = read_lines(inputs.test_source)
    charted = [number - 1 for number in settings.sentences if number <= len(sources)]
    if len(charted) < len(settings.sentences):  # preparation may leave fewer sentences than were drawn
        log.warning(
            f"[report] asks for charts of sentences beyond the {counted(len(sources), 'sentence')} of the test set"
        )
    charted = charted or charted_sentences(sources, outputs, references)
    others = different_sentences(outputs, references)
    trees = sorted(list(dict.fromkeys([*charted, *others]))[: max(settings.trees, len(charted))])
    write_json(folder / SENTENCES, {"charts": charted, "trees": trees if settings.trees else []})


@dataclass(frozen=True)
class ChartSettings:
    """Settings of charts."""

    unknown: str
    """Treatment of rules that the model lacks; empty: the default."""


@dataclass(frozen=True)
class ChartFiles(Generic[File]):
    """A grammar and its model, and the sentences with charts."""

    rules: File
    model: File
    sentences: File
    test_source: File


@version(2)
def charts(folder: Path, settings: ChartSettings, inputs: ChartFiles[Path], jobs: int) -> None:
    """Writes span marginals of sentences under a model, and under the model of the same rules with one state.

    ``model`` and ``one state`` (null if the model has one state): for each sentence its spans [i, j, marginal], none
    for a sentence without a parse.
    """
    parameters = Parameters.load(inputs.model)
    alone = parameters.one_state() if parameters.rank > 1 else None
    found = {"model": _span_marginals(inputs.model, settings, inputs), "one state": None}
    if alone is not None:
        with temporary_folder(folder) as temporary:
            path = temporary / "one.lscfg"
            alone.save(path, np.float64)
            found["one state"] = _span_marginals(path, settings, inputs)
    write_json(folder / CHARTS, found)


def _span_marginals(path: Path, settings: ChartSettings, inputs: ChartFiles[Path]) -> list[list[list[float]]]:
    grammar = Grammar.from_files([inputs.rules])
    binding = Binding(Model(path), grammar, UNKNOWN[settings.unknown or "compose"])
    sources, found = read_lines(inputs.test_source), []
    for number in read_json(inputs.sentences)["charts"]:
        words = grammar.vocab.add_line(sources[number])
        forest, _ = first_parse(grammar, words, [ParseOptions(max(len(words), 1), False, 2, X)])
        spans = []
        if forest is not None:
            marginals = binding.infer(forest).nodes.tolist()
            spans = [[*span, value] for span, value in zip(forest.node_span.tolist(), marginals, strict=True)]
        found.append(spans)
    return found


@dataclass(frozen=True)
class TreeFiles(Generic[File]):
    """A tuned system, and the sentences with derivations."""

    decoder: DecoderFiles[File]
    weights: File
    test_source: File
    sentences: File


@version(2, spare=(INI,))
def trees(folder: Path, settings: SystemDecoder, inputs: TreeFiles[Path], jobs: int) -> None:
    """Writes the derivations of some translations, as ``lscfg.tuning.report.trees`` records them.

    The embedded decoder gives the same translations as in ``decode``.
    """
    write_ini(folder / INI, decoder_config(settings, folder, inputs.decoder))
    sources, weights = read_lines(inputs.test_source), read_weights(inputs.weights)
    numbers = read_json(inputs.sentences)["trees"]
    found = _with_derivations(folder / INI, [sources[k] for k in numbers], weights, jobs)
    has_rules = inputs.decoder.model is not None and len(Model(inputs.decoder.model)) > 0
    explainer = Explainer(folder / INI) if has_rules else None
    states = explainer.states if explainer else None
    names = [states.name(h) for h in range(len(states.root))] if states else []
    write_json(folder / TREES, {"states": names, "trees": [tree_record(one, weights, explainer) for one in found]})


def _with_derivations(ini: Path, lines: list[str], weights: Mapping[str, float], jobs: int) -> list[Translated]:
    """The translations; returns after the decoder's memory is free.

    Warnings are those of ``decode``, which names the sentences by their numbers in the test set.
    """
    with (
        log.held_back(),
        in_processes(jobs) as engine,
        EmbeddedDecoder.from_ini(ini, engine, cached=0) as decoder,
    ):
        return list(decoder.translate(lines, weights, derivations=True))


# ---- plans ----


def sentences_stage(experiment: Experiment, texts: Texts, systems: Mapping[str, SystemPlan]) -> Stage:
    """The choice of the sentences that have charts and derivations."""
    outputs: dict[str, Input] = {name: system.decoded[0] / OUTPUT for name, system in systems.items()}
    files = SentenceFiles(texts.test_source, outputs, texts.test_references)
    settings = SentenceSettings(experiment.report.sentences, _shown_derivations(experiment))
    return Stage("sentences", sentences, settings, files)


def chart_stage(system: SystemPlan, texts: Texts, chosen: Stage) -> Stage:
    """The charts of a system with a model."""
    assert system.model is not None and system.rules is not None and system.decoder is not None
    files = ChartFiles(system.rules / GRAMMAR, system.model / MODEL, chosen / SENTENCES, texts.test_source)
    return Stage("charts", charts, ChartSettings(system.decoder.decoding.unknown), files)


def tree_stages(
    experiment: Experiment, texts: Texts, systems: Mapping[str, SystemPlan], chosen: Stage
) -> dict[str, Stage]:
    """Derivations of the first run's translations, by system."""
    if not _shown_derivations(experiment):
        return {}
    return {
        name: Stage(
            "trees",
            trees,
            system.decoder,
            TreeFiles(system.files, system.tuned[0] / WEIGHTS, texts.test_source, chosen / SENTENCES),
        )
        for name, system in systems.items()
        if system.files
    }


def _shown_derivations(experiment: Experiment) -> int:
    """The number of sentences with derivations; some decoders have none."""
    return experiment.report.derivations if experiment.decoder.host.DERIVATIONS else 0
