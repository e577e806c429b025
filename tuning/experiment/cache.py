"""Stages of a run: each in a folder named by the hash of its inputs, made in a process of its own, measured."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

from lscfg.errors import InputError, LscfgError
from lscfg.io.text import atomic_write, remove_temporaries
from lscfg.parallel.worker import end_with
from tuning.experiment.plan import Input, Output, Stage

_locks: set[IO[str]] = set()
"""Files of the locks that this process holds."""

RECORD = "stage.json"
"""Marks a finished stage; holds its name, key, settings, inputs, wall seconds and peak memory."""


@dataclass(frozen=True)
class Made:
    """A finished stage: its folder and record, and whether it was there before."""

    stage: Stage
    path: Path
    record: dict[str, Any]
    reused: bool


class StageCache:
    """Finished stages below one folder; a stage whose key is there is not made again."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.made: dict[str, Made] = {}

    def path(self, part: Stage | Output) -> Path:
        """The folder of a stage, or a file that it makes."""
        if isinstance(part, Output):
            return self.path(part.stage) / part.name
        return self.folder / part.folder

    def is_made(self, stage: Stage) -> bool:
        """Whether the stage is finished."""
        return (self.path(stage) / RECORD).is_file()

    def make(self, stage: Stage, jobs: int) -> Made:
        """Makes the stage, unless it is there, from inputs that are.

        An unfinished folder is handed to the work as it was left, so that a stage with checkpoints can go on; other
        stages write their files anew.

        Raises:
            LscfgError: what the work raised.
        """
        if stage.key not in self.made:
            reused = self.is_made(stage)
            if not reused:
                self._make(stage, jobs)
            record = json.loads((self.path(stage) / RECORD).read_text(encoding="utf-8"))
            self.made[stage.key] = Made(stage, self.path(stage), record, reused)
        return self.made[stage.key]

    def inputs(self, inputs: Mapping[str, Input]) -> dict[str, Path]:
        """The files that inputs are."""
        return {name: self.path(part) if isinstance(part, Output) else part for name, part in inputs.items()}

    def _make(self, stage: Stage, jobs: int) -> None:
        done = self.path(stage)
        unfinished = done.with_name(done.name + ".unfinished")
        unfinished.mkdir(parents=True, exist_ok=True)
        seconds, peak = measured(partial(stage.work, unfinished, stage.settings, self.inputs(stage.inputs), jobs))
        record = {**stage.facts, "name": stage.name, "key": stage.key}
        record |= {"seconds": round(seconds, 3), "peak_mib": round(peak / 1024, 1)}
        with atomic_write(unfinished / RECORD) as file:
            json.dump(record, file, indent=1, sort_keys=True, ensure_ascii=False)
            file.write("\n")
        shutil.rmtree(done, ignore_errors=True)
        unfinished.rename(done)


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
        raise InputError(f"cannot write: {error.strerror or error}", folder) from error
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


def measured(work: Callable[[], None]) -> tuple[float, int]:
    """Does the work in a child process; wall seconds and peak memory in KiB, of it and the processes it started.

    A process of its own gives each stage its own peak, and memory back to the next one.

    Raises:
        LscfgError: what the work raised.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    reading, writing = os.pipe()
    start = time.monotonic()
    parent, child = os.getpid(), os.fork()
    if child == 0:
        os.close(reading)
        for lock in _locks:  # held by the parent alone: once it is killed, another run may begin
            lock.close()
        end_with(parent)
        os._exit(_in_child(work, writing))
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        try:
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
    return time.monotonic() - start, usage.ru_maxrss


def _in_child(work: Callable[[], None], pipe: int) -> int:
    try:
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
