"""Commands of lscfg in the process of the tests, which saves the time to start Python and to import NumPy."""

import contextlib
import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any
from unittest.mock import patch

from lscfg.cli import main


@contextlib.contextmanager
def captured(number: int, name: str) -> Iterator[IO[bytes]]:
    """Standard output or error as a file, also for worker processes and for code in C."""
    getattr(sys, name).flush()
    before = os.dup(number)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), number)
        try:
            with open(number, "w", encoding="utf-8", newline="", closefd=False) as text, patch.object(sys, name, text):
                yield file
        finally:
            os.dup2(before, number)
            os.close(before)


def run_here(*arguments: Any, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Runs a command as ``subprocess.run`` would; for a signal, a limit or another environment, start a process."""
    words = [*map(str, arguments)]
    nothing = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with captured(1, "stdout") as out, captured(2, "stderr") as error, contextlib.chdir(cwd or "."):
        try:
            with patch.object(sys, "stdin", nothing):
                status = main(words)
        except SystemExit as end:  # the parser refuses an option, or has printed its help
            status = int(end.code or 0)
        texts = []
        for stream, file in ((sys.stdout, out), (sys.stderr, error)):
            stream.flush()
            file.seek(0)
            texts.append(file.read().decode("utf-8", "replace"))
    return subprocess.CompletedProcess(["lscfg", *words], status, *texts)
