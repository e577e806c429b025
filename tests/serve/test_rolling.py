"""A service whose system is replaced while clients use it."""

import argparse
import http.client
import os
import signal
import socket
import time

import pytest
from companion_work import importable, serve  # noqa: F401 (the fixture)

from lscfg.errors import InputError
from lscfg.parallel import companion
from lscfg.serve.rolling import RollingService


def begun(port, path):
    """The answer to a request that is under way."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", path)
    return connection.getresponse()


def asked(port, path="/"):
    with begun(port, path) as answer:
        return answer.read().decode()


@pytest.fixture
def listening():
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        yield made


def test_a_better_system_replaces_the_first_one(listening):
    port = listening.getsockname()[1]
    with RollingService(serve, listening) as service:
        assert service.show(argparse.Namespace(text="first"))
        assert asked(port) == "first"
        assert service.show(argparse.Namespace(text="better"))
        answers = [asked(port) for _ in range(20)]  # the first process may take one more client before its end
        assert answers[-1] == "better" and {*answers} <= {"first", "better"}
        assert not service.show(argparse.Namespace(text="damaged"))
        assert asked(port) == "better"
    with pytest.raises(OSError, match="refused"):
        asked(port)


def test_the_end_waits_for_every_answer(listening, monkeypatch):
    """Of the predecessor, which is already asked to end, and of the successor; also beyond the usual grace."""
    monkeypatch.setattr(companion, "GRACE_SECONDS", 0.1)
    port = listening.getsockname()[1]
    with RollingService(serve, listening) as service:
        service.show(argparse.Namespace(text="first"))
        first = begun(port, "/long")
        service.show(argparse.Namespace(text="better"))
        better = begun(port, "/long")
    assert (first.read(), better.read()) == (b"first", b"better")


def test_an_interruption_of_the_end_ends_the_service_at_once(listening, monkeypatch):
    def interrupted(self):
        time.sleep(0.2)  # two signals at once may become one
        raise KeyboardInterrupt

    service = RollingService(serve, listening)
    service.show(argparse.Namespace(text="first"))
    answer = begun(listening.getsockname()[1], "/long")
    monkeypatch.setattr(companion.Companion, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        service.close()
    assert answer.read() == b""


def test_a_service_that_has_died_starts_again(listening):
    port = listening.getsockname()[1]
    with RollingService(serve, listening) as service:
        assert service.show(argparse.Namespace(text="first")) and service.alive
        os.kill(int(asked(port, "/pid")), signal.SIGKILL)
        while service.alive:
            time.sleep(0.01)
        with pytest.raises(InputError, match="the system is damaged"):  # no earlier one is served
            service.show(argparse.Namespace(text="damaged"))
        assert service.show(argparse.Namespace(text="again")) and asked(port) == "again"


def test_a_first_system_that_cannot_be_served_is_an_error(listening):
    with RollingService(serve, listening) as service, pytest.raises(InputError, match="the system is damaged"):
        service.show(argparse.Namespace(text="damaged"))
