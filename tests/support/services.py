"""A small system with every file that a configuration may name, and its servers in separate processes."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from little_experiment import run_lscfg

from lscfg.io.write import write_lines

SOURCE = ["una casa", "una casa roja", "la casa", "la flor roja", "una flor"] * 8
TARGET = ["a house", "a red house", "the house", "the red flower", "a flower"] * 8
LINKS = ["0-0 1-1", "0-0 1-2 2-1", "0-0 1-1", "0-0 1-2 2-1", "0-0 1-1"] * 8
SENTENCES = ["una flor roja", "", "la x roja", "la casa roja", "una casa una flor", "x y z", "la flor la casa la flor"]
INI = (
    "formalism=scfg\ngrammar=g.gz\nfeature_function=WordPenalty\nfeature_function=KLanguageModel lm.arpa\n"
    "feature_function=LSCFG model=spectral.lscfg features=paper floor=1e-4\nadd_pass_through_rules=true\n"
    "scfg_max_span_limit=100\nscfg_no_hiero_glue_grammar=true\n"
)
WEIGHTS = "LanguageModel 1\nEgivenF -1\nPassThrough -5\nWordPenalty -2\nLatentMarginal 0.1\n" + "".join(
    f"{name} 0\n" for name in ("CountEF", "SampleCountF", "Inverse", "LatentEgivenF", "LatentFgivenE")
)


def little_system(folder: Path) -> Path:
    """Writes ``cdec.ini``, ``weights`` and all that they name into the folder."""
    for name, lines in (("f", SOURCE), ("e", TARGET), ("links", LINKS), ("text", SENTENCES)):
        write_lines(folder / name, lines)
    for command in (
        "derive f e links -o deriv",
        "grammar minimal deriv -o g.gz",
        "estimate spectral deriv -m 2 -o spectral.lscfg",
        "lm e -o lm.arpa --order 2 --discount-fallback --estimator lscfg",
    ):
        run = run_lscfg(*command.split(), cwd=folder)
        assert run.returncode == 0, run.stderr
    (folder / "cdec.ini").write_text(INI)
    (folder / "weights").write_text(WEIGHTS)
    return folder


RAW = (
    "".join(f"La casa {n} Roma .\nEn la casa una flor\n" for n in range(20)),
    "".join(f"The house {n} Rome .\nIn the house a flower\n" for n in range(20)),
)


def little_preparation(folder: Path, raw: tuple[str, str] = RAW, tokeniser: str = "none") -> Path:
    """Writes the preparation of raw text into a folder; the default one keeps words apart and learns their casing.

    Args:
        tokeniser: value of the option, and further options.
    """
    for side, text in zip(("es", "en"), raw, strict=True):
        (folder / f"raw.{side}").write_text(text)
    words = f"prepare corpus raw.es raw.en --tokeniser {tokeniser} -o prepare --jobs 1"
    run = run_lscfg(*words.split(), cwd=folder)
    assert run.returncode == 0, run.stderr
    return folder / "prepare"


def prepared_bundle(system: Path, folder: Path, raw: tuple[str, str] = RAW, tokeniser: str = "none") -> Path:
    """Packs a system with a ``little_preparation`` into a bundle within a folder."""
    run = run_lscfg("pack", system, "--prepare", little_preparation(folder, raw, tokeniser), "-o", folder / "bundle")
    assert run.returncode == 0, run.stderr
    return folder / "bundle"


class Service:
    """``lscfg serve`` at a free port; a context manager, at whose end the server must end well.

    Args:
        preexec: called in the new process before the server starts.

    Attributes:
        log: lines of its stderr so far.
    """

    def __init__(self, *arguments: Any, preexec: Callable[[], None] | None = None):
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "lscfg", "serve", *map(str, arguments), "--port", "0"],
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=preexec,
        )
        self.log: list[str] = []
        self._ready = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self.log.append(line.rstrip("\n"))
            if "is served at" in line:
                self._ready.set()
        self._ready.set()

    def __enter__(self) -> Self:
        assert self._ready.wait(60)
        found = re.search(r"http://127\.0\.0\.1:(\d+)", self.log[-1] if self.log else "")
        assert found, self.log
        self.port = int(found[1])
        return self

    def __exit__(self, *error: object) -> None:
        if self._process.poll() is None and error[0] is not None:
            self.send(signal.SIGKILL)
            self.wait()
        elif self._process.poll() is None:
            assert self.end() == 0, self.log

    @property
    def pid(self) -> int:
        """Number of the server's process."""
        return self._process.pid

    @property
    def workers(self) -> list[int]:
        """Numbers of its worker processes."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        return [int(pid) for pid in children if lives(int(pid))]

    def send(self, number: int = signal.SIGTERM) -> None:
        """Sends a signal."""
        self._process.send_signal(number)

    def end(self) -> int:
        """Ends the server; its status."""
        self.send()
        return self.wait()

    def wait(self) -> int:
        """Exit status of a server after a signal to end."""
        status = self._process.wait(60)
        self._reader.join(10)
        assert self._process.stderr is not None
        self._process.stderr.close()
        return status

    def request(self, method: str, path: str, body: bytes | None = None, **headers: str) -> tuple[int, Any]:
        """Status and JSON of the answer to a request over a separate connection."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, body, {"content-type": "application/json", **named})
            response = connection.getresponse()
            content = response.read()
            assert response.headers["content-type"] == "application/json" and content.count(b"\n") == 1
            return response.status, json.loads(content)
        finally:
            connection.close()

    def translate(self, **query: Any) -> tuple[int, Any]:
        """Status and JSON of the answer to a query."""
        return self.request("POST", "/translate", json.dumps(query).encode())

    def connect(self) -> socket.socket:
        """A connection."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def raw(self, data: bytes, end: bool = False) -> tuple[int, bytes]:
        """Status and body of the first answer to any bytes; 0 where there is none.

        Args:
            end: whether the client closes its side, after which it has little time to get an answer.
        """
        with self.connect() as client:
            client.sendall(data)
            if end:
                client.shutdown(socket.SHUT_WR)
            return read_answer(client)


def head(*lines: str, start: str = "POST /translate HTTP/1.1", content_type: str = "application/json") -> bytes:
    """The head of a request with further lines."""
    return "\r\n".join([start, "host: localhost", f"content-type: {content_type}", *lines, "", ""]).encode()


def post(body: bytes) -> bytes:
    """A request for translation with this body."""
    return head(f"content-length: {len(body)}") + body


def lives(pid: int) -> bool:
    """True while a process runs: not after its end, even where its parent has not looked yet."""
    try:
        return not Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].startswith(" Z")
    except (FileNotFoundError, ProcessLookupError):
        return False


def read_answer(client: socket.socket) -> tuple[int, bytes]:
    """Status and body of the answer that comes over a connection; 0 where there is none."""
    response = http.client.HTTPResponse(client)
    try:
        response.begin()
        return response.status, response.read()
    except (http.client.BadStatusLine, ConnectionError):
        return 0, b""
