"""``lscfg serve`` under clients and systems that mean it harm, or that only leave: nobody else waits."""

import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress

import pytest
from services import SENTENCES, Service, head, post, read_answer

from lscfg.serve.address import listen

pytest.importorskip("uvicorn", reason="lscfg serve needs uvicorn: pip install 'lscfg[serve]'")

GOOD = post(b'{"source": "la casa"}')
LARGE = ("--set", "max_characters=1000000", "--set", "max_words=1000000")
LONG = "timeout=3600"
"""Limit of time after which an answer that waits for others comes too late for its client."""


@pytest.fixture(scope="module")
def service(bundle):
    with Service(bundle, "-j", 2, "--set", "timeout=30", "--cors", "https://friend.example") as service:
        yield service
        assert not [line for line in service.log if "Traceback" in line or "fault" in line]


def answer(data, service, wait=60.0):
    """Head and body of the first answer to bytes, and all that follows until the server closes or ``wait`` is over."""
    with service.connect() as client:
        client.sendall(data)
        client.settimeout(wait)
        received = b""
        try:
            while part := client.recv(1 << 16):
                received += part
        except (TimeoutError, ConnectionError):
            pass
    first, _, rest = received.partition(b"\r\n\r\n")
    return first.decode("latin-1").lower(), rest


def stop(service):
    """Stops all workers."""
    service.translate(source=["la casa"] * 8)
    for worker in service.workers:
        os.kill(worker, signal.SIGSTOP)


def quick(service):
    """Asserts that the service tells its state without waiting."""
    assert service.request("GET", "/health")[0] == 200


# ---- nobody waits for another ----


def test_stopped_workers_stop_nobody_else(bundle):
    """Blocks larger than the buffers of a socket wait for stopped workers; the service answers, and ends."""
    with Service(bundle, "-j", 2, *LARGE, "--set", LONG) as service:
        stop(service)
        with ExitStack() as clients:
            for _ in range(3):
                client = clients.enter_context(service.connect())
                client.sendall(post(json.dumps({"source": "a " * 400_000}).encode()))
            for _ in range(5):
                quick(service)
            while service.request("GET", "/health")[1]["at_work"] < 3:
                time.sleep(0.01)
            service.send()
            time.sleep(0.5)
            service.send()  # the second signal waits for no request
            assert service.wait() == 0
        assert any("ended at once; 3 requests were not answered" in line for line in service.log)


def test_requests_of_clients_that_left_are_dropped(bundle):
    with Service(bundle, "-j", 2, "--set", LONG, "--set", "queue=64") as service:
        stop(service)
        for _ in range(40):
            with service.connect() as client:
                client.sendall(post(json.dumps({"source": ["la casa roja " * 20] * 3}).encode()))
        assert service.translate(source="la casa")[0] == 200
        health = service.request("GET", "/health")[1]
        assert health["clients_left"] + health["at_work"] == 40 and health["at_work"] == 0


def test_a_client_that_only_closes_its_side_gets_its_answer(service):
    for data in (GOOD, b"GET /health HTTP/1.0\r\n\r\n"):
        assert {service.raw(data, end=True)[0] for _ in range(5)} & {200}


def test_a_worker_that_is_killed_again_and_again_costs_its_requests_alone(bundle):
    with Service(bundle, "-j", 2) as service, ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(service.translate, source=SENTENCES) for _ in range(60)]
        for _ in range(15):
            time.sleep(0.05)
            for worker in service.workers:
                with suppress(ProcessLookupError):  # the service has just replaced it
                    os.kill(worker, signal.SIGKILL)
        statuses = [done.result()[0] for done in asked]
        assert {*statuses} <= {200, 500}
        last = [service.translate(source="la casa")[0] for _ in range(3)]  # the first two may meet the killed workers
        assert last[-1] == 200
        assert service.request("GET", "/health")[1]["worker_deaths"] >= [*statuses, *last].count(500)


def test_no_acknowledged_correction_is_lost_when_workers_are_killed(bundle, tmp_path):
    """Four clients correct while workers are killed; then every acknowledged pair answers its sentence."""
    with Service(bundle, "-j", 2, "--corrections", tmp_path) as service, ThreadPoolExecutor(4) as pool:

        def correct(number):
            pair = {"source": f"la casa w{number}", "target": f"the house v{number}"}
            return number, *service.request("POST", "/corrections", json.dumps(pair).encode())

        asked = [pool.submit(correct, number) for number in range(40)]
        for _ in range(10):
            time.sleep(0.05)
            for worker in service.workers:
                os.kill(worker, signal.SIGKILL)
        done = [one.result() for one in asked]
        kept = {number: content["id"] for number, status, content in done if status == 200}
        assert {status for _, status, _ in done} <= {200, 500} and len({*kept.values()}) == len(kept) > 0
        for number, own in kept.items():
            (answer,) = service.translate(source=f"la casa w{number}")[1]["translations"]
            assert (answer["translation"], answer["memory"]["id"]) == (f"the house v{number}", own)
        lines = (tmp_path / "corrections.jsonl").read_text().splitlines()
        assert {json.loads(line)["id"] for line in lines} >= {*kept.values()}


def test_readers_that_do_not_read_lose_their_places(bundle):
    with Service(bundle, "-j", 1, "--set", "timeout=1") as service, ExitStack() as clients:
        for _ in range(10):
            client = clients.enter_context(socket.socket())
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
            client.connect(("127.0.0.1", service.port))
            client.sendall(b"GET /openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n" * 300)
        quick(service)
        deadline = time.monotonic() + 30
        while len(_connections(service)) > 2 and time.monotonic() < deadline:
            time.sleep(0.2)
        assert len(_connections(service)) <= 2


def _connections(service):
    """Sockets of a service but five, which are those of its loop, its workers and its address."""
    names = (f"/proc/{service.pid}/fd/{number}" for number in os.listdir(f"/proc/{service.pid}/fd"))
    found = []
    for name in names:
        try:
            found += [name] if os.readlink(name).startswith("socket:") else []
        except FileNotFoundError:
            continue
    return found[5:]


def test_a_place_that_only_waits_goes_to_the_next_client(bundle):
    """128 connections that send nothing, or half a head, or half a body, do not keep others out."""
    with Service(bundle, "-j", 1) as service, ExitStack() as clients:
        for number in range(128):
            client = clients.enter_context(service.connect())
            client.sendall((b"", GOOD[:20], GOOD[:-3])[number % 3])
        time.sleep(1.2)
        for _ in range(10):
            quick(service)
            assert service.translate(source="la casa")[0] == 200


def test_few_descriptors_are_enough(bundle):
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))

    with Service(bundle, "-j", 2, preexec=limit) as service:
        with ExitStack() as clients:
            for _ in range(120):
                clients.enter_context(service.connect())
            time.sleep(1.2)  # the server waits a second before it tries again
        end = time.monotonic() + 20  # the places of the clients come free one by one
        while service.translate(source=["la casa"] * 4)[0] != 200:
            assert time.monotonic() < end
            time.sleep(0.1)
        assert not [line for line in service.log if "Traceback" in line]
        assert len(service.log) < 160


# ---- the log ----


def serve(bundle, stderr):
    """A server at a free port, with its log there; waits until it accepts."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [sys.executable, "-P", "-m", "lscfg", "serve", str(bundle), "--port", str(port), "-j", "1"]
    process = subprocess.Popen(words, stderr=stderr)
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            break
        except ConnectionRefusedError:
            assert process.poll() is None
            time.sleep(0.05)
    return process, port


def ask(port, data=GOOD):
    with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
        client.sendall(data)
        return read_answer(client)[0]


@pytest.mark.parametrize("kind", ["full", "reader gone", "reader asleep"])
def test_no_log_loses_a_request_or_the_start(bundle, kind):
    read, write = os.pipe()
    try:
        if kind == "full":
            os.close(write)
            write = os.open("/dev/full", os.O_WRONLY)
        process, port = serve(bundle, write)
        if kind == "reader gone":
            os.close(read)
            read = os.open(os.devnull, os.O_RDONLY)
        for _ in range(40):  # fills the pipe
            assert ask(port, f"GET /{'x' * 9000} HTTP/1.1\r\nhost: localhost\r\n\r\n".encode()) == 404
        assert ask(port) == 200
        with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
            client.sendall(GOOD)
            process.send_signal(signal.SIGTERM)
            assert read_answer(client)[0] in (200, 0)  # 0: the signal came first
        assert process.wait(30) == 0
    finally:
        os.close(read)
        os.close(write)


def test_lines_of_the_log_are_bounded_and_plain(service):
    before = len(service.log)
    service.raw(b"GET /" + b"%1b[31m" * 1000 + b" HTTP/1.1\r\nhost: localhost\r\n\r\n")
    service.raw(b"GET /\x1b]0;x\x07 HTTP/1.1\r\nhost: localhost\r\n\r\n")
    time.sleep(0.3)
    assert all(len(line) < 400 and line.isprintable() for line in service.log[before:])


# ---- HTTP ----


def test_head_is_get_without_a_body(service):
    with service.connect() as client:
        for path, status in (("/health", 200), ("/metrics", 200), ("/translate", 405), ("/nothing", 404)):
            client.sendall(f"HEAD {path} HTTP/1.1\r\nhost: localhost\r\n\r\n".encode())
            received = client.recv(1 << 16)
            assert received.startswith(f"HTTP/1.1 {status} ".encode()) and received.endswith(b"\r\n\r\n")
            assert int(re.search(rb"content-length: (\d+)", received)[1]) > 0
        client.sendall(GOOD)
        assert read_answer(client)[0] == 200
    lengths = "HEAD /health HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n"
    assert answer(lengths.encode(), service)[1] == b""


def test_small_answers_are_sent_at_once():
    """Without the client's acknowledgement: asyncio sets TCP_NODELAY where a socket names its protocol."""
    with listen("127.0.0.1", 0) as made:
        assert made.proto == socket.IPPROTO_TCP


def test_options_names_the_methods(service):
    def asked(path):
        return answer(head("connection: close", start=f"OPTIONS {path} HTTP/1.1"), service)

    for path, methods in (("/health", "get, head, options"), ("/translate", "options, post"), ("*", "get, head")):
        first, rest = asked(path)
        assert first.startswith("http/1.1 204 ") and f"allow: {methods}" in first and rest == b""
    assert asked("/no")[0].startswith("http/1.1 404")


@pytest.mark.parametrize(
    "lines",
    [
        ("content-length: 4", "transfer-encoding: chunked"),
        ("transfer-encoding: chunked", "content-length: 0"),
        ("transfer-encoding: chunked", "transfer-encoding: chunked", "content-length: 4"),
        ("transfer-encoding: identity", "content-length: 4"),
        ("transfer-encoding : chunked", "content-length: 4"),
        ("content-length: 4", "content-length: 5"),
        ("content-length: +4",),
        ("content-length: 4, 5",),
        ("transfer-encoding: chunked, identity",),
        ("transfer-encoding: \x0bchunked",),
    ],
)
def test_a_body_with_two_ends_closes_the_connection(service, lines):
    """The server takes no bytes after a refused head for a request."""
    first, rest = answer(head(*lines) + b"0\r\n\r\nGET /health HTTP/1.1\r\nhost: localhost\r\n\r\n", service)
    assert re.match(r"http/1\.1 (400|501) ", first) and "connection: close" in first
    assert b"HTTP/1.1 200" not in rest and rest.count(b"\n") == 1


def test_a_target_may_be_absolute(service):
    for target in ("http://localhost/health", "HTTP://127.0.0.1:99/health?x=http://a", "http://[::1]:8080/health"):
        assert service.raw(f"GET {target} HTTP/1.1\r\nhost: other.example\r\n\r\n".encode())[0] == 200
    assert service.raw(b"GET http://localhost HTTP/1.1\r\nhost: localhost\r\n\r\n")[0] == 200
    assert service.raw(b"GET http://a@localhost/health HTTP/1.1\r\nhost: localhost\r\n\r\n")[0] == 400


@pytest.mark.parametrize(
    ("content_type", "wanted"),
    [
        ('application/json; charset="UTF-8"; x=y', 200),
        ("application/json;x=y;CHARSET=utf-8", 200),
        ("Application/JSON ; charset = utf8", 200),
        ('application/json; x="a;charset=latin-1"', 200),
        ("application/json; charset=utf-16", 415),
        ('application/json; charset="latin-1"; x=y', 415),
        ("text/json", 415),
        ("", 415),
        (";", 415),
    ],
)
def test_types_of_content_may_have_parameters(service, content_type, wanted):
    body = b'{"source": "la casa"}'
    assert service.raw(head(f"content-length: {len(body)}", content_type=content_type) + body)[0] == wanted


def wait_for(service, text):
    """Waits until the log, which another thread writes, contains a text."""
    end = time.monotonic() + 20
    while not any(text in line for line in service.log):
        assert time.monotonic() < end
        time.sleep(0.01)


def test_requests_have_names_and_answers_a_version(service):
    first, _ = answer(head("x-request-id: my.request-1", "content-length: 2", "connection: close") + b"{}", service)
    assert "x-request-id: my.request-1" in first and re.search(r"server: lscfg/\d", first)
    first, _ = answer(head("x-request-id: a b\x7f", "content-length: 2", "connection: close") + b"{}", service)
    assert re.search(r"x-request-id: [0-9a-f]{16}\b", first) or first.startswith("http/1.1 400")
    wait_for(service, "my.request-1")


def test_refusals_of_the_connection_have_names(service):
    """Of no request, and of one whose body is malformed, which may carry the client's name."""
    for data, status in ((b"hello\r\n\r\n", 400), (head("x: " + "y" * 40000), 431)):
        first, _ = answer(data, service)
        name = re.search(r"x-request-id: ([0-9a-f]{16})\r\n", first + "\r\n")
        assert name is not None and first.startswith(f"http/1.1 {status} "), first
        wait_for(service, f" - {status} {name[1]}: ")
    chunked = head("x-request-id: my.request-2", "transfer-encoding: chunked")
    first, _ = answer(chunked + b"xyz\r\n", service)
    assert first.startswith("http/1.1 400 ") and "x-request-id: my.request-2" in first
    wait_for(service, " s my.request-2: ")
    with service.connect() as client:
        client.sendall(head("transfer-encoding: chunked"))
        time.sleep(0.2)  # the application waits for the body
        client.sendall(b"xyz\r\n")
        received = client.recv(1 << 16).decode("latin-1").lower()
    name = re.search(r"x-request-id: ([0-9a-f]{16})\r\n", received)
    assert name is not None and received.startswith("http/1.1 400 "), received
    wait_for(service, f" s {name[1]}: ")


def test_pages_of_named_origins_alone_may_call(service):
    origin = "origin: https://friend.example"
    first, _ = answer(head(origin, "content-length: 21", "connection: close") + b'{"source": "la casa"}', service)
    assert first.startswith("http/1.1 200") and "access-control-allow-origin: https://friend.example" in first
    first, _ = answer(head(origin, "content-length: 2", "connection: close") + b"{}", service)  # a reason, readable
    assert first.startswith("http/1.1 400") and "access-control-allow-origin: https://friend.example" in first
    asked = ("access-control-request-method: POST", "access-control-request-headers: content-type", "connection: close")
    for name, allowed in (("friend", True), ("evil", False)):
        start = "OPTIONS /translate HTTP/1.1"
        first, _ = answer(head(f"origin: https://{name}.example", *asked, start=start), service)
        assert ("access-control-allow-origin: https" in first) is allowed


def test_figures_and_description_are_for_programs(service):
    with service.connect() as client:
        client.sendall(b"GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n")
        status, content = read_answer(client)
    assert status == 200
    labels = r'\{[a-z0-9_]+="[^"\n]*"(,[a-z0-9_]+="[^"\n]*")*\}'
    lines = content.decode().splitlines()
    assert all(re.fullmatch(rf"(# (TYPE|HELP) .+)|[a-z_]+({labels})? [0-9.]+", line) for line in lines)
    status, found = service.request("GET", "/openapi.json")
    assert status == 200 and {"/translate", "/health", "/metrics", "/openapi.json"} <= {*found["paths"]}
    schema = found["paths"]["/translate"]["post"]["requestBody"]["content"]["application/json"]["schema"]["oneOf"][0]
    one, several = schema["properties"]["source"]["oneOf"]
    assert several["maxItems"] == 100 and one["description"].startswith("at most 5000 characters")


@pytest.mark.parametrize(
    "text", [". " * 400_000, "!" * 900_000, "Wow " + "!" * 900_000, "a" * 900_000, "\u3002" * 300_000]
)
def test_long_texts_are_refused_before_any_work(service, text):
    assert service.translate(source=["la casa", text])[0] == 413


def test_a_body_may_come_in_pieces_of_any_size(service):
    body = json.dumps({"source": SENTENCES}, ensure_ascii=False).encode()
    wanted = service.raw(post(body))
    for size in (1, 2, 7, 64, 1000):
        chunks = b"".join(
            b"%x;a=b\r\n%s\r\n" % (len(body[i : i + size]), body[i : i + size]) for i in range(0, len(body), size)
        )
        assert service.raw(head("transfer-encoding: chunked") + chunks + b"0\r\nx: y\r\n\r\n") == wanted
    with service.connect() as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in post(body):
            client.sendall(bytes([byte]))
        assert read_answer(client) == wanted
