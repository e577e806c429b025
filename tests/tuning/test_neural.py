"""COMET beside BLEU: a stand-in for the package gives each sentence a score; means and tests are checked by hand."""

import itertools
import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from lscfg.cli import main
from lscfg.errors import InputError
from lscfg.tuning.neural import comet_scores, compare_means


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
    systems = {name: read[name] for name in ("one", "two")}
    found = comet_scores(files / "model.ckpt", read["source"], systems, [read["ref"], read["other"]])
    assert found["one"].tolist() == pytest.approx([15, 5, 5]) and found["two"].tolist() == pytest.approx([5, 5, 5])


def test_tests_are_those_of_all_samples():
    one, two = np.array([1.0, 4.0, 2.0, 6.0]), np.array([0.0, 5.0, 0.0, 2.0])
    found = compare_means({"two": two, "one": one}, "two", 20000, 20000, 3)
    assert found["two"].p_bootstrap is None and found["one"].score == 3.25
    difference = one - two
    signs = [abs(np.dot(s, difference)) for s in itertools.product((1, -1), repeat=4)]
    assert found["one"].p_randomised == pytest.approx(np.mean([s >= 5.999 for s in signs]), abs=0.01)
    drawn = [np.mean(s) - 1.5 for s in itertools.product(difference, repeat=4)]
    assert found["one"].p_bootstrap == pytest.approx(np.mean(np.abs(drawn) >= 1.4999), abs=0.01)
    sampled = [np.mean(s) for s in itertools.product(one, repeat=4)]
    low, high = np.percentile(sampled, [2.5, 97.5])
    assert found["one"].ci == pytest.approx((high - low) / 2, abs=0.15)
    assert compare_means({"two": two, "one": one}, "two", 50, 50, 3) == compare_means(
        {"two": two, "one": one}, "two", 50, 50, 3
    )
    same = compare_means({"a": one, "b": one}, "a", 50, 50, 1)["b"]
    assert same.p_bootstrap == same.p_randomised == 1.0


def run(files, *words):
    names = [f"{name}={files / name}" for name in ("one", "two")]
    return main(["evaluate", *names, "--reference", str(files / "ref"), "--samples", "20", "--trials", "20", *words])


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
    with pytest.raises(InputError, match="no checkpoint of COMET"):
        comet_scores(files / "none.ckpt", [], {}, [])
    monkeypatch.setitem(sys.modules, "comet", None)
    with pytest.raises(InputError, match="pip install unbabel-comet"):
        comet_scores(files / "model.ckpt", [], {}, [])
    twice = [f"one={files / name}" for name in ("one", "two")]
    words = ["--comet", str(files / "model.ckpt"), "--source", str(files / "source")]
    assert main(["evaluate", *twice, "--reference", str(files / "ref"), *words]) == 1
    assert "leave --metrics and --comet out" in capsys.readouterr().err
