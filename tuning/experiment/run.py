"""A whole experiment: all stages of all systems, the table, results.json and the manifest."""

from __future__ import annotations

import dataclasses
import json
import os
import platform
import shutil
import sys
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from lscfg import __version__, log
from lscfg.corpus import check_sentences, read_parallel
from lscfg.errors import InputError
from lscfg.text import read_lines
from tuning.evaluate import SystemScore, evaluate
from tuning.experiment import stages
from tuning.experiment.cache import Stage, StageCache, file_hash, locked
from tuning.experiment.config import Experiment, read_experiment

PACKAGES = ("numpy", "scipy", "cffi", "sacrebleu", "kenlm", "sil-thot", "safetensors")


@dataclass(frozen=True)
class SystemStages:
    """The stages of one system."""

    rules: Stage
    model: Stage | None
    tuned: Stage
    decoded: Stage


def run_experiment(path: str | os.PathLike[str], output: str | os.PathLike[str], jobs: int) -> str:
    """Runs the experiment of a TOML file and returns the table.

    Finished stages are taken from an earlier run in the same folder. Written there: ``results.json``, equal bytes for
    equal inputs; ``manifest.json``; ``systems/NAME`` with configuration, weights and translations.

    Raises:
        InputError: anything wrong with the experiment file or the files it names.
        LscfgError: a stage failed; what was finished is kept.
    """
    experiment = read_experiment(path)
    check_corpus(experiment)
    folder = Path(output)
    with locked(folder):
        cache = StageCache(folder / "cache")
        alignments = stages.align(cache, experiment, jobs)
        derivations = stages.derive(cache, experiment, alignments)
        grammars = {}
        used = {system.grammar for system in experiment.systems.values()}
        if "minimal" in used:
            grammars["minimal"] = stages.grammar(cache, experiment, derivations)
        if "hiero" in used:
            grammars["hiero"] = stages.hiero(cache, experiment, alignments, jobs)
        lm = stages.language_model(cache, experiment)
        systems = {}
        for name, system in experiment.systems.items():
            log.info(f"system {name}")
            rules = grammars[system.grammar]
            model = stages.estimate(cache, system, derivations, jobs)
            tuned = stages.tune(cache, experiment, rules, lm, model, jobs)
            decoded = stages.decode(cache, experiment, rules, lm, model, tuned, jobs)
            systems[name] = SystemStages(rules, model, tuned, decoded)
            _publish(folder / "systems" / name, experiment, lm, systems[name])
        results = _results(experiment, derivations, systems)
        stages.write_json(folder / "results.json", results)
        stages.write_json(folder / "manifest.json", _manifest(Path(path), experiment, cache, jobs))
    return format_results(results)


def check_corpus(experiment: Experiment) -> None:
    """Reads all text once, so that a bad line is found before hours of work.

    Empty lines are allowed in the test sources only: they are translated as empty lines.

    Raises:
        InputError: see ``lscfg.corpus``.
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
        for reference in references:
            if len(found := read_lines(reference)) != len(lines):
                raise InputError(f"{len(found)} lines, but {source} has {len(lines)}", reference)


def _publish(folder: Path, experiment: Experiment, lm: Stage, system: SystemStages) -> None:
    """What a user wants of a system, in a folder of its own."""
    from lscfg.formats.ini import write_ini

    folder.mkdir(parents=True, exist_ok=True)
    write_ini(folder / "cdec.ini", stages.decoder_config(experiment, folder, system.rules, lm, system.model))
    shutil.copyfile(system.tuned / stages.WEIGHTS, folder / "weights")
    shutil.copyfile(system.tuned / stages.HISTORY, folder / "tuning.json")
    shutil.copyfile(system.decoded / stages.OUTPUT, folder / "test.output")


def _read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _results(experiment: Experiment, derivations: Stage, systems: dict[str, SystemStages]) -> dict[str, Any]:
    outputs = {name: read_lines(system.decoded / stages.OUTPUT) for name, system in systems.items()}
    references = [read_lines(path) for path in experiment.corpus.test_reference]
    settings = experiment.evaluation
    scores = evaluate(outputs, references, settings.baseline, settings.samples, settings.seed)
    rows = [_row(score, systems[score.name]) for score in scores]
    return {
        "baseline": settings.baseline,
        "signature": scores[0].signature,
        "test sentences": len(references[0]),
        "derivations": _read_json(derivations / "statistics.json"),
        "systems": rows,
    }


def _row(score: SystemScore, system: SystemStages) -> dict[str, Any]:
    size = _read_json(system.model / "size.json") if system.model else {"states": None, "effective": None}
    dev = _read_json(system.tuned / "dev.json")
    return {
        "system": score.name,
        "rules": _read_json(system.rules / "size.json")["rules"],
        "states": size["states"],
        "effective_rules": size["effective"],
        "start_dev_bleu": dev["start_bleu"],
        "dev_bleu": dev["bleu"],
        "dev_length_ratio": dev["length_ratio"],
        "tuning_iteration": dev["iteration"],
        "test_bleu": score.bleu,
        "test_bleu_mean": score.bleu_mean,
        "test_bleu_ci": score.bleu_ci,
        "p_value": score.p_value,
        "test_length_ratio": score.length_ratio,
        "brevity_penalty": score.brevity_penalty,
    }


def _manifest(path: Path, experiment: Experiment, cache: StageCache, jobs: int) -> dict[str, Any]:
    """What made the results: enough to make them again, and what it cost."""
    corpus = experiment.corpus
    files = [corpus.source, corpus.target, corpus.dev_source, *corpus.dev_reference, corpus.test_source]
    files += [*corpus.test_reference, *([corpus.alignment] if corpus.alignment else [])]
    files += [experiment.language_model.file] if experiment.language_model.file else []
    return {
        "lscfg": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cpus": os.cpu_count(),
        "jobs": jobs,
        "packages": {name: version(name) for name in PACKAGES},
        "command": [Path(sys.argv[0]).name, *sys.argv[1:]],
        "experiment": path.read_text(encoding="utf-8"),
        "settings": _plain(dataclasses.asdict(experiment)),
        "sha256": {str(file): file_hash(file) for file in files},
        "stages": [{**stage.record, "folder": stage.path.name, "reused": stage.reused} for stage in cache.stages],
    }


def _plain(value: Any) -> Any:
    """The value with paths as strings, for JSON."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value


def format_results(results: dict[str, Any]) -> str:
    """The table that a person reads."""
    rows = [["system", "rules", "dev BLEU", "test BLEU", "95 % CI", f"p vs {results['baseline']}", "length"]]
    for row in results["systems"]:
        rows.append(
            [
                row["system"] + (f" (m = {row['states']})" if row["states"] else ""),
                str(row["rules"]),
                f"{row['dev_bleu']:.2f}",
                f"{row['test_bleu']:.2f}",
                f"± {row['test_bleu_ci']:.2f}",
                "" if row["p_value"] is None else f"{row['p_value']:.4f}",
                f"{row['test_length_ratio']:.3f}",
            ]
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))])
        for row in rows
    ]
    return "\n".join([*lines, f"BLEU: {results['signature']}"])
