"""One attack on the command line: a separate process, judged by the rules for every command."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing import util
from pathlib import Path

import psutil

from lscfg import cli
from lscfg.errors import LscfgError

MEMORY, PROCESSOR_SECONDS, FILE_SIZE = 3 << 30, 40, 1 << 30
"""Limits of a case; a sanitizer reserves more memory than the machine has, so its runs have no limit of memory."""

SECONDS, STILL_SECONDS = 60, 20
"""A case hangs that takes longer than the first and then uses no processor for the second: a busy machine is slow."""

SENTINEL = b"what was there before\n"

PR_SET_CHILD_SUBREAPER = 36  # of sys/prctl.h

SANITIZED = "libasan" in os.environ.get("LD_PRELOAD", "")


@dataclass(frozen=True)
class Outcome:
    """Result of a case.

    Attributes:
        verdict: ``accepted`` or ``refused``, which are good, or the name of a fault.
        detail: what is wrong, or the message.
        seconds: wall time.
    """

    verdict: str
    detail: str
    seconds: float

    @property
    def good(self) -> bool:
        return self.verdict in GOOD


GOOD = ("accepted", "refused")
FAULTS = (
    "crash",
    "hang",
    "traceback",
    "fault",
    "bad message",
    "lost output",
    "changed input",
    "litter",
    "orphan",
    "wrong number",
    "other bytes",
)
"""All other verdicts, worst first."""


def run_case(words: Sequence[str], folder: Path, inputs: Iterable[Path] = (), outputs: Iterable[Path] = ()) -> Outcome:
    """Runs ``lscfg`` with these words in ``folder`` and judges it.

    Args:
        inputs: files that must be as they were afterwards.
        outputs: files that hold ``SENTINEL`` and must hold it still where the command fails.
    """
    before = {path: path.stat().st_mtime_ns for path in inputs if path.is_file()}
    outputs = list(outputs)
    for path in outputs:
        path.write_bytes(SENTINEL)
    start, others = time.monotonic(), _children()
    child = os.fork()
    if child == 0:
        _work(words, folder)
    code, in_time = _wait(child, start)
    seconds = time.monotonic() - start
    orphans = _kill_orphans(child, others)
    said = (folder / ".stderr").read_text("utf-8", "replace")
    verdict, detail = _judge(words, code, in_time, said)
    if verdict in GOOD:
        if verdict == "refused" and any(not path.is_file() or path.read_bytes() != SENTINEL for path in outputs):
            verdict = "lost output"
        elif any(not path.is_file() or path.stat().st_mtime_ns != changed for path, changed in before.items()):
            verdict = "changed input"
        elif left := [path.name for path in folder.rglob(".*.tmp")]:
            verdict, detail = "litter", " ".join(left)
        elif orphans:
            verdict = "orphan"
    return Outcome(verdict, detail, seconds)


def run_program(program: str, odd: str, folder: Path) -> Outcome:
    """Runs a Python program, to which ``odd`` is a text, in ``folder``; only errors of lscfg may end it."""
    start, others = time.monotonic(), _children()
    child = os.fork()
    if child == 0:
        _work(("API",), folder, partial(_call, program, odd))
    code, in_time = _wait(child, start)
    orphans = _kill_orphans(child, others)
    verdict, detail = _judge(("API",), code, in_time, (folder / ".stderr").read_text("utf-8", "replace"))
    return Outcome("orphan" if orphans and verdict in GOOD else verdict, detail, time.monotonic() - start)


def _call(program: str, odd: str) -> int:
    try:
        exec(program, {"odd": odd})
    except (LscfgError, TypeError) as error:  # a TypeError names an argument
        print(f"lscfg API: {error}", file=sys.stderr)
        return cli.BAD_INPUT if "\n" not in str(error) else 99
    return cli.GOOD


def kill_case(words: Sequence[str], folder: Path, seconds: float, how: signal.Signals) -> bool:
    """Runs ``lscfg`` in a separate process and sends a signal after some seconds; true if a process is left."""
    command, others = [sys.executable, "-P", "-m", "lscfg", *words], _children()
    child = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    time.sleep(seconds)
    child.send_signal(how)
    child.wait()
    return _kill_orphans(child.pid, others)


def _work(words: Sequence[str], folder: Path, work: Callable[[], int] | None = None) -> None:
    """The child: the command, or ``work``."""
    status = 99
    try:
        os.setsid()
        os.chdir(folder)
        for number, name in ((0, os.devnull), (1, folder / ".stdout"), (2, folder / ".stderr")):
            file = os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
            os.dup2(file, number)
        sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w", encoding="utf-8"), open(2, "w", encoding="utf-8")  # noqa: SIM115
        if not SANITIZED:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_SECONDS, PROCESSOR_SECONDS))
        resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_SIZE, FILE_SIZE))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        try:
            status = work() if work else cli.main(list(words))
        except SystemExit as error:
            status = error.code if isinstance(error.code, int) else 2
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            util._exit_function()  # what the interpreter would do: it ends workers
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def _wait(child: int, start: float) -> tuple[int, bool]:
    """The exit status, below 0 for a signal, and whether the child ended in time."""
    pause, used, moved = 0.001, 0.0, start
    while (now := time.monotonic()) < max(start + SECONDS, moved + STILL_SECONDS):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status), True
        if now > start + SECONDS - STILL_SECONDS and (seconds := _processor_seconds(child)) > used + 0.5:
            used, moved = seconds, now
        time.sleep(pause)
        pause = min(2 * pause, 0.05)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -signal.SIGKILL, False


def _processor_seconds(child: int) -> float:
    """Processor time of the child and of its children; each has its limit, so that a loop ends."""
    with contextlib.suppress(psutil.NoSuchProcess):
        child_process = psutil.Process(child)
        return sum(
            sum(process.cpu_times()[:4])
            for process in (child_process, *child_process.children(recursive=True))
            if process.is_running()
        )
    return 0.0


def adopt_orphans() -> None:
    """From now on processes whose parent has ended are children of this one (Linux)."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)


def _children() -> set[int]:
    """Processes whose parent is this one; with ``adopt_orphans`` also those whose parent has ended."""
    return {one.pid for one in psutil.Process().children()}


def _kill_orphans(child: int, before: set[int]) -> bool:
    """Kills what is left of the child's processes; whether anything was, a moment after its end.

    Args:
        before: children that were there before, such as a service that another row attacks.
    """
    for _ in range(40):
        left = _children() - before
        for pid in left:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        if not left:
            return False
        time.sleep(0.05)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    return True


def _judge(words: Sequence[str], code: int, in_time: bool, said: str) -> tuple[str, str]:
    lines = [line for line in said.splitlines() if line]
    last = lines[-1] if lines else ""
    if not in_time or code == -signal.SIGXCPU:
        return "hang", f"more than {SECONDS} s, or {PROCESSOR_SECONDS} of a processor"
    if code < 0 or "Sanitizer" in said:
        return "crash", f"signal {-code}: {said[-600:]}"
    if "Traceback" in said or code == 99:
        return "traceback", said[-600:]
    if code == cli.FAULT:
        return "fault", last
    if code == cli.GOOD:
        return "accepted", last
    if code == cli.BAD_USAGE:
        return ("refused", last) if last.startswith("lscfg") else ("bad message", said[-300:])
    if code != cli.BAD_INPUT or not any(line.startswith(f"lscfg {words[0]}") for line in lines[-5:]):
        return "bad message", f"status {code}: {said[-300:]}"
    if max(map(len, lines)) > 3000 or len(lines) > 60:
        return "bad message", f"{len(lines)} lines, the longest of {max(map(len, lines))} characters"
    return "refused", last


def empty(folder: Path) -> Path:
    """The folder, made again."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
