"""The experiment runner: a whole run on a little corpus, resumed, changed; and every kind of bad experiment file."""

import dataclasses
import gzip
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import ANY, call

import pytest
from helpers import double

from cdec_bridge.decoder import LIBRARY_VARIABLE, find_cdec
from lscfg.corpus.align import AlignmentSettings
from lscfg.demo import generate, write
from lscfg.errors import InputError, LscfgError
from lscfg.estimate.em import EMSettings
from lscfg.estimate.features import INSIDE_KNOWN, OUTSIDE_KNOWN, FeatureSources
from lscfg.estimate.spectral import SpectralSettings
from lscfg.extract.derive import Derivations
from lscfg.extract.hiero import HieroLimits
from lscfg.formats.ini import DecoderConfig, read_ini
from lscfg.formats.kbest import Hypothesis
from lscfg.formats.weights import read_weights
from lscfg.io.text import atomic_write, file_hash, read_lines
from lscfg.kernel import CONTEXT_FEATURES, LATENT_FEATURES, DeriveOptions
from lscfg.lm.estimate import DEFAULT_FALLBACK
from lscfg.model.parameters import Parameters
from tuning.evaluate import METRICS, evaluate
from tuning.experiment import hosts, stages
from tuning.experiment.cache import StageCache, locked, measured
from tuning.experiment.config import DeriveSettings, Overrides, read_experiment
from tuning.experiment.hosts import check_host
from tuning.experiment.run import _manifest, check_corpus, run_experiment
from tuning.experiment.stages import DERIVATIONS, derive
from tuning.replication import compare_runs
from tuning.tune import Iteration, TuneResult, TuneSettings

TOML = """
[corpus]
source = "train.es"
target = "train.en"
dev_source = "dev.es"
dev_reference = "dev.en"
test_source = "test.es"
test_reference = ["test.en"]

[language_model]
order = 3
estimator = "lscfg"

[tuning]
iterations = 3
kbest = 20

[systems.MIN]

[systems.SPECTRAL]
estimator = "spectral"
m = 3
"""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    write(generate(seed=2, train=1200, dev=40, test=40), folder)
    (folder / "e.toml").write_text(TOML)
    return folder


def lscfg(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-P", "-m", "lscfg", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


@pytest.fixture(scope="module")
def whole(corpus, tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    run = lscfg("run", corpus / "e.toml", "-o", folder, "--jobs", 1)
    assert run.returncode == 0, run.stderr
    return folder, run


def test_table_and_results(whole):
    folder, run = whole
    results = json.loads((folder / "results.json").read_text())
    assert [row["system"] for row in results["systems"]] == ["MIN", "SPECTRAL"]
    for row in results["systems"]:
        assert row["dev_bleu"] >= row["start_dev_bleu"] and 0 < row["test_bleu"] <= 100
        assert row["system"] in run.stdout
    assert results["systems"][1]["states"] == 3 and results["systems"][1]["p_value"] is not None
    for name in ("MIN", "SPECTRAL"):
        assert len((folder / "systems" / name / "test.output").read_text().splitlines()) == 40


def test_manifest(whole):
    manifest = json.loads((whole[0] / "manifest.json").read_text())
    stages = [stage["stage"] for stage in manifest["stages"]]
    made = ["tune", "decode", "score"]
    # what can fail because of the input comes before what takes long
    assert stages == ["lm", "align", "derive", "grammar", "estimate", *made, *made, "charts"]
    assert [stage["systems"] for stage in manifest["stages"][3:7]] == [[], ["SPECTRAL"], ["MIN"], ["MIN"]]
    assert all(stage["seconds"] >= 0 and stage["peak_mib"] > 1 for stage in manifest["stages"])
    assert len(manifest["sha256"]) == 6 and manifest["packages"]["numpy"]


def test_aligns_as_the_command_does(whole, corpus, tmp_path):
    run = lscfg("align", corpus / "train.es", corpus / "train.en", "-o", tmp_path / "links")
    assert run.returncode == 0, run.stderr
    (made,) = whole[0].glob("cache/align-*")
    names = sorted(path.name for path in made.iterdir() if path.name != "stage.json")
    assert names == ["grow-diag-final-and", "union"]
    assert (tmp_path / "links").read_bytes() == (made / "union").read_bytes()
    assert (made / "union").read_bytes() != (made / "grow-diag-final-and").read_bytes()
    chosen = '[alignment]\nmodel = "fast-align"\nheuristics = "intersect"\niterations = 2\nseed = 3\n'
    (corpus / "chosen.toml").write_text(TOML + chosen)
    alignment = read_experiment(corpus / "chosen.toml").alignment
    assert alignment.heuristics == ["intersect"]
    assert alignment.joined_by("intersect") == AlignmentSettings("fast-align", "intersect", 2, 3)
    default = read_experiment(corpus / "e.toml").alignment
    assert default.joined_by(default.heuristics[0]) == AlignmentSettings()


def test_published_configuration_translates_the_same(whole, corpus):
    for name in ("MIN", "SPECTRAL"):
        system = whole[0] / "systems" / name
        run = lscfg("decode", "-c", system / "cdec.ini", "-w", system / "weights", corpus / "test.es", "--jobs", 2)
        assert run.stdout == (system / "test.output").read_text()


def test_killed_run_resumes_to_the_same_bytes(whole, corpus, tmp_path):
    """Killed with all that it has started, in the tuning of the second system, when its first iteration is saved."""
    program = """
import os, signal, sys
from lscfg.cli import main
from tuning import tune

save = tune._Checkpoint.save

def save_and_be_killed(self, history, lists, seconds):
    save(self, history, lists, seconds)
    if list(self._folder.parent.glob("tune-*/stage.json")):
        os.killpg(0, signal.SIGKILL)

tune._Checkpoint.save = save_and_be_killed
sys.exit(main())
"""
    arguments = ["run", corpus / "e.toml", "-o", tmp_path, "--jobs", 2]
    command = [sys.executable, "-P", "-c", program, *map(str, arguments)]
    killed = subprocess.run(command, capture_output=True, text=True, start_new_session=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert not (tmp_path / "results.json").exists()
    (saved,) = tmp_path.glob("cache/tune-*.unfinished/history.json")
    assert len(json.loads(saved.read_text())["history"]) == 1
    run = lscfg("run", corpus / "e.toml", "-o", tmp_path)
    assert run.returncode == 0 and "resumed after iteration 1" in run.stderr
    made = [line.removeprefix("[lscfg] stage ") for line in run.stderr.splitlines() if "] stage " in line]
    assert made == ["tune", "decode", "score", "charts"]
    pages = [(place / "report.html").read_text() for place in (tmp_path, whole[0])]
    one, other = (re.sub(r'<section id="(cost|manifest)".*?</section>', "", page, flags=re.S) for page in pages)
    assert one == other and len(one) > 10000
    for name in ("results.json", "systems/SPECTRAL/weights", "systems/SPECTRAL/tuning.json", "systems/MIN/test.output"):
        assert (tmp_path / name).read_bytes() == (whole[0] / name).read_bytes(), name


def test_changed_setting_redoes_what_depends_on_it(whole, corpus):
    before = (whole[0] / "results.json").read_bytes()
    changed = corpus / "changed.toml"
    changed.write_text(TOML.replace("m = 3", "m = 2"))
    run = lscfg("run", changed, "-o", whole[0])
    made = [line.removeprefix("[lscfg] stage ") for line in run.stderr.splitlines() if "] stage " in line]
    assert made == ["estimate", "tune", "decode", "score", "charts"]
    again = lscfg("run", corpus / "e.toml", "-o", whole[0])
    assert "] stage " not in again.stderr and (whole[0] / "results.json").read_bytes() == before


def test_several_tunings_share_the_other_stages(whole, corpus, tmp_path):
    run = lscfg("run", corpus / "e.toml", "-o", whole[0], "--runs", 2, "--systems", "SPECTRAL,MIN", "--jobs", 1)
    assert run.returncode == 0, run.stderr
    made = [line.removeprefix("[lscfg] stage ") for line in run.stderr.splitlines() if "] stage " in line]
    assert made == ["tune", "decode", "score"] * 2  # the first run is there
    results = json.loads((whole[0] / "results.json").read_text())
    references = [(corpus / "test.en").read_text().splitlines()]
    outputs = {}
    for row in results["systems"]:
        folder = whole[0] / "systems" / row["system"]
        outputs[row["system"]] = [read_lines(place / "test.output") for place in (folder, folder / "run2")]
        assert [run["seed"] for run in row["runs"]] == [1, 2]
        assert row["dev_bleu"] == pytest.approx(sum(run["dev_bleu"] for run in row["runs"]) / 2)
        for run, place in zip(row["runs"], (folder, folder / "run2"), strict=True):
            history = json.loads((place / "tuning.json").read_text())
            assert history["settings"]["seed"] == run["seed"]
            assert run["dev_bleu"] == max(run["dev_bleu_by_iteration"]) and (place / "weights").is_file()
    for row, score in zip(results["systems"], compare_runs(outputs, references, "MIN"), strict=True):
        assert (row["test_bleu"], row["test_bleu_deviation"]) == (score.bleu, score.deviation)
        assert (row["p_value"], row["p_bootstrap"]) == (score.p_randomised, score.p_bootstrap)
    again = lscfg("run", corpus / "e.toml", "-o", whole[0])
    assert "] stage " not in again.stderr and not list(whole[0].glob("systems/*/run2"))


def test_systems_are_tested_against_more_than_the_baseline(whole, corpus):
    before = (whole[0] / "results.json").read_bytes()
    (corpus / "against.toml").write_text(TOML + '[evaluation]\nagainst = ["SPECTRAL"]\n')
    run = lscfg("run", corpus / "against.toml", "-o", whole[0])
    assert run.returncode == 0 and "] stage " not in run.stderr
    results = json.loads((whole[0] / "results.json").read_text())
    head, *rows = run.stdout.splitlines()[:3]
    tested = ["p vs MIN", "p vs SPECTRAL"]
    assert re.split(" {2,}", head)[-7:] == [*tested, "chrF2", "TER", "length", "tuning s", "decoding s"]
    (baseline, other), p = results["systems"], results["systems"][1]["p_value"]
    assert (baseline["p_against"], other["p_against"]) == ({"SPECTRAL": p}, {"SPECTRAL": None})
    assert all(f"{p:.4f}" in row for row in rows) and "against SPECTRAL" in (whole[0] / "report.html").read_text()
    manifest = json.loads((whole[0] / "manifest.json").read_text())
    tuned = [whole[0] / "cache" / stage["folder"] for stage in manifest["stages"] if stage["stage"] == "tune"]
    times = [json.loads((folder / "seconds.json").read_text()) for folder in tuned]
    seconds = [sum(found["decoding"]) + sum(found["learning"]) for found in times]
    assert [row.split()[-2] for row in rows] == [f"{value:.0f}" for value in seconds]
    alone = read_experiment(corpus / "against.toml", Overrides(systems=["MIN"]))
    assert alone.evaluation.against == []
    again = lscfg("run", corpus / "e.toml", "-o", whole[0])
    assert again.returncode == 0 and (whole[0] / "results.json").read_bytes() == before


def test_tuning_begins_with_the_weights_of_another_system(whole, corpus, tmp_path):
    file = tmp_path / "e.toml"
    file.write_text(
        TOML.replace("iterations = 3", "iterations = 2")
        + '\n[systems.HIERO]\ngrammar = "hiero"\n'
        + '\n[systems.BOTH]\ngrammar = "hiero"\nestimator = "mle"\nfeatures = "ratios"\nstart = "HIERO"\n'
    )
    both = '\n[systems."HIERO+MLE"]\ngrammar = "both"\nestimator = "mle"\nfeatures = ["ratios", "context"]\n'
    file.write_text(file.read_text() + both)
    with pytest.raises(InputError, match="--systems: BOTH begins with the weights of HIERO; give both"):
        read_experiment(file, Overrides(data=corpus, systems=["MIN", "BOTH"]))
    names = "MIN,HIERO,BOTH,HIERO+MLE"
    run = lscfg("run", file, "--data", corpus, "-o", tmp_path / "out", "--systems", names, "--jobs", 1)
    assert run.returncode == 0, run.stderr
    rows = {row["system"]: row for row in json.loads((tmp_path / "out" / "results.json").read_text())["systems"]}
    assert rows["BOTH"]["start_dev_bleu"] == rows["HIERO"]["dev_bleu"] > rows["HIERO"]["start_dev_bleu"]
    assert rows["BOTH"]["rules"] == rows["HIERO"]["rules"] and rows["BOTH"]["states"] == 1
    made = [json.loads(path.read_text()) for path in (tmp_path / "out").glob("cache/*/stage.json")]
    (aligned,) = (tmp_path / "out").glob("cache/align-*")
    joined = {file_hash(aligned / heuristic): heuristic for heuristic in ("union", "grow-diag-final-and")}
    for stage in made:
        if stage["stage"] in ("derive", "hiero"):
            used = [joined[stage["inputs"][f"alignments {k}"]] for k in (1, 2)]
            assert used == ["union", "grow-diag-final-and"]
    grammars = {}
    for name in rows:
        ini = tmp_path / "out" / "systems" / name / "cdec.ini"
        config = read_ini(ini)
        lines = gzip.decompress((ini.parent / config.grammars[0]).read_bytes()).decode().splitlines()
        grammars[name] = {line.split(" ||| ", 1)[1].rsplit(" |||", 1)[0] for line in lines}
        assert config.glue == (name in ("HIERO", "BOTH"))
        assert config.latent is None or (config.latent.options.get("unknown") == "zero") == (name == "HIERO+MLE")
    assert grammars["HIERO+MLE"] == grammars["MIN"] | grammars["HIERO"] and grammars["MIN"] - grammars["HIERO"]
    assert rows["HIERO+MLE"]["rules"] == len(grammars["HIERO+MLE"])
    weights = read_weights(tmp_path / "out" / "systems" / "BOTH" / "weights")
    assert {*LATENT_FEATURES[4:11]} <= {*weights} and rows["BOTH"]["dev_bleu"] >= rows["HIERO"]["dev_bleu"]


def test_grammar_of_a_file(whole, corpus, tmp_path):
    """The rules that the other system extracted, in another order: the same translations."""
    (made,) = whole[0].glob("cache/grammar-*/grammar.gz")
    rules = gzip.decompress(made.read_bytes()).decode().splitlines()
    (tmp_path / "rules").write_text("\n".join(rules[::-1]) + "\n")
    text = (corpus / "e.toml").read_text().replace("[systems.MIN]", f'[systems.MIN]\ngrammar_file = "{tmp_path}/rules"')
    (corpus / "given.toml").write_text(text)
    run = lscfg("run", corpus / "given.toml", "-o", tmp_path / "out", "--systems", "MIN")
    assert run.returncode == 0, run.stderr
    results = (json.loads((folder / "results.json").read_text()) for folder in (tmp_path / "out", whole[0]))
    ours, theirs = (result["systems"][0] for result in results)
    assert (ours["rules"], ours["start_dev_bleu"]) == (theirs["rules"] + 1, theirs["start_dev_bleu"])
    (tmp_path / "rules").write_text(rules[0] + "\n[X] ||| a\n")
    run = lscfg("run", corpus / "given.toml", "-o", tmp_path / "out", "--systems", "MIN")
    assert run.returncode == 1 and f"{tmp_path}/rules:2: " in run.stderr


def test_optimiser_of_the_experiment(whole, corpus, tmp_path):
    (corpus / "mert.toml").write_text(TOML.replace("kbest = 20", 'kbest = 20\noptimiser = "mert"'))
    folder, _ = whole
    shutil.copytree(folder / "cache", tmp_path / "mert" / "cache")
    lscfg("run", corpus / "mert.toml", "-o", tmp_path / "mert", "--systems", "MIN")
    log = json.loads((tmp_path / "mert" / "systems" / "MIN" / "tuning.json").read_text())
    assert log["settings"]["optimiser"] == "mert"
    ours = json.loads((folder / "systems" / "MIN" / "tuning.json").read_text())
    assert ours["history"][0] == log["history"][0] and ours["history"][1] != log["history"][1]


def test_single_run_scores_are_sacrebleus(whole, corpus):
    results = json.loads((whole[0] / "results.json").read_text())
    references = [(corpus / "test.en").read_text().splitlines()]
    outputs = {name: read_lines(whole[0] / "systems" / name / "test.output") for name in ("MIN", "SPECTRAL")}
    for row, score in zip(
        results["systems"], evaluate(outputs, references, "MIN", metrics=METRICS, trials=10).systems, strict=True
    ):
        assert row["test_bleu"] == pytest.approx(score.metrics["BLEU"].score)
        assert row["test_bleu_ci"] == pytest.approx(score.metrics["BLEU"].ci, abs=1e-4)
        assert row["test_chrF2"] == score.metrics["chrF2"].score and row["test_TER"] == score.metrics["TER"].score
        assert row["test_bleu_deviation"] is None


def test_report_of_a_run(whole):
    page = (whole[0] / "report.html").read_text()
    assert "Span marginals of sentence" in page and "Singular values of SPECTRAL" in page and "MIN" in page


def test_charts_are_the_marginals_of_the_model(whole, corpus, tmp_path):
    """With all target sides in the grammar, as lscfg marginals has them."""
    (corpus / "all.toml").write_text(TOML + "[grammar]\nmax_targets = 100000\n")
    experiment = read_experiment(corpus / "all.toml")
    cache = StageCache(whole[0] / "cache")
    links = stages.alignments(cache, experiment, 1)
    derivations = stages.derive(cache, experiment, links)
    model = stages.estimate(cache, experiment, experiment.systems["SPECTRAL"], derivations, links, 1)
    sentence = (corpus / "test.es").read_text().splitlines()[0]
    rules = stages.grammar(cache, experiment, derivations)
    made = stages.charts(StageCache(tmp_path), rules, model, [sentence, ""])
    spans, empty = json.loads((made / "charts.json").read_text())
    (tmp_path / "one").write_text(sentence + "\n")
    record = json.loads(lscfg("marginals", model / "model.lscfg", tmp_path / "one").stdout)
    expected = {(i, j): pytest.approx(value, rel=1e-8) for _, i, j, value in record["nodes"]}
    assert {(i, j): value for i, j, value in spans} == expected and len(expected) > 10
    assert empty == []


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"data": "nowhere"}, "nowhere: no such folder; --data names the folder"),
        ({"runs": 0}, "--runs must be at least 1, not 0"),
        ({"decoder": "joshua"}, "name must be one of embedded, cdec, moses"),
        ({"systems": ["MIN", "EM"]}, "--systems: no system 'EM'; there are MIN, SPECTRAL"),
        ({"systems": ["SPECTRAL"]}, "baseline must be one of the systems: SPECTRAL"),
    ],
)
def test_bad_overrides(corpus, overrides, message):
    found = Overrides(**(overrides | ({"data": Path(overrides["data"])} if "data" in overrides else {})))
    with pytest.raises(InputError, match=message):
        read_experiment(corpus / "e.toml", found)


def test_data_folder_is_where_the_corpus_lies(corpus, tmp_path):
    (tmp_path / "e.toml").write_text(TOML)
    with pytest.raises(InputError, match=r"e\.toml:3: source: no file .*; name the folder of the corpus with --data"):
        read_experiment(tmp_path / "e.toml")
    experiment = read_experiment(tmp_path / "e.toml", Overrides(data=corpus))
    assert experiment.corpus.test_reference == [corpus / "test.en"]


def test_latent_features_of_each_system(corpus):
    (corpus / "f.toml").write_text(
        TOML.replace("[systems.MIN]", '[features]\nnames = ["LatentSpan", "LatentTarget"]\n\n[systems.MIN]')
        + '[systems.RATIOS]\nestimator = "mle"\nfeatures = "ratios"\n'
    )
    experiment = read_experiment(corpus / "f.toml")
    own = {name: experiment.of(system) for name, system in experiment.systems.items()}
    assert own["SPECTRAL"].features.names == ["LatentSpan", "LatentTarget"]
    assert tuple(own["RATIOS"].features.names) == LATENT_FEATURES[4:11] and own["MIN"].features.names == []
    starts = {name: {key for key in found.tuning.weights if key in LATENT_FEATURES} for name, found in own.items()}
    assert starts == {"MIN": set(), "SPECTRAL": {"LatentTarget"}, "RATIOS": {"LatentTarget", "LatentSourceN"}}
    (corpus / "default.toml").write_text(TOML[: TOML.index("[systems.MIN]")])
    default = read_experiment(corpus / "default.toml").systems
    assert list(default) == ["MIN", "MLE", "SPECTRAL", "LATENT", "HIERO", "HIERO+LATENT"]
    for old, line in (('features = "ratios"', r":\d+"), ('"LatentSpan", "LatentTarget"', r":\d+")):
        (corpus / "bad.toml").write_text((corpus / "f.toml").read_text().replace(old, old.replace('"', '"no', 1)))
        with pytest.raises(InputError, match=rf"bad\.toml{line}: features 'no.*expected some of LatentMarginal"):
            read_experiment(corpus / "bad.toml")


@pytest.mark.parametrize("name", ["ja-en", "de-en"])
def test_experiments_of_table_3(shared, name):
    path = Path(__file__).parents[1] / "experiments" / f"{name}.toml"
    experiment = read_experiment(path, Overrides(data=shared / "data" / name))
    part = read_experiment(path, Overrides(data=shared / "data" / name, systems=["MIN", "EM-8"]))
    assert list(part.systems) == ["MIN", "EM-8"] and part.report.charts == [] != experiment.report.charts
    assert experiment.tuning.runs == 3 and experiment.evaluation.baseline == "MIN"
    estimators = [(system.estimator, system.m) for system in experiment.systems.values()]
    assert [m for kind, m in estimators if kind == "em"] == [8, 16] and ("spectral", 32) in estimators
    ratios = experiment.of(experiment.systems["LATENT-16"])
    assert tuple(ratios.features.names) == LATENT_FEATURES[4:]
    check_host(experiment)
    check_corpus(experiment)
    for system in experiment.systems.values():
        if system.estimator == "spectral":
            assert set(system.inside) <= set(INSIDE_KNOWN) and set(system.outside) <= set(OUTSIDE_KNOWN)


def test_hosts_that_are_not_there(corpus, tmp_path, monkeypatch):
    monkeypatch.setenv("CDEC_ROOT", str(tmp_path))
    monkeypatch.delenv(LIBRARY_VARIABLE, raising=False)
    monkeypatch.delenv("LSCFG_MOSES", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="no Moses found"):
        check_host(read_experiment(corpus / "e.toml", Overrides(decoder="moses")))
    with pytest.raises(InputError, match="no cdec program found"):
        check_host(read_experiment(corpus / "e.toml", Overrides(decoder="cdec")))
    (tmp_path / "cdec").write_text("#!/bin/sh\nexit 3\n")
    (tmp_path / "cdec").chmod(0o755)
    with pytest.raises(InputError, match=r"SPECTRAL: in cdec latent features need lscfg's plug-in"):
        check_host(read_experiment(corpus / "e.toml", Overrides(decoder="cdec")))
    check_host(read_experiment(corpus / "e.toml", Overrides(decoder="cdec", systems=["MIN"])))
    monkeypatch.setenv(LIBRARY_VARIABLE, str(tmp_path / "none.so"))
    with pytest.raises(InputError, match=r"none\.so: no such file; it is what the environment variable"):
        check_host(read_experiment(corpus / "e.toml", Overrides(decoder="cdec")))
    (tmp_path / "none.so").touch()
    settings = read_experiment(corpus / "e.toml", Overrides(decoder="cdec")).decoder
    assert hosts.cdec_library(settings) == tmp_path / "none.so"
    assert sorted(hosts.programs(settings, latent=True)) == ["cdec", "plug-in"]
    assert hosts.cdec_library(read_experiment(corpus / "e.toml").decoder) is None


@pytest.mark.skipif(find_cdec() is None, reason="no cdec; set CDEC_ROOT to its source tree")
def test_in_cdec(whole, corpus, tmp_path, monkeypatch):
    """cdec finds what the embedded decoder finds, whatever the number of its processes."""
    monkeypatch.delenv(LIBRARY_VARIABLE, raising=False)
    for jobs in (1, 3):
        options = ["--decoder", "cdec", "--systems", "MIN", "--jobs", jobs, "-o", tmp_path / str(jobs)]
        run = lscfg("run", corpus / "e.toml", *options)
        assert run.returncode == 0, run.stderr
    one, three = (json.loads((tmp_path / jobs / "results.json").read_text()) for jobs in ("1", "3"))
    assert one == three and one["decoder"] == "cdec"
    embedded = json.loads((whole[0] / "results.json").read_text())["systems"][0]
    assert one["systems"][0]["start_dev_bleu"] == pytest.approx(embedded["start_dev_bleu"], abs=0.5)
    manifest = json.loads((tmp_path / "1" / "manifest.json").read_text())
    assert list(manifest["decoder"]) == ["cdec"]


@pytest.mark.skipif(find_cdec() is None or LIBRARY_VARIABLE not in os.environ, reason="no cdec with lscfg's plug-in")
def test_latent_features_in_cdec(whole, corpus, tmp_path):
    run = lscfg("run", corpus / "e.toml", "--decoder", "cdec", "-o", tmp_path)
    assert run.returncode == 0, run.stderr
    tables = [json.loads((folder / "results.json").read_text())["systems"] for folder in (tmp_path, whole[0])]
    for one, other in zip(*tables, strict=True):
        assert one["start_dev_bleu"] == pytest.approx(other["start_dev_bleu"], abs=0.5)
    assert "LatentMarginal" in (tmp_path / "systems" / "SPECTRAL" / "weights").read_text()


@pytest.mark.parametrize("estimator", ["em", "clusters"])
def test_em_and_clusters_are_estimators(corpus, tmp_path, estimator):
    (corpus / f"{estimator}.toml").write_text(
        TOML.replace('"spectral"', f'"{estimator}"') + "iterations = 2\nheld_out = 0.1\nrestarts = 2\n"
    )
    experiment = read_experiment(corpus / f"{estimator}.toml")
    cache = StageCache(tmp_path)
    links = stages.alignments(cache, experiment, 1)
    derivations = stages.derive(cache, experiment, links)
    model = stages.estimate(cache, experiment, experiment.systems["SPECTRAL"], derivations, links, 2)
    assert sorted(path.name for path in model.path.iterdir()) == [
        "model.lscfg",
        "size.json",
        "stage.json",
    ]
    about = Parameters.load(model / "model.lscfg").about
    assert about["method"] == estimator and about["settings"]["rank"] == 3 and about["settings"]["iterations"] == 2
    assert len(about["held-out log-likelihood a rule"]) == 2


def test_settings_of_the_trees_reach_the_derivation_file(corpus, tmp_path):
    (corpus / "links").write_text("0-0\n" * 1200)
    chosen = '[derive]\nmax_arity = 1\nbinarise = true\nbracketing = "right"\n[corpus]\nalignment = "links"'
    (corpus / "derive.toml").write_text(TOML.replace("[corpus]", chosen))
    experiment, cache = read_experiment(corpus / "derive.toml"), StageCache(tmp_path)
    made = derive(cache, experiment, experiment.corpus.alignment)
    options = Derivations.load(made / DERIVATIONS).options
    assert options == DeriveOptions("right", 1, True)
    assert not derive(cache, read_experiment(corpus / "e.toml"), experiment.corpus.alignment).reused
    assert dataclasses.asdict(DeriveSettings()).items() <= dataclasses.asdict(DeriveOptions()).items()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[tuning]", "[tunning]", "unknown key 'tunning'"),
        ("kbest = 20", "kbset = 20", r"e\.toml:16: unknown key 'kbset'; known here are optimiser"),
        ("kbest = 20", 'kbest = "20"', r"e\.toml:16: kbest must be a whole number"),
        ("kbest = 20", "kbest = 0", r"e\.toml:16: kbest must be at least 1"),
        ("iterations = 3", "iterations = 3.5", "must be a whole number"),
        ('"train.es"', '"none.es"', r"e\.toml:3: source: no file"),
        ('target = "train.en"\n', "", "corpus.target is missing"),
        ('"spectral"', '"spectal"', r"e\.toml:21: estimator must be one of"),
        ('"spectral"\nm = 3', '"em"\nheld_out = 1.5', r"e\.toml:20: the held-out share must be in"),
        ('"spectral"\nm = 3', '"em"\ninit = "best"', "unknown initialisation 'best'"),
        ("[systems.MIN]", "[systems.BASE]", "baseline must be one of the systems"),
        ("kbest = 20", "runs = 0", r"e\.toml:16: runs must be at least 1"),
        ("[tuning]", '[decoder]\nname = "joshua"\n[tuning]', r"e\.toml:15: name must be one of embedded, cdec, moses"),
        ("[tuning]", '[report]\ncharts = ["MIN"]\n[tuning]', r"e\.toml:15: charts: 'MIN' is no system with an estim"),
        ("kbest = 20", 'optimiser = "sgd"', r"e\.toml:16: optimiser must be one of mira, mert, pro, forest-mert"),
        (
            "[tuning]",
            '[decoder]\nname = "cdec"\n[tuning]\noptimiser = "forest-mert"',
            r"e\.toml:17: forest-mert needs the hypergraphs of the embedded decoder",
        ),
        ("[tuning]", "[report]\nsentences = [0]\n[tuning]", r"e\.toml:15: sentences count from 1"),
        ("[tuning]", "[report]\nexamples = -1\n[tuning]", r"e\.toml:15: examples must be at least 0"),
        ("[tuning]", "[evaluation]\ntrials = 0\n[tuning]", r"e\.toml:15: trials must be at least 1"),
        ("[tuning]", '[evaluation]\nagainst = ["EM"]\n[tuning]', r"e\.toml:15: against: 'EM' is no system"),
        ("[tuning]", '[evaluation]\nagainst = ["MIN"]\n[tuning]', r"e\.toml:15: against: 'MIN' is no system"),
        ("[tuning]", '[evaluation]\nagainst = ["SPECTRAL", "SPECTRAL"]\n[tuning]', r"e\.toml:15: against: .* twice"),
        ("[tuning]", "[tuning", r"e\.toml:14: not TOML"),
        ("m = 3", 'start = "HIERO"', r"e\.toml:22: start: 'HIERO' is no system before this one"),
        ("[tuning]", '[alignment]\nmodel = "giza"\n[tuning]', r"e\.toml:14: unknown alignment model 'giza'; known are"),
        ("[tuning]", "[alignment]\niterations = 0\n[tuning]", r"e\.toml:14: alignment needs 1 iteration or more"),
        ("[tuning]", "[alignment]\nseeds = 0\n[tuning]", r"e\.toml:15: unknown key 'seeds'; known here are model"),
        ("[tuning]", "[derive]\nmax_arity = 3\n[tuning]", r"e\.toml:15: max_arity must be at most 2"),
        ("[tuning]", "[derive]\nmax_arity = -1\n[tuning]", r"e\.toml:15: max_arity must be at least 0"),
        (
            "[tuning]",
            '[alignment]\nheuristics = "x"\n[tuning]',
            r"e\.toml:14: unknown alignment heuristic 'x'; known are",
        ),
        ("[tuning]", "[alignment]\nheuristics = []\n[tuning]", r"e\.toml:14: heuristics must name one or more"),
        ("[tuning]", '[features]\nnegative = "flop"\n[tuning]', r"e\.toml:14: negative marginals: 'flip' or 'clamp'"),
        ("[tuning]", "[features]\nfloor = -1.0\n[tuning]", r"e\.toml:14: feature floor must be above 0"),
        ("order = 3", "order = 9", r"e\.toml:10: order 9 of the language model is outside"),
        ('"lscfg"', '"ken"', r"e\.toml:10: unknown estimator 'ken'"),
        ("kbest = 20", "weights.Glue = inf", r"e\.toml:14: the weight of Glue must be a finite number"),
        ("m = 3", 'm = 3\ninside = ["rul"]', r"e\.toml:20: unknown inside feature template 'rul'; known are"),
        ("m = 3", "m = 3\nsmoothing = -3.0", r"e\.toml:20: smoothing must be a number of at least 0"),
        ("m = 3", 'm = 3\ninside = ["class"]', r"e\.toml:20: the feature template 'class' needs a file"),
        ("m = 3", 'm = 3\noutside = ["real"]', r"e\.toml:20: the feature template 'real' needs a file"),
        ('"spectral"\nm = 3', '"mle"\nmax_targets = -1', r"e\.toml:22: max_targets must be at least 0"),
        ("m = 3", "m = 3\niterations = 5", r"e\.toml:23: iterations is not for the estimator spectral"),
        ("[systems.MIN]", '[systems.MIN]\nfeatures = ["ratios"]', r"features is not for a system without estimator"),
        ("[tuning]", "[hiero]\nmax_phrase = 5000\n[tuning]", r"e\.toml:14: Hiero limit max_phrase must be 1 to 1000"),
        ("kbest = 20", "kbest = 2147483648", r"e\.toml:16: kbest must be at most 2147483647"),
        ("[tuning]", '[derive]\nbracketing = "up"\n[tuning]', r"e\.toml:15: bracketing must be one of normal, left"),
    ],
)
def test_bad_experiment_file(corpus, tmp_path, old, new, message):
    for name in ("train.es", "train.en", "dev.es", "dev.en", "test.es", "test.en"):
        (tmp_path / name).write_bytes((corpus / name).read_bytes())
    (tmp_path / "e.toml").write_text(TOML.replace(old, new, 1))
    with pytest.raises(InputError, match=message):
        read_experiment(tmp_path / "e.toml")


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("train.en", lambda t: t.split("\n", 1)[1], r"train\.en: 1199 lines"),
        ("train.es", lambda t: "\n" + t.split("\n", 1)[1], r"train\.es:1: empty line"),
        ("dev.en", lambda t: t + "more\n", r"dev\.en: 41 lines"),
        ("dev.es", lambda t: t.replace("\n", "\n\n", 1), r"dev\.es:2: empty line"),
        ("test.es", lambda t: "<seg id='1'>" + t, r"test\.es:1: a segment of cdec's"),
    ],
)
def test_bad_corpus(corpus, tmp_path, name, change, message):
    for part in ("train.es", "train.en", "dev.es", "dev.en", "test.es", "test.en"):
        text = (corpus / part).read_text()
        (tmp_path / part).write_text(change(text) if part == name else text)
    (tmp_path / "e.toml").write_text(TOML)
    with pytest.raises(InputError, match=message):
        check_corpus(read_experiment(tmp_path / "e.toml"))


def test_chart_of_a_line_that_is_not_there(corpus):
    (corpus / "far.toml").write_text(TOML + "[report]\nsentences = [40, 41]\n")
    with pytest.raises(InputError, match=r"test\.es: has 40 lines; \[report\] asks for a chart of line 41"):
        check_corpus(read_experiment(corpus / "far.toml"))


def test_failed_stage_is_one_line_and_keeps_the_others(corpus, tmp_path):
    (tmp_path / "links").write_text("0-99\n" * 1200)
    toml = corpus / "bad_links.toml"
    toml.write_text(TOML.replace("[corpus]", f'[corpus]\nalignment = "{tmp_path / "links"}"'))
    run = lscfg("run", toml, "-o", tmp_path / "out")
    assert run.returncode == 1 and "Traceback" not in run.stderr
    assert "links:1: link '0-99' points beyond the target sentence" in run.stderr.splitlines()[-1]


def test_measured_work_passes_errors_on():
    def fail(error):
        raise error

    with pytest.raises(LscfgError, match="file:3: no good"):
        measured(lambda: fail(InputError("no good", "file", 3)))
    with pytest.raises(LscfgError, match="No space left"):
        measured(lambda: fail(OSError(28, "No space left on device")))
    with pytest.raises(LscfgError, match="status 7"):
        measured(lambda: os._exit(7))
    seconds, peak = measured(lambda: time.sleep(0.05))
    assert seconds >= 0.05 and peak > 1000


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process that its parent has died")
def test_a_killed_run_leaves_no_stage_at_work(tmp_path):
    program = "import os, time; from tuning.experiment.cache import measured\n"
    program += "measured(lambda: (print(os.getpid(), flush=True), time.sleep(600)))"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as parent:
        child = int(parent.stdout.readline())
        parent.kill()
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and _is_running(child):
        time.sleep(0.01)
    assert not _is_running(child)


def _is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_jobs_are_checked_first(corpus, tmp_path):
    with pytest.raises(InputError, match="jobs must be 1 or more, not 0"):
        run_experiment(corpus / "e.toml", tmp_path / "out", 0)
    assert not (tmp_path / "out").exists()


def test_manifest_names_a_moses_without_latent_features_where_none_are_needed(corpus, tmp_path, monkeypatch):
    monkeypatch.delenv("LSCFG_MOSES", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "moses_chart").write_text("#!/bin/sh\n")
    (tmp_path / "moses_chart").chmod(0o755)
    experiment = read_experiment(corpus / "e.toml", Overrides(decoder="moses", systems=["MIN"]))
    check_host(experiment)
    manifest = _manifest(corpus / "e.toml", experiment, StageCache(tmp_path / "cache"), {}, 1)
    assert list(manifest["decoder"]) == ["moses"]


def test_folder_is_locked(tmp_path):
    with locked(tmp_path), pytest.raises(InputError, match="another run"), locked(tmp_path):
        pass


def test_the_lock_ends_with_the_process_that_took_it(tmp_path):
    """Whatever a stage has started may live on for a while when the run is killed."""

    def stage():
        if os.fork() == 0:
            time.sleep(600)
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(600)

    run = os.fork()
    if run == 0:
        with locked(tmp_path):
            os.setpgid(0, 0)
            measured(stage)
        os._exit(1)
    assert os.WIFSIGNALED(os.waitpid(run, 0)[1])
    try:
        with locked(tmp_path):
            pass
    finally:
        os.killpg(run, signal.SIGKILL)


def test_what_a_killed_stage_was_writing_is_not_kept(tmp_path):
    def killed(folder):
        with atomic_write(folder / "out") as file:
            file.write("half")
            file.flush()
            os._exit(9)

    with pytest.raises(LscfgError, match="status 9"):
        StageCache(tmp_path).run("copy", {}, {}, killed)
    assert len(list(tmp_path.glob("copy-*/.out.*.tmp"))) == 1
    stage = StageCache(tmp_path).run("copy", {}, {}, lambda folder: (folder / "out").write_text("whole"))
    assert sorted(path.name for path in stage.path.iterdir()) == ["out", "stage.json"]


def test_stage_is_made_once_and_again_when_an_input_changes(tmp_path):
    (tmp_path / "in").write_text("a")
    made = []

    def make(folder):
        (folder / "out").write_text((tmp_path / "in").read_text())

    for content in ("a", "a", "b"):
        (tmp_path / "in").write_text(content)
        stage = StageCache(tmp_path / "cache").run("copy", {"x": 1}, {"in": tmp_path / "in"}, make)
        made.append(stage.reused)
        assert (stage / "out").read_text() == content
    assert made == [False, True, False]


# Every key reaches what it is for: what does the work is replaced by doubles that have its parameters.

EVERY_KEY = """
[corpus]
source = "f"
target = "e"
dev_source = "dev.f"
dev_reference = ["dev.e1", "dev.e2"]
test_source = "test.f"
test_reference = ["test.e1", "test.e2"]
alignment = ["links1", "links2"]

[alignment]
model = "fast-align"
heuristics = ["intersect", "grow-diag"]
iterations = 3
seed = 4

[derive]
max_arity = 1
binarise = true
bracketing = "right"

[grammar]
max_targets = 7

[hiero]
max_phrase = 6
max_target_phrase = 8
max_symbols = 4
max_arity = 1
max_targets = 9
max_span = 11

[language_model]
order = 2
file = "arpa"
estimator = "lscfg"
discount_fallback = true

[decoder]
name = "cdec"
plugin = "liblscfg_cdec.so"
max_span = 33
pop_limit = 44

[features]
log = false
floor = 0.001
negative = "clamp"
names = ["LatentSpan"]

[tuning]
optimiser = "pro"
iterations = 5
kbest = 21
patience = 2
seed = 6
runs = 2
weights = { Glue = 0.25, LatentSpan = 0.75 }

[evaluation]
baseline = "HIERO"
against = ["EM"]
samples = 50
trials = 60
seed = 70

[report]
charts = ["EM"]
sentences = [2]
examples = 1

[systems.HIERO]
grammar = "hiero"

[systems.GIVEN]
grammar_file = "rules"
start = "HIERO"

[systems.MLE]
grammar = "both"
estimator = "mle"
max_targets = 3
features = ["context"]

[systems.SPECTRAL]
estimator = "spectral"
m = 2
seed = 3
inside = ["rule", "class"]
outside = ["parent", "real"]
min_count = 4
scaling = false
smoothing = 0.5
max_targets = 6
src_classes = "classes.f"
tgt_classes = "classes.e"
rule_values = "values"

[systems.EM]
estimator = "em"
m = 4
seed = 5
iterations = 7
restarts = 2
init = "matsuzaki"
shrink_source = 8.0
shrink_arity = 9.0
held_out = 0.25

[systems.CLUSTERS]
estimator = "clusters"
"""
JOBS = 3


class Doubles:
    """Doubles of functions by their last names, and the experiment that they have run."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch):
        self.folder, self._patch = folder, patch

    def put(self, name: str, result=None, does=None):
        setattr(self, name.rpartition(".")[2], double(self._patch, name, result, does))


def touch(path, *_, **__):
    Path(path).touch()
    return 4


def tuned(decoder, sources, references, weights, settings, folder, **_):
    (folder / "history.json").write_text('{"history": [{"dev_bleu": 20}]}')
    first = Iteration(1, 20.0, 1.0, 30.0, None, 9, 9, dict(weights))
    return TuneResult({**weights, "Seed": settings.seed}, 1, (first,), "done", 0.5)


def charted(cache, rules, model, sentences):
    (cache.folder / "charts.json").write_text("[]")
    return cache.folder


@pytest.fixture(scope="module")
def doubles(tmp_path_factory):
    """After a run of the experiment with every key, whose files are all small."""
    folder = tmp_path_factory.mktemp("keys")
    for name in re.findall(r'"([a-z0-9_.]+)"', EVERY_KEY):
        (folder / name).write_text(f"{name} one\n{name} two\n")
    (folder / "e.toml").write_text(EVERY_KEY)
    model = SimpleNamespace(rank=3, save=touch)
    decoder = SimpleNamespace(decode=lambda lines, weights, k: [[Hypothesis(line, {}, 0.0)] * k for line in lines])
    with pytest.MonkeyPatch.context() as patch:
        found = Doubles(folder, patch)
        patch.setattr("tuning.experiment.cache.measured", lambda work: (work(), (0.0, 0))[1])
        found.put("tuning.experiment.hosts.find_cdec", folder / "e.toml")
        found.put("lscfg.corpus.align.align_both_ways", SimpleNamespace(joined=lambda heuristic: [heuristic]))
        found.put("lscfg.lm.arpa.check_arpa")
        found.put("lscfg.lm.lmplz.build_lm")
        found.put("lscfg.decode.decoder.read_grammar", [])
        found.put("lscfg.extract.derive.derive_files", {"sentences": 2})
        found.put("lscfg.extract.derive.Derivations.load", "trees")
        found.put("lscfg.extract.minimal.MinimalRules.of", "minimal rules")
        found.put("lscfg.extract.hiero.extract_files", SimpleNamespace(statistics=dict))
        found.put("lscfg.grammar.select.select_rules", SimpleNamespace(kept=[], dropped={}))
        found.put("lscfg.grammar.write.write_grammar", does=touch)
        found.put("lscfg.grammar.write.write_union", does=touch)
        found.put("lscfg.grammar.counts.effective_size", 5)
        found.put("lscfg.estimate.mle.estimate_mle", model)
        found.put("lscfg.estimate.spectral.estimate_spectral", model)
        found.put("lscfg.estimate.em.estimate_em", model)
        found.put("lscfg.context.loglinear.read_source", ["text"])
        found.put("lscfg.context.loglinear.RuleTokens.minimal", "minimal places")
        found.put("lscfg.context.loglinear.RuleTokens.hiero", "Hiero places")
        found.put("lscfg.context.loglinear.RuleTokens.with_those_of", "places")
        found.put("lscfg.context.loglinear.add_context", model)
        found.put("tuning.experiment.run._singular_values")
        found.put("tuning.experiment.stages.open_decoder", does=lambda *_, **__: nullcontext(decoder))
        found.put("tuning.tune.tune", does=tuned)
        found.put("tuning.experiment.run.compare_runs", does=compare_runs)
        found.put("tuning.experiment.run.evaluate", does=evaluate)
        found.put("tuning.experiment.stages.charts", does=charted)
        found.put("tuning.experiment.run.render", "page")
        run_experiment(folder / "e.toml", folder / "out", JOBS)
        yield found


def paths(doubles, *names):
    return [doubles.folder / name for name in names]


def test_every_key_has_another_value(doubles):
    experiment = read_experiment(doubles.folder / "e.toml")
    sections = {item.name: [getattr(experiment, item.name)] for item in dataclasses.fields(experiment)}
    sections["systems"] = list(experiment.systems.values())
    for name, given in sections.items():
        for key in dataclasses.fields(given[0]):
            default = key.default if key.default_factory is dataclasses.MISSING else key.default_factory()
            assert any(getattr(section, key.name) != default for section in given), (name, key.name)


def test_keys_of_alignments_and_language_model(doubles):
    """Those of files are in the run; what is made where there are none, besides."""
    doubles.check_arpa.assert_called_once_with(doubles.folder / "arpa", 2)
    assert not doubles.align_both_ways.called and not doubles.build_lm.called
    experiment, cache = read_experiment(doubles.folder / "e.toml"), StageCache(doubles.folder / "cache")
    corpus = dataclasses.replace(experiment.corpus, alignment=[])
    without = dataclasses.replace(experiment, corpus=corpus)
    assert [path.name for path in stages.alignments(cache, without, JOBS)] == ["intersect", "grow-diag"]
    settings = AlignmentSettings(model="fast-align", heuristic="intersect", iterations=3, seed=4)
    doubles.align_both_ways.assert_called_once_with(["f one", "f two"], ["e one", "e two"], settings, jobs=JOBS)
    lm = dataclasses.replace(experiment.language_model, file=None)
    stages.language_model(cache, dataclasses.replace(experiment, language_model=lm))
    doubles.build_lm.assert_called_once_with(
        doubles.folder / "e", ANY, order=2, prune=(), discount_fallback=DEFAULT_FALLBACK, estimator="lscfg"
    )


def test_keys_of_rules(doubles):
    text, links = paths(doubles, "f", "e"), paths(doubles, "links1", "links2")
    settings = DeriveOptions(bracketing="right", max_arity=1, binarise=True)
    doubles.derive_files.assert_called_once_with(*text, links, ANY, settings)
    limits = HieroLimits(max_phrase=6, max_target_phrase=8, max_symbols=4, max_arity=1)
    doubles.extract_files.assert_called_once_with(*text, links, limits)
    sentences = ["dev.f one", "dev.f two", "test.f one", "test.f two"]
    minimal = call("minimal rules", max_targets=7)
    doubles.select_rules.assert_has_calls([minimal, call(ANY, max_targets=9, sentences=sentences)])
    assert doubles.select_rules.call_count == 2
    doubles.read_grammar.assert_called_once_with(DecoderConfig(grammars=(doubles.folder / "rules",)))
    doubles.hiero.assert_called_once_with(*text, links, limits)
    doubles.add_context.assert_called_once_with(ANY, "places", ["text"])


def test_keys_of_estimators(doubles):
    doubles.estimate_mle.assert_called_once_with("trees", max_targets=3)
    files = FeatureSources(*paths(doubles, "classes.f", "classes.e", "values"))
    settings = SpectralSettings(
        rank=2,
        inside=("rule", "class"),
        outside=("parent", "real"),
        seed=3,
        min_count=4,
        scaling=False,
        smoothing=0.5,
        max_targets=6,
        sources=files,
    )
    doubles.estimate_spectral.assert_called_once_with("trees", settings)
    em = EMSettings(
        rank=4,
        iterations=7,
        restarts=2,
        seed=5,
        initial="matsuzaki",
        shrink_source=8,
        shrink_arity=9,
        held_out=0.25,
    )
    clusters = EMSettings(iterations=5, initial="clusters")
    calls = [call("trees", each, threads=JOBS, checkpoint=ANY, resume=False) for each in (em, clusters)]
    doubles.estimate_em.assert_has_calls(calls)
    assert doubles.estimate_em.call_count == 2


def test_keys_of_decoders(doubles):
    configs = {
        path.parent.name: read_ini(path) for path in sorted((doubles.folder / "out" / "systems").glob("*/cdec.ini"))
    }
    assert {name: config.max_span for name, config in configs.items()} == {**dict.fromkeys(configs, 33), "HIERO": 11}
    assert all(config.pop_limit == 44 and config.language_model for config in configs.values())
    assert configs["HIERO"].latent is configs["GIVEN"].latent is None
    options = {"log": "false", "floor": "0.001", "negative": "clamp"}
    for name, features in {"MLE": CONTEXT_FEATURES, "EM": ["LatentSpan"], "CLUSTERS": ["LatentSpan"]}.items():
        latent = configs[name].latent
        assert latent.library == str(doubles.folder / "liblscfg_cdec.so")
        assert latent.options.items() >= {**options, "features": ",".join(features)}.items()
    library = doubles.folder / "liblscfg_cdec.so"
    tunings = [call("cdec", ANY, JOBS, library=library)] * 12
    decodings = [call("cdec", ANY, JOBS, once=True, library=library)] * 12
    doubles.open_decoder.assert_has_calls(tunings + decodings, any_order=True)
    assert doubles.open_decoder.call_count == 24


def test_keys_of_tuning(doubles):
    sources = ["dev.f one", "dev.f two"]
    references = [["dev.e1 one", "dev.e1 two"], ["dev.e2 one", "dev.e2 two"]]
    calls = []
    for name in ("HIERO", "GIVEN", "MLE", "SPECTRAL", "EM", "CLUSTERS"):
        for seed in (6, 7):
            settings = TuneSettings(optimiser="pro", iterations=5, kbest=21, patience=2, seed=seed)
            more = {"HIERO": {}, "GIVEN": {"Seed": seed}, "MLE": {}}.get(name, {"LatentSpan": 0.75})
            calls.append(call(ANY, sources, references, {"Glue": 0.25, **more}, settings, ANY, resume=False))
    doubles.tune.assert_has_calls(calls)
    assert doubles.tune.call_count == 12


def test_keys_of_evaluation_and_report(doubles):
    references = [["test.e1 one", "test.e1 two"], ["test.e2 one", "test.e2 two"]]
    doubles.compare_runs.assert_called_once_with(
        ANY, references, baseline="HIERO", samples=50, trials=60, seed=70, against=["EM"]
    )
    doubles.evaluate.assert_called_once_with(ANY, [["test.e1 one"], ["test.e2 one"]], None, samples=50, seed=70)
    content = doubles.render.call_args.args[0]
    assert (list(content.charts), content.charted, content.examples) == (["EM"], [1], 1)
    assert [made.args[3] for made in doubles.charts.mock_calls] == [["test.f two"]]
    assert content.results["against"] == ["EM"] and content.results["runs"] == 2
