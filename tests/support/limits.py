"""A limit for work that could hang: no test measures time, which depends on the other work of a machine."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

SECONDS = 120.0
"""For input so large that linear work takes about one second, and quadratic work hours."""


class TooLong(BaseException):
    """Work took longer than its limit. Code that catches any ``Exception`` lets this one through."""


@contextmanager
def time_limit(seconds: float = SECONDS) -> Iterator[None]:
    """Ends what takes longer, by ``TooLong``; in the main thread only."""

    def end(signum: int, frame: object) -> None:
        raise TooLong(f"more than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds, seconds)  # again, should a finaliser have lost it
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
