"""``lscfg serve`` under many clients at once: minutes of traffic on the loopback interface."""

import json
import random
import socket
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest
from mutations import mutate_text
from services import SENTENCES, Service, head, post, read_answer

pytest.importorskip("uvicorn", reason="lscfg serve needs uvicorn: pip install 'lscfg[serve]'")


def memory(pid):
    """Kilobytes that a process holds."""
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))


def mixed(draw):
    """A request, good or bad, and the answers that it may get."""
    kind = draw.randrange(8)
    texts = draw.choices(SENTENCES, k=draw.randint(1, 4))
    body = json.dumps({"source": texts, "kbest": draw.randint(1, 5), "derivations": draw.random() < 0.3}).encode()
    if kind < 4:
        return post(body), {200}
    if kind == 4:
        sizes = [draw.randint(1, 40) for _ in body]
        chunks, at = b"", 0
        for size in sizes:
            if at < len(body):
                piece = body[at : at + size]
                chunks, at = chunks + b"%x\r\n%s\r\n" % (len(piece), piece), at + size
        return head("transfer-encoding: chunked") + chunks + b"0\r\n\r\n", {200}
    if kind == 5:
        return post(json.dumps({"source": [f"new{draw.random()} casa"] * 2}).encode()), {200}
    if kind == 6:
        return draw.choice(
            (b"GET /health", b"GET /nothing", b"PUT /translate")
        ) + b" HTTP/1.1\r\nhost: localhost\r\n\r\n", {200, 404, 405}
    return post(mutate_text(body, draw)), {200, 400, 413}


def test_five_thousand_mixed_requests(bundle):
    with Service(bundle, "-j", 2) as service:
        service.translate(source=SENTENCES)
        before, counts = memory(service.pid), Counter()

        def client(seed):
            draw, connection = random.Random(seed), None
            for _ in range(625):
                if connection is None:
                    connection = service.connect()
                data, wanted = mixed(draw)
                connection.sendall(data)
                status, content = read_answer(connection)
                assert status in wanted and content.count(b"\n") == 1, (data, status, content)
                counts[status] += 1
                if status not in (200, 404, 405) or draw.random() < 0.05:
                    connection = connection.close()
            if connection is not None:
                connection.close()

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(client, range(8)))
        assert counts.total() == 5000 and counts[200] > 2500
        assert memory(service.pid) - before < 20_000
        assert not [line for line in service.log if "Traceback" in line or "fault" in line]
        assert service.request("GET", "/health")[1]["at_work"] == 0


def test_fifteen_hundred_connections(bundle):
    """Clients that send nothing, half a request or a request and wait; others come and go meanwhile."""
    with Service(bundle, "-j", 2) as service, ExitStack() as clients:
        whole = post(b'{"source": "la casa"}')
        crowd = []
        for number in range(1500):
            crowd.append(clients.enter_context(service.connect()))
            try:
                crowd[-1].sendall((b"", whole[:30], whole[:-2], whole)[number % 4])
            except ConnectionError:
                continue
        time.sleep(1.5)
        for _ in range(20):
            assert service.translate(source="la casa")[0] == 200
        assert len(service.log) < 5000 and not [line for line in service.log if "Traceback" in line]


@pytest.mark.parametrize("seed", range(3))
def test_three_thousand_streams_of_bytes(bundle, seed):
    """Pipelined, cut, mutated and repeated requests: an answer of the client's, or the end of the connection."""
    draw = random.Random(seed)
    with Service(bundle, "-j", 2, "--set", "timeout=2") as service:

        def stream(data):
            with service.connect() as client:
                try:
                    client.sendall(data)
                    client.shutdown(socket.SHUT_WR)
                    received = b""
                    while part := client.recv(1 << 16):
                        received += part
                except ConnectionError:
                    return set()
            return {int(status) for status in _statuses(received)}

        streams = []
        for _ in range(1000):
            parts = [mixed(draw)[0] for _ in range(draw.randint(1, 4))]
            data = b"".join(parts)
            streams.append(mutate_text(data, draw) if draw.random() < 0.7 else data[: draw.randrange(len(data))])
        with ThreadPoolExecutor(16) as pool:
            seen = set().union(*pool.map(stream, streams))
        assert seen <= {200, 204, 400, 403, 404, 405, 408, 413, 415, 421, 431, 503}
        assert not [line for line in service.log if "Traceback" in line or "fault" in line]
        assert service.translate(source="la casa")[0] == 200


def _statuses(received):
    return [line.split()[1] for line in received.split(b"\r\n") if line.startswith(b"HTTP/1.1 ")]
