"""COMET beside BLEU: a stand-in for the package gives each sentence a score; means and tests are checked by hand."""

import itertools
import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from lscfg.cli import main
from lscfg.errors import InputError
from lscfg.tuning.metrics.comet import CometSettings
from lscfg.tuning.metrics.metric import METRICS
from lscfg.tuning.significance import approximate_randomisation, bootstrap, confidence_interval, paired_bootstrap

COMET = METRICS["comet"]


class Checkpoint:
    """Scores a translation by its shared words with source and reference."""

    def predict(self, data, batch_size, gpus, progress_bar):
        assert gpus == 0 and not progress_bar and batch_size > 0
        scores = [len({*row["mt"].split()} & {*row["ref"].split(), *row["src"].split()}) / 10 for row in data]
        return SimpleNamespace(scores=scores)


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "comet", SimpleNamespace(load_from_checkpoint=lambda path: Checkpoint()))
    lines = {"source": "x\ny\nz\n", "one": "x a\nb\nc\n", "two": "a\nb\nq\n", "ref": "a\nb\nc\n", "other": "q\nq\nq\n"}
    for name, text in lines.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "model.ckpt").write_bytes(b"")
    return tmp_path


def test_scores_are_of_sentences_and_means_of_references(files):
    read = {name: (files / name).read_text().splitlines() for name in ("source", "one", "two", "ref", "other")}
    settings = CometSettings(model=files / "model.ckpt")
    references = [read["ref"], read["other"]]
    one, two = (COMET.statistics(read[name], references, read["source"], settings) for name in ("one", "two"))
    assert one.tolist() == pytest.approx(np.array([[15, 1], [5, 1], [5, 1]]))
    assert two.tolist() == pytest.approx(np.array([[5, 1], [5, 1], [5, 1]]))
    assert float(COMET.score(one.sum(axis=0))) == pytest.approx(25 / 3)


def test_tests_are_those_of_all_samples():
    """Means of sentence scores under the shared tests, against full enumeration."""
    one, two = np.array([1.0, 4.0, 2.0, 6.5]), np.array([0.0, 5.0, 0.0, 2.5])
    stats = {name: np.stack([values, np.ones(4)], axis=1)[None] for name, values in (("one", one), ("two", two))}
    difference = one - two
    signs = [abs(np.dot(s, difference)) for s in itertools.product((1, -1), repeat=4)]
    found = approximate_randomisation(COMET, stats["two"], stats["one"], 20000, 3)
    assert found == pytest.approx(np.mean([s >= 5.999 for s in signs]), abs=0.01)
    sampled = bootstrap(COMET, stats, 20000, 3)
    drawn = np.abs([np.mean(s) for s in itertools.product(difference, repeat=4)])
    expected = np.mean(drawn - drawn.mean() > difference.mean())
    assert paired_bootstrap(difference.mean(), sampled["one"], sampled["two"]) == pytest.approx(expected, abs=0.01)
    means = [np.mean(s) for s in itertools.product(one, repeat=4)]
    low, high = np.percentile(means, [2.5, 97.5])
    assert confidence_interval(sampled["one"])[1] == pytest.approx((high - low) / 2, abs=0.15)


def run(files, *words):
    names = [f"{name}={files / name}" for name in ("one", "two")]
    return main(
        ["evaluate", "scores", *names, "--reference", str(files / "ref"), "--samples", "20", "--trials", "20", *words]
    )


def test_the_command_shows_comet(files, capsys):
    words = ("--source", str(files / "source"), "--comet", str(files / "model.ckpt"))
    assert run(files, *words, "--baseline", "two", "-o", str(files / "scores.json")) == 0
    out = capsys.readouterr().out
    table = out[out.index("system  COMET") :]
    assert "one     13.33" in table and "two      6.67" in table and "COMET: model.ckpt, times 100" in table
    found = json.loads((files / "scores.json").read_text())
    assert found["systems"][0]["metrics"]["COMET"]["score"] == pytest.approx(40 / 3)


def test_what_is_missing_is_said(files, capsys, monkeypatch):
    assert run(files, "--comet", str(files / "model.ckpt")) == 1
    assert "name it with --source" in capsys.readouterr().err
    assert run(files, "--metrics", "comet", "--source", str(files / "source")) == 1
    assert "no checkpoint of COMET" in capsys.readouterr().err
    with pytest.raises(InputError, match=r"none\.ckpt: no checkpoint of COMET"):
        COMET.statistics([], [], [], CometSettings(model=files / "none.ckpt"))
    monkeypatch.setitem(sys.modules, "comet", None)
    with pytest.raises(InputError, match="pip install unbabel-comet"):
        COMET.statistics([], [], [], CometSettings(model=files / "model.ckpt"))
    with pytest.raises(InputError, match="cannot compare two translations alone"):
        COMET.pairwise(["a", "b"])


def test_several_runs_of_a_system(files, capsys):
    words = ["--comet", str(files / "model.ckpt"), "--source", str(files / "source")]
    twice = [f"one={files / name}" for name in ("one", "two")]
    assert (
        main(
            ["evaluate", "scores", *twice, "--reference", str(files / "ref"), *words, "--samples", "9", "--trials", "9"]
        )
        == 0
    )
    out = capsys.readouterr().out
    assert "one        2  10.00" in out[out.index("system  runs  COMET") :]
