"""Requests that store corrections, which later translations use, list or remove them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from lscfg.errors import counted, did_you_mean, quote
from lscfg.io.sides import SIDES
from lscfg.prepare.sides import SideRecipe
from lscfg.serve.dispatch import Dispatcher
from lscfg.serve.libre import check_key
from lscfg.serve.pairs import pair_schema, read_pair
from lscfg.serve.refusal import JsonLine, RefusalError
from lscfg.serve.settings import ServeSettings
from lscfg.serve.translator import SystemWork, TranslationOptions
from lscfg.settings import LARGEST

ADD, UNDO = "/corrections", "/corrections/{id}"
ROUTES = {ADD: ("GET", "POST"), UNDO: ("DELETE",)}
"""Methods of each path."""

LISTED, MOST_LISTED = 100, 1000
"""Corrections of a list, by default and at most."""
PAGING = ("after", "limit")
SOURCE = SIDES[0]
"""Parameter of a removal."""

_ID = {"type": "integer", "minimum": 1, "maximum": LARGEST}
_STORED = {
    "type": "object",
    "required": ["id", *SIDES, "time"],
    "properties": {
        "id": _ID,
        "source": {"type": "string"},
        "target": {"type": "string"},
        "time": {"type": ["string", "null"], "format": "date-time"},
    },
}


def operations(settings: ServeSettings) -> dict[tuple[str, str], dict[str, Any]]:
    """The description of each path and method by OpenAPI, without the common responses.

    ``answer`` contains the schema of the answer.
    """
    after = {"type": "integer", "minimum": 0, "maximum": LARGEST, "default": 0}
    limit = {"type": "integer", "minimum": 1, "maximum": MOST_LISTED, "default": LISTED}
    return {
        (ADD, "GET"): {
            "summary": "lists the stored corrections by id",
            "parameters": [
                {"name": name, "in": "query", "schema": schema}
                for name, schema in zip(PAGING, (after, limit), strict=True)
            ],
            "answer": {
                "type": "object",
                "required": ["corrections", "next"],
                "properties": {
                    "corrections": {"type": "array", "maxItems": MOST_LISTED, "items": _STORED},
                    "next": {"type": ["integer", "null"]},
                },
            },
        },
        (ADD, "POST"): {
            "summary": "stores a corrected translation, which later requests use",
            "requestBody": {
                "required": True,
                "content": {"application/json": {"schema": pair_schema(SIDES, settings)}},
            },
            "answer": {
                "type": "object",
                "required": ["id", "rules", "seconds"],
                "properties": {"id": _ID, "rules": {"type": "integer"}, "seconds": {"type": "number"}},
            },
        },
        (UNDO, "DELETE"): {
            "summary": "removes a stored correction, with a source only if it is one of that source",
            "parameters": [
                {"name": "id", "in": "path", "required": True, "schema": _ID},
                {"name": SOURCE, "in": "query", "schema": {"type": "string"}},
            ],
            "answer": {"type": "object", "required": ["undone"], "properties": {"undone": _ID}},
        },
    }


class Corrections:
    """Stores corrections in the memory of a system.

    Args:
        recipe: preparation of the source of pairs, which are raw text; None: pairs are words.
        keys: see ``Offer.keys``.
    """

    def __init__(self, dispatcher: Dispatcher, settings: ServeSettings, recipe: SideRecipe | None, keys: Sequence[str]):
        self._dispatcher, self._settings, self._recipe, self._keys = dispatcher, settings, recipe, keys
        self._options = TranslationOptions(raw=recipe is not None, max_words=settings.max_words)

    async def collection(self, request: Request) -> Response:
        """Lists pairs, or stores one."""
        return await (self.add(request) if request.method == "POST" else self.listed(request))

    async def listed(self, request: Request) -> Response:
        """Lists pairs."""
        check_key(None, request.headers, self._keys)
        after, limit = read_paging(request)
        work = ListWork(*self._dispatcher.described, after, limit + 1, self._options)
        found = await self._dispatcher.compute(request.receive, "corrections", list_corrections, work)
        shown = found[:limit]
        request.scope["lscfg.notes"]["done"] = counted(len(shown), "correction")
        return JsonLine({"corrections": shown, "next": shown[-1]["id"] if len(found) > limit else None})

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
        """Removes a pair.

        Raises:
            RefusalError: as ``check_key``, ``named_source`` and ``Dispatcher.compute``; no correction has this number,
                or the one with this number belongs to another source than the request names.
        """
        check_key(None, request.headers, self._keys)
        text = request.path_params["id"]
        number = int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0
        undoing = UndoWork(*self._dispatcher.described, number, named_source(request), self._recipe)
        done = await self._dispatcher.compute(request.receive, "correction", undo_correction, undoing)
        if done is None:
            cure = f"GET {ADD} lists the corrections"
            raise RefusalError(
                409, f"correction {number} belongs to another source than {quote(undoing.source)}; {cure}"
            )
        if not done:
            raise RefusalError(404, f"no correction {quote(text)}; an earlier request may have removed it")
        self._dispatcher.counts["corrections_removed"] += 1
        return JsonLine({"undone": number})


def read_paging(request: Request) -> tuple[int, int]:
    """The number after which a list begins, and its length.

    Raises:
        RefusalError: a parameter is unknown, repeated, or not a number of its range.
    """
    found = {"after": 0, "limit": LISTED}
    ranges = {"after": (0, LARGEST), "limit": (1, MOST_LISTED)}
    seen = set[str]()
    for key, text in request.query_params.multi_items():
        if key not in PAGING:
            known = ", ".join(PAGING)
            raise RefusalError(400, f"no parameter {quote(key)}{did_you_mean(key, PAGING)}; parameters are {known}")
        least, most = ranges[key]
        whole = text.isascii() and text.isdecimal() and len(text) <= len(str(LARGEST))
        if key in seen or not whole or not least <= int(text) <= most:
            raise RefusalError(400, f"{key} must be one whole number from {least} to {most}")
        seen.add(key)
        found[key] = int(text)
    return found["after"], found["limit"]


def named_source(request: Request) -> str | None:
    """The source that a removal names, or None.

    Raises:
        RefusalError: a parameter is unknown or repeated.
    """
    given = request.query_params.multi_items()
    for key, _ in given:
        if key != SOURCE:
            raise RefusalError(400, f"no parameter {quote(key)}{did_you_mean(key, [SOURCE])}; the only one is {SOURCE}")
    if len(given) > 1:
        raise RefusalError(400, f"{SOURCE} must be one text")
    return given[0][1] if given else None


# ---- in a worker ----


@dataclass(frozen=True)
class CorrectionWork(SystemWork):
    """A correction to store."""

    source: str
    target: str
    options: TranslationOptions


@dataclass(frozen=True)
class ListWork(SystemWork):
    """A part of the list of corrections."""

    after: int
    most: int
    options: TranslationOptions


@dataclass(frozen=True)
class UndoWork(SystemWork):
    """A correction to remove."""

    number: int
    source: str | None
    """The text whose correction it must be; None: that of any text."""
    recipe: SideRecipe | None
    """Preparation of the text; None: it consists of words."""


def store_correction(work: CorrectionWork) -> dict[str, int]:
    """Stores a correction; see ``Translator.correct``."""
    return work.translator().correct(work.source, work.target, work.options)


def list_corrections(work: ListWork) -> list[dict[str, Any]]:
    """Lists corrections; see ``Translator.stored``."""
    return work.translator().stored(work.after, work.most, work.options)


def undo_correction(work: UndoWork) -> bool | None:
    """Removes a correction; see ``Translator.undo``. None: it is one of another source, and stays."""
    translator = work.translator()
    if work.source is not None:
        listed = translator.stored(work.number - 1, 1, TranslationOptions())  # in words
        if not listed or listed[0]["id"] != work.number:
            return False
        given = work.source if work.recipe is None else work.recipe.side().encode(work.source)
        if "".join(given.split()) != "".join(listed[0]["source"].split()):  # its last full stop may be apart
            return None
    return translator.undo(work.number)
