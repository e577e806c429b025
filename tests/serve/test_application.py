"""The application of ``lscfg serve`` without a server: failures of workers, hosts and origins."""

import asyncio
import errno
import json
import logging
from unittest.mock import MagicMock

import pytest
from limits import time_limit

pytest.importorskip("uvicorn", reason="lscfg serve needs uvicorn: pip install 'lscfg[serve]'")

from uvicorn.server import ServerState

from lscfg.bundle.system import open_system
from lscfg.errors import InputError, KernelError, WorkerError
from lscfg.serve.application import Application
from lscfg.serve.guard import Hosts
from lscfg.serve.protocol import LimitedProtocol, ServiceConfig
from lscfg.serve.query import _too_deep
from lscfg.serve.refusal import RefusalError
from lscfg.serve.settings import ServeSettings


class Failing:
    """A pool whose calls fail."""

    workers, deaths, queued = 2, 0, 0

    def __init__(self, error):
        self._error = error

    async def call(self, function, block, size):
        await asyncio.sleep(0)
        raise self._error


def ask(application, body):
    """Status and JSON of the answer to a query."""
    sent = []

    async def whole():
        messages = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive():
            return messages.pop() if messages else await asyncio.Event().wait()

        async def send(message):
            sent.append(message)

        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        path = {"path": "/translate", "raw_path": b"/translate", "root_path": "", "query_string": b""}
        scope = {"type": "http", "method": "POST", "headers": headers, "client": ("here", 1), "scheme": "http"}
        await application.asgi(scope | path, receive, send)

    asyncio.run(whole())
    return sent[0]["status"], json.loads(sent[1]["body"])


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (MemoryError(), 503, "source[0]: out of memory"),
        (MemoryError("Unable to allocate 8 GiB"), 503, "source[0]: out of memory"),
        (KernelError("out of memory"), 503, "source[0]: out of memory"),
        (KernelError("MemoryError: "), 503, "source[0]: out of memory"),
        (OSError(errno.EMFILE, "Too many open files"), 503, "no worker can be started"),
        (BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable"), 503, "no worker can be started"),
        (WorkerError("a worker process died (signal SIGKILL)", 0), 500, "source[0]: a worker process died"),
        (InputError("sentence 1 has a score that is not finite"), 500, "source[0]: sentence 1 has a score"),
        (KernelError("ValueError: own"), 500, "fault in lscfg: KernelError; see the log"),
        (ZeroDivisionError("own"), 500, "fault in lscfg: ZeroDivisionError; see the log"),
    ],
)
def test_failures_of_workers_are_one_line_for_the_client(bundle, caplog, error, status, message):
    """A lack of memory or of processes is no fault: it may pass, and shows no traceback."""
    application = Application(open_system(bundle), Failing(error), ServeSettings(), Hosts("127.0.0.1"))
    with caplog.at_level(logging.INFO, "lscfg"):
        found, content = ask(application, b'{"source": ["la casa", "la flor", "una flor"]}')
    assert found == status and content["error"].startswith(message)
    assert ("Traceback" in caplog.text) is message.startswith("fault in lscfg")
    assert application.at_work == 0


def allowed(hosts, method="GET", **headers):
    try:
        hosts.check(method, headers)
    except RefusalError as refusal:
        return refusal.status
    return 200


@pytest.mark.parametrize(
    ("names", "status"),
    [
        ("localhost LOCALHOST:8080 localhost. 127.0.0.1:1 [::1]:8080 10.0.0.1 Translate.Example:80", 200),
        ("evil.example localhost.evil.example 127.0.0.1.evil.example a:b:c [::1 translate.example.x 0x7f.1", 421),
    ],
)
def test_a_loopback_service_is_called_by_its_own_names(names, status):
    hosts = Hosts("127.0.0.1", ["translate.example"])
    assert {name: allowed(hosts, host=name) for name in names.split()} == dict.fromkeys(names.split(), status)


def test_off_the_loopback_interface_names_are_checked_where_some_are_given():
    assert allowed(Hosts("0.0.0.0"), host="any.example") == 200
    assert allowed(Hosts("0.0.0.0", ["a.example"]), host="any.example") == 421
    assert allowed(Hosts("10.1.2.3", ["a.example"]), host="10.1.2.3:80") == 200


def test_pages_of_other_origins_change_nothing():
    hosts = Hosts("127.0.0.1", origins=["https://friend.example/"])
    for origin, status in (
        ("https://friend.example", 200),
        ("https://evil.example", 403),
        ("null", 403),
        ("http://localhost:8080", 200),
        ("http://localhost:9090", 403),
        ("file://", 403),
    ):
        assert allowed(hosts, "POST", host="localhost:8080", origin=origin) == status, origin
        assert allowed(hosts, "GET", host="localhost:8080", origin=origin) == 200
    assert allowed(Hosts("127.0.0.1", origins=["*"]), "POST", host="localhost", origin="null") == 200


def test_origins_are_those_that_browsers_send():
    """In small letters, without a slash and without the usual port."""
    given = ["https://Friend.example/", "https://friend.example:443", "http://A.example:80", "http://a.example:443"]
    hosts = Hosts("127.0.0.1", ["Public.Example."], [*given, "moz-extension://d8b6", "*", "null"])
    wanted = ("https://friend.example", "http://a.example", "http://a.example:443", "moz-extension://d8b6", "*", "null")
    assert hosts.origins == wanted and allowed(hosts, host="public.example") == 200


@pytest.mark.parametrize("piece", [b"[", b"{", b'"[', b'"\\"', b"[]", b"\\", b'"', b'{"a":', b"x"])
def test_the_depth_of_content_is_found_in_linear_time(piece):
    size = 4_000_000
    with time_limit():
        assert _too_deep((b"[" * 40 + piece * size)[: 40 + size]) in (True, False)


@pytest.mark.parametrize(
    ("body", "deep"),
    [
        (b"[" * 32, False),
        (b"[" * 33, True),
        (b"[]" * 1000, False),
        (b'"' + b"[" * 100 + b'"', False),
        (b'"\\"' + b"[" * 100 + b'"', False),
        (b'"\\\\"' + b"[" * 33, True),
        (b'{"a":' * 33, True),
        (b"]" * 50 + b"[" * 50, False),
    ],
)
def test_depth_is_that_of_brackets_outside_strings(body, deep):
    assert _too_deep(body) is deep


def test_a_connection_that_was_reset_is_closed_without_a_fault():
    """The system refuses to end the sending side of a socket whose client has gone."""
    transport = MagicMock()
    transport.write_eof.side_effect = OSError(errno.ENOTCONN, "Transport endpoint is not connected")
    transport.is_closing.return_value = False
    transport.get_extra_info.return_value = None
    notes = []

    async def whole():
        config = ServiceConfig(MagicMock(), 1.0, 128, lambda *note: notes.append(note))
        protocol = LimitedProtocol(config, ServerState(), {})
        protocol.connection_made(transport)
        protocol.data_received(b"nonsense\r\n\r\n")
        protocol.connection_lost(None)

    asyncio.run(whole())
    assert transport.abort.called and [note[1] for note in notes] == [400]
