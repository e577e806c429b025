"""Cache of finished stages: each in a folder named by its key, made and measured in a separate process."""

from __future__ import annotations

import fcntl
import json
import os
import resource
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, NotRequired, TypedDict

from lscfg import log
from lscfg.cli import FAULT, FaultError, explain
from lscfg.errors import InputError, LscfgError, exit_reason
from lscfg.io.folders import lock_file, remove_temporaries
from lscfg.io.json_files import COUNT, check_shape, read_json
from lscfg.io.read import file_hash
from lscfg.io.write import atomic_write
from lscfg.parallel.jobs import GRACE_SECONDS
from lscfg.parallel.signals import defer_signals, ignore_second_interruption
from lscfg.parallel.worker import end_with
from lscfg.tuning.experiment.stage import Input, Output, Stage, check_unchanged

_RSS_UNITS = 1024 * 1024 if sys.platform == "darwin" else 1024
"""Units of ``ru_maxrss`` in a MiB: bytes on macOS, KiB elsewhere."""

_locks: set[IO[str]] = set()
"""Lock files that this process holds."""

RECORD = "stage.json"
"""Marks a finished stage; holds its name, key, settings, inputs, wall and CPU seconds, peak memory, and the sizes and
hashes of its outputs. The record is the last file of a stage, so older files need not be hashed again."""


@dataclass(frozen=True)
class Costs:
    """Costs of a stage on the machine that made it."""

    seconds: float
    """Wall time."""
    peak_mib: float
    """Memory of the largest process."""
    cpu_seconds: float | None
    """CPU time of all processes; None for stages of an older lscfg."""


class OutputFacts(TypedDict):
    """An output of a stage."""

    size: COUNT
    sha256: str


class StageFacts(TypedDict):
    """Shape of ``stage.json``, next to the stage's name and dependencies, which its key contains."""

    key: str
    seconds: float
    peak_mib: float
    cpu_seconds: NotRequired[float | None]
    outputs: dict[str, OutputFacts]


@dataclass(frozen=True)
class StageResult:
    """A finished stage."""

    stage: Stage
    path: Path
    """Its folder."""
    record: dict[str, Any]
    reused: bool
    """True if an earlier run made the stage."""


class StageCache:
    """Finished stages below one folder; a stage is made once for each key.

    Args:
        apart: make each stage in a separate process. A library, whose caller may have threads, does not fork.
    """

    def __init__(self, folder: Path, apart: bool = True):
        self.folder, self._apart = folder, apart
        self.made: dict[str, StageResult] = {}
        self._missing: set[str] = set()

    def path(self, part: Stage | Output) -> Path:
        """Path of a stage's folder, or of a file in it."""
        if isinstance(part, Output):
            return self.path(part.stage) / part.name
        return self.folder / part.folder

    def found(self, stage: Stage) -> StageResult | None:
        """Finds a finished stage whose files are unchanged; damage is logged."""
        if stage.key not in self.made and stage.key not in self._missing:
            try:
                self.made[stage.key] = StageResult(stage, self.path(stage), self._record(stage), reused=True)
            except _DamageError as damage:
                if str(damage):
                    log.info(f"stage {stage.name}{damage}")
                self._missing.add(stage.key)
        return self.made.get(stage.key)

    def make(self, stage: Stage, jobs: int) -> StageResult:
        """Makes a stage, unless it is finished; its inputs must exist.

        The work gets an unfinished folder as it is, so that a stage with checkpoints can go on; other stages write
        their files again. A finished stage with changed files is made again from scratch. If another process is at work
        on the stage, such as the worker of an interrupted run, this one waits and takes the result.

        Raises:
            InputError: a file has changed since the key was made.
            LscfgError: the work failed.
        """
        if made := self.found(stage):
            return made
        with self._locked(stage):
            with suppress(_DamageError):
                return self.adopt(stage, self._record(stage), reused=True)
            return self.adopt(stage, self._make(stage, jobs))

    def order(self, stage: Stage) -> tuple[Path, Stage]:
        """The argument of ``make_apart``, with absolute paths.

        Raises:
            InputError: a file has changed since the key was made, so the other process would make another stage.
        """
        check_unchanged(stage.hashes)
        return self.folder.absolute(), stage.with_files(
            lambda file: file if isinstance(file, Output) else file.absolute()
        )

    def adopt(self, stage: Stage, record: dict[str, Any], reused: bool = False) -> StageResult:
        """Adds a stage that lies finished in this folder."""
        self.made[stage.key] = made = StageResult(stage, self.path(stage), record, reused)
        return made

    def resolved(self, file: Input) -> Path:
        """Path of an input."""
        return self.path(file) if isinstance(file, Output) else file

    @contextmanager
    def _locked(self, stage: Stage) -> Iterator[None]:
        """Keeps other processes out of the folder of a stage."""
        path = self.folder / "locks" / stage.folder
        with _open_lock(path) as lock:
            if not lock_file(lock, path, wait=False, warn=False):
                log.info(f"stage {stage.name} waits for another process that is at work on it")
                lock_file(lock, path, warn=False)
            with _held(lock):
                yield

    def _make(self, stage: Stage, jobs: int) -> dict[str, object]:
        check_unchanged(stage.hashes)
        done = self.path(stage)
        unfinished = done.with_name(done.name + ".unfinished")
        if not unfinished.is_dir():
            _remove(unfinished)
        unfinished.mkdir(parents=True, exist_ok=True)
        resumed = any(unfinished.iterdir())
        try:
            own = stage.with_files(self.resolved)
            work = partial(stage.work, unfinished, own.settings, own.inputs, jobs)
            with log.inside_step():
                costs = measured(work) if self._apart else _measured_here(work)
        except LscfgError as error:
            if resumed and str(unfinished) in str(error):
                cure = f"if an earlier run left damaged files, remove the folder {unfinished} and run again"
                raise reworded(error, f"{error}; {cure}") from error
            raise
        try:
            check_unchanged(stage.hashes)
        except InputError:
            _remove(unfinished)  # no later run may go on from here
            raise
        remove_temporaries(unfinished)  # of another worker, which was killed at this stage
        record = _record_of(stage, costs, _outputs(unfinished, stage))
        with atomic_write(unfinished / RECORD) as file:
            json.dump(record, file, indent=1, sort_keys=True, ensure_ascii=False)
            file.write("\n")
        _remove(done)
        unfinished.rename(done)
        return record

    def _record(self, stage: Stage) -> dict[str, object]:
        """The record of a finished stage.

        Raises:
            _DamageError: there is none, or the files are not those that the stage made.
        """
        folder = self.path(stage)
        if not os.path.lexists(folder):
            raise _DamageError
        try:
            found = read_json(folder / RECORD, dict[str, Any])
            own = {name: found.get(name) for name in StageFacts.__annotations__ if name in found}
            check_shape(own, StageFacts)
            if found["key"] != stage.key:
                raise ValueError
            costs = Costs(found["seconds"], found["peak_mib"], found.get("cpu_seconds"))
            outputs = found["outputs"]
            expected = {name: (facts["size"], facts["sha256"]) for name, facts in outputs.items()}
        except ValueError:
            raise _DamageError(f" is made again: {folder / RECORD} is missing, damaged or of an older lscfg") from None
        for name, (size, digest) in expected.items():
            if fault := _fault(folder / name, size, digest, folder / RECORD):
                raise _DamageError(f" is made again: {folder / name} {fault}")
        return _record_of(stage, costs, outputs)


def make_apart(order: tuple[Path, Stage], jobs: int) -> dict[str, object]:
    """Makes a stage, perhaps on another machine, and returns its record."""
    folder, stage = order
    return StageCache(folder).make(stage, jobs).record


def reworded(error: LscfgError, text: str) -> LscfgError:
    """An error with another text; a fault of lscfg remains one."""
    return FaultError(text) if isinstance(error, FaultError) else LscfgError(text)


class _DamageError(Exception):
    """A stage is missing or damaged; the message continues a log line that begins with the name of the stage."""


def _record_of(stage: Stage, costs: Costs, outputs: dict[str, object]) -> dict[str, object]:
    """The record in the folder of a finished stage."""
    return {**stage.dependencies, "name": stage.name, "key": stage.key, **asdict(costs), "outputs": outputs}


def _outputs(folder: Path, stage: Stage) -> dict[str, object]:
    """Size and hash of each file that another stage, or a user, may read."""
    spare: tuple[str, ...] = getattr(stage.work, "spare", ())
    return {
        str(path.relative_to(folder)): {"size": path.stat().st_size, "sha256": file_hash(path)}
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != RECORD and not any(map(path.match, spare))
    }


def _fault(path: Path, size: int, digest: str, record: Path) -> str:
    """Describes a fault of an output; empty if the output is unchanged."""
    try:
        if not path.is_file():
            return "is missing"
        if path.stat().st_size != size:
            return "has another size"
        if path.stat().st_mtime_ns >= record.stat().st_mtime_ns and file_hash(path) != digest:
            return "has another content"
    except (OSError, InputError):
        return "cannot be read"
    return ""


def _remove(path: Path) -> None:
    """Removes a folder or file, if it exists."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keeps a second run out of the folder, and removes temporary files of a killed run.

    Raises:
        InputError: another process is at work in the folder, or the folder cannot be written.
    """
    with _open_lock(folder / ".lock") as file:
        if not lock_file(file, folder, wait=False):
            message = "another run is at work in this folder; wait for it, or name another folder with -o"
            raise InputError(message, folder)
        with _held(file):
            remove_temporaries(folder)
            yield


def _open_lock(path: Path) -> IO[str]:
    """Opens a file to be locked, and makes its folder.

    Raises:
        InputError: the file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return open(path, "w")
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror or error}", error.filename or path) from error


@contextmanager
def _held(lock: IO[str]) -> Iterator[None]:
    """Hides a lock from the processes of stages, and releases it at the end of the block."""
    _locks.add(lock)
    try:
        yield
    finally:
        _locks.remove(lock)
        with suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_UN)  # another process that was forked meanwhile may have the file open


def measured(work: Callable[[], None]) -> Costs:
    """Does the work in a child process, and measures the child with all processes that it starts.

    A separate process gives each stage its own peak memory, and frees the memory for the next stage.

    Raises:
        LscfgError: the work failed.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    reading, writing = os.pipe()
    start = time.monotonic()
    let_in, parent = defer_signals(), os.getpid()
    try:
        child = os.fork()
    except OSError:
        os.close(reading)
        os.close(writing)
        let_in()
        raise
    if child == 0:
        os.close(reading)
        for lock in _locks:  # held by the parent alone: once it is killed, another run may begin
            lock.close()
        end_with(parent)
        try:
            os._exit(_in_child(work, writing, let_in))
        finally:  # a second interruption must not lead back into the parent's code
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        try:
            let_in()
            reason = pipe.read().decode("utf-8", "surrogatepass")
        except BaseException as end:  # the stage must tidy up before this process ends
            os.kill(child, signal.SIGINT if isinstance(end, KeyboardInterrupt) else signal.SIGTERM)
            _wait(child)
            raise
    _, status, usage = os.wait4(child, 0)
    if (code := os.waitstatus_to_exitcode(status)) != 0:
        if not reason:
            raise LscfgError(f"a stage's process ended with {exit_reason(code)}")
        raise FaultError(reason) if code == FAULT else LscfgError(reason)
    peak = usage.ru_maxrss / _RSS_UNITS
    spent = usage.ru_utime + usage.ru_stime
    return Costs(round(time.monotonic() - start, 3), round(peak, 1), round(spent, 3))


def _wait(child: int) -> None:
    """Waits for the end of a process that was asked to end, and ends it by force after ``GRACE_SECONDS``."""
    begin = time.monotonic()
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() > begin + GRACE_SECONDS:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.01)


def _measured_here(work: Callable[[], None]) -> Costs:
    """Does the work in this process, whose peak memory may be older than the work."""
    start, spent = time.monotonic(), time.process_time()
    work()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _RSS_UNITS
    return Costs(round(time.monotonic() - start, 3), round(peak, 1), round(time.process_time() - spent, 3))


def _in_child(work: Callable[[], None], pipe: int, let_in: Callable[[], None]) -> int:
    """The exit status of a stage's process, which writes the reason of a failure to the pipe."""
    try:
        let_in()
        ignore_second_interruption()
        work()
        return 0
    except Exception as error:
        reason, status = explain(error, "a file of the stage")
        _send(pipe, reason)
        return status
    except KeyboardInterrupt:
        _send(pipe, "interrupted")
    except SystemExit as end:  # by a signal
        _send(pipe, "ended by a signal")
        return int(end.code or 0)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 1


def _send(pipe: int, reason: str) -> None:
    os.write(pipe, reason.encode("utf-8", "surrogatepass"))
