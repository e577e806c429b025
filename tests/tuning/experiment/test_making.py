"""In which order stages are made beside each other, with how many threads, and which are not."""

from threading import Barrier
from types import SimpleNamespace

import pytest

from lscfg.tuning.experiment import making
from lscfg.tuning.experiment.progress import Progress
from lscfg.tuning.experiment.stage import Output, Stage

TOGETHER = 10
"""Seconds in which two stages have to be under way."""


def work(folder, settings, inputs, jobs):
    """Of no stage."""


work.version, work.shares, work.spare, work.growth = 1, False, (), 20


@pytest.fixture
def stages(tmp_path):
    """Two tunings, of which the second begins with the weights of the first, and what belongs to them, by name."""
    (tmp_path / "text").write_text("text\n")
    found = {}
    for name, needs in {
        "tune 1": [],
        "estimate 2": [],
        "decode 1": ["tune 1"],
        "tune 2": ["tune 1", "estimate 2"],
        "decode 2": ["tune 2"],
    }.items():
        inputs = {"text": tmp_path / "text"} | {need: Output(found[need], "file") for need in needs}
        found[name] = Stage(name, work, {"name": name}, inputs)
    return found


@pytest.fixture
def made(stages, tmp_path, monkeypatch):
    """Stages that ``make(jobs)`` made: name and threads; and where: alone or next to others."""
    here = []

    class Children:
        def run(self, job, threads):
            here.append((job.argument.name, threads, "beside"))
            if job.argument.name in self.pair:
                self.barrier.wait(TOGETHER)
            return {"seconds": 1.0}

        def close(self):
            raise AssertionError("no stage failed")

    Children.pair, Children.barrier = ("tune 1", "estimate 2"), Barrier(2)
    monkeypatch.setattr(making, "Children", Children)
    monkeypatch.setattr(making, "_make", lambda run, stage, jobs, progress: here.append((stage.name, jobs, "alone")))
    monkeypatch.setattr(making, "_naming_systems", lambda run, stage: memoryview(b""))
    cache = SimpleNamespace(
        order=lambda stage: stage,
        adopt=lambda stage, record: SimpleNamespace(record=record),
        resolved=lambda file: tmp_path / "none" if isinstance(file, Output) else file,
    )
    plan = SimpleNamespace(stages=lambda: list(stages.values()), users=lambda stage: [])

    def make(jobs):
        making._make_at_once(SimpleNamespace(cache=cache, plan=plan), list(stages.values()), jobs, Progress(plan))
        return here

    return make


def test_what_is_alone_has_all_threads(made):
    found = made(2)
    assert set(found[:2]) == {("tune 1", 1, "beside"), ("estimate 2", 1, "beside")}
    assert found[2] == ("tune 2", 2, "beside")  # the translation of system 1 is short and waits for no thread
    assert sorted(name for name, *_ in found[3:]) == ["decode 1", "decode 2"]


def test_one_thread_makes_them_in_order(made, stages):
    assert made(1) == [(name, 1, "alone") for name in stages]


def test_a_stage_of_much_memory_is_made_alone(made, monkeypatch, stages):
    monkeypatch.setattr(stages["estimate 2"].work, "growth", making.STAGE_MEMORY)
    found = made(2)
    assert ("estimate 2", 2, "alone") in found and ("tune 1", 2, "alone") in found
    assert next(name for name, _, how in found if how == "beside") == "tune 2"
