"""The stages from corpus to translations; each writes files into the folder it is given."""

from __future__ import annotations

import dataclasses
import functools
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lscfg import log
from lscfg.estimate.em import BEST, CHECKPOINT
from lscfg.formats.ini import DecoderConfig, LatentFeature, write_ini
from lscfg.io.text import atomic_write, read_blocks, read_lines, write_lines
from tuning.decoders import open_decoder
from tuning.experiment import hosts
from tuning.experiment.cache import Stage, StageCache
from tuning.experiment.config import Corpus, Experiment, System, em_settings, spectral_settings

if TYPE_CHECKING:
    from lscfg.extract.derive import Derivations
    from lscfg.model.parameters import Parameters

DERIVATIONS, GRAMMAR, LM, MODEL = "derivations", "grammar.gz", "lm.arpa", "model.lscfg"
INI, WEIGHTS, HISTORY, OUTPUT = "cdec.ini", "weights", "history.json", "output"


def alignments(cache: StageCache, experiment: Experiment, jobs: int) -> list[Path]:
    """Word alignments: those that are given, or one for each heuristic, all from the same links of both directions."""
    corpus, wanted = experiment.corpus, experiment.alignment
    if corpus.alignment:
        return corpus.alignment

    def make(folder: Path) -> None:
        from lscfg.corpus.align import align_both_ways
        from lscfg.corpus.parallel import read_parallel

        src, tgt = read_parallel(corpus.source, corpus.target)
        links = align_both_ways(src, tgt, wanted.joined_by(wanted.heuristics[0]), jobs)
        for heuristic in wanted.heuristics:
            write_lines(folder / heuristic, links.joined(heuristic))

    inputs = {"source": corpus.source, "target": corpus.target}
    stage = cache.run("align", dataclasses.asdict(wanted), inputs, make)
    return [stage / heuristic for heuristic in wanted.heuristics]


def derive(cache: StageCache, experiment: Experiment, alignments: Sequence[Path]) -> Stage:
    """Minimal derivation trees, for each pair as many as there are alignments."""
    corpus, settings = experiment.corpus, dataclasses.asdict(experiment.derive)

    def make(folder: Path) -> None:
        from lscfg.extract.derive import derive_files
        from lscfg.kernel import DeriveOptions

        options = DeriveOptions(**settings)
        sizes = derive_files(corpus.source, corpus.target, alignments, folder / DERIVATIONS, options)
        write_json(folder / "statistics.json", sizes)

    return cache.run("derive", settings, _aligned(corpus, alignments), make)


def _aligned(corpus: Corpus, alignments: Sequence[Path]) -> dict[str, Stage | Path]:
    inputs: dict[str, Stage | Path] = {"source": corpus.source, "target": corpus.target}
    return inputs | {f"alignments {k}": path for k, path in enumerate(alignments, 1)}


def grammar(cache: StageCache, experiment: Experiment, derivations: Stage) -> Stage:
    """The minimal grammar."""
    limit = experiment.grammar.max_targets

    def make(folder: Path) -> None:
        from lscfg.extract.derive import Derivations
        from lscfg.extract.minimal import MinimalRules
        from lscfg.grammar.select import select_rules
        from lscfg.grammar.write import write_grammar

        counted = MinimalRules.of(Derivations.load(derivations / DERIVATIONS))
        selection = select_rules(counted, limit)
        write_grammar(folder / GRAMMAR, counted, selection)
        write_json(folder / "size.json", {"rules": len(selection.kept)})

    return cache.run("grammar", {"max_targets": limit}, {"derivations": derivations}, make)


def hiero(cache: StageCache, experiment: Experiment, alignments: Sequence[Path], jobs: int) -> Stage:
    """The Hiero grammar, of the rules that the development or test set can use: all of them would fill the memory."""
    corpus, settings = experiment.corpus, dataclasses.asdict(experiment.hiero)
    del settings["max_span"]  # is the decoder's

    def make(folder: Path) -> None:
        from lscfg.extract.hiero import extract_files
        from lscfg.grammar.select import select_rules
        from lscfg.grammar.write import write_grammar

        counted = extract_files(corpus.source, corpus.target, alignments, experiment.hiero.limits())
        sentences = [line for text in (corpus.dev_source, corpus.test_source) for line in read_lines(text)]
        selection = select_rules(counted, settings["max_targets"], sentences)
        write_grammar(folder / GRAMMAR, counted, selection, jobs)
        write_json(folder / "size.json", {"rules": len(selection.kept)})
        write_json(folder / "statistics.json", counted.statistics() | {"dropped": selection.dropped})

    inputs = _aligned(corpus, alignments) | {"dev source": corpus.dev_source, "test source": corpus.test_source}
    return cache.run("hiero", settings, inputs, make)


def both(cache: StageCache, hiero: Stage, minimal: Stage, jobs: int) -> Stage:
    """Hiero's rules, and the minimal ones that are not among them, with the minimal grammar's own glue."""

    def make(folder: Path) -> None:
        from lscfg.grammar.write import write_union

        rules = write_union(folder / GRAMMAR, hiero / GRAMMAR, minimal / GRAMMAR, threads=jobs)
        write_json(folder / "size.json", {"rules": rules})

    return cache.run("both", {}, {"hiero": hiero, "minimal": minimal}, make)


def given_grammar(cache: StageCache, kind: str, path: Path) -> Stage:
    """The grammar of a file, as a stage of its kind."""

    def make(folder: Path) -> None:
        from lscfg.decode.decoder import read_grammar

        rules = len(read_grammar(DecoderConfig(grammars=(path,))))
        _copy(path, folder / GRAMMAR)
        write_json(folder / "size.json", {"rules": rules})

    return cache.run("grammar" if kind == "minimal" else kind, {}, {"file": path}, make)


def language_model(cache: StageCache, experiment: Experiment) -> Stage:
    """The n-gram model of the target side."""
    from lscfg.lm.lmplz import chosen_estimator

    settings = experiment.language_model
    # of a file that is given, nothing depends on what is installed
    estimator = settings.estimator if settings.file else chosen_estimator(settings.estimator)

    def make(folder: Path) -> None:
        from lscfg.lm.arpa import check_arpa
        from lscfg.lm.estimate import DEFAULT_FALLBACK
        from lscfg.lm.lmplz import build_lm

        if settings.file:
            check_arpa(settings.file, settings.order)
            _copy(settings.file, folder / LM)
            return
        fallback = DEFAULT_FALLBACK if settings.discount_fallback else None
        build_lm(experiment.corpus.target, folder / LM, settings.order, (), fallback, estimator)
        log.info(f"language model of order {settings.order} estimated by {estimator}")

    inputs = {"text": settings.file or experiment.corpus.target}
    facts = dataclasses.asdict(settings) | {"file": settings.file is not None, "estimator": estimator}
    return cache.run("lm", facts, inputs, make)


def estimate(
    cache: StageCache,
    experiment: Experiment,
    system: System,
    derivations: Stage,
    alignments: Sequence[Path],
    jobs: int,
) -> Stage | None:
    """The system's latent model, with a context model, if any, of the grammar's rules; none for the plain grammar."""
    if system.estimator == "none":
        return None
    context, of_hiero = experiment.with_context(system), system.grammar in ("hiero", "both")
    files = {name: getattr(system, name) for name in ("src_classes", "tgt_classes", "rule_values")}

    def make(folder: Path) -> None:
        from lscfg.extract.derive import Derivations
        from lscfg.extract.minimal import MinimalRules
        from lscfg.grammar.counts import effective_size

        trees = Derivations.load(derivations / DERIVATIONS)
        parameters = _parameters(system, trees, folder, jobs)
        if context:
            from lscfg.context.loglinear import RuleTokens, add_context, read_source

            corpus = experiment.corpus
            tokens = []
            if of_hiero:
                limits = experiment.hiero.limits()
                tokens.append(RuleTokens.hiero(corpus.source, corpus.target, alignments, limits))
            if system.grammar in ("minimal", "both"):
                tokens.append(RuleTokens.minimal(trees))
            joined = functools.reduce(RuleTokens.with_those_of, tokens)
            parameters = add_context(parameters, joined, read_source(corpus.source, trees))
        parameters.save(folder / MODEL)
        for name in (CHECKPOINT, BEST):
            (folder / name).unlink(missing_ok=True)
        size = effective_size(MinimalRules.of(trees), parameters.rank)
        write_json(folder / "size.json", {"states": parameters.rank, "effective": size})

    facts: dict[str, Any] = {"estimator": system.estimator}
    inputs: dict[str, Path | Stage] = {"derivations": derivations}
    if system.estimator == "spectral":
        names = ("m", "inside", "outside", "seed", "min_count", "scaling", "smoothing", "max_targets")
        facts |= {name: getattr(system, name) for name in names}
        inputs |= {name: path for name, path in files.items() if path is not None}
    elif system.estimator == "mle":
        facts["max_targets"] = system.max_targets
    else:
        facts |= dataclasses.asdict(em_settings(system))
    if context:
        inputs["context"] = experiment.corpus.source
        facts["context"] = system.grammar
    if context and of_hiero:
        inputs |= _aligned(experiment.corpus, alignments)
        facts |= {"limits": dataclasses.asdict(experiment.hiero.limits())}
    return cache.run("estimate", facts, inputs, make)


def _parameters(system: System, trees: Derivations, folder: Path, jobs: int) -> Parameters:
    """What the system's estimator makes of the trees; EM keeps its checkpoints in the folder."""
    from lscfg.estimate.em import estimate_em
    from lscfg.estimate.mle import estimate_mle
    from lscfg.estimate.spectral import estimate_spectral

    if system.estimator == "mle":
        return estimate_mle(trees, system.max_targets)
    if system.estimator in ("em", "clusters"):
        return estimate_em(trees, em_settings(system), jobs, folder, (folder / CHECKPOINT).exists())
    return estimate_spectral(trees, spectral_settings(system))


def tune(
    cache: StageCache,
    experiment: Experiment,
    rules: Stage,
    lm: Stage,
    model: Stage | None,
    jobs: int,
    run: int = 0,
    start: Stage | None = None,
) -> Stage:
    """Weights of one run tuned on the development set; a killed tuning goes on with the iteration it was in.

    It begins with the weights of ``start``, another tuning, where there is one, and the latent features at 0.
    """
    corpus, settings = experiment.corpus, experiment.tuning
    latent = dict.fromkeys(experiment.features.names, 0.0) if model else {}
    seed = settings.seed + run

    def make(folder: Path) -> None:
        from lscfg.formats.weights import read_weights, write_weights
        from tuning.tune import TuneSettings
        from tuning.tune import tune as tune_weights

        _write_decoder_ini(folder, experiment, rules, lm, model)
        options = TuneSettings(
            optimiser=settings.optimiser,
            iterations=settings.iterations,
            kbest=settings.kbest,
            patience=settings.patience,
            seed=seed,
        )
        library = hosts.cdec_library(experiment.decoder)
        with open_decoder(experiment.decoder.name, folder / INI, jobs, library=library) as decoder:
            result = tune_weights(
                decoder,
                read_lines(corpus.dev_source),
                [read_lines(path) for path in corpus.dev_reference],
                latent | read_weights(start / WEIGHTS) if start else settings.weights,
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
        write_json(folder / "dev.json", summary)

    facts = dataclasses.asdict(settings) | {"seed": seed}
    del facts["runs"]  # each is a stage of its own
    inputs = _decoder_inputs(experiment, rules, lm, model) | {"dev source": corpus.dev_source}
    inputs |= {f"dev reference {k}": path for k, path in enumerate(corpus.dev_reference)}
    if start:
        del facts["weights"]
        inputs["start"] = start
    return cache.run("tune", _decoder_facts(experiment, rules, model) | facts, inputs, make)


def decode(
    cache: StageCache, experiment: Experiment, rules: Stage, lm: Stage, model: Stage | None, tuned: Stage, jobs: int
) -> Stage:
    """The test set translated with the tuned weights."""
    corpus = experiment.corpus

    def make(folder: Path) -> None:
        from lscfg.formats.weights import read_weights

        _write_decoder_ini(folder, experiment, rules, lm, model)
        library = hosts.cdec_library(experiment.decoder)
        with open_decoder(experiment.decoder.name, folder / INI, jobs, once=True, library=library) as decoder:
            lists = decoder.decode(read_lines(corpus.test_source), read_weights(tuned / WEIGHTS), 1)
        write_lines(folder / OUTPUT, [hypotheses[0].text for hypotheses in lists])

    inputs = _decoder_inputs(experiment, rules, lm, model) | {"weights": tuned, "test source": corpus.test_source}
    return cache.run("decode", _decoder_facts(experiment, rules, model), inputs, make)


def score(cache: StageCache, experiment: Experiment, decoded: Stage) -> Stage:
    """chrF2 and TER of one output; BLEU is scored with its tests when all systems are there."""
    references = experiment.corpus.test_reference

    def make(folder: Path) -> None:
        from tuning.evaluate import new_metric

        lines, documents = read_lines(decoded / OUTPUT), [read_lines(path) for path in references]
        scores = {name: float(new_metric(name).corpus_score(lines, documents).score) for name in ("chrF2", "TER")}
        write_json(folder / "scores.json", scores)

    inputs: dict[str, Path | Stage] = {"output": decoded}
    inputs |= {f"test reference {k}": path for k, path in enumerate(references)}
    return cache.run("score", {}, inputs, make)


def charts(cache: StageCache, rules: Stage, model: Stage, sentences: list[str]) -> Stage:
    """Span marginals of sentences under a model: for each its spans [i, j, marginal], none where it has no parse."""

    def make(folder: Path) -> None:
        from lscfg.decode.latent import UNKNOWN
        from lscfg.kernel import Binding, Grammar, Model, ParseOptions, X

        parameters, found = Model(model / MODEL), []
        grammar = Grammar.from_files([rules / GRAMMAR])
        binding = Binding(parameters, grammar, UNKNOWN[_unknown_rules(rules).get("unknown", "compose")])
        for sentence in sentences:
            words = grammar.vocab.add_line(sentence)
            forest = grammar.parse(words, ParseOptions(max(len(words), 1), False, 2, X))
            spans = []
            if forest is not None:
                marginals = binding.infer(forest).nodes.tolist()
                spans = [[*span, value] for span, value in zip(forest.node_span.tolist(), marginals, strict=True)]
            found.append(spans)
        write_json(folder / "charts.json", found)

    return cache.run("charts", {"sentences": sentences}, {"grammar": rules, "model": model}, make)


def _decoder_inputs(experiment: Experiment, rules: Stage, lm: Stage, model: Stage | None) -> dict[str, Path | Stage]:
    inputs: dict[str, Path | Stage] = {
        "grammar": rules,
        "lm": lm,
        **hosts.programs(experiment.decoder, model is not None),
    }
    return inputs | ({"model": model} if model else {})


def _decoder_facts(experiment: Experiment, rules: Stage, model: Stage | None) -> dict[str, Any]:
    facts = dataclasses.asdict(experiment.decoder)
    del facts["plugin"]  # an input
    if _is_hiero(rules):
        facts |= {"max_span": experiment.hiero.max_span, "glue": True}
    return facts | (dataclasses.asdict(experiment.features) | _unknown_rules(rules) if model else {})


def _is_hiero(rules: Stage) -> bool:
    """Whether the grammar needs the decoder's glue rules, and a limit for all others."""
    return rules.name == "hiero"


def _unknown_rules(rules: Stage) -> dict[str, str]:
    """The feature function's option for rules that the model does not know, where it is not the usual one, to compose.

    Where the model's rules are beside them, a derivation of the model would count once more for each way to compose
    parts of it.
    """
    return {"unknown": "zero"} if rules.name == "both" else {}


def decoder_config(experiment: Experiment, folder: Path, rules: Stage, lm: Stage, model: Stage | None) -> DecoderConfig:
    """The decoder of one system, with paths relative to the folder of its ini file."""

    def relative(path: Path) -> Path:
        return Path(os.path.relpath(path, folder))

    latent = None
    if model:
        features = experiment.features
        options = {
            "model": str(relative(model / MODEL)),
            "log": str(features.log).lower(),
            "floor": repr(features.floor),
            "negative": features.negative,
            "features": ",".join(features.names),
            **_unknown_rules(rules),
        }
        library = hosts.cdec_library(experiment.decoder)  # other decoders have latent features built in
        latent = LatentFeature(options, str(library) if library else None)
    return DecoderConfig(
        grammars=(relative(rules / GRAMMAR),),
        language_model=relative(lm / LM),
        word_penalty=True,
        latent=latent,
        max_span=experiment.hiero.max_span if _is_hiero(rules) else experiment.decoder.max_span,
        pop_limit=experiment.decoder.pop_limit,
        pass_through=True,
        glue=_is_hiero(rules),
    )


def _write_decoder_ini(folder: Path, experiment: Experiment, rules: Stage, lm: Stage, model: Stage | None) -> None:
    write_ini(folder / INI, decoder_config(experiment, folder, rules, lm, model))


def _copy(source: Path, target: Path) -> None:
    """A copy, compressed or not as each name says."""
    with atomic_write(target, "wb") as file:
        for block, _ in read_blocks(source, 1 << 16):
            file.write(block)


def write_json(path: Path, value: Any) -> None:
    """Writes the value, indented, in the order of its keys as they are."""
    with atomic_write(path) as file:
        json.dump(value, file, indent=1, ensure_ascii=False)
        file.write("\n")
