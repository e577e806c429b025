"""Attacks on ``lscfg serve``: requests of any kind over the loopback interface, and signals to its workers."""

from __future__ import annotations

import json
import os
import random
import signal
from collections.abc import Iterator, Mapping
from http.client import IncompleteRead
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from xml.sax.saxutils import escape

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
    kind = draw.randrange(10)
    if kind > 4:
        return of_any_path(draw, lines, given)
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


def of_any_path(draw: random.Random, lines: list[str], given: Mapping[str, Any]) -> bytes:
    """A request to another path or in another form than JSON for ``/translate``, good or bad."""
    text, other = draw.choice(lines), draw.choice(lines)
    path, content = draw.choice(
        [
            ("/translate", {"q": f"{text}\n\n{other}", "alternatives": draw.randint(0, 3)} | given),
            ("/translate", {"q": f"<p>{text} <b>{other}</b></p>", "format": "html"} | given),
            ("/detect", {"q": text}),
            ("/corrections", {"source": text, "target": other}),
            ("/whynot", {"source": " ".join(text.split()[:6]), "wanted": " ".join(other.split()[:6])}),
        ]
    )
    kind = draw.randrange(5)
    if kind == 0:
        return head(start=f"DELETE /corrections/{draw.choice([1, draw.randint(0, 40), 'x', '%00'])} HTTP/1.1")
    if kind == 1:
        name, data = draw.choice(
            [
                ("a.txt", text),
                ("a.html", f"<!doctype html><p>{text}<i>{other}</i><script>x</script>"),
                ("a.srt", f"1\n00:00:01,000 --> 00:00:02,000\n{text}\n\n2\n00:00:03,000 --> 00:00:04,000\n{other}\n"),
                ("a.xlf", XLIFF.format(escape(text), escape(other))),
            ]
        )
        part = f'--b\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'.encode()
        body = part + mutate_text(data.encode(), draw) + b"\r\n--b--\r\n"
        path, mark = (
            "/translate_file" + draw.choice(["", "?download=1", "?progress=1"]),
            "multipart/form-data; boundary=b",
        )
    elif kind == 2:
        fields = {key: value if isinstance(value, str) else json.dumps(value) for key, value in content.items()}
        body, mark = mutate_text(urlencode(fields).encode(), draw), "application/x-www-form-urlencoded"
    else:
        body, mark = (
            mutate_text(json.dumps(content).encode(), draw) if kind == 3 else json.dumps(content).encode(),
            JSON,
        )
    return head(f"content-length: {len(body)}", start=f"POST {path} HTTP/1.1", content_type=mark) + body


JSON = "application/json"
XLIFF = (
    '<?xml version="1.0"?>\n<xliff version="1.2"><file source-language="es" target-language="en" original="a" '
    'datatype="plaintext"><body><trans-unit id="1"><source>{} <g id="1">{}</g></source></trans-unit></body></file>'
    "</xliff>"
)


def attack_service(folder: Path, draw: random.Random) -> Iterator[tuple[str, str]]:
    """Yields the verdict of each request to a service of the folder's system, and what is wrong.

    Args:
        folder: with ``cdec.ini``, ``weights`` and sentences in ``short``.
    """
    lines = (folder / "short").read_text("utf-8").splitlines()
    options = ("--set", "timeout=5", "--languages", "es,en", "--corrections", folder / "corrections")
    with Service("-c", folder / "cdec.ini", "-w", folder / "weights", "-j", 2, *options) as service:
        since = 0
        while True:
            since += 1
            if draw.random() < 0.02 and (workers := service.workers):
                os.kill(draw.choice(workers), draw.choice((signal.SIGKILL, signal.SIGSTOP)))
                since = 0
            try:
                status = service.raw(request(draw, lines), end=True)[0]
            except IncompleteRead:  # lines of progress end soon after the client has closed its side
                status = 0
            faults = [line for line in service.log if "Traceback" in line or "fault in lscfg" in line]
            if faults or not (status in ALLOWED or (since < 10 and status == 500)):
                yield "fault", f"status {status}: {faults[:1]}"
            else:
                yield "accepted" if status == 200 else "refused", ""
