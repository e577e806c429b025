"""Requests for translation: their content, and the limits that need no work."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import Message
from itertools import accumulate
from typing import Any

from lscfg.errors import cut, did_you_mean, quote
from lscfg.json_text import parse_json
from lscfg.serve.refusal import RefusalError
from lscfg.serve.settings import ServeSettings
from lscfg.serve.translator import TranslationOptions

KEYS = ("source", "kbest", "derivations", "raw")

DEPTH = 32
"""Most lists and objects inside one another."""


@dataclass(frozen=True)
class Query:
    """The texts and options of a request for translation."""

    texts: list[str]
    options: TranslationOptions


def check_content(headers: Mapping[str, str]) -> None:
    """Refuses content of another type before it is read.

    Raises:
        RefusalError: the content is not JSON in UTF-8, or compressed.
    """
    given = Message()
    given["content-type"] = headers.get("content-type", "application/octet-stream")
    charset = given.get_param("charset", "utf-8")
    if (
        given.get_content_type() != "application/json"
        or not isinstance(charset, str)
        or charset.strip().lower() not in ("utf-8", "utf8")
    ):
        raise RefusalError(415, "the content must be JSON in UTF-8; send Content-Type: application/json")
    if headers.get("content-encoding", "identity").lower() != "identity":
        raise RefusalError(415, "the content must not be compressed")


def read_query(body: bytes, settings: ServeSettings, prepares: bool) -> Query:
    """The query of a request. Limits come in the order of their costs.

    Args:
        prepares: whether the system has a preparation of raw text.

    Raises:
        RefusalError: the body is no query, or one of its limits is exceeded.
    """
    found = _json_object(body)
    for key in found:
        if key not in KEYS:
            raise RefusalError(400, f"no key {quote(key)}{did_you_mean(key, KEYS)}; keys are {', '.join(KEYS)}")
    if "source" not in found:
        raise RefusalError(400, 'no key "source"; it holds a sentence, or a list of them')
    source = found["source"]
    texts = [source] if isinstance(source, str) else source
    if not isinstance(texts, list):
        raise RefusalError(400, "source must be a text or a list of texts")
    if not texts:
        raise RefusalError(400, "source is an empty list; give at least one sentence")
    if len(texts) > (most := settings.max_sentences):
        raise RefusalError(413, f"{len(texts)} sentences; at most {most} are allowed in a request")
    for number, text in enumerate(texts):
        _check_text(number, text, settings)
    options = TranslationOptions(
        _kbest(found.get("kbest"), len(texts), settings.max_translations),
        _switch(found, "derivations", False),
        _switch(found, "raw", prepares),
        settings.max_words,
    )
    if options.raw and not prepares:
        raise RefusalError(400, "raw: the system has no preparation of raw text; send words that blanks separate")
    return Query(texts, options)


def _json_object(body: bytes) -> dict[str, Any]:
    if _too_deep(body):
        raise RefusalError(400, f"the content is nested too deeply; at most {DEPTH} levels are read")
    try:
        found = parse_json(body.decode("utf-8"), halves=True)
    except UnicodeDecodeError as error:
        raise RefusalError(400, f"the content is not UTF-8, from byte {error.start + 1} on") from None
    except ValueError as error:
        raise RefusalError(400, f"the content is not JSON: {cut(error)}") from None
    if not isinstance(found, dict):
        raise RefusalError(400, 'the content must be an object such as {"source": ["a sentence"]}')
    return found


def _too_deep(body: bytes) -> bool:
    """True if the brackets outside strings nest deeper than ``DEPTH``, in time linear in the length."""
    if body.count(b"[") + body.count(b"{") <= DEPTH:
        return False
    brackets = re.sub(rb'"(?:[^"\\]++|\\.)*+"?|[^][{}"]++', b"", body, flags=re.DOTALL)
    return max(accumulate(1 if bracket in b"[{" else -1 for bracket in brackets), default=0) > DEPTH


def _check_text(number: int, text: Any, settings: ServeSettings) -> None:
    if not isinstance(text, str):
        raise RefusalError(400, f"source[{number}] must be a text")
    if len(text) > (most := settings.max_characters):
        raise RefusalError(413, f"source[{number}]: has {len(text)} characters; at most {most} are translated")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise RefusalError(
            400, f"source[{number}] contains half of a surrogate pair, which is not a character"
        ) from None
    if (words := len(text.split())) > (most := settings.max_words):  # again after a preparation, which splits words
        raise RefusalError(413, f"source[{number}]: has {words} words; at most {most} are translated")


def _kbest(kbest: Any, sentences: int, most: int) -> int | None:
    if kbest is None:
        return None
    if type(kbest) is not int or kbest < 1:
        raise RefusalError(400, "kbest must be a whole number of at least 1")
    if kbest * sentences > most:
        raise RefusalError(413, f"{sentences} sentences with {cut(kbest)} translations each; at most {most} are listed")
    return kbest


def _switch(found: Mapping[str, Any], key: str, default: bool) -> bool:
    value = found.get(key, default)
    if not isinstance(value, bool):
        raise RefusalError(400, f"{key} must be true or false")
    return value
