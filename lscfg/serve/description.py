"""Descriptions of the service for programs: OpenAPI, and figures in the text format of Prometheus."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lscfg.serve.settings import ServeSettings
from lscfg.version import __version__

COUNTERS = {
    "sentences": "sentences translated",
    "words": "words of these sentences",
    "unknown": "words that no rule of the grammar contains",
    "unparsed": "sentences without a parse",
    "worker_deaths": "worker processes that died or were stopped",
    "clients_left": "clients that left before their answers",
}
"""Figures of the state that only grow, and their meanings."""


def metrics(state: Mapping[str, Any], seconds: Mapping[int, float]) -> str:
    """The state of the service in the text format of Prometheus.

    Args:
        state: facts and counts, as of ``/health``.
        seconds: seconds of all answers by status.
    """
    name, digest = (str(state[key]).translate(_ESCAPES) for key in ("system", "sha256"))
    lines = [
        "# TYPE lscfg_info gauge",
        f'lscfg_info{{system="{name}",sha256="{digest}",version="{__version__}"}} 1',
        "# TYPE lscfg_requests_at_work gauge",
        f"lscfg_requests_at_work {state['at_work']}",
        "# TYPE lscfg_responses_total counter",
        *(f'lscfg_responses_total{{status="{status}"}} {n}' for status, n in state["responses"].items()),
        "# TYPE lscfg_response_seconds_total counter",
        *(f'lscfg_response_seconds_total{{status="{status}"}} {n:.6f}' for status, n in sorted(seconds.items())),
    ]
    for key, meaning in COUNTERS.items():
        full = f"lscfg_{key}_total"
        lines += [f"# HELP {full} {meaning}", f"# TYPE {full} counter", f"{full} {state[key]}"]
    return "\n".join(lines) + "\n"


_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


def openapi(routes: Mapping[str, str], settings: ServeSettings) -> dict[str, Any]:
    """The description of the service by OpenAPI 3.1, with its limits.

    Args:
        routes: the method of each path.
    """
    text = {"type": "string", "maxLength": settings.max_characters}
    query = {
        "type": "object",
        "required": ["source"],
        "additionalProperties": False,
        "properties": {
            "source": {
                "oneOf": [text, {"type": "array", "items": text, "minItems": 1, "maxItems": settings.max_sentences}]
            },
            "kbest": {"type": "integer", "minimum": 1, "maximum": settings.max_translations},
            "derivations": {"type": "boolean", "default": False},
            "raw": {"type": "boolean"},
        },
    }
    answers = {
        "200": {"description": "the answer"},
        "4XX": {"description": "a refused request"},
        "5XX": {"description": "a failure"},
    }
    paths: dict[str, Any] = {path: {method.lower(): {"responses": answers}} for path, method in routes.items()}
    paths["/translate"]["post"] |= {
        "requestBody": {"required": True, "content": {"application/json": {"schema": query}}}
    }
    return {"openapi": "3.1.0", "info": {"title": "lscfg", "version": __version__}, "paths": paths}
