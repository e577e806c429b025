"""Translation of the sentences of a request by the pool of workers, within the limits of the service."""

from __future__ import annotations

import asyncio
import pickle
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar
from uuid import uuid4

from starlette.types import Receive

from lscfg import log
from lscfg.bundle.system import TranslationSystem
from lscfg.errors import InputError, KernelError, LscfgError, WorkerError
from lscfg.markup.document import DocumentError
from lscfg.serve.guard import while_connected
from lscfg.serve.lattices import BadSentenceError, LongSentenceError
from lscfg.serve.pool import WorkerPool
from lscfg.serve.refusal import RefusalError
from lscfg.serve.settings import ServeSettings
from lscfg.serve.translator import (
    Answered,
    SentenceWork,
    TranslationOptions,
    detect_language,
    open_translator,
    translate_sentence,
)

Block = TypeVar("Block")
Result = TypeVar("Result")

ADMISSION_SECONDS = 0.6
"""Seconds that a request waits for a place in a full queue."""

UNUSABLE = "the service cannot use one of its files; its log names the file and the reason"

Progress = Callable[[int], None]
"""Takes the number of sentences translated so far."""


@dataclass(frozen=True)
class RequestSentence:
    """A sentence to translate."""

    name: str
    """Place in the request, for messages, such as ``source[0]``."""
    text: str
    options: TranslationOptions


class Dispatcher:
    """Shares out sentences to workers, which are forked from this thread after it has opened the system.

    Attributes:
        at_work: number of requests under way or waiting.
        counts: sentences, words, unknown words and sentences without a parse so far.
        described: key of the system and the pickled system, for workers.
        memory_fault: the reason why the latest corrections are not used; empty if they are.

    Raises:
        InputError: the system cannot be opened.
    """

    def __init__(self, system: TranslationSystem, pool: WorkerPool, settings: ServeSettings):
        self.pool, self._settings = pool, settings
        self.described = uuid4().hex, pickle.dumps(system)
        translator = open_translator(*self.described)
        translator.warm()
        self.rules = translator.rules
        self.at_work = 0
        self.counts = Counter[str]()
        self.memory_fault = ""

    async def translate(
        self, receive: Receive, sentences: Sequence[RequestSentence], progress: Progress | None = None
    ) -> list[Answered]:
        """The answers to the sentences of a request, in order; see docs/guides/serving.md.

        The time limit is that of the requests which as many sentences would need.

        Args:
            receive: of the request, which ends the work when its client leaves.

        Raises:
            ClientDisconnect: the client has left.
            RefusalError: a sentence cannot be translated, or not in time, or the queue is full.
        """
        seconds = self._settings.timeout * max(1, -(-len(sentences) // self._settings.max_sentences))
        await self._admit()
        self.at_work += 1
        try:
            async with asyncio.timeout(seconds):
                found = await while_connected(receive, self._each(sentences, progress))
        except TimeoutError:
            one = "shorten the sentence, or start lscfg serve with a longer timeout"
            cure = one if len(sentences) == 1 else "send fewer or shorter sentences at a time"
            raise RefusalError(503, f"not translated within {seconds:g} s; {cure}") from None
        finally:
            self.at_work -= 1
        self.counts["sentences"] += len(found)
        self.counts["unparsed"] += sum(not one.answer["parsed"] for one in found)
        return found

    async def detected(self, receive: Receive, text: str, options: TranslationOptions) -> list[tuple[int, float]]:
        """The sides in whose languages a text can be, see ``Translator.detected``.

        Raises:
            ClientDisconnect: the client has left.
            RefusalError: the text has no words of the system's form, or the queue is full.
        """
        return await self.compute(receive, "q", detect_language, SentenceWork(*self.described, text, options), text)

    async def compute(
        self, receive: Receive, name: str, function: Callable[[Block], Result], block: Block, text: str = ""
    ) -> Result:
        """Returns ``function(block)`` of a worker; the function is one of a module.

        Args:
            receive: of the request, which ends the work when its client leaves.
            name: of the data, for messages.
            text: words of the block that the worker remembers.

        Raises:
            ClientDisconnect: the client has left.
            RefusalError: the function refuses the data, or the queue is full, or the time is over.
        """
        await self._admit()
        self.at_work += 1
        try:
            async with asyncio.timeout(self._settings.timeout):
                call = self.pool.call(function, block, len(text.encode()))
                return await while_connected(receive, self._guarded(name, call))
        except TimeoutError:
            raise RefusalError(503, f"no answer within {self._settings.timeout:g} s; try again later") from None
        finally:
            self.at_work -= 1

    async def _admit(self) -> None:
        """Waits for a moment where the queue is full: clients that have just left still hold their places.

        Raises:
            RefusalError: no place became free.
        """
        end = time.monotonic() + ADMISSION_SECONDS
        while self.at_work >= self._settings.queue:
            if time.monotonic() > end:
                message = f"{self.at_work} requests are under way or wait; try again later"
                raise RefusalError(503, message, {"retry-after": "1"})
            await asyncio.sleep(0.05)

    async def _each(self, sentences: Sequence[RequestSentence], progress: Progress | None) -> list[Answered]:
        """Translates sentence by sentence, at most one for each worker at a time, so that requests take turns."""
        found = [Answered({}, 0, 0)] * len(sentences)
        refused: dict[int, RefusalError] = {}
        numbered = iter(enumerate(sentences))
        done = 0

        async def take_turns() -> None:
            nonlocal done
            for number, sentence in numbered:
                try:
                    found[number] = await self._one(sentence)
                except RefusalError as refusal:
                    refused[number] = refusal
                if refused:  # sentences under way go on: to stop one would kill a worker
                    return
                done += 1
                if progress is not None:
                    progress(done)

        turns = [asyncio.ensure_future(take_turns()) for _ in range(min(self.pool.workers, len(sentences)))]
        try:
            await asyncio.gather(*turns)
        finally:  # a fault of one ends the others, as does the end of the request
            for turn in turns:
                turn.cancel()
        if refused:
            raise refused[min(refused)]
        return found

    async def _one(self, sentence: RequestSentence) -> Answered:
        work = SentenceWork(*self.described, sentence.text, sentence.options)
        call = self.pool.call(translate_sentence, work, work.size)
        found: Answered = await self._guarded(sentence.name, call)
        self._notice(found.fault)
        self.counts["words"] += found.words
        self.counts["unknown"] += found.unknown
        return found

    def _notice(self, fault: str) -> None:
        """Logs a fault of the memory once."""
        if fault and fault != self.memory_fault:
            log.warning(f"the latest corrections are not used: {fault}")
        self.memory_fault = fault

    async def _guarded(self, where: str, call: Awaitable[Result]) -> Result:
        """The result of a worker; its errors become refusals."""
        try:
            return await call
        except (BadSentenceError, DocumentError) as error:
            raise RefusalError(413 if isinstance(error, LongSentenceError) else 400, f"{where}: {error}") from None
        except WorkerError as error:
            raise RefusalError(500, f"{where}: {error.reason}") from error
        except (MemoryError, KernelError) as error:
            if "memory" not in f"{type(error).__name__}: {error}".lower():
                raise
            log.warning(f"a worker failed: {type(error).__name__}: {error}")
            raise RefusalError(503, f"{where}: out of memory; send a shorter sentence, or try again later") from error
        except OSError as error:
            log.warning(f"no worker can be started: {error}")
            raise RefusalError(503, "no worker can be started; try again later", {"retry-after": "1"}) from error
        except InputError as error:
            if error.path is None:
                raise RefusalError(500, f"{where}: {error}") from error
            log.warning(f"{where}: {error}")  # clients need not know where the files of the service are
            raise RefusalError(500, f"{where}: {UNUSABLE}") from error
        except LscfgError as error:
            raise RefusalError(500, f"{where}: {error}") from error
