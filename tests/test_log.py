"""Messages of the library and of the command line."""

import logging
import os
import signal
import subprocess
import sys
import threading

import pytest

from lscfg import log
from lscfg.errors import WorkerError
from lscfg.parallel.choose import in_processes


def say(number):
    log.info(f"{number} done")
    log.warning(f"{number} is odd")
    return [*log.progress([number], "work")]


def test_a_library_call_prints_nothing(capfd):
    assert say(1) == [1]
    with in_processes(2) as engine:
        assert [*engine.map(say, [1, 3])] == [[1], [3]]
    assert capfd.readouterr() == ("", "")


def test_a_program_takes_the_messages_of_its_logger(caplog):
    with caplog.at_level(logging.INFO, "lscfg"):
        say(1)
    assert [(record.name, record.levelname, record.funcName) for record in caplog.records] == [
        ("lscfg", "INFO", "say"),
        ("lscfg", "WARNING", "say"),
    ]


def test_a_terminal_shows_messages_of_workers_too(capfd):
    with log.shown(log.Display()), in_processes(2) as engine:
        assert [*engine.map(say, [1, 3])] == [[1], [3]]
    lines = sorted(capfd.readouterr().err.splitlines())
    assert lines == ["[lscfg] 1 done", "[lscfg] 3 done", "[lscfg] warning: 1 is odd", "[lscfg] warning: 3 is odd"]


def test_quiet_leaves_warnings_and_labels_begin_lines(capfd):
    with log.shown(log.Display(quiet=True, label="EM: ")):
        say(1)
        with log.shown(log.current_display("MLE: ")):
            say(3)
        say(5)
    say(7)
    expected = ["EM: warning: 1 is odd", "MLE: warning: 3 is odd", "EM: warning: 5 is odd"]
    assert capfd.readouterr().err.splitlines() == [f"[lscfg] {line}" for line in expected]


def test_a_brief_display_shows_steps_and_of_their_work_warnings_only(capfd):
    with log.shown(log.Display(brief=True)), in_processes(1) as engine:
        say(1)
        log.finding("odd data")
        with log.inside_step():
            say(3)
            log.finding("odd data")
            with in_processes(2) as inner:
                assert [*inner.map(say, [5])] == [[5]]
        say(7)
        assert [*engine.map(say, [9])] == [[9]]
    with log.inside_step():
        say(11)
    with log.shown(log.Display()):
        log.finding("odd data")
    lines = sorted(line.removeprefix("[lscfg] ") for line in capfd.readouterr().err.splitlines())
    odd = [f"warning: {number} is odd" for number in (1, 3, 5, 7, 9)]
    assert lines == ["1 done", "7 done", "9 done", *odd, "warning: odd data"]


class Deadly:
    """A stderr whose process dies in the middle of a message."""

    encoding = "utf-8"

    def isatty(self):
        return True

    def write(self, text):
        os.kill(os.getpid(), signal.SIGKILL)


def write_and_die(kind):
    sys.stderr = Deadly()
    if kind == "message":
        log.warning("last words")
    else:
        [*log.progress(range(9), "last bar")]


def warn_and_show_a_bar():
    log.warning("goes on")
    log.meter("bytes").close()


@pytest.mark.parametrize("kind", ["message", "bar"])
def test_a_worker_that_dies_while_it_writes_stops_no_other_process(kind, monkeypatch, capfd):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with log.shown(log.Display()), in_processes(2) as engine:
        log.meter("bytes").close()
        with pytest.raises(WorkerError, match="SIGKILL"):
            next(engine.map(write_and_die, [kind]))
        thread = threading.Thread(target=warn_and_show_a_bar, daemon=True)  # one that waits forever stops no test
        thread.start()
        thread.join(60)
    assert not thread.is_alive() and "[lscfg] warning: goes on\n" in capfd.readouterr().err


def test_findings_can_be_collected():
    with log.held_back() as held:
        log.finding("odd data")
    assert held == ["odd data"]


def test_warnings_can_be_collected():
    with log.held_back() as held:
        say(1)
    assert held == ["1 is odd"]


def test_nothing_is_configured_by_an_import():
    code = "import logging, lscfg.log as log; log.warning('w'); print(logging.root.handlers, log.logger.level)"
    run = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert (run.stdout, run.stderr) == ("[] 0\n", "")
