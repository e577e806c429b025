"""A pool of worker processes for an event loop. A call takes the next free worker; a cancelled call kills it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from lscfg.closing import Closing
from lscfg.parallel.single_worker import Worker

Block = TypeVar("Block")
Result = TypeVar("Result")

RETIREMENT = 1 << 20
"""Bytes of text after which a new worker replaces the old one, which remembers every word that it has met."""


class WorkerPool(Closing):
    """A fixed number of workers, which end when the pool is closed."""

    def __init__(self, workers: int):
        self._workers = [Worker() for _ in range(workers)]
        self._read = dict.fromkeys(self._workers, 0)  # bytes of text
        self._free: asyncio.Queue[Worker] = asyncio.Queue()
        for worker in self._workers:
            self._free.put_nowait(worker)

    @property
    def workers(self) -> int:
        """The number of calls that are worked on at the same time."""
        return len(self._workers)

    @property
    def pids(self) -> list[int]:
        """The numbers of the running processes."""
        return [worker.pid for worker in self._workers if worker.pid is not None]

    async def call(self, function: Callable[[Block], Result], block: Block, size: int) -> Result:
        """Returns ``function(block)`` of a worker; the function is one of a module. Calls are served in their order.

        A cancelled call kills its worker; another worker starts when it is needed.

        Args:
            size: bytes of text in the block.

        Raises:
            Exception: the error of the function.
            WorkerError: the worker died.
            OSError: no process can be started.
        """
        worker = await self._free.get()
        try:
            worker.ask(function, block)
            await _readable(worker.fileno())
            self._read[worker] += size
            result: Result = worker.answer()
            return result
        except asyncio.CancelledError:
            self._end(worker)
            raise
        finally:
            if self._read[worker] > RETIREMENT:
                self._end(worker)
            self._free.put_nowait(worker)

    def _end(self, worker: Worker) -> None:
        worker.close()
        self._read[worker] = 0

    def close(self) -> None:
        """Ends the workers."""
        for worker in self._workers:
            worker.close()


async def _readable(file: int) -> None:
    loop = asyncio.get_running_loop()
    ready = loop.create_future()
    loop.add_reader(file, _done, ready)
    try:
        await ready
    finally:
        loop.remove_reader(file)


def _done(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)
