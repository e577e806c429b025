"""``lscfg serve``: real servers, their answers, and all that they refuse."""

import hashlib
import http.client
import json
import os
import random
import re
import signal
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from little_experiment import run_lscfg
from mutations import mutate_text
from services import SENTENCES, Service, head, little_preparation, lives, post, read_answer

pytest.importorskip("uvicorn", reason="lscfg serve needs uvicorn: pip install 'lscfg[serve]'")

from lscfg.serve.pool import RETIREMENT

LIMITS = (
    "--set",
    "max_request=4000",
    "--set",
    "max_sentences=10",
    "--set",
    "max_words=20",
    "--set",
    "max_characters=200",
    "--set",
    "max_translations=30",
)


@pytest.fixture(scope="module")
def service(bundle):
    with Service(bundle, "-j", 2, *LIMITS) as service:
        yield service


@pytest.fixture(autouse=True)
def still_alive(request):
    """Whatever a test does, the server answers afterwards and logs no fault."""
    yield
    if "service" in request.fixturenames:
        service = request.getfixturevalue("service")
        status, health = service.request("GET", "/health")
        assert (status, health["ready"], health["at_work"]) == (200, True, 0)
        assert "\n".join([line for line in service.log if not re.match(r"\[lscfg\] (127\.0\.0\.1|-) ", line)][1:]) == ""


def decoded(system, *options):
    run = run_lscfg("decode", system / "text", "-c", system / "cdec.ini", "-w", system / "weights", *options)
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


# ---- answers ----


def test_translations_are_those_of_decode(system, service):
    status, answer = service.translate(source=SENTENCES)
    assert status == 200
    assert [found["translation"] for found in answer["translations"]] == decoded(system)
    assert answer["translations"][0] | {"score": 0} == {
        "translation": "a red flower",
        "score": 0,
        "parsed": True,
        "unknown": [],
        "warnings": [],
    }
    assert [found["unknown"] for found in answer["translations"]] == [[], [], ["x"], [], [], ["x", "y", "z"], []]


def test_one_text_is_a_list_of_one(service):
    assert service.translate(source=SENTENCES[0]) == service.translate(source=[SENTENCES[0]])


def test_lists_are_those_of_decode(system, service):
    status, answer = service.translate(source=SENTENCES, kbest=3)
    listed = [
        f"{number} ||| {one['translation']} ||| {' '.join(f'{k}={v!r}' for k, v in one['features'].items())} ||| "
        f"{one['score']!r}"
        for number, found in enumerate(answer["translations"])
        for one in found["kbest"]
    ]
    assert status == 200 and [line.split(" ||| ")[:2] for line in listed] == [
        line.split(" ||| ")[:2] for line in decoded(system, "--kbest", 3)
    ]
    assert [float(line.split(" ||| ")[3]) for line in listed] == pytest.approx(
        [float(line.split(" ||| ")[3]) for line in decoded(system, "--kbest", 3)]
    )


def test_derivations_are_those_of_decode(system, service, tmp_path):
    decoded(system, "--derivations", tmp_path / "derivations")
    written = [json.loads(line) for line in (tmp_path / "derivations").read_text().splitlines()]
    _, answer = service.translate(source=SENTENCES, derivations=True)
    assert [found["derivations"] for found in answer["translations"]] == [found["derivations"] for found in written]


def test_details_name_the_words_of_each_translation(service):
    _, plain = service.translate(source=SENTENCES)
    _, answer = service.translate(source=SENTENCES, details=True)
    for found, other in zip(answer["translations"], plain["translations"], strict=True):
        details = found.pop("details")
        assert found == other
        assert [word["text"] for word in details["words"]] == found["translation"].split()
        places = range(len(details["source_words"]))
        assert all(link in places for word in details["words"] for link in word["links"])


def test_sentences_without_a_parse_are_named(system, tmp_path):
    """The grammar's own words alone: no word passes through, and each answer contains the warning."""
    ini = (system / "cdec.ini").read_text().replace("add_pass_through_rules=true\n", "")
    (system / "strict.ini").write_text(ini)
    with Service("-c", system / "strict.ini", "-w", system / "weights", "-j", 1) as service:
        for _ in range(2):
            _, answer = service.translate(source=["la x", "la casa", ""])
            assert [(found["parsed"], found["warnings"]) for found in answer["translations"]] == [
                (False, ["has no parse; its words are passed through"]),
                (True, []),
                (False, ["is empty"]),
            ]
            assert answer["translations"][0]["translation"] == "la x"
        health = service.request("GET", "/health")[1]
        assert (health["sentences"], health["unparsed"], health["sha256"]) == (6, 4, None)


def test_raw_text_comes_and_goes_as_text(system, tmp_path):
    """The way of a text through the preparation, the decoder and back, as the commands go it."""
    preparation = little_preparation(tmp_path)
    run = run_lscfg("pack", system, "--prepare", preparation, "-o", tmp_path / "bundle")
    assert run.returncode == 0, run.stderr
    (tmp_path / "raw").write_text("La casa\u00a0roja\n  una flor ||| \n", "utf-8")
    words = run_lscfg("prepare", "apply", preparation, tmp_path / "raw").stdout
    (tmp_path / "words").write_text(words)
    wanted = run_lscfg("decode", tmp_path / "words", "-c", tmp_path / "bundle" / "cdec.ini").stdout
    (tmp_path / "wanted").write_text(wanted)
    texts = run_lscfg("prepare", "restore", preparation, tmp_path / "wanted").stdout.splitlines()
    with Service(tmp_path / "bundle", "-j", 1) as service:
        _, answer = service.translate(source=(tmp_path / "raw").read_text("utf-8").splitlines(), kbest=1)
        found = answer["translations"]
        assert [one["translation"] for one in found] == [one["kbest"][0]["translation"] for one in found] == texts
        assert [one["source_words"] for one in found] == words.splitlines()
        assert [one["words"] for one in found] == wanted.splitlines() != texts
        status, plain = service.translate(source=words.splitlines(), raw=False)
        assert [one["translation"] for one in plain["translations"]] == wanted.splitlines() and status == 200
        assert service.translate(source="la\0casa")[1] == {"error": "source[0]: contains a NUL character"}
        assert service.translate(source="a " * 200)[0] == 413
        assert service.request("GET", "/health")[1]["raw"] is True


def test_health_names_what_is_served(bundle, service):
    status, health = service.request("GET", "/health")
    sha256 = hashlib.sha256((bundle / "bundle.json").read_bytes()).hexdigest()
    assert status == 200 and health["ready"] is True
    assert (health["system"], health["sha256"], health["workers"], health["raw"]) == ("little", sha256, 2, False)


def test_clients_at_the_same_time_get_the_same_bytes(service):
    """Many threads with requests of many lengths, over connections that stay."""
    draw = random.Random(5)
    queries = [
        {"source": draw.choices(SENTENCES, k=draw.randint(1, 5)), "kbest": draw.randint(1, 4)} for _ in range(60)
    ]
    alone = [service.raw(post(json.dumps(query).encode())) for query in queries]
    with ThreadPoolExecutor(12) as pool:
        together = list(pool.map(lambda query: service.raw(post(json.dumps(query).encode())), queries))
    assert together == alone and {status for status, _ in alone} == {200}


def test_a_connection_takes_many_requests_also_at_once(service):
    one = post(b'{"source": "la casa"}')
    with service.connect() as client:
        client.sendall(one)
        first = read_answer(client)
        client.sendall(one + one)
        stream = b""
        while stream.count(b'"translations"') < 2:
            stream += client.recv(1 << 16)
        assert first[0] == 200 and stream.count(b"HTTP/1.1 200 OK\r\n") == 2 and stream.count(first[1]) == 2


def test_a_body_may_come_in_chunks(service):
    body = b'{"source": "la casa"}'
    chunks = b"".join(b"%x\r\n%s\r\n" % (1, body[i : i + 1]) for i in range(len(body))) + b"0\r\n\r\n"
    assert service.raw(head("transfer-encoding: chunked") + chunks) == service.raw(post(body))


def test_a_client_may_wait_for_a_hundred(service):
    with service.connect() as client:
        client.sendall(head("content-length: 21", "expect: 100-continue"))
        assert client.recv(1 << 16).startswith(b"HTTP/1.1 100")
        client.sendall(b'{"source": "la casa"}')
        assert read_answer(client)[0] == 200


# ---- refusals ----


BAD_CONTENT = {
    "empty": (b"", 400, "not JSON"),
    "cut": (b'{"source": "la', 400, "not JSON"),
    "two values": (b'{"source": "la"} {}', 400, "not JSON"),
    "not UTF-8": (b'{"source": "\xff"}', 400, "not UTF-8, from byte 13"),
    "mark": (b'\xef\xbb\xbf{"source": "la"}', 400, "not JSON"),
    "nested": (b"[" * 3000, 400, "nested too deeply; at most 32"),
    "nested objects": (b'{"a":' * 700, 400, "nested too deeply"),
    "nested after a string": (b'{"[]]]]]": "\\"", "a": ' + b"[" * 33, 400, "nested too deeply"),
    "side by side": (b'{"source": [' + b"[]," * 500 + b"[]]}", 413, "501 sentences"),
    "brackets in strings": (json.dumps({"source": "[" * 60 + ' \\" '}).encode(), 200, ""),
    "characters": (
        json.dumps({"source": ["la", "a" * 201]}).encode(),
        413,
        r"source\[1\]: has 201 characters; at most",
    ),
    "list": (b'["la casa"]', 400, "must be an object"),
    "no source": (b"{}", 400, 'the key "source" is missing'),
    "other key": (b'{"source": "la", "kbset": 2}', 400, r"no key 'kbset' \(did you mean kbest\?\); keys are source"),
    "key twice": (b'{"source": "la", "source": "la"}', 400, "repeats a key"),
    "nan": (b'{"source": "la", "kbest": NaN}', 400, "NaN is not a number"),
    "source": (b'{"source": 3}', 400, "must be a text or a list"),
    "no sources": (b'{"source": []}', 400, "source is an empty list"),
    "null": (b'{"source": null}', 400, "must be a text or a list"),
    "sources": (b'{"source": ["la", 3]}', 400, r"source\[1\] must be a text"),
    "surrogate": (b'{"source": "\\ud800"}', 400, r"source\[0\] contains half"),
    "NUL": (b'{"source": "la\\u0000casa"}', 400, r"source\[0\]: contains a NUL"),
    "raw NUL": (b'{"source": "la\0casa"}', 400, "not JSON"),
    "line end": (b'{"source": ["la", "la\\ncasa"]}', 400, r"source\[1\]: "),
    "nonterminal": (b'{"source": "la [X,1]"}', 400, r"source\[0\]: .*\[X,1\]"),
    "bars": (b'{"source": "la ||| casa"}', 400, r"source\[0\]: "),
    "lattice": (b'{"source": "(((\'la\',0.5,1),),)"}', 400, r"source\[0\]: a lattice"),
    "kbest 0": (b'{"source": "la", "kbest": 0}', 400, "kbest must be a whole number"),
    "kbest true": (b'{"source": "la", "kbest": true}', 400, "kbest must be a whole number"),
    "kbest text": (b'{"source": "la", "kbest": "2"}', 400, "kbest must be a whole number"),
    "kbest large": (b'{"source": "la", "kbest": 31}', 413, "at most 30 are listed"),
    "kbest larger": (b'{"source": ["la", "la"], "kbest": 1' + b"0" * 100 + b"}", 413, "at most 30 are listed"),
    "digits": (b'{"source": "la", "kbest": ' + b"9" * 3900 + b"}", 413, "the request is larger|at most 30"),
    "derivations": (b'{"source": "la", "derivations": 1}', 400, "derivations must be true or false"),
    "raw": (b'{"source": "la", "raw": true}', 400, "no preparation of raw text"),
    "sentences": (json.dumps({"source": ["la"] * 11}).encode(), 413, "11 sentences; at most 10"),
    "words": (json.dumps({"source": ["la", "la " * 21]}).encode(), 413, r"source\[1\]: has 21 words; at most 20"),
    "bytes": (json.dumps({"source": "la" * 2000}).encode(), 413, "larger than 4000 bytes"),
}


@pytest.mark.parametrize(("body", "wanted", "message"), BAD_CONTENT.values(), ids=BAD_CONTENT)
def test_bad_content_is_refused(service, body, wanted, message):
    status, content = service.raw(post(body))
    named = "error" if wanted >= 400 else "translations"
    assert (status, content.count(b"\n"), list(json.loads(content))) == (wanted, 1, [named])
    assert re.search(message, str(json.loads(content)[named]))


BAD_HTTP = {
    "path": (head(start="POST /translation HTTP/1.1"), 404),
    "path of bytes": (b"GET /\xff HTTP/1.1\r\nhost: localhost\r\n\r\n", 400),
    "other method": (head(start="PUT /translate HTTP/1.1"), 405),
    "get": (head(start="GET /translate HTTP/1.1"), 405),
    "post": (head(start="POST /health HTTP/1.1"), 405),
    "connect": (head(start="CONNECT here:80 HTTP/1.1"), 404),
    "no type": (b"POST /translate HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{}", 415),
    "form": (head("content-length: 2", content_type="application/x-www-form-urlencoded") + b"{}", 400),
    "charset": (head("content-length: 2", content_type="application/json; charset=latin-1") + b"{}", 415),
    "compressed": (head("content-length: 2", "content-encoding: gzip") + b"{}", 415),
    "announced": (head("content-length: 4001"), 413),
    "announced more": (head("content-length: " + "9" * 19), 413),
    "chunks": (head("transfer-encoding: chunked") + b"fff\r\n" + b"a" * 4095 + b"\r\nfff\r\n" + b"a" * 4095, 413),
    "bad chunk": (head("transfer-encoding: chunked") + b"xyz\r\n", 400),
    "bad length": (head("content-length: x"), 400),
    "two lengths": (head("content-length: 5", "transfer-encoding: chunked") + b"0\r\n\r\nGET /health", 400),
    "chunks of 1.0": (head("transfer-encoding: chunked", start="POST /translate HTTP/1.0") + b"0\r\n\r\n", 400),
    "small chunks": (head("transfer-encoding: chunked") + b"1\r\na\r\n" * 1001, 413),
    "other host": (b"GET /health HTTP/1.1\r\nhost: evil.example:8080\r\n\r\n", 421),
    "host of a target": (b"GET http://evil.example/health HTTP/1.1\r\nhost: localhost\r\n\r\n", 421),
    "other scheme": (b"GET ftp://localhost/health HTTP/1.1\r\nhost: localhost\r\n\r\n", 400),
    "other origin": (head("origin: https://evil.example", "content-length: 2") + b"{}", 403),
    "no origin": (head("origin: null", "content-length: 2") + b"{}", 403),
    "lengths": (head("content-length: 2", "content-length: 3"), 400),
    "other coding": (head("transfer-encoding: gzip"), 400),
    "no host": (b"GET /health HTTP/1.1\r\n\r\n", 400),
    "noise": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 hello\r\n\r\n", 400),
    "NUL": (b"GET /health\0 HTTP/1.1\r\nhost: localhost\r\n\r\n", 400),
    "head": (head("x: " + "y" * 40000), 431),
    "start": (b"GET /" + b"y" * 40000, 431),
    "line": (b"hello\r\n\r\n", 400),
    "version": (b"GET /health HTTP/3.0\r\nhost: localhost\r\n\r\n", 400),
}


@pytest.mark.parametrize(("data", "wanted"), BAD_HTTP.values(), ids=BAD_HTTP)
def test_bad_http_is_refused(service, data, wanted):
    status, content = service.raw(data)
    assert (status, content.count(b"\n"), list(json.loads(content))) == (wanted, 1, ["error"])


def test_a_client_that_sends_much_sees_why_it_is_refused(service):
    assert service.raw(head("content-length: 12000000") + b" " * 12_000_000)[0] == 413


def test_clients_that_leave_are_no_fault(service):
    whole = post(b'{"source": "la casa"}')
    for length in range(0, len(whole), 7):
        with service.connect() as client:
            client.sendall(whole[:length])
            if length % 2:  # the connection is reset
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")


def test_mutated_requests_get_an_answer_of_the_client(service):
    """Any bytes: a translation, or a line with the reason; never a fault of the server."""
    draw = random.Random(11)
    whole = post(json.dumps({"source": SENTENCES[:3], "kbest": 2}).encode())
    statuses = [service.raw(mutate_text(whole, draw), end=True)[0] for _ in range(300)]
    assert {status // 100 for status in statuses} <= {0, 2, 4} and {400, 200} <= {*statuses}
    assert statuses.count(0) < 60  # what ends before its head or its body


# ---- limits of time and room ----


def test_a_slow_client_is_told_and_an_idle_one_left(bundle):
    with Service(bundle, "-j", 1, "--set", "timeout=0.5") as service:
        with service.connect() as slow, service.connect() as idle, service.connect() as trickling:
            slow.sendall(post(b'{"source": "la casa"}')[:-3])
            assert read_answer(slow)[0] == 408
            assert idle.recv(10) == b""
            with pytest.raises(ConnectionError):  # each byte comes in time, the whole does not
                for byte in post(b'{"source": "la casa"}') * 10:
                    trickling.sendall(bytes([byte]))
                    time.sleep(0.05)
        assert service.translate(source="la casa")[0] == 200


def test_a_sentence_that_takes_too_long_costs_itself_alone(bundle):
    with Service(bundle, "-j", 1, "--set", "timeout=1") as service:
        assert service.translate(source="la casa")[0] == 200
        (worker,) = service.workers
        os.kill(worker, signal.SIGSTOP)
        status, answer = service.translate(source="la flor")
        cure = "shorten the sentence, or start lscfg serve with a longer timeout"
        assert (status, answer["error"]) == (503, f"not translated within 1 s; {cure}")
        assert service.translate(source="la flor")[1]["translations"][0]["translation"] == "the flower"
        assert service.workers and worker not in service.workers
        os.kill(service.workers[0], signal.SIGSTOP)
        status, answer = service.translate(source=["la flor", "la casa"])
        cure = "send fewer or shorter sentences at a time"
        assert (status, answer["error"]) == (503, f"not translated within 1 s; {cure}")


def test_the_death_of_a_worker_costs_its_request_alone(bundle):
    with Service(bundle, "-j", 1) as service:
        assert service.translate(source="la casa")[0] == 200
        (worker,) = service.workers
        os.kill(worker, signal.SIGSTOP)
        with ThreadPoolExecutor(1) as pool:
            asked = pool.submit(service.translate, source=["la flor"])
            while service.request("GET", "/health")[1]["at_work"] == 0:
                time.sleep(0.02)
            service.request("GET", "/health")  # it is counted before it is sent: one more turn of the loop
            os.kill(worker, signal.SIGKILL)
            assert asked.result() == (500, {"error": "source[0]: a worker process died (signal SIGKILL)"})
        assert service.translate(source="la casa")[0] == 200


def test_requests_beyond_the_queue_come_later(bundle):
    with Service(bundle, "-j", 1, "--set", "queue=2") as service:
        assert service.translate(source="la casa")[0] == 200
        (worker,) = service.workers
        os.kill(worker, signal.SIGSTOP)
        with ThreadPoolExecutor(2) as pool:
            waiting = [pool.submit(service.translate, source="la casa") for _ in range(2)]
            while service.request("GET", "/health")[1]["at_work"] < 2:
                time.sleep(0.02)
            status, answer = service.translate(source="la casa")
            assert (status, answer["error"]) == (503, "2 requests are under way or wait; try again later")
            os.kill(worker, signal.SIGCONT)
            assert [done.result()[0] for done in waiting] == [200, 200]


@pytest.mark.parametrize(
    "told",
    [
        lambda words: {"source": " ".join(5 * word for word in words[:90])},
        lambda words: {"source": "la", "grammar": [f"[X] ||| la ||| {word} ||| P=1" for word in words]},
        lambda words: {"source": "la", "glossary": [{"source": word, "target": word} for word in words]},
        lambda words: {"source": "la", "keep": words},
    ],
    ids=["source", "grammar", "glossary", "keep"],
)
def test_workers_do_not_grow_by_what_they_are_told(bundle, told):
    """A worker remembers each word; after some bytes of text another one takes its place."""
    with Service(bundle, "-j", 1, "--set", "max_characters=200000") as service:
        service.translate(source="la casa")
        (first,) = service.workers
        sent = 0
        while sent <= 2 * RETIREMENT:
            request = told([f"{sent}-{word}".ljust(200, "x") for word in range(400)])
            assert service.translate(**request)[0] == 200
            sent += len(json.dumps(request))
        assert service.translate(source="la casa")[0] == 200
        assert first not in service.workers and len(service.workers) == 1


def test_many_clients_are_served_and_too_many_told(bundle):
    with Service(bundle, "-j", 1) as service:
        clients = [service.connect() for _ in range(128)]
        try:
            clients[0].sendall(post(b'{"source": "la casa"}'))
            assert read_answer(clients[0])[0] == 200
            with service.connect() as further:
                assert read_answer(further)[0] == 503
        finally:
            for client in clients:
                client.close()
        time.sleep(0.2)
        assert service.translate(source="la casa")[0] == 200


# ---- beginning and end ----


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_lets_what_is_under_way_be_answered(bundle, number):
    with Service(bundle, "-j", 1) as service:
        assert service.translate(source="la casa")[0] == 200
        (worker,) = service.workers
        os.kill(worker, signal.SIGSTOP)
        idle = service.connect()
        with ThreadPoolExecutor(1) as pool:
            asked = pool.submit(service.translate, source="la flor")
            while service.request("GET", "/health")[1]["at_work"] == 0:
                time.sleep(0.02)
            service.send(number)
            assert idle.recv(10) == b""
            idle.close()
            with pytest.raises(ConnectionRefusedError):
                service.connect()
            os.kill(worker, signal.SIGCONT)
            assert asked.result()[1]["translations"][0]["translation"] == "the flower"
        assert service.wait() == 0
        assert not any(os.path.exists(f"/proc/{pid}") for pid in (worker,))


def test_a_signal_lets_a_long_file_be_translated(bundle):
    """Its limit of time is that of many requests."""
    part = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'
    body = part + b"la casa roja\n" * 4000 + b"\r\n--b--\r\n"
    start = "POST /translate_file?progress=1&download=1 HTTP/1.1"
    length, kind = f"content-length: {len(body)}", "multipart/form-data; boundary=b"
    with Service(bundle, "-j", 1, "--set", "timeout=1") as service:
        assert service.translate(source="la casa")[0] == 200
        (worker,) = service.workers
        with service.connect() as client:
            client.sendall(head(length, start=start, content_type=kind) + body)
            answer = http.client.HTTPResponse(client)
            answer.begin()
            assert json.loads(answer.readline()) == {"done": 0, "of": 4000}
            os.kill(worker, signal.SIGSTOP)
            service.send()
            time.sleep(3.5)
            os.kill(worker, signal.SIGCONT)
            *_, facts, text = answer.read().split(b"}\n")
        assert b'"name": "a.translated.txt"' in facts and text == b"the red house\n" * 4000
        assert service.wait() == 0


def test_workers_end_with_a_server_that_is_killed(bundle):
    service = Service(bundle, "-j", 2).__enter__()
    service.translate(source=["la casa"] * 4)
    workers = service.workers
    service.send(signal.SIGKILL)
    assert service.wait() == -signal.SIGKILL and workers
    deadline = time.monotonic() + 10
    while any(map(lives, workers)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not any(map(lives, workers))


def test_each_request_is_a_line_of_the_log(bundle):
    with Service(bundle, "-j", 1) as service:
        service.translate(source=["la casa", "la flor"])
        service.raw(b"GET /\x1b[31m HTTP/1.1\r\nhost: localhost\r\n\r\n")
        service.request("GET", "/a%0Ab")
        service.end()
        lines = [line.split(" ", 3) for line in service.log[1:-1]]
    assert [line[0] for line in lines] == ["[lscfg]"] * 3 and "\x1b" not in str(lines)
    assert lines[0][3].startswith("/translate 200 ") and lines[0][3].endswith(": 2 sentences")
    assert lines[2][3].startswith("/a%0Ab 404 ")


def test_what_cannot_be_served_is_one_line(system, bundle, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        run = run_lscfg("serve", bundle, "--port", port)
        assert (run.returncode, run.stderr) == (
            1,
            f"lscfg serve: cannot listen at '127.0.0.1' port {port}: Address already in use\n",
        )
    for arguments, message in (
        ((), "no system; name its folder, or a configuration with -c"),
        ((bundle, "-c", system / "cdec.ini"), "name a system's folder or a configuration with -c, not both"),
        ((tmp_path,), f"{tmp_path}: has neither bundle.json nor cdec.ini; name a bundle or a system's folder"),
        (("-c", system / "cdec.ini"), "no weights; name them with -w, or with weights= in the ini"),
        ((bundle, "--port", 70000), "--port must be 0 to 65535, not 70000"),
        ((bundle, "--set", "timeout=nan"), "--set timeout: timeout must be a finite number, not nan"),
        ((bundle, "--set", "queue=0"), "--set queue: queue must be at least 1, not 0"),
        ((bundle, "--host", "no such host", "--port", 0), "cannot listen at 'no such host' port 0: "),
    ):
        run = run_lscfg("serve", *arguments)
        assert run.returncode == 1 and message in run.stderr and run.stderr.count("\n") == 1
