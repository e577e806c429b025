"""Worker processes that live on between calls, each with memory of its own for what it has worked out before."""

from __future__ import annotations

import contextlib
import multiprocessing
import pickle
import signal
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any

from lscfg import log
from lscfg.errors import KernelError

Items = Iterable[tuple[int, str]]
Work = Callable[[Items, Any], Iterable[tuple[int, Any]]]


class WorkerPool:
    """Forked processes among which sentences are dealt out by their index, so that each sees the same ones every time.

    Args:
        jobs: number of processes.
        work: takes (index, sentence) pairs and a context, yields (index, result) in the same order; pickled are only
            sentences, contexts and results, while what ``work`` itself refers to is inherited.
    """

    def __init__(self, jobs: int, work: Work):
        self._jobs = jobs
        self._work = work
        self._processes: list[Any] = []
        self._connections: list[Connection] = []

    def map(self, sentences: Sequence[str], context: Any) -> list[Any]:
        """The results in the order of the sentences.

        Raises:
            KernelError: a process died; the sentence that it had in hand is named.
            Exception: what ``work`` raised for the first failing sentence to be heard of.
        """
        if not self._processes:
            self._start()
        try:
            return self._map(sentences, context)
        except BaseException:
            self.close(kill=True)  # results of this call may be under way still
            raise

    def _map(self, sentences: Sequence[str], context: Any) -> list[Any]:
        waiting: dict[Connection, deque[int]] = {}
        for worker, connection in enumerate(self._connections):
            indices = range(worker, len(sentences), self._jobs)
            if not indices:
                continue
            waiting[connection] = deque(indices)
            try:
                connection.send(([(i, sentences[i]) for i in indices], context))
            except OSError as error:
                raise self._death(connection, indices[0], sentences) from error
        results: list[Any] = [None] * len(sentences)
        bar = log.progress(range(len(sentences)), "decoding", len(sentences))
        while waiting:
            for ready in wait(list(waiting)):
                assert isinstance(ready, Connection)
                expected = waiting[ready][0]
                try:
                    result = ready.recv()
                except (EOFError, OSError) as error:
                    raise self._death(ready, expected, sentences) from error
                if isinstance(result, BaseException):
                    raise result
                results[expected] = result
                next(bar, None)
                waiting[ready].popleft()
                if not waiting[ready]:
                    del waiting[ready]
        next(bar, None)
        return results

    def _death(self, connection: Connection, index: int, sentences: Sequence[str]) -> KernelError:
        process = self._processes[self._connections.index(connection)]
        process.join(5)
        code = process.exitcode
        how = f"signal {signal.Signals(-code).name}" if code is not None and code < 0 else f"exit status {code}"
        return KernelError(f"a worker process died ({how}) at sentence {index + 1}: {sentences[index]}")

    def _start(self) -> None:
        fork = multiprocessing.get_context("fork")
        for _ in range(self._jobs):
            ours, theirs = fork.Pipe()
            # A worker that kept the parent's ends open would not notice that the parent is gone.
            inherited = [*self._connections, ours]
            process = fork.Process(target=_serve, args=(theirs, inherited, self._work), daemon=True)
            process.start()
            theirs.close()
            self._processes.append(process)
            self._connections.append(ours)

    def close(self, kill: bool = False) -> None:
        """Ends the processes, at once or when they are idle."""
        for connection in self._connections:
            # told so: processes of another pool, forked later, may hold this end open, and it would never be the end
            with contextlib.suppress(OSError):
                connection.send(None)
            connection.close()
        for process in self._processes:
            if kill:
                process.terminate()
            process.join()
            process.close()
        self._processes, self._connections = [], []


def _serve(connection: Connection, inherited: list[Connection], work: Work) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets it too and says what is to be done
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for other in inherited:
        other.close()
    while True:
        try:
            given = connection.recv()
        except (EOFError, OSError):
            return
        if given is None:
            return
        items, context = given
        try:
            for _, result in work(items, context):
                connection.send(result)
        except BrokenPipeError:
            return
        except Exception as error:
            connection.send(_portable(error))


def _portable(error: Exception) -> Exception:
    """The error itself if it survives the way to the parent, which not every class does."""
    try:
        pickle.loads(pickle.dumps(error))
        return error
    except Exception:
        return KernelError(f"{type(error).__name__}: {error}")
