"""A command that is killed at any moment leaves no process at work: workers, their helpers, stages of a run.

Signals that it can heed leave no temporary file, either.
"""

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest
from little_experiment import TOML, run_lscfg

from lscfg.demo import generate, write

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")

KILLS = int(os.environ.get("LSCFG_KILLS", "1"))
"""Number of times that each command gets each signal."""

LONG = 1.5
"""Seconds, at most, after which a command is killed once it has begun, or has started another process."""

SOON = 10.0
"""Seconds in which its processes have to end; a worker that has just been started on a busy machine takes some."""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a corpus, a decoder's configuration, weights and derivations."""
    folder = tmp_path_factory.mktemp("killed")
    write(generate(seed=2, train=600, dev=30, test=10), folder)
    (folder / "e.toml").write_text(TOML.replace("order = 3", "order = 2\ndiscount_fallback = true"))
    done = run_lscfg("run", folder / "e.toml", "-o", folder / "out", "--jobs", "1", "--quiet")
    assert done.returncode == 0, done.stderr
    shutil.copy(next(folder.glob("out/cache/derive-*/derivations")), folder / "train.deriv")
    return folder


@pytest.fixture(autouse=True)
def heeded():
    """Signals end the commands even where the tests run under nohup or in the background of a script."""
    before = [(number, signal.getsignal(number)) for number in (signal.SIGHUP, signal.SIGINT)]
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in before:
        signal.signal(number, handler)


SIGNALS = signal.SIGTERM, signal.SIGKILL, signal.SIGHUP, signal.SIGINT

COMMANDS = {
    "align": "align train.es train.en -o made.align --set iterations=3000 --jobs 2",
    "run": "run e.toml -o made --jobs 2",
    "run alone": "run e.toml -o made --jobs 1",
    "tune": "tune weights --config {system}/cdec.ini --weights {system}/weights --source dev.es --reference dev.en"
    " -o made --jobs 2 --kbest 200",
    "decode": "decode -c {system}/cdec.ini -w {system}/weights train.es --jobs 2",
    "estimate": "estimate em train.deriv -m 16 --iterations 500 --jobs 2 -o made.lscfg",
}


def alive(mark):
    """The processes with the mark in their environment, which all descendants inherit."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if f"MARK={mark}".encode() in (process / "environ").read_bytes().split(b"\0"):
                found.append((int(process.name), (process / "cmdline").read_bytes().replace(b"\0", b" ")))
    return found


@pytest.mark.parametrize("how", SIGNALS, ids=lambda how: how.name)
@pytest.mark.parametrize("command", COMMANDS)
def test_no_process_is_left_of_a_command_that_was_killed(place, command, how, tmp_path):
    draw = random.Random(f"{command} {how}")
    words = COMMANDS[command].format(system=place / "out" / "systems" / "SPECTRAL").split()
    most = 0
    for _ in range(KILLS):
        shutil.rmtree(place / "made", ignore_errors=True)
        mark = uuid.uuid4().hex
        program = subprocess.Popen(
            [sys.executable, "-P", "-m", "lscfg", *words],
            cwd=place,
            env={**os.environ, "MARK": mark, "TMPDIR": str(tmp_path)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wanted, begun = draw.choice((1, 2)), time.monotonic()
        while len(alive(mark)) < wanted and program.poll() is None and time.monotonic() < begun + 5:
            time.sleep(0.01)
        with contextlib.suppress(subprocess.TimeoutExpired):
            program.wait(draw.uniform(0, LONG))
        most = max(most, len(alive(mark)))
        program.send_signal(how)
        program.wait(90)
        end = time.monotonic() + SOON
        while (left := alive(mark)) and time.monotonic() < end:
            time.sleep(0.02)
        for pid, _ in left:
            os.kill(pid, signal.SIGKILL)
        assert not left
        made = [path for path in place.rglob("*") if path.name.endswith(".tmp")]
        assert how == signal.SIGKILL or not [*tmp_path.iterdir(), *made]
    print(f"{command} {how.name}: {most} processes at most, all gone in the end")
