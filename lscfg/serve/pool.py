"""Worker processes for an event loop: each call gets the next one that is free, and takes it down if it is given up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from lscfg.closing import Closing
from lscfg.parallel.single_worker import Worker

Block = TypeVar("Block")
Result = TypeVar("Result")

RETIREMENT = 1 << 20
"""Bytes of text after which a worker gives way to a new one: it remembers every word that it has met."""


class WorkerPool(Closing):
    """A fixed number of workers. A context manager, which ends them."""

    def __init__(self, workers: int):
        self._workers = [Worker() for _ in range(workers)]
        self._read = dict.fromkeys(self._workers, 0)  # bytes of text
        self._free: asyncio.Queue[Worker] = asyncio.Queue()
        for worker in self._workers:
            self._free.put_nowait(worker)

    @property
    def workers(self) -> int:
        """How many calls are worked on at the same time."""
        return len(self._workers)

    @property
    def pids(self) -> list[int]:
        """Numbers of the processes that there are."""
        return [worker.pid for worker in self._workers if worker.pid is not None]

    async def call(self, function: Callable[[Block], Result], block: Block, size: int) -> Result:
        """What the function, one of a module, gives for the block. Callers are served in their order.

        A call that is cancelled kills its worker; another one is started when it is needed.

        Args:
            size: bytes of text in the block.

        Raises:
            Exception: what the function raised.
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
