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
from lscfg.errors import InputError, KernelError, LscfgError, WorkerError, exit_reason
from lscfg.parallel.calls import OrderedCall, check_sendable
from lscfg.parallel.engine import Arriving, Engine
from lscfg.parallel.signals import ENDING, defer_signals
from lscfg.parallel.worker import end_with

Block = TypeVar("Block")
Result = TypeVar("Result")


class Processes(Engine):
    """Processes on this machine; see ``lscfg.parallel.engine.Engine``.

    Block k of a call goes to worker k modulo the number of workers, so that the objects that a worker keeps of one call
    (see ``lscfg.parallel.worker.keep``) serve the same blocks in the next call. The function must be one of a module;
    functions, blocks and results are pickled, and a worker depends on nothing else of the caller. A spawned worker does
    not import the caller's program, so a script needs no ``if __name__ == "__main__"``. Only one call may be under way
    at a time. A call that fails, or is left before its end, ends the workers; the next call starts new ones.

    The workers end with this process, however it ends, and with the thread that called ``map`` first. No other thread
    should import modules while workers are forked: a worker would wait for ever for a module that was half imported.

    Args:
        workers: number of processes, at least 1.
        environment: variables to set in a worker before it imports anything of lscfg; such workers are spawned.
        start: ``"fork"`` or ``"spawn"``, see ``multiprocessing``; None: ``"fork"`` on Linux if no environment is given.
            Forked processes of macOS may not use all libraries of the system.

    Raises:
        InputError: workers is less than 1.
    """

    AHEAD: ClassVar[int] = 16
    """Blocks for each worker, at most, that are held with their results: more than for threads, since a worker can only
    go on with its own blocks while an earlier block takes long."""

    def __init__(
        self,
        workers: int,
        environment: Mapping[str, str] | None = None,
        start: str | None = None,
    ):
        if workers < 1:
            raise InputError(f"jobs must be 1 or more, not {workers}")
        forks = environment is None and sys.platform == "linux"
        self.workers = workers
        self._environment = dict(environment or {})
        self._context: Any = multiprocessing.get_context(start or ("fork" if forks else "spawn"))
        self._processes: list[Any] = []
        self._connections: list[Connection] = []
        self._busy = False

    @property
    def inherits(self) -> bool:
        """See ``Engine``: true for forked processes until they start."""
        return not self._processes and self._context.get_start_method() == "fork"

    def map(
        self, function: Callable[[Block], Result], blocks: Iterable[Block], arriving: Arriving | None = None
    ) -> Iterator[Result]:
        """See ``Engine``.

        Raises:
            InputError: this process is daemonic, so that it cannot start processes.
            TypeError: the function is not one of a module.
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
            call = _Call(self._processes, self._connections, function, self.AHEAD)
            yield from call.results(blocks, arriving)
        except BaseException:
            self._end(kill=True)  # results of this call may still be under way
            raise
        finally:
            self._busy = False

    def _start(self) -> None:
        if multiprocessing.current_process().daemon:  # multiprocessing would fail with an assertion
            raise InputError(
                "a daemonic process, such as a worker of multiprocessing.Pool, cannot start other processes; use "
                "concurrent.futures.ProcessPoolExecutor"
            )
        forked = self._context.get_start_method() == "fork"
        if not forked:
            resource_tracker.ensure_running()  # if the first worker started it, interruptions would reach it
        with _no_signals(), _one_start.lock, contextlib.nullcontext() if forked else _no_main():
            for _ in range(self.workers):
                ours, theirs = self._context.Pipe()
                self._connections.append(ours)
                # A worker that kept the parent's ends open would not notice the end of the parent.
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
        with _no_signals():
            self._end_now(kill)

    def _end_now(self, kill: bool) -> None:
        for process in self._processes if kill else ():
            process.kill()
        for connection in self._connections:
            # a message: later forks of another engine may hold this end open, and the worker would see no end of file
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
    """The way in which a worker process ended, for messages."""
    process.join(5)
    return ended_how(process.exitcode)


def ended_how(code: int | None) -> str:
    """The death of a worker process with this exit code, for messages; a negative code is a signal."""
    return f"a worker process died ({'without a status' if code is None else exit_reason(code)})"


@contextlib.contextmanager
def _no_signals() -> Iterator[None]:
    """Defers signals that end the process to the end of the block, and hides them from processes that start there."""
    let_in = defer_signals()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        let_in()


class _OneStart:
    """Lets one engine of this process start its workers at a time.

    A worker that another thread forks would inherit a worker's end of a connection, so the end of this worker would not
    be noticed.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self.lock = threading.Lock()  # its holder is not in the child


_one_start = _OneStart()
_hiding = threading.Lock()

STANDARD_METHODS = "fork", "forkserver", "spawn"
"""Start methods that each process knows."""


@contextlib.contextmanager
def _no_main() -> Iterator[None]:
    """Keeps processes that start in the block from importing the program again.

    ``multiprocessing`` imports it, and a script without ``if __name__ == "__main__"`` would start workers in them.
    """
    hidden = {"__spec__": None, "__file__": None}
    with _hiding, _usual_start_method():
        main = sys.modules["__main__"].__dict__
        before = {name: main[name] for name in hidden if name in main}
        main.update(hidden)
        try:
            yield
        finally:
            for name in hidden:
                del main[name]
            main.update(before)


@contextlib.contextmanager
def _usual_start_method() -> Iterator[None]:
    """Replaces a start method of another library, such as joblib's ``loky``, which new processes would not know."""
    method = multiprocessing.get_start_method(allow_none=True)
    if method is None or method in STANDARD_METHODS:
        yield
        return
    multiprocessing.set_start_method("spawn", force=True)
    try:
        yield
    finally:
        multiprocessing.set_start_method(method, force=True)


# ---- in a worker ----


class Messages(Protocol):
    """A connection to the parent, such as ``multiprocessing.connection.Connection``."""

    def send_bytes(self, message: bytes, /) -> None:
        """Sends a message."""

    def recv_bytes(self) -> bytes:
        """Waits for a message."""


class Closable(Protocol):
    """An object that a worker must not hold open."""

    def close(self) -> None:
        """Closes the object."""


def serve_blocks(
    connection: Messages,
    inherited: Sequence[Closable],
    parent: int,
    environment: Mapping[str, str],
    display: log.Display | None,
    termination: signal.Handlers = signal.SIG_DFL,
) -> None:
    """Runs a worker process: takes blocks from the connection and sends their outcomes until the end message.

    Args:
        connection: yields ``(function or None for the last one, block)``, pickled, or no bytes for the end; takes
            ``(True, result)`` or ``(False, error)``, pickled.
        inherited: objects to close first.
        parent: the process at the other end.
        environment: variables to set.
        display: the way the parent shows log messages.
        termination: what SIGTERM does, and SIGHUP unless it is ignored.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets the signal, too, and decides
    signal.signal(signal.SIGTERM, termination)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as nohup wants
        signal.signal(signal.SIGHUP, termination)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
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
        except OSError:  # the parent has ended
            return


def _listen(connection: Messages, messages: queue.SimpleQueue[bytes]) -> None:
    """Takes blocks while others are worked on: a parent that waits to send a block could not take results."""
    while True:
        try:
            message = connection.recv_bytes()
        except (EOFError, OSError, MemoryError):
            os._exit(1)  # the parent has ended, or the block does not fit
        messages.put(message)
        if not message:
            return


def _answer(message: bytes, function: Callable[[Any], Any] | None) -> tuple[bytes, Callable[[Any], Any] | None]:
    """The outcome for a block, pickled, and the function for the next blocks."""
    try:
        new, block = pickle.loads(message)
        if new is not None:
            function = new
        assert function is not None
        return pickle.dumps((True, function(block)), pickle.HIGHEST_PROTOCOL), function
    except Exception as error:
        return pickle.dumps((False, portable(error)), pickle.HIGHEST_PROTOCOL), function


def portable(error: Exception) -> Exception:
    """The error itself if it survives pickling, as not every class does; else an error with the same message."""
    note = "in a worker process:\n" + "".join(traceback.format_exception(error)).rstrip()
    if not isinstance(error, LscfgError):
        error.add_note(note)
    with contextlib.suppress(Exception):  # of its class, whatever it does
        copy = pickle.loads(pickle.dumps(error))
        if type(copy) is type(error) and str(copy) == str(error):
            return error
    other = KernelError(f"{type(error).__name__}: {error}")
    other.add_note(note)
    return other
