"""An engine of workers on other machines, or of this one, behind a scheduler of Dask's.

Blocks go to workers as bytes that name a function of a module. The engine keeps each block until its result is
there. So a worker, or the scheduler with all it knows, may go and come back: the blocks are sent again.
"""

from __future__ import annotations

import errno
import itertools
import logging
import pickle
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from lscfg import log
from lscfg.errors import InputError, WorkerError
from lscfg.extras import need
from lscfg.parallel import engine as engines
from lscfg.parallel.place import Place, read_place
from lscfg.parallel.processes import portable
from lscfg.parallel.worker import ONE_THREAD
from lscfg.version import __version__

if TYPE_CHECKING:
    from lscfg.parallel.engine import Arriving

Block = TypeVar("Block")
Result = TypeVar("Result")

FULL = (errno.ENOSPC, errno.EDQUOT)
"""Of errors of a worker that another worker may not have: its disk is full."""

KILLER = "each worker that had the block in hand died"

GLANCE = 1.0
"""Seconds without news after which an engine looks whether scheduler and workers are there."""

ANSWER = 30.0
"""Seconds that an engine waits for what it asks the scheduler; after as many Dask gives a silent connection up."""


LOCAL: dict[str, Any] = {
    "distributed.scheduler.allowed-failures": 3,
    "distributed.worker.daemon": True,
    "distributed.worker.profile.enabled": False,
    "distributed.scheduler.http.routes": [],  # Dask serves HTTP anyway, without TLS: no page is there
    "distributed.worker.http.routes": [],
    "distributed.nanny.pre-spawn-environ": ONE_THREAD
    | {"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": str(32 << 20), "MALLOC_TRIM_THRESHOLD_": str(128 << 20)},
}
"""Settings of Dask for workers of this machine. With Dask's own the C library gives memory back after each sentence,
and the next one asks for it again, which takes a fifth of the time."""


@contextmanager
def on_cluster(text: str | None) -> Iterator[Place | None]:
    """Joins the cluster that ``--cluster`` names; meanwhile ``in_processes`` makes engines of it. None: nothing.

    Workers of ``local:N`` are processes with one thread. They listen on 127.0.0.1, behind certificates that are made
    for them, and end with the block.

    Raises:
        InputError: it is no cluster, nobody is there, or an extra is missing.
    """
    if text is None:
        yield None
        return
    need("cluster")
    place = read_place(text)
    with _local(place) if place.local else _far(place) as found, joined_to(found):
        yield found


@contextmanager
def joined_to(place: Place | None) -> Iterator[None]:
    """``in_processes`` makes engines of this cluster meanwhile."""
    before, engines.joined = engines.joined, place
    try:
        yield
    finally:
        engines.joined = before


@contextmanager
def _far(place: Place) -> Iterator[Place]:
    if not place.tls:
        log.warning("the cluster is without TLS: whoever reaches its port can run programs there")
    with Cluster(place):  # now: nobody may be there
        pass
    yield place


@contextmanager
def _local(place: Place) -> Iterator[Place]:
    import dask
    from distributed import LocalCluster, Security

    security = Security.temporary()
    _hush()
    with (
        dask.config.set(LOCAL),
        LocalCluster(
            n_workers=place.local,
            threads_per_worker=1,
            host="127.0.0.1",
            protocol="tls://",
            security=security,
            dashboard_address=None,
            scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},  # a port that is free, or Dask complains
            memory_limit=0,  # parameters are mapped, and their pages would count as the worker's own
            silence_logs=logging.CRITICAL,
        ) as cluster,
    ):
        names = ("tls_ca_file", "tls_client_cert", "tls_client_key")
        tls = {name: str(getattr(security, name)) for name in names}
        yield Place(cluster.scheduler_address, tls=tls, patience=place.patience)


def _hush() -> None:
    """Dask logs each worker that goes, with tracebacks; what matters of it is said by the engine."""
    for name in logging.root.manager.loggerDict:  # of its modules some have levels and handlers of their own
        if name.split(".")[0] in ("distributed", "tornado", "asyncio"):
            logger = logging.getLogger(name)
            logger.handlers, logger.propagate = [logging.NullHandler()], False


class Cluster:
    """Workers behind a scheduler; see ``lscfg.parallel.engine.Engine``.

    Batch k of a call goes to worker k modulo their number, if it has time, for what it keeps of an earlier call. Of
    several engines at a time each has its own part of the workers (``Place.part``).
    Several threads may call ``map`` at the same time.

    Args:
        place: where the scheduler is.
        ahead: blocks for each worker, at most, that are held with their results.
        batch: blocks that are sent together, where they do not come over time.

    Raises:
        InputError: no scheduler answers, or it has no workers.
    """

    AHEAD: ClassVar[int] = 16
    BATCH: ClassVar[int] = 8
    """A task costs some milliseconds of the scheduler; a sentence takes some ten to decode."""
    inherits: ClassVar[bool] = False

    def __init__(self, place: Place, ahead: int = AHEAD, batch: int = BATCH):
        need("cluster")
        self._place, self._ahead, self._batch = place, ahead, batch
        self._lock = threading.Lock()
        self._link: Any = None
        self.closings = 0
        self.addresses: tuple[str, ...] = ()
        self.own: tuple[str, ...] = ()
        self._connect()

    @property
    def workers(self) -> int:
        """See ``Engine``; those of this engine's part."""
        return len(self.own)

    @property
    def processes(self) -> int:
        """How many worker processes there are, each with one thread or more."""
        return len(set(self.addresses))

    def map(
        self, function: Callable[[Block], Result], blocks: Iterable[Block], arriving: Arriving | None = None
    ) -> Iterator[Result]:
        """See ``Engine``. A block is worked on again if its worker dies, at most three times.

        Raises:
            TypeError: the function is none of a module.
            InputError: no scheduler or worker came back within the patience.
            WorkerError: a block's worker died each time.
        """
        try:
            pickle.dumps(function)
        except Exception as error:
            raise TypeError(f"{function!r} cannot go to a worker; it must be a function of a module") from error
        batch = self._batch if arriving is None else 1
        call = _Call(self, function, max(self._ahead // batch, 1) * self.workers, batch)
        return call.results(blocks, arriving)

    def close(self) -> None:
        """Leaves the cluster; calls under way end with an error."""
        self.closings += 1  # first: a thread that connects has the lock, and leaves it then
        with self._lock:
            self._drop()

    def client(self) -> Any:
        """The connection, made anew after ``close``."""
        with self._lock:
            if self._link is None:
                self._connect()
            return self._link

    @property
    def patience(self) -> float:
        """Seconds to wait for what is away."""
        return self._place.patience

    def know(self, found: dict[str, int]) -> None:
        """Notes the workers that are there, with their threads, and which of them are this engine's own."""
        number, parts = self._place.part
        names = sorted(found)
        self.addresses, self.own = (
            tuple(name for name in some for _ in range(found[name])) for some in (names, names[number::parts] or names)
        )

    def renew(self, old: Any) -> None:
        """Connects anew, unless another thread did.

        Raises:
            InputError: no scheduler answers, or it has no workers.
        """
        with self._lock:
            if self._link is old:
                log.warning("the scheduler is lost, or its workers are; trying again")
                self._drop()
                self._connect()

    def _drop(self) -> None:
        link, self._link = self._link, None
        if link is not None:
            with suppress(Exception):  # it is gone, in whatever way
                link.close(timeout=2)

    def _connect(self) -> None:
        from distributed import Client, Security

        _hush()
        until = time.monotonic() + self.patience
        reason, cure, closings = "no scheduler answers", "start it", self.closings
        while True:
            try:
                security = Security(require_encryption=True, **self._place.tls) if self._place.tls else None
                left = max(1.0, min(10.0, until - time.monotonic()))
                self._link = Client(self._place.find(), security=security, timeout=left, set_as_default=False)
                reason, cure = "the scheduler has no workers", "start some"
                while not (found := self._link.nthreads()):
                    if time.monotonic() > until or self.closings > closings:
                        break
                    time.sleep(0.2)
                if found:
                    self.know(found)
                    return
            except (OSError, ValueError, TypeError):  # Dask raises the last for an address that it cannot read
                pass
            except RuntimeError:  # of a connection with other credentials
                reason, cure = "no scheduler answers with these credentials", "check them"
            self._drop()
            if self.closings > closings:
                raise InputError("the engine was closed")
            if time.monotonic() > until:
                where = self._place.address or self._place.scheduler_file
                hint = f"{cure}, and run again: what was finished is kept"
                raise InputError(f"cluster {where}: {reason} within {self.patience:g} s; {hint}")
            time.sleep(0.5)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Call:
    """One call of ``map``: blocks without a result, and what came back."""

    SLOW: ClassVar[tuple[float, float]] = (10.0, 20.0)
    """A block is given to a second worker after so many seconds that are also so many times an average block's."""

    TRIES: ClassVar[int] = 4
    """So often is a batch sent, at most, that nobody has in hand: it may be what its workers die of."""

    def __init__(self, cluster: Cluster, function: Callable[[Any], Any], held: int, batch: int):
        self._cluster, self._function, self._held, self._batch = cluster, function, held, batch
        self._name = f"lscfg-{id(self):x}-{time.monotonic_ns():x}"
        self._messages: dict[int, bytes] = {}
        self._futures: dict[int, list[Any]] = {}
        self._begun: dict[int, float] = {}
        self._outcomes: dict[int, list[tuple[bool, Any]]] = {}
        self._wanted: dict[int, str] = {}  # the worker that a batch is for
        self._tries: dict[int, int] = {}
        self._alone: set[int] = set()  # batches that nobody had in hand at the last look
        self._gathering = 5.0
        self._news: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        self._full: set[str] = set()
        self._keys = itertools.count()
        self._seconds = self._finished = 0.0
        self._sent = 0
        self._closings = cluster.closings  # more of them: nobody waits for results of this call any more
        self._client = cluster.client()

    def results(self, blocks: Iterable[Any], arriving: Arriving | None) -> Iterator[Any]:
        """The results in the order of the blocks; see ``Engine.map``."""
        outgoing = self._send_each(blocks)
        try:
            for number in itertools.count():
                more = self._draw(outgoing, number, arriving)
                if number == self._sent:
                    return
                while number not in self._outcomes:
                    self._receive(number, 0.05 if arriving is not None and more else GLANCE)
                    more = self._draw(outgoing, number, arriving)
                for well, result in self._outcomes.pop(number):
                    if not well:
                        raise result
                    yield result
        finally:
            self._give_up([future for futures in self._futures.values() for future in futures])

    def _give_up(self, futures: list[Any]) -> None:
        """Nobody waits for these. Nor for the client: another thread may have closed it, and no answer would come."""

        async def cancel() -> None:
            with suppress(Exception):  # the scheduler may be gone
                await self._client.cancel(futures, asynchronous=True)

        if futures:
            self._client.loop.add_callback(cancel)

    def _draw(self, outgoing: Iterator[bool], number: int, arriving: Arriving | None) -> bool:
        while self._sent < number + self._held:
            if arriving is not None and self._sent > number and not arriving.ready():
                return True
            if not next(outgoing, False):
                return False
        return False

    def _send_each(self, blocks: Iterable[Any]) -> Iterator[bool]:
        drawn: list[Any] = []
        try:
            for block in blocks:
                drawn.append(block)
                if len(drawn) == self._batch:
                    self._send(drawn)
                    drawn = []
                    yield True
        except Exception as error:
            if drawn:
                self._send(drawn)
            self._outcomes[self._sent] = [(False, error)]
            self._sent += 1
            yield True
            return
        if drawn:
            self._send(drawn)
            yield True

    def _send(self, blocks: list[Any]) -> None:
        self._messages[self._sent] = pickle.dumps((__version__, self._function, blocks), pickle.HIGHEST_PROTOCOL)
        self._sent += 1
        self._submit(self._sent - 1)

    def _submit(self, number: int, avoid: frozenset[str] = frozenset()) -> None:
        own, all_names = self._cluster.own, set(self._cluster.addresses)
        avoid |= self._full
        left = sorted(all_names - avoid)
        where: dict[str, Any] = {}
        self._wanted.pop(number, None)
        if self._batch > 1:
            self._wanted[number] = own[number % len(own)]
            where = {"workers": [self._wanted[number]], "allow_other_workers": True}
        if avoid & all_names and left:
            where = {"workers": left, "allow_other_workers": False}
        try:
            future = self._client.submit(
                work_on,
                self._messages[number],
                key=f"{self._name}-{number}-{next(self._keys)}",
                pure=False,
                priority=-number,  # in the order in which results are asked for
                **where,
            )
        except Exception:  # Dask has no one class for a connection that is gone
            self._news.put((number, None))
            return
        self._futures.setdefault(number, []).append(future)
        self._begun[number] = time.monotonic()
        future.add_done_callback(lambda done: self._news.put((number, done)))

    def _receive(self, awaited: int, seconds: float) -> None:
        """Takes what is there, or waits so long for it."""
        news = []
        with suppress(queue.Empty):
            news.append(self._news.get(timeout=seconds))
            while True:
                news.append(self._news.get_nowait())
        self._check_open(awaited)
        if not news:
            self._look(awaited)
        own = self._futures  # others were given up, or are of a connection that is gone
        here = [(number, future) for number, future in news if future is None or future in own.get(number, [])]
        here = [(number, future) for number, future in here if number in self._messages]
        done = [(number, future) for number, future in here if future is not None and future.status == "finished"]
        lost = [n for n, future in here if future is None or future.status in ("cancelled", "lost", "pending")]
        for number, future in here:
            if future is not None and future.status == "error":
                self._failed(number, future)
        if done:
            try:
                answers = self._gather([future for _, future in done])
            except Exception:  # as above; a worker died that had one of them
                self._gathering *= 2
                lost += [number for number, _ in done]
            else:
                for (number, _), answer in zip(done, answers, strict=True):
                    self._take(number, answer)
        if lost := [number for number in lost if number in self._messages]:
            self._again(min(lost), lost)

    def _check_open(self, awaited: int) -> None:
        if self._cluster.closings > self._closings:
            raise WorkerError("the engine was closed", awaited)

    def _gather(self, futures: list[Any]) -> Any:
        """The results. Dask may wait for ever for one that was lost, though it is there again."""
        return self._ask(lambda: self._client.gather(futures, asynchronous=True), self._gathering)

    def _ask(self, question: Callable[[], Any], seconds: float = ANSWER) -> Any:
        """What a method of the client tells; without a limit Dask waits for ever where another thread closes it."""

        async def answer() -> Any:
            return await question()

        return self._client.sync(answer, callback_timeout=seconds)

    def _take(self, number: int, answer: tuple[str, bool, bytes]) -> None:
        address, full, outcome = answer
        if number not in self._messages:
            return  # a second worker was faster
        if full:
            self._futures.pop(number, None)
            if address not in self._full:
                self._full.add(address)
                log.warning(f"the disk of worker {address} is full; its blocks go to others")
            if set(self._cluster.addresses) - self._full:
                self._submit(number)
                return
        self._seconds += time.monotonic() - self._begun[number]
        self._finished += 1
        self._settle(number, [pickle.loads(one) for one in pickle.loads(outcome)])

    def _settle(self, number: int, outcome: list[tuple[bool, Any]]) -> None:
        self._outcomes[number] = outcome
        del self._messages[number], self._begun[number]
        self._wanted.pop(number, None)
        for future in self._futures.pop(number, []):
            future.release()

    def _failed(self, number: int, future: Any) -> None:
        """Dask gave the block up: its workers died, or they cannot read what it is."""
        error = future.exception(timeout=ANSWER)
        kind, first = type(error).__name__, number * self._batch
        if kind == "KilledWorker":
            reason: Exception = WorkerError(KILLER, first)
        elif isinstance(error, ImportError):
            reason = InputError(f"a worker lacks {error.name or error}; install the same lscfg on all machines")
        else:
            reason = WorkerError(f"a worker failed ({kind}: {error})", first)
        self._settle(number, [(False, reason)])

    def _again(self, awaited: int, numbers: list[int]) -> None:
        """Sends blocks again that a scheduler forgot, with all that are on their way there."""
        old = self._client
        if old.status != "running":
            self._cluster.renew(old)
        self._check_open(awaited)
        self._client = self._cluster.client()
        if self._client is not old:
            self._futures.clear()
            numbers = sorted(self._messages)
        for number in sorted(set(numbers)):
            self._futures.pop(number, None)
            self._submit(number)

    def _look(self, awaited: int) -> None:
        """Nothing came for a while: is somebody there, and is the block that is waited for with a slow worker?"""
        found: dict[str, int] = {}
        if self._client.status == "running":
            with suppress(Exception):  # as above
                found = self._ask(self._client.nthreads)
        if not found:
            self._cluster.renew(self._client)
            self._again(awaited, [awaited])
            return
        if set(found) != set(self._cluster.addresses) or not set(self._wanted.values()) <= set(found):
            self._cluster.know(found)
            self._follow(found)
            return
        least, times = self.SLOW
        waited = time.monotonic() - self._begun.get(awaited, time.monotonic())
        alone = len(found) > 1 and len(self._futures.get(awaited, [])) == 1
        if alone and self._finished and waited > max(least, times * self._seconds / self._finished):
            slow = self._holders().get(self._futures[awaited][0].key)
            if slow:
                self._submit(awaited, frozenset({slow}))

    def _follow(self, found: dict[str, int]) -> None:
        """Workers went. Dask gives their batches to others, but leaves them where they are if there was no other.

        A batch is sent again when nobody has it at two looks: at the first one it may be on its way to another worker,
        and Dask counts the deaths of a batch for one sending only.
        """
        holders, alone = self._holders(), set()
        for number in [number for number, name in self._wanted.items() if name not in found]:
            futures = self._futures.get(number, [])
            holder = next((holders[future.key] for future in futures if future.key in holders), None)
            if holder:
                self._wanted[number] = holder
                continue
            if number not in self._alone:
                alone.add(number)
                continue
            self._tries[number] = self._tries.get(number, 1) + 1
            if self._tries[number] > self.TRIES:
                self._settle(number, [(False, WorkerError(KILLER, number * self._batch))])
                continue
            for future in self._futures.pop(number, []):
                future.release()
            self._submit(number)
        self._alone = alone

    def _holders(self) -> dict[str, str]:
        """The worker that has a key in hand, by key; nothing of a scheduler that does not answer."""
        with suppress(Exception):  # as above; it is asked again
            return {str(key): name for name, keys in self._ask(self._client.processing).items() for key in keys}
        return {}


# ---- in a worker ----


def work_on(message: bytes) -> tuple[str, bool, bytes]:
    """The worker's address, whether its disk was full, and the outcomes of blocks, pickled; none after a failure."""
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
    return address, full, pickle.dumps(outcomes, pickle.HIGHEST_PROTOCOL)


def _is_full(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, OSError) and error.errno in FULL:
            return True
        error = error.__cause__
    return False
