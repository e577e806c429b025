"""An engine of worker processes."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import queue
import signal
import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any, ClassVar, Protocol, TypeVar

from lscfg import log
from lscfg.errors import InputError, KernelError, LscfgError, WorkerError
from lscfg.parallel.calls import OrderedCall, check_sendable
from lscfg.parallel.engine import Arriving, Engine
from lscfg.parallel.worker import defer_interruption, end_with

Block = TypeVar("Block")
Result = TypeVar("Result")


class Processes(Engine):
    """Processes on this machine; see ``lscfg.parallel.engine.Engine``.

    Block k of a call goes to worker k modulo the number of workers, so that what a worker keeps of one call (see
    ``lscfg.parallel.worker.keep``) serves the same blocks in the next one. The function must be one of a module;
    functions, blocks and results are pickled, and a worker depends on nothing else of the caller. One that is a program
    of its own does not import the caller's again, so a script needs no ``if __name__ == "__main__"``. Only one call
    may be under way at a time. A call that fails, or is left before its end, ends the workers; the next one starts new
    ones.

    The workers end with this process, however it ends, and with the thread that made the first ``map``.

    Args:
        workers: number of processes, at least 1.
        environment: variables that are set in a worker before it imports anything of ours; the workers are then
            programs of their own.
        start: ``"fork"`` or ``"spawn"``, as of ``multiprocessing``; if None, ``"fork"`` on Linux, where no environment
            is asked for. Forked processes of macOS may not use all libraries of the system.
        ahead: blocks for each worker, at most, that are held with their results.

    Raises:
        InputError: workers is less than 1.
    """

    AHEAD: ClassVar[int] = 16
    """More than threads have: a worker has only its own blocks to go on with while an earlier one takes long."""

    def __init__(
        self,
        workers: int,
        environment: Mapping[str, str] | None = None,
        start: str | None = None,
        ahead: int = AHEAD,
    ):
        if workers < 1:
            raise InputError(f"jobs must be 1 or more, not {workers}")
        forks = environment is None and sys.platform == "linux"
        self.workers = workers
        self._environment = dict(environment or {})
        self._context: Any = multiprocessing.get_context(start or ("fork" if forks else "spawn"))
        self._ahead = ahead
        self._processes: list[Any] = []
        self._connections: list[Connection] = []
        self._busy = False

    @property
    def inherits(self) -> bool:
        """See ``Engine``: so it is with processes that are forked, until they are."""
        return not self._processes and self._context.get_start_method() == "fork"

    def map(
        self, function: Callable[[Block], Result], blocks: Iterable[Block], arriving: Arriving | None = None
    ) -> Iterator[Result]:
        """See ``Engine``.

        Raises:
            TypeError: the function is none of a module.
            RuntimeError: another call is under way.
        """
        check_sendable(function)
        return self._results(function, blocks, arriving)

    def _results(
        self, function: Callable[[Block], Result], blocks: Iterable[Block], arriving: Arriving | None
    ) -> Iterator[Result]:
        if self._busy:
            raise RuntimeError("another call of this engine is under way; take all of its results first")
        self._busy = True
        try:
            if not self._processes:
                self._start()
            call = _Call(self._processes, self._connections, function, self._ahead)
            yield from call.results(blocks, arriving)
        except BaseException:
            self._end(kill=True)  # results of this call may be under way still
            raise
        finally:
            self._busy = False

    def _start(self) -> None:
        forked = self._context.get_start_method() == "fork"
        if not forked:
            resource_tracker.ensure_running()  # where it is started by the first worker, it lets interruptions in
        with _no_interruption(), contextlib.nullcontext() if forked else _no_main():
            for _ in range(self.workers):
                ours, theirs = self._context.Pipe()
                self._connections.append(ours)
                # A worker that kept the parent's ends open would not notice that the parent is gone.
                inherited = self._connections if forked else []
                arguments = (theirs, inherited, os.getpid(), self._environment, log.current_display())
                process = self._context.Process(target=serve_blocks, args=arguments, daemon=True)
                process.start()
                self._processes.append(process)
                theirs.close()

    def close(self) -> None:
        """Ends the processes."""
        self._end(kill=self._busy)

    def _end(self, kill: bool) -> None:
        with _no_interruption():
            self._end_now(kill)

    def _end_now(self, kill: bool) -> None:
        for process in self._processes if kill else ():
            process.kill()
        for connection in self._connections:
            # told so: processes of another engine, forked later, may hold this end open, and it would never be the end
            with contextlib.suppress(OSError):
                connection.send_bytes(b"")
            connection.close()
        for process in self._processes:
            process.join()
            with contextlib.suppress(ValueError):  # another thread may have asked the system for its status
                process.close()
        self._processes, self._connections = [], []


class _Call(OrderedCall):
    """One call of ``map``: the worker of each block, and the blocks that it has not answered."""

    def __init__(self, processes: list[Any], connections: list[Connection], function: Callable[[Any], Any], ahead: int):
        super().__init__(ahead * len(connections))
        self._processes, self._connections, self._function = processes, connections, function
        self._waiting: list[deque[int]] = [deque() for _ in connections]

    def _send(self, number: int, blocks: list[Any]) -> None:
        worker = number % len(self._connections)
        function = self._function if number < len(self._connections) else None  # a worker remembers it
        message = pickle.dumps((function, *blocks), pickle.HIGHEST_PROTOCOL)
        with contextlib.suppress(OSError):  # the worker has died: it will not answer
            self._connections[worker].send_bytes(message)
        self._waiting[worker].append(number)

    def _receive(self, awaited: int, arriving: Arriving | None) -> None:
        asked = {self._connections[w]: w for w, waiting in enumerate(self._waiting) if waiting}
        for ready in wait([*asked, *([] if arriving is None else [arriving.fileno()])]):
            if not isinstance(ready, Connection):
                continue
            worker = asked[ready]
            number = self._waiting[worker].popleft()
            try:
                message = ready.recv_bytes()
            except (EOFError, OSError):
                self._outcomes[number] = [(False, WorkerError(how_it_died(self._processes[worker]), number))]
                continue
            try:
                self._outcomes[number] = [pickle.loads(message)]
            except Exception as error:  # raised by the class of a result
                self._outcomes[number] = [(False, error)]


def how_it_died(process: Any) -> str:
    """What became of a worker process that is gone."""
    process.join(5)
    code = process.exitcode
    how = f"signal {signal.Signals(-code).name}" if code is not None and code < 0 else f"exit status {code}"
    return f"a worker process died ({how})"


@contextlib.contextmanager
def _no_interruption() -> Iterator[None]:
    """An interruption waits for the end of the block, and reaches no process that is started there."""
    let_in = defer_interruption()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        let_in()


_hiding = threading.Lock()


@contextlib.contextmanager
def _no_main() -> Iterator[None]:
    """Processes that are started in the block do not import the program again.

    ``multiprocessing`` would do so, and a script without ``if __name__ == "__main__"`` would start workers in them.
    """
    hidden = {"__spec__": None, "__file__": None}
    with _hiding:
        main = sys.modules["__main__"].__dict__
        before = {name: main[name] for name in hidden if name in main}
        main.update(hidden)
        try:
            yield
        finally:
            for name in hidden:
                del main[name]
            main.update(before)


# ---- in a worker ----


class Closable(Protocol):
    """What a worker must not hold open."""

    def close(self) -> None:
        """Lets go of it."""


def serve_blocks(
    connection: Connection,
    inherited: Sequence[Closable],
    parent: int,
    environment: Mapping[str, str],
    display: log.Display | None,
) -> None:
    """The work of a worker process: takes blocks from the connection and sends their outcomes until it is told to end.

    Args:
        connection: gives ``(function or None for the last one, block)``, pickled, or no bytes for the end; takes
            ``(True, result)`` or ``(False, error)``, pickled.
        inherited: what is closed first.
        parent: the process that has the other end.
        environment: variables to set.
        display: the way the parent shows log messages.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets it too and says what is to be done
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    end_with(parent)
    os.environ.update(environment)
    log.show(display)
    for other in inherited:
        other.close()
    messages: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(connection, messages), daemon=True).start()
    function: Callable[[Any], Any] | None = None
    while message := messages.get():
        answer, function = _answer(message, function)
        try:
            connection.send_bytes(answer)
        except OSError:  # the parent is gone
            return


def _listen(connection: Connection, messages: queue.SimpleQueue[bytes]) -> None:
    """Takes blocks while others are worked on: a parent that had to wait with a block could not take our results."""
    while True:
        try:
            message = connection.recv_bytes()
        except (EOFError, OSError):
            os._exit(1)  # nobody is left to work for
        messages.put(message)
        if not message:
            return


def _answer(message: bytes, function: Callable[[Any], Any] | None) -> tuple[bytes, Callable[[Any], Any] | None]:
    """The outcome for a block, pickled, and the function that counts from now on."""
    try:
        new, block = pickle.loads(message)
        if new is not None:
            function = new
        assert function is not None
        return pickle.dumps((True, function(block)), pickle.HIGHEST_PROTOCOL), function
    except Exception as error:
        return pickle.dumps((False, portable(error)), pickle.HIGHEST_PROTOCOL), function


def portable(error: Exception) -> Exception:
    """The error itself if it survives being pickled, which not every class does; else one that says the same."""
    note = "in a worker process:\n" + "".join(traceback.format_exception(error)).rstrip()
    if not isinstance(error, LscfgError):
        error.add_note(note)
    with contextlib.suppress(Exception):  # whatever its class does
        copy = pickle.loads(pickle.dumps(error))
        if type(copy) is type(error) and str(copy) == str(error):
            return error
    other = KernelError(f"{type(error).__name__}: {error}")
    other.add_note(note)
    return other
