"""Threads that share a decoder or a model wait for each other."""

from __future__ import annotations

import queue
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import lscfg
from lscfg.turns import in_turn


@pytest.fixture
def decoder(tmp_path):
    (tmp_path / "grammar").write_text("".join(f"[X] ||| f{k} ||| e{k} ||| F=1\n" for k in range(50)))
    (tmp_path / "cdec.ini").write_text("formalism=scfg\ngrammar=grammar\nadd_pass_through_rules=true\n")
    return lscfg.Decoder(tmp_path / "cdec.ini", {"F": 1.0, "Glue": 0.1, "PassThrough": -1.0})


def test_threads_add_new_words_one_after_the_other(decoder):
    """Half of the words are new, and make the vocabulary grow and move."""
    lines = [" ".join([f"f{k % 50}", f"new{k}", *(f"long{k}x{n}" * 9 for n in range(20))]) for k in range(400)]
    wanted = [line.replace("f" + line.split()[0][1:], "e" + line.split()[0][1:], 1) for line in lines]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lambda line: decoder.translate([line])[0], lines)) == wanted


def test_a_method_in_turn_waits_for_the_others_of_its_object():
    class Object:
        def __init__(self) -> None:
            self._turn = threading.RLock()
            self.inside = self.most = 0

        @in_turn
        def outer(self) -> int:
            return self.inner()  # the thread whose turn it is does not wait for itself

        @in_turn
        def inner(self) -> int:
            self.inside += 1
            self.most = max(self.most, self.inside)
            time.sleep(0.002)
            self.inside -= 1
            return self.most

    one = Object()
    with ThreadPoolExecutor(4) as threads:
        assert set(threads.map(lambda number: one.outer() if number % 2 else one.inner(), range(40))) == {1}


def test_all_methods_that_use_the_kernel_take_turns(decoder):
    """Another thread holds the object; each method waits, and runs when it is free."""
    for work in (
        lambda: decoder.translate(["f1"]),
        lambda: decoder.explain(["f1"]),
        lambda: decoder.why_not("f1", "e1"),
        decoder.close,
    ):
        done = threading.Event()
        with decoder._turn:
            thread = threading.Thread(target=lambda work=work, done=done: (work(), done.set()))
            thread.start()
            assert not done.wait(0.05)
        thread.join()
        assert done.is_set()


def test_lines_may_come_from_another_thread_that_translates(decoder):
    """A lazy iterable is read before the turn, so its source may use the decoder."""
    found: queue.Queue[str | None] = queue.Queue()

    def fill() -> None:
        for k in range(3):
            found.put(decoder.translate([f"f{k}"])[0])
        found.put(None)

    with ThreadPoolExecutor(2) as threads:
        lazy = threads.submit(lambda: decoder.translate(iter(found.get, None)))
        threads.submit(fill).result(timeout=20)
        assert lazy.result(timeout=20) == ["e0", "e1", "e2"]
