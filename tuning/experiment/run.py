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
import time
from collections import Counter
from pathlib import Path
from typing import Any

from safetensors import safe_open

from lscfg import log
from lscfg.corpus.parallel import check_length, check_plain, check_sentences, read_parallel
from lscfg.errors import InputError
from lscfg.extras import installed_versions
from lscfg.formats.weights import read_weights
from lscfg.io.text import (
    align_columns,
    atomic_write,
    decode_text,
    file_hash,
    read_bytes,
    read_lines,
    replaced_folder,
    write_json,
)
from lscfg.parallel.choose import on_cluster
from lscfg.prepare.corpus import DROPPED
from lscfg.prepare.record import RECORD, Record
from lscfg.tuning.bleu import ORDER
from lscfg.tuning.evaluate import SystemScore, evaluate
from lscfg.tuning.experiment.cache import StageCache, locked
from lscfg.tuning.experiment.config import read_experiment
from lscfg.tuning.experiment.making import make_stages
from lscfg.tuning.experiment.overrides import Overrides
from lscfg.tuning.experiment.plan import format_plan, make_plan
from lscfg.tuning.experiment.progress import Progress, duration, durations
from lscfg.tuning.experiment.schema import NO_ESTIMATOR, Corpus, Experiment, RawCorpus
from lscfg.tuning.experiment.stages import decoding, model, monolingual, rules, text
from lscfg.tuning.experiment.state import Run, Times
from lscfg.tuning.metrics.metric import METRICS, further_metrics
from lscfg.tuning.report.content import Charts, Content, TreeRecords, headline
from lscfg.tuning.report.page import render
from lscfg.version import __version__

RESULTS = ("results.json", "manifest.json", "report.html")

PUBLISHED = ("cdec.ini", "weights", "tuning.json", "test.output")
"""What a user wants of a system: in the folder of its first run all four, in those of others all but the first."""

PACKAGES = (
    "numpy",
    "scipy",
    "cffi",
    "distributed",
    "sacrebleu",
    "kenlm",
    "ufal-kenlm",
    "sil-thot",
    "safetensors",
    "jinja2",
)
"""Whose versions the manifest has, as far as they are installed."""


def run_experiment(
    path: str | os.PathLike[str],
    output: str | os.PathLike[str],
    jobs: int,
    overrides: Overrides | None = None,
    cluster: str | None = None,
) -> str:
    """Runs the experiment of a TOML file and returns what is said at its end: table, result in a line, places of files.

    Finished stages are taken from an earlier run in the same folder. Written there: ``results.json``, equal bytes for
    equal inputs; ``manifest.json``; ``report.html``; ``systems/NAME`` with configuration, weights and translations.

    Args:
        jobs: threads or processes of a stage; on a cluster a stage has those of its worker.
        cluster: as of ``lscfg.parallel.choose.on_cluster``; its workers see the same files.

    Raises:
        InputError: anything wrong with the experiment file, the overrides or the files it names, or the decoder is not
            there.
        LscfgError: a stage failed; what was finished is kept.
    """
    if jobs < 1:
        raise InputError(f"jobs must be 1 or more, not {jobs}")
    began = time.monotonic()
    experiment = _checked(path, overrides)
    folder = Path(output)
    with locked(folder):
        _check_places(folder, experiment)
        run = Run(experiment, make_plan(experiment), StageCache(folder / "cache"))
        progress = Progress(run.plan, durations(folder / "manifest.json"))
        with on_cluster(cluster) as place:
            make_stages(run, jobs, progress, place)
        for name in run.plan.systems:
            _publish(folder / "systems" / name, run, name)
        if run.plan.texts.prepared:
            _publish_preparation(folder / "prepare", run.cache.path(run.plan.texts.prepared))
        results = _results(run)
        write_json(folder / "results.json", results)
        manifest = _manifest(Path(path), run, jobs)
        write_json(folder / "manifest.json", manifest)
        content = _report_content(Path(path), run, results)
        with atomic_write(folder / "report.html") as file:
            file.write(render(content, manifest))
    table = format_results(results, {name: run.times(name) for name in run.plan.systems})
    log.info(f"finished in {duration(time.monotonic() - began)}")
    places = [
        f"{name + ':':<8} {folder / file}" for name, file in (("report", "report.html"), ("results", "results.json"))
    ]
    return "\n".join([table, "", headline(results), *places])


def _check_places(folder: Path, experiment: Experiment) -> None:
    """Refuses what stands where the run will write, before the work.

    Raises:
        InputError: a file is in the place of a folder, or the other way round.
    """
    folders = ["cache", "systems", *(f"systems/{system}" for system in experiment.systems)]
    later = range(2, experiment.tuning.runs + 1)
    for name in (*folders, *(f"{folder}/run{number}" for folder in folders[2:] for number in later)):
        if os.path.lexists(folder / name) and not (folder / name).is_dir():
            raise InputError("is in the way of a folder; remove this file and run again", folder / name)
    published = [f"systems/{system}/{name}" for system in experiment.systems for name in PUBLISHED]
    for name in (*RESULTS, *published):
        if (folder / name).is_dir():
            raise InputError("is in the way of a file; remove this folder and run again", folder / name)


def show_plan(path: str | os.PathLike[str], output: str | os.PathLike[str], overrides: Overrides | None = None) -> str:
    """The table of an experiment's stages, and which are there already; nothing is made.

    Raises:
        InputError: as of ``run_experiment``.
    """
    cache = StageCache(Path(output) / "cache")
    return format_plan(make_plan(_checked(path, overrides)), lambda stage: cache.found(stage) is not None)


def _checked(path: str | os.PathLike[str], overrides: Overrides | None) -> Experiment:
    experiment = read_experiment(path, overrides)
    experiment.check_decoder()
    check_corpus(experiment)
    return experiment


def check_corpus(experiment: Experiment) -> None:
    """Reads all text once, so that a bad line is found before hours of work.

    Empty lines are allowed in the test sources only: they are translated as empty lines.

    Raises:
        InputError: see ``lscfg.corpus.parallel``; or the report is to show a sentence that is not there.
    """
    corpus = experiment.corpus
    if isinstance(corpus, RawCorpus):  # the preparation makes good text of it
        count = experiment.prepare.test or len(read_lines(corpus.held_out("test")[0]))
        return _check_charted(experiment, count, corpus.test_source or corpus.source)
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
    _warn_of_leaks(experiment)
    _check_charted(experiment, len(read_lines(corpus.test_source)), corpus.test_source)


def _warn_of_leaks(experiment: Experiment) -> None:
    """Says how many references the monolingual text has: they flatter the language model and new rules."""
    corpus, texts = experiment.corpus, experiment.monolingual.target
    assert not isinstance(corpus, RawCorpus)
    if not texts:
        return
    known = {line for path in texts for line in read_lines(path)}
    for reference in (*corpus.dev_reference, *corpus.test_reference):
        lines = read_lines(reference)
        if count := sum(line in known for line in lines):
            log.warning(f"{reference}: the monolingual text has {count} of {len(lines)} lines, which flatters results")


def _check_charted(experiment: Experiment, count: int, path: Path) -> None:
    last = max(experiment.report.sentences, default=0)
    if last > count:
        raise InputError(f"has {count} lines; [report] asks for a chart of line {last}", path)


def _publish(folder: Path, run: Run, name: str) -> None:
    """What a user wants of a system, in a folder of its own; of runs after the first in run2, run3, ... below it."""
    from lscfg.formats.ini import write_ini

    system, path = run.plan.systems[name], run.cache.path
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        if re.fullmatch("run[0-9]+", old.name) and old.is_dir():
            shutil.rmtree(old)
    if not system.members:
        inputs = run.cache.inputs(system.decoder_inputs)
        write_ini(folder / "cdec.ini", decoding.decoder_config(system.decoder, folder, inputs))
    for number, (tuned, decoded) in enumerate(zip(system.tuned, system.decoded, strict=True), 1):
        place = folder if number == 1 else folder / f"run{number}"
        place.mkdir(exist_ok=True)
        if not system.members:
            shutil.copyfile(path(tuned / decoding.WEIGHTS), place / "weights")
            shutil.copyfile(path(tuned / decoding.HISTORY), place / "tuning.json")
        shutil.copyfile(path(decoded / decoding.OUTPUT), place / "test.output")
        if system.restored:
            shutil.copyfile(path(system.restored[number - 1] / text.RESTORED), place / "test.restored")


def _publish_preparation(folder: Path, made: Path) -> None:
    """What new text and translations need: the record and its models, and the list of what was dropped."""
    record = Record.read(made)
    models = [model.path.name for side in record.sides for model in (side.case_model, side.word_model) if model]
    with replaced_folder(folder, RECORD) as place:
        for name in (RECORD, DROPPED, *models):
            shutil.copyfile(made / name, place / name)


def _results(run: Run) -> dict[str, Any]:
    experiment, settings = run.experiment, run.experiment.evaluation
    references = run.lines(*run.plan.texts.test_reference)
    log.info("tests of significance")
    outputs = {name: run.outputs(name) for name in run.plan.systems}
    scores = evaluate(
        outputs,
        references,
        settings.baseline,
        samples=settings.samples,
        trials=settings.trials,
        seed=settings.seed,
        against=list(settings.against),
    )
    rows = [_row(score, run) for score in scores.systems]
    return {
        "baseline": settings.baseline,
        "against": list(settings.against),
        "decoder": experiment.decoder.name,
        "runs": experiment.tuning.runs,
        "signature": scores.signatures["BLEU"],
        "restored_signature": _restored(run, scores.systems[0].name)[0]["signature"]
        if run.plan.texts.prepared
        else None,
        "randomisation trials": settings.trials,
        "test sentences": len(references[0]),
        "derivations": run.json(run.plan.derivations / rules.STATISTICS),
        "systems": rows,
        "sampling": _sampling(run),
    }


def _sampling(run: Run) -> list[dict[str, Any]]:
    """How chains of sampled rules went; those of several systems once, if they are the same."""
    found: list[dict[str, Any]] = []
    for name, system in run.plan.systems.items():
        for stage in (own for grammar in system.grammars for own in (grammar, *grammar.sources)):
            made = stage / rules.FOUND
            if stage.work is not rules.grammar or not run.cache.path(made).exists():
                continue
            history = run.json(made)
            same = next((item for item in found if item == {"systems": item["systems"], **history}), None)
            if same:
                same["systems"].append(name)
            else:
                found.append({"systems": [name], **history})
    return found


def _restored(run: Run, system: str) -> list[dict[str, Any]]:
    """BLEU of the text that each run's output was put back into; none where text was not prepared."""
    return [run.json(stage / text.RESTORED_BLEU) for stage in run.plan.systems[system].restored]


def _row(scores: SystemScore, run: Run) -> dict[str, Any]:
    """One system: means over the runs, sample deviations (null for one run), then the runs."""
    score, name = scores.metrics["BLEU"], scores.name
    stages, system = run.plan.systems[name], run.experiment.systems[name]
    size = run.json(stages.model / rules.SIZE) if stages.model else {"states": None, "effective": None}
    runs, restored = [], [found["bleu"] for found in _restored(run, name)]
    for number, bleu in enumerate(score.runs):
        dev = run.json(stages.tuned[number] / decoding.DEV)
        history = [] if stages.members else run.json(stages.tuned[number] / decoding.HISTORY)["history"]
        runs.append(
            {
                "seed": run.experiment.tuning.seed + number,
                "start_dev_bleu": dev.get("start_bleu"),
                "latent_start": dev.get("latent_start", stages.tuned[number].settings.get("latent start", 0.0)),
                "dev_bleu": dev["bleu"],
                "dev_length_ratio": dev["length_ratio"],
                "tuning_iteration": dev.get("iteration"),
                "dev_bleu_by_iteration": [record["dev_bleu"] for record in history],
                "scale": dev.get("scale"),
                "test_bleu": bleu,
                "restored_bleu": restored[number] if restored else None,
                **run.json(stages.scored[number] / decoding.SCORES),
            }
        )

    def mean(key: str) -> float:
        return statistics.fmean(row[key] for row in runs)

    dev_bleu = [row["dev_bleu"] for row in runs]
    return {
        "system": name,
        "estimator": system.estimator.name if system.estimator else NO_ESTIMATOR,
        "grammar": None if system.agree else system.grammar,
        "agree": list(system.agree),
        "rules": sum(run.json(grammar / rules.SIZE)["rules"] for grammar in stages.grammars),
        "states": size["states"],
        "effective_rules": size["effective"],
        **_expansion(run, name),
        "singular_values": _singular_values(run.cache.path(stages.model / model.MODEL)) if stages.model else None,
        "start_dev_bleu": None if system.agree else mean("start_dev_bleu"),
        "dev_bleu": mean("dev_bleu"),
        "dev_bleu_deviation": statistics.stdev(dev_bleu) if len(runs) > 1 else None,
        "test_bleu": score.score,
        "test_bleu_deviation": score.deviation,
        "test_bleu_mean": score.mean,
        "restored_bleu": statistics.fmean(restored) if restored else None,
        "test_bleu_ci": score.ci,
        "p_value": score.p_randomised,
        "p_bootstrap": score.p_bootstrap,
        "p_against": score.p_against,
        **{f"test_{METRICS[name].TITLE}": mean(METRICS[name].TITLE) for name in further_metrics()},
        "test_precisions": [score.components[f"{n}-gram"] for n in range(1, ORDER + 1)],
        "test_length_ratio": score.components["length"],
        "brevity_penalty": score.components["BP"],
        "runs": runs,
    }


def _expansion(run: Run, name: str) -> dict[str, Any]:
    """Figures of the rules that a system has of monolingual text, and examples of candidates; None if it has none."""
    made = next((stage for stage in run.plan.systems[name].expansion if stage.work is monolingual.propagate), None)
    if made is None:
        return {"expansion": None, "candidates": None}
    return {"expansion": run.json(made / rules.STATISTICS), "candidates": run.json(made / monolingual.EXAMPLES)}


def _singular_values(path: Path) -> list[float] | None:
    """What the spectral estimator left in its model's header."""
    with safe_open(path, "numpy") as file:
        found: list[float] | None = json.loads(file.metadata()["about"]).get("singular values")
    return found


def _report_content(path: Path, run: Run, results: dict[str, Any]) -> Content:
    """What the report shows beside the manifest; of systems tuned several times the first run's translations."""
    plan, texts = run.plan, run.plan.texts
    references = run.lines(*texts.test_reference)
    outputs = {name: run.outputs(name)[0] for name in plan.systems}
    chosen = run.json(plan.sentences / decoding.SENTENCES) if plan.charts or plan.trees else {"charts": [], "trees": []}
    found = {name: run.json(stage / decoding.CHARTS) for name, stage in plan.charts.items()}
    charts = {name: Charts(chart["model"], chart["one state"]) for name, chart in found.items()}
    (sources,), examples = run.lines(texts.test_source), run.experiment.report.examples
    weights = {
        name: [read_weights(run.cache.path(stage / decoding.WEIGHTS)) for stage in system.tuned]
        for name, system in plan.systems.items()
        if not system.members
    }
    seen = {word for text in (*references, *outputs.values()) for line in text for word in line.split()}
    (target,) = run.lines(texts.target)
    training = Counter(word for line in target for word in line.split() if word in seen)
    counts = {word: training[word] for word in sorted(seen)}
    made = {name: run.json(stage / decoding.TREES) for name, stage in plan.trees.items()}
    trees = TreeRecords(
        chosen["trees"],
        {name: found["states"] for name, found in made.items()},
        {name: found["trees"] for name, found in made.items()},
    )
    return Content(
        path.stem, results, sources, references, outputs, chosen["charts"], charts, examples, weights, counts, trees
    )


def _manifest(path: Path, run: Run, jobs: int) -> dict[str, Any]:
    """What made the results: enough to make them again, and what it cost."""
    experiment = run.experiment
    files = [*_files(experiment.corpus), *experiment.language_model.files().values()]
    files += experiment.monolingual.files
    files += experiment.prepare.tokenisation.files().values() if experiment.prepare.tokenisation else []
    for system in experiment.systems.values():
        for chosen in (experiment.context_model(system), experiment.scorer(system)):
            files += chosen.settings.files().values() if chosen else []
        files += [system.grammar_file] if system.grammar_file else []
        files += system.estimator.settings.files().values() if system.estimator else []
        files += system.propagation.files().values() if system.propagation else []
    latent = any(system.estimator for system in experiment.systems.values())
    return {
        "lscfg": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cpus": os.cpu_count(),
        "jobs": jobs,
        "decoder": {name: file_hash(file) for name, file in experiment.decoder.programs(latent).items()},
        "packages": installed_versions(PACKAGES),
        "command": [Path(sys.argv[0]).name, *sys.argv[1:]],
        "experiment": decode_text(read_bytes(path), path),
        "settings": _plain(dataclasses.asdict(experiment)),
        "sha256": {str(file): file_hash(file) for file in files},
        "stages": [
            {**made.record, "folder": made.path.name, "reused": made.reused, "systems": run.plan.users(made.stage)}
            for made in (run.cache.made.get(stage.key) for stage in run.plan.stages())
            if made
        ],
    }


def _files(corpus: Corpus | RawCorpus) -> list[Path]:
    """All files of a corpus."""
    values = [getattr(corpus, item.name) for item in dataclasses.fields(corpus)]
    return [
        path for value in values for path in (value if isinstance(value, list) else [value]) if isinstance(path, Path)
    ]


def _plain(value: Any) -> Any:
    """The value with paths as strings, for JSON."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value


def format_results(results: dict[str, Any], times: dict[str, Times]) -> str:
    """The table that a person reads.

    Args:
        results: what results.json has.
        times: by system.
    """
    tested = [results["baseline"], *results["against"]]
    titles = [METRICS[name].TITLE for name in further_metrics()]
    restored = ["restored BLEU"] if results["restored_signature"] else []
    rows = [["system", "rules", "dev BLEU", "test BLEU", "95 % CI", *restored, *(f"p vs {name}" for name in tested)]]
    rows[0] += [*titles, "length", "training CPU s", "tuning s", "decoding CPU s"]
    for row in results["systems"]:
        rows.append(
            [
                row["system"] + (f" (m = {row['states']})" if row["states"] else ""),
                str(row["rules"]),
                _with_deviation(row["dev_bleu"], row["dev_bleu_deviation"]),
                _with_deviation(row["test_bleu"], row["test_bleu_deviation"]),
                f"± {row['test_bleu_ci']:.2f}",
                *(f"{row['restored_bleu']:.2f}" for _ in restored),
                *("" if p is None else f"{p:.4f}" for p in (row["p_value"], *row["p_against"].values())),
                *(f"{row[f'test_{title}']:.2f}" for title in titles),
                f"{row['test_length_ratio']:.3f}",
                *("" if value is None else f"{value:.0f}" for value in times[row["system"]]),
            ]
        )
    note = f"BLEU: {results['signature']}"
    if restored:
        note += f"; restored: {results['restored_signature']}"
    if results["runs"] > 1:
        note += f"; means of {results['runs']} tunings, standard deviations in parentheses"
    return "\n".join([*align_columns(rows), note])


def _with_deviation(value: float, deviation: float | None) -> str:
    return f"{value:.2f}" + ("" if deviation is None else f" ({deviation:.2f})")
