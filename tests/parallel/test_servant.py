"""Workers one by one, for owners with an event loop."""

import os
import select
import signal
import socket
import time

import pytest
from work import blob, die, made_once, reciprocal, rest, who

from lscfg.errors import WorkerError
from lscfg.parallel.servant import Servant
from lscfg.parallel.worker import keep


@pytest.fixture
def servant():
    servant = Servant()
    yield servant
    servant.end()
    assert servant.pid is None


def asked(servant, function, block):
    servant.ask(function, block)
    return servant.answer()


def test_it_answers_one_after_the_other(servant):
    pid = asked(servant, who, 0)
    assert pid == servant.pid != os.getpid()
    assert [asked(servant, reciprocal, number) for number in (3, 4)] == [0, 1]
    assert asked(servant, blob, 3) == blob(3) and asked(servant, who, 0) == pid


def test_an_error_leaves_it_as_it_is(servant):
    pid = asked(servant, who, 0)
    with pytest.raises(ZeroDivisionError):
        asked(servant, reciprocal, 5)
    assert asked(servant, who, 0) == pid


def test_another_one_takes_the_place_of_one_that_died(servant):
    pid = asked(servant, who, 0)
    with pytest.raises(WorkerError, match="a worker process died \\(signal SIGKILL\\)"):
        asked(servant, die, 7)
    assert asked(servant, who, 0) != pid


def test_the_death_of_an_idle_one_is_not_noticed(servant):
    pid = asked(servant, who, 0)
    os.kill(servant.pid, signal.SIGKILL)
    time.sleep(0.2)
    assert asked(servant, who, 0) not in (pid, os.getpid())


def test_it_can_be_given_up_at_its_work(servant):
    began = time.monotonic()
    servant.ask(rest, 60)
    assert not select.select([servant], [], [], 0.1)[0]
    servant.end()
    assert asked(servant, reciprocal, 4) == 1 and time.monotonic() - began < 20


def test_it_begins_with_what_its_owner_keeps(servant):
    keep("list", 1, lambda: ["kept"])
    assert asked(servant, made_once, 1) == ("kept", False)


def test_it_holds_no_socket_of_its_owner(servant):
    """A client sees the end of its connection although a worker was started meanwhile."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        asked(servant, who, 0)
        ours.close()
        theirs.settimeout(10)
        assert theirs.recv(1) == b""
