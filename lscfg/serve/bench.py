"""Worker processes for an event loop: each call gets the next one that is free, and takes it down if it is given up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Self, TypeVar

from lscfg.parallel.servant import Servant

Block = TypeVar("Block")
Result = TypeVar("Result")

RETIREMENT = 1 << 20
"""Bytes of text after which a worker gives way to a new one: it remembers every word that it has met."""


class Bench:
    """A fixed number of workers. A context manager, which ends them."""

    def __init__(self, workers: int):
        self._servants = [Servant() for _ in range(workers)]
        self._read = dict.fromkeys(self._servants, 0)  # bytes of text
        self._free: asyncio.Queue[Servant] = asyncio.Queue()
        for servant in self._servants:
            self._free.put_nowait(servant)

    @property
    def workers(self) -> int:
        """How many calls are worked on at the same time."""
        return len(self._servants)

    @property
    def pids(self) -> list[int]:
        """Numbers of the processes that there are."""
        return [servant.pid for servant in self._servants if servant.pid is not None]

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
        servant = await self._free.get()
        try:
            servant.ask(function, block)
            await _readable(servant.fileno())
            self._read[servant] += size
            result: Result = servant.answer()
            return result
        except asyncio.CancelledError:
            self._end(servant)
            raise
        finally:
            if self._read[servant] > RETIREMENT:
                self._end(servant)
            self._free.put_nowait(servant)

    def _end(self, servant: Servant) -> None:
        servant.end()
        self._read[servant] = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for servant in self._servants:
            servant.end()


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
