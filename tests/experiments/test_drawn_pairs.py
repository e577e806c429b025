"""experiments/drawn_pairs.py: pairs in proportion to the parameters, the better half of them, as files."""

import collections
import random
import sys
from importlib import import_module
from pathlib import Path

import kenlm
import numpy as np
import pytest
from simulate import GrammarSettings, _table, random_model

from lscfg.io.read import read_lines
from lscfg.model.parameters import Parameters

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "experiments"))
drawn_pairs = import_module("drawn_pairs")
sys.path.remove(str(ROOT / "experiments"))


def two_orders():
    """State 0 has the first word, state 1 the second; the rule of state 2, the root, joins states 0, 1 or 1, 0."""
    rules = [(["f0"], ["e0"]), (["f1"], ["e1"]), (["[X,1]", "s", "[X,2]"], ["[X,2]", "t", "u", "[X,1]"])]
    binary = np.zeros((1, 3, 3, 3))
    binary[0, 2, 0, 1], binary[0, 2, 1, 0] = 0.6, 0.2
    tensors = np.array([[1, 0, 0], [0, 1, 0]], float), np.zeros((0, 3, 3)), binary
    return Parameters(_table(rules), tensors, np.array([0, 0, 2.0]), np.zeros(3))


def test_states_choose_rules_and_each_side_has_its_order():
    model, rng = drawn_pairs.Model(two_orders()), np.random.default_rng(1)
    found = collections.Counter(tuple(map(" ".join, model.draw(rng, 9))) for _ in range(4000))
    assert set(found) == {("f0 s f1", "e1 t u e0"), ("f1 s f0", "e0 t u e1")}
    assert abs(found["f0 s f1", "e1 t u e0"] / 4000 - 0.75) < 4 * (0.75 * 0.25 / 4000) ** 0.5
    assert model.draw(rng, 2) is None


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    random_model(GrammarSettings(), 1).save("model")
    rng = random.Random(1)
    words = ["<unk>", "<s>", "</s>", *(f"e{k}" for k in range(12))]
    grams = "".join(f"{-3 * rng.random():.6f}\t{word}\t0\n" for word in words)
    head = f"\\data\\\nngram 1={len(words)}\nngram 2=1\n\n\\1-grams:\n"
    Path("lm").write_text(f"{head}{grams}\n\\2-grams:\n-1\te0 e1\n\n\\end\\\n")
    return "lm"


def draw(monkeypatch, *words):
    monkeypatch.setattr(sys, "argv", ["drawn_pairs.py", *words])
    drawn_pairs.main()
    return read_lines("out.source"), read_lines("out.target")


def test_the_better_half_is_written(files, monkeypatch):
    command = ["model", files, "30", "-o", "out", "--longest", "8"]
    source, target = draw(monkeypatch, *command)
    assert len(source) == len(target) == 30 == len({*zip(source, target, strict=True)})
    assert all(line.startswith("<drawn> ") and len(line.split()) <= 9 for line in source)
    assert (source, target) == draw(monkeypatch, *command)
    lm, kept = kenlm.Model(files), [*zip(source, target, strict=True)]
    monkeypatch.setattr(drawn_pairs.kenlm, "Model", lambda path: Opposite(lm))
    dropped = [*zip(*draw(monkeypatch, *command), strict=True)]
    assert not {*kept} & {*dropped}
    rate = [[lm.score(text) / (len(text.split()) + 1) for _, text in half] for half in (kept, dropped)]
    assert min(rate[0]) >= max(rate[1])


class Opposite:
    """Prefers what a language model likes least."""

    def __init__(self, lm):
        self.lm = lm

    def score(self, text):
        return -self.lm.score(text)


def test_a_model_without_distributions_is_refused(files, monkeypatch):
    model = random_model(GrammarSettings(), 1)
    model.tensors[0][0] *= -1
    model.save("negative")
    with pytest.raises(SystemExit, match="a parameter is negative; give a model of clusters, EM or MLE"):
        draw(monkeypatch, "negative", files, "3", "-o", "out")


def test_too_few_pairs_are_an_error(files, monkeypatch, capsys):
    two_orders().save("two")
    with pytest.raises(SystemExit):
        draw(monkeypatch, "two", files, "5", "-o", "out")
    assert "only 2 different pairs in 1000 draws" in capsys.readouterr().err
