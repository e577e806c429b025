"""A sentence decoder in this process or in the workers of an engine, which share out the sentences."""

from __future__ import annotations

import os
import pickle
from collections import deque
from collections.abc import Iterable, Iterator
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

from lscfg import log
from lscfg.decode.parsing import index_of, known_words, read_grammar
from lscfg.decode.request import Answer, ProviderSource, Request
from lscfg.decode.sentence import SentenceDecoder
from lscfg.errors import KernelError, WorkerError, quote
from lscfg.formats.ini import DecoderConfig
from lscfg.kernel import FeatureOptions, Grammar
from lscfg.later import later
from lscfg.parallel.engine import Arriving, Engine, Serial
from lscfg.parallel.worker import drop, keep

if TYPE_CHECKING:
    from lscfg.extract import on_demand as _on_demand
else:
    _on_demand = later("lscfg.extract.on_demand")


class OpenedDecoder:
    """The decoder of single sentences, in this process or in each worker; arguments are those of ``EmbeddedDecoder``.

    A worker reads grammar and models by itself, unless it is forked from this process, whose memory it shares.

    Attributes:
        feature_names, live_features: see ``EmbeddedDecoder``.
        latent_options: options of the latent features, if the decoder has some.

    Raises:
        InputError: a file cannot be read or is malformed.
        TypeError: the provider cannot be sent to the workers of the engine.
    """

    def __init__(
        self, config: DecoderConfig, provider: ProviderSource | None, engine: Engine | None, cached: int, needed: bool
    ):
        self._config = config
        self._engine = None if isinstance(engine, Serial) else engine
        self._here: SentenceDecoder | None = None
        self._forked: SentenceDecoder | None = None  # open in this process for the workers that it forks
        made = partial(SentenceDecoder, config, provider, needed=needed, on_demand=True)
        if self._engine is None:
            self._open_here = partial(made, cached)
            self._here = self._open_here()
            facts = _facts(self._here)
        else:
            try:
                self._described = os.urandom(16).hex(), pickle.dumps(partial(made, cached // self._engine.workers))
            except Exception as error:
                raise TypeError(f"{provider!r} cannot go to workers: {error}") from error
            facts = self._facts_of_workers(self._engine)
        self.feature_names, self.live_features, self.latent_options = facts

    @property
    def closed(self) -> bool:
        """True if this process is the only worker, and will open the decoder again when it is used."""
        return self._engine is None and self._here is None

    @property
    def here(self) -> SentenceDecoder | None:
        """The decoder, if this process is the only worker; otherwise None. After ``close``, it is opened again.

        Raises:
            InputError: a file cannot be read or is malformed.
        """
        if self.closed:
            self._here = self._open_here()
        return self._here

    def _facts_of_workers(self, engine: Engine) -> _Facts:
        """Opens the decoder for all workers immediately, so that a bad file is reported now."""
        try:
            if engine.inherits:  # workers share this memory
                self._forked, warnings = _worker_decoder(*self._described)
                facts = _facts(self._forked)
            else:  # all workers at the same time
                opened, *_ = engine.map(_open, [self._described] * engine.workers)
                facts, warnings = opened
        except WorkerError as error:
            raise KernelError(f"{error.reason} while reading the grammar; is the memory large enough?") from error
        for message in warnings:
            log.warning(message)
        return facts

    @property
    def grammar(self) -> Grammar:
        """The grammar, which this process reads if only workers have it."""
        open_here = self.here or self._forked
        return self._own_grammar if open_here is None else open_here.grammar

    @cached_property
    def _own_grammar(self) -> Grammar:
        return read_grammar(self._config, on_demand=True)

    def known_words(self, side: int) -> frozenset[int]:
        """Numbers of the words of a side, ``SOURCE`` or ``TARGET``, of the grammar and of the text of an index.

        Words of the index join the vocabulary of the grammar.
        """
        open_here = self.here or self._forked
        if open_here is None:
            path = index_of(self._config)
            index = None if path is None else _on_demand.RuleIndex(path)
        else:
            index = None if open_here.on_demand is None else open_here.on_demand.index
        return known_words(self.grammar, side, () if index is None else index.words(side))

    def close(self) -> None:
        """Frees grammar and models if possible; workers of an engine keep theirs until the engine is closed."""
        self._here = self._forked = None
        self.__dict__.pop("_own_grammar", None)
        if self._engine is not None:
            drop("decoder", self._described[0])

    def answers(
        self, requests: Iterable[tuple[str, Request]], arriving: Arriving | None
    ) -> Iterator[tuple[str, Request, Answer]]:
        """The answer to each request for a sentence, in order.

        Args:
            arriving: signals the next request of a stream.

        Raises:
            KernelError: a worker died; the sentence is named.
        """
        if self._engine is None:
            here = self.here
            assert here is not None
            for index, (text, request) in enumerate(requests):
                yield text, request, here.decode(request, index, text)
            return
        at_work: deque[tuple[str, Request]] = deque()

        def tasks() -> Iterator[_Task]:
            for index, (text, request) in enumerate(requests):
                at_work.append((text, request))
                yield _Task(*self._described, request, index, text)

        try:
            for answer in self._engine.map(_decode_task, tasks(), arriving):
                yield *at_work.popleft(), answer
        except WorkerError as error:
            raise KernelError(f"{error.reason} at sentence {error.block + 1}: {quote(at_work[0][0])}") from error


_Facts = tuple[tuple[str, ...], tuple[str, ...], FeatureOptions | None]
"""Feature names, live features, and options of latent features."""


def _facts(decoder: SentenceDecoder) -> _Facts:
    return decoder.feature_names, decoder.columns.live, decoder.latent_options


class _Task(NamedTuple):
    """A sentence with everything that a worker needs to decode it."""

    key: str  # identifies the decoder
    decoder: bytes  # pickled function that makes the decoder
    request: Request
    number: int
    text: str


def _worker_decoder(key: str, decoder: bytes) -> tuple[SentenceDecoder, list[str]]:
    """The decoder that this worker keeps, and the warnings of its making, which only one worker should show."""

    def make() -> tuple[SentenceDecoder, list[str]]:
        with log.held_back() as warnings:
            return pickle.loads(decoder)(), warnings

    return keep("decoder", key, make)


def _open(described: tuple[str, bytes]) -> tuple[_Facts, list[str]]:
    decoder, warnings = _worker_decoder(*described)
    return _facts(decoder), warnings


def _decode_task(task: _Task) -> Answer:
    decoder, _ = _worker_decoder(task.key, task.decoder)
    return decoder.decode(task.request, task.number, task.text)
