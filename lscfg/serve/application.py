"""Answers to requests: translations, and the state of the service."""

from __future__ import annotations

import asyncio
import pickle
import time
from collections import Counter
from collections.abc import Iterable
from typing import Any
from uuid import uuid4

from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp

from lscfg import log
from lscfg.bundle.system import TranslationSystem
from lscfg.errors import KernelError, LscfgError, WorkerError, cut, quote
from lscfg.serve.description import metrics, openapi
from lscfg.serve.guard import Guard, Hosts, while_connected
from lscfg.serve.pool import WorkerPool
from lscfg.serve.query import Query, check_content, read_query
from lscfg.serve.refusal import JsonLine, RefusalError, refusal_response
from lscfg.serve.settings import ServeSettings
from lscfg.serve.translator import (
    BadSentenceError,
    LongSentenceError,
    SentenceWork,
    TranslationOptions,
    open_translator,
    translate_sentence,
)
from lscfg.version import __version__

ROUTES = {"/translate": "POST", "/health": "GET", "/metrics": "GET", "/openapi.json": "GET"}


ADMISSION_SECONDS = 0.6
"""Seconds that a request waits for a place in a full queue."""


class Application:
    """Answers requests for one system, which it opens in this thread; workers are forked from this thread.

    Args:
        hosts: names of the service and of its guests.
        origins: origins whose pages may read answers; ``*`` for all.

    Attributes:
        asgi: the application for a server of ASGI.
        draining: True when the service is about to end and begins no new work.

    Raises:
        InputError: the system cannot be opened.
    """

    def __init__(
        self,
        system: TranslationSystem,
        pool: WorkerPool,
        settings: ServeSettings,
        hosts: Hosts,
        origins: Iterable[str] = (),
    ):
        self.system, self.settings, self.draining = system, settings, False
        self._pool = pool
        self._described = uuid4().hex, pickle.dumps(system)
        open_translator(*self._described).warm()
        self.at_work = 0
        self._counts = Counter[str]()
        self.asgi = Guard(self._layers([*origins]), hosts, settings.max_request)

    def _layers(self, origins: list[str]) -> ASGIApp:
        endpoints = (self._translate, self._health, self._metrics, self._openapi)
        routes = [
            Route(path, endpoint, methods=[method])
            for (path, method), endpoint in zip(ROUTES.items(), endpoints, strict=True)
        ]
        app: ASGIApp = Router(routes, redirect_slashes=False)
        app = ExceptionMiddleware(app, {HTTPException: _unrouted, RefusalError: _refused})
        if not origins:
            return app
        headers = ["content-type", "x-request-id"]
        return CORSMiddleware(app, origins, ["GET", "POST"], headers, expose_headers=["x-request-id"])

    def stop(self) -> None:
        """Kills the workers without waiting for their ends."""
        self._pool.kill()

    # ---- the state ----

    def state(self) -> dict[str, Any]:
        """Facts and counts of the service."""
        statuses = self.asgi.statuses
        return {
            "ready": not self.draining,
            "system": self.system.name,
            "sha256": self.system.sha256,
            "raw": self.system.preparation is not None,
            "lscfg": __version__,
            "workers": self._pool.workers,
            "at_work": self.at_work,
            "sentences": self._counts["sentences"],
            "words": self._counts["words"],
            "unknown": self._counts["unknown"],
            "unparsed": self._counts["unparsed"],
            "worker_deaths": self._pool.deaths,
            "clients_left": self.asgi.left,
            "responses": {str(status): statuses[status] for status in sorted(statuses)},
        }

    async def _health(self, request: Request) -> Response:
        return JsonLine(self.state(), 503 if self.draining else 200)

    async def _metrics(self, request: Request) -> Response:
        return PlainTextResponse(metrics(self.state(), self.asgi.seconds), media_type="text/plain; version=0.0.4")

    async def _openapi(self, request: Request) -> Response:
        return JsonLine(openapi(ROUTES, self.settings))

    # ---- translations ----

    async def _translate(self, request: Request) -> Response:
        check_content(request.headers)
        query = read_query(await request.body(), self.settings, self.system.preparation is not None)
        await self._admit()
        self.at_work += 1
        try:
            async with asyncio.timeout(self.settings.timeout):
                translations = await while_connected(request.receive, self._each(query))
        except TimeoutError:
            raise RefusalError(
                503, f"not translated within {self.settings.timeout:g} s; send fewer sentences at a time"
            ) from None
        finally:
            self.at_work -= 1
        request.scope["lscfg.notes"]["done"] = f"{len(translations)} sentences"
        self._counts["sentences"] += len(translations)
        self._counts["unparsed"] += sum(not found["parsed"] for found in translations)
        return JsonLine({"translations": translations})

    async def _admit(self) -> None:
        """Waits for a moment where the queue is full: clients that have just left still hold their places.

        Raises:
            RefusalError: no place became free.
        """
        end = time.monotonic() + ADMISSION_SECONDS
        while self.at_work >= self.settings.queue:
            if time.monotonic() > end:
                message = f"{self.at_work} requests are under way or wait; try again later"
                raise RefusalError(503, message, {"retry-after": "1"})
            await asyncio.sleep(0.05)

    async def _each(self, query: Query) -> list[dict[str, Any]]:
        """Translates sentence by sentence, at most one for each worker at a time, so that requests take turns."""
        found: list[dict[str, Any]] = [{} for _ in query.texts]
        refused: dict[int, RefusalError] = {}
        numbered = iter(enumerate(query.texts))

        async def take_turns() -> None:
            for number, text in numbered:
                try:
                    found[number] = await self._one(number, text, query.options)
                except RefusalError as refusal:
                    refused[number] = refusal
                if refused:  # sentences under way go on: to stop one would kill a worker
                    return

        turns = [asyncio.ensure_future(take_turns()) for _ in range(min(self._pool.workers, len(query.texts)))]
        try:
            await asyncio.gather(*turns)
        finally:  # a fault of one ends the others, as does the end of the request
            for turn in turns:
                turn.cancel()
        if refused:
            raise refused[min(refused)]
        return found

    async def _one(self, number: int, text: str, options: TranslationOptions) -> dict[str, Any]:
        where = f"source[{number}]"
        try:
            work = SentenceWork(*self._described, text, options)
            answer, words, unknown = await self._pool.call(translate_sentence, work, len(text.encode()))
        except BadSentenceError as error:
            raise RefusalError(413 if isinstance(error, LongSentenceError) else 400, f"{where}: {error}") from None
        except WorkerError as error:
            raise RefusalError(500, f"{where}: {error.reason}") from error
        except (MemoryError, KernelError) as error:
            if "memory" not in f"{type(error).__name__}: {error}".lower():
                raise
            log.warning(f"a worker failed: {type(error).__name__}: {error}")
            raise RefusalError(503, f"{where}: out of memory; send a shorter sentence, or try again later") from error
        except OSError as error:
            log.warning(f"no worker can be started: {error}")
            raise RefusalError(503, "no worker can be started; try again later", {"retry-after": "1"}) from error
        except LscfgError as error:
            raise RefusalError(500, f"{where}: {error}") from error
        self._counts["words"] += words
        self._counts["unknown"] += unknown
        return answer


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, RefusalError)
    request.scope["lscfg.notes"]["error"] = str(error)
    return refusal_response(error)


async def _unrouted(request: Request, error: Exception) -> Response:
    """The answer where no path and method fit; to OPTIONS the methods."""
    assert isinstance(error, HTTPException)
    path = request.scope["path"]
    allowed = set(ROUTES.values()) if path == "*" else {ROUTES[path]} if path in ROUTES else set()
    if request.method == "OPTIONS" and allowed:
        heads = {"HEAD"} if "GET" in allowed else set()
        return Response(None, 204, {"allow": ", ".join(sorted(allowed | heads | {"OPTIONS"}))})
    if allowed:
        wanted = ROUTES[path]
        message = f"{path} takes {wanted}, not {cut(request.method)}"
        return await _refused(request, RefusalError(405, message, {"allow": wanted}))
    message = f"no path {quote(path)}; paths are {', '.join(ROUTES)}"
    return await _refused(request, RefusalError(404, message))
