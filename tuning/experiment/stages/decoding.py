"""Stages from a grammar and a model to scores: tuning, translation, scoring, charts."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lscfg import kernel
from lscfg.decode.host import DECODER_HOSTS
from lscfg.formats.ini import DecoderConfig, LatentFeature, write_ini
from lscfg.io.text import read_lines, write_json, write_lines
from lscfg.tuning.experiment.stages import Facts, Files, several, version
from lscfg.tuning.metrics.metric import METRICS

if TYPE_CHECKING:
    from lscfg.decode.derivations import Translated
    from lscfg.formats.kbest import Hypothesis

INI, WEIGHTS, HISTORY, OUTPUT, DEV, SCORES = "cdec.ini", "weights", "history.json", "output", "dev.json", "scores.json"
NBEST, SENTENCES, CHARTS, TREES = "nbest.gz", "sentences.json", "charts.json", "trees.json"

KBEST = 100
"""Translations in a list."""


@version(1, spare=("kbest.*.gz", "seconds.json", INI), shares=True, growth=20)
def tune(folder: Path, settings: Facts, inputs: Files, jobs: int) -> None:
    """Weights of one run tuned on the development set; a killed tuning goes on with the iteration it was in.

    It begins with the weights of ``start``, another tuning, where there is one. Its latent features then begin at 0, or
    those that have start weights at a share of the language model's weight, "latent start". Features of new rules have
    the weights of their counterparts.
    """
    from lscfg.formats.weights import read_weights, write_weights
    from lscfg.tuning.optimisers import optimiser_kind
    from lscfg.tuning.tune import TuneSettings
    from lscfg.tuning.tune import tune as tune_weights

    write_ini(folder / INI, decoder_config(settings, folder, inputs))
    learner = optimiser_kind(settings["tuning"]["optimiser"]).Settings.of(settings["learner"])
    options = TuneSettings(**settings["tuning"], learner=learner)
    if "start" in inputs:
        start = read_weights(inputs["start"])
        share = settings.get("latent start", 0.0) * start.get(DecoderConfig.language_model_name, 0.0)
        names = settings["features"]["names"] if "model" in inputs else []
        latent = {name: share if name in kernel.START_WEIGHTS else 0.0 for name in names}
        new = {name: start[own] for name, own in settings.get("counterparts", {}).items() if own in start}
        weights = latent | new | start
    else:
        weights = settings["weights"]
    host = DECODER_HOSTS[settings["decoder"]["name"]]
    with host.open(folder / INI, jobs, library=inputs.get("plug-in")) as decoder:
        result = tune_weights(
            decoder,
            read_lines(inputs["dev source"]),
            [read_lines(inputs[name]) for name in several("dev reference", inputs)],
            weights,
            options,
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


@version(1)
def choose(folder: Path, settings: Facts, inputs: Files, jobs: int) -> None:
    """Of tunings that began elsewhere, the one with the best BLEU on the development set; the first of equal ones."""
    summaries = [json.loads(inputs[name].read_text(encoding="utf-8")) for name in several("dev", inputs)]
    best = max(range(len(summaries)), key=lambda number: summaries[number]["bleu"])
    for name, file in (("weights", WEIGHTS), ("history", HISTORY)):
        shutil.copyfile(inputs[several(name, inputs)[best]], folder / file)
    seconds = sum(summary["seconds"] for summary in summaries)
    write_json(folder / DEV, summaries[best] | {"seconds": seconds, "latent_start": settings["latent starts"][best]})


@version(1, spare=(INI,), shares=True, growth=20)
def decode(folder: Path, settings: Facts, inputs: Files, jobs: int) -> None:
    """The test set translated with the tuned weights."""
    lists = _translated(folder, settings, inputs, jobs, read_lines(inputs["test source"]), 1)
    write_lines(folder / OUTPUT, [hypotheses[0].text for hypotheses in lists])


@version(1, spare=(INI,), shares=True, growth=20)
def nbest(folder: Path, settings: Facts, inputs: Files, jobs: int) -> None:
    """The best translations of phrases or sentences by a tuned system."""
    from lscfg.formats.kbest import write_kbest

    lines = read_lines(inputs["wanted"])
    lists = _translated(folder, settings, inputs, jobs, lines, settings["kbest"], unique=True) if lines else []
    write_kbest(folder / NBEST, lists)


def _translated(
    folder: Path, settings: Facts, inputs: Files, jobs: int, lines: list[str], k: int, **options: bool
) -> Sequence[Sequence[Hypothesis]]:
    """The best translations with the weights, by a decoder that decodes once."""
    from lscfg.formats.weights import read_weights

    write_ini(folder / INI, decoder_config(settings, folder, inputs))
    host = DECODER_HOSTS[settings["decoder"]["name"]]
    with host.open(folder / INI, jobs, once=True, library=inputs.get("plug-in")) as decoder:
        return decoder.decode(lines, read_weights(inputs["weights"]), k, **options)


@version(1)
def score(folder: Path, settings: Facts, inputs: Files, jobs: int) -> None:
    """One output in all metrics but BLEU, which is scored with its tests when all systems are there."""
    from lscfg.tuning.evaluate import corpus_score

    lines = read_lines(inputs["output"])
    documents = [read_lines(inputs[name]) for name in several("test reference", inputs)]
    scores = {METRICS[name].TITLE: corpus_score(name, lines, documents) for name in settings["metrics"]}
    write_json(folder / SCORES, scores)


@version(2)
def sentences(folder: Path, settings: Facts, inputs: Files, jobs: int) -> None:
    """Which sentences of the test set have charts, and which derivations: those asked for, else the most telling ones.

    ``charts`` and ``trees``: sentences, counted from 0; those with charts have derivations too.
    """
    from lscfg.tuning.report import content

    outputs = {name: read_lines(inputs[name]) for name in several("output", inputs)}
    references = [read_lines(inputs[name]) for name in several("test reference", inputs)]
    sources = read_lines(inputs["test source"])
    charted = [number - 1 for number in settings["sentences"]]
    charted = charted or content.charted_sentences(sources, outputs, references)
    others = content.different_sentences(outputs, references)
    trees = sorted(list(dict.fromkeys([*charted, *others]))[: max(settings["trees"], len(charted))])
    write_json(folder / SENTENCES, {"charts": charted, "trees": trees if settings["trees"] else []})


@version(2)
def charts(folder: Path, settings: Facts, inputs: Files, jobs: int) -> None:
    """Span marginals of sentences under a model, and under the one of the same rules with one state.

    ``model`` and ``one state`` (null where the model does not have it): for each sentence its spans
    [i, j, marginal], none where it has no parse.
    """
    from lscfg.model.parameters import Parameters

    parameters = Parameters.load(inputs["model"])
    alone = parameters.one_state() if parameters.rank > 1 else None
    found = {"model": _span_marginals(inputs["model"], settings, inputs), "one state": None}
    if alone is not None:
        with tempfile.TemporaryDirectory(dir=folder) as place:
            path = Path(place) / "one.lscfg"
            alone.save(path, np.float64)
            found["one state"] = _span_marginals(path, settings, inputs)
    write_json(folder / CHARTS, found)


def _span_marginals(path: Path, settings: Facts, inputs: Files) -> list[list[list[float]]]:
    from lscfg.decode.latent import UNKNOWN
    from lscfg.decode.parsing import first_parse
    from lscfg.kernel import Binding, Grammar, Model, ParseOptions, X

    grammar = Grammar.from_files([inputs["rules"]])
    binding = Binding(Model(path), grammar, UNKNOWN[settings["unknown"] or "compose"])
    sources, found = read_lines(inputs["test source"]), []
    for number in json.loads(inputs["sentences"].read_text(encoding="utf-8"))["charts"]:
        words = grammar.vocab.add_line(sources[number])
        forest, _ = first_parse(grammar, words, [ParseOptions(max(len(words), 1), False, 2, X)])
        spans = []
        if forest is not None:
            marginals = binding.infer(forest).nodes.tolist()
            spans = [[*span, value] for span, value in zip(forest.node_span.tolist(), marginals, strict=True)]
        found.append(spans)
    return found


@version(1, spare=(INI,))
def trees(folder: Path, settings: Facts, inputs: Files, jobs: int) -> None:
    """The derivations of some translations, with what the model knows of each rule; see ``lscfg.tuning.report.trees``.

    The decoder is the embedded one, which gives the same translations as in ``decode``.
    """
    from lscfg.formats.weights import read_weights
    from lscfg.study.explain import Explainer
    from lscfg.tuning.report.trees import tree_record

    write_ini(folder / INI, decoder_config(settings, folder, inputs))
    sources, weights = read_lines(inputs["test source"]), read_weights(inputs["weights"])
    numbers = json.loads(inputs["sentences"].read_text(encoding="utf-8"))["trees"]
    found = _with_derivations(folder / INI, [sources[k] for k in numbers], weights, jobs)
    explainer = Explainer(folder / INI) if "model" in inputs else None
    states = explainer.states if explainer else None
    names = [states.name(h) for h in range(len(states.root))] if states else []
    write_json(folder / TREES, {"states": names, "trees": [tree_record(one, weights, explainer) for one in found]})


def _with_derivations(ini: Path, lines: list[str], weights: Mapping[str, float], jobs: int) -> list[Translated]:
    """The translations; the decoder's memory is free when they are there."""
    from lscfg.decode.decoder import EmbeddedDecoder
    from lscfg.parallel.choose import in_processes

    with in_processes(jobs) as engine, EmbeddedDecoder.from_ini(ini, engine, cached=0) as decoder:
        return list(decoder.translate(lines, weights, derivations=True))


def decoder_config(settings: Facts, folder: Path, inputs: Mapping[str, Path]) -> DecoderConfig:
    """The decoder of one system, with paths relative to the folder of its ini file.

    Args:
        settings: ``decoder``, ``decoding`` and ``features``; inputs: ``rules``, ``lm``, and ``model`` and ``plug-in``
            where there are any.
    """

    def relative(path: Path) -> Path:
        return Path(os.path.relpath(path, folder))

    decoder, decoding = settings["decoder"], settings["decoding"]
    latent = None
    if "model" in inputs:
        features = settings["features"]
        options = {
            "model": str(relative(inputs["model"])),
            "log": str(features["log"]).lower(),
            "floor": repr(features["floor"]),
            "negative": features["negative"],
            "features": ",".join(features["names"]),
        }
        if decoding.get("unknown"):
            options["unknown"] = decoding["unknown"]
        library = inputs.get("plug-in")  # other decoders have latent features built in
        latent = LatentFeature(options, str(library) if library else None)
    return DecoderConfig(
        grammars=(relative(inputs["rules"]),),
        language_model=relative(inputs["lm"]),
        word_penalty=True,
        latent=latent,
        max_span=decoding.get("max_span") or decoder["max_span"],
        pop_limit=decoder["pop_limit"],
        pass_through=True,
        glue=decoding.get("glue", False),
    )
