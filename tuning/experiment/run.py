"""A whole experiment: all stages of all systems, the table, results.json and the manifest."""

from __future__ import annotations

import filecmp
import os
import time
from contextlib import nullcontext, suppress
from itertools import count, takewhile
from pathlib import Path

from lscfg import log
from lscfg.bundle.places import CONFIDENCE, PREPARE, PREPARED, has_preparation
from lscfg.errors import InputError
from lscfg.formats.ini import write_ini
from lscfg.io.folders import make_folder, replaced_files
from lscfg.io.json_files import write_json
from lscfg.io.read import decode_text, file_hash, read_bytes
from lscfg.io.write import atomic_write, copy_file, write_lines
from lscfg.parallel.choose import on_cluster
from lscfg.prepare.files import RECORD
from lscfg.prepare.replaced import check_replaced_preparation, replaced_preparation
from lscfg.tuning.experiment.cache import RECORD as STAGE_RECORD
from lscfg.tuning.experiment.cache import StageCache, locked
from lscfg.tuning.experiment.checks import OF_RUN, PUBLISHED, check_corpus, check_folder
from lscfg.tuning.experiment.config import Overrides, read_experiment
from lscfg.tuning.experiment.making import make_stages
from lscfg.tuning.experiment.manifest import manifest_of, report_content
from lscfg.tuning.experiment.plan import format_plan, make_plan
from lscfg.tuning.experiment.progress import Progress, duration, durations
from lscfg.tuning.experiment.results import collect_results, format_results
from lscfg.tuning.experiment.stage import check_unchanged, files_in, with_files
from lscfg.tuning.experiment.stages.decoding import HISTORY, OUTPUT, WEIGHTS, decoder_config
from lscfg.tuning.experiment.stages.text import RESTORED
from lscfg.tuning.experiment.state import Run
from lscfg.tuning.experiment.system import Experiment
from lscfg.tuning.experiment.translating import best_system, translation_command
from lscfg.tuning.report.content import headline
from lscfg.tuning.report.page import render
from lscfg.tuning.report.verdict import verdict
from lscfg.tuning.report.warnings import result_warnings


def run_experiment(
    path: str | os.PathLike[str],
    output: str | os.PathLike[str],
    jobs: int,
    overrides: Overrides | None = None,
    cluster: str | None = None,
    held: bool = False,
) -> str:
    """Runs the experiment of a TOML file and returns a summary: a table, the result in a line, the verdict, paths.

    Finished stages of an earlier run in the same folder are used again. The run writes ``results.json``, with equal
    bytes for equal inputs; ``manifest.json``; ``report.html``; ``systems/NAME``: configuration, weights, translations.

    Args:
        jobs: threads or processes of a stage; on a cluster, a stage uses those of its worker.
        cluster: see ``lscfg.parallel.choose.on_cluster``; the workers must see the same files.
        held: the caller holds the lock on the folder; see ``lscfg.tuning.experiment.cache.locked``.

    Raises:
        InputError: the experiment file, the overrides or a named file is faulty, a file changed during the run, or the
            decoder is not installed.
        LscfgError: a stage failed; finished stages are kept.
    """
    if jobs < 1:
        raise InputError(f"jobs must be 1 or more, not {jobs}")
    began = time.monotonic()
    experiment, text = _checked(path, overrides), decode_text(read_bytes(path), path)
    folder = Path(output)
    with nullcontext() if held else locked(folder):
        check_folder(folder, experiment)
        run = Run(experiment, make_plan(experiment, _has_curve(overrides)), StageCache(folder / "cache"))
        if run.plan.texts.prepared:
            check_replaced_preparation(folder / PREPARE)
        progress = Progress(run.plan, durations(folder / "manifest.json"))
        with on_cluster(cluster) as place:
            make_stages(run, jobs, progress, place)
        for name in run.plan.systems:
            _publish(folder / "systems" / name, run, name)
        if run.plan.texts.prepared:
            _publish_preparation(folder, run)
        else:
            _remove_preparation(folder / PREPARE, run)
        results = collect_results(run)
        content = report_content(Path(path), run, results)
        check_unchanged(run.plan.hashes)  # results and report read the texts, too
        write_json(folder / "results.json", results)
        manifest = manifest_of(text, run, jobs)
        write_json(folder / "manifest.json", manifest)
        with atomic_write(folder / "report.html") as file:
            file.write(render(content, manifest))
    for warning in result_warnings(content):
        log.finding(warning)
    table = format_results(results, {name: run.times(name) for name in run.plan.systems})
    log.info(f"finished in {duration(time.monotonic() - began)}")
    places = [("report", str(folder / "report.html")), ("results", str(folder / "results.json"))]
    if best := best_system(results, experiment):
        places.append(("translate", translation_command(folder, best, run.plan.texts.prepared is not None)))
    return "\n".join(
        [table, "", headline(results), *verdict(content), *(f"{name + ':':<10} {it}" for name, it in places)]
    )


def show_plan(path: str | os.PathLike[str], output: str | os.PathLike[str], overrides: Overrides | None = None) -> str:
    """Formats the stages of an experiment as a table with their status; makes none.

    Raises:
        InputError: see ``run_experiment``.
    """
    cache = StageCache(Path(output) / "cache")
    plan = make_plan(_checked(path, overrides), _has_curve(overrides))
    return format_plan(plan, lambda stage: cache.found(stage) is not None)


def all_finished(
    path: str | os.PathLike[str], output: str | os.PathLike[str], overrides: Overrides | None = None
) -> bool:
    """True if every stage of an experiment is finished.

    Raises:
        InputError: see ``run_experiment``.
    """
    cache = StageCache(Path(output) / "cache")
    plan = make_plan(_checked(path, overrides), _has_curve(overrides))
    return all(cache.found(stage) for stage in plan.stages())


def _has_curve(overrides: Overrides | None) -> bool:
    return overrides is not None and overrides.learning_curve


def _checked(path: str | os.PathLike[str], overrides: Overrides | None) -> Experiment:
    experiment = read_experiment(path, overrides)
    experiment.check_decoder()
    check_corpus(experiment)
    return experiment


def _publish(folder: Path, run: Run, name: str) -> None:
    """Copies the files of a system that users want; those of further runs go to the subfolders run2, run3, ...

    The files of an earlier run, whose system may be of another kind, stay until all new files are written.
    """
    system, path = run.plan.systems[name], run.cache.path
    own = [file for file in PUBLISHED if file != PREPARED or not run.plan.texts.prepared]
    runs = takewhile(lambda one: (folder / one).is_dir(), (f"run{number}" for number in count(2)))
    with replaced_files(make_folder(folder), [*own, *(f"{one}/{file}" for one in runs for file in OF_RUN)]) as new:
        if system.decoder:
            files = with_files(system.files, run.cache.resolved)
            write_ini(new / "cdec.ini", decoder_config(system.decoder, folder, files))
        made = run.plan.confidence.get(name)
        if made and path(made / CONFIDENCE).is_file():
            copy_file(path(made / CONFIDENCE), new / CONFIDENCE)
        for number, (tuned, decoded) in enumerate(zip(system.tuned, system.decoded, strict=True), 1):
            place = new if number == 1 else make_folder(new / f"run{number}")
            if system.decoder:
                copy_file(path(tuned / WEIGHTS), place / "weights")
                copy_file(path(tuned / HISTORY), place / "tuning.json")
            copy_file(path(decoded / OUTPUT), place / "test.output")
            if system.restored:
                copy_file(path(system.restored[number - 1] / RESTORED), place / "test.restored")


def _publish_preparation(folder: Path, run: Run) -> None:
    """Copies the words of all sets, the list of dropped pairs, and the record with the models that new text needs."""
    assert run.plan.texts.prepared is not None
    with replaced_preparation(folder / PREPARE) as place:
        for file in run.cache.path(run.plan.texts.prepared).iterdir():
            if file.name != STAGE_RECORD:
                copy_file(file, place / file.name)
    record = file_hash(folder / PREPARE / RECORD)
    for name in run.plan.systems:
        write_lines(folder / "systems" / name / PREPARED, [record])
    others = [one.name for one in sorted((folder / "systems").iterdir()) if not has_preparation(one, folder / PREPARE)]
    if others:
        log.warning(f"{folder}: systems of earlier runs that were made with another text: {', '.join(others)}")


def _remove_preparation(folder: Path, run: Run) -> None:
    """Removes the preparation of an earlier run, which decoders would apply to new text; unless the run reads it."""
    record = folder / RECORD
    texts = (file.resolve() for file in files_in(run.experiment) if isinstance(file, Path))
    if not record.is_file() or any(folder.resolve() in text.parents for text in texts):
        return
    copied = [made for made in run.cache.folder.glob(f"*/{RECORD}") if filecmp.cmp(made, record, shallow=False)]
    if not copied:
        log.warning(f"{folder}: prepares new text, but not the text of this run; if that is wrong, remove the folder")
        return
    for file in copied[0].parent.iterdir():
        (folder / file.name).unlink(missing_ok=True)
    with suppress(OSError):  # with files of somebody else, the folder stays
        folder.rmdir()
