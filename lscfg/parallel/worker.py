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
"""Variables that limit matrix products to one thread, set before NumPy is loaded. Several threads would add in
another order each time, and processes share the work already."""


class _Kept(threading.local):
    """The kept objects of a worker, which is a process or a thread."""

    def __init__(self) -> None:
        self.things: dict[str, tuple[Hashable, object]] = {}


_kept = _Kept()


def keep(name: str, key: Hashable, make: Callable[[], Made]) -> Made:
    """Returns the object that this worker made for the key before, or makes it now.

    A worker keeps one object for each name, that of the last key. Work that may leave the process has no other memory
    between blocks. A block must hold everything that ``make`` needs, because any worker may receive it. Forked
    processes begin with the objects that the forking thread keeps.
    """
    key_before, thing = _kept.things.get(name, (None, None))
    if name not in _kept.things or key_before != key:
        _kept.things.pop(name, None)  # both might not fit into memory
        thing = make()
        _kept.things[name] = key, thing
    return thing  # type: ignore[return-value]


def drop(name: str, key: Hashable) -> None:
    """Drops the object that this worker keeps under the name, if it was made for the key."""
    if name in _kept.things and _kept.things[name][0] == key:
        del _kept.things[name]


def end_with(parent: int) -> None:
    """Makes the system (if supported) kill this process when its parent ends, since nobody would use the results.

    On Linux, the end of the thread that started this process counts as the end of the parent.
    """
    library = ctypes.CDLL(None)
    if hasattr(library, "prctl"):
        library.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # the parent has ended already
            os._exit(1)


def keep_freed_memory() -> None:
    """Makes the C library, if it is GNU's, keep freed memory for all threads of this process.

    Otherwise large temporary arrays return to the system, and their pages are created again each time: a fifth of
    the time of a spectral estimate, and a fifth of its memory (benchmarks/spectral.py). Only a process of lscfg's own,
    such as a command, may call this function.
    """
    library = ctypes.CDLL(None)
    if hasattr(library, "mallopt"):
        for option, value in ((M_MMAP_THRESHOLD, 32 << 20), (M_TRIM_THRESHOLD, 2**31 - 1), (M_ARENA_MAX, 1)):
            library.mallopt(option, value)
