"""Signals that end a process arrive once, at a moment at which it can tidy up."""

import os
import signal
import subprocess
import sys
import threading
import time
from multiprocessing.context import BaseContext

import pytest
from work import rest, who

from lscfg.errors import WorkerError
from lscfg.parallel.processes import Processes
from lscfg.parallel.signals import ENDING, Terminated, defer_signals, ending_on_signals, ignore_second_interruption
from lscfg.tuning.experiment.cache import measured


@pytest.fixture(autouse=True)
def handlers():
    """Handlers as a command begins with them, even under nohup or in the background of a script."""
    before = {number: signal.getsignal(number) for number in ENDING}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_the_first_signal_is_the_last_one_that_disturbs(number):
    with pytest.raises(Terminated) as end, ending_on_signals():
        try:
            signal.raise_signal(number)
        finally:
            for other in ENDING:
                signal.raise_signal(other)
    assert (end.value.number, end.value.status) == (number, 128 + number)
    assert signal.getsignal(number) is signal.SIG_DFL and callable(signal.getsignal(signal.SIGINT))


def test_a_signal_that_is_ignored_stays_so():
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with ending_on_signals():
        signal.raise_signal(signal.SIGHUP)
    let_in = defer_signals()
    signal.raise_signal(signal.SIGHUP)
    let_in()
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN


@pytest.mark.parametrize("number", ENDING)
def test_a_deferred_signal_comes_in_the_end(number):
    with ending_on_signals():
        before = [signal.getsignal(one) for one in ENDING]
        outer = defer_signals()
        deferred = [signal.getsignal(one) for one in ENDING]
        inner = defer_signals()
        signal.raise_signal(number)
        inner()
        assert [signal.getsignal(one) for one in ENDING] == deferred
        with pytest.raises((Terminated, KeyboardInterrupt)):
            outer()
        if number == signal.SIGINT:
            assert [signal.getsignal(one) for one in ENDING] == before


def test_every_deferred_signal_comes():
    came = []
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, frame: came.append(number))
    let_in = defer_signals()
    for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGHUP):
        signal.raise_signal(number)
    assert came == []
    let_in()
    assert came == [signal.SIGHUP, signal.SIGTERM]


def test_a_fork_that_fails_leaves_the_signals(monkeypatch):
    def fail():
        raise BlockingIOError(11, "no more processes")

    monkeypatch.setattr(os, "fork", fail)
    before, files = [signal.getsignal(one) for one in ENDING], len(os.listdir("/dev/fd"))
    with pytest.raises(BlockingIOError):
        measured(print)
    assert [signal.getsignal(one) for one in ENDING] == before and len(os.listdir("/dev/fd")) == files


def test_a_second_interruption_is_ignored():
    ignore_second_interruption()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    signal.raise_signal(signal.SIGINT)


FORKS = """
import os, signal, sys, threading, time
from lscfg.parallel.processes import Processes
from lscfg.parallel.signals import Terminated, ending_on_signals
number, wait = getattr(signal, sys.argv[1]), float(sys.argv[2])
os.register_at_fork(before=lambda: time.sleep(0.005))  # longer than the hooks of logging
try:
    with ending_on_signals():
        def send():
            time.sleep(wait)
            os.kill(os.getpid(), number)
        threading.Thread(target=send, daemon=True).start()
        while True:
            with Processes(2) as engine:
                list(engine.map(abs, [1, 2]))
except (Terminated, KeyboardInterrupt):
    print("ended")
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_no_fork_loses_a_signal(name):
    """Python ignores exceptions of its hooks around a fork."""
    for number in range(12):
        call = [sys.executable, "-P", "-c", FORKS, name, str(0.01 + number / 150)]
        done = subprocess.run(call, capture_output=True, text=True, timeout=60, check=False)
        assert (done.stdout, done.stderr, done.returncode) == ("ended\n", "", 0)


def test_engines_that_start_at_once_notice_dead_workers(monkeypatch):
    """A worker must not hold the connection of another engine's worker open."""
    pipe = BaseContext.Pipe

    def slow(context):
        made = pipe(context)
        time.sleep(0.01)
        return made

    monkeypatch.setattr(BaseContext, "Pipe", slow)

    def work(number):
        with Processes(2, start="fork") as engine:
            meet.wait()
            pids = list(engine.map(who, range(2)))
            meet.wait()
            if number == 0:  # the workers of the other engine live on
                timer = threading.Timer(0.05, os.kill, (pids[0], signal.SIGKILL))
                timer.start()
                try:
                    list(engine.map(rest, [20, 0]))
                except WorkerError as error:
                    errors.append(str(error))
            meet.wait()

    for _ in range(3):
        meet, errors = threading.Barrier(2, timeout=10), []
        threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == ["a worker process died (signal SIGKILL) at block 1"]


def test_a_fork_of_another_thread_can_start_workers():
    """The lock of a thread that starts workers at the moment of the fork has no holder in the child."""
    engine, held, go = Processes(1), threading.Event(), threading.Event()

    def hold():
        from lscfg.parallel.processes import _one_start

        with _one_start.lock:
            held.set()
            go.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    child = os.fork()
    if child == 0:
        try:
            signal.alarm(20)
            os._exit(sum(engine.map(abs, [-3])))
        finally:
            os._exit(1)
    go.set()
    thread.join()
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 3
