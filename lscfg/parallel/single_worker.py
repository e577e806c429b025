"""A single worker process for an owner with an event loop, who sends it one block at a time and may kill it."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import pickle
import signal
import socket
import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.util import Finalize
from typing import Any, TypeVar

from lscfg.closing import Closing
from lscfg.errors import WorkerError
from lscfg.parallel.processes import ended_how, serve_blocks
from lscfg.parallel.signals import ENDING

Block = TypeVar("Block")
Result = TypeVar("Result")

LENGTH = 8
"""Bytes of the length, big-endian, that precedes each message between the owner and the process."""

REAPING_SECONDS = 5.0
"""Longest wait for the end of a process that has closed its socket or was killed."""


REAPING_INTERVAL = 0.05
"""Seconds between two looks at a process that is about to end."""


class Worker(Closing):
    """One process, forked where the system can fork, so that it begins with the objects that its owner's thread keeps.

    The first ``call`` starts the process, again after ``close`` or its death. It ends with the thread that started it.
    No method but ``close`` waits except in the event loop. The process writes no log: its owner has opened the same
    objects, and a process that waits for a full pipe would be lost. SIGTERM and SIGHUP reach all processes of a group;
    the process ignores them, and its owner decides.
    """

    def __init__(self) -> None:
        forks = "fork" in multiprocessing.get_all_start_methods()
        self._context: Any = multiprocessing.get_context("fork" if forks else "spawn")
        self._process: Any = None
        self._at_exit: Any = None
        self._ending: list[Any] = []  # killed processes, which the system may not have ended yet
        self._reader: asyncio.StreamReader
        self._writer: asyncio.StreamWriter

    @property
    def pid(self) -> int | None:
        """The number of the process, None while it does not run."""
        return None if self._process is None else self._process.pid

    async def call(self, function: Callable[[Block], Result], block: Block) -> Result:
        """Returns ``function(block)`` of the process; the function is one of a module, as for ``Engine.map``.

        One call at a time. A cancelled call kills the process; the next call starts another process.

        Raises:
            Exception: the error of the function.
            WorkerError: the process died; the next call starts another process.
            OSError: no process can be started.
        """
        if self._process is not None and (self._reader.at_eof() or not self._process.is_alive()):  # it died while idle
            self.kill()
        if self._process is None:
            await self._start()
        message = pickle.dumps((function, block), pickle.HIGHEST_PROTOCOL)
        try:
            self._writer.write(len(message).to_bytes(LENGTH, "big") + message)
            await self._writer.drain()
            size = int.from_bytes(await self._reader.readexactly(LENGTH), "big")
            well, result = pickle.loads(await self._reader.readexactly(size))
        except (asyncio.IncompleteReadError, OSError):
            reason = await self._death()
            self.kill()
            raise WorkerError(reason, 0) from None
        except BaseException:  # a cancelled call, or a result that cannot be unpickled
            self.kill()
            raise
        if not well:
            raise result
        return result  # type: ignore[no-any-return]

    async def _death(self) -> str:
        """The way in which the process ended."""
        with suppress(TimeoutError):
            async with asyncio.timeout(REAPING_SECONDS):
                while self._process.exitcode is None:
                    await asyncio.sleep(REAPING_INTERVAL)
        return ended_how(self._process.exitcode)

    def kill(self) -> None:
        """Kills the process, busy or idle, without waiting for its end."""
        if self._process is None:
            return
        self._kill()
        self._writer.transport.abort()
        self._reap()

    def _kill(self) -> None:
        self._process.kill()
        self._at_exit.cancel()
        self._ending.append(self._process)
        self._process = None

    def _reap(self) -> None:
        """Takes the exit status of processes that have ended, now and as often as needed."""
        self._ending = [process for process in self._ending if process.exitcode is None]
        if self._ending:
            asyncio.get_running_loop().call_later(REAPING_INTERVAL, self._reap)

    def close(self) -> None:
        """Kills the process and waits for its end."""
        if self._process is not None:
            self._kill()
            with suppress(RuntimeError):  # of a closed event loop, which has closed the socket
                self._writer.transport.abort()
        for process in self._ending:
            process.join(REAPING_SECONDS)
        self._ending = []

    async def _start(self) -> None:
        ours, theirs = socket.socketpair()
        inherited = [_Sockets(theirs.fileno())] if self._context.get_start_method() == "fork" else []
        process = self._context.Process(
            target=serve_blocks,
            args=(_Frames(theirs), inherited, os.getpid(), {}, None, signal.SIG_IGN),
            daemon=True,
        )
        try:
            before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)  # until the worker ignores them
            try:
                process.start()
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
            self._reader, self._writer = await asyncio.open_connection(sock=ours)
        except BaseException:
            ours.close()
            if process.pid is not None:
                process.kill()
            raise
        finally:
            theirs.close()
        self._process = process
        # multiprocessing would send SIGTERM at the end of this process, and wait
        self._at_exit = Finalize(None, process.kill, exitpriority=100)


@dataclass
class _Frames:
    """The end of the process: sends and receives messages as ``multiprocessing.Connection`` does."""

    socket: socket.socket

    def send_bytes(self, message: bytes) -> None:
        """Sends a message.

        Raises:
            OSError: the owner has gone.
        """
        self.socket.sendall(len(message).to_bytes(LENGTH, "big"))
        self.socket.sendall(message)

    def recv_bytes(self) -> bytes:
        """Waits for a message.

        Raises:
            EOFError, OSError: the owner has gone.
        """
        return self._exactly(int.from_bytes(self._exactly(LENGTH), "big"))

    def _exactly(self, size: int) -> bytes:
        received = bytearray()
        while len(received) < size:
            if not (part := self.socket.recv(min(size - len(received), 1 << 20))):
                raise EOFError
            received += part
        return bytes(received)


class _Sockets:
    """All sockets of the process but one. A client would wait for the end of a socket that a worker holds open."""

    def __init__(self, spared: int) -> None:
        self._spared = spared

    def close(self) -> None:
        for name in os.listdir("/dev/fd"):
            number = int(name)
            with suppress(OSError):  # the folder's own
                if number > 2 and number != self._spared and stat.S_ISSOCK(os.fstat(number).st_mode):
                    os.close(number)
