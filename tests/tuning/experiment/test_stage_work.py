"""Work of single stages on small files, without a run."""

import numpy as np
import pytest
from helpers import rule_table, save_model
from nbest import write_nbest
from sacrebleu.metrics import BLEU, CHRF

from lscfg.formats.ini import DecoderConfig, write_ini
from lscfg.formats.kbest import Hypothesis
from lscfg.io.json_files import read_json, write_json
from lscfg.model.parameters import OneState
from lscfg.tuning.experiment.stages.charts import CHARTS, ChartFiles, ChartSettings, _with_derivations, charts
from lscfg.tuning.experiment.stages.decoding import DEV, HISTORY, WEIGHTS, Choice, TunedFiles, choose
from lscfg.tuning.experiment.steps.agree import AgreeFiles, AgreeSettings, agree

RULES = "[X] ||| a ||| x ||| F=1\n[X] ||| b [X,1] ||| [X,1] y ||| F=1\n"


@pytest.mark.parametrize("m", [1, 2])
def test_only_a_model_of_several_states_is_compared_with_one_state(tmp_path, m):
    table = rule_table(["a ||| x", "b [X,1] ||| [X,1] y"])
    tensors = [np.ones([m] * (arity + 1)) for arity in table.arity]
    one = OneState(np.ones(2), np.ones(1))
    model = save_model(tmp_path / "model", table, tensors, np.ones(m), np.ones(m), one)
    (tmp_path / "grammar").write_text(RULES)
    (tmp_path / "test").write_text("b a\n")
    write_json(tmp_path / "sentences", {"charts": [0], "trees": []})
    files = ChartFiles(tmp_path / "grammar", model, tmp_path / "sentences", tmp_path / "test")
    charts(tmp_path, ChartSettings(""), files, 1)
    found = read_json(tmp_path / CHARTS)
    (spans,) = found["model"]
    assert sorted(spans) == [[0, 2, pytest.approx(1)], [1, 2, pytest.approx(1)]]
    assert found["one state"] == (None if m == 1 else found["model"])


def test_derivations_are_recorded(tmp_path, caplog):
    """Without warnings, whose numbers of sentences would be those of the choice."""
    (tmp_path / "grammar").write_text(RULES)
    write_ini(tmp_path / "cdec.ini", DecoderConfig((tmp_path / "grammar",)))
    _, found = _with_derivations(tmp_path / "cdec.ini", ["", "b a"], {"F": 1.0}, 1)
    assert not caplog.messages and found.hypotheses[0].text == "x y" and len(found.derivations) == 1


@pytest.mark.parametrize("metric", ["bleu", "ter"])
def test_systems_agree_under_the_scale_of_the_best_score(tmp_path, metric):
    """A small scale prefers translations that resemble others, a large scale probable translations."""
    scores = {"a b c d e": 0.1, "a b c d f": 0.0, "x y z u v": 1.0}
    write_nbest(tmp_path / "list", [[Hypothesis(text, {}, score) for text, score in scores.items()]])
    (tmp_path / "reference").write_text("a b c d e\n")
    files = AgreeFiles((tmp_path / "list",) * 2, (tmp_path / "reference",))
    agree(tmp_path, AgreeSettings(metric, (1000.0, 0.01, 0.02)), files, 1)
    found = read_json(tmp_path / DEV)
    assert found["score_by_scale"] == {"1000.0": 0, "0.01": pytest.approx(100), "0.02": pytest.approx(100)}
    assert (found["scale"], found["bleu"], found["length_ratio"]) == (0.01, pytest.approx(100), 1)
    assert found.get("score") == (None if metric == "bleu" else pytest.approx(100))


@pytest.mark.parametrize(("metric", "scale"), [("bleu", 0.01), ("chrf", 1000.0), ("bleu+chrf", 0.01)])
def test_the_scale_and_the_consensus_follow_the_metric_of_tuning(tmp_path, metric, scale):
    """The probable translation has the letters of the reference and much chrF with the others, which have its words."""
    probable, common, reference = "thecatscatsitsonmats", "a cat sits on mats", "thecats cat sits on mats"
    scores = {probable: 1.0, common: 0.0, "b cat sits on mats": 0.0, "c cat sits on mats": 0.0}
    write_nbest(tmp_path / "list", [[Hypothesis(text, {}, score) for text, score in scores.items()]])
    (tmp_path / "reference").write_text(f"{reference}\n")
    files = AgreeFiles((tmp_path / "list",) * 2, (tmp_path / "reference",))
    agree(tmp_path, AgreeSettings(metric, (1000.0, 0.01)), files, 1)
    found = read_json(tmp_path / DEV)
    truth = {}
    for one, line in ((1000.0, probable), (0.01, probable if metric == "chrf" else common)):
        parts = {"bleu": BLEU(tokenize="none", force=True), "chrf": CHRF()}
        values = [parts[name].corpus_score([line], [[reference]]).score for name in metric.split("+")]
        truth[str(one)] = pytest.approx(sum(values) / len(values))
    assert found["score_by_scale"] == truth
    assert found["scale"] == scale


def test_the_first_of_the_best_tunings_is_chosen(tmp_path):
    tried = [20.0, 24.0, 24.0]
    for number, bleu in enumerate(tried):
        (tmp_path / f"w{number}").write_text(f"A {number}\n")
        write_json(tmp_path / f"h{number}", {"tuning": number, "history": [{"dev_bleu": 30.0}, {"dev_bleu": bleu}]})
        write_json(tmp_path / f"d{number}", {"bleu": bleu, "iteration": 2, "seconds": 1.5})
    files = TunedFiles(*(tuple(tmp_path / f"{part}{number}" for number in range(3)) for part in "whd"))
    choose(tmp_path, Choice((0.0, 0.25, 0.5)), files, 1)
    assert (tmp_path / WEIGHTS).read_text() == "A 1\n" and read_json(tmp_path / HISTORY)["tuning"] == 1
    found = {"bleu": 24.0, "iteration": 2, "seconds": 4.5, "latent_start": 0.25}
    assert read_json(tmp_path / DEV) == found
