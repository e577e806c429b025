"""Starts of latent features after another system's tuning, and the choice between tunings that began elsewhere."""

import json

import pytest
from little_experiment import TOML, run_lscfg

from lscfg import kernel
from lscfg.errors import InputError
from lscfg.tuning.experiment.config import read_experiment
from lscfg.tuning.experiment.plan import make_plan
from lscfg.tuning.experiment.stages import decoding

STARTS = "latent_starts = [0, 0.4]\n"
RATIOS = '[systems.RATIOS]\nestimator = "mle"\nfeatures = "ratios"\nstart = "MIN"\n'
BOTH = '[systems.BOTH]\ngrammar = "hiero+minimal"\nestimator = "mle"\nfeatures = "ratios"\nstart = "RATIOS"\n'


def planned(corpus, starts):
    text = TOML[: TOML.index("[systems.SPECTRAL]")].replace("kbest = 20\n", f"kbest = 20\nruns = 2\n{starts}")
    (corpus / "starts.toml").write_text(text.replace("iterations = 3", "iterations = 2") + RATIOS + BOTH)
    return make_plan(read_experiment(corpus / "starts.toml"))


def test_only_tunings_with_new_features_have_several_starts(corpus):
    before, plan = planned(corpus, "latent_starts = [0]\n"), planned(corpus, "")
    names = {name: [stage.name for stage in system.tuned] for name, system in plan.systems.items()}
    assert names == {"MIN": ["tune"] * 2, "RATIOS": ["choose"] * 2, "BOTH": ["tune"] * 2}
    assert plan.systems["MIN"].tuned[0].key == before.systems["MIN"].tuned[0].key
    assert [stage.key for stage in planned(corpus, STARTS).stages()] == [stage.key for stage in plan.stages()]
    first, second = plan.systems["RATIOS"].tried[1]
    assert first.key == before.systems["RATIOS"].tuned[1].key  # a tuning that is there is used again
    assert second.settings.latent_start == 0.4 and plan.users(second) == ["RATIOS run 2"]
    keys = [stage.key for stage in plan.stages()]
    assert keys.index(first.key) < keys.index(plan.systems["RATIOS"].tuned[1].key)
    one = planned(corpus, "latent_starts = [0.4]\n").systems["RATIOS"]
    assert [stage.key for stage in one.tuned] == [tried[1].key for tried in plan.systems["RATIOS"].tried]


def test_the_better_tuning_stays(corpus, tmp_path):
    planned(corpus, STARTS)
    run = run_lscfg("run", corpus / "starts.toml", "-o", tmp_path, "--systems", "MIN,RATIOS", "--runs", 1, "--jobs", 1)
    assert run.returncode == 0, run.stderr
    rows = {row["system"]: row["runs"][0] for row in json.loads((tmp_path / "results.json").read_text())["systems"]}
    made = [json.loads(path.read_text()) for path in tmp_path.glob("cache/*/stage.json")]
    folders = {
        stage["settings"]["latent_start"]: tmp_path / "cache" / f"tune-{stage['key'][:16]}"
        for stage in made
        if stage["stage"] == "tune" and stage["inputs"]["start"]
    }
    assert {*folders} == {0.0, 0.4} and rows["MIN"]["latent_start"] == 0.0
    bleu = {share: json.loads((folder / decoding.DEV).read_text())["bleu"] for share, folder in folders.items()}
    best = max(sorted(bleu), key=bleu.get)
    assert (rows["RATIOS"]["latent_start"], rows["RATIOS"]["dev_bleu"]) == (best, bleu[best])
    place = tmp_path / "systems" / "RATIOS"
    assert (place / "weights").read_text() == (folders[best] / decoding.WEIGHTS).read_text()
    start = json.loads((tmp_path / "systems" / "MIN" / "tuning.json").read_text())["history"]
    model = start[max(range(len(start)), key=lambda k: start[k]["dev_bleu"])]["weights"]["LanguageModel"]
    for share, folder in folders.items():
        first = json.loads((folder / decoding.HISTORY).read_text())["history"][0]["weights"]
        latent = {name: weight for name, weight in first.items() if name in kernel.LATENT_FEATURES and weight}
        begun = {name: share * model for name in kernel.START_WEIGHTS if share}
        assert latent == pytest.approx(begun) and "LatentSourceBare" in kernel.START_WEIGHTS


@pytest.mark.parametrize("score", ["dev_bleu", "dev_score"])
def test_the_first_of_equal_tunings_is_chosen(tmp_path, score):
    """By the metric of tuning, which is BLEU unless the history has another score."""
    files = {name: [] for name in ("weights", "histories", "summaries")}
    for number, value in ((1, 20.0), (2, 30.5), (3, 30.5)):
        record = {"dev_bleu": 40.0 - number, score: value}
        made = {"history": [{"dev_bleu": 50.0}, record], "iteration": 2, "seconds": 2.0, "number": number}
        for name, paths in files.items():
            paths.append(tmp_path / f"{name}{number}")
            paths[-1].write_text(json.dumps(made))
    (tmp_path / "out").mkdir()
    decoding.choose(tmp_path / "out", decoding.Choice((0.0, 0.2, 0.4)), decoding.TunedFiles(**files), 1)
    assert json.loads((tmp_path / "out" / decoding.WEIGHTS).read_text())["number"] == 2
    found = json.loads((tmp_path / "out" / decoding.DEV).read_text())
    assert (found["number"], found["latent_start"], found["seconds"]) == (2, 0.2, 6.0)


@pytest.mark.parametrize(
    ("starts", "message"),
    [
        ("latent_starts = []", "latent_starts must name one or more"),
        ("latent_starts = [0.4, 0.4]", "latent_starts must not name '0.4' twice"),
        ("latent_starts = [-1]", "latent_starts must be at least 0"),
        ('latent_starts = ["much"]', "latent_starts must be"),
    ],
)
def test_bad_starts(corpus, starts, message):
    with pytest.raises(InputError, match=rf"starts\.toml:\d+: {message}"):
        planned(corpus, f"{starts}\n")
