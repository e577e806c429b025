"""The server: accepts connections until a signal ends it, and finishes the requests under way."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import time
import traceback

from lscfg import log
from lscfg.errors import InputError, quote
from lscfg.serve.application import Application
from lscfg.serve.http import Channel, Head, RefusalError, Response

# One thread reads and writes all connections, so slow clients cost only memory. Sentences go to processes, which can
# be killed, unlike threads: a sentence that takes too long costs only its request. Threads would also share one
# vocabulary, which grows with every unknown word.

CONNECTIONS = 128
"""Clients at the same time; further clients are refused."""

LOOPBACK = ("127.", "::1")


def listen(host: str, port: int) -> socket.socket:
    """A socket that is bound to the address and does not accept connections yet.

    Raises:
        InputError: the address does not exist, or is in use.
    """
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        made = socket.socket(family, kind)
        try:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind(address)
        except BaseException:
            made.close()
            raise
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot listen at {quote(host)} port {port}: {reason}") from error
    return made


class Server:
    """Serves an application on a socket."""

    def __init__(self, application: Application, listening: socket.socket):
        self._application, self._socket = application, listening
        self._clients: set[asyncio.Task[None]] = set()
        self._idle: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Serves until SIGTERM, SIGINT or SIGHUP; then answers the requests under way, and returns."""
        ended = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(number, ended.set)
        server = await asyncio.start_server(self._client, sock=self._socket)
        log.info(f"{self._application.system.name} is served at {self._url()}; SIGTERM ends it")
        await ended.wait()
        self._application.draining = True
        server.close()
        for client in self._idle:
            client.cancel()
        if self._clients:
            log.info(f"{len(self._clients)} clients get their answers first")
            # to read a request, to answer it, to be read
            await asyncio.wait(self._clients, timeout=3 * self._application.settings.timeout)
        log.info("ended")

    def _url(self) -> str:
        host, port = self._socket.getsockname()[:2]
        if not host.startswith(LOOPBACK):
            log.warning("the address is not loopback: whoever reaches it can use the service, and nothing is encrypted")
        return f"http://{f'[{host}]' if ':' in host else host}:{port}"

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._clients.add(task)
        channel = Channel(reader, writer, self._application.settings.max_request)
        try:
            if len(self._clients) > CONNECTIONS:
                full = RefusalError(503, f"{CONNECTIONS} clients are connected; try again later", {"retry-after": "1"})
                await self._send(channel, full.response, None, time.monotonic())
                return
            while await self._next(channel, task) and await self._exchange(channel):
                pass
        except (ConnectionError, TimeoutError, asyncio.CancelledError):
            pass  # the client has left, does not read, or was idle as the service ended
        finally:
            await channel.close()
            self._clients.discard(task)

    async def _next(self, channel: Channel, task: asyncio.Task[None]) -> bool:
        """True if a request begins before the client has been idle for too long."""
        if self._application.draining:
            return False
        self._idle.add(task)
        try:
            async with asyncio.timeout(self._application.settings.timeout):
                return await channel.begun()
        finally:
            self._idle.discard(task)

    async def _exchange(self, channel: Channel) -> bool:
        """Answers one request; returns True if another request may follow."""
        began = time.monotonic()
        head: Head | None = None
        try:
            async with asyncio.timeout(self._application.settings.timeout):
                if (head := await channel.head()) is None:
                    return False
                self._application.route(head)
                if (body := await channel.body(head)) is None:
                    return False
            response = await self._application.answer(head, body)
        except RefusalError as refusal:
            response = refusal.response
        except TimeoutError:
            response = RefusalError(408, "the request did not come in time").response
        except ConnectionError:
            raise
        except Exception as error:  # affects this request only: the service goes on
            log.warning("".join(traceback.format_exception(error)).rstrip())
            response = RefusalError(500, f"fault in lscfg: {type(error).__name__}; see the log").response
        return await self._send(channel, response, head, began)

    async def _send(self, channel: Channel, response: Response, head: Head | None, began: float) -> bool:
        """Sends a response and logs it; returns True if another request may follow."""
        self._application.count(response.status)
        asked = f"{quote(head.method)[1:-1]} {quote(head.path)[1:-1]}" if head else "-"
        done = f": {response.content['error']}" if "error" in response.content else ""
        if "translations" in response.content:
            done = f": {len(response.content['translations'])} sentences"
        with contextlib.suppress(OSError):  # the service goes on without a log
            log.info(f"{channel.peer} {asked} {response.status} {time.monotonic() - began:.3f} s{done}")
        async with asyncio.timeout(self._application.settings.timeout):
            return await channel.send(response, last=self._application.draining)
