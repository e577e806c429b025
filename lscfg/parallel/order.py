"""Work whose items depend on each other: an item begins as soon as the items that it needs are done."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Set
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)
Item = TypeVar("Item")
Result = TypeVar("Result")


def as_needed(
    items: Mapping[Key, Item],
    needs: Callable[[Item], Set[Key]],
    work: Callable[[Item], Result],
    at_once: int,
    stop: Callable[[], None],
) -> Iterator[tuple[Item, Result]]:
    """Yields items with their results as they finish; of the items that are ready, the first of the mapping begins.

    Args:
        needs: keys of the items that must be done before an item.
        work: runs in a thread, and mostly waits.
        at_once: largest number of concurrent items, at least 1.
        stop: called if an item fails or the caller leaves, to end running work soon.

    Raises:
        Exception: the error of the item that failed first.
        ValueError: items depend on each other in a circle, or on an unknown key.
    """
    waiting, done = dict(items), set[Key]()
    under_way: dict[Future[Result], Key] = {}
    pool = ThreadPoolExecutor(at_once)
    try:
        while waiting or under_way:
            ready = [key for key, item in waiting.items() if needs(item) <= done]
            for key in ready[: at_once - len(under_way)]:
                under_way[pool.submit(work, waiting.pop(key))] = key
            if not under_way:
                raise ValueError(f"{len(waiting)} items wait for each other")
            finished, _ = wait(under_way, return_when=FIRST_COMPLETED)
            for future in sorted(finished, key=lambda one: one.exception() is not None):
                key = under_way.pop(future)
                done.add(key)
                yield items[key], future.result()
    except BaseException:
        stop()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
