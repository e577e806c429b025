"""A process that works next to its owner: readiness, errors, the end."""

import os

import pytest
from companion_work import die, importable, refuse, return_at_once, write_and_wait  # noqa: F401 (the fixture)
from limits import time_limit

from lscfg.errors import InputError, WorkerError
from lscfg.parallel.companion import Companion
from lscfg.parallel.jobs import Job, started_job


def test_a_companion_inherits_files_and_ends_on_request():
    mine, theirs = os.pipe()
    with time_limit(), Companion(write_and_wait, (theirs, 3600), [theirs]) as companion:
        companion.wait_until_ready()
        assert os.read(mine, 10) == b"begun"
        os.close(mine)
        os.close(theirs)
        companion.end()
        with pytest.raises(WorkerError, match="signal SIGTERM"):
            companion.wait()


def test_a_worker_competes_with_other_programs_as_its_owner_does():
    """A new session would take it out of the scheduling group that `nice` applies to."""
    child = started_job(Job(return_at_once, "system"), 1)
    try:
        assert os.getsid(child.pid) == os.getsid(0)
        assert os.getpgid(child.pid) == child.pid  # out of reach of an interruption at the keyboard
    finally:
        child.kill()
        child.communicate()


def test_the_end_of_the_function_is_the_end_of_the_wait():
    mine, theirs = os.pipe()
    with Companion(write_and_wait, (theirs, 0), [theirs]) as companion:
        companion.wait_until_ready()
        companion.wait()
    os.close(mine)
    os.close(theirs)


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (refuse, InputError, "no system"),
        (die, WorkerError, "signal SIGKILL"),
        (return_at_once, WorkerError, "ended before its work began"),
    ],
)
def test_a_work_that_never_begins(function, error, message):
    with Companion(function, "system") as companion, pytest.raises(error, match=message):
        companion.wait_until_ready()
