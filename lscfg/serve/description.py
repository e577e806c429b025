"""Descriptions of the service for programs: OpenAPI, and figures in the text format of Prometheus."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from lscfg.bundle.system import TranslationSystem
from lscfg.decode.confidence import Confidence
from lscfg.decode.terms import FORMS, MATCHES, MODES, MOST_FORMS, MOST_WORDS
from lscfg.formats.marked import MODES as XML_MODES
from lscfg.io.json_files import COUNT, check_shape
from lscfg.markup.formats import FORMATS
from lscfg.prepare.languages import is_unspaced
from lscfg.serve import corrections, why_not
from lscfg.serve.instructions import LONGEST, MOST_CHOICES, MOST_TERMS
from lscfg.serve.libre import MOST_ALTERNATIVES
from lscfg.serve.query import INPUTS, LONGEST_RULE, MOST_RULES
from lscfg.serve.settings import ServeSettings
from lscfg.serve.texts import LanguagePair, pair_facts
from lscfg.version import __version__

COUNTERS = {
    "sentences": "sentences translated",
    "words": "words of these sentences",
    "unknown": "words that no rule of the grammar contains",
    "unparsed": "sentences without a parse",
    "corrections_stored": "corrections that requests stored",
    "corrections_removed": "corrections that requests removed",
    "worker_deaths": "worker processes that died or were stopped",
    "clients_left": "clients that left before their answers",
}
"""Figures of the state that only grow, and their meanings."""


def metrics(state: Mapping[str, Any], answers: Mapping[tuple[str, int], tuple[int, float]]) -> str:
    """The state of the service in the text format of Prometheus.

    Args:
        state: facts and counts, as for ``/health``.
        answers: number and seconds of the answers by path and status.
    """
    name, digest = (str(state[key]).translate(_ESCAPES) for key in ("system", "sha256"))
    lines = [
        "# TYPE lscfg_info gauge",
        f'lscfg_info{{system="{name}",sha256="{digest}",version="{__version__}"}} 1',
        "# TYPE lscfg_requests_at_work gauge",
        f"lscfg_requests_at_work {state['at_work']}",
        "# TYPE lscfg_requests_queued gauge",
        f"lscfg_requests_queued {state['queued']}",
        "# TYPE lscfg_responses_total counter",
        *(f"lscfg_responses_total{_labels(*key)} {count}" for key, (count, _) in sorted(answers.items())),
        "# TYPE lscfg_response_seconds_total counter",
        *(f"lscfg_response_seconds_total{_labels(*key)} {sum_:.6f}" for key, (_, sum_) in sorted(answers.items())),
    ]
    for key, meaning in COUNTERS.items():
        full = f"lscfg_{key}_total"
        lines += [f"# HELP {full} {meaning}", f"# TYPE {full} counter", f"{full} {state[key]}"]
    return "\n".join(lines) + "\n"


def _labels(path: str, status: int) -> str:
    return f'{{path="{path}",status="{status}"}}'


_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


class ShownScore(NamedTuple):
    """A score of the system on the test set of its experiment."""

    name: str
    value: float
    interval: float | None
    """Half the width of the 95 % confidence interval."""
    sentences: int


def experiment_scores(results: Mapping[str, Any], system: str) -> tuple[ShownScore, ...]:
    """The scores of a system.

    Args:
        results: content of ``results.json`` of the experiment.

    Raises:
        ValueError: the content is not that of an experiment.
    """
    check_shape(results, dict[str, Any])
    rows = results.get("systems", [])
    check_shape(rows, list[dict[str, Any]], "systems")
    row = next((row for row in rows if row.get("system") == system), None)
    if row is None:
        return ()
    sentences = results.get("test sentences", 0)
    check_shape(sentences, COUNT, "test sentences")
    for key in ("test_bleu", "test_bleu_ci", "test_chrF2", "test_TER"):
        check_shape(row.get(key), float | None, key)
    if row.get("test_bleu") is None:
        return ()
    named = (("BLEU", "test_bleu", "test_bleu_ci"), ("chrF2", "test_chrF2", ""), ("TER", "test_TER", ""))
    return tuple(
        ShownScore(name, row[key], row.get(interval), sentences)
        for name, key, interval in named
        if row.get(key) is not None
    )


def confidence_facts(confidence: Confidence) -> dict[str, Any]:
    """The text that confidence was learned from, and how often words and translations of each band were right."""
    kinds = {"words": confidence.words, "translations": confidence.translations}
    bands = {name: [vars(band) for band in kind.bands] for name, kind in kinds.items()}
    return {"sentences": confidence.sentences, **bands}


def system_facts(
    system: TranslationSystem, rules: int | None, pair: LanguagePair, settings: ServeSettings
) -> dict[str, Any]:
    """Facts of the system, for people: languages, size, features and limits.

    Args:
        rules: of the grammar; None: an index gives the rules of each sentence.
    """
    config = system.config
    source, target = pair_facts(pair)
    pieces = bool(system.preparation and system.preparation.sides[1].has_pieces) and not is_unspaced(
        pair.target or "en"
    )
    return {
        "system": system.name,
        "sha256": system.sha256,
        "lscfg": __version__,
        "source": source,
        "target": target,
        "raw": system.preparation is not None,
        "rules": rules,
        "latent": config.latent is not None,
        "terms": len(system.glossary),
        "corrections": system.memory is not None,
        "pieces": pieces,
        "language_model": bool(config.models),
        "features": len(system.weights),
        "confidence": None if system.confidence is None else confidence_facts(system.confidence),
        "pairs": dict(system.preparation.sizes) if system.preparation else {},
        "limits": settings.facts(),
        "files": [*FORMATS],
    }


def openapi(routes: Mapping[str, Iterable[str]], settings: ServeSettings) -> dict[str, Any]:
    """The description of the service by OpenAPI 3.1, with its limits.

    Args:
        routes: the methods of each path.
    """
    error = {"type": "object", "required": ["error"], "properties": {"error": {"type": "string"}}}
    refused = {"content": {"application/json": {"schema": error}}}
    paths: dict[str, Any] = {}
    own = corrections.operations(settings)
    for path, methods in routes.items():
        paths[path] = {}
        for method in methods:
            operation = own.get((path, method)) or {"summary": SUMMARIES.get(path, "the page")}
            schema = operation.pop("answer", _ANSWERS.get(path))
            done: dict[str, Any] = {"description": "the answer"}
            if schema is not None:
                done["content"] = {"application/json": {"schema": schema}}
            responses = {
                "200": done,
                "4XX": {"description": "a refused request", **refused},
                "5XX": {"description": "a failure", **refused},
            }
            paths[path][method.lower()] = {**operation, "responses": responses}
    for path, content in _bodies(settings).items():
        paths[path]["post"]["requestBody"] = {"required": True, "content": content}
    name = {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}
    paths["/download_file/{name}"]["get"]["parameters"] = [name]
    return {"openapi": "3.1.0", "info": {"title": "lscfg", "version": __version__}, "paths": paths}


SUMMARIES = {
    "/translate": "translations of sentences, or of texts in LibreTranslate's form",
    "/translate_file": "address of a translated file",
    "/download_file/{name}": "a translated file",
    "/detect": "language of a text",
    why_not.PATH: why_not.SUMMARY,
    "/languages": "languages of the system",
    "/system": "facts of the system",
    "/health": "readiness and counts",
    "/metrics": "counts for Prometheus",
    "/openapi.json": "this description",
    "/report": "report of the experiment that made the system",
}

_TEXT = {"type": "string"}
_LIST = {"type": "array", "items": _TEXT}
_SPAN = {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 2, "maxItems": 2}
_SHARE = {"type": "number", "minimum": 0, "maximum": 1}
_DETAILS = {
    "type": "object",
    "properties": {
        "source_words": _LIST,
        "source_ranges": {"type": "array", "items": _SPAN},
        "words": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "text": _TEXT,
                    "range": _SPAN,
                    "links": {"type": "array", "items": {"type": "integer", "minimum": 0}},
                    "unknown": {"type": "boolean"},
                    "posterior": _SHARE,
                    "confidence": _SHARE,
                    "alternatives": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {
                                "span": _SPAN,
                                "text": _TEXT,
                                "posterior": _SHARE,
                                "difference": {"type": "number"},
                                "reasons": {"type": "array", "items": {"type": "object"}},
                            },
                        },
                    },
                },
            },
        },
        "posterior": _SHARE,
        "confidence": _SHARE,
    },
}
_USED_TERM = {"type": "object", "properties": {"source": _SPAN, "target": _SPAN, "form": _TEXT}}
_RECALLED = {
    "type": "object",
    "properties": {
        "id": {"type": ["integer", "null"]},
        "similar": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"id": {"type": "integer"}, "source": _TEXT, "target": _TEXT, "similarity": _SHARE},
            },
        },
    },
}
_SHORT = {"type": "string", "minLength": 1, "maxLength": LONGEST}
_INSTRUCTIONS: dict[str, Any] = {
    "glossary": {
        "type": "array",
        "maxItems": MOST_TERMS,
        "items": {
            "type": "object",
            "required": ["source"],
            "properties": {
                "source": _SHORT,
                "target": {"oneOf": [_SHORT, {"type": "array", "items": _SHORT, "maxItems": MOST_FORMS}]},
                "mode": {"enum": [*MODES], "default": MODES[0]},
                "match": {"enum": [*MATCHES], "default": MATCHES[0]},
                "forms": {"enum": [*FORMS], "default": FORMS[0]},
                "head": {"type": "integer", "minimum": 1, "maximum": MOST_WORDS},
            },
            "additionalProperties": False,
        },
    },
    "keep": {"type": "array", "maxItems": MOST_TERMS, "items": _SHORT},
    "choices": {
        "type": "array",
        "maxItems": MOST_CHOICES,
        "items": {
            "type": "object",
            "required": ["span", "target"],
            "properties": {"span": _SPAN, "target": _SHORT, "sentence": {"type": "integer", "minimum": 0}},
            "additionalProperties": False,
        },
    },
}
_ANSWERS: dict[str, Any] = {
    "/translate": {
        "oneOf": [
            {
                "type": "object",
                "required": ["translations"],
                "properties": {
                    "translations": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "required": ["translation", "score", "parsed", "unknown", "warnings"],
                            "properties": {
                                "translation": _TEXT,
                                "score": {"type": "number"},
                                "parsed": {"type": "boolean"},
                                "unknown": _LIST,
                                "warnings": _LIST,
                                "details": _DETAILS,
                                "terms": {"type": "array", "items": _USED_TERM},
                                "memory": _RECALLED,
                            },
                        },
                    }
                },
            },
            {
                "type": "object",
                "required": ["translatedText", "unknown", "warnings"],
                "properties": {
                    "translatedText": {"oneOf": [_TEXT, _LIST]},
                    "alternatives": {"type": "array"},
                    "unknown": {"type": "array"},
                    "warnings": {"type": "array"},
                    "sentences": {"type": "array"},
                    "detectedLanguage": {"type": ["object", "array"]},
                },
            },
        ]
    },
    "/translate_file": {
        "type": "object",
        "required": ["translatedFileUrl", "name", "warnings"],
        "properties": {"translatedFileUrl": {"type": "string", "format": "uri"}, "name": _TEXT, "warnings": _LIST},
    },
    "/detect": {
        "type": "array",
        "items": {
            "type": "object",
            "required": ["language", "confidence"],
            "properties": {"language": _TEXT, "confidence": {"type": "number", "minimum": 0, "maximum": 100}},
        },
    },
    "/languages": {
        "type": "array",
        "items": {
            "type": "object",
            "required": ["code", "name", "targets"],
            "properties": {"code": _TEXT, "name": _TEXT, "targets": _LIST},
        },
    },
    why_not.PATH: why_not.ANSWER,
    "/system": {"type": "object"},
    "/health": {"type": "object"},
    "/openapi.json": {"type": "object"},
}


def _bodies(settings: ServeSettings) -> dict[str, Any]:
    """The content of the requests of each path."""

    def texts(item: Mapping[str, Any]) -> dict[str, Any]:
        return {"oneOf": [item, {"type": "array", "items": item, "minItems": 1, "maxItems": settings.max_sentences}]}

    key, language = {"api_key": _TEXT}, {"source": _TEXT, "target": _TEXT}
    limit = settings.max_characters
    longest = f"at most {limit} characters; a lattice may be as long as a request"
    own = {
        "source": texts({"type": "string", "maxLength": max(limit, settings.max_request), "description": longest}),
        "kbest": {"type": "integer", "minimum": 1, "maximum": settings.max_translations},
        "derivations": {"type": "boolean", "default": False},
        "details": {"type": "boolean", "default": False},
        "raw": {"type": "boolean"},
        "xml_input": {"enum": [*XML_MODES]},
        "input": {"enum": [*INPUTS], "default": INPUTS[0]},
        "grammar": {"type": "array", "maxItems": MOST_RULES, "items": {"type": "string", "maxLength": LONGEST_RULE}},
        **_INSTRUCTIONS,
    }
    libre = {
        "q": texts(_TEXT),
        **language,
        "format": {"enum": ["text", "html"], "default": "text"},
        "alternatives": {"type": "integer", "minimum": 0, "maximum": MOST_ALTERNATIVES, "default": 0},
        "details": {"type": "boolean", "default": False},
        **_INSTRUCTIONS,
        "secret": {},
    }

    def thing(properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
        found = {"type": "object", "properties": {**properties, **key}, "additionalProperties": False}
        return found | {"required": [*required]}

    file = {"file": {"type": "string", "format": "binary"}, **language, "xml_input": own["xml_input"]}
    libre_form = {"schema": thing(libre, "q")}
    return {
        why_not.PATH: {"application/json": {"schema": why_not.request_schema(settings)}},
        "/translate": {
            "application/json": {"schema": {"oneOf": [thing(own, "source"), thing(libre, "q")]}},
            "application/x-www-form-urlencoded": libre_form,
            "multipart/form-data": libre_form,
        },
        "/translate_file": {"multipart/form-data": {"schema": {**thing(file, "file"), "additionalProperties": True}}},
        "/detect": {
            "application/json": {"schema": thing({"q": _TEXT}, "q")},
            "application/x-www-form-urlencoded": {"schema": thing({"q": _TEXT}, "q")},
        },
    }
