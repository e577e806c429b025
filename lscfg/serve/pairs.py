"""Requests with two sentences, a source and a translation, such as corrections and comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from starlette.requests import Request

from lscfg.errors import did_you_mean, quote
from lscfg.serve.libre import check_key, read_content
from lscfg.serve.query import refuse_long_sentence, refuse_no_text
from lscfg.serve.refusal import RefusalError
from lscfg.serve.settings import ServeSettings

API_KEY = "api_key"


def pair_schema(sides: tuple[str, str], settings: ServeSettings) -> dict[str, Any]:
    """The schema of a request.

    Args:
        sides: the keys of both sentences.
    """
    side = {"type": "string", "minLength": 1, "maxLength": settings.max_characters}
    properties = {**dict.fromkeys(sides, side), API_KEY: {"type": "string"}}
    return {"type": "object", "required": [*sides], "properties": properties, "additionalProperties": False}


async def read_pair(
    request: Request, sides: tuple[str, str], settings: ServeSettings, keys: Sequence[str]
) -> tuple[str, str]:
    """Reads both sentences of a request.

    Args:
        sides: the keys of both sentences.
        keys: see ``Offer.keys``.

    Raises:
        RefusalError: the request has no valid API key, another key, no sentence, or one above the limits.
    """
    found = await read_content(request)
    check_key(found, request.headers, keys)
    known = (*sides, API_KEY)
    for key in found:
        if key not in known:
            raise RefusalError(400, f"no key {quote(key)}{did_you_mean(key, known)}; keys are {', '.join(sides)}")
    for name in sides:
        refuse_no_text(name, found.get(name))
        refuse_long_sentence(name, found[name], settings)
    return found[sides[0]], found[sides[1]]
