"""Stages from rules and models to scores: tuning, translation, scoring."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic

from lscfg import kernel
from lscfg.decode.unknown import START_WEIGHTS as SUBSTITUTE_WEIGHTS
from lscfg.formats.ini import UNKNOWN_WORDS, DecoderConfig, LatentFeature, write_ini
from lscfg.formats.kbest import Hypothesis, write_kbest
from lscfg.formats.weights import read_weights, write_weights
from lscfg.io.folders import path_from
from lscfg.io.json_files import read_json, write_json
from lscfg.io.read import read_lines
from lscfg.io.write import copy_file, write_lines
from lscfg.tuning.evaluate import corpus_score
from lscfg.tuning.experiment.stage import File, Input, Output, Stage, files_in, version
from lscfg.tuning.experiment.stages.rules import GRAMMAR, LM
from lscfg.tuning.experiment.stages.text import restore_stage
from lscfg.tuning.experiment.system import DecoderFiles, Draft, SystemDecoder, SystemPlan
from lscfg.tuning.metrics.metric import METRICS, further_metrics
from lscfg.tuning.optimisers import OPTIMISERS
from lscfg.tuning.tune import TuneSettings, dev_score
from lscfg.tuning.tune import tune as tune_weights

INI, WEIGHTS, HISTORY, OUTPUT, DEV, SCORES = "cdec.ini", "weights", "history.json", "output", "dev.json", "scores.json"
NBEST = "nbest.gz"

KBEST = 100
"""Translations in a list."""


@dataclass(frozen=True)
class SystemTuning:
    """Settings of one tuning."""

    decoder: SystemDecoder
    tuning: TuneSettings
    optimiser_version: int
    weights: Mapping[str, float] = field(default_factory=dict)
    """Start weights of a tuning that does not start from another one."""
    latent_start: float = 0.0
    """Share of the language model's weight at which latent features begin, after another tuning."""
    counterparts: Mapping[str, str] = field(default_factory=dict)
    """Features of new rules, and the features whose tuned weights they begin with."""


@dataclass(frozen=True)
class TuningFiles(Generic[File]):
    """Files of one tuning."""

    decoder: DecoderFiles[File]
    dev_source: File
    dev_references: tuple[File, ...]
    start: File | None = None
    """Weights of another tuning."""


@version(3, spare=("kbest.*.gz", "seconds.json", INI), shares=True, growth=20)
def tune(folder: Path, settings: SystemTuning, inputs: TuningFiles[Path], jobs: int) -> None:
    """Tunes weights on the development set; a killed tuning continues with its unfinished iteration."""
    write_ini(folder / INI, decoder_config(settings.decoder, folder, inputs.decoder))
    weights = _start_weights(settings, read_weights(inputs.start)) if inputs.start else settings.weights
    library = inputs.decoder.programs.get("plug-in")
    with settings.decoder.decoder.host.open(folder / INI, jobs, library=library) as decoder:
        result = tune_weights(
            decoder,
            read_lines(inputs.dev_source),
            [read_lines(path) for path in inputs.dev_references],
            weights,
            settings.tuning,
            folder,
            resume=(folder / HISTORY).exists(),
        )
    write_weights(folder / WEIGHTS, result.weights)
    best = result.history[result.best_iteration - 1]
    summary = {
        "bleu": best.dev_bleu,
        "length_ratio": best.length_ratio,
        "iteration": result.best_iteration,
        "start_bleu": result.history[0].dev_bleu,
        "stopped": result.stopped,
        "seconds": result.seconds,
    }
    write_json(folder / DEV, summary)


def _start_weights(settings: SystemTuning, start: Mapping[str, float]) -> dict[str, float]:
    """Weights of another tuning, and start weights of the features that it lacks."""
    share = settings.latent_start * start.get(DecoderConfig.language_model_name, 0.0)
    features = settings.decoder.features
    latent = {name: share if name in kernel.START_WEIGHTS else 0.0 for name in (features.names if features else ())}
    new = {name: start[own] for name, own in settings.counterparts.items() if own in start}
    return {**latent, **new, **start}


@dataclass(frozen=True)
class Choice:
    """Settings of a choice among tunings."""

    latent_starts: tuple[float, ...]


@dataclass(frozen=True)
class TunedFiles(Generic[File]):
    """Weights, histories and summaries of tunings."""

    weights: tuple[File, ...]
    histories: tuple[File, ...]
    summaries: tuple[File, ...]


@version(2)
def choose(folder: Path, settings: Choice, inputs: TunedFiles[Path], jobs: int) -> None:
    """Copies the tuning with the best score on the development set, the first of equal ones."""
    summaries = [read_json(path) for path in inputs.summaries]
    scores = [
        dev_score(read_json(path)["history"][summary["iteration"] - 1])
        for path, summary in zip(inputs.histories, summaries, strict=True)
    ]
    best = max(range(len(scores)), key=scores.__getitem__)
    copy_file(inputs.weights[best], folder / WEIGHTS)
    copy_file(inputs.histories[best], folder / HISTORY)
    seconds = sum(summary["seconds"] for summary in summaries)
    write_json(folder / DEV, summaries[best] | {"seconds": seconds, "latent_start": settings.latent_starts[best]})


@dataclass(frozen=True)
class TranslationFiles(Generic[File]):
    """A tuned system and the test set."""

    decoder: DecoderFiles[File]
    weights: File
    test_source: File


@version(1, spare=(INI,), shares=True, growth=20)
def decode(folder: Path, settings: SystemDecoder, inputs: TranslationFiles[Path], jobs: int) -> None:
    """Translates the test set with the tuned weights."""
    lines = read_lines(inputs.test_source)
    lists = _translated(folder, settings, inputs.decoder, inputs.weights, jobs, lines, 1)
    write_lines(folder / OUTPUT, [hypotheses[0].text for hypotheses in lists])


@dataclass(frozen=True)
class ListSettings:
    """Settings of lists of translations."""

    decoder: SystemDecoder
    kbest: int = KBEST


@dataclass(frozen=True)
class ListFiles(Generic[File]):
    """A tuned system, and phrases or sentences to translate."""

    decoder: DecoderFiles[File]
    weights: File
    wanted: File


@version(1, spare=(INI,), shares=True, growth=20)
def nbest(folder: Path, settings: ListSettings, inputs: ListFiles[Path], jobs: int) -> None:
    """Writes the best translations of phrases or sentences by a tuned system."""
    lines = read_lines(inputs.wanted)
    own = settings.decoder, inputs.decoder, inputs.weights, jobs, lines, settings.kbest
    write_kbest(folder / NBEST, _translated(folder, *own, unique=True) if lines else [])


def lists_stage(name: str, plan: SystemPlan, run: int, wanted: Input) -> Stage:
    """The best translations of a text by one run of a system."""
    assert plan.decoder is not None and plan.files is not None
    files = ListFiles(plan.files, plan.tuned[run] / WEIGHTS, wanted)
    return Stage(name, nbest, ListSettings(plan.decoder), files)


def _translated(
    folder: Path,
    settings: SystemDecoder,
    files: DecoderFiles[Path],
    weights: Path,
    jobs: int,
    lines: list[str],
    k: int,
    **options: bool,
) -> Sequence[Sequence[Hypothesis]]:
    """The best translations with the weights, by a decoder that decodes once."""
    write_ini(folder / INI, decoder_config(settings, folder, files))
    library = files.programs.get("plug-in")
    with settings.decoder.host.open(folder / INI, jobs, once=True, library=library) as decoder:
        return decoder.decode(lines, read_weights(weights), k, **options)


@dataclass(frozen=True)
class ScoreSettings:
    """Settings of scores."""

    metrics: Mapping[str, int]
    """Versions of the metrics, by name."""


@dataclass(frozen=True)
class ScoreFiles(Generic[File]):
    """A translation and its references."""

    output: File
    references: tuple[File, ...]


@version(1)
def score(folder: Path, settings: ScoreSettings, inputs: ScoreFiles[Path], jobs: int) -> None:
    """Scores one output in all metrics but BLEU, which is scored with its tests when all systems are there."""
    lines = read_lines(inputs.output)
    documents = [read_lines(path) for path in inputs.references]
    scores = {METRICS[name].TITLE: corpus_score(name, lines, documents) for name in settings.metrics}
    write_json(folder / SCORES, scores)


def decoder_config(settings: SystemDecoder, folder: Path, files: DecoderFiles[Path]) -> DecoderConfig:
    """The decoder of one system, with paths relative to the folder of its ini file."""

    def relative(path: Path) -> Path:
        return Path(path_from(folder, path))

    latent, decoding = None, settings.decoding
    if files.model is not None:
        features = settings.features
        assert features is not None
        options = {
            "model": str(relative(files.model)),
            "log": str(features.log).lower(),
            "floor": repr(features.floor),
            "negative": features.negative,
            "features": ",".join(features.names),
        }
        if features.improper != "zero":
            options["improper"] = features.improper
        if decoding.unknown:
            options["unknown"] = decoding.unknown
        library = files.programs.get("plug-in")  # other decoders have latent features built in
        latent = LatentFeature(options, str(library) if library else None)
    return DecoderConfig(
        grammars=(relative(files.rules),),
        language_model=relative(files.lm),
        word_penalty=True,
        latent=latent,
        functions=settings.decoder.lines,
        max_span=decoding.max_span or settings.decoder.max_span,
        pop_limit=settings.decoder.pop_limit,
        pass_through=True,
        substitutes=settings.decoder.unknown == UNKNOWN_WORDS[1],
        glue=decoding.glue,
    )


# ---- plans ----


def tuned_plan(draft: Draft) -> SystemPlan:
    """The plan of a system whose decoder is tuned."""
    experiment, system = draft.experiment, draft.system
    decoder, files = draft_decoder(draft)
    plan = SystemPlan(draft.grammar, draft.model, decoder, files, own=draft.own)
    tuning = experiment.tuning
    own = {item.name: getattr(tuning, item.name) for item in dataclasses.fields(TuneSettings)}
    if system.weights_of:
        own["iterations"] = 1  # the development set is translated once, for its BLEU
    shared = decoder, OPTIMISERS[tuning.optimiser].VERSION
    for run in range(tuning.runs):
        start: Output | None = draft.before[system.before].tuned[run] / WEIGHTS if system.before else None
        settings = SystemTuning(shared[0], TuneSettings(**own | {"seed": tuning.seed + run}), shared[1])
        if start:
            settings = dataclasses.replace(settings, counterparts=draft.counterparts)
        else:
            more = SUBSTITUTE_WEIGHTS if experiment.decoder.unknown == UNKNOWN_WORDS[1] else {}
            settings = dataclasses.replace(settings, weights=more | tuning.weights)
        inputs = TuningFiles(files, draft.texts.dev_source, draft.texts.dev_references, draft.start or start)
        tunings = [
            Stage("tune", tune, dataclasses.replace(settings, latent_start=share), inputs)
            for share in draft.latent_starts
        ]
        tuned = tunings[0] if len(tunings) == 1 else _choice(tunings)
        tested = TranslationFiles(files, tuned / WEIGHTS, draft.texts.test_source)
        decoded = Stage("decode", decode, decoder, tested)
        add_run(plan, draft, tunings if len(tunings) > 1 else [], tuned, decoded)
    return plan


def draft_decoder(draft: Draft) -> tuple[SystemDecoder, DecoderFiles[Input]]:
    """The decoder of a system from its draft so far."""
    experiment, latent = draft.experiment, draft.features is not None
    assert draft.system.rules is not None
    own = dataclasses.replace(experiment.decoder, plugin=None)  # its content is among the programs
    decoding = experiment.decoding(draft.system.rules.extractors)
    decoder = SystemDecoder(own, decoding, experiment.features if latent else None)
    rules, lm = draft.grammar / GRAMMAR, draft.lm / LM
    return decoder, DecoderFiles[Input](rules, lm, draft.features, experiment.decoder.programs(latent))


def _choice(tunings: Sequence[Stage]) -> Stage:
    """The choice among the tunings of a run."""
    parts = (tuple(stage / name for stage in tunings) for name in (WEIGHTS, HISTORY, DEV))
    shares = tuple(stage.settings.latent_start for stage in tunings)
    return Stage("choose", choose, Choice(shares), TunedFiles(*parts))


def add_run(plan: SystemPlan, draft: Draft, tried: list[Stage], tuned: Stage, decoded: Stage) -> None:
    """Adds the stages of a run to a plan, and those that score it."""
    plan.tried.append(tried)
    plan.tuned.append(tuned)
    plan.decoded.append(decoded)
    settings = ScoreSettings({name: METRICS[name].VERSION for name in further_metrics(draft.experiment.tuning.metric)})
    plan.scored.append(Stage("score", score, settings, ScoreFiles(decoded / OUTPUT, draft.texts.test_references)))
    if restored := restore_stage(draft.texts, decoded / OUTPUT):
        plan.restored.append(restored)


def training(plan: SystemPlan) -> list[Stage]:
    """All stages before the tuning of a system, except other tunings."""
    found: dict[str, Stage] = {}
    files = [file for one in (plan, *plan.members) for file in files_in(one.files)]
    every = [file.stage for file in files if isinstance(file, Output)]
    while every:
        stage = every.pop()
        if stage.key not in found and stage.work not in (tune, choose):
            found[stage.key] = stage
            every += stage.sources
    return [*found.values()]


def translated(plan: SystemPlan) -> Iterator[Stage]:
    """All stages that translate the test set, of each run; for a system that chooses, the lists of its members, too."""
    for stage in plan.decoded:
        yield from (source for source in stage.sources if source.work is nbest)
        yield stage
