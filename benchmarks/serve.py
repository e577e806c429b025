"""``lscfg serve`` under load: throughput, latency, memory, malformed requests; compared with ``lscfg decode``.

    python benchmarks/serve.py demo/systems/LATENT demo/corpus/test.es

The system, which may be a bundle, is packed, and a server of the bundle is started at a free port of the loopback
address. Clients that stay connected send one sentence a request, each the next one of the text, until as many requests
were answered or the time is over. Before anything is printed, all translations must be those of ``lscfg decode``. Then
come malformed requests: mutations of a good one, equal in every run. Each must be translated or refused by a line of
JSON with a status of 400 to 499 (a connection that ends before a request does may get none), and the server must be
well afterwards and end with status 0.

Latencies of sentences with ``--words`` words are also measured with one client and with two, by turns: plain requests,
requests with details of words, and with details and a glossary of hard terms, each of which keeps a word of the text.
``GET /health`` is timed while all clients ask, and while the workers are stopped and requests wait for them.

The reference is ``lscfg decode`` of the same sentences with as many jobs in the same run, its time to load included;
the time of decoding alone is its time less that of one empty line.
"""

from __future__ import annotations

import argparse
import http.client
import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import runs

from lscfg.bundle.places import MANIFEST
from lscfg.io.read import read_lines

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from mutations import mutate_text
from services import Service

TERMS, TURNS = 100, 4
"""Terms of a glossary, and turns of each kind of requests."""


def load(
    service: Service,
    sentences: list[str],
    clients: int,
    requests: int,
    seconds: float,
    more: Mapping[str, Any] | None = None,
) -> tuple[dict[int, list[float]], dict[int, str]]:
    """Asks for sentences in turn; the seconds of each answer, and the translation, by number of the sentence.

    Args:
        more: further keys of each request.

    Raises:
        AssertionError: two answers for a sentence differ, or a request fails.
    """
    numbers, deadline = iter(range(requests)), time.monotonic() + seconds
    taken: dict[int, list[float]] = {n: [] for n in range(len(sentences))}
    answers: dict[int, bytes] = {}

    def ask() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
        for number in numbers:
            if time.monotonic() > deadline:
                break
            n = number % len(sentences)
            began = time.perf_counter()
            body = json.dumps({"source": [sentences[n]], **(more or {})}, ensure_ascii=False).encode()
            connection.request("POST", "/translate", body, {"content-type": "application/json"})
            response = connection.getresponse()
            content = response.read()
            taken[n].append(time.perf_counter() - began)
            assert response.status == 200, content
            assert answers.setdefault(n, content) == content, "two answers for a sentence differ"
        connection.close()

    with ThreadPoolExecutor(clients) as pool:
        for done in [pool.submit(ask) for _ in range(clients)]:
            done.result()
    return taken, {n: json.loads(content)["translations"][0]["translation"] for n, content in answers.items()}


def kinds(sentences: list[str]) -> dict[str, dict[str, Any]]:
    """Further keys of each kind of requests."""
    words = Counter(word for sentence in sentences for word in sentence.split() if word.isalpha())
    terms = [{"source": word, "mode": "keep"} for word, _ in words.most_common()[-TERMS:]]
    return {"plain": {}, "details": {"details": True}, "details and glossary": {"details": True, "glossary": terms}}


def p50_p95(every: list[float]) -> tuple[float, float]:
    """Median and 95th percentile of seconds, in milliseconds."""
    ranked = sorted(every)
    return 1000 * ranked[int(0.5 * (len(ranked) - 1))], 1000 * ranked[int(0.95 * (len(ranked) - 1))]


def health_latencies(run: runs.Run, service: Service, sentences: list[str], clients: int, seconds: float) -> None:
    """Adds the latencies of ``GET /health`` under load, and with stopped workers."""
    run.table("latency of GET /health", ["state", "requests", "p50 ms", "p95 ms"])

    def timed(busy: Callable[[], bool]) -> list[float]:
        taken = []
        while busy():
            began = time.perf_counter()
            assert service.request("GET", "/health")[0] == 200
            taken.append(time.perf_counter() - began)
            time.sleep(0.01)
        return taken

    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(load, service, sentences, clients, 10**9, seconds)
        taken = timed(lambda: not asking.done())
        asking.result()
    run.row(f"{clients} clients ask", len(taken), *p50_p95(taken))
    workers, end = service.workers, time.monotonic() + seconds
    for worker in workers:
        os.kill(worker, signal.SIGSTOP)
    try:
        with ThreadPoolExecutor(clients) as pool:
            asked = [pool.submit(service.translate, source=sentence) for sentence in sentences[:clients]]
            taken = timed(lambda: time.monotonic() < end)
            for worker in workers:
                os.kill(worker, signal.SIGCONT)
            assert {one.result()[0] for one in asked} <= {200, 503}
    finally:
        for worker in workers:
            with suppress(ProcessLookupError):
                os.kill(worker, signal.SIGCONT)
    run.row("workers are stopped", len(taken), *p50_p95(taken))


def latencies(run: runs.Run, service: Service, sentences: list[str], requests: int, seconds: float) -> None:
    """Adds the latencies of each kind of requests, with one client and with two; kinds take turns."""
    run.table("latency of requests of one sentence", ["request", "clients", "requests", "p50 ms", "p95 ms"])
    taken: dict[tuple[str, int], list[float]] = {}
    for number in range(TURNS):
        part = sentences[number::TURNS]
        for clients in (1, 2):
            for name, more in kinds(sentences).items():
                found, _ = load(service, part, clients, requests // TURNS, seconds / TURNS / 6, more)
                taken.setdefault((name, clients), []).extend(itertools.chain.from_iterable(found.values()))
    for (name, clients), every in taken.items():
        run.row(name, clients, len(every), *p50_p95(every))


def malformed(sentence: str, count: int) -> Iterator[bytes]:
    """Mutations of a good request, of its head as of its body."""
    draw = random.Random(1)
    body = json.dumps({"source": [sentence], "kbest": 2}, ensure_ascii=False).encode()
    head = "POST /translate HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: "
    for _ in range(count):
        if draw.random() < 0.5:
            changed = mutate_text(body, draw)
            yield f"{head}{len(changed)}\r\n\r\n".encode() + changed
        else:
            yield mutate_text(f"{head}{len(body)}\r\n\r\n".encode() + body, draw)


def decode(bundle: Path, text: Path, jobs: int) -> tuple[list[str], float]:
    """Translations of ``lscfg decode`` and its seconds."""
    began = time.perf_counter()
    run = subprocess.run(
        [sys.executable, "-P", "-m", "lscfg", "decode", text, "-c", bundle / "cdec.ini", "-j", str(jobs), "--quiet"],
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout.split("\n")[:-1], time.perf_counter() - began


def peak(pid: int) -> float:
    """Most memory that a process has had so far, in MB; what it shares with others included."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def main() -> None:
    """Prints throughput, latency, memory and statuses."""
    parser = runs.parser(__doc__)
    parser.add_argument("system", help="folder of a system of lscfg run, or bundle")
    parser.add_argument("text", help="tokenized sentences")
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--requests", type=int, default=1200)
    parser.add_argument("--words", type=int, default=12, help="words of the timed sentences (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=60, help="most time of the load (default: %(default)s)")
    parser.add_argument("--malformed", type=int, default=1000, help="number of requests (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    args = parser.parse_args()
    sentences = [line for line in read_lines(args.text) if line.strip()]
    with TemporaryDirectory() as folder:
        bundle, text = Path(folder) / "bundle", Path(folder) / "text"
        if (Path(args.system) / MANIFEST).exists():
            shutil.copytree(args.system, bundle)
        else:
            subprocess.run(
                [sys.executable, "-P", "-m", "lscfg", "pack", args.system, "-o", bundle, "--quiet"], check=True
            )
        text.write_text("\n")
        empty = decode(bundle, text, args.jobs)[1]
        measure(args, bundle, text, sentences, empty)


def measure(args: argparse.Namespace, bundle: Path, text: Path, sentences: list[str], empty: float) -> None:
    """Prints it for a bundle; ``empty``: seconds of lscfg decode for an empty line."""
    with Service(bundle, "-j", args.jobs, "--set", f"queue={2 * args.clients}") as service:
        service.translate(source=sentences[: args.jobs])  # starts all workers
        began = time.perf_counter()
        taken, found = load(service, sentences, args.clients, args.requests, args.seconds)
        seconds = time.perf_counter() - began
        asked = [n for n, times in taken.items() for _ in times]
        text.write_text("".join(f"{sentences[n]}\n" for n in asked))
        wanted, reference = decode(bundle, text, args.jobs)
        assert wanted == [found[n] for n in asked], "translations differ from those of lscfg decode"
        every = sorted(itertools.chain.from_iterable(taken.values()))
        run = runs.Run(args)
        columns = [
            "requests",
            "clients",
            "workers",
            "all s",
            "requests a second",
            "median latency ms",
            "p99 latency ms",
        ]
        run.table("requests of one sentence", columns)
        latency = [1000 * every[int(share * (len(every) - 1))] for share in (0.5, 0.99)]
        run.row(len(every), args.clients, args.jobs, seconds, len(every) / seconds, *latency)
        own = [sentence for sentence in sentences if len(sentence.split()) == args.words]
        assert len(own) >= TURNS, f"{len(own)} sentences of {args.words} words are too few; give other --words"
        latencies(run, service, own, args.requests, args.seconds)
        health_latencies(run, service, sentences, args.clients, args.seconds / 12)
        run.table(
            "lscfg decode", ["all s", "without loading s", "ratio of lscfg serve to lscfg decode without loading"]
        )
        run.row(reference, reference - empty, seconds / (reference - empty))
        statuses = Counter(service.raw(data, end=True)[0] for data in malformed(sentences[0], args.malformed))
        assert all(status in (0, 200) or 400 <= status < 500 for status in statuses), statuses
        health = service.request("GET", "/health")
        assert health[0] == 200 and health[1]["ready"]
        run.table("malformed requests", ["status (0: the connection ended before a request)", "requests"])
        for status, number in sorted(statuses.items()):
            run.row(status, number)
        run.table("memory, shared pages in each process", ["process", "peak MiB"])
        run.row("server", peak(service.pid))
        for number, pid in enumerate(service.workers, 1):
            run.row(f"worker {number}", peak(pid))
        assert service.end() == 0
        run.save()


if __name__ == "__main__":
    main()
