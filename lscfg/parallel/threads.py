"""Work on many sentences by threads, the results in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from lscfg.errors import InputError

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_order(work: Callable[[Item], Result], items: Iterable[Item], threads: int = 1) -> Iterator[Result]:
    """``work(item)`` for each item, in their order, worked out by several threads ahead of the one that asks.

    Threads pay where ``work`` is spent in the kernel, which is called without Python's lock. Items are drawn by the
    caller's thread; no more than four for each thread, with their results, are held at a time.

    Raises:
        InputError: threads is less than 1.
        Exception: what ``work`` raised for the first item that failed; items behind it may have been worked on.
    """
    if threads < 1:
        raise InputError(f"the number of threads must be at least 1, got {threads}")
    return map(work, items) if threads == 1 else _threaded(work, items, threads)


def _threaded(work: Callable[[Item], Result], items: Iterable[Item], threads: int) -> Iterator[Result]:
    pending: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for item in items:
                pending.append(pool.submit(work, item))
                if len(pending) >= 4 * threads:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()
