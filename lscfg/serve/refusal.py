"""Refused requests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from lscfg.errors import LscfgError


class RefusalError(LscfgError):
    """A refused request: a status and one line with the reason."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None):
        super().__init__(" ".join(message.split()))
        self.status, self.headers = status, dict(headers or {})


class JsonLine(Response):
    """A JSON value in one line."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return json_line(content)


def json_line(content: Any) -> bytes:
    """A JSON value in one line of UTF-8."""
    return json.dumps(content, ensure_ascii=False, allow_nan=False).encode("utf-8", "backslashreplace") + b"\n"


def refusal_response(refusal: RefusalError) -> JsonLine:
    """The answer to a refused request."""
    return JsonLine({"error": str(refusal)}, refusal.status, refusal.headers)
