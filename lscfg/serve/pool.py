"""A pool of worker processes for an event loop. A call takes the next free worker; a cancelled call frees it soon."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from lscfg.closing import Closing
from lscfg.errors import KernelError
from lscfg.parallel.single_worker import Worker

Block = TypeVar("Block")
Result = TypeVar("Result")

RETIREMENT = 1 << 20
"""Bytes of texts, rules and terms after which a new worker replaces the old one, which remembers every word that it has
met."""

GRACE_SECONDS = 0.25
"""Seconds that a worker may still need for a block that nobody waits for. Most sentences take less, and a worker that
is done costs nothing, while a killed worker costs a fork."""


class WorkerPool(Closing):
    """A fixed number of workers, which end when the pool is closed.

    Attributes:
        deaths: workers that died or were stopped.
        queued: calls that wait for a worker.
    """

    def __init__(self, workers: int):
        self._workers = [Worker() for _ in range(workers)]
        self._read = dict.fromkeys(self._workers, 0)  # bytes of text
        self._free: asyncio.Queue[Worker] = asyncio.Queue()
        for worker in self._workers:
            self._free.put_nowait(worker)
        self.deaths = self.queued = 0

    @property
    def workers(self) -> int:
        """The number of calls that are worked on at the same time."""
        return len(self._workers)

    async def call(self, function: Callable[[Block], Result], block: Block, size: int) -> Result:
        """Returns ``function(block)`` of a worker; the function is one of a module. Calls are served in their order.

        A cancelled call leaves the queue at once, or loses its worker after ``GRACE_SECONDS``.

        Args:
            size: bytes of text in the block.

        Raises:
            Exception: the error of the function.
            WorkerError: the worker died.
            OSError: no process can be started.
        """
        self.queued += 1
        try:
            worker = await self._free.get()
        finally:
            self.queued -= 1
        work = asyncio.ensure_future(worker.call(function, block))
        work.add_done_callback(partial(self._release, worker, size))
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            asyncio.get_running_loop().call_later(GRACE_SECONDS, work.cancel)
            raise

    def _release(self, worker: Worker, size: int, work: asyncio.Future[Result]) -> None:
        """Gives a worker back after its work, however the work ended."""
        error = None if work.cancelled() else work.exception()  # looked at, though nobody may wait for it any more
        self._read[worker] += size
        if worker.pid is None and (work.cancelled() or error is not None):
            self.deaths += 1
        elif self._read[worker] > RETIREMENT or isinstance(error, (MemoryError, KernelError)):
            worker.kill()
        if worker.pid is None:
            self._read[worker] = 0
        self._free.put_nowait(worker)

    def kill(self) -> None:
        """Kills all workers without waiting for their ends."""
        for worker in self._workers:
            worker.kill()

    def close(self) -> None:
        """Ends the workers."""
        for worker in self._workers:
            worker.close()
