"""The engine of a Dask cluster: workers on other machines, or of this one, behind a scheduler.

Dask assigns blocks to workers and runs the blocks of a dead worker again. The engine keeps each block until its
result arrives, so the scheduler may restart, too: the engine connects again and sends the blocks again.
"""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, ClassVar, TypeVar

from lscfg import log
from lscfg.errors import InputError
from lscfg.extras import need
from lscfg.parallel.address import ClusterAddress, read_address
from lscfg.parallel.calls import check_sendable
from lscfg.parallel.cluster_call import ClusterCall
from lscfg.parallel.clusters import ClusterEngine
from lscfg.parallel.engine import Arriving, Engine
from lscfg.parallel.worker import ONE_THREAD

Block = TypeVar("Block")
Result = TypeVar("Result")

LOCAL: dict[str, Any] = {
    "distributed.scheduler.allowed-failures": 3,
    "distributed.worker.daemon": True,
    "distributed.worker.profile.enabled": False,
    "distributed.scheduler.http.routes": [],  # Dask always serves HTTP without TLS; this removes all pages
    "distributed.worker.http.routes": [],
    "distributed.nanny.pre-spawn-environ": ONE_THREAD
    | {"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": str(32 << 20), "MALLOC_TRIM_THRESHOLD_": str(128 << 20)},
}
"""Settings of Dask for workers of this machine. With Dask's own memory settings the C library returns memory to the
system after each sentence, and the next sentence asks for it again, which takes a fifth of the time."""


class Dask(ClusterEngine):
    """A scheduler and workers of Dask."""

    HELP = "Dask's scheduler and workers"
    FORMS = "tcp://HOST:PORT, local:N or a .yaml file"

    def read(self, text: str) -> ClusterAddress | None:
        """See ``ClusterEngine``."""
        need("cluster")
        return read_address(text)

    @contextmanager
    def join(self, address: ClusterAddress) -> Iterator[ClusterAddress]:
        """See ``ClusterEngine``.

        Workers of ``local:N`` are processes with one thread. They listen on 127.0.0.1, behind certificates that are
        made for them.
        """
        if address.local:
            with _local(address) as found:
                yield found
            return
        if not address.tls:
            log.warning("the cluster is without TLS: whoever reaches its port can run programs there")
        with Cluster(address):  # fails at once if nobody answers
            pass
        yield address

    def engine(self, address: ClusterAddress, batch: int | None = None) -> Engine:
        """See ``ClusterEngine``."""
        return Cluster(address) if batch is None else Cluster(address, batch=batch)


@contextmanager
def _local(address: ClusterAddress) -> Iterator[ClusterAddress]:
    import dask
    from distributed import LocalCluster, Security

    security = Security.temporary()
    _hush()
    with dask.config.set(LOCAL), ExitStack() as stack:
        try:
            cluster = stack.enter_context(
                LocalCluster(
                    n_workers=address.local,
                    threads_per_worker=1,
                    host="127.0.0.1",
                    protocol="tls://",
                    security=security,
                    dashboard_address=None,
                    scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},  # a port that is free, or Dask complains
                    memory_limit=0,  # parameters are mapped, and their pages would count as the worker's own
                    silence_logs=logging.CRITICAL,
                )
            )
        except (RuntimeError, OSError, ValueError) as error:  # Dask has no common class
            raise InputError(
                f"the cluster local:{address.local} cannot start ({_reason(error)}); allow more open files (ulimit -n) "
                "and processes, or use --jobs"
            ) from error
        names = ("tls_ca_file", "tls_client_cert", "tls_client_key")
        tls = {name: str(getattr(security, name)) for name in names}
        yield ClusterAddress(cluster.scheduler_address, tls=tls, patience=address.patience)


def _reason(error: BaseException) -> str:
    """The first cause of an error, in one line."""
    while error.__cause__ is not None:
        error = error.__cause__
    return " ".join(str(error).split()) or type(error).__name__


def _hush() -> None:
    """Silences Dask, which logs each worker that leaves with a traceback; the engine reports what matters."""
    for name in logging.root.manager.loggerDict:  # some of Dask's modules set levels and handlers themselves
        if name.split(".")[0] in ("distributed", "tornado", "asyncio"):
            logger = logging.getLogger(name)
            logger.handlers, logger.propagate = [logging.NullHandler()], False


class Cluster(Engine):
    """Workers behind a Dask scheduler.

    Batch k of a call goes to worker k modulo their number, if that worker is free, because it may keep objects of an
    earlier call. Engines that work at the same time have different parts of the workers (``ClusterAddress.part``).
    Several threads may call ``map`` at the same time.

    Args:
        address: the address of the scheduler.
        batch: blocks that are sent together, unless they arrive over time.

    Raises:
        InputError: no scheduler answers, or it has no workers.
    """

    AHEAD: ClassVar[int] = 16
    """Blocks for each worker, at most, that are held with their results."""

    BATCH: ClassVar[int] = 8
    """A task costs the scheduler some milliseconds; a sentence takes some ten milliseconds to decode."""

    def __init__(self, address: ClusterAddress, batch: int = BATCH):
        need("cluster")
        self._address, self._batch = address, batch
        self._lock = threading.Lock()
        self._client: Any = None
        self._names = itertools.count()
        self.closings = 0
        self.addresses: tuple[str, ...] = ()
        self.own: tuple[str, ...] = ()
        self._connect()

    @property
    def processes(self) -> int:
        """The number of worker processes, each with one thread or more."""
        return len(set(self.addresses))

    def map(
        self, function: Callable[[Block], Result], blocks: Iterable[Block], arriving: Arriving | None = None
    ) -> Iterator[Result]:
        """See ``Engine``. A block is worked on again if its worker dies, at most three times.

        Raises:
            TypeError: the function is not one of a module.
            InputError: no scheduler or worker came back within the patience.
            WorkerError: each worker of a block died.
        """
        check_sendable(function)
        batch = self._batch if arriving is None else 1
        name = f"lscfg-{id(self):x}-{time.monotonic_ns():x}-{next(self._names)}"
        call = ClusterCall(self, name, function, max(self.AHEAD // batch, 1) * self.workers, batch)
        return call.results(blocks, arriving)

    def close(self) -> None:
        """Leaves the cluster; calls under way end with an error."""
        self.closings += 1  # first, so that a connecting thread releases the lock
        with self._lock:
            self._drop()

    def client(self) -> Any:
        """The connection, made again after ``close``."""
        with self._lock:
            if self._client is None:
                self._connect()
            return self._client

    def note_workers(self, found: dict[str, int]) -> None:
        """Notes the workers of the cluster, with their threads, and which of them are this engine's own."""
        number, parts = self._address.part
        names = sorted(found)
        self.addresses, self.own = (
            tuple(name for name in some for _ in range(found[name])) for some in (names, names[number::parts] or names)
        )
        self.workers = len(self.own)

    def renew(self, old: Any) -> None:
        """Connects again, unless another thread did.

        Raises:
            InputError: no scheduler answers, or it has no workers.
        """
        with self._lock:
            if self._client is old:
                log.warning("the scheduler is lost, or its workers are; trying again")
                self._drop()
                self._connect()

    def _drop(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            with suppress(Exception):  # the connection may be broken in any way
                client.close(timeout=2)

    def _connect(self) -> None:
        from distributed import Client, Security

        _hush()
        patience = self._address.patience
        until = time.monotonic() + patience
        reason, cure, closings = "no scheduler answers", "start it", self.closings
        while True:
            try:
                security = Security(require_encryption=True, **self._address.tls) if self._address.tls else None
                left = max(1.0, min(10.0, until - time.monotonic()))
                self._client = Client(self._address.find(), security=security, timeout=left, set_as_default=False)
                reason, cure = "the scheduler has no workers", "start some"
                while not (found := self._client.nthreads()):
                    if time.monotonic() > until or self.closings > closings:
                        break
                    time.sleep(0.2)
                if found:
                    self.note_workers(found)
                    return
            except (OSError, ValueError, TypeError):  # Dask raises the last for an address that it cannot read
                pass
            except RuntimeError:  # raised for a connection with other credentials
                reason, cure = "no scheduler answers with these credentials", "check them"
            self._drop()
            if self.closings > closings:
                raise InputError("the engine was closed")
            if time.monotonic() > until:
                where = self._address.scheduler or self._address.scheduler_file
                hint = f"{cure}, and run again: finished work is kept"
                raise InputError(f"cluster {where}: {reason} within {patience:g} s; {hint}")
            time.sleep(0.5)
