"""Answers to requests: translations, the page, and the state of the service."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Match, Route, Router
from starlette.types import ASGIApp

from lscfg.bundle.system import TranslationSystem
from lscfg.errors import counted, cut, quote
from lscfg.serve import corrections, why_not
from lscfg.serve.corrections import Corrections
from lscfg.serve.description import ShownScore, metrics, openapi, system_facts
from lscfg.serve.dispatch import Dispatcher, RequestSentence
from lscfg.serve.guard import Guard, Hosts
from lscfg.serve.libre import check_key, read_content
from lscfg.serve.page import FILES, page_response, report_response
from lscfg.serve.pool import WorkerPool
from lscfg.serve.query import read_query
from lscfg.serve.refusal import JsonLine, RefusalError, refusal_response
from lscfg.serve.settings import ServeSettings
from lscfg.serve.text_requests import TextRequests
from lscfg.serve.texts import NO_LANGUAGES, LanguagePair, pair_facts
from lscfg.serve.why_not import WhyNotRequests
from lscfg.version import __version__

PAGE = dict.fromkeys(FILES, ("GET",))
ROUTES = {
    "/translate": ("POST",),
    "/translate_file": ("POST",),
    "/download_file/{name}": ("GET",),
    "/detect": ("POST",),
    why_not.PATH: ("POST",),
    "/languages": ("GET",),
    "/system": ("GET",),
    "/health": ("GET",),
    "/metrics": ("GET",),
    "/openapi.json": ("GET",),
}
"""Methods of each path without those of the page."""


@dataclass(frozen=True)
class Offer:
    """Choices of the person who runs the service.

    Attributes:
        page: offer the page at ``/``.
        languages: languages of a system without a preparation.
        keys: keys of which each POST must contain one; empty: none is needed.
        report: report of the experiment that made the system.
        scores: scores of the system in that experiment.
    """

    page: bool = True
    languages: LanguagePair = NO_LANGUAGES
    keys: tuple[str, ...] = ()
    report: bytes | None = field(default=None, repr=False)
    scores: tuple[ShownScore, ...] = ()


class Application:
    """Answers requests for one system, which it opens in this thread; workers are forked from this thread.

    Args:
        hosts: names of the service and of its guests, whose pages may read answers.

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
        offer: Offer | None = None,
    ):
        self.system, self.settings, self.draining = system, settings, False
        self._offer = offer or Offer()
        self._dispatcher = Dispatcher(system, pool, settings)
        self._pair, self._forms = self._offer.languages, None
        if system.preparation is not None:
            source, target = system.preparation.sides
            self._pair, self._forms = LanguagePair(source.language, target.language), (source.unicode, target.unicode)
        self._texts = TextRequests(
            self._dispatcher, settings, self._pair, self._forms, self._offer.keys, system.glossary
        )
        report: dict[str, tuple[str, ...]] = {"/report": ("GET",)} if self._offer.report else {}
        self._routes = ROUTES | (PAGE if self._offer.page else {}) | report
        if system.memory is not None:
            self._routes |= corrections.ROUTES
        recipe = system.preparation.sides[0] if system.preparation is not None else None
        self._corrections = Corrections(self._dispatcher, settings, recipe, self._offer.keys)
        self._why_not = WhyNotRequests(self._dispatcher, settings, recipe is not None, self._offer.keys)
        self.asgi = Guard(self._layers(hosts.origins), hosts, settings.max_request, self._routes)

    def _layers(self, origins: tuple[str, ...]) -> ASGIApp:
        endpoints = {
            "/translate": self._translate,
            "/translate_file": self._texts.translate_file,
            "/download_file/{name}": self._texts.download,
            "/detect": self._texts.detect,
            "/languages": self._languages,
            "/system": self._system,
            "/health": self._health,
            "/metrics": self._metrics,
            "/openapi.json": self._openapi,
            "/report": self._report,
            why_not.PATH: self._why_not.compare,
            corrections.ADD: self._corrections.collection,
            corrections.UNDO: self._corrections.undo,
            **dict.fromkeys(FILES, self._page),
        }
        routes = [Route(path, endpoints[path], methods=[*methods]) for path, methods in self._routes.items()]
        app: ASGIApp = Router(routes, redirect_slashes=False)
        self._found = routes
        app = ExceptionMiddleware(app, {HTTPException: self._unrouted, RefusalError: _refused})
        if not origins:
            return app
        headers = ["authorization", "content-type", "x-request-id"]
        methods = sorted({*chain.from_iterable(self._routes.values())})
        return CORSMiddleware(app, origins, methods, headers, expose_headers=["x-request-id"])

    @property
    def at_work(self) -> int:
        """Number of requests under way or waiting."""
        return self._dispatcher.at_work

    def stop(self) -> None:
        """Kills the workers without waiting for their ends."""
        self._dispatcher.pool.kill()

    # ---- the state ----

    def state(self) -> dict[str, Any]:
        """Facts and counts of the service."""
        statuses, counts = self.asgi.statuses, self._dispatcher.counts
        return {
            "ready": not self.draining,
            "system": self.system.name,
            "sha256": self.system.sha256,
            "raw": self.system.preparation is not None,
            "corrections": self._memory_state(),
            "lscfg": __version__,
            "workers": self._dispatcher.pool.workers,
            "at_work": self.at_work,
            "queued": self._dispatcher.pool.queued,
            "sentences": counts["sentences"],
            "words": counts["words"],
            "unknown": counts["unknown"],
            "unparsed": counts["unparsed"],
            "corrections_stored": counts["corrections_stored"],
            "corrections_removed": counts["corrections_removed"],
            "worker_deaths": self._dispatcher.pool.deaths,
            "clients_left": self.asgi.left,
            "responses": {str(status): statuses[status] for status in sorted(statuses)},
        }

    def _memory_state(self) -> str:
        if self.system.memory is None:
            return "off"
        return "damaged; see the log" if self._dispatcher.memory_fault else "on"

    async def _health(self, request: Request) -> Response:
        return JsonLine(self.state(), 503 if self.draining else 200)

    async def _metrics(self, request: Request) -> Response:
        return PlainTextResponse(metrics(self.state(), self.asgi.answers), media_type="text/plain; version=0.0.4")

    async def _openapi(self, request: Request) -> Response:
        return JsonLine(openapi(self._routes, self.settings))

    async def _languages(self, request: Request) -> Response:
        source, target = pair_facts(self._pair)
        if source is None or target is None:
            return JsonLine([])
        listed = [(source, [target["code"]]), (target, [])]
        return JsonLine([{"code": one["code"], "name": one["name"], "targets": targets} for one, targets in listed])

    async def _system(self, request: Request) -> Response:
        found = system_facts(self.system, self._dispatcher.rules, self._pair, self.settings)
        more = {
            "api_key": bool(self._offer.keys),
            "report": "/report" if self._offer.report else None,
            "scores": [score._asdict() for score in self._offer.scores],
        }
        return JsonLine(found | more)

    async def _page(self, request: Request) -> Response:
        return page_response(request.url.path)

    async def _report(self, request: Request) -> Response:
        return report_response(self._offer.report or b"")

    # ---- translations ----

    async def _translate(self, request: Request) -> Response:
        found = await read_content(request)
        check_key(found, request.headers, self._offer.keys)
        if "q" in found:
            return await self._texts.translate(request, found)
        found.pop("api_key", None)
        query = read_query(found, self.settings, self._forms)
        sentences = [
            RequestSentence(f"source[{k}]", text, query.instructions.options(query.options, k))
            for k, text in enumerate(query.texts)
        ]
        translations = await self._dispatcher.translate(request.receive, sentences)
        request.scope["lscfg.notes"]["done"] = counted(len(translations), "sentence")
        return JsonLine({"translations": [one.answer for one in translations]})

    # ---- what no path answers ----

    async def _unrouted(self, request: Request, error: Exception) -> Response:
        """The answer where no path and method fit; to OPTIONS the methods."""
        assert isinstance(error, HTTPException)
        path = request.scope["path"]
        allowed = self._methods(request.scope, path)
        if request.method == "OPTIONS" and allowed:
            heads = {"HEAD"} if "GET" in allowed else set()
            return Response(None, 204, {"allow": ", ".join(sorted(allowed | heads | {"OPTIONS"}))})
        if allowed:
            wanted = sorted(allowed)
            message = f"{cut(path)} takes {' or '.join(wanted)}, not {cut(request.method)}"
            return await _refused(request, RefusalError(405, message, {"allow": ", ".join(wanted)}))
        message = f"no path {quote(path)}; /openapi.json lists the paths"
        return await _refused(request, RefusalError(404, message))

    def _methods(self, scope: Mapping[str, Any], path: str) -> set[str]:
        if path == "*":
            return {*chain.from_iterable(self._routes.values())} if scope["method"] == "OPTIONS" else set()
        found = (route.path for route in self._found if route.matches({**scope})[0] is not Match.NONE)
        return {*chain.from_iterable(self._routes[path] for path in found)}


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, RefusalError)
    request.scope["lscfg.notes"]["error"] = str(error)
    return refusal_response(error)
