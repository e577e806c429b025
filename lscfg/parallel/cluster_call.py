"""One call of ``map`` over a Dask cluster, and its counterpart in a worker."""

from __future__ import annotations

import errno
import itertools
import pickle
import queue
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any, ClassVar, Protocol

from lscfg import log
from lscfg.errors import InputError, WorkerError
from lscfg.parallel.calls import OrderedCall
from lscfg.parallel.engine import Arriving
from lscfg.parallel.processes import portable
from lscfg.version import __version__

FULL = (errno.ENOSPC, errno.EDQUOT)
"""Errors of a full disk, which other workers may not share."""

KILLER = "each worker that had the block in hand died"

GLANCE = 1.0
"""Seconds without news after which a call checks the scheduler and the workers."""

ANSWER = 30.0
"""Seconds that a call waits for an answer of the scheduler; Dask gives up a silent connection after as many."""

Future = Any
"""A future of Dask, which has no types."""


class _Cluster(Protocol):
    """The parts of ``lscfg.parallel.cluster.Cluster`` that its calls use."""

    closings: int
    addresses: tuple[str, ...]
    own: tuple[str, ...]

    def client(self) -> Any:
        """The connection."""

    def note_workers(self, found: dict[str, int]) -> None:
        """Notes the workers."""

    def renew(self, old: Any) -> None:
        """Connects again."""


class ClusterCall(OrderedCall):
    """One call of ``map``: the messages that have no result yet, and Dask's futures for them."""

    TRIES: ClassVar[int] = 4
    """Times that a message is sent, at most, if no worker has it in hand: its workers may die of it."""

    def __init__(self, cluster: _Cluster, name: str, function: Callable[[Any], Any], held: int, batch: int):
        super().__init__(held, batch)
        self._cluster, self._name, self._function = cluster, name, function
        self._messages: dict[int, bytes] = {}
        self._futures: dict[int, Future] = {}
        self._wanted: dict[int, set[str]] = {}  # the workers that a message may go to
        self._tries: Counter[int] = Counter()
        self._missed: set[int] = set()  # messages that no worker had in hand at the last check
        self._full: set[str] = set()  # workers without space on their disks
        self._news: queue.SimpleQueue[tuple[int, Future | None]] = queue.SimpleQueue()
        self._keys = itertools.count()
        self._gathering = 5.0
        self._closings = cluster.closings  # a higher number means that nobody waits for the results any more
        self._client = cluster.client()

    def results(self, blocks: Iterable[Any], arriving: Arriving | None) -> Iterator[Any]:
        """See ``OrderedCall``."""
        try:
            yield from super().results(blocks, arriving)
        finally:
            self._give_up([*self._futures.values()])

    def _give_up(self, futures: list[Future]) -> None:
        """Cancels futures without waiting: another thread may have closed the client, and no answer would come."""

        async def cancel() -> None:
            with suppress(Exception):  # the scheduler may be gone
                await self._client.cancel(futures, asynchronous=True)

        if futures:
            self._client.loop.add_callback(cancel)

    def _send(self, number: int, blocks: list[Any]) -> None:
        self._messages[number] = pickle.dumps((__version__, self._function, blocks), pickle.HIGHEST_PROTOCOL)
        self._submit(number)

    def _submit(self, number: int) -> None:
        where: dict[str, Any] = {}
        others = {*self._cluster.addresses} - self._full
        if self._full and others:
            self._wanted[number] = others
            where = {"workers": sorted(others), "allow_other_workers": False}
        elif self._batch > 1:
            wanted = self._cluster.own[number % len(self._cluster.own)]
            self._wanted[number] = {wanted}
            where = {"workers": [wanted], "allow_other_workers": True}
        try:
            future = self._client.submit(
                work_on,
                self._messages[number],
                key=f"{self._name}-{number}-{next(self._keys)}",
                pure=False,
                priority=-number,  # in the order in which results are asked for
                **where,
            )
        except Exception:  # Dask has no common class for a broken connection
            self._news.put((number, None))
            return
        self._futures[number] = future
        future.add_done_callback(lambda done: self._news.put((number, done)))

    def _receive(self, awaited: int, arriving: Arriving | None) -> None:
        news = []
        with suppress(queue.Empty):
            news.append(self._news.get(timeout=GLANCE if arriving is None else 0.05))
            while True:
                news.append(self._news.get_nowait())
        if self._cluster.closings > self._closings:
            raise WorkerError("the engine was closed", awaited)
        if not news:
            self._check(awaited)
            return
        finished, lost = [], []
        for number, future in news:
            if number not in self._messages or self._futures.get(number) is not future:
                continue  # of a message that was sent again
            if future is None or future.status in ("cancelled", "lost", "pending"):
                lost.append(number)
            elif future.status == "error":
                self._fail(number, future)
            else:
                finished.append(number)
        lost += self._gather(finished) if finished else []
        if lost:
            self._send_again(lost)

    def _gather(self, numbers: list[int]) -> list[int]:
        """Takes the results of finished futures; returns the numbers of results that were lost meanwhile.

        The limit of time is for a result whose worker died: Dask may wait forever, although another worker has made
        the result again.
        """
        futures = [self._futures[number] for number in numbers]
        try:
            answers = self._ask(lambda: self._client.gather(futures, asynchronous=True), self._gathering)
        except Exception:  # see _submit
            self._gathering *= 2
            return numbers
        for number, (address, full, outcomes) in zip(numbers, answers, strict=True):
            if full and address not in self._full:
                self._full.add(address)
                log.warning(f"the disk of worker {address} is full; its blocks go to others")
            if full and {*self._cluster.addresses} - self._full:
                self._submit(number)
            else:
                self._settle(number, [pickle.loads(outcome) for outcome in outcomes])
        return []

    def _ask(self, question: Callable[[], Any], seconds: float = ANSWER) -> Any:
        """The answer of a method of the client. Without a limit Dask waits forever if another thread closes it."""

        async def answer() -> Any:
            return await question()

        return self._client.sync(answer, callback_timeout=seconds)

    def _settle(self, number: int, outcomes: list[tuple[bool, Any]]) -> None:
        self._outcomes[number] = outcomes
        del self._messages[number]
        self._wanted.pop(number, None)
        if (future := self._futures.pop(number, None)) is not None:
            future.release()

    def _fail(self, number: int, future: Future) -> None:
        """Notes that Dask gave up a message, because its workers died or cannot read it."""
        error = future.exception(timeout=ANSWER)
        kind, first = type(error).__name__, number * self._batch
        if kind == "KilledWorker":
            reason: Exception = WorkerError(KILLER, first)
        elif isinstance(error, ImportError):
            reason = InputError(f"a worker lacks {error.name or error}; install the same lscfg on all machines")
        else:
            reason = WorkerError(f"a worker failed ({kind}: {error})", first)
        self._settle(number, [(False, reason)])

    def _send_again(self, numbers: Iterable[int]) -> None:
        """Sends messages again that a scheduler forgot; after a lost connection, all messages."""
        old = self._client
        if old.status != "running":
            self._cluster.renew(old)
        self._client = self._cluster.client()
        if self._client is not old:
            self._futures.clear()
            numbers = list(self._messages)
        for number in sorted({*numbers}):
            self._futures.pop(number, None)
            self._submit(number)

    def _check(self, awaited: int) -> None:
        """Checks the cluster after a time without news.

        Dask gives the messages of a dead worker to others, but forgets messages if no other worker was there at that
        moment. Messages that no worker has in hand at two checks are sent again.
        """
        found: dict[str, int] = {}
        if self._client.status == "running":
            with suppress(Exception):  # see _submit
                found = self._ask(self._client.nthreads)
        if not found:
            self._cluster.renew(self._client)
            self._send_again([awaited])
            return
        self._cluster.note_workers(found)
        astray = {number for number, names in self._wanted.items() if names.isdisjoint(found)}
        if astray:
            held: set[str] = set()
            with suppress(Exception):  # see _submit
                held = {str(key) for keys in self._ask(self._client.processing).values() for key in keys}
            astray = {number for number in astray if number in self._futures and self._futures[number].key not in held}
        for number in sorted(astray & self._missed):
            self._tries[number] += 1
            if self._tries[number] >= self.TRIES:
                self._settle(number, [(False, WorkerError(KILLER, number * self._batch))])
            else:
                self._futures.pop(number).release()
                self._submit(number)
        self._missed = astray - self._missed


# ---- in a worker ----


def work_on(message: bytes) -> tuple[str, bool, list[bytes]]:
    """The worker's address, True if its disk was full, and the outcomes of blocks up to the first failure, pickled.

    If the worker has another version of lscfg, the only outcome is an InputError.
    """
    from distributed import get_worker

    address, outcomes, full = get_worker().address, [], False
    try:
        version, function, blocks = pickle.loads(message)
        if version != __version__:
            raise InputError(f"worker {address} has lscfg {__version__}, not {version}; install the same everywhere")
        for block in blocks:
            outcomes.append(pickle.dumps((True, function(block)), pickle.HIGHEST_PROTOCOL))
    except Exception as error:
        full = _is_full(error)
        outcomes.append(pickle.dumps((False, portable(error)), pickle.HIGHEST_PROTOCOL))
    return address, full, outcomes


def _is_full(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, OSError) and error.errno in FULL:
            return True
        error = error.__cause__
    return False
