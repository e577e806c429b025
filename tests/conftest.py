"""What all tests share: where optional material lies."""

import os
import threading
import time
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples in every run: a change is judged by its own failures. HYPOTHESIS_PROFILE=default draws new ones.
# No deadlines: how long an example takes says more of the machine than of the code.
settings.register_profile("default", settings.get_profile("default"), deadline=None)
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))

_lasting: set[int] = set()
"""Threads that are none of Python's and have outlived a fork, as those of a matrix library."""


def _let_threads_end() -> None:
    """Waits, a second at most, for threads that Python counts as ended and the system does not.

    AddressSanitizer locks its list of threads while one ends. A process that is forked at that moment inherits the lock
    and hangs as soon as it starts a thread, which each worker does.
    """
    for _ in range(100):
        alive = {thread.native_id for thread in threading.enumerate()}
        ending = {int(task) for task in os.listdir("/proc/self/task")} - alive - _lasting
        if not ending:
            return
        time.sleep(0.01)
    _lasting.update(ending)


if "libasan" in os.environ.get("LD_PRELOAD", ""):
    os.register_at_fork(before=_let_threads_end)

# Assertions of the shared modules are explained like those of the tests.
pytest.register_assert_rewrite(*(path.stem for path in (Path(__file__).parent / "support").glob("*.py")))

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """Folder of corpora and reference results beside the checkout; tests that need it are skipped without it."""
    if not SHARED.is_dir():
        pytest.skip("no corpora and reference results beside the checkout (../shared)")
    return SHARED
