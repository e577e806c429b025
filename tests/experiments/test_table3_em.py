"""experiments/table3_em.py: iterations chosen on the development set, models that stay, starts that are finished."""

import json
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from estimates import estimate_iterated, estimate_mle
from simulate import GrammarSettings, random_model, sample

from lscfg.estimate.em import EMRun, EMSettings
from lscfg.model.parameters import Parameters

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "experiments"))
table3_em = import_module("table3_em")
sys.path.remove(str(ROOT / "experiments"))

PLAIN = {"shrink_source": 0.0, "shrink_arity": 0.0}
DEV = {5: 10.0, 10: 12.0, 15: 11.0, 20: 12.0, 25: 9.0, 30: 12.5, 35: 12.5, 40: 3.0}
"""BLEU that the decoder gives to models; the earlier of equal ones is chosen."""


class Planned(table3_em.Table):
    """A table whose decoder gives planned scores, and remembers the models that it read."""

    def __init__(self, derivations):
        self.derivations = derivations
        self.seen, self.tested, self.tunings, self.present = [], [], [], []

    def bleu(self, model, weights, test=False):
        iteration = int(model.stem)
        assert weights == {"LatentMarginal": 1.0}
        (self.tested if test else self.seen).append((iteration, Parameters.load(model).tensors))
        self.present.append(len(list(model.parent.iterdir())))
        return -1.0 * iteration if test else DEV[iteration]

    def tuned(self, model, seed):
        self.tunings.append((int(model.stem), seed))
        return {"LatentMarginal": 1.0}


@pytest.fixture(scope="module")
def derivations():
    return sample(random_model(GrammarSettings(rank=2), 1), 60, 1)


@pytest.mark.parametrize("weights", [None, {"LatentMarginal": 1.0}])
def test_the_best_fifth_iteration_translates_the_test_set(derivations, weights):
    table = Planned(derivations)
    found = table.start(EMSettings(2, 43, seed=3, **PLAIN), weights, 1)
    assert found["dev"] == {str(iteration): score for iteration, score in DEV.items()}
    assert (found["chosen"], found["test"], found["m"], found["start"], found["iterations"]) == (30, -30.0, 2, 3, 43)
    assert table.tunings == ([(25, 3)] if weights is None else [])
    assert [iteration for iteration, _ in table.seen] == list(DEV) and [k for k, _ in table.tested] == [30]
    if weights:
        assert max(table.present) <= 3, "the best model, the one that is scored, and one more"
    for iteration, tensors in (*table.seen[:2], *table.tested):
        run = EMRun(derivations, EMSettings(2, iteration, seed=3, **PLAIN), "random")
        expected = run.run().parameters().tensors
        assert all(np.allclose(one, other, rtol=1e-6) for one, other in zip(tensors, expected, strict=True))


@pytest.mark.parametrize("iterations", [10, 13])
def test_fewer_iterations_than_25_tune_the_last_model(derivations, iterations):
    table = Planned(derivations)
    assert table.start(EMSettings(2, iterations, **PLAIN), None, 1)["chosen"] == 10
    assert table.tunings == [(10, 1)]


def test_one_state_is_relative_frequency(derivations):
    """EM-1 of any start and any number of iterations equals MLE, as the table needs."""
    mle = estimate_mle(derivations)
    for iterations in (1, 7):
        made = estimate_iterated(derivations, EMSettings(1, iterations, **PLAIN))
        for one, other in zip(made.tensors, mle.tensors, strict=True):
            assert one == pytest.approx(other, rel=1e-6)
        assert made.unk == pytest.approx(mle.unk, rel=1e-6)


def start(system, number, chosen, test, m=2, iterations=50):
    dev = {"5": 1.0, str(chosen): 20.0 + number}
    return {
        **{"system": system, "start": number, "iterations": iterations, "sentences": None, "m": m, "dev": dev},
        **{"chosen": chosen, "test": test, "weights": {"w": number}},
    }


def test_rows_are_means_and_deviations():
    starts = [start("EM-2", 1, 10, 14.0), start("EM-2", 2, 50, 16.0), start("EM-4", 1, 5, 15.0, m=4)]
    starts.append(start("EM-2", 1, 5, 13.0, iterations=10))
    assert table3_em.rows(starts) == [
        ["EM-2", 2, 50, "10, 50", 21.5, 0.71, 15.0, 1.41],
        ["EM-4", 1, 50, "5", 21.0, 0.0, 15.0, 0.0],
        ["EM-2", 1, 10, "5", 21.0, 0.0, 13.0, 0.0],
    ]


def test_finished_starts_are_not_run_again(tmp_path, monkeypatch, capsys):
    """The weights of the first start go to all others of the same number of states."""
    output, calls = tmp_path / "em.json", []
    others = start("EM-4", 1, 5, 15.0, m=4) | {"sentences": 3}
    output.write_text(json.dumps({"starts": [start("EM-2-ARITY-RAW", 1, 10, 14.0), others]}))

    class Fake:
        trees = "derive-0a1b"

        def __init__(self, folder, data, line, sentences):
            calls.append((folder, data, line, sentences))

        def start(self, settings, weights, threads):
            calls.append((settings, weights, threads))
            found = start("", settings.seed, 5, 15.0, settings.m)
            del found["system"], found["sentences"]
            return found

    monkeypatch.setattr(table3_em, "Table", Fake)
    command = ["table3_em.py", "run", "--data", "data", "-m", "2", "--starts", "2", "-o", str(output)]
    monkeypatch.setattr(sys, "argv", [*command, "--raw", "--normalise", "arity", "-j", "3"])
    table3_em.main()
    settings = EMSettings(2, 50, seed=2, normalise="arity", **PLAIN)
    line = {"log": "false", "improper": "keep"}
    assert calls == [(Path("run"), Path("data"), line, None), (settings, {"w": 1}, 3)]
    assert [one["start"] for one in json.loads(output.read_text())["starts"]] == [1, 1, 2]
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("EM-2-ARITY-RAW\t2\t50\t")
    monkeypatch.setattr(Fake, "trees", "derive-9f8e")
    with pytest.raises(SystemExit):
        table3_em.main()
    assert "em.json: contains starts on other trees" in capsys.readouterr().err
    monkeypatch.setattr(sys, "argv", [*command, "--iterations", "4"])
    with pytest.raises(SystemExit):
        table3_em.main()
    assert "--iterations 4: every 5th is scored" in capsys.readouterr().err
