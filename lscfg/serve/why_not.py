"""Requests that ask why the system does not choose a wanted translation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from lscfg.serve.dispatch import Dispatcher
from lscfg.serve.pairs import pair_schema, read_pair
from lscfg.serve.refusal import JsonLine
from lscfg.serve.settings import ServeSettings
from lscfg.serve.translator import SystemWork, TranslationOptions

PATH = "/whynot"
SIDES = ("source", "wanted")
SUMMARY = "compares a wanted translation with that of the system, without glossary and corrections"

_NUMBER = {"type": ["number", "null"]}
_RULE = {
    "type": "object",
    "required": ["span", "source", "target"],
    "properties": {
        "span": {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2},
        "source": {"type": "string"},
        "target": {"type": "string"},
        "reason": {"type": "string"},
    },
}
ANSWER: dict[str, Any] = {
    "type": "object",
    "required": ["verdict", "wanted", "chosen", "features", "missing"],
    "properties": {
        "verdict": {"enum": ["same", "model", "search", "unreachable"]},
        "wanted": {"type": "string"},
        "chosen": {"type": "string"},
        "wanted_score": _NUMBER,
        "chosen_score": _NUMBER,
        "first": {"type": ["array", "null"], "items": _RULE},
        "features": {"type": "object", "additionalProperties": {"type": "number"}},
        "missing": {"type": "array", "items": _RULE},
    },
}


def request_schema(settings: ServeSettings) -> dict[str, Any]:
    """The schema of a request."""
    return pair_schema(SIDES, settings)


class WhyNotRequests:
    """Compares wanted translations with those of a system.

    Args:
        raw: True: texts are raw text that the system prepares; False: words.
        keys: see ``Offer.keys``.
    """

    def __init__(self, dispatcher: Dispatcher, settings: ServeSettings, raw: bool, keys: Sequence[str]):
        self._dispatcher, self._settings, self._keys = dispatcher, settings, keys
        self._options = TranslationOptions(raw=raw, max_words=settings.max_words)

    async def compare(self, request: Request) -> Response:
        """The comparison."""
        pair = await read_pair(request, SIDES, self._settings, self._keys)
        work = ComparisonWork(*self._dispatcher.described, *pair, self._options)
        text = f"{work.source} {work.wanted}"
        done = await self._dispatcher.compute(request.receive, "comparison", compare, work, text)
        request.scope["lscfg.notes"]["done"] = f"comparison: {done['verdict']}"
        return JsonLine(done)


@dataclass(frozen=True)
class ComparisonWork(SystemWork):
    """A wanted translation to compare."""

    source: str
    wanted: str
    options: TranslationOptions


def compare(work: ComparisonWork) -> dict[str, Any]:
    """Compares, in a worker; see ``Translator.why_not``."""
    return work.translator().why_not(work.source, work.wanted, work.options)
