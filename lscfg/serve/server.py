"""The server: accepts connections until a signal ends it, and finishes the requests under way."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import resource
import signal
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

import uvicorn

from lscfg import log
from lscfg.errors import quote
from lscfg.serve.application import Application
from lscfg.serve.guard import LOOPBACK
from lscfg.serve.protocol import ServiceConfig

# One thread reads and writes all connections, so slow clients cost only memory. Sentences go to processes, which can
# be killed, unlike threads: a sentence that takes too long costs only its request. Threads would also share one
# vocabulary, which grows with every unknown word.

CONNECTIONS = 128
"""Clients at the same time; further clients are refused."""

SPARED = 16
"""File descriptors that are left for workers, files and connections that are about to be refused."""

FOREIGN = ("uvicorn", "asyncio")
"""Loggers of the libraries."""

SILENT_SECONDS = 60.0
"""Seconds in which a library's message is shown once."""


def most_connections() -> int:
    """Connections for which the process has file descriptors, at most ``CONNECTIONS``."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return CONNECTIONS
    return max(1, min(CONNECTIONS, (soft - len(os.listdir("/dev/fd")) - SPARED) // 2))


class Server(uvicorn.Server):
    """Serves an application on a socket.

    Args:
        started: called when the server accepts connections.
    """

    def __init__(self, application: Application, listening: socket.socket, started: Callable[[], None] = lambda: None):
        self._application, self._socket, self._started = application, listening, started
        guard, seconds = application.asgi, application.settings.timeout
        # without timeout_graceful_shutdown: reading, work and being read have limits, and long files take long
        super().__init__(ServiceConfig(guard, seconds, most_connections(), guard.note))

    async def run_until_signal(self) -> None:
        """Serves until SIGTERM, SIGINT or SIGHUP; then answers the requests under way, and returns.

        A second signal ends the service at once.
        """
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(_asyncio_fault)
        serving = asyncio.current_task()
        assert serving is not None
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(number, self._end, serving)
        with _few_foreign_messages():
            try:
                await self.serve([self._socket])
            except asyncio.CancelledError:
                if not self.force_exit:
                    raise
                log.warning(f"ended at once; {self._application.at_work} requests were not answered")
            finally:
                self._application.stop()
        log.info("ended")

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leaves signals to ``run_until_signal``: uvicorn would raise them again at the end."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        log.info(f"{quote(self._application.system.name)[1:-1]} is served at {self._url()}; SIGTERM ends it")
        self._started()

    def _end(self, serving: asyncio.Task[Any]) -> None:
        """Ends the service: at the first signal after its answers, at the second at once."""
        if self.should_exit:
            self.force_exit = True
            serving.cancel()
            return
        self.should_exit = self._application.draining = True
        if at_work := self._application.at_work:
            log.info(f"{at_work} requests get their answers first")

    def _url(self) -> str:
        host, port = self._socket.getsockname()[:2]
        if not host.startswith(LOOPBACK):
            log.warning("the address is not loopback: whoever reaches it can use the service, and nothing is encrypted")
        return f"http://{f'[{host}]' if ':' in host else host}:{port}"


# ---- messages of the libraries ----


class _Foreign(logging.Handler):
    """Hands messages of other libraries to the log, each at most once in ``SILENT_SECONDS``."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self._shown: dict[str, float] = {}

    def emit(self, record: logging.LogRecord) -> None:
        if _is_new(self._shown, str(record.msg)):
            reason = f": {record.exc_info[1]!r}" if record.exc_info else ""
            log.warning(f"{record.name}: {record.getMessage()}{reason}")


def _is_new(shown: dict[str, float], message: str) -> bool:
    """True if the message was not shown in the last ``SILENT_SECONDS``."""
    now = time.monotonic()
    if now - shown.get(message, -SILENT_SECONDS) < SILENT_SECONDS:
        return False
    if len(shown) > 100:
        shown.clear()
    shown[message] = now
    return True


@contextlib.contextmanager
def _few_foreign_messages() -> Iterator[None]:
    handler = _Foreign()
    loggers = [logging.getLogger(name) for name in FOREIGN]
    before = [(logger.level, logger.propagate) for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(logging.ERROR)
        logger.propagate = False
    try:
        yield
    finally:
        for logger, (level, propagate) in zip(loggers, before, strict=True):
            logger.removeHandler(handler)
            logger.setLevel(level)
            logger.propagate = propagate


_seen: dict[str, float] = {}


def _asyncio_fault(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Logs a fault of a callback: in one line where the system has no more descriptors or memory."""
    error = context.get("exception")
    if isinstance(error, OSError) and error.errno in (errno.ENOTCONN, errno.ECONNRESET, errno.EPIPE):
        return  # a client that has left
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM):
        if _is_new(_seen, str(error.errno)):
            log.warning(f"connections must wait: {error.strerror}")
    elif _is_new(_seen, f"{context.get('message')} {error!r}"):
        loop.default_exception_handler(context)
