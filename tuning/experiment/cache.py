"""Stages of a run: each in a folder named by the hash of its inputs, made in a process of its own, measured."""

from __future__ import annotations

import fcntl
import hashlib
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
from pathlib import Path
from typing import IO, Any

from lscfg import __version__, log
from lscfg.errors import InputError, LscfgError
from lscfg.io.text import atomic_write, file_hash, remove_temporaries
from lscfg.parallel.worker import end_with

_locks: set[IO[str]] = set()
"""Files of the locks that this process holds."""

RECORD = "stage.json"
"""Marks a finished stage; holds its name, key, settings, inputs, wall seconds and peak memory."""


@dataclass(frozen=True)
class Stage:
    """A finished stage: its folder, the hash of all that it was made from, and its record."""

    name: str
    path: Path
    key: str
    record: dict[str, Any]
    reused: bool

    def __truediv__(self, name: str) -> Path:
        return self.path / name


class StageCache:
    """Finished stages below one folder; a stage whose inputs and settings are unchanged is not made again."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.stages: list[Stage] = []

    def run(
        self,
        name: str,
        settings: Mapping[str, Any],
        inputs: Mapping[str, Path | Stage],
        make: Callable[[Path], None],
    ) -> Stage:
        """The stage's folder, made by ``make(folder)`` if it is not there yet.

        An unfinished folder is handed to ``make`` as it was left, so that a stage with checkpoints can go on; other
        stages write their files anew.

        Raises:
            LscfgError: what ``make`` raised.
        """
        hashes = {k: v.key if isinstance(v, Stage) else file_hash(v) for k, v in sorted(inputs.items())}
        facts = {"stage": name, "version": __version__, "settings": dict(settings), "inputs": hashes}
        text = json.dumps(facts, sort_keys=True, ensure_ascii=False)
        key = hashlib.sha256(text.encode("utf-8")).hexdigest()
        done = self.folder / f"{name}-{key[:16]}"
        reused = (done / RECORD).is_file()
        if not reused:
            log.info(f"stage {name}")
            self._make(done, facts, key, make)
        record = json.loads((done / RECORD).read_text(encoding="utf-8"))
        stage = Stage(name, done, key, record, reused)
        self.stages.append(stage)
        return stage

    def _make(self, done: Path, facts: dict[str, Any], key: str, make: Callable[[Path], None]) -> None:
        work = done.with_name(done.name + ".unfinished")
        work.mkdir(parents=True, exist_ok=True)
        remove_temporaries(work)
        seconds, peak = measured(lambda: make(work))
        with atomic_write(work / RECORD) as file:
            record = {**facts, "key": key, "seconds": round(seconds, 3), "peak_mib": round(peak / 1024, 1)}
            json.dump(record, file, indent=1, sort_keys=True, ensure_ascii=False)
            file.write("\n")
        shutil.rmtree(done, ignore_errors=True)
        work.rename(done)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keeps a second run out of the folder.

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
