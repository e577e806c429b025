"""Work on the stages of a plan: one after the other, several at a time, or on a cluster."""

from __future__ import annotations

import dataclasses
import os
import queue
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from lscfg import log
from lscfg.errors import LscfgError, WorkerError
from lscfg.parallel.address import ClusterAddress
from lscfg.parallel.choose import on_workers
from lscfg.parallel.jobs import Children, Job, work_in_child
from lscfg.parallel.order import as_needed
from lscfg.tuning.experiment.cache import StageResult, make_apart, reworded
from lscfg.tuning.experiment.progress import Progress, duration
from lscfg.tuning.experiment.stage import Stage
from lscfg.tuning.experiment.state import Run

MOST_AT_ONCE = 4
"""Largest number of stages at the same time."""

STAGE_MEMORY = 4 << 30
"""Bytes of memory for each of these stages: each tuning holds a grammar, forests and parameters."""


def make_stages(run: Run, jobs: int, progress: Progress, address: ClusterAddress | None) -> None:
    """Makes the missing stages, and logs each one.

    Args:
        jobs: threads, or processes.
        address: cluster whose workers make the stages; None: this machine makes them.

    Raises:
        LscfgError: a stage failed; finished stages are kept.
    """
    stages = run.plan.stages()
    found = {stage: made for stage in stages if (made := run.cache.found(stage))}
    for stage, made in found.items():
        progress.finish(stage, made.record["seconds"])
    if found:
        log.info(f"{len(found)} of {len(stages)} stages are already finished")
    left = [stage for stage in stages if stage not in found]
    if address is not None:
        _make_on(address, run, left, progress)
        return
    together = jobs > 1 and run.experiment.decoder.host.SHARES
    before, parallel, after = _parts(left) if together else (left, [], [])
    for stage in before:
        _make(run, stage, jobs, progress)
    _make_at_once(run, parallel, jobs, progress)
    for stage in after:
        _make(run, stage, jobs, progress)


def _parts(stages: list[Stage]) -> tuple[list[Stage], list[Stage], list[Stage]]:
    """Separates stages that can run at the same time (estimates, tunings, translations) from those before and after."""
    parts: tuple[list[Stage], list[Stage], list[Stage]] = ([], [], [])
    part_of: dict[str, int] = {}
    for stage in stages:  # each after the stages whose files it reads
        latest = max((part_of.get(source.key, 0) for source in stage.sources), default=0)
        part = part_of[stage.key] = max(latest, 1) if stage.growth else 2 * (latest > 0)
        parts[part].append(stage)
    return parts


def _make_at_once(run: Run, stages: list[Stage], jobs: int, progress: Progress) -> None:
    """Makes stages in separate processes that share the threads; a single stage would leave most threads idle."""

    def size(stage: Stage) -> int:
        """Bytes of the input files that exist already, a measure of the time that the stage takes."""
        paths = map(run.cache.resolved, stage.files)
        return sum(path.stat().st_size for path in paths if path.exists())

    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    at_once = min(jobs, MOST_AT_ONCE, memory // STAGE_MEMORY, len(stages))
    missing = {stage.key: stage for stage in stages}

    def needs(stage: Stage) -> set[str]:
        return {source.key for source in stage.sources} & missing.keys()

    alone = [
        stage
        for stage in stages
        if at_once < 2 or (not needs(stage) and (stage.growth or 0) * size(stage) > STAGE_MEMORY)
    ]
    for stage in alone:
        _make(run, stage, jobs, progress)
        del missing[stage.key]
    if not missing:
        return
    # First the stage that most others wait for, among equals the largest, so that no long stage runs alone at the end.
    waiting = dict.fromkeys(missing, 0)
    for stage in reversed(stages):
        for key in needs(stage) if stage.key in missing else ():
            waiting[key] = max(waiting[key], waiting[stage.key] + 1)
    first = sorted(missing.values(), key=lambda stage: (waiting[stage.key], size(stage)), reverse=True)
    progress.at_once = at_once
    children, done = Children(), set[str]()

    def threads(stage: Stage) -> int:
        """The threads of a stage: all of them unless another stage that others wait for can begin."""
        others = [one for one in first if one is not stage and one.key not in done and needs(one) <= done]
        return jobs // min(at_once, 1 + sum(waiting[one.key] > 0 for one in others))

    def make(stage: Stage) -> dict[str, object]:
        title = progress.title(stage)
        log.info(title)
        job = Job(make_apart, run.cache.order(stage), display=log.current_display(f"{title.split('/')[0]}: "))
        with _naming_systems(run, stage):
            record: dict[str, object] = children.run(job, threads(stage))
        return record

    for stage, record in as_needed({stage.key: stage for stage in first}, needs, make, at_once, children.close):
        _log_time(progress, stage, run.cache.adopt(stage, record))
        done.add(stage.key)


def _make_on(address: ClusterAddress, run: Run, stages: list[Stage], progress: Progress) -> None:
    """Makes each stage on some worker of the cluster, as soon as its input files exist.

    Tunings and translations run at the same time. If each can have two workers or more, it shares its sentences among
    them.
    """
    missing = {stage.key for stage in stages}
    shared = run.experiment.decoder.host.SHARES
    sharing = Counter(stage.name for stage in stages if stage.shares and shared)
    parts = max(sharing.values(), default=1)
    free: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in range(parts):
        free.put(number)

    @contextmanager
    def part(stage: Stage) -> Iterator[ClusterAddress | None]:
        if stage.name not in sharing or engine.processes < 2 * parts:
            yield None
            return
        number = free.get()
        try:
            yield dataclasses.replace(address, part=(number, parts))
        finally:
            free.put(number)

    def make(stage: Stage) -> dict[str, object]:
        log.info(progress.title(stage))
        with _naming_systems(run, stage), part(stage) as own:
            (record,) = engine.map(work_in_child, [Job(make_apart, run.cache.order(stage), own)])
        result: dict[str, object] = record
        return result

    def needs(stage: Stage) -> set[str]:
        return {source.key for source in stage.sources} & missing

    with on_workers(address, batch=1) as engine:
        made = as_needed({stage.key: stage for stage in stages}, needs, make, engine.processes, engine.close)
        for stage, record in made:
            _log_time(progress, stage, run.cache.adopt(stage, record))


def _log_time(progress: Progress, stage: Stage, made: StageResult) -> None:
    """Logs the time that a stage took, and an estimate for the rest."""
    seconds = made.record["seconds"]
    progress.finish(stage, seconds)
    left = progress.left()
    log.info(f"{progress.title(stage)}: {duration(seconds)}" + (f"; {left}" if left else ""))


def _make(run: Run, stage: Stage, jobs: int, progress: Progress) -> None:
    log.info(progress.title(stage))
    with _naming_systems(run, stage):
        made = run.cache.make(stage, jobs)
    _log_time(progress, stage, made)


@contextmanager
def _naming_systems(run: Run, stage: Stage) -> Iterator[None]:
    """Adds the systems that a stage is made for to its errors."""
    try:
        yield
    except LscfgError as error:
        users = ", ".join(run.plan.users(stage))
        said = f"stage {stage.name}: {error.reason}" if isinstance(error, WorkerError) else str(error)
        raise reworded(error, f"system {users}: {said}" if users else said) from error
