"""A whole experiment: all stages of all systems, the table, results.json and the manifest."""

from __future__ import annotations

import dataclasses
import json
import os
import platform
import re
import shutil
import statistics
import sys
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from safetensors import safe_open

from lscfg import __version__, log
from lscfg.corpus.parallel import check_length, check_plain, check_sentences, read_parallel
from lscfg.errors import InputError
from lscfg.io.text import align_columns, atomic_write, file_hash, read_lines
from tuning.evaluate import evaluate
from tuning.experiment import stages
from tuning.experiment.cache import Stage, StageCache, locked
from tuning.experiment.config import Experiment, Overrides, read_experiment
from tuning.experiment.hosts import check_host, programs
from tuning.replication import ReplicatedScore, compare_runs
from tuning.report.content import Content, charted_sentences, charted_systems
from tuning.report.page import render

PACKAGES = ("numpy", "scipy", "cffi", "sacrebleu", "kenlm", "sil-thot", "safetensors", "matplotlib")


@dataclass(frozen=True)
class SystemStages:
    """The stages of one system; the lists have an element for each run of the tuning."""

    rules: Stage
    model: Stage | None
    tuned: list[Stage]
    decoded: list[Stage]
    scored: list[Stage]

    @property
    def outputs(self) -> list[list[str]]:
        """The translations of each run."""
        return [read_lines(stage / stages.OUTPUT) for stage in self.decoded]


def run_experiment(
    path: str | os.PathLike[str], output: str | os.PathLike[str], jobs: int, overrides: Overrides | None = None
) -> str:
    """Runs the experiment of a TOML file and returns the table.

    Finished stages are taken from an earlier run in the same folder. Written there: ``results.json``, equal bytes for
    equal inputs; ``manifest.json``; ``report.html``; ``systems/NAME`` with configuration, weights and translations.

    Raises:
        InputError: anything wrong with the experiment file, the overrides or the files it names, or the decoder is not
            there.
        LscfgError: a stage failed; what was finished is kept.
    """
    if jobs < 1:
        raise InputError(f"jobs must be 1 or more, not {jobs}")
    experiment = read_experiment(path, overrides)
    check_host(experiment)
    check_corpus(experiment)
    folder = Path(output)
    with locked(folder):
        cache = StageCache(folder / "cache")
        # what may be wrong with the text, or with files that are given, shows in the first minutes; tuning comes last
        lm = stages.language_model(cache, experiment)
        given = {
            name: stages.given_grammar(cache, system.grammar, system.grammar_file)
            for name, system in experiment.systems.items()
            if system.grammar_file
        }
        alignments = stages.alignments(cache, experiment, jobs)
        derivations = stages.derive(cache, experiment, alignments)
        grammars = {}
        used = {system.grammar for system in experiment.systems.values() if not system.grammar_file}
        if used & {"minimal", "both"}:
            grammars["minimal"] = stages.grammar(cache, experiment, derivations)
        if used & {"hiero", "both"}:
            grammars["hiero"] = stages.hiero(cache, experiment, alignments, jobs)
        if "both" in used:
            grammars["both"] = stages.both(cache, grammars["hiero"], grammars["minimal"], jobs)
        models = {
            name: stages.estimate(cache, experiment, system, derivations, alignments, jobs)
            for name, system in experiment.systems.items()
        }
        systems = {}
        for name, system in experiment.systems.items():
            log.info(f"system {name}")
            rules, model = given.get(name) or grammars[system.grammar], models[name]
            found = systems[name] = SystemStages(rules, model, [], [], [])
            own = experiment.of(system)
            for run in range(experiment.tuning.runs):
                start = systems[system.start].tuned[run] if system.start else None
                found.tuned.append(stages.tune(cache, own, rules, lm, model, jobs, run, start))
                found.decoded.append(stages.decode(cache, own, rules, lm, model, found.tuned[run], jobs))
                found.scored.append(stages.score(cache, own, found.decoded[run]))
            _publish(folder / "systems" / name, own, lm, found)
        results = _results(experiment, derivations, systems)
        stages.write_json(folder / "results.json", results)
        content = _report_content(Path(path), experiment, cache, systems, results)
        manifest = _manifest(Path(path), experiment, cache, systems, jobs)
        stages.write_json(folder / "manifest.json", manifest)
        with atomic_write(folder / "report.html") as file:
            file.write(render(content, manifest))
    return format_results(results, {name: _wall_seconds(system) for name, system in systems.items()})


def check_corpus(experiment: Experiment) -> None:
    """Reads all text once, so that a bad line is found before hours of work.

    Empty lines are allowed in the test sources only: they are translated as empty lines.

    Raises:
        InputError: see ``lscfg.corpus.parallel``; or the report is to show a sentence that is not there.
    """
    corpus = experiment.corpus
    read_parallel(corpus.source, corpus.target)
    for name, source, references in (
        ("dev", corpus.dev_source, corpus.dev_reference),
        ("test", corpus.test_source, corpus.test_reference),
    ):
        lines = read_lines(source)
        if not lines:
            raise InputError(f"the {name} set is empty", source)
        check_sentences(lines, source, allow_empty=name == "test")
        check_plain(lines, source)
        for reference in references:
            check_length(len(read_lines(reference)), reference, len(lines), source)
    last, count = max(experiment.report.sentences, default=0), len(read_lines(corpus.test_source))
    if last > count:
        raise InputError(f"has {count} lines; [report] asks for a chart of line {last}", corpus.test_source)


def _publish(folder: Path, experiment: Experiment, lm: Stage, system: SystemStages) -> None:
    """What a user wants of a system, in a folder of its own; of runs after the first in run2, run3, ... below it."""
    from lscfg.formats.ini import write_ini

    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        if re.fullmatch("run[0-9]+", old.name) and old.is_dir():
            shutil.rmtree(old)
    write_ini(folder / "cdec.ini", stages.decoder_config(experiment, folder, system.rules, lm, system.model))
    for run, (tuned, decoded) in enumerate(zip(system.tuned, system.decoded, strict=True), 1):
        place = folder if run == 1 else folder / f"run{run}"
        place.mkdir(exist_ok=True)
        shutil.copyfile(tuned / stages.WEIGHTS, place / "weights")
        shutil.copyfile(tuned / stages.HISTORY, place / "tuning.json")
        shutil.copyfile(decoded / stages.OUTPUT, place / "test.output")


def _read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _results(experiment: Experiment, derivations: Stage, systems: dict[str, SystemStages]) -> dict[str, Any]:
    references = [read_lines(path) for path in experiment.corpus.test_reference]
    settings = experiment.evaluation
    log.info("tests of significance")
    outputs = {name: system.outputs for name, system in systems.items()}
    numbers = settings.samples, settings.trials, settings.seed
    scores = compare_runs(outputs, references, settings.baseline, *numbers, settings.against)
    rows = [_row(score, systems[score.name], experiment) for score in scores]
    # of a single sentence: only the description of the metric is wanted
    signed = evaluate({"": [""]}, [lines[:1] for lines in references], None, settings.samples, settings.seed)
    return {
        "baseline": settings.baseline,
        "against": settings.against,
        "decoder": experiment.decoder.name,
        "runs": experiment.tuning.runs,
        "signature": signed.signatures["BLEU"],
        "randomisation trials": settings.trials,
        "test sentences": len(references[0]),
        "derivations": _read_json(derivations / "statistics.json"),
        "systems": rows,
    }


def _row(score: ReplicatedScore, system: SystemStages, experiment: Experiment) -> dict[str, Any]:
    """One system: means over the runs, sample deviations (null for one run), then the runs."""
    size = _read_json(system.model / "size.json") if system.model else {"states": None, "effective": None}
    runs = []
    for run, bleu in enumerate(score.runs):
        dev, history = (_read_json(system.tuned[run] / name) for name in ("dev.json", stages.HISTORY))
        runs.append(
            {
                "seed": experiment.tuning.seed + run,
                "start_dev_bleu": dev["start_bleu"],
                "dev_bleu": dev["bleu"],
                "dev_length_ratio": dev["length_ratio"],
                "tuning_iteration": dev["iteration"],
                "dev_bleu_by_iteration": [record["dev_bleu"] for record in history["history"]],
                "test_bleu": bleu,
                **_read_json(system.scored[run] / "scores.json"),
            }
        )

    def mean(key: str) -> float:
        return statistics.fmean(run[key] for run in runs)

    dev_bleu = [run["dev_bleu"] for run in runs]
    return {
        "system": score.name,
        "estimator": experiment.systems[score.name].estimator,
        "grammar": experiment.systems[score.name].grammar,
        "rules": _read_json(system.rules / "size.json")["rules"],
        "states": size["states"],
        "effective_rules": size["effective"],
        "singular_values": _singular_values(system.model),
        "start_dev_bleu": mean("start_dev_bleu"),
        "dev_bleu": mean("dev_bleu"),
        "dev_bleu_deviation": statistics.stdev(dev_bleu) if len(runs) > 1 else None,
        "test_bleu": score.bleu,
        "test_bleu_deviation": score.deviation,
        "test_bleu_mean": score.bleu_mean,
        "test_bleu_ci": score.bleu_ci,
        "p_value": score.p_randomised,
        "p_bootstrap": score.p_bootstrap,
        "p_against": score.p_against,
        "test_chrF2": mean("chrF2"),
        "test_TER": mean("TER"),
        "test_precisions": score.precisions,
        "test_length_ratio": score.length_ratio,
        "brevity_penalty": score.brevity_penalty,
        "runs": runs,
    }


def _singular_values(model: Stage | None) -> list[float] | None:
    """What the spectral estimator left in its model's header."""
    if model is None:
        return None
    with safe_open(model / stages.MODEL, "numpy") as file:
        found: list[float] | None = json.loads(file.metadata()["about"]).get("singular values")
    return found


def _report_content(
    path: Path, experiment: Experiment, cache: StageCache, systems: dict[str, SystemStages], results: dict[str, Any]
) -> Content:
    """What the report shows beside the manifest; of systems tuned several times the first run's translations."""
    sources = read_lines(experiment.corpus.test_source)
    references = [read_lines(name) for name in experiment.corpus.test_reference]
    outputs = {name: system.outputs[0] for name, system in systems.items()}
    chosen = experiment.report.charts or charted_systems(results["systems"])
    lines = [number - 1 for number in experiment.report.sentences]
    if chosen and not lines:
        lines = charted_sentences(sources, {name: outputs[name] for name in chosen}, references)
    charts = {}
    for name in chosen:
        model = systems[name].model
        assert model is not None  # the configuration was checked
        stage = stages.charts(cache, systems[name].rules, model, [sources[k] for k in lines])
        charts[name] = _read_json(stage / "charts.json")
    return Content(path.stem, results, sources, references, outputs, lines, charts, experiment.report.examples)


def _users(systems: dict[str, SystemStages], folder: Path) -> list[str]:
    """The systems, and their runs if there are several, that a stage was made for; none if all share it."""
    users = []
    for name, system in systems.items():
        if system.model and system.model.path == folder:
            users.append(name)
        for run, made in enumerate(zip(system.tuned, system.decoded, system.scored, strict=True), 1):
            if folder in [stage.path for stage in made]:
                users.append(f"{name} run {run}" if len(system.tuned) > 1 else name)
    return users


def _manifest(
    path: Path, experiment: Experiment, cache: StageCache, systems: dict[str, SystemStages], jobs: int
) -> dict[str, Any]:
    """What made the results: enough to make them again, and what it cost."""
    corpus = experiment.corpus
    files = [corpus.source, corpus.target, corpus.dev_source, *corpus.dev_reference, corpus.test_source]
    files += [*corpus.test_reference, *corpus.alignment]
    files += [experiment.language_model.file] if experiment.language_model.file else []
    for system in experiment.systems.values():
        given = (system.grammar_file, system.src_classes, system.tgt_classes, system.rule_values)
        files += [file for file in given if file]
    latent = any(system.estimator != "none" for system in experiment.systems.values())
    return {
        "lscfg": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cpus": os.cpu_count(),
        "jobs": jobs,
        "decoder": {name: file_hash(file) for name, file in programs(experiment.decoder, latent).items()},
        "packages": {name: version(name) for name in PACKAGES},
        "command": [Path(sys.argv[0]).name, *sys.argv[1:]],
        "experiment": path.read_text(encoding="utf-8"),
        "settings": _plain(dataclasses.asdict(experiment)),
        "sha256": {str(file): file_hash(file) for file in files},
        "stages": [
            {**stage.record, "folder": stage.path.name, "reused": stage.reused, "systems": _users(systems, stage.path)}
            for stage in cache.stages
        ],
    }


def _plain(value: Any) -> Any:
    """The value with paths as strings, for JSON."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value


def _wall_seconds(system: SystemStages) -> tuple[float, float]:
    """Of tuning, interrupted or not, and of decoding the test set; means over the runs."""
    return (
        # a tuning that an earlier lscfg made has no times of its own
        statistics.fmean(
            _read_json(stage / "dev.json").get("seconds", stage.record["seconds"]) for stage in system.tuned
        ),
        statistics.fmean(stage.record["seconds"] for stage in system.decoded),
    )


def format_results(results: dict[str, Any], seconds: dict[str, tuple[float, float]]) -> str:
    """The table that a person reads.

    Args:
        results: what results.json has.
        seconds: by system, of tuning and of decoding.
    """
    tested = [results["baseline"], *results["against"]]
    rows = [["system", "rules", "dev BLEU", "test BLEU", "95 % CI", *(f"p vs {name}" for name in tested)]]
    rows[0] += ["chrF2", "TER", "length", "tuning s", "decoding s"]
    for row in results["systems"]:
        rows.append(
            [
                row["system"] + (f" (m = {row['states']})" if row["states"] else ""),
                str(row["rules"]),
                _with_deviation(row["dev_bleu"], row["dev_bleu_deviation"]),
                _with_deviation(row["test_bleu"], row["test_bleu_deviation"]),
                f"± {row['test_bleu_ci']:.2f}",
                *("" if p is None else f"{p:.4f}" for p in (row["p_value"], *row["p_against"].values())),
                f"{row['test_chrF2']:.2f}",
                f"{row['test_TER']:.2f}",
                f"{row['test_length_ratio']:.3f}",
                *(f"{value:.0f}" for value in seconds[row["system"]]),
            ]
        )
    note = f"BLEU: {results['signature']}"
    if results["runs"] > 1:
        note += f"; means of {results['runs']} tunings, standard deviations in parentheses"
    return "\n".join([*align_columns(rows), note])


def _with_deviation(value: float, deviation: float | None) -> str:
    return f"{value:.2f}" + ("" if deviation is None else f" ({deviation:.2f})")
