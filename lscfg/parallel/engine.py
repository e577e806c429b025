"""One way to share work: ``Engine.map(function, blocks)`` yields the results in the order of the blocks.

The results are the same for every engine and every number of workers, if the function depends on its block alone. Two
kinds of work are shared in this way:

- Work that stays in this process. The function may read and write arrays of its caller. Threads help if the kernel
  does the work, which runs without Python's lock. A library function with such work takes ``threads: int`` and makes
  its engine by ``lscfg.parallel.choose.in_threads``.
- Work that may leave this process. The function is one of a module; the block and the result are pickled. Large inputs
  go by path, and ``lscfg.parallel.worker.keep`` holds objects made from them. A library function with such work takes
  ``engine: Engine | None``; its caller makes and closes the engine, by ``lscfg.parallel.choose.in_processes``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

from lscfg.closing import Closing

Block = TypeVar("Block")
Result = TypeVar("Result")


def available_cores() -> int:
    """The number of processors that this process may use, at least 1."""
    if hasattr(os, "sched_getaffinity"):  # Linux: a container or taskset may allow fewer than the machine has
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def part_bounds(items: int, parts: int) -> list[int]:
    """The begins of parts of equal size (up to one item), and the number of items."""
    return [items * part // parts for part in range(parts + 1)]


class Arriving(Protocol):
    """A source of blocks that arrive over time, like the lines of a pipe."""

    def fileno(self) -> int:
        """A file descriptor; when it is readable, more of a block may have arrived."""

    def ready(self) -> bool:
        """True if the next block, or the end of all blocks, has arrived, so that drawing it does not wait."""


class Engine(Closing):
    """Base class of engines: workers that share blocks of work.

    ``close`` ends the workers; a later ``map`` starts new ones.
    """

    workers: int
    """Number of blocks that are worked on at the same time."""

    @property
    def processes(self) -> int:
        """The number of worker processes; a process of a cluster may run several threads."""
        return self.workers

    @property
    def inherits(self) -> bool:
        """True if workers that have not started yet will inherit the objects that this thread keeps.

        Work must not depend on it. It saves time and memory where the caller makes something large (see
        ``lscfg.parallel.worker.keep``) before the first ``map``.
        """
        return False

    def map(
        self, function: Callable[[Block], Result], blocks: Iterable[Block], arriving: Arriving | None = None
    ) -> Iterator[Result]:
        """Yields ``function(block)`` for each block, in their order.

        The caller's thread draws the blocks, at most a few for each worker ahead of the result that the caller asks
        for.

        Args:
            arriving: if given, no result waits for a block that has not arrived.

        Raises:
            Exception: the error of the function, or of drawing, for the first block that failed. Later blocks may have
                been processed; blocks that have not begun are dropped.
            WorkerError: a worker died; the error names its block.
        """
        raise NotImplementedError


class Serial(Engine):
    """The engine without workers: the thread that asks for a result works on its block."""

    workers = 1

    @property
    def inherits(self) -> bool:
        """Always: the caller is the worker."""
        return True

    def map(
        self, function: Callable[[Block], Result], blocks: Iterable[Block], arriving: Arriving | None = None
    ) -> Iterator[Result]:
        """See ``Engine``."""
        return map(function, blocks)

    def close(self) -> None:
        """Does nothing: no worker runs."""
