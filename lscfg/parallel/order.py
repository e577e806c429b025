"""Work whose pieces need one another: each begins as soon as those that it needs are done."""

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
    """Items with their results as they come; of those that may begin, the first of the mapping begins first.

    Args:
        needs: keys of the items that must be done before.
        work: runs in a thread, and mostly waits there.
        at_once: items that are under way at the same time, at least 1.
        stop: called if something fails, or the caller leaves: work under way has to end soon.

    Raises:
        Exception: what the work raised that failed first.
        ValueError: items need one another in a circle, or a key that is none.
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
                raise ValueError(f"{len(waiting)} items wait for one another")
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
