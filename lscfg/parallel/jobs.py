"""Jobs: work in a separate process, which may fork and returns its memory at the end, here or on a cluster."""

from __future__ import annotations

import argparse
import io
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lscfg import log
from lscfg.errors import LscfgError, WorkerError, exit_reason
from lscfg.parallel.address import ClusterAddress
from lscfg.parallel.choose import joined_to, on_cluster, on_workers, read_cluster
from lscfg.parallel.processes import portable
from lscfg.parallel.signals import Terminated, ending_on_signals
from lscfg.parallel.worker import ONE_THREAD, end_with, keep_freed_memory

GRACE_SECONDS = 60.0
"""Seconds that processes may take to end after SIGTERM."""


@dataclass(frozen=True)
class Job:
    """A call ``function(argument, threads)``; the function is one of a module, and the worker gives the threads."""

    function: Callable[[Any, int], Any]
    argument: Any
    cluster: ClusterAddress | None = None
    """The cluster whose workers share the blocks of the function, by ``in_processes``. The function mostly waits for
    them, so its own worker takes other work meanwhile."""
    display: log.Display | None = None
    """The way in which the process shows log messages."""


Command = Callable[[argparse.Namespace], None]


def run_there(command: Command, args: argparse.Namespace) -> None:
    """Runs a command on a worker of the cluster ``args.cluster``, with the threads of the worker.

    The worker sees the same files, in the same working directory. Its output and log appear here. For ``local:N`` the
    command runs in this process, with N threads.

    Raises:
        Exception: the error of the command.
        LscfgError: the worker and its replacements died.
    """
    own = argparse.Namespace(**{**vars(args), "cluster": None})
    if local := read_cluster(args.cluster).local:
        own.jobs = local
        return command(own)
    with on_cluster(args.cluster) as cluster:
        assert cluster is not None
        with on_workers(cluster, batch=1) as engine:
            job = Job(_run_command, (command, own, os.getcwd()), display=log.current_display())
            try:
                ((printed, said),) = engine.map(work_in_child, [job])
            except WorkerError as error:
                raise LscfgError(error.reason) from error
    for line in said.splitlines():
        log.say(line)
    print(printed, end="")


def _run_command(what: tuple[Command, argparse.Namespace, str], threads: int) -> tuple[str, str]:
    command, args, folder = what
    os.chdir(folder)
    args.jobs = threads
    with redirect_stdout(io.StringIO()) as printed, redirect_stderr(io.StringIO()) as said:
        command(args)
    return printed.getvalue(), said.getvalue()


def work_in_child(job: Job) -> Any:
    """Runs a job below a Dask worker, whose own process has threads and must not fork.

    Raises:
        Exception: the error of the function.
        WorkerError: the process died.
    """
    from distributed import get_worker, secede

    threads = get_worker().state.nthreads
    if job.cluster is not None:
        secede()
    return Children().run(job, threads)


class Children:
    """Processes of this machine that run jobs. Several threads may run jobs at the same time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._closed = False

    def run(self, job: Job, threads: int) -> Any:
        """Runs a job, and returns its result.

        Raises:
            Exception: the error of the function.
            WorkerError: the process died.
        """
        with self._lock:
            if self._closed:
                raise WorkerError("the work was abandoned", 0)
            child = _child()
            self._running.add(child)
        try:
            output, _ = child.communicate(pickle.dumps((job, threads), pickle.HIGHEST_PROTOCOL))
        finally:
            with self._lock:
                self._running.discard(child)
        return job_outcome(child, output)

    def close(self) -> None:
        """Ends all processes, by force after ``GRACE_SECONDS``; their jobs fail."""
        with self._lock:
            self._closed = True
            running = [*self._running]
            for child in running:
                child.terminate()
        end = time.monotonic() + GRACE_SECONDS
        for child in running:
            try:
                child.wait(max(0.0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                child.kill()


def _child(files: Sequence[int] = ()) -> subprocess.Popen[bytes]:
    """A process that waits for a job, and inherits open files."""
    own = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, [own, os.environ.get("PYTHONPATH", "")]))
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "lscfg.parallel.jobs", str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, **ONE_THREAD, "PYTHONPATH": path},
        pass_fds=files,
        # Hides an interruption at the keyboard, which the caller handles. A new session would take the process out of
        # the scheduling group of Linux in which `nice lscfg` competes with other programs.
        process_group=0,
    )


def started_job(job: Job, threads: int, files: Sequence[int] = ()) -> subprocess.Popen[bytes]:
    """A process at work on a job; ``communicate`` returns what ``job_outcome`` reads.

    Args:
        files: open file descriptors that the process inherits.
    """
    child = _child(files)
    assert child.stdin is not None
    try:
        with child.stdin as stdin:
            stdin.write(pickle.dumps((job, threads), pickle.HIGHEST_PROTOCOL))
    except BaseException:
        child.kill()
        child.wait()
        raise
    child.stdin = None  # closed already
    return child


def job_outcome(child: subprocess.Popen[bytes], output: bytes) -> Any:
    """The result of a job whose process has ended.

    Args:
        output: standard output of the process.

    Raises:
        Exception: the error of the function.
        WorkerError: the process died.
    """
    if child.returncode != 0 or not output:
        raise WorkerError(f"a worker process died ({exit_reason(child.returncode)}); is there enough memory?", 0)
    well, result = pickle.loads(output)
    if not well:
        raise result
    return result


def _main() -> None:
    """Reads a job from standard input, and writes its outcome to standard output."""
    end_with(int(sys.argv[1]))
    keep_freed_memory()
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output of the job must not mix with the outcome
    job, threads = pickle.load(sys.stdin.buffer)
    try:
        with ending_on_signals(), log.shown(job.display), joined_to(job.cluster):
            outcome = True, job.function(job.argument, threads)
    except Terminated as end:
        signal.raise_signal(end.number)  # whose action is to end the process again
    except Exception as error:
        outcome = False, portable(error)
    with output:
        pickle.dump(outcome, output, pickle.HIGHEST_PROTOCOL)


if __name__ == "__main__":
    _main()
