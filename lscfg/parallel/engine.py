"""One way to share work: ``Engine.map(function, blocks)`` gives the results in the order of the blocks.

The results are the same for every engine and every number of workers, if the function depends on its block alone. Two
kinds of work are shared in this way:

- Work that stays in this process. The function may read and write arrays of its caller. Threads pay where the work is
  spent in the kernel, which runs without Python's lock. A library function with such work takes ``threads: int`` and
  makes its engine by ``in_threads``.
- Work that may leave this process. The function is one of a module; the block and the result are pickled. Large inputs
  go by path, and ``lscfg.parallel.worker.keep`` holds what was made of them. A library function with such work takes
  ``engine: Engine | None``; its caller makes and closes the engine.

Within ``lscfg.parallel.cluster.on_cluster`` the engines for the second kind of work are those of the cluster.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self, TypeVar

from lscfg.parallel.threads import Threads

if TYPE_CHECKING:
    from lscfg.parallel.cluster import Place

joined: Place | None = None
"""The cluster that this process has joined, set by ``lscfg.parallel.cluster.on_cluster`` only."""

Block = TypeVar("Block")
Result = TypeVar("Result")


def available_cores() -> int:
    """How many processors this process may use, at least 1."""
    if hasattr(os, "sched_getaffinity"):  # Linux: a container or taskset may allow fewer than there are
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def part_bounds(items: int, parts: int) -> list[int]:
    """Where each of some parts of the same size begins, up to one item, and the number of items."""
    return [items * part // parts for part in range(parts + 1)]


class Arriving(Protocol):
    """Says when a block is there, where blocks come over time, as lines of a pipe do."""

    def fileno(self) -> int:
        """A file descriptor; when it can be read, more of a block may be there."""

    def ready(self) -> bool:
        """Whether the next block, or their end, is there, so that drawing it does not wait."""


class Engine(Protocol):
    """Workers that blocks of work are dealt to; a context manager that closes at its end."""

    @property
    def workers(self) -> int:
        """How many blocks are worked on at the same time."""

    @property
    def inherits(self) -> bool:
        """Whether workers will be started that begin with what this thread keeps (``lscfg.parallel.worker.keep``).

        Work must not depend on it. It saves time and memory where something large is made before the first ``map``.
        """

    def map(
        self, function: Callable[[Block], Result], blocks: Iterable[Block], arriving: Arriving | None = None
    ) -> Iterator[Result]:
        """``function(block)`` for each block, in their order.

        Blocks are drawn in the thread of the caller, no more than a few for each worker ahead of the result that the
        caller asks for.

        Args:
            arriving: if given, no result waits for a block that is still to come.

        Raises:
            Exception: what the function, or drawing, raised for the first block that failed. Blocks behind it may have
                been worked on; those that were not begun are left.
            WorkerError: a worker died; its block is named.
        """

    def close(self) -> None:
        """Ends the workers; a later ``map`` starts new ones."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Serial:
    """The engine without workers: a block is worked on when its result is asked for, in the thread that asks."""

    workers = 1
    inherits = True

    def map(
        self, function: Callable[[Block], Result], blocks: Iterable[Block], arriving: Arriving | None = None
    ) -> Iterator[Result]:
        """See ``Engine``."""
        return map(function, blocks)

    def close(self) -> None:
        """Nothing has to end."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def in_threads(workers: int, ahead: int = Threads.AHEAD) -> Engine:
    """An engine of threads; ``Serial`` for one.

    Args:
        ahead: blocks for each worker, at most, that are held with their results.

    Raises:
        InputError: workers is less than 1.
    """
    return Serial() if workers == 1 else Threads(workers, ahead)


def in_processes(workers: int, environment: Mapping[str, str] | None = None, large: bool = False) -> Engine:
    """An engine of processes; ``Serial`` for one without an environment.

    Where this process has joined a cluster, its workers take the place of the processes.

    Args:
        environment: variables that are set in a worker before it imports anything of ours; such workers are on this
            machine, cluster or not.
        large: each block takes seconds, so a cluster sends them one by one.

    Raises:
        InputError: workers is less than 1.
    """
    if joined is not None and environment is None:
        from lscfg.parallel.cluster import Cluster

        return Cluster(joined, batch=1) if large else Cluster(joined)
    if workers == 1 and environment is None:
        return Serial()
    from lscfg.parallel.processes import Processes  # multiprocessing takes a while to import

    return Processes(workers, environment)
