"""A single worker process for an owner with an event loop, who sends it one block at a time and may kill it."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import stat
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from lscfg import log
from lscfg.closing import Closing
from lscfg.errors import WorkerError
from lscfg.parallel.processes import how_it_died, serve_blocks

Block = TypeVar("Block")


class Worker(Closing):
    """One process, forked where the system can fork, so that it begins with the objects that its owner's thread keeps.

    The first ``ask`` starts the process, again after ``close`` or its death. It ends with the thread that started it.
    """

    def __init__(self) -> None:
        forks = "fork" in multiprocessing.get_all_start_methods()
        self._context: Any = multiprocessing.get_context("fork" if forks else "spawn")
        self._process: Any = None
        self._connection: Connection | None = None

    @property
    def pid(self) -> int | None:
        """The number of the process, None while it does not run."""
        return None if self._process is None else self._process.pid

    def fileno(self) -> int:
        """A file descriptor that is readable when ``answer`` does not wait. It exists from ``ask`` to ``close``."""
        assert self._connection is not None
        return self._connection.fileno()

    def ask(self, function: Callable[[Block], Any], block: Block) -> None:
        """Sends a block; the function is one of a module, as for ``Engine.map``. Take the last answer first.

        Raises:
            OSError: no process can be started.
        """
        if self._process is not None and not self._process.is_alive():  # the process died while it was idle
            self.close()
        if self._process is None:
            self._start()
        assert self._connection is not None
        with contextlib.suppress(OSError):  # the process has died: it will not answer
            self._connection.send_bytes(pickle.dumps((function, block), pickle.HIGHEST_PROTOCOL))

    def answer(self) -> Any:
        """Waits for the result.

        Raises:
            Exception: the error of the function.
            WorkerError: the process died; the next ``ask`` starts another process.
        """
        assert self._connection is not None
        try:
            message = self._connection.recv_bytes()
        except (EOFError, OSError):
            reason = how_it_died(self._process)
            self.close()
            raise WorkerError(reason, 0) from None
        well, result = pickle.loads(message)
        if not well:
            raise result
        return result

    def close(self) -> None:
        """Kills the process, busy or idle."""
        if self._process is None:
            return
        assert self._connection is not None
        self._process.kill()
        self._connection.close()
        self._process.join()
        self._process.close()
        self._process = self._connection = None

    def _start(self) -> None:
        ours, theirs = self._context.Pipe()
        inherited = [_Sockets(theirs.fileno())] if self._context.get_start_method() == "fork" else []
        process = self._context.Process(
            target=serve_blocks, args=(theirs, inherited, os.getpid(), {}, log.current_display()), daemon=True
        )
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # until the worker ignores it
        try:
            process.start()
        except BaseException:
            ours.close()
            raise
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            theirs.close()
        self._process, self._connection = process, ours


class _Sockets:
    """All sockets of the process but one. A client would wait for the end of a socket that a worker holds open."""

    def __init__(self, spared: int) -> None:
        self._spared = spared

    def close(self) -> None:
        for name in os.listdir("/dev/fd"):
            number = int(name)
            with contextlib.suppress(OSError):  # the folder's own
                if number > 2 and number != self._spared and stat.S_ISSOCK(os.fstat(number).st_mode):
                    os.close(number)
