"""A log that neither waits nor raises: messages go to stderr through a bounded queue and a thread."""

from __future__ import annotations

import logging
import os
import queue
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from lscfg import log

LINES, LONGEST = 1000, 1 << 14
"""Most messages that wait, and most characters of one; further ones are dropped and counted."""

FLUSH_SECONDS = 1.0
"""Seconds that the end of the log waits for its last messages to be written."""


class LogThread(log.Terminal):
    """Writes messages to a file descriptor by a thread, for a process whose own thread must not wait.

    A forked process may begin with the lock of a buffered file held, so the thread writes to the descriptor itself.

    Args:
        display: the way to show messages.
        descriptor: of the file.
    """

    def __init__(self, display: log.Display, descriptor: int):
        super().__init__(display)
        self._descriptor = descriptor
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()  # a finaliser may write in the midst of put
        self._lost = 0
        self._thread = threading.Thread(target=self._write, name="log", daemon=True)
        self._thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        try:
            text = self.line(record)
            line = text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
            if self._lines.qsize() < LINES:
                self._lines.put(line.encode("utf-8", "backslashreplace") + b"\n")
            else:
                self._lost += 1
        except Exception:  # a message that cannot be made
            self._lost += 1

    def _write(self) -> None:
        while (line := self._lines.get()) is not None:
            lost, self._lost = self._lost, 0
            if lost:
                line = f"[lscfg] warning: {lost} lines of the log were lost\n".encode() + line
            try:
                while line:
                    line = line[os.write(self._descriptor, line) :]
            except OSError:
                self._lost += lost + 1

    def finish(self) -> None:
        """Writes the last messages if that takes no longer than ``FLUSH_SECONDS``."""
        self._lines.put(None)
        self._thread.join(FLUSH_SECONDS)


@contextmanager
def log_in_thread() -> Iterator[None]:
    """Shows messages by a ``LogThread`` until the end of the block, if they are shown on stderr."""
    display = log.current_display()
    try:
        descriptor = sys.stderr.fileno()
    except (AttributeError, OSError, ValueError):  # no file
        display = None
    if display is None:
        yield
        return
    thread = LogThread(display, descriptor)
    with log.shown_by(thread):
        try:
            yield
        finally:
            thread.finish()
