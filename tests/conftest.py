"""Settings, marks and fixtures of all tests."""

import collections
import functools
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from lscfg import log

TESTS = Path(__file__).resolve().parent
# pytest explains assertions of the shared modules, too.
pytest.register_assert_rewrite(*(path.stem for path in (TESTS / "support").glob("*.py")))
import rewriting  # noqa: E402
import skips  # noqa: E402
from tiers import is_slow_file, marks  # noqa: E402

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # tests run next to each other; set before NumPy is imported

# The same examples in every run: a change is judged by its own failures. HYPOTHESIS_PROFILE=default draws new ones.
# No deadlines: the time of an example depends on the machine more than on the code.
settings.register_profile("default", settings.get_profile("default"), deadline=None)
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))

_lasting: set[int] = set()
"""Threads that Python does not know and that have outlived a fork, such as those of a matrix library."""


def _let_threads_end() -> None:
    """Waits a second at most for threads that have ended for Python and not yet for the system.

    AddressSanitizer locks its list of threads while one ends. A process that forks at that moment inherits the lock and
    hangs as soon as it starts a thread, which each worker does.
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


SHARED = TESTS.parents[1] / "shared"


@functools.cache
def _below_tests(path: Path) -> str:
    return path.relative_to(TESTS).as_posix()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leaves out slow files without importing them, unless they are named."""
    quick = config.option.markexpr == "not slow" and collection_path.suffix == ".py"
    return True if quick and is_slow_file(_below_tests(collection_path)) else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Rewrites a share of all test files, if this is a worker of pytest-xdist that will collect them all."""
    worker = getattr(session.config, "workerinput", None)
    if worker and any(Path(name).resolve() == TESTS for name in session.config.args):
        paths = [path for path in sorted(TESTS.rglob("test_*.py")) if not is_slow_file(_below_tests(path))]
        share = paths[int(worker["workerid"].removeprefix("gw")) :: worker["workercount"]]
        rewriting.rewrite(share, session.config)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Adds the marks of ``tiers``."""
    name = f"{_below_tests(item.path)}::{item.name}"
    for mark in marks(name, getattr(item, "fixturenames", ()), (own.name for own in item.iter_markers())):
        item.add_marker(mark)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cpu", action="store_true", help="show CPU seconds of each test file, child processes included")
    parser.addoption("--listed-skips", action="store_true", help="only skips of tests/support/skips.py; $CI sets it")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--listed-skips") or os.environ.get("CI", "") not in ("", "0", "false"):
        config.pluginmanager.register(skips)


_seconds: collections.Counter[str] = collections.Counter()


def _cpu() -> float:
    return sum(os.times()[:4])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Measures CPU time, which other work on the machine does not change as it changes wall time."""
    begin = _cpu()
    try:
        return (yield)
    finally:
        _seconds[item.location[0]] += _cpu() - begin


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):  # a worker of pytest-xdist
        session.config.workeroutput["cpu"] = dict(_seconds)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node) -> None:
    """Adds the times of a worker of pytest-xdist."""
    _seconds.update(getattr(node, "workeroutput", {}).get("cpu", {}))


def pytest_terminal_summary(terminalreporter, config: pytest.Config) -> None:
    if config.getoption("--cpu"):
        terminalreporter.section(f"{sum(_seconds.values()):.0f} CPU seconds")
        for name, seconds in _seconds.most_common(40):
            terminalreporter.write_line(f"{seconds:8.1f} {name}")


@pytest.fixture(scope="session")
def shared() -> Path:
    """Folder of corpora and reference results next to the checkout; tests that need it are skipped without it."""
    if not SHARED.is_dir():
        pytest.skip("no corpora and reference results next to the checkout (../shared)")
    return SHARED


@pytest.fixture
def terminal() -> Iterator[None]:
    """Messages and progress on stderr, as on the command line."""
    with log.shown(log.Display()):
        yield
