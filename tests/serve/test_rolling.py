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
from lscfg.serve.rolling import RollingService


def asked(port, path="/"):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", path)
    with connection.getresponse() as answer:
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
