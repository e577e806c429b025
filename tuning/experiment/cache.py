"""Stages of a run: each in a folder named by the hash of its inputs, made in a process of its own, measured."""

from __future__ import annotations

import fcntl
import json
import math
import os
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

from lscfg import log
from lscfg.errors import InputError, LscfgError
from lscfg.io.text import atomic_write, file_hash, remove_temporaries
from lscfg.parallel.worker import defer_interruption, end_with
from lscfg.tuning.experiment.stage import Input, Output, Stage

_locks: set[IO[str]] = set()
"""Files of the locks that this process holds."""

RECORD = "stage.json"
"""Marks a finished stage; holds its name, key, settings, inputs, wall and CPU seconds, peak memory, and the sizes and
hashes of its outputs. It is the last file that a stage gets, so files that are older need not be hashed to be known."""


@dataclass(frozen=True)
class Costs:
    """What a stage took of the machine that made it.

    Attributes:
        seconds: wall time; peak_mib: memory of its largest process.
        cpu_seconds: of all its processes; none for stages that an older lscfg made.
    """

    seconds: float
    peak_mib: float
    cpu_seconds: float | None


@dataclass(frozen=True)
class StageResult:
    """A finished stage."""

    stage: Stage
    path: Path
    """Its folder."""
    record: dict[str, Any]
    reused: bool
    """Whether an earlier run made it."""


class StageCache:
    """Finished stages below one folder; a stage whose key is there is not made again."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.made: dict[str, StageResult] = {}
        self._missing: set[str] = set()

    def path(self, part: Stage | Output) -> Path:
        """The folder of a stage, or a file that it makes."""
        if isinstance(part, Output):
            return self.path(part.stage) / part.name
        return self.folder / part.folder

    def found(self, stage: Stage) -> StageResult | None:
        """The stage if it is finished, and its files are as it left them; what is damaged is named in the log."""
        if stage.key not in self.made and stage.key not in self._missing:
            try:
                self.made[stage.key] = StageResult(stage, self.path(stage), self._record(stage), reused=True)
            except _DamageError as damage:
                if str(damage):
                    log.info(f"stage {stage.name}{damage}")
                self._missing.add(stage.key)
        return self.made.get(stage.key)

    def make(self, stage: Stage, jobs: int) -> StageResult:
        """Makes the stage, unless it is there, from inputs that are.

        An unfinished folder is handed to the work as it was left, so that a stage with checkpoints can go on; other
        stages write their files anew. So is a finished stage made anew, from nothing, whose files were changed.

        Raises:
            LscfgError: what the work raised.
        """
        if not (made := self.found(stage)):
            made = self.made[stage.key] = StageResult(stage, self.path(stage), self._make(stage, jobs), reused=False)
        return made

    def order(self, stage: Stage) -> tuple[Path, Stage]:
        """What ``make_apart`` needs, with files that are found from any working directory."""
        return self.folder.absolute(), stage.with_files(
            lambda file: file if isinstance(file, Output) else file.absolute()
        )

    def adopt(self, stage: Stage, record: dict[str, Any]) -> StageResult:
        """Notes a stage that ``make_apart`` made in this folder."""
        self.made[stage.key] = made = StageResult(stage, self.path(stage), record, reused=False)
        return made

    def resolved(self, file: Input) -> Path:
        """The path of an input."""
        return self.path(file) if isinstance(file, Output) else file

    def _make(self, stage: Stage, jobs: int) -> dict[str, Any]:
        done = self.path(stage)
        unfinished = done.with_name(done.name + ".unfinished")
        if not unfinished.is_dir():
            _remove(unfinished)
        unfinished.mkdir(parents=True, exist_ok=True)
        resumed = any(unfinished.iterdir())
        try:
            own = stage.with_files(self.resolved)
            costs = measured(partial(stage.work, unfinished, own.settings, own.inputs, jobs))
        except LscfgError as error:
            if resumed and str(unfinished) in str(error):
                cure = f"if what an earlier run left is damaged, remove the folder {unfinished} and run again"
                raise LscfgError(f"{error}; {cure}") from error
            raise
        remove_temporaries(unfinished)  # of another worker, which was killed at this stage
        record = _record_of(stage, costs, _outputs(unfinished, stage))
        with atomic_write(unfinished / RECORD) as file:
            json.dump(record, file, indent=1, sort_keys=True, ensure_ascii=False)
            file.write("\n")
        _remove(done)
        unfinished.rename(done)
        return record

    def _record(self, stage: Stage) -> dict[str, Any]:
        """The record of a finished stage.

        Raises:
            _DamageError: there is none, or the files are not those that the stage made.
        """
        folder = self.path(stage)
        if not os.path.lexists(folder):
            raise _DamageError
        try:
            found = json.loads((folder / RECORD).read_text(encoding="utf-8"))
            spent = found.get("cpu_seconds")
            costs = Costs(float(found["seconds"]), float(found["peak_mib"]), None if spent is None else float(spent))
            if found["key"] != stage.key or not math.isfinite(
                costs.seconds + costs.peak_mib + (costs.cpu_seconds or 0)
            ):
                raise ValueError
            outputs = found["outputs"]
            expected = {name: (int(facts["size"]), str(facts["sha256"])) for name, facts in outputs.items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
            raise _DamageError(f" is made anew: {folder / RECORD} is missing, damaged or of an older lscfg") from None
        for name, (size, digest) in expected.items():
            if fault := _fault(folder / name, size, digest, folder / RECORD):
                raise _DamageError(f" is made anew: {folder / name} {fault}")
        return _record_of(stage, costs, outputs)


def make_apart(order: tuple[Path, Stage], jobs: int) -> dict[str, Any]:
    """Makes a stage on another machine, perhaps; its record.

    A worker that was taken for dead may still be at the same stage. It is waited for, and what it made is taken.
    """
    folder, stage = order
    locks = folder / "locks"
    locks.mkdir(parents=True, exist_ok=True)
    with open(locks / stage.folder, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _locks.add(lock)
        try:
            return StageCache(folder).make(stage, jobs).record
        finally:
            _locks.remove(lock)


class _DamageError(Exception):
    """A stage is not there as it was made; the message ends the log line that begins with its name."""


def _record_of(stage: Stage, costs: Costs, outputs: dict[str, Any]) -> dict[str, Any]:
    """What a finished stage's folder says of it."""
    return {**stage.dependencies, "name": stage.name, "key": stage.key, **asdict(costs), "outputs": outputs}


def _outputs(folder: Path, stage: Stage) -> dict[str, Any]:
    """Size and hash of each file below the folder that another stage, or a user, may read."""
    spare: tuple[str, ...] = getattr(stage.work, "spare", ())
    return {
        str(path.relative_to(folder)): {"size": path.stat().st_size, "sha256": file_hash(path)}
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != RECORD and not any(map(path.match, spare))
    }


def _fault(path: Path, size: int, digest: str, record: Path) -> str:
    """What is wrong with an output, if anything."""
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
    """Removes whatever is there, folder or file."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keeps a second run out of the folder, and removes what a killed one was writing anywhere in it.

    Raises:
        InputError: another process is at work there, or the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = open(folder / ".lock", "w")  # noqa: SIM115 (closed below)
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror or error}", error.filename or folder) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError("another run is at work in this folder; wait for it or give another -o", folder) from None
        _locks.add(file)
        try:
            remove_temporaries(folder)
            yield
        finally:
            _locks.remove(file)


def measured(work: Callable[[], None]) -> Costs:
    """Does the work in a child process; what that and the processes it started took.

    A process of its own gives each stage its own peak, and memory back to the next one.

    Raises:
        LscfgError: what the work raised.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    reading, writing = os.pipe()
    start = time.monotonic()
    let_in = defer_interruption()
    parent, child = os.getpid(), os.fork()
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
            message = pipe.read().decode("utf-8")
        except KeyboardInterrupt:  # the stage has to tidy up before the end of this process is its own
            os.kill(child, signal.SIGINT)
            os.waitpid(child, 0)
            raise
    _, status, usage = os.wait4(child, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        if message:
            raise LscfgError(message)
        raise LscfgError(f"a stage's process ended with status {os.waitstatus_to_exitcode(status)}")
    peak = usage.ru_maxrss / (1024 * 1024 if sys.platform == "darwin" else 1024)  # bytes on macOS, KiB elsewhere
    spent = usage.ru_utime + usage.ru_stime
    return Costs(round(time.monotonic() - start, 3), round(peak, 1), round(spent, 3))


def _in_child(work: Callable[[], None], pipe: int, let_in: Callable[[], None]) -> int:
    try:
        let_in()
        work()
        return 0
    except (LscfgError, OSError) as error:  # a full disk, for one
        os.write(pipe, str(error).encode("utf-8"))
    except KeyboardInterrupt:
        os.write(pipe, b"interrupted")
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 1
