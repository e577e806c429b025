"""HTTP/1.1 by uvicorn and h11, with the limits that both leave open: times, connections, and heads with two meanings.

uvicorn waits without end for the rest of a head, and h11 takes a request with both ``Content-Length`` and
``Transfer-Encoding``, which a proxy in front may end elsewhere. uvicorn also closes a connection while the client is
still sending, so that the client may lose the reason of a refusal.
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, cast

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from lscfg.serve.guard import request_name
from lscfg.serve.refusal import RefusalError, json_line
from lscfg.version import __version__

LONGEST_HEAD = 1 << 14
"""Maximal bytes of a request line and its headers, exceeded by less than one read."""

READ_BYTES = 1 << 14
"""Bytes of a connection that are handled before the others get their turn: many small chunks take long."""

MANY_CHUNKS, CHUNK_BYTES = 1000, 16
"""A body may come in so many chunks of any size; beyond, in chunks of so many bytes on average."""

HELD_BYTES = 1 << 16
"""Bytes of a connection that are kept while nobody takes them; then the client has to wait."""

LINGER_SECONDS, LINGER_BYTES = 2.0, 1 << 24
"""Seconds and bytes that a client may still send after its request was refused."""

HALF_CLOSED_SECONDS = 0.25
"""Seconds in which a client that has closed its side may still get an answer: it has left, or ended its request."""

EVICTABLE_SECONDS = 1.0
"""A connection that keeps the server waiting for so long gives way to another client where no place is left."""

Note = Callable[[str, int, str, str], None]
"""Takes the client's address, the status, the reason and the name of a request that the application never saw."""


class ServiceConfig(uvicorn.Config):
    """uvicorn's configuration, with the limits of connections.

    Args:
        seconds: for a request to come, for an answer to be taken, and for a connection to be idle.
        most: connections at the same time.
        note: called for each refused request that the application does not see.
    """

    def __init__(self, app: ASGIApp, seconds: float, most: int, note: Note):
        super().__init__(
            cast("Any", app),
            http=LimitedProtocol,
            ws="none",
            lifespan="off",
            loop="asyncio",
            interface="asgi3",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            headers=[("server", f"lscfg/{__version__}"), ("cache-control", "no-store")],
            backlog=128,
        )
        self.seconds, self.most, self.note = seconds, most, note
        self.timeout_keep_alive = seconds  # type: ignore[assignment]  # any number of seconds does
        self.lingering: set[LimitedProtocol] = set()


# ---- heads ----


class StrictConnection(h11.Connection):
    """h11's state of a connection, which refuses requests that others may understand otherwise."""

    def __init__(self) -> None:
        super().__init__(h11.SERVER, LONGEST_HEAD)
        self.method = b""  # of the last request
        self._chunks = self._received = 0

    def next_event(self) -> Any:
        event = super().next_event()
        if isinstance(event, h11.Request):
            self.method, self._chunks, self._received = event.method, 0, 0
            return _checked(event)
        if isinstance(event, h11.Data):
            self._chunks += 1
            self._received += len(event.data)
            if self._chunks > MANY_CHUNKS and self._received < CHUNK_BYTES * self._chunks:
                raise h11.RemoteProtocolError("the body comes in too many small chunks", 413)
        return event


def _checked(request: h11.Request) -> h11.Request:
    """The request with its target as a path, and the host of the target.

    Raises:
        h11.RemoteProtocolError: the request has two lengths, or is not of HTTP/1.0 or 1.1.
    """
    version = request.http_version
    if version not in (b"1.0", b"1.1"):
        raise h11.RemoteProtocolError(f"unsupported version HTTP/{version.decode('latin-1')}; use HTTP/1.1")
    names = {name for name, _ in request.headers}
    if b"transfer-encoding" in names and (b"content-length" in names or version == b"1.0"):
        raise h11.RemoteProtocolError("Transfer-Encoding with Content-Length, or in HTTP/1.0, gives two lengths")
    if request.target.startswith(b"/") or request.method == b"CONNECT" or request.target == b"*":
        return request
    absolute = re.fullmatch(rb"https?://([^/?#@]+)(/[^?#]*)?(\?[^#]*)?", request.target, re.IGNORECASE)
    if absolute is None:
        raise h11.RemoteProtocolError("the target must be a path, or http:// with a host and a path")
    headers = [(name, value) for name, value in request.headers if name != b"host"]
    return h11.Request(
        method=request.method,
        target=(absolute[2] or b"/") + (absolute[3] or b""),
        headers=[(b"host", absolute[1]), *headers],
        http_version=version,
    )


# ---- connections ----


class _Transport:
    """The transport of a connection, whose ``close`` is that of the protocol."""

    def __init__(self, transport: asyncio.Transport, close: Callable[[], None]):
        self._transport, self._close = transport, close
        self.closed = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def is_closing(self) -> bool:
        return self.closed or self._transport.is_closing()

    def pause_reading(self) -> None:
        if not self.closed:
            self._transport.pause_reading()

    def close(self) -> None:
        if not self.is_closing():
            self.closed = True
            self._close()


class LimitedProtocol(H11Protocol):
    """The connection of a client, within its limits of time.

    At each moment the connection waits for one of three: the client's next bytes, the application, or the client to
    take an answer. The first and the last end after the seconds of the configuration.
    """

    config: ServiceConfig

    def __init__(
        self,
        config: ServiceConfig,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config=config, server_state=server_state, app_state=app_state, _loop=_loop)
        self.conn: StrictConnection = StrictConnection()
        self._unread = False  # True after a refusal of a request that was not read to its end
        self._left = LINGER_BYTES
        self._begun = False  # part of a request has come
        self._since = 0.0  # time since which the server waits for the client
        self._deadline: asyncio.TimerHandle | None = None
        self._writing: asyncio.TimerHandle | None = None
        self._lingering: asyncio.TimerHandle | None = None
        self._ended: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._real = transport
        transport.set_write_buffer_limits(0)  # reports when all is written
        if hasattr(transport, "max_size"):  # of asyncio's own transport
            transport.max_size = READ_BYTES
        super().connection_made(cast("asyncio.Transport", _Transport(transport, self._close)))
        if self.client is None and (name := transport.get_extra_info("peername")):  # of a client that has left already
            self.client = str(name[0]), int(name[1])
        self.flow.pause_reading = self._pause_reading  # type: ignore[method-assign]
        if len(self.connections) - len(self.config.lingering) > self.config.most and not self._evict():
            refusal = RefusalError(
                503, f"{self.config.most} clients are connected; try again later", {"retry-after": "1"}
            )
            self._refuse(refusal)
        else:
            self._watch()

    def _evict(self) -> bool:
        """Closes the connection that has kept the server waiting for longest; False if none may be closed."""
        others = cast("set[LimitedProtocol]", self.connections) - {self} - self.config.lingering
        waiting = [other for other in others if other._deadline is not None]
        if not waiting:
            return False
        first = min(waiting, key=lambda other: other._since)
        if self.loop.time() - first._since < EVICTABLE_SECONDS:
            return False
        first._late()
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_deadline()
        for timer in (self._writing, self._lingering, self._ended):
            if timer is not None:
                timer.cancel()
        self.config.lingering.discard(self)
        super().connection_lost(exc)
        self._unset_keepalive_if_required()

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            self._left -= len(data)
            if self._left < 0:
                self._real.abort()
            return
        super().data_received(data)
        self._watch()

    def eof_received(self) -> bool:  # type: ignore[override]
        """The client has closed its side; returns True if the connection stays open for an answer."""
        if self.transport.is_closing() or not self._busy():
            return False
        self._ended = self.loop.call_later(HALF_CLOSED_SECONDS, self._real.abort)
        return True

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._ended is not None and not self._busy():
            self._ended.cancel()
            self.transport.close()
        self._watch()

    def shutdown(self) -> None:
        if self.transport.is_closing() or self.conn.our_state is h11.ERROR:
            self._real.abort()
        else:
            super().shutdown()

    def send_400_response(self, msg: str) -> None:
        """Refuses what is not a request; called while the error is handled."""
        error = sys.exc_info()[1]
        status = getattr(error, "error_status_hint", 400)
        self._refuse(RefusalError(status if status < 500 else 400, f"not a request of HTTP/1.1: {error or msg}"))

    # ---- times ----

    def _busy(self) -> bool:
        """True while the application works, or could, on a request that has come completely."""
        return self.cycle is not None and not self.cycle.response_complete and not self.cycle.more_body

    def _watch(self) -> None:
        """Sets the deadline of the next bytes, unless the same deadline runs."""
        begun = self.conn.their_state is h11.SEND_BODY or bool(self.conn.trailing_data[0])
        if self.transport.is_closing():
            return
        if self._busy():
            self._cancel_deadline()
        elif self._deadline is None or begun != self._begun:
            self._cancel_deadline()
            self._begun, self._since = begun, self.loop.time()
            self._deadline = self.loop.call_later(self.config.seconds, self._late)

    def _late(self) -> None:
        if self._begun:
            self._refuse(RefusalError(408, "the request did not come in time"))
        else:
            self.transport.close()

    def _cancel_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._writing is None:
            self._writing = self.loop.call_later(self.config.seconds, self._real.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._writing is not None:
            self._writing.cancel()
            self._writing = None

    def _pause_reading(self) -> None:
        """Stops reading if much is held; else reading goes on, since it shows that the client has gone."""
        held = len(self.conn.trailing_data[0]) + len(self.cycle.body)
        if held > HELD_BYTES and not self.flow.read_paused:
            self.flow.read_paused = True
            self.transport.pause_reading()

    # ---- ends ----

    def _leave(self, refusal: RefusalError | None = None) -> bool:
        """Marks the request under way as abandoned; returns False if none is under way."""
        if self.cycle is None or self.cycle.response_complete:
            return False
        if refusal is not None:
            cast("dict[str, Any]", self.cycle.scope)["lscfg.refusal"] = refusal
        self.cycle.disconnected = True
        self.cycle.message_event.set()
        return True

    def _refuse(self, refusal: RefusalError) -> None:
        """Answers instead of the application, and closes the connection."""
        if self._leave(refusal):
            name = request_name(cast("dict[str, Any]", self.cycle.scope))
        else:
            name = request_name({"headers": []})
            self.config.note(self.client[0] if self.client else "-", refusal.status, str(refusal), name)
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            self._answer(refusal.status, {"error": str(refusal)}, {**refusal.headers, "x-request-id": name})
        self._unread = True
        self.transport.close()

    def _answer(self, status: int, content: Any, more: Mapping[str, str]) -> None:
        body = json_line(content)
        headers = [
            *self.server_state.default_headers,
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
            *((name.encode(), value.encode()) for name, value in more.items()),
        ]
        reason = HTTPStatus(status).phrase.encode()
        for event in (
            h11.Response(status_code=status, headers=headers, reason=reason),
            h11.Data(data=b"" if self.conn.method == b"HEAD" else body),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")

    def _close(self) -> None:
        """Closes the connection. A client that is still sending may go on for a while, or it might miss the answer."""
        self._leave()
        self._cancel_deadline()
        if not self._unread and self.conn.their_state is not h11.SEND_BODY:
            self._real.close()
            return
        self.config.lingering.add(self)
        if len(self.config.lingering) > self.config.most:
            self._real.abort()
            return
        self._lingering = self.loop.call_later(LINGER_SECONDS, self._real.abort)
        self._real.resume_reading()
        try:
            self._real.write_eof()
        except OSError:  # the client has reset the connection
            self._real.abort()
