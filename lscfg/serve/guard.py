"""The outermost layer of the application: hosts, sizes, names of requests, the log, faults, and clients that leave."""

from __future__ import annotations

import asyncio
import ipaddress
import re
import time
import traceback
from collections import Counter
from collections.abc import Awaitable, Iterable, Mapping, MutableMapping
from contextlib import suppress
from typing import Any, TypeVar
from uuid import uuid4

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lscfg import log
from lscfg.errors import quote
from lscfg.serve.refusal import RefusalError, refusal_response

Result = TypeVar("Result")

LOOPBACK = ("127.", "::1")

OTHER = "other"
"""Path in counts of what the application does not offer."""

_NAME = "lscfg.name"
"""Key of the name in the scope of a request."""

GONE = 499
"""Status in the log of a request whose client left before the answer."""


class Hosts:
    """Names under which clients may address the service.

    A page on another site can direct its own host name to 127.0.0.1 and so reach a service of this machine through a
    browser (DNS rebinding). The browser still sends that name as ``Host``.

    Args:
        address: the address that the service listens on. Off the loopback interface any name is accepted, unless names
            are given.
        names: further names, without ports.
        origins: origins whose pages may call the service; ``*`` for all.

    Attributes:
        origins: the same, as browsers send them.
    """

    def __init__(self, address: str, names: Iterable[str] = (), origins: Iterable[str] = ()):
        self._names = {name.lower().rstrip(".") for name in names}
        self._any = not self._names and not address.startswith((*LOOPBACK, "localhost"))
        self._names |= {"localhost", address.lower()}
        self.origins = tuple(dict.fromkeys(map(_sent_origin, origins)))

    def check(self, method: str, headers: Mapping[str, str]) -> None:
        """Refuses a request to another host, and a change from a page of another origin.

        Raises:
            RefusalError: the host or the origin is foreign.
        """
        host = headers.get("host", "")
        if host and not self._own(host):
            raise RefusalError(
                421, f"this service does not answer for the host {quote(host)}; allow it with --public-name"
            )
        origin = headers.get("origin", "").lower()
        if method not in ("GET", "HEAD", "OPTIONS") and origin and {"*", origin}.isdisjoint(self.origins):
            named = re.fullmatch(r"https?://(.+)", origin)
            if named is None or not (named[1] == host.lower() and self._own(named[1])):
                raise RefusalError(403, f"pages of {quote(origin)} may not call this service; allow them with --cors")

    def _own(self, host: str) -> bool:
        """True for an allowed name or any IP address, with or without a port: addresses cannot be rebound."""
        found = re.fullmatch(r"(\[[0-9a-f:.]+\]|[^:]*)(:\d*)?", host.lower())
        if found is None:
            return False
        name = found[1].strip("[]").rstrip(".")
        if self._any or name in self._names:
            return True
        with suppress(ValueError):
            return bool(ipaddress.ip_address(name))
        return False


def _sent_origin(origin: str) -> str:
    """An origin as browsers send it: in small letters, without the usual port and a slash at the end."""
    plain = origin.lower().rstrip("/")
    usual = {"http": ":80", "https": ":443"}.get(plain.partition(":")[0])
    return plain.removesuffix(usual) if usual else plain


def request_name(scope: MutableMapping[str, Any]) -> str:
    """The name of a request, which its scope keeps: the client's ``X-Request-ID``, or a new one."""
    if _NAME not in scope:
        given = Headers(scope=scope).get("x-request-id", "")
        scope[_NAME] = given if re.fullmatch(r"[\w.:-]{1,64}", given, re.ASCII) else uuid4().hex[:16]
    return str(scope[_NAME])


class Guard:
    """An ASGI application around another one.

    It refuses foreign hosts and large bodies, gives each request a name (``X-Request-ID``), logs and counts each
    answer, and turns faults into an answer and a message.

    Attributes:
        answers: number and seconds of the answers by path and status.
        left: number of clients that left before their answers.
    """

    def __init__(self, app: ASGIApp, hosts: Hosts, largest: int, paths: Iterable[str] = ()):
        self._app, self._hosts, self._largest = app, hosts, largest
        self._paths = {path: path.partition("{")[0] for path in paths}
        self.answers: dict[tuple[str, int], tuple[int, float]] = {}
        self.left = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await _Exchange(self, scope, receive, send).run(self._app, self._hosts, self._largest)

    def note(self, peer: str, status: int, error: str, name: str) -> None:
        """Counts and logs a refusal of something that was no request."""
        self.count("", status, 0.0)
        log.info(f"{peer} - {status} {name}: {error}")

    def count(self, path: str, status: int, seconds: float) -> None:
        """Counts an answer; paths that the application does not offer count together."""
        named = (one for one, start in self._paths.items() if one != start and path.startswith(start))
        known = path if path in self._paths else next(named, OTHER)
        count, before = self.answers.get((known, status), (0, 0.0))
        self.answers[known, status] = count + 1, before + seconds

    @property
    def statuses(self) -> dict[int, int]:
        """Number of answers by status."""
        found = Counter[int]()
        for (_, status), (count, _) in self.answers.items():
            found[status] += count
        return found


class _Exchange:
    """One request and its answer."""

    def __init__(self, guard: Guard, scope: Scope, receive: Receive, send: Send):
        self._guard, self._scope, self._receive, self._send = guard, scope, receive, send
        self._headers = Headers(scope=scope)
        self._name = request_name(scope)
        self._began = time.monotonic()
        self._size, self._read = 0, False
        self._status = 0

    async def run(self, app: ASGIApp, hosts: Hosts, largest: int) -> None:
        self._largest = largest
        scope = self._scope
        notes: MutableMapping[str, Any] = {}
        scope["lscfg.notes"] = notes  # the application adds what the log is to show
        scope["app"] = app  # lets Starlette's router raise for unknown paths and methods
        try:
            hosts.check(scope["method"], self._headers)
            await app(scope, self.receive, self.send)
        except RefusalError as refusal:
            notes["error"] = str(refusal)
            await refusal_response(refusal)(scope, self._receive, self.send)
        except ClientDisconnect:
            pass
        except asyncio.CancelledError:  # the service ends before the answer
            if not self._status:
                await self._fail(503, "the service has ended")
        except Exception as error:  # affects this request only: the service goes on
            log.warning("".join(traceback.format_exception(error)).rstrip())
            if not self._status:
                await self._fail(500, f"fault in lscfg: {type(error).__name__}; see the log")
        self._log(notes)

    async def _fail(self, status: int, message: str) -> None:
        self._scope["lscfg.notes"]["error"] = message
        await refusal_response(RefusalError(status, message))(self._scope, self._receive, self.send)

    async def receive(self) -> Message:
        """The next event of the client.

        Raises:
            RefusalError: the body is too large.
        """
        announced = self._headers.get("content-length", "0")
        if not self._size and int(announced) > self._largest:
            self._too_large()
        message = await self._receive()
        if message["type"] == "http.request":
            self._size += len(message.get("body", b""))
            self._read = not message.get("more_body", False)
            if self._size > self._largest:
                self._too_large()
        return message

    def _too_large(self) -> None:
        raise RefusalError(413, f"the request is larger than {self._largest} bytes; send less text at a time")

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            headers = MutableHeaders(scope=message)
            headers["x-request-id"] = self._name
            if not self._read and not self._empty():
                headers["connection"] = "close"
        await self._send(message)

    def _empty(self) -> bool:
        """True if the request announces no body."""
        return "transfer-encoding" not in self._headers and self._headers.get("content-length", "0") == "0"

    def _log(self, notes: Mapping[str, Any]) -> None:
        scope, seconds = self._scope, time.monotonic() - self._began
        refusal = scope.get("lscfg.refusal")  # of the connection, which has sent it
        status, done = self._status, notes.get("error") or notes.get("done")
        if refusal is not None:
            status, done = refusal.status, str(refusal)
        if status:
            self._guard.count(scope["path"], status, seconds)
        else:
            self._guard.left += 1
            status, done = GONE, "the client has left"
        client = scope.get("client")
        target = scope.get("raw_path", scope["path"].encode()).decode("latin-1")
        asked = f"{client[0] if client else '-'} {quote(scope['method'])[1:-1]} {quote(target)[1:-1]}"
        log.info(f"{asked} {status} {seconds:.3f} s {self._name}" + (f": {done}" if done else ""))


async def while_connected(receive: Receive, work: Awaitable[Result]) -> Result:
    """Returns the result of the work, which is cancelled when the client leaves.

    Args:
        receive: of a request; the rest of its body, if any, is read and dropped.

    Raises:
        ClientDisconnect: the client has left.
        RefusalError: the body is too large.
    """
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_disconnect(receive))
    try:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            leaving.result()  # raises the refusal of a large body
            raise ClientDisconnect
        return working.result()
    finally:
        working.cancel()
        leaving.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


async def _disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
