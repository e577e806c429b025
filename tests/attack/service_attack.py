"""Attacks on ``lscfg serve``: requests of any kind over the loopback interface, and signals to its workers."""

from __future__ import annotations

import json
import os
import random
import signal
from collections.abc import Iterator
from pathlib import Path

from mutations import mutate_text
from services import Service, head, post

ALLOWED = {0, 200, 204, 400, 403, 404, 405, 408, 413, 415, 421, 431, 503}
"""Statuses of answers; 0 for a connection that ended before a request. 500 is allowed where a worker was killed."""


def request(draw: random.Random, lines: list[str]) -> bytes:
    """A request, good or bad."""
    word = draw.choice(draw.choice(lines).split() or ["a"])
    extras = {
        "details": draw.random() < 0.5,
        "glossary": [
            {"source": word, "target": draw.choice(["x", ["x y", "z"]]), "mode": draw.choice(["hard", "soft"])}
        ],
        "keep": [word],
        "choices": [{"span": [draw.randint(0, 3), draw.randint(0, 5)], "target": "x"}],
    }
    given = {key: extras[key] for key in draw.sample(sorted(extras), draw.randint(0, 2))}
    texts = draw.choices(lines, k=draw.randint(1, 4))
    body = json.dumps(
        {"source": texts[0] if "choices" in given else texts, "kbest": draw.randint(1, 3)} | given
    ).encode()
    kind = draw.randrange(5)
    if kind == 0:
        return mutate_text(post(body), draw)
    if kind == 1:
        return post(mutate_text(body, draw))
    if kind == 2:
        size = draw.randint(1, 60)
        pieces = [body[i : i + size] for i in range(0, len(body), size)]
        chunks = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
        return head("transfer-encoding: chunked") + mutate_text(chunks, draw)
    if kind == 3:
        return post(json.dumps({"source": draw.choice("!.a[\u3002\ud83d ") * draw.randint(1, 9000)}).encode())
    return post(body)


def attack_service(folder: Path, draw: random.Random) -> Iterator[tuple[str, str]]:
    """Yields the verdict of each request to a service of the folder's system, and what is wrong.

    Args:
        folder: with ``cdec.ini``, ``weights`` and sentences in ``short``.
    """
    lines = (folder / "short").read_text("utf-8").splitlines()
    with Service("-c", folder / "cdec.ini", "-w", folder / "weights", "-j", 2, "--set", "timeout=5") as service:
        since = 0
        while True:
            since += 1
            if draw.random() < 0.02 and (workers := service.workers):
                os.kill(draw.choice(workers), draw.choice((signal.SIGKILL, signal.SIGSTOP)))
                since = 0
            status = service.raw(request(draw, lines), end=True)[0]
            faults = [line for line in service.log if "Traceback" in line or "fault in lscfg" in line]
            if faults or not (status in ALLOWED or (since < 10 and status == 500)):
                yield "fault", f"status {status}: {faults[:1]}"
            else:
                yield "accepted" if status == 200 else "refused", ""
