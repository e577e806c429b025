"""Answers to requests: translations, and the health of the service."""

from __future__ import annotations

import asyncio
import pickle
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from lscfg.bundle.system import TranslationSystem
from lscfg.errors import WorkerError, cut, did_you_mean, quote
from lscfg.io.json_files import parse_json
from lscfg.serve.http import Head, RefusalError, Response
from lscfg.serve.pool import WorkerPool
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

ROUTES = {"/translate": "POST", "/health": "GET"}
KEYS = ("source", "kbest", "derivations", "raw")


@dataclass(frozen=True)
class Query:
    """The texts and options of a request for translation."""

    texts: list[str]
    options: TranslationOptions


class Application:
    """Answers requests for one system, which it opens in this thread; workers are forked from this thread.

    Attributes:
        draining: True when the service is about to end and begins no new work.

    Raises:
        InputError: the system cannot be opened.
    """

    def __init__(self, system: TranslationSystem, pool: WorkerPool, settings: ServeSettings):
        self.system, self.settings, self.draining = system, settings, False
        self._pool = pool
        self._described = uuid4().hex, pickle.dumps(system)
        open_translator(*self._described)
        self._at_work = 0
        self._counts = Counter[str]()
        self._statuses = Counter[int]()

    def route(self, head: Head) -> None:
        """Refuses a request before its body is read.

        Raises:
            RefusalError: the path, the method or the type of the content is wrong.
        """
        if head.path not in ROUTES:
            raise RefusalError(404, f"no path {quote(head.path)}; paths are {', '.join(ROUTES)}")
        allowed = ROUTES[head.path]
        if head.method != allowed:
            raise RefusalError(405, f"{head.path} takes {allowed}, not {cut(head.method)}", {"allow": allowed})
        if allowed == "POST":
            _check_content(head.headers)

    async def answer(self, head: Head, body: bytes) -> Response:
        """The response to a request that ``route`` accepts.

        Raises:
            RefusalError: the request cannot be answered.
        """
        return await self._translate(body) if head.path == "/translate" else self._health()

    def count(self, status: int) -> None:
        """Counts a response."""
        self._statuses[status] += 1

    def _health(self) -> Response:
        content = {
            "ready": not self.draining,
            "system": self.system.name,
            "sha256": self.system.sha256,
            "raw": self.system.preparation is not None,
            "lscfg": __version__,
            "workers": self._pool.workers,
            "at_work": self._at_work,
            "sentences": self._counts["sentences"],
            "unparsed": self._counts["unparsed"],
            "responses": {str(status): self._statuses[status] for status in sorted(self._statuses)},
        }
        return Response(503 if self.draining else 200, content)

    async def _translate(self, body: bytes) -> Response:
        query = self._query(body)
        if self._at_work >= self.settings.queue:
            raise RefusalError(
                503, f"{self._at_work} requests are under way or wait; try again later", {"retry-after": "1"}
            )
        self._at_work += 1
        try:
            async with asyncio.timeout(self.settings.timeout):
                translations = await self._each(query)
        except TimeoutError:
            raise RefusalError(
                503, f"not translated within {self.settings.timeout:g} s; send fewer sentences at a time"
            ) from None
        finally:
            self._at_work -= 1
        self._counts["sentences"] += len(translations)
        self._counts["unparsed"] += sum(not found["parsed"] for found in translations)
        return Response(200, {"translations": translations})

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

        await asyncio.gather(*(take_turns() for _ in range(min(self._pool.workers, len(query.texts)))))
        if refused:
            raise refused[min(refused)]
        return found

    async def _one(self, number: int, text: str, options: TranslationOptions) -> dict[str, Any]:
        where = f"source[{number}]"
        try:
            return await self._pool.call(
                translate_sentence, SentenceWork(*self._described, text, options), len(text.encode())
            )
        except BadSentenceError as error:
            raise RefusalError(413 if isinstance(error, LongSentenceError) else 400, f"{where}: {error}") from None
        except WorkerError as error:
            raise RefusalError(500, f"{where}: {error.reason}") from error

    def _query(self, body: bytes) -> Query:
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
        if len(texts) > (most := self.settings.max_sentences):
            raise RefusalError(413, f"{len(texts)} sentences; at most {most} are allowed in a request")
        for number, text in enumerate(texts):
            _check_text(number, text)
        prepares = self.system.preparation is not None
        options = TranslationOptions(
            self._kbest(found.get("kbest"), len(texts)),
            _switch(found, "derivations", False),
            _switch(found, "raw", prepares),
            self.settings.max_words,
        )
        if options.raw and not prepares:
            raise RefusalError(400, "raw: the system has no preparation of raw text; send words that blanks separate")
        return Query(texts, options)

    def _kbest(self, kbest: Any, sentences: int) -> int | None:
        if kbest is None:
            return None
        if type(kbest) is not int or kbest < 1:
            raise RefusalError(400, "kbest must be a whole number of at least 1")
        if kbest * sentences > (most := self.settings.max_translations):
            raise RefusalError(
                413, f"{sentences} sentences with {cut(kbest)} translations each; at most {most} are listed"
            )
        return kbest


def _check_content(headers: Mapping[str, str]) -> None:
    kind, _, parameters = headers.get("content-type", "").lower().partition(";")
    charset = parameters.partition("charset=")[2].strip(' "')
    if kind.strip() != "application/json" or charset not in ("", "utf-8", "utf8"):
        raise RefusalError(415, "the content must be JSON in UTF-8; send Content-Type: application/json")
    if headers.get("content-encoding", "identity").lower() != "identity":
        raise RefusalError(415, "the content must not be compressed")


def _json_object(body: bytes) -> dict[str, Any]:
    try:
        found = parse_json(body.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise RefusalError(400, f"the content is not UTF-8, from byte {error.start + 1} on") from None
    except ValueError as error:
        raise RefusalError(400, f"the content is not JSON: {cut(error)}") from None
    except RecursionError:
        raise RefusalError(400, "the content is nested too deeply") from None
    if not isinstance(found, dict):
        raise RefusalError(400, 'the content must be an object such as {"source": ["a sentence"]}')
    return found


def _check_text(number: int, text: Any) -> None:
    if not isinstance(text, str):
        raise RefusalError(400, f"source[{number}] must be a text")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise RefusalError(
            400, f"source[{number}] contains half of a surrogate pair, which is not a character"
        ) from None


def _switch(found: Mapping[str, Any], key: str, default: bool) -> bool:
    value = found.get(key, default)
    if not isinstance(value, bool):
        raise RefusalError(400, f"{key} must be true or false")
    return value
