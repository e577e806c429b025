"""``lscfg run`` with weights of rules and words that are learned on the training text."""

import json

import pytest
from little_experiment import CORPUS

from lscfg.errors import InputError
from lscfg.formats.ini import read_ini
from lscfg.formats.weights import read_weights
from lscfg.tuning.experiment.config import Overrides, read_experiment
from lscfg.tuning.experiment.run import run_experiment

SETTINGS = """[language_model]
order = 2
[tuning]
iterations = 1
kbest = 5
runs = 2
[evaluation]
baseline = "A"
[systems.A]
grammar = "hiero"
[systems.M]
grammar = "hiero"
start = "A"
margin = {passes = 1, kbest = 5, order = 2}
"""


def test_margin_is_a_system(corpus, tmp_path):
    for name in ("train", "dev", "test"):
        for side in ("ja", "en"):
            lines = (corpus / f"{name}.{side}").read_text().splitlines(keepends=True)
            (tmp_path / f"{name}.{side}").write_text("".join(lines[: 200 if name == "train" else 5]))
    (tmp_path / "e.toml").write_text(CORPUS + SETTINGS)
    run_experiment(tmp_path / "e.toml", tmp_path / "out", 1)
    found = {row["system"]: row for row in json.loads((tmp_path / "out" / "results.json").read_text())["systems"]}
    assert found["M"]["rules"] == found["A"]["rules"] > 0
    ini = read_ini(tmp_path / "out" / "systems" / "M" / "cdec.ini")
    assert ini.latent is not None and ini.latent.options["features"] == "SpanBoundary"
    (trace,) = (tmp_path / "out" / "cache").glob("margin-*/trace.json")
    (record,) = json.loads(trace.read_text())
    assert 150 < record["pairs"] < 200 and 0 <= record["BLEU of fear"] <= record["BLEU of hope"]
    (derivations,) = (
        path for path in (tmp_path / "out" / "cache").glob("trees-*/trees.json") if "MarginRule" in path.read_text()
    )
    rules = [rule for tree in json.loads(derivations.read_text())["trees"] for rule in tree or ()]
    assert rules and not any("marginal" in rule for rule in rules)  # the model contains no rules
    for run in ("", "run2"):
        weights = read_weights(tmp_path / "out" / "systems" / "M" / run / "weights")
        assert {"MarginRule", "MarginWords", "SpanBoundary"} <= {*weights}
    (start,) = (tmp_path / "out" / "cache").glob("margin-*/start.weights")
    assert read_weights(start)["SpanBoundary"] == 1


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('start = "A"\n', "", "name it with start"),
        ('grammar = "hiero"\nstart', 'grammar = "minimal"\nstart', "one extractor that needs text alone"),
        ('grammar = "hiero"\nstart', 'grammar = "hiero+sampled"\nstart', "one extractor that needs text alone"),
        ("margin = {", 'estimator = "mle"\nmargin = {', "and no latent features"),
        ("passes = 1", "passes = 0", "at least 1"),
        ("passes = 1", "pass = 1", "pass"),
        ("margin = {passes = 1, kbest = 5, order = 2}", "margin = 3", "must be a table"),
        ("[evaluation]", '[decoder]\nfunctions = ["Letters"]\n[evaluation]', "margin supports neither functions nor"),
        ("[evaluation]", '[decoder]\nunknown = "similar"\n[evaluation]', "margin supports neither functions nor"),
    ],
)
def test_bad_settings(corpus, tmp_path, old, new, message):
    assert SETTINGS.count(old) == 1
    (tmp_path / "e.toml").write_text(CORPUS + SETTINGS.replace(old, new))
    with pytest.raises(InputError, match=message):
        read_experiment(tmp_path / "e.toml", Overrides(data=corpus))


def test_a_latent_system_does_not_begin_with_learned_weights(corpus, tmp_path):
    """By itself it begins with the first system of the same rules that has weights for no other features."""
    plain = SETTINGS.replace('grammar = "hiero"\n', 'grammar = "hiero"\nhiero = {max_phrase = 5}\n', 1)
    (tmp_path / "e.toml").write_text(CORPUS + plain + '[systems.L]\ngrammar = "hiero"\nestimator = "mle"\n')
    assert read_experiment(tmp_path / "e.toml", Overrides(data=corpus)).systems["L"].start == ""
