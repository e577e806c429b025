"""A new estimator and a new rule extractor are one file and one row each: an experiment runs with them."""

import json
import sys
from pathlib import Path

import pytest
from little_experiment import CORPUS

from lscfg.cli import main
from lscfg.demo import generate
from lscfg.io.write import write_lines
from lscfg.tuning.experiment.config import read_experiment
from lscfg.tuning.experiment.plan import make_plan
from lscfg.tuning.experiment.run import run_experiment

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "docs"))
from made import setting_rows

ESTIMATOR = '''
"""Relative frequencies with states that differ by a factor only."""

from dataclasses import dataclass

import numpy as np

from lscfg.estimate.estimator import Estimator
from lscfg.estimate.mle import MLESettings, RelativeFrequencies
from lscfg.model.parameters import Parameters
from lscfg.settings import Declared, setting


@dataclass(frozen=True)
class ToySettings(Declared):
    m: int = setting(2, "hidden states", least=1, most=4)
    tilt: float = setting(0.5, "difference of the states", least=0, below=1)


class Toy(Estimator[ToySettings]):
    HELP = "a toy"
    VERSION = 3
    Settings = ToySettings

    def estimate(self, derivations, settings, threads=1, folder=None, resume=False):
        one = RelativeFrequencies().estimate(derivations, MLESettings())
        share = np.full(settings.m, 1 / settings.m)
        share[0] *= 1 + settings.tilt
        tensors = []
        for k, tensor in enumerate(one.tensors):
            value = share
            for _ in range(k):
                value = np.multiply.outer(value, np.ones(settings.m))
            tensors.append(tensor.reshape(-1, *[1] * (k + 1)) * value)
        return Parameters(one.rules, tuple(tensors), np.ones(settings.m), one.unk * share, {"method": "toy"}, one.one)
'''

EXTRACTOR = '''
"""The minimal rules without nonterminals, joined by the decoder's glue."""

from dataclasses import dataclass

import numpy as np

from lscfg.extract.extractor import Decoding, RuleExtractor
from lscfg.extract.minimal import Minimal, MinimalSettings
from lscfg.grammar.counts import RuleCounts
from lscfg.settings import setting


@dataclass(frozen=True)
class LexicalSettings(MinimalSettings):
    least: int = setting(1, "occurrences that a phrase needs", least=1)


class Lexical(RuleExtractor[LexicalSettings]):
    HELP = "words alone"
    Settings = LexicalSettings
    NEEDS = ("derivations",)

    def rules(self, inputs, settings):
        found = Minimal().rules(inputs, MinimalSettings())
        kept = np.flatnonzero((found.rules.arity == 0) & (found.tokens >= settings.least))
        table, count, tokens = found.rules.select(kept), found.count[kept], found.tokens[kept]
        return RuleCounts(table, count, tokens, found.lexicon, found.lexicon_count)

    def tokens(self, inputs, settings):
        return Minimal().tokens(inputs, MinimalSettings())

    def decoding(self, settings):
        return Decoding(glue=True, max_span=9)
'''

EXPERIMENT = (
    CORPUS
    + """[language_model]
estimator = "lscfg"
order = 2
[tuning]
iterations = 1
kbest = 5
[lexical]
least = 2
[systems.MIN]
[systems.TOY]
estimator = "toy"
m = 3
tilt = 0.25
features = "paper"
start = "none"
[systems.PHRASES]
grammar = "lexical"
[systems.ALL]
grammar = "lexical+minimal"
estimator = "toy"
features = "paper"
"""
)


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A package with two rows and two files, as a user would install it."""
    place = tmp_path / "site"
    (place / "toys-1.dist-info").mkdir(parents=True)
    (place / "toys-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: toys\nVersion: 1\n")
    rows = "[lscfg.estimators]\ntoy = toy_estimator:Toy\n[lscfg.extractors]\nlexical = toy_extractor:Lexical\n"
    (place / "toys-1.dist-info" / "entry_points.txt").write_text(rows)
    (place / "toy_estimator.py").write_text(ESTIMATOR)
    (place / "toy_extractor.py").write_text(EXTRACTOR)
    monkeypatch.syspath_prepend(place)


@pytest.fixture
def experiment(tmp_path) -> Path:
    corpus = generate(1)
    for name, pairs in (("train", corpus.train[:300]), ("dev", corpus.dev[:10]), ("test", corpus.test[:10])):
        for side, language in enumerate(("ja", "en")):
            write_lines(tmp_path / f"{name}.{language}", [pair[side] for pair in pairs])
    path = tmp_path / "toys.toml"
    path.write_text(EXPERIMENT)
    return path


def test_an_experiment_runs_with_toys(installed, experiment, tmp_path):
    table = run_experiment(experiment, tmp_path / "out", 1)
    assert "TOY (m = 3)" in table and "PHRASES" in table
    rows = {row["system"]: row for row in json.loads((tmp_path / "out" / "results.json").read_text())["systems"]}
    assert rows["TOY"]["estimator"] == "toy" and rows["TOY"]["states"] == 3
    assert 0 < rows["PHRASES"]["rules"] < rows["MIN"]["rules"] <= rows["ALL"]["rules"]
    phrases = (tmp_path / "out" / "systems" / "PHRASES" / "cdec.ini").read_text()
    assert "scfg_max_span_limit=9" in phrases
    both = (tmp_path / "out" / "systems" / "ALL" / "cdec.ini").read_text()
    assert "unknown=zero" in both and "scfg_max_span_limit=100" in both
    page = (tmp_path / "out" / "report.html").read_text()
    charts = page[page.index('<section id="charts"') : page.index('<section id="breakdown"')]
    assert "Span marginals of sentence" in charts and "<svg" in charts
    assert "TOY" in charts and "ALL" not in charts  # of an estimator's systems the one with the most states


def test_keys_of_stages_have_the_toys_versions_and_settings(installed, experiment):
    plan = make_plan(read_experiment(experiment))
    model = plan.systems["TOY"].model.dependencies["settings"]
    assert model["estimator"] == {"name": "toy", "version": 3, "settings": {"m": 3, "tilt": 0.25}}
    grammar = plan.systems["PHRASES"].rules.dependencies["settings"]
    own = {"least": 2, "max_targets": 30}
    assert (grammar["name"], grammar["version"]) == ("lexical", 1) and grammar["settings"].items() >= own.items()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("tilt = 0.25", "tilt = 1.5", r"toys.toml:2\d: tilt must be less than 1, not 1.5"),
        ("tilt = 0.25", "seed = 1", "seed does not apply to the estimator toy"),
        ("least = 2", "least = 0", r"toys.toml:1\d: least must be at least 1, not 0"),
        (
            'grammar = "lexical"\n',
            'grammar = "words"\n',
            "unknown grammar 'words'; choose from biparsed, hiero, lexical, minimal, phrases, sampled, both",
        ),
    ],
)
def test_their_settings_are_checked_by_file_and_line(installed, experiment, old, new, message):
    from lscfg.errors import InputError

    experiment.write_text(EXPERIMENT.replace(old, new, 1))
    with pytest.raises(InputError, match=message):
        read_experiment(experiment)


def test_the_command_line_and_the_documents_have_them(installed, capsys):
    with pytest.raises(SystemExit):
        main(["estimate", "toy", "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert "tilt difference of the states (default: 0.5)" in shown
    from lscfg.estimate.estimator import ESTIMATORS

    assert ("`tilt`", "0.5", "≥ 0, < 1", "difference of the states") in setting_rows(ESTIMATORS["toy"].Settings)
