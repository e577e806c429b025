"""A new decoder host, metric and report section are one file and one row each: an experiment runs with them."""

import json
import os
import subprocess
import sys

import pytest
from little_experiment import CORPUS

from lscfg.cli import main
from lscfg.demo import generate
from lscfg.io.write import write_lines

HOST = '''
"""A decoder that copies the source, with a feature that counts its words."""

from contextlib import contextmanager

from lscfg.decode.host import DecoderHost
from lscfg.formats.kbest import Hypothesis


class Copy(DecoderHost):
    HELP = "a toy"

    @contextmanager
    def open(self, ini, jobs, once=False, library=None):
        yield self

    def decode(self, sentences, weights, k, unique=True):
        return [[Hypothesis(line, {"Words": float(len(line.split()))}, 0.0)] for line in sentences]
'''

METRIC = '''
"""Share of the words of the reference that the output lacks."""

import numpy as np

from lscfg.settings import Declared
from lscfg.tuning.metrics.metric import Metric


class Missing(Metric[Declared]):
    HELP = "a toy"
    TITLE = "Missing"
    ERROR = True
    Settings = Declared

    def statistics(self, output, references, source, settings):
        pairs = [({*one.split()}, {*other.split()}) for one, other in zip(output, references[0], strict=True)]
        return np.array([[len(other - one), len(other)] for one, other in pairs])

    def score(self, sums):
        return 100 * sums[..., 0] / np.maximum(sums[..., 1], 1)
'''

SECTION = '''
"""The number of systems, with a bar."""

from lscfg.study.svg import picture
from lscfg.study.markup import element
from lscfg.tuning.report.section import ReportSection


class Counted(ReportSection):
    TITLE, POSITION = "Counted", 35
    TEMPLATE = "<p>{{ results.systems | length }} of {{ name }}</p>{{ plot }}"

    def values(self, report):
        return {"name": "<them>", "plot": picture(10, 5, "bar", [element("rect", width=10, height=5)])}
'''

EXPERIMENT = (
    CORPUS
    + """[language_model]
estimator = "lscfg"
order = 2
[tuning]
iterations = 1
kbest = 5
[decoder]
name = "copy"
[systems.MIN]
"""
)


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A package with three rows and three files, as a user would install it."""
    place = tmp_path / "site"
    (place / "toys-1.dist-info").mkdir(parents=True)
    (place / "toys-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: toys\nVersion: 1\n")
    rows = {"decoder_hosts": "copy = toy_host:Copy", "metrics": "missing = toy_metric:Missing"}
    rows["report_sections"] = "counted = toy_section:Counted"
    text = "".join(f"[lscfg.{group}]\n{row}\n" for group, row in rows.items())
    (place / "toys-1.dist-info" / "entry_points.txt").write_text(text)
    for name, code in (("host", HOST), ("metric", METRIC), ("section", SECTION)):
        (place / f"toy_{name}.py").write_text(code)
    monkeypatch.syspath_prepend(place)
    return place


def lscfg(place, *words):
    """A process of its own, since choices of settings are known from its start."""
    environment = {**os.environ, "PYTHONPATH": str(place)}
    command = [sys.executable, "-P", "-m", "lscfg", *map(str, words)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_an_experiment_runs_with_them(installed, tmp_path):
    corpus = generate(1)
    for name, pairs in (("train", corpus.train[:300]), ("dev", corpus.dev[:10]), ("test", corpus.test[:10])):
        for side, language in enumerate(("ja", "en")):
            write_lines(tmp_path / f"{name}.{language}", [pair[side] for pair in pairs])
    (tmp_path / "toys.toml").write_text(EXPERIMENT)
    run = lscfg(installed, "run", tmp_path / "toys.toml", "-o", tmp_path / "out", "--jobs", 1)
    assert run.returncode == 0, run.stderr
    table = run.stdout.splitlines()
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    (row,) = results["systems"]
    assert results["decoder"] == "copy"
    source, reference = ([pair[side] for pair in corpus.test[:10]] for side in (0, 1))
    assert (tmp_path / "out" / "systems" / "MIN" / "test.output").read_text().splitlines() == source
    words = [({*one.split()}, {*other.split()}) for one, other in zip(source, reference, strict=True)]
    missing = 100 * sum(len(other - one) for one, other in words) / sum(len(other) for _, other in words)
    assert row["test_Missing"] == row["runs"][0]["Missing"] == pytest.approx(missing)
    assert "Missing" in table[0].split() and f"{missing:.2f}" in table[1].split()
    page = (tmp_path / "out" / "report.html").read_text()
    section = page[page.index('<section id="counted"') : page.index('<section id="charts"')]
    assert "Counted" in section and "1 of &lt;them&gt;" in section and "<svg" in section
    assert page.index('<section id="grammars"') < page.index('<section id="counted"')
    assert '<th scope="col">Missing</th>' in page and f">{missing:.2f}</td>" in page
    (tmp_path / "e.toml").write_text(EXPERIMENT.replace('"copy"', '"coppy"'))
    run = lscfg(installed, "run", tmp_path / "e.toml", "-o", tmp_path / "x")
    assert run.returncode == 1 and "must be one of cdec, copy, embedded, moses, not 'coppy'" in run.stderr


def test_the_command_line_knows_them(installed, tmp_path, capsys):
    for name, lines in (("out", ["a b"]), ("other", ["a c"]), ("ref", ["a c"])):
        write_lines(tmp_path / name, lines)
    names = [f"{name}={tmp_path / name}" for name in ("out", "other")]
    words = ["--reference", str(tmp_path / "ref"), "--metrics", "missing", "--samples", "9", "--trials", "9"]
    assert main(["evaluate", "scores", *names, *words, "--baseline", "out"]) == 0
    found = capsys.readouterr().out
    rows = [line.split() for line in found[found.index("system  Missing") :].splitlines()]
    assert rows[1][:2] == ["out", "50.00"] and rows[2][:2] == ["other", "0.00"] and "Missing: Missing" in found
