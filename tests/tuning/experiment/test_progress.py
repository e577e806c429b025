"""Messages of a run about its stages: their number, and estimates of time from known figures alone."""

import json
from types import SimpleNamespace

import pytest

from lscfg.tuning.experiment.progress import Progress, duration, durations, rough_duration
from lscfg.tuning.experiment.stage import Stage


def work(folder, settings, inputs, jobs):
    """Of no stage."""


work.version, work.shares, work.growth = 1, False, None


def plan(*parts):
    """Stages of these names and systems."""
    stages = [Stage(name, work, {"number": number}, {}) for number, (name, _) in enumerate(parts)]
    users = {stage.key: list(systems) for stage, (_, systems) in zip(stages, parts, strict=True)}
    return SimpleNamespace(stages=lambda: stages, users=lambda stage: users[stage.key])


PARTS = [("lm", ""), ("tune", ["MIN"]), ("score", ["MIN"]), ("tune", ["LATENT"]), ("score", ["LATENT"]), ("charts", "")]


def test_titles():
    made = plan(*PARTS)
    progress = Progress(made)
    assert [progress.title(stage) for stage in made.stages()][:2] == ["stage 1/6 lm", "stage 2/6 tune (MIN)"]


def test_a_first_run_guesses_by_what_is_alike_and_names_what_it_does_not_know():
    made = plan(*PARTS)
    progress, told = Progress(made), []
    for stage, seconds in zip(made.stages(), (5, 600, 30, 700, 30, 9), strict=True):
        progress.finish(stage, seconds)
        told.append(progress.left())
    assert told == [
        "",
        "about 10 min left, without score, charts",
        "about 10 min left, without charts",
        "about 30 s left, without charts",
        "",
        "",
    ]


def test_an_earlier_run_knows_each_system():
    made = plan(*PARTS)
    earlier = [("tune", ("LATENT",), 1800.0), ("tune", ("MIN",), 60.0), ("charts", (), 60.0), ("score", ("X",), 60.0)]
    progress = Progress(made, earlier)
    progress.finish(made.stages()[0], 5)
    assert progress.left() == "about 34 min left"  # 60 + 60 + 1800 + 60 + 60 seconds
    progress.finish(made.stages()[1], 600)
    assert progress.left() == "about 33 min left"


@pytest.mark.parametrize("content", [None, b"\xff", b"[]", b'{"stages": 3}', b'{"stages": [{"name": "a"}]}', b"{"])
def test_a_manifest_that_is_none_is_no_help(tmp_path, content):
    if content is not None:
        (tmp_path / "manifest.json").write_bytes(content)
    assert durations(tmp_path / "manifest.json") == []


def test_durations_of_a_manifest(tmp_path):
    stages = [{"name": "tune", "systems": ["A", "B"], "seconds": 3, "key": "x"}]
    (tmp_path / "manifest.json").write_text(json.dumps({"stages": stages}))
    assert durations(tmp_path / "manifest.json") == [("tune", ("A", "B"), 3.0)]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.04, "0.0 s"),
        (8.34, "8.3 s"),
        (9.96, "10 s"),
        (59.6, "1 min"),
        (200, "3 min 20 s"),
        (3599.9, "1 h"),
        (4330, "1 h 12 min"),
    ],
)
def test_durations_as_text(seconds, text):
    assert duration(seconds) == text


def test_guesses_are_rounded():
    assert [rough_duration(seconds) for seconds in (1, 34, 119, 151, 7300)] == [
        "10 s",
        "30 s",
        "2 min",
        "3 min",
        "2 h 2 min",
    ]


def test_stages_beside_each_other_share_the_time(monkeypatch):
    monkeypatch.setattr(work, "growth", 20)
    made = plan(("tune", ["A"]), ("tune", ["B"]), ("tune", ["C"]))
    progress = Progress(made)
    progress.finish(made.stages()[0], 600)
    assert progress.left() == "about 20 min left"
    progress.at_once = 2
    assert progress.left() == "about 10 min left"
