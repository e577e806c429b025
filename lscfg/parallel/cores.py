"""How many processors there are for us."""

from __future__ import annotations

import os


def available_cores() -> int:
    """Those that this process may run on, where the system can tell, as Linux does; else all of the machine."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
