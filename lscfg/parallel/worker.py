"""Settings of a process and the memory of a worker."""

from __future__ import annotations

import ctypes
import os
import signal
import threading
from collections.abc import Callable, Hashable
from typing import TypeVar

Made = TypeVar("Made")

PR_SET_PDEATHSIG = 1  # of sys/prctl.h
M_MMAP_THRESHOLD, M_TRIM_THRESHOLD, M_ARENA_MAX = -3, -1, -8  # of malloc.h

ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""Variables for one thread a matrix product, to be set before numpy is loaded. Sums over threads would come out in
another order each time, and the work is spread over processes anyway."""


class _Kept(threading.local):
    """Each worker has its own, be it a process or a thread."""

    def __init__(self) -> None:
        self.things: dict[str, tuple[Hashable, object]] = {}


_kept = _Kept()


def keep(name: str, key: Hashable, make: Callable[[], Made]) -> Made:
    """What this worker made for the key before, or makes now; of each name only that of the last key is kept.

    Work that may leave the process has no other memory between blocks. A block must bring all that ``make`` needs: any
    worker may be the one to get it. Processes that are forked begin with what the thread that forks them keeps.
    """
    key_before, thing = _kept.things.get(name, (None, None))
    if name not in _kept.things or key_before != key:
        _kept.things.pop(name, None)  # both might not fit into memory
        thing = make()
        _kept.things[name] = key, thing
    return thing  # type: ignore[return-value]


def drop(name: str, key: Hashable) -> None:
    """Lets go of what this worker keeps under the name, if it was made for the key."""
    if name in _kept.things and _kept.things[name][0] == key:
        del _kept.things[name]


def defer_interruption() -> Callable[[], None]:
    """Interruptions wait from now on, until the function is called that is returned; it raises what has waited.

    For the time of a fork: Python ignores what is raised in its own hooks around it. A signal mask alone does not help,
    for another thread may take the signal, and its handler still runs in the main thread.
    """
    if threading.current_thread() is not threading.main_thread():  # where no handler runs
        return lambda: None
    waiting: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, frame: waiting.append(number))

    def let_in() -> None:
        signal.signal(signal.SIGINT, handler)
        if waiting:
            signal.raise_signal(signal.SIGINT)

    return let_in


def end_with(parent: int) -> None:
    """This process is killed when its parent is, where the system can do that: what it makes would be of no use.

    Linux takes the end of the thread that started the process for that of the parent.
    """
    library = ctypes.CDLL(None)
    if hasattr(library, "prctl"):
        library.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it was too late
            os._exit(1)


def keep_freed_memory() -> None:
    """Makes the C library, where it is GNU's, keep freed memory for all threads of this process.

    Large arrays that come and go otherwise return to the system, and their pages are made again each time: a fifth of
    the time of a spectral estimate, and a fifth of its memory (benchmarks/spectral.py). Only a process of lscfg's own,
    such as a command, may call this function.
    """
    library = ctypes.CDLL(None)
    if hasattr(library, "mallopt"):
        for option, value in ((M_MMAP_THRESHOLD, 32 << 20), (M_TRIM_THRESHOLD, 2**31 - 1), (M_ARENA_MAX, 1)):
            library.mallopt(option, value)
