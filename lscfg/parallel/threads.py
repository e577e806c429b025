"""An engine of threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ClassVar, TypeVar

from lscfg.errors import InputError
from lscfg.parallel.engine import Arriving, Engine

Block = TypeVar("Block")
Result = TypeVar("Result")


class Threads(Engine):
    """Threads of this process; see ``lscfg.parallel.engine.Engine``.

    The first ``map`` starts the threads; they live until the engine is closed or forgotten. A function must not map
    over the engine that runs it: it would wait for itself.

    Args:
        workers: number of threads besides the caller's, at least 1.
        ahead: blocks for each worker, at most, that are held with their results.

    Raises:
        InputError: workers is less than 1.
    """

    AHEAD: ClassVar[int] = 4

    def __init__(self, workers: int, ahead: int = AHEAD):
        if workers < 1:
            raise InputError(f"the number of threads must be at least 1, got {workers}")
        self.workers = workers
        self._held = workers * ahead
        self._pool: ThreadPoolExecutor | None = None

    def map(
        self, function: Callable[[Block], Result], blocks: Iterable[Block], arriving: Arriving | None = None
    ) -> Iterator[Result]:
        """See ``Engine``. An interruption waits for the blocks under way only when the engine is closed."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.workers)
        return _results(self._pool, function, blocks, self._held, arriving)

    def close(self) -> None:
        """Waits for blocks under way and ends the threads."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
        self._pool = None


def _results(
    pool: ThreadPoolExecutor,
    function: Callable[[Block], Result],
    blocks: Iterable[Block],
    held: int,
    arriving: Arriving | None,
) -> Iterator[Result]:
    pending: deque[Future[Result]] = deque()
    try:
        for future in _submitted(pool, function, blocks):
            pending.append(future)
            while len(pending) >= held or (pending and arriving is not None and not arriving.ready()):
                yield pending[0].result()
                pending.popleft()
        while pending:
            yield pending[0].result()
            pending.popleft()
    finally:
        for future in pending:
            future.cancel()


def _submitted(
    pool: ThreadPoolExecutor, function: Callable[[Block], Result], blocks: Iterable[Block]
) -> Iterator[Future[Result]]:
    """The futures of the blocks. A block that cannot be drawn fails in its turn, after earlier failures."""
    try:
        for block in blocks:
            yield pool.submit(function, block)
    except Exception as error:
        failed: Future[Result] = Future()
        failed.set_exception(error)
        yield failed
