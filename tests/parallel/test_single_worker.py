"""Workers one by one, for owners with an event loop."""

import os
import select
import signal
import socket
import time

import pytest
from work import blob, die, made_once, reciprocal, rest, who

from lscfg.errors import WorkerError
from lscfg.parallel.single_worker import Worker
from lscfg.parallel.worker import keep


@pytest.fixture
def worker():
    worker = Worker()
    yield worker
    worker.close()
    assert worker.pid is None


def asked(worker, function, block):
    worker.ask(function, block)
    return worker.answer()


def test_it_answers_one_after_the_other(worker):
    pid = asked(worker, who, 0)
    assert pid == worker.pid != os.getpid()
    assert [asked(worker, reciprocal, number) for number in (3, 4)] == [0, 1]
    assert asked(worker, blob, 3) == blob(3) and asked(worker, who, 0) == pid


def test_an_error_leaves_it_as_it_is(worker):
    pid = asked(worker, who, 0)
    with pytest.raises(ZeroDivisionError):
        asked(worker, reciprocal, 5)
    assert asked(worker, who, 0) == pid


def test_another_one_takes_the_place_of_one_that_died(worker):
    pid = asked(worker, who, 0)
    with pytest.raises(WorkerError, match="a worker process died \\(signal SIGKILL\\)"):
        asked(worker, die, 7)
    assert asked(worker, who, 0) != pid


def test_the_death_of_an_idle_one_is_not_noticed(worker):
    pid = asked(worker, who, 0)
    os.kill(worker.pid, signal.SIGKILL)
    time.sleep(0.2)
    assert asked(worker, who, 0) not in (pid, os.getpid())


def test_it_can_be_given_up_at_its_work(worker):
    began = time.monotonic()
    worker.ask(rest, 60)
    assert not select.select([worker], [], [], 0.1)[0]
    worker.close()
    assert asked(worker, reciprocal, 4) == 1 and time.monotonic() - began < 20


def test_it_begins_with_what_its_owner_keeps(worker):
    keep("list", 1, lambda: ["kept"])
    assert asked(worker, made_once, 1) == ("kept", False)


def test_it_holds_no_socket_of_its_owner(worker):
    """A client sees the end of its connection although a worker was started meanwhile."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        asked(worker, who, 0)
        ours.close()
        theirs.settimeout(10)
        assert theirs.recv(1) == b""
