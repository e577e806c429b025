"""experiments/sense_dimensions.py: sums over dimensions are the scores of the kernel."""

import gzip
import json
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from estimates import add_context_model, estimate_mle

from lscfg.cli import main
from lscfg.context.learner import CONTEXT_MODELS
from lscfg.errors import InputError
from lscfg.extract.derive import derive
from lscfg.extract.minimal import tokens_of
from lscfg.io.write import write_lines

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "experiments"))
sense_dimensions = import_module("sense_dimensions")
sys.path.remove(str(ROOT / "experiments"))

SMALL = {
    "cca": {"window": 2, "min_word": 1, "k": 2, "m": 3},
    "residual": {"window": 2, "min_word": 1, "k": 2, "sentence": True},
}


def corpus():
    """Sentences where b is B or C by the words on both sides, and other words have two translations."""
    rng = np.random.default_rng(1)
    source, target = [], []
    for _ in range(300):
        topic = int(rng.integers(2))
        left, right = (f"{'pq'[topic]}{rng.integers(4)}" for _ in range(2))
        source.append(f"{left} b {right}")
        other = "xy"[int(rng.integers(2))]
        target.append(f"{left.upper()}{other} {'BC'[topic]} {right.upper()}")
    return source, target, ["0-0 1-1 2-2"] * 300


@pytest.fixture(params=sorted(SMALL))
def decoded(request, tmp_path):
    """Model, lists with derivations of some sentences."""
    source, target, links = corpus()
    derivations = derive(source, target, links)
    derivations.save(tmp_path / "deriv")
    settings = CONTEXT_MODELS[request.param].Settings(**SMALL[request.param])
    model = add_context_model(request.param, settings, estimate_mle(derivations), tokens_of(derivations), source)
    model.save(tmp_path / "model")
    assert main(["grammar", "minimal", str(tmp_path / "deriv"), "-o", str(tmp_path / "grammar")]) == 0
    lines = [
        "formalism=scfg",
        f"grammar={tmp_path / 'grammar'}",
        f"feature_function=LSCFG model={tmp_path / 'model'} features=SenseScore",
        "scfg_no_hiero_glue_grammar=true",
        "add_pass_through_rules=true",
    ]
    write_lines(tmp_path / "cdec.ini", lines)
    write_lines(tmp_path / "weights", ["EgivenF -1", "SenseScore 1"])
    write_lines(tmp_path / "text", ["p0 b p1", "q1 b", "p2 unknown b q3 b", "b"])
    command = ["decode", "-c", "cdec.ini", "-w", "weights", "text", "-k", "4", "-o", "lists", "-j", "1"]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        assert main([*command, "--derivations", "d.json.gz"]) == 0
    return tmp_path


def test_products_add_up_to_the_score(decoded):
    dimensions = sense_dimensions.Dimensions.load(decoded / "model")
    model = dimensions.model
    with gzip.open(decoded / "d.json.gz", "rt") as file:
        lines = [json.loads(line) for line in file]
    checked = 0
    for line in lines:
        found = dimensions.columns(line)
        assert found.shape == (len(line["derivations"]), model.vectors.shape[1])
        plain = dimensions.columns(line, "rules")
        for translation, products, rules in zip(line["derivations"], found, plain, strict=True):
            numbers = [
                dimensions.rules.get(sense_dimensions._text(rule["source"], rule["target"]), -1)
                for rule in translation["rules"]
                if "PassThrough" not in rule["features"]
            ]
            rows = [int(model.row[number]) for number in numbers if number >= 0 and model.row[number] >= 0]
            score = translation["features"].get("SenseScore", 0)
            assert products.sum() + model.bias[rows].sum() == pytest.approx(score, abs=1e-4)
            assert rules == pytest.approx(model.rules[rows].sum(axis=0), abs=1e-5)
            checked += score != 0
    assert checked > 5


def test_categories_and_copied_words(decoded):
    """A context model ignores categories; a word that is passed through is no rule, whatever the text."""
    dimensions = sense_dimensions.Dimensions.load(decoded / "model")
    text = next(
        text for text in dimensions.rules if "[X,1]" not in text and dimensions.model.row[dimensions.rules[text]] >= 0
    )
    source, target = text.split(" ||| ")
    rule = {"source": source, "target": target, "span": [0, 1], "features": {}}
    line = {"id": 0, "words": [source], "derivations": [{"rules": [rule]}]}
    assert dimensions.columns(line).any()
    rule["features"] = {"PassThrough": 1}
    assert not dimensions.columns(line).any()
    assert sense_dimensions._text("a [NP,1] [X,2]", "[X,2] b [NP,1]") == "a [1] [2] ||| [2] b [1]"
    with pytest.raises(InputError, match="sentence 1 is a lattice"):
        dimensions.columns(line | {"words": None})


@pytest.mark.parametrize("values", sense_dimensions.VALUES)
def test_columns_have_a_line_for_each_translation(decoded, values, monkeypatch):
    monkeypatch.chdir(decoded)
    sense_dimensions.main(["model", "d.json.gz", "--values", values, "-o", "column"])
    lists = (decoded / "lists").read_text().splitlines()
    width = sense_dimensions.Dimensions.load(decoded / "model").model.vectors.shape[1]
    columns = [np.loadtxt(decoded / f"column.{k}") for k in range(1, width + 1)]
    assert all(len(column) == len(lists) for column in columns)
    assert values != "signs" or all((column == np.round(column)).all() for column in columns)
    scores = [f"--scores=D{k}=column.{k}" for k in range(1, width + 1)]
    weights = "".join(f"D{k} 1\n" for k in range(1, width + 1))
    Path("more").write_text("EgivenF -1\nSenseScore 0\n" + weights)
    assert main(["rescore", "lists", *scores, "-w", "more", "-o", "out"]) == 0
    assert len(Path("out").read_text().splitlines()) == 4


def test_a_model_without_dimensions_is_refused(tmp_path, capsys):
    source, target, links = corpus()
    estimate_mle(derive(source, target, links)).save(tmp_path / "model")
    with pytest.raises(SystemExit):
        sense_dimensions.main([str(tmp_path / "model"), "none", "-o", "column"])
    assert "no context model whose score is a sum over dimensions" in capsys.readouterr().err
