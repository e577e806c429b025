"""HTTP/1.1 over a stream: requests in, JSON out. h11 implements the protocol; this module limits sizes and times."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import formatdate
from http import HTTPStatus
from typing import Any

import h11

from lscfg.errors import LscfgError
from lscfg.version import __version__

CHUNK = 1 << 14
LONGEST_HEAD = 1 << 14
"""Maximal bytes of a request line and its headers, exceeded by less than a chunk."""

LINGER_SECONDS, LINGER_BYTES = 2.0, 1 << 24
"""Seconds and bytes that a client may still send after its request was refused."""


@dataclass(frozen=True)
class Head:
    """A request line and its headers."""

    method: str
    path: str
    """The path, without a query."""
    headers: Mapping[str, str]
    """Values by name in lower case; of a repeated name the last value."""


@dataclass(frozen=True)
class Response:
    """An answer; the content is a JSON value."""

    status: int
    content: Any
    headers: Mapping[str, str] = field(default_factory=dict)


class RefusalError(LscfgError):
    """A refused request: a status and one line with the reason."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None):
        super().__init__(message)
        self.status, self.headers = status, dict(headers or {})

    @property
    def response(self) -> Response:
        """The answer to the client."""
        return Response(self.status, {"error": " ".join(str(self).split())}, self.headers)


class Channel:
    """The connection of a client.

    Args:
        largest: maximal bytes of the body of a request.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, largest: int):
        self._reader, self._writer, self._largest = reader, writer, largest
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=LONGEST_HEAD)
        self._unread = False  # True after an answer to a request that was not read to its end
        writer.transport.set_write_buffer_limits(0)  # makes ``drain`` wait until everything is written

    @property
    def peer(self) -> str:
        """Address of the client."""
        name = self._writer.get_extra_info("peername")
        return str(name[0]) if name else "-"

    async def begun(self) -> bool:
        """Waits for the beginning of a request; False if the client leaves."""
        return bool(self._http.trailing_data[0]) or await self._receive()

    async def _receive(self) -> bool:
        data = await self._reader.read(CHUNK)
        self._http.receive_data(data)
        return bool(data)

    async def head(self) -> Head | None:
        """Reads the head of a request; None if the client has left.

        Raises:
            RefusalError: the head is not HTTP/1.1.
        """
        event = await self._event()
        if not isinstance(event, h11.Request):
            return None
        if event.http_version not in (b"1.0", b"1.1"):
            raise RefusalError(400, f"unsupported version HTTP/{event.http_version.decode('latin-1')}; use HTTP/1.1")
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in event.headers}
        target = event.target.decode("latin-1")
        return Head(event.method.decode("latin-1"), target.partition("?")[0], headers)

    async def body(self, head: Head) -> bytes | None:
        """Reads the body of a request; None if the client has left.

        Raises:
            RefusalError: the body is too large, or not HTTP.
        """
        self._check_size(int(head.headers.get("content-length", 0)))
        if self._http.they_are_waiting_for_100_continue:
            self._writer.write(self._http.send(h11.InformationalResponse(status_code=100, headers=[])) or b"")
        parts, size = [], 0
        while isinstance(event := await self._event(), h11.Data):
            parts.append(bytes(event.data))
            size += len(event.data)
            self._check_size(size)
        return b"".join(parts) if isinstance(event, h11.EndOfMessage) else None

    def _check_size(self, size: int) -> None:
        if size > self._largest:
            raise RefusalError(413, f"the request is larger than {self._largest} bytes; send fewer sentences at a time")

    async def _event(self) -> Any:
        try:
            while (event := self._http.next_event()) is h11.NEED_DATA:
                await self._receive()
        except h11.RemoteProtocolError as error:
            status = error.error_status_hint if error.error_status_hint < 500 else 400
            raise RefusalError(status, f"not a request of HTTP/1.1: {error}") from None
        return event

    async def send(self, response: Response, last: bool) -> bool:
        """Writes the response; returns True if another request may follow.

        Args:
            last: close the connection afterwards.
        """
        content = json.dumps(response.content, ensure_ascii=False, allow_nan=False).encode() + b"\n"
        headers = {
            "date": formatdate(usegmt=True),
            "server": f"lscfg/{__version__}",
            "content-type": "application/json",
            "content-length": str(len(content)),
            "cache-control": "no-store",
            **response.headers,
        }
        self._unread = self._http.their_state is not h11.DONE
        last = last or self._unread
        if last:
            headers["connection"] = "close"
        for event in (
            h11.Response(status_code=response.status, headers=list(headers.items()), reason=_phrase(response.status)),
            h11.Data(data=content),
            h11.EndOfMessage(),
        ):
            self._writer.write(self._http.send(event) or b"")
        await self._writer.drain()
        if last or self._http.our_state is not h11.DONE:
            return False
        self._http.start_next_cycle()
        return True

    async def close(self) -> None:
        """Closes the connection. A client that is still sending may go on for a while, or it might miss the answer."""
        with contextlib.suppress(OSError):  # of a broken connection, which differ between systems
            async with asyncio.timeout(LINGER_SECONDS):
                if self._unread:
                    self._writer.write_eof()
                    left = LINGER_BYTES
                    while left > 0 and (data := await self._reader.read(CHUNK)):
                        left -= len(data)
        self._writer.transport.abort()


def _phrase(status: int) -> bytes:
    return HTTPStatus(status).phrase.encode()
