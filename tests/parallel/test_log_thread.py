"""A log that neither waits nor raises."""

import os
import re
import subprocess
import sys

import pytest
from limits import time_limit

from lscfg import log
from lscfg.parallel import log_thread
from lscfg.parallel.log_thread import LogThread, log_in_thread


@pytest.fixture
def pipe():
    read, write = os.pipe()
    yield read, write
    os.close(read)
    os.close(write)


def test_lines_come_in_their_order(pipe, monkeypatch):
    monkeypatch.setattr(log.logger, "propagate", False)  # pytest-xdist cannot send half a surrogate pair that is caught
    read, write = pipe
    thread = LogThread(log.Display(label="one: "), write)
    with log.shown_by(thread):
        for number in range(50):
            log.info(f"line {number}")
        log.warning("b\udce9d")
    thread.finish()
    lines = os.read(read, 1 << 16).decode().splitlines()
    assert lines == [*(f"[lscfg] one: line {n}" for n in range(50)), "[lscfg] one: warning: b\\udce9d"]


def test_nobody_waits_for_a_reader_that_does_not_read(pipe, monkeypatch):
    monkeypatch.setattr(log_thread, "FLUSH_SECONDS", 0.1)
    monkeypatch.setattr(log.logger, "propagate", False)  # pytest would keep 10 MB
    read, write = pipe
    thread = LogThread(log.Display(), write)
    with time_limit():
        with log.shown_by(thread):
            for number in range(2000):
                log.info(f"{number} " + "x" * 5000)
        thread.finish()
    taken = b""
    while b" lines of the log were lost\n" not in taken:  # the thread goes on when somebody reads
        taken += os.read(read, 1 << 16)
    assert re.match(rb"(\[lscfg\] warning: \d+ lines of the log were lost\n)?\[lscfg\] 0 xxx", taken)
    assert taken.count(b"\n") < 1100
    os.set_blocking(read, False)
    while thread._thread.is_alive():  # or it would write to whatever file gets the number of the pipe
        try:
            os.read(read, 1 << 20)
        except BlockingIOError:
            thread.finish()


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("target", ["/dev/full", "closed"])
def test_what_cannot_be_written_is_lost(target, unbuffered):
    """In a thread, and in the log of every command; Python does not write it again at the end."""
    code = (
        "from lscfg import log\nfrom lscfg.parallel.log_thread import log_in_thread\n"
        "with log.shown(log.Display()):\n  log.warning('first')\n  with log_in_thread():\n    log.warning('second')\n"
        "print('well')"
    )
    if target == "closed":
        read, write = os.pipe()
        os.close(read)
    else:
        write = os.open(target, os.O_WRONLY)
    env = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    try:
        run = subprocess.run(
            [sys.executable, "-P", "-c", code], stdout=subprocess.PIPE, stderr=write, check=False, env=env
        )
    finally:
        os.close(write)
    assert (run.returncode, run.stdout) == (0, b"well\n")


def test_without_a_terminal_nothing_changes(capsys):
    with log_in_thread():
        log.warning("to nobody")
    assert capsys.readouterr().err == ""
