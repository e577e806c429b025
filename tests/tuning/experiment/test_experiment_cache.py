"""The stages of a run: work in a process of its own, kept results, the lock on their folder."""

import errno
import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest

from lscfg.cli import BAD_INPUT, FAULT, FaultError, explain, main
from lscfg.errors import InputError, LscfgError
from lscfg.io.write import atomic_write
from lscfg.tuning.experiment.cache import RECORD, StageCache, locked, make_apart, measured
from lscfg.tuning.experiment.making import _naming_systems
from lscfg.tuning.experiment.stage import Stage, side_input, version


def test_measured_work_passes_errors_on():
    def fail(error):
        raise error

    with pytest.raises(LscfgError, match="file:3: no good"):
        measured(lambda: fail(InputError("no good", "file", 3)))
    with pytest.raises(LscfgError, match="No space left"):
        measured(lambda: fail(OSError(28, "No space left on device")))
    with pytest.raises(LscfgError, match="bad") as caught:
        measured(lambda: fail(InputError("bad", os.fsdecode(b"caf\xe9"))))
    assert os.fsencode(str(caught.value)) == b"caf\xe9: bad"
    with pytest.raises(LscfgError, match="status 7"):
        measured(lambda: os._exit(7))
    costs = measured(lambda: time.sleep(0.05))
    assert costs.seconds >= 0.05 > costs.cpu_seconds >= 0 and costs.peak_mib > 1
    busy = measured(lambda: subprocess.run([sys.executable, "-c", "sum(range(3_000_000))"], check=True))
    assert busy.cpu_seconds > costs.cpu_seconds  # of the processes that it starts, too


@pytest.mark.parametrize(
    ("error", "kind", "reason"),
    [
        (MemoryError("8 GiB"), LscfgError, r"^out of memory \(8 GiB\); give it less text"),
        (ModuleNotFoundError("no", name="scipy"), LscfgError, r"^this needs scipy: pip install 'lscfg\[train\]'$"),
        (OSError(28, "No space left"), LscfgError, "^a file of the stage: cannot write: No space left$"),
        (KeyError("a"), FaultError, r"^fault in lscfg: KeyError at test_experiment_cache\.py:\d+: 'a'; please report"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_stage_explains_its_errors_as_a_command_does(error, kind, reason, capfd):
    """In one line; a fault of lscfg also has its status."""

    def fail():
        raise error

    with pytest.raises(LscfgError, match=reason) as caught:
        measured(fail)
    assert type(caught.value) is kind and capfd.readouterr() == ("", "")
    assert explain(caught.value) == (str(caught.value), FAULT if kind is FaultError else BAD_INPUT)
    plan = SimpleNamespace(users=lambda stage: ["A", "B"])
    with (
        pytest.raises(LscfgError, match=r"^system A, B: ") as caught,
        _naming_systems(SimpleNamespace(plan=plan), None),
    ):
        measured(fail)
    assert type(caught.value) is kind


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process that its parent has died")
def test_a_killed_run_leaves_no_stage_at_work(tmp_path):
    program = "import os, time; from lscfg.tuning.experiment.cache import measured\n"
    program += "measured(lambda: (print(os.getpid(), flush=True), time.sleep(600)))"
    with subprocess.Popen([sys.executable, "-P", "-c", program], stdout=subprocess.PIPE, text=True) as parent:
        child = int(parent.stdout.readline())
        parent.kill()
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and _is_running(child):
        time.sleep(0.01)
    assert not _is_running(child)


def test_an_interruption_while_a_stage_is_started_is_not_lost():
    """Python ignores what its hooks around a fork raise."""
    program = """
import os, signal, time
from lscfg.tuning.experiment.cache import measured

signal.signal(signal.SIGINT, signal.default_int_handler)
os.register_at_fork(before=lambda: os.kill(os.getpid(), signal.SIGINT))
try:
    measured(lambda: time.sleep(600))
except KeyboardInterrupt:
    print("interrupted")
try:
    os.waitpid(-1, 0)
except ChildProcessError:
    print("no child is left")
"""
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.stdout, done.returncode) == ("interrupted\nno child is left\n", 0), done.stderr


def _is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_folder_is_locked(tmp_path):
    with locked(tmp_path), pytest.raises(InputError, match="another run"), locked(tmp_path):
        pass


@pytest.mark.parametrize(("number", "goes_on"), [(errno.ENOLCK, True), (errno.ENOSYS, True), (errno.EIO, False)])
def test_a_file_system_without_locks_is_no_other_run(tmp_path, monkeypatch, caplog, number, goes_on):
    """Some network folders have none; one warning suffices."""
    monkeypatch.setattr("lscfg.io.folders._reported", set())

    def refuse(file, operation):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("fcntl.flock", refuse)
    if goes_on:
        for _ in range(2):
            with locked(tmp_path):
                made = StageCache(tmp_path, apart=False).make(Stage("none", nothing, {}, {}), 1)
                assert made.path.is_dir()
        cure = f"{tmp_path}: cannot be locked ({os.strerror(number)}); run one command at a time there"
        assert caplog.messages == [cure]
        return
    with pytest.raises(InputError, match=f"{tmp_path}: cannot be locked: Input/output error$"), locked(tmp_path):
        pass


@version(1)
def nothing(folder, settings, inputs, jobs):
    """Makes no file."""


def test_a_stage_waits_for_the_process_that_is_at_work_on_it(tmp_path, caplog):
    """Such as the worker of a run that was interrupted; the result is that of the worker."""
    reading, writing = os.pipe()

    @version(1)
    def make(folder, settings, inputs, jobs):
        (folder / "out").write_text(f"half of {jobs}")
        if jobs == 1:
            os.write(writing, b"x")
            time.sleep(0.5)
        (folder / "out").write_text(str(jobs))

    stage = Stage("write", make, {}, {})
    worker = os.fork()
    if worker == 0:
        try:
            make_apart((tmp_path, stage), 1)
        finally:
            os._exit(0)
    assert os.read(reading, 1) == b"x"
    with caplog.at_level("INFO", "lscfg"):
        made = StageCache(tmp_path).make(stage, 2)
    os.waitpid(worker, 0)
    assert made.reused and (made.path / "out").read_text() == "1"
    assert caplog.messages == ["stage write waits for another process that is at work on it"]
    assert not made.path.with_name(f"{made.path.name}.unfinished").exists()
    assert made.record == StageCache(tmp_path).make(stage, 2).record


def test_a_process_that_a_stage_has_started_does_not_keep_the_lock(tmp_path):
    """Without a separate process, the stage shares the lock with all children of the caller."""

    @version(1)
    def make(folder, settings, inputs, jobs):
        child = os.fork()
        if child == 0:
            time.sleep(600)
        (folder / "child").write_text(str(child))

    stage = Stage("write", make, {}, {})
    made = StageCache(tmp_path, apart=False).make(stage, 1)
    try:
        with open(tmp_path / "locks" / stage.folder, "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.kill(int((made.path / "child").read_text()), signal.SIGKILL)


def test_the_demo_writes_no_file_into_a_locked_folder(tmp_path, capsys):
    with locked(tmp_path):
        assert main(["demo", "-o", str(tmp_path)]) == 1
    assert "another run" in capsys.readouterr().err and [path.name for path in tmp_path.iterdir()] == [".lock"]


def test_the_lock_ends_with_the_process_that_took_it(tmp_path):
    """Whatever a stage has started may live on for a while when the run is killed."""

    def stage():
        if os.fork() == 0:
            time.sleep(600)
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(600)

    run = os.fork()
    if run == 0:
        with locked(tmp_path):
            os.setpgid(0, 0)
            measured(stage)
        os._exit(1)
    assert os.WIFSIGNALED(os.waitpid(run, 0)[1])
    try:
        with locked(tmp_path):
            pass
    finally:
        os.killpg(run, signal.SIGKILL)


def test_what_a_killed_stage_was_writing_is_not_kept(tmp_path):
    @version(1)
    def killed(folder, settings, inputs, jobs):
        with atomic_write(folder / "out") as file:
            file.write("half")
            file.flush()
            if jobs == 1:
                os._exit(9)
            file.write(" and whole")

    stage = Stage("copy", killed, {}, {})
    with pytest.raises(LscfgError, match="status 9"):
        StageCache(tmp_path / "cache").make(stage, 1)
    assert not StageCache(tmp_path / "cache").found(stage)
    assert len(list(tmp_path.glob("cache/copy-*/.lscfg.*.tmp"))) == 1
    (tmp_path / ".lscfg.0123456789abcdef.tmp").write_text("half a report")
    with locked(tmp_path):
        made = StageCache(tmp_path / "cache").make(stage, 2)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".lock", "cache"]
    assert sorted(path.name for path in made.path.iterdir()) == ["out", "stage.json"]
    assert (made.path / "out").read_text() == "half and whole" and StageCache(tmp_path / "cache").found(stage)


def test_stage_is_made_once_and_again_when_an_input_changes(tmp_path):
    (tmp_path / "in").write_text("a")
    made = []

    @version(1)
    def make(folder, settings, inputs, jobs):
        (folder / "out").write_text(inputs["in"].read_text())

    for content in ("a", "a", "b"):
        (tmp_path / "in").write_text(content)
        cache = StageCache(tmp_path / "cache")
        first = Stage("copy", make, {"x": 1}, {"in": tmp_path / "in"})
        second = Stage("copy", make, {}, {"in": first / "out"})
        for stage in (first, second):
            made.append(cache.make(stage, 1).reused)
            assert cache.path(stage / "out").read_text() == content
    assert made == [False, False, True, True, False, False]


@pytest.mark.parametrize("when", ["before", "during"])
@pytest.mark.parametrize("apart", [False, True])
def test_a_stage_is_not_made_of_a_file_that_changed_after_its_key(tmp_path, when, apart):
    """Nor does a later run continue that work."""
    text, cache = tmp_path / "in", StageCache(tmp_path / "cache", apart)

    @version(1)
    def make(folder, settings, inputs, jobs):
        if jobs == 2 and when == "during":
            text.write_text("new")
        with open(folder / "out", "a") as file:
            file.write(text.read_text())

    text.write_text("old")
    stage = Stage("copy", make, {}, {"in": text})
    assert stage.key
    if when == "before":
        text.write_text("new")
        with pytest.raises(InputError, match="in: changed during the run"):
            cache.order(stage)
    with pytest.raises(InputError, match="in: changed during the run"):
        cache.make(stage, 2)
    text.write_text("old")
    assert cache.make(stage, 1).path.joinpath("out").read_text() == "old"


def test_what_a_killed_worker_left_in_a_stage_is_no_output(tmp_path):
    """Another worker goes on in the folder as it is."""

    @version(1)
    def make(folder, settings, inputs, jobs):
        (folder / "out").write_text("x")

    stage = Stage("write", make, {}, {})
    unfinished = tmp_path / f"{stage.folder}.unfinished"
    unfinished.mkdir()
    (unfinished / ".lscfg.0123456789abcdef.tmp").write_text("half")
    made = StageCache(tmp_path).make(stage, 1)
    assert sorted(path.name for path in made.path.iterdir()) == ["out", RECORD] and [*made.record["outputs"]] == ["out"]


def test_a_stage_of_a_version_that_knew_no_cpu_time_is_kept(tmp_path):
    @version(1)
    def make(folder, settings, inputs, jobs):
        (folder / "out").write_text("x")

    stage = Stage("write", make, {}, {})
    made = StageCache(tmp_path).make(stage, 1)
    record = json.loads((made.path / RECORD).read_text())
    assert record["cpu_seconds"] >= 0
    del record["cpu_seconds"]
    (made.path / RECORD).write_text(json.dumps(record))
    again = StageCache(tmp_path).make(stage, 1)
    assert again.reused and again.record == {**record, "cpu_seconds": None}
    (made.path / RECORD).write_text(json.dumps({**record, "cpu_seconds": "long"}))
    assert not StageCache(tmp_path).make(stage, 1).reused


def test_the_key_is_of_work_version_settings_and_inputs(tmp_path):
    (tmp_path / "in").write_text("a")
    (tmp_path / "same").write_text("a")
    (tmp_path / "other").write_text("b")

    def work(number, name="work"):
        def nothing(folder, settings, inputs, jobs):
            """Makes no file."""

        nothing.__name__ = name
        return version(number)(nothing)

    def key(name="one", done=None, settings=None, path="in", label="in"):
        return Stage(name, done or work(1), settings or {"x": 1}, {label: tmp_path / path}).key

    assert key() == key(name="two") == key(path="same")
    changed = [key(done=work(2)), key(done=work(1, "play")), key(settings={"x": 2}), key(path="other"), key(label="on")]
    assert len({key(), *changed}) == 6
    one, other = (Stage("one", work(number), {}, {"in": tmp_path / "in"}) for number in (1, 2))
    follow = [Stage("two", work(1), {}, {"in": output}).key for output in (one / "a", one / "b", other / "a")]
    assert len({*follow}) == 3


def test_a_side_input_spares_work_and_is_in_no_key(tmp_path):
    """Its stage is made first."""

    @dataclass(frozen=True)
    class Files:
        side: dict = side_input()  # noqa: RUF009 (a field)

    @version(1)
    def make(folder, settings, inputs, jobs):
        (folder / "out").write_text(inputs.side["file"].read_text() if inputs.side else "made here")

    @version(1)
    def learn(folder, settings, inputs, jobs):
        (folder / "out").write_text("learned")

    learned = Stage("learn", learn, {}, {})
    plain, spared = (Stage("use", make, {}, Files(side)) for side in ({}, {"file": learned / "out"}))
    assert plain.key == spared.key and [*spared.sources] == [*spared.side_sources] == [learned]
    cache = StageCache(tmp_path / "cache")
    cache.make(learned, 1)
    cache.make(spared, 1)
    assert cache.path(spared / "out").read_text() == "learned"
    assert StageCache(tmp_path / "cache").make(plain, 1).reused
