"""Engines: order, look-ahead, failures, and results that do not depend on who works."""

import itertools
import multiprocessing
import os
import pickle
import re
import select
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import active_children

import pytest
from limits import time_limit
from work import (
    bad_input,
    blob,
    cannot_be_pickled,
    die,
    leave,
    loaded,
    made_once,
    reciprocal,
    square,
    squares_of_workers,
    two_parts,
    variable,
    who,
)

from lscfg.errors import InputError, KernelError, WorkerError
from lscfg.parallel.choose import in_processes, in_threads
from lscfg.parallel.engine import Serial
from lscfg.parallel.processes import Processes
from lscfg.parallel.threads import Threads
from lscfg.parallel.worker import drop, keep

ENGINES = {
    "serial": Serial,
    "one thread": lambda: Threads(1),
    "two threads": lambda: in_threads(2),
    "five threads": lambda: in_threads(5),
    "one process": lambda: Processes(1),
    "two processes": lambda: in_processes(2),
    "three processes": lambda: in_processes(3),
    "two programs": lambda: Processes(2, start="spawn"),
}
ALL = pytest.mark.parametrize("make", ENGINES.values(), ids=ENGINES)
PARALLEL = pytest.mark.parametrize("make", [*ENGINES.values()][1:], ids=[*ENGINES][1:])
APART = pytest.mark.parametrize("make", [*ENGINES.values()][4:], ids=[*ENGINES][4:])


@pytest.fixture(autouse=True)
def deadline():
    """A test that hangs fails, and no process survives one."""
    with time_limit():
        yield
    assert active_children() == []


@ALL
def test_results_are_in_order_and_few_blocks_are_held(make):
    with make() as engine:
        drawn, done, most = itertools.count(), 0, 0

        def blocks():
            nonlocal most
            for block in range(200):
                most = max(most, next(drawn) - done)
                yield block

        for expected, result in enumerate(engine.map(square, blocks())):
            assert result == expected * expected
            done += 1
        ahead = {Serial: 0, Threads: 4, Processes: 16}[type(engine)]
        assert done == 200 and most == (engine.workers * ahead - 1 if ahead else 0)
        assert list(engine.map(square, [])) == []
        assert list(engine.map(square, [3])) == [9]


class Slow:
    """Blocks that arrive when the test sends them."""

    END = 255  # a worker may hold the other end of the pipe open, too, so closing ours is no end of file

    def __init__(self):
        self._reading, self._writing = os.pipe()
        self.fileno = lambda: self._reading

    def put(self, *blocks):
        os.write(self._writing, bytes(blocks))

    def ready(self):
        return bool(select.select([self._reading], [], [], 0)[0])

    def __iter__(self):
        while (block := os.read(self._reading, 1)[0]) != self.END:
            yield block

    def close(self):
        os.close(self._reading)
        os.close(self._writing)


@ALL
def test_a_result_does_not_wait_for_a_block_that_is_to_come(make):
    slow = Slow()
    with make() as engine:
        results = engine.map(square, slow, slow)
        for n in range(3):
            slow.put(n)
            assert next(results) == n * n
        slow.put(*range(200))
        assert list(itertools.islice(results, 200)) == [n * n for n in range(200)]
        slow.put(7, slow.END)
        assert list(results) == [49]
    slow.close()


@ALL
def test_bytes_are_the_same(make):
    """Blocks and results do not fit into a pipe."""
    with make() as engine:
        assert list(engine.map(len, (blob(k) for k in range(20)))) == [300_000] * 20
        assert pickle.dumps(list(engine.map(blob, range(40)))) == pickle.dumps(list(map(blob, range(40))))


@ALL
def test_the_first_failure_is_raised(make):
    with make() as engine:
        found = []
        with pytest.raises(ZeroDivisionError):
            found.extend(engine.map(reciprocal, range(100)))
        with pytest.raises(ZeroDivisionError):
            for value in engine.map(reciprocal, range(100)):
                found.append(value)
        assert found[-5:] == [0, 0, 0, 0, 1]
        assert list(engine.map(square, range(5))) == [0, 1, 4, 9, 16]  # it goes on


@ALL
def test_a_block_that_cannot_be_drawn_fails_in_its_turn(make):
    def blocks(n):
        yield from range(n)
        raise LookupError("no more")

    with make() as engine:
        found = []
        with pytest.raises(LookupError, match="no more"):
            for value in engine.map(square, blocks(3)):
                found.append(value)
        assert found == [0, 1, 4]
        with pytest.raises(ZeroDivisionError):
            list(engine.map(reciprocal, blocks(6)))


@ALL
def test_errors_keep_their_class_and_place(make):
    with make() as engine:
        with pytest.raises(InputError, match=r"^file:4: number 4$") as error:
            list(engine.map(bad_input, [4]))
        assert (error.value.path, error.value.line) == ("file", 4)


@APART
def test_what_cannot_be_pickled_is_told(make):
    with make() as engine:
        with pytest.raises(KernelError, match=r"^TwoPartError: 1 and more") as error:
            list(engine.map(two_parts, [1]))
        assert "two_parts" in error.value.__notes__[0]  # where it was raised
        with pytest.raises(TypeError, match="cannot pickle"):
            list(engine.map(cannot_be_pickled, [1]))
        with pytest.raises(TypeError, match="must be a function of a module"):
            engine.map(lambda number: number, [1])
        with pytest.raises(TypeError, match="cannot pickle"):
            list(engine.map(square, [1, threading.Lock()]))


@PARALLEL
def test_what_was_not_begun_is_left(make, tmp_path):
    with make() as engine:
        paths = [tmp_path / str(k) for k in range(400)]
        with pytest.raises(FileNotFoundError):
            list(engine.map(os.remove, paths))
        drawn = []
        results = engine.map(square, (drawn.append(k) or k for k in range(400)))
        assert next(results) == 0
        results.close()
        assert len(drawn) <= engine.workers * 16


@APART
def test_a_worker_that_dies_names_its_block(make):
    with make() as engine:
        found = []
        with pytest.raises(WorkerError, match=r"^a worker process died \(signal SIGKILL\) at block 8$") as error:
            for value in engine.map(die, range(20)):
                found.append(value)
        assert error.value.block == 7 and found == [*range(7)]
        with pytest.raises(WorkerError, match=r"\(status 3\) at block 1$"):
            list(engine.map(leave, range(3)))
        assert list(engine.map(die, range(3))) == [0, 1, 2]  # new workers
        assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)


@APART
def test_blocks_go_to_the_same_workers_in_every_call(make):
    with make() as engine:
        first = list(engine.map(who, range(50)))
        assert len(set(first)) == engine.workers and os.getpid() not in first
        assert list(engine.map(who, range(50))) == first
        engine.close()
        assert not set(engine.map(who, range(50))) & set(first)


@ALL
def test_what_a_worker_keeps(make):
    """An object is made again only if the key changes."""
    with make() as engine:
        before = {}
        for number, (held, made) in enumerate(engine.map(made_once, [*range(0, 40, 2)] * 2)):
            assert held % 2 == 0
            if not isinstance(engine, Threads):
                worker = number % engine.workers
                assert made == (worker not in before) and before.setdefault(worker, held) == held
        assert [held % 2 for held, _ in engine.map(made_once, range(20))] == [0, 1] * 10


def test_forked_workers_begin_with_what_is_kept():
    for start, expected in (("fork", [(-2, False)]), ("spawn", [(0, True)])):
        with Processes(1, start=start) as engine:
            assert engine.inherits == (start == "fork")
            assert keep("list", 0, lambda: [-2]) == [-2]
            assert list(engine.map(made_once, [0])) == expected
            assert not engine.inherits
            drop("list", 1)
            assert keep("list", 0, lambda: [-4]) == [-2]
            drop("list", 0)
            assert keep("list", 0, lambda: [-4]) == [-4]
            drop("list", 0)


@APART
def test_one_call_at_a_time(make):
    with make() as engine:
        results = engine.map(square, range(100))
        assert next(results) == 0
        with pytest.raises(RuntimeError, match="under way"):
            list(engine.map(square, [1]))
        results.close()
        assert list(engine.map(square, [1])) == [1]


def test_two_engines_close_in_any_order():
    """Processes of the second engine hold the first one's connections open."""
    for first in (0, 1):
        engines = [Processes(2), Processes(2)]
        assert [list(engine.map(square, [1, 2, 3])) for engine in engines] == [[1, 4, 9]] * 2
        engines[first].close()
        assert list(engines[1 - first].map(square, [4])) == [16]
        engines[1 - first].close()


def test_environment_of_workers(monkeypatch):
    monkeypatch.setenv("HERE", "one")
    with in_processes(1, {"THERE": "two"}) as engine:
        assert list(engine.map(variable, ["HERE", "THERE"])) == ["one", "two"]
        # and early: whatever reads it is not there yet
        assert list(engine.map(loaded, ["numpy"])) == [False]
    assert "THERE" not in os.environ


UNGUARDED = """
import sys
sys.path[:0] = sys.argv[1:]
print("begin")
from work import square, variable
from lscfg.parallel.choose import in_processes
from lscfg.parallel.processes import Processes

before = __file__, __spec__
for engine in in_processes(2, {"THERE": "two"}), Processes(2, start="spawn"):
    with engine:
        print(*engine.map(square, range(4)))
print(before == (__file__, __spec__))
"""


@pytest.mark.parametrize("way", [["program.py"], ["-m", "program"]])
def test_workers_do_not_import_a_script_again(tmp_path, way):
    (tmp_path / "program.py").write_text(UNGUARDED)
    command = [sys.executable, *way, *sys.path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False, cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("begin\n0 1 4 9\n0 1 4 9\nTrue\n", "")


def test_numbers_of_workers():
    for make, message in ((in_threads, "threads must be at least 1, got 0"), (in_processes, "jobs must be 1 or more")):
        assert isinstance(make(1), Serial) and make(2).workers == 2
        with pytest.raises(InputError, match=message):
            make(0)


def test_threads_end_with_the_engine():
    before = threading.active_count()
    engine = in_threads(3)
    assert list(engine.map(square, range(10)))[9] == 81 and threading.active_count() == before + 3
    engine.close()
    assert threading.active_count() == before


# ---- the end of the parent ----

PROGRAM = """
import os, signal, sys, time
sys.path[:0] = sys.argv[3:]
from multiprocessing import active_children
from work import rest, who
from lscfg.parallel.processes import Processes

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    engine = Processes(2, start=sys.argv[1])
    pids = [*engine.map(who, range(2))]
    print(*pids, flush=True)
    if sys.argv[2] == "idle":
        time.sleep(600)
    try:
        list(engine.map(rest, [600, 600]))
    except KeyboardInterrupt:
        print("interrupted", len(active_children()), flush=True)
"""


STARTING = """
import signal, sys
sys.path[:0] = sys.argv[1:]
from multiprocessing import active_children
from work import rest
from lscfg.parallel.processes import Processes

if __name__ == "__main__":
    engine = Processes(2, start="spawn")
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        print("begin", flush=True)
        list(engine.map(rest, [600, 600]))
    except KeyboardInterrupt:
        print("interrupted", len(active_children()), flush=True)
"""


def gone(pid):
    """True if the process does not exist or is a zombie."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] in "ZX"
    except FileNotFoundError:
        return True


@pytest.mark.parametrize("seconds", [0.0, 0.05, 0.1, 0.2, 0.4])
def test_an_interruption_reaches_no_worker_that_starts(tmp_path, seconds):
    """As on a terminal, where every process gets it."""
    (tmp_path / "program.py").write_text(STARTING)
    command = [sys.executable, str(tmp_path / "program.py"), *sys.path]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, start_new_session=True, **pipes) as program:
        assert program.stdout.readline() == "begin\n"
        time.sleep(seconds)
        os.killpg(program.pid, signal.SIGINT)
        assert program.communicate(timeout=30) == ("interrupted 0\n", "")


@pytest.mark.parametrize("start", ["fork", "spawn"])
@pytest.mark.parametrize("state", ["idle", "busy"])
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_their_parent(tmp_path, start, state, how):
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, str(tmp_path / "program.py"), start, state, *sys.path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        pids = [int(pid) for pid in program.stdout.readline().split()]
        assert len(set(pids)) == 2 and not any(map(gone, pids))
        time.sleep(0.2)
        program.send_signal(how)
        output, errors = program.communicate(timeout=30)
    if how == signal.SIGINT and state == "busy":
        assert (output, program.returncode) == ("interrupted 0\n", 0), errors
    else:
        assert program.returncode == -how, errors
    end = time.monotonic() + 10
    while not all(map(gone, pids)) and time.monotonic() < end:
        time.sleep(0.01)
    assert all(map(gone, pids))


FORKED = """
import os, signal, sys, threading, time
sys.path[:0] = sys.argv[1:]
from multiprocessing import active_children
from work import rest
from lscfg.parallel.processes import Processes

if __name__ == "__main__":
    engine = Processes(2, start="fork")
    signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Thread(target=time.sleep, args=(1,)).start()  # takes the signal in the main thread's place
    os.register_at_fork(before=lambda: (os.kill(os.getpid(), signal.SIGINT), time.sleep(0.05)))
    try:
        list(engine.map(rest, [600, 600]))
    except KeyboardInterrupt:
        print("interrupted", len(active_children()), flush=True)
"""


def test_an_interruption_is_not_lost_in_a_fork(tmp_path):
    """Python ignores what its hooks around a fork raise."""
    (tmp_path / "program.py").write_text(FORKED)
    command = [sys.executable, str(tmp_path / "program.py"), *sys.path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert (done.stdout, done.returncode) == ("interrupted 0\n", 0), done.stderr


def test_workers_start_under_a_foreign_start_method(monkeypatch):
    """Workers of joblib have one, which a new process does not know."""
    foreign = type("Foreign", (multiprocessing.context.SpawnContext,), {"_name": "foreign"})()
    monkeypatch.setitem(multiprocessing.context._concrete_contexts, "foreign", foreign)
    before = multiprocessing.get_start_method(allow_none=True)
    multiprocessing.set_start_method("foreign", force=True)
    try:
        with Processes(1, start="spawn") as engine:
            assert [*engine.map(abs, [-1, -2])] == [1, 2]
        assert multiprocessing.get_start_method() == "foreign"
    finally:
        multiprocessing.set_start_method(before, force=True)


def test_a_daemonic_process_is_told_the_cure():
    """Workers of ``multiprocessing.Pool`` are daemonic; those of concurrent.futures are not."""
    cure = "a daemonic process, such as a worker of multiprocessing.Pool, cannot start other processes; use concurrent."
    with multiprocessing.get_context("fork").Pool(1) as pool, pytest.raises(InputError, match=re.escape(cure)):
        pool.apply(squares_of_workers, (3,))
    with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as executor:
        assert executor.submit(squares_of_workers, 3).result(60) == [0, 1, 4]
