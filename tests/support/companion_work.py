"""Work for companion processes, which import this module: a module of tests cannot be imported there."""

import os
import signal
import time
from pathlib import Path

import pytest

from lscfg.errors import InputError


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    """Lets companions find this module."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent), prepend=os.pathsep)


def write_and_wait(call, ready):
    descriptor, seconds = call
    os.write(descriptor, b"begun")
    ready()
    time.sleep(seconds)


def refuse(argument, ready):
    raise InputError(f"no {argument}")


def die(argument, ready):
    os.kill(os.getpid(), signal.SIGKILL)


def return_at_once(argument, ready):
    pass


def serve(listening, args, ready):
    """Answers each request with a text, until SIGTERM; a second SIGTERM ends it at once, as it ends the server."""
    if args.text == "damaged":
        raise InputError("the system is damaged")
    ended = []

    def end(*_):
        if ended:
            os._exit(1)
        ended.append(True)

    signal.signal(signal.SIGTERM, end)
    listening.listen()
    listening.settimeout(0.05)
    ready()
    while not ended:
        try:
            client, _ = listening.accept()
        except TimeoutError:
            continue
        with client:
            client.settimeout(None)
            asked = client.recv(1000)
            client.sendall(b"HTTP/1.0 200 OK\r\n\r\n")
            if asked.startswith(b"GET /long "):
                time.sleep(1)
            client.sendall(str(os.getpid() if asked.startswith(b"GET /pid ") else args.text).encode())
