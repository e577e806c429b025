"""Requests that store corrections, which later translations use, or remove them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from lscfg.errors import quote
from lscfg.serve.dispatch import Dispatcher
from lscfg.serve.libre import check_key
from lscfg.serve.pairs import pair_schema, read_pair
from lscfg.serve.refusal import JsonLine, RefusalError
from lscfg.serve.settings import ServeSettings
from lscfg.serve.translator import TranslationOptions, open_translator

ADD, UNDO = "/corrections", "/corrections/{id}"
ROUTES = {ADD: "POST", UNDO: "DELETE"}
"""Method of each path."""

SIDES = ("source", "target")

SUMMARIES = {
    ADD: "stores a corrected translation, which later requests use",
    UNDO: "removes a stored correction",
}
ANSWERS: dict[str, Any] = {
    ADD: {
        "type": "object",
        "required": ["id", "rules", "seconds"],
        "properties": {"id": {"type": "integer"}, "rules": {"type": "integer"}, "seconds": {"type": "number"}},
    },
    UNDO: {"type": "object", "required": ["undone"], "properties": {"undone": {"type": "integer"}}},
}
PARAMETERS = [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer", "minimum": 1}}]


def body(settings: ServeSettings) -> dict[str, Any]:
    """The schema of a correction."""
    return pair_schema(SIDES, settings)


class Corrections:
    """Stores corrections in the memory of a system.

    Args:
        raw: True: pairs are raw text that the system prepares; False: words.
        keys: see ``Offer.keys``.
    """

    def __init__(self, dispatcher: Dispatcher, settings: ServeSettings, raw: bool, keys: Sequence[str]):
        self._dispatcher, self._settings, self._keys = dispatcher, settings, keys
        self._options = TranslationOptions(raw=raw, max_words=settings.max_words)

    async def add(self, request: Request) -> Response:
        """Stores a pair."""
        pair = await read_pair(request, SIDES, self._settings, self._keys)
        begin = time.monotonic()
        work = CorrectionWork(*self._dispatcher.described, *pair, self._options)
        text = f"{work.source} {work.target}"
        done = await self._dispatcher.compute(request.receive, "correction", store_correction, work, text)
        self._dispatcher.counts["corrections_stored"] += 1
        request.scope["lscfg.notes"]["done"] = f"correction {done['id']}"
        return JsonLine({**done, "seconds": round(time.monotonic() - begin, 6)})

    async def undo(self, request: Request) -> Response:
        """Removes a pair."""
        check_key({}, request.headers, self._keys)
        text = request.path_params["id"]
        number = int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0
        undoing = UndoWork(*self._dispatcher.described, number)
        if not await self._dispatcher.compute(request.receive, "correction", undo_correction, undoing):
            raise RefusalError(404, f"no correction {quote(text)}; an earlier request may have removed it")
        self._dispatcher.counts["corrections_removed"] += 1
        return JsonLine({"undone": number})


# ---- in a worker ----


@dataclass(frozen=True)
class CorrectionWork:
    """A correction and everything that a worker needs to store it."""

    key: str
    """Key of the system."""
    system: bytes
    """The system, pickled."""
    source: str
    target: str
    options: TranslationOptions


@dataclass(frozen=True)
class UndoWork:
    """A correction to remove; see ``CorrectionWork``."""

    key: str
    system: bytes
    number: int


def store_correction(work: CorrectionWork) -> dict[str, int]:
    """Stores a correction; see ``Translator.correct``."""
    return open_translator(work.key, work.system).correct(work.source, work.target, work.options)


def undo_correction(work: UndoWork) -> bool:
    """Removes a correction; see ``Translator.undo``."""
    return open_translator(work.key, work.system).undo(work.number)
