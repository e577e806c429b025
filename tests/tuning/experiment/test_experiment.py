"""The experiment runner: a whole run on a little corpus, resumed, changed, with several tunings, in cdec."""

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
from pathlib import Path

import numpy as np
import pytest
from aligners import with_aligner
from little_experiment import TOML, run_lscfg, stages_begun
from sacrebleu.metrics import BLEU, CHRF, TER

from lscfg.bundle.system import open_system
from lscfg.cdec_bridge.decoder import LIBRARY_VARIABLE, find_cdec
from lscfg.corpus.align import AlignmentSettings
from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.errors import InputError
from lscfg.estimate.neural import Design, NeuralEstimator
from lscfg.extract.derive import Derivations
from lscfg.formats.ini import read_ini
from lscfg.formats.weights import read_weights
from lscfg.io.read import read_lines
from lscfg.kernel import LATENT_FEATURES, DeriveOptions, TreeOptions
from lscfg.model.parameters import Parameters
from lscfg.tuning.evaluate import evaluate
from lscfg.tuning.experiment.cache import StageCache
from lscfg.tuning.experiment.config import Overrides, read_experiment
from lscfg.tuning.experiment.manifest import manifest_of
from lscfg.tuning.experiment.plan import make_plan
from lscfg.tuning.experiment.run import run_experiment
from lscfg.tuning.experiment.stage import Stage, with_files
from lscfg.tuning.experiment.stages.charts import SENTENCES, TREES
from lscfg.tuning.experiment.stages.rules import DERIVATIONS, GRAMMAR
from lscfg.tuning.experiment.state import Run
from lscfg.tuning.experiment.steps.agree import SCALES
from lscfg.tuning.experiment.steps.latent import MODEL


def make_with_sources(cache, stage, jobs=1):
    """Makes a stage and all that it needs."""
    for source in stage.sources:
        make_with_sources(cache, source, jobs)
    return cache.make(stage, jobs)


@pytest.fixture(scope="module")
def whole(corpus, tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    run = run_lscfg("run", corpus / "e.toml", "-o", folder, "--jobs", 1)
    assert run.returncode == 0, run.stderr
    return folder, run


def test_results_count_the_words_of_each_set(whole, corpus):
    results = json.loads((whole[0] / "results.json").read_text())
    counted = {
        part: [(corpus / f"{part}.{side}").read_text().split() for side in ("ja", "en")]
        for part in ("train", "dev", "test")
    }
    assert [row["set"] for row in results["words"]] == ["training", "dev", "test"]
    for row, (source, target) in zip(results["words"], counted.values(), strict=True):
        assert (row["source words"], row["target words"]) == (len(source), len(target))
    assert [row["sentences"] for row in results["words"]] == [1200, 40, 40]


def test_table_and_results(whole):
    folder, run = whole
    results = json.loads((folder / "results.json").read_text())
    assert [row["system"] for row in results["systems"]] == ["MIN", "SPECTRAL"]
    for row in results["systems"]:
        assert row["dev_bleu"] >= row["start_dev_bleu"] and 0 < row["test_bleu"] <= 100
        assert row["system"] in run.stdout
    *_, report, file, translate = run.stdout.splitlines()
    told = run.stdout.split("\n\n")[-1].splitlines()[0]
    assert re.match(r"(No system|SPECTRAL) has (a better|the best) test BLEU", told)
    assert told in re.sub("<[^>]*>", "", (folder / "report.html").read_text())
    assert [report.split(), file.split()] == [
        ["report:", str(folder / "report.html")],
        ["results:", str(folder / "results.json")],
    ]
    best = folder / "systems" / max(results["systems"], key=lambda row: row["test_bleu"])["system"]
    assert translate == f"translate: lscfg decode -c {best}/cdec.ini -w {best}/weights TEXT"
    assert results["systems"][1]["states"] == 3 and results["systems"][1]["p_value"] is not None
    for name in ("MIN", "SPECTRAL"):
        assert len((folder / "systems" / name / "test.output").read_text().splitlines()) == 40
        assert open_system(folder / "systems" / name).confidence is not None


def test_the_log_tells_the_stage_of_how_many_and_what_it_took(whole):
    stages = json.loads((whole[0] / "manifest.json").read_text())["stages"]
    begun = re.findall(r"^\[lscfg\] (stage (\d+)/(\d+) (\S+)(?: \(.*\))?)$", whole[1].stderr, re.M)
    found = sorted((int(number), int(of), name) for _, number, of, name in begun)  # some are made at the same time
    assert found == [(number, len(stages), stage["name"]) for number, stage in enumerate(stages, 1)]
    assert re.search(r"stage \d+/\d+ tune \(SPECTRAL\)$", whole[1].stderr, re.M)
    for title, *_ in begun:
        assert re.search(rf"^\[lscfg\] {re.escape(title)}: [\d.]+ (s|min)", whole[1].stderr, re.M), title
    assert re.search(r"^\[lscfg\] finished in ", whole[1].stderr, re.M)


def test_manifest(whole):
    manifest = json.loads((whole[0] / "manifest.json").read_text())
    stages = [stage["stage"] for stage in manifest["stages"]]
    made = ["tune", "decode", "score", "confidence"]
    # what can fail because of the input comes before what takes long
    shared = ["align", "derive", "grammar", "estimate"]
    assert stages == ["language_model", *shared, *made, *made, "sentences", "charts", "trees", "trees"]
    names = [stage["name"] for stage in manifest["stages"]]
    assert names == ["lm", "align", "derive", "grammar-minimal", "estimate", *stages[5:]]
    assert [stage["systems"] for stage in manifest["stages"][3:7]] == [[], ["SPECTRAL"], ["MIN"], ["MIN"]]
    assert all(stage["seconds"] >= 0 and stage["peak_mib"] > 1 for stage in manifest["stages"])
    assert len(manifest["sha256"]) == 6 and manifest["packages"]["numpy"]


def test_aligns_as_the_command_does(whole, corpus, tmp_path):
    run = run_lscfg("align", corpus / "train.ja", corpus / "train.en", "-o", tmp_path / "links")
    assert run.returncode == 0, run.stderr
    (made,) = whole[0].glob("cache/align-*")
    names = sorted(path.name for path in made.iterdir() if path.name != "stage.json")
    assert names == ["grow-diag-final-and", "union"]
    assert (tmp_path / "links").read_bytes() == (made / "union").read_bytes()
    assert (made / "union").read_bytes() != (made / "grow-diag-final-and").read_bytes()
    chosen = '[alignment]\nmodel = "eflomal"\nheuristics = "intersect"\niterations = 2\nseed = 3\n'
    (corpus / "chosen.toml").write_text(TOML + chosen)
    alignment = read_experiment(corpus / "chosen.toml").alignment
    assert alignment.heuristics == ("intersect",)
    assert alignment.joined_by("intersect") == with_aligner("eflomal", "intersect", iterations=2, seed=3)
    default = read_experiment(corpus / "e.toml").alignment
    assert default.joined_by(default.heuristics[0]) == AlignmentSettings()


def test_published_configuration_translates_the_same(whole, corpus):
    for name in ("MIN", "SPECTRAL"):
        system = whole[0] / "systems" / name
        run = run_lscfg("decode", "-c", system / "cdec.ini", "-w", system / "weights", corpus / "test.ja", "--jobs", 2)
        assert run.stdout == (system / "test.output").read_text()


def test_killed_run_resumes_to_the_same_bytes(whole, corpus, tmp_path):
    """Killed with all that it has started, in the tuning of the second system, when its first iteration is saved."""
    program = """
import os, signal, sys
from lscfg.cli import main
from lscfg.tuning import tune

save = tune._Checkpoint.save

def save_and_be_killed(self, history, lists, seconds):
    save(self, history, lists, seconds)
    if list(self._folder.parent.glob("tune-*/stage.json")):
        os.killpg(0, signal.SIGKILL)

tune._Checkpoint.save = save_and_be_killed
sys.exit(main())
"""
    arguments = ["run", corpus / "e.toml", "-o", tmp_path, "--jobs", 1]
    command = [sys.executable, "-P", "-c", program, *map(str, arguments)]
    killed = subprocess.run(command, capture_output=True, text=True, start_new_session=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert not (tmp_path / "results.json").exists()
    (saved,) = tmp_path.glob("cache/tune-*.unfinished/history.json")
    assert len(json.loads(saved.read_text())["history"]) == 1
    run = run_lscfg("run", corpus / "e.toml", "-o", tmp_path)
    assert run.returncode == 0 and "resumed after iteration 1" in run.stderr
    made = stages_begun(run.stderr)
    made.remove("confidence")  # made before, next to or after the translation
    assert made == ["tune", "decode", "score", "sentences", "charts", "trees", "trees"]
    pages = [(place / "report.html").read_text() for place in (tmp_path, whole[0])]
    one, other = (re.sub(r'<section id="(cost|manifest)".*?</section>', "", page, flags=re.S) for page in pages)
    assert one == other and len(one) > 10000
    for name in ("results.json", "systems/SPECTRAL/weights", "systems/SPECTRAL/tuning.json", "systems/MIN/test.output"):
        assert (tmp_path / name).read_bytes() == (whole[0] / name).read_bytes(), name


def test_tunings_beside_each_other_can_be_killed(whole, corpus, tmp_path):
    """Each in a process of its own, which ends with the run; its finished iterations are not lost."""
    command = [sys.executable, "-P", "-m", "lscfg", "run", corpus / "e.toml", "-o", tmp_path, "--jobs", "2"]
    with subprocess.Popen(list(map(str, command)), stderr=subprocess.PIPE, text=True) as run:
        children = set()
        for line in run.stderr:
            if found := re.match(r"\[lscfg\] (stage \d+): iteration 1", line):
                children.add(found[1])
                tasks = Path(f"/proc/{run.pid}/task").glob("*/children")
                pids = [pid for task in tasks for pid in task.read_text().split()]
                run.kill()
                break
    assert children and pids and run.returncode == -signal.SIGKILL
    deadline = time.monotonic() + 20
    while any(Path(f"/proc/{pid}").exists() for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
    again = run_lscfg("run", corpus / "e.toml", "-o", tmp_path, "--jobs", 2)
    assert again.returncode == 0, again.stderr
    for name in ("results.json", "systems/SPECTRAL/weights", "systems/MIN/test.output"):
        assert (tmp_path / name).read_bytes() == (whole[0] / name).read_bytes(), name


def test_changed_setting_redoes_what_depends_on_it(whole, corpus):
    before = (whole[0] / "results.json").read_bytes()
    changed = corpus / "changed.toml"
    changed.write_text(TOML.replace("m = 3", "m = 2"))
    run = run_lscfg("run", changed, "-o", whole[0])
    made = stages_begun(run.stderr)
    made.remove("confidence")  # made before, next to or after the translation
    assert made == ["estimate", "tune", "decode", "score", "sentences", "charts", "trees", "trees"]
    again = run_lscfg("run", corpus / "e.toml", "-o", whole[0])
    assert "] stage " not in again.stderr and (whole[0] / "results.json").read_bytes() == before


def test_several_tunings_share_the_other_stages(whole, corpus, tmp_path):
    run = run_lscfg("run", corpus / "e.toml", "-o", whole[0], "--runs", 2, "--systems", "SPECTRAL,MIN", "--jobs", 1)
    assert run.returncode == 0, run.stderr
    made = stages_begun(run.stderr)
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
    for row, scores in zip(results["systems"], evaluate(outputs, references, "MIN").systems, strict=True):
        score = scores.metrics["BLEU"]
        assert (row["test_bleu"], row["test_bleu_deviation"]) == (score.score, score.deviation)
        assert (row["p_value"], row["p_bootstrap"]) == (score.p_randomised, score.p_bootstrap)
    (mine := whole[0] / "systems" / "MIN" / "run2-mine").mkdir()
    (mine / "weights").write_text("of the user")
    again = run_lscfg("run", corpus / "e.toml", "-o", whole[0])
    assert "] stage " not in again.stderr and not list(whole[0].glob("systems/*/run2"))
    assert (mine / "weights").read_text() == "of the user"


def test_tuned_weights_contain_features_that_no_hypothesis_has(corpus, tmp_path):
    text = TOML.replace("[systems.MIN]", '[decoder]\nfunctions = ["Copies"]\n\n[systems.MIN]', 1)
    (corpus / "copies.toml").write_text(text)
    run = run_lscfg("run", corpus / "copies.toml", "-o", tmp_path, "--systems", "MIN")
    assert run.returncode == 0, run.stderr
    weights = read_weights(tmp_path / "systems" / "MIN" / "weights")
    assert {"CopyNumber", "CopyTranslated", "CopyCapital", "CopyOther"} <= weights.keys()
    ini = tmp_path / "systems" / "MIN" / "cdec.ini"
    decoded = run_lscfg("decode", "-c", ini, "-w", ini.with_name("weights"), corpus / "test.ja")
    assert "without a weight" not in decoded.stderr


def test_systems_are_tested_against_more_than_the_baseline(whole, corpus):
    before = (whole[0] / "results.json").read_bytes()
    (corpus / "against.toml").write_text(TOML + '[evaluation]\nagainst = ["SPECTRAL"]\n')
    run = run_lscfg("run", corpus / "against.toml", "-o", whole[0])
    assert run.returncode == 0 and "] stage " not in run.stderr
    results = json.loads((whole[0] / "results.json").read_text())
    head, *rows = run.stdout.splitlines()[:3]
    tested = ["p vs MIN", "p vs SPECTRAL"]
    columns = [*tested, "chrF2", "TER", "length", "training CPU s", "tuning s", "decoding CPU s"]
    assert re.split(" {2,}", head)[-8:] == columns
    (baseline, other), p = results["systems"], results["systems"][1]["p_value"]
    assert (baseline["p_against"], other["p_against"]) == ({"SPECTRAL": p}, {"SPECTRAL": None})
    assert all(f"{p:.4f}" in row for row in rows) and "against SPECTRAL" in (whole[0] / "report.html").read_text()
    manifest = json.loads((whole[0] / "manifest.json").read_text())
    tuned = [whole[0] / "cache" / stage["folder"] for stage in manifest["stages"] if stage["stage"] == "tune"]
    times = [json.loads((folder / "seconds.json").read_text()) for folder in tuned]
    seconds = [sum(found["decoding"]) + sum(found["learning"]) for found in times]
    assert [row.split()[-2] for row in rows] == [f"{value:.0f}" for value in seconds]
    spent = {stage["stage"]: stage["cpu_seconds"] for stage in manifest["stages"]}
    training = sum(spent[name] for name in ("language_model", "align", "derive", "grammar"))
    assert [row.split()[-3] for row in rows] == [f"{value:.0f}" for value in (training, training + spent["estimate"])]
    assert all(value > 0 for value in spent.values())
    alone = read_experiment(corpus / "against.toml", Overrides(systems=["MIN"]))
    assert alone.evaluation.against == ()
    again = run_lscfg("run", corpus / "e.toml", "-o", whole[0])
    assert again.returncode == 0 and (whole[0] / "results.json").read_bytes() == before


def test_tuning_begins_with_the_weights_of_another_system(whole, corpus, tmp_path):
    file = tmp_path / "e.toml"
    file.write_text(
        TOML.replace("iterations = 3", "iterations = 2")
        + '\n[systems.HIERO]\ngrammar = "hiero"\n'
        + '\n[systems.BOTH]\ngrammar = "hiero"\nestimator = "mle"\nfeatures = "ratios"\nstart = "HIERO"\n'
    )
    both = '\n[systems."HIERO+MLE"]\ngrammar = "both"\nestimator = "mle"\nfeatures = ["ratios", "context"]\n'
    same = '\n[systems.SAME]\ngrammar = "hiero"\nweights_of = "HIERO"\n[systems.SAME.hiero]\nno_singletons = true\n'
    file.write_text(file.read_text() + both + same)
    with pytest.raises(InputError, match="--systems: BOTH begins with the weights of HIERO; give both"):
        read_experiment(file, Overrides(data=corpus, systems=["MIN", "BOTH"]))
    with pytest.raises(InputError, match="--systems: SAME begins with the weights of HIERO; give both"):
        read_experiment(file, Overrides(data=corpus, systems=["MIN", "SAME"]))
    names = "MIN,HIERO,BOTH,HIERO+MLE,SAME"
    run = run_lscfg("run", file, "--data", corpus, "-o", tmp_path / "out", "--systems", names, "--jobs", 1)
    assert run.returncode == 0, run.stderr
    rows = {row["system"]: row for row in json.loads((tmp_path / "out" / "results.json").read_text())["systems"]}
    assert rows["BOTH"]["start_dev_bleu"] == rows["HIERO"]["dev_bleu"] > rows["HIERO"]["start_dev_bleu"]
    assert rows["BOTH"]["rules"] == rows["HIERO"]["rules"] and rows["BOTH"]["states"] == 1
    assert rows["SAME"]["start_dev_bleu"] == rows["SAME"]["dev_bleu"] and rows["SAME"]["rules"] < rows["HIERO"]["rules"]
    weights = [(tmp_path / "out" / "systems" / name / "weights").read_text() for name in ("HIERO", "SAME")]
    assert weights[0] == weights[1]
    made = [json.loads(path.read_text()) for path in (tmp_path / "out").glob("cache/*/stage.json")]
    (aligned,) = (stage["key"] for stage in made if stage["stage"] == "align")
    derived = [stage["inputs"]["alignments"] for stage in made if stage["stage"] == "derive"]
    grammars_of = [stage for stage in made if stage["stage"] == "grammar" and stage["settings"]["name"] == "hiero"]
    used = [*derived, *(stage["inputs"]["rules"]["alignments"] for stage in grammars_of)]
    assert used == [[f"{aligned}/union", f"{aligned}/grow-diag-final-and"]] * 3
    grammars = {}
    for name in rows:
        ini = tmp_path / "out" / "systems" / name / "cdec.ini"
        config = read_ini(ini)
        lines = gzip.decompress((ini.parent / config.grammars[0]).read_bytes()).decode().splitlines()
        grammars[name] = {line.split(" ||| ", 1)[1].rsplit(" |||", 1)[0] for line in lines}
        assert config.glue == (name in ("HIERO", "BOTH", "SAME"))
        assert config.latent is None or (config.latent.options.get("unknown") == "zero") == (name == "HIERO+MLE")
    assert grammars["HIERO+MLE"] == grammars["MIN"] | grammars["HIERO"] and grammars["MIN"] - grammars["HIERO"]
    assert rows["HIERO+MLE"]["rules"] == len(grammars["HIERO+MLE"])
    weights = read_weights(tmp_path / "out" / "systems" / "BOTH" / "weights")
    assert {*LATENT_FEATURES[4:11]} <= {*weights} and rows["BOTH"]["dev_bleu"] >= rows["HIERO"]["dev_bleu"]


def test_a_system_chooses_what_others_agree_on(whole, corpus, tmp_path):
    """Its translations are those of the commands with the scale that was best on the development set, in each run."""
    file = tmp_path / "e.toml"
    file.write_text(
        TOML.replace("iterations = 3", "iterations = 2\nruns = 2")
        + '\n[systems.HIERO]\ngrammar = "hiero"\n[systems.AGREED]\nagree = ["HIERO", "SPECTRAL"]\n'
    )
    with pytest.raises(InputError, match="AGREED chooses from translations of HIERO; give these, too"):
        read_experiment(file, Overrides(data=corpus, systems=["MIN", "SPECTRAL", "AGREED"]))
    out = tmp_path / "out"
    run = run_lscfg("run", file, "--data", corpus, "-o", out, "--jobs", 2)
    assert run.returncode == 0, run.stderr
    rows = {row["system"]: row for row in json.loads((out / "results.json").read_text())["systems"]}
    assert rows["AGREED"]["rules"] == rows["HIERO"]["rules"] + rows["SPECTRAL"]["rules"]
    assert rows["AGREED"]["agree"] == ["HIERO", "SPECTRAL"] and rows["HIERO"]["agree"] == []
    assert "AGREED" in (out / "report.html").read_text()
    for number, found in enumerate(rows["AGREED"]["runs"], 1):
        place = "." if number == 1 else f"run{number}"
        for name in ("HIERO", "SPECTRAL"):
            folder = out / "systems" / name
            words = ["-c", folder / "cdec.ini", "-w", folder / place / "weights", "-k", 100, "--unique"]
            for text in ("dev", "test"):
                lists = tmp_path / f"{name}.{text}"
                assert run_lscfg("decode", corpus / f"{text}.ja", *words, "-o", lists).returncode == 0
        scores = {}
        for scale in SCALES:
            for text in ("dev", "test"):
                lists = [tmp_path / f"{name}.{text}" for name in ("HIERO", "SPECTRAL")]
                words = ["--mbr", "bleu", "--scale", scale, "-o", tmp_path / f"{text}.{scale}"]
                assert run_lscfg("rescore", *lists, *words).returncode == 0
            lines = read_lines(tmp_path / f"dev.{scale}")
            scores[scale] = (
                evaluate({"A": [lines]}, [read_lines(corpus / "dev.en")], trials=1).systems[0].metrics["BLEU"].score
            )
        assert found["scale"] == max(SCALES, key=lambda scale: scores[scale])
        assert found["dev_bleu"] == pytest.approx(scores[found["scale"]])
        chosen = out / "systems" / "AGREED" / place / "test.output"
        assert chosen.read_text() == (tmp_path / f"test.{found['scale']}").read_text()


def test_grammar_of_a_file(whole, corpus, tmp_path):
    """The rules that the other system extracted, in another order: the same translations."""
    (made,) = whole[0].glob("cache/grammar-*/grammar.gz")
    rules = gzip.decompress(made.read_bytes()).decode().splitlines()
    (tmp_path / "rules").write_text("\n".join(rules[::-1]) + "\n")
    text = (corpus / "e.toml").read_text().replace("[systems.MIN]", f'[systems.MIN]\ngrammar_file = "{tmp_path}/rules"')
    (corpus / "given.toml").write_text(text)
    run = run_lscfg("run", corpus / "given.toml", "-o", tmp_path / "out", "--systems", "MIN")
    assert run.returncode == 0, run.stderr
    results = (json.loads((folder / "results.json").read_text()) for folder in (tmp_path / "out", whole[0]))
    ours, theirs = (result["systems"][0] for result in results)
    assert (ours["rules"], ours["start_dev_bleu"]) == (theirs["rules"] + 1, theirs["start_dev_bleu"])
    (tmp_path / "rules").write_text(rules[0] + "\n[X] ||| a\n")
    run = run_lscfg("run", corpus / "given.toml", "-o", tmp_path / "out", "--systems", "MIN")
    assert run.returncode == 1 and f"{tmp_path}/rules:2: " in run.stderr


def test_optimiser_of_the_experiment(whole, corpus, tmp_path):
    (corpus / "mert.toml").write_text(TOML.replace("kbest = 20", 'kbest = 20\noptimiser = "mert"'))
    folder, _ = whole
    shutil.copytree(folder / "cache", tmp_path / "mert" / "cache")
    run_lscfg("run", corpus / "mert.toml", "-o", tmp_path / "mert", "--systems", "MIN")
    log = json.loads((tmp_path / "mert" / "systems" / "MIN" / "tuning.json").read_text())
    assert log["settings"]["optimiser"] == "mert"
    ours = json.loads((folder / "systems" / "MIN" / "tuning.json").read_text())
    assert ours["history"][0] == log["history"][0] and ours["history"][1] != log["history"][1]


def test_single_run_scores_are_sacrebleus(whole, corpus):
    results = json.loads((whole[0] / "results.json").read_text())
    references = [(corpus / "test.en").read_text().splitlines()]
    outputs = [read_lines(whole[0] / "systems" / name / "test.output") for name in ("MIN", "SPECTRAL")]
    bleu = BLEU(tokenize="none", force=True)
    for row, lines in zip(results["systems"], outputs, strict=True):
        assert row["test_bleu"] == pytest.approx(bleu.corpus_score(lines, references).score)
        assert row["test_chrF2"] == CHRF().corpus_score(lines, references).score
        assert row["test_TER"] == TER().corpus_score(lines, references).score
        assert row["test_bleu_deviation"] is None


def test_report_of_a_run(whole):
    page = (whole[0] / "report.html").read_text()
    assert "Span marginals of sentence" in page and "Singular values of SPECTRAL" in page and "MIN" in page


def test_charts_are_the_marginals_of_the_model(whole, corpus, tmp_path):
    """With all target sides in the grammar, as lscfg inspect marginals has them."""
    (corpus / "all.toml").write_text(TOML + "[minimal]\nmax_targets = 100000\n")
    cache, plan = StageCache(whole[0] / "cache"), make_plan(read_experiment(corpus / "all.toml"))
    sentence = (corpus / "test.ja").read_text().splitlines()[0]
    (tmp_path / "test").write_text(f"{sentence}\n\n")
    (tmp_path / "numbers").write_text('{"charts": [0, 1], "trees": []}')
    charts = plan.charts["SPECTRAL"]
    for file in (charts.inputs.rules, charts.inputs.model):
        make_with_sources(cache, file.stage)
    inputs = with_files(charts.inputs, cache.resolved)
    inputs = dataclasses.replace(inputs, test_source=tmp_path / "test", sentences=tmp_path / "numbers")
    made = StageCache(tmp_path).make(Stage("charts", charts.work, charts.settings, inputs), 1)
    found = json.loads((made.path / "charts.json").read_text())
    spans, empty = found["model"]
    (tmp_path / "one").write_text(sentence + "\n")
    record = json.loads(run_lscfg("inspect", "marginals", inputs.model, tmp_path / "one").stdout)
    expected = {(i, j): pytest.approx(value, rel=1e-8) for _, i, j, value in record["nodes"]}
    assert {(i, j): value for i, j, value in spans} == expected and len(expected) > 10
    assert empty == [] == found["one state"][1]
    parameters = Parameters.load(inputs.model)
    parameters.one_state().save(tmp_path / "one.lscfg", "float64")
    record = json.loads(run_lscfg("inspect", "marginals", tmp_path / "one.lscfg", tmp_path / "one").stdout)
    expected = {(i, j): pytest.approx(value, rel=1e-8) for _, i, j, value in record["nodes"]}
    assert {(i, j): value for i, j, value in found["one state"][0]} == expected
    assert found["one state"] != found["model"] and sorted(path.name for path in made.path.iterdir()) == [
        "charts.json",
        "stage.json",
    ]


def test_derivations_are_those_of_the_translations(whole, corpus):
    """Their words are the output, their scores those of the decoder without the language model."""
    cache, plan = StageCache(whole[0] / "cache"), make_plan(read_experiment(corpus / "e.toml"))
    run = Run(read_experiment(corpus / "e.toml"), plan, cache)
    for stage in plan.stages():
        assert cache.found(stage)
    numbers = run.json(plan.sentences / SENTENCES)["trees"]
    assert 2 < len(numbers) <= 40 and set(run.json(plan.sentences / SENTENCES)["charts"]) <= set(numbers)
    sources = read_lines(corpus / "test.ja")
    for system in ("MIN", "SPECTRAL"):
        output = read_lines(whole[0] / "systems" / system / "test.output")
        weights = read_weights(whole[0] / "systems" / system / "weights")
        with EmbeddedDecoder.from_ini(whole[0] / "systems" / system / "cdec.ini") as decoder:
            lists = decoder.decode([sources[k] for k in numbers], weights)
        for k, rules, (best, *_) in zip(numbers, run.json(plan.trees[system] / TREES)["trees"], lists, strict=True):
            assert words_of(rules, 0) == output[k].split() == best.text.split()
            own = {name: value for name, value in best.features.items() if not name.startswith("LanguageModel")}
            for name, value in own.items():
                total = sum(rule["scores"].get(name, 0.0) for rule in rules)
                assert total == pytest.approx(value * weights[name], rel=2e-3, abs=1e-3), name
            assert all(("marginal" in rule) == (system == "SPECTRAL" and rule["category"] == "X") for rule in rules)


def words_of(rules, number):
    """The target words of a rule with those below it."""
    found = []
    for word in rules[number]["target"].split():
        gap = re.fullmatch(r"\[[^,]+,(\d+)\]", word)
        found += words_of(rules, rules[number]["children"][int(gap[1]) - 1]) if gap else [word]
    return found


def test_no_derivations_but_of_the_embedded_decoder(corpus, monkeypatch):
    assert set(make_plan(read_experiment(corpus / "e.toml")).trees) == {"MIN", "SPECTRAL"}
    (corpus / "none.toml").write_text(TOML + "[report]\nderivations = 0\n")
    assert make_plan(read_experiment(corpus / "none.toml")).trees == {}
    experiment = read_experiment(corpus / "e.toml")
    other = dataclasses.replace(experiment, decoder=dataclasses.replace(experiment.decoder, name="cdec"))
    monkeypatch.setattr("lscfg.cdec_bridge.host.Cdec.programs", lambda *_: {})
    assert make_plan(other).trees == {}


@pytest.mark.skipif(find_cdec() is None, reason="no cdec; set CDEC_ROOT to its source tree")
def test_in_cdec(whole, corpus, tmp_path, monkeypatch):
    """cdec finds what the embedded decoder finds, whatever the number of its processes."""
    monkeypatch.delenv(LIBRARY_VARIABLE, raising=False)
    for jobs in (1, 3):
        options = ["--decoder", "cdec", "--systems", "MIN", "--jobs", jobs, "-o", tmp_path / str(jobs)]
        run = run_lscfg("run", corpus / "e.toml", *options)
        assert run.returncode == 0, run.stderr
    one, three = (json.loads((tmp_path / jobs / "results.json").read_text()) for jobs in ("1", "3"))
    assert one == three and one["decoder"] == "cdec"
    embedded = json.loads((whole[0] / "results.json").read_text())["systems"][0]
    assert one["systems"][0]["start_dev_bleu"] == pytest.approx(embedded["start_dev_bleu"], abs=0.5)
    manifest = json.loads((tmp_path / "1" / "manifest.json").read_text())
    assert list(manifest["decoder"]) == ["cdec"]


@pytest.mark.skipif(find_cdec() is None or LIBRARY_VARIABLE not in os.environ, reason="no cdec with lscfg's plug-in")
def test_latent_features_in_cdec(whole, corpus, tmp_path):
    run = run_lscfg("run", corpus / "e.toml", "--decoder", "cdec", "-o", tmp_path)
    assert run.returncode == 0, run.stderr
    tables = [json.loads((folder / "results.json").read_text())["systems"] for folder in (tmp_path, whole[0])]
    for one, other in zip(*tables, strict=True):
        assert one["start_dev_bleu"] == pytest.approx(other["start_dev_bleu"], abs=0.5)
    assert "LatentMarginal" in (tmp_path / "systems" / "SPECTRAL" / "weights").read_text()


@pytest.mark.parametrize(("estimator", "forests"), [("em", "true"), ("clusters", "false")])
def test_em_and_clusters_are_estimators(corpus, tmp_path, estimator, forests):
    more = f"iterations = 2\nheld_out = 0.1\nrestarts = 2\nforests = {forests}\n"
    (corpus / f"{estimator}.toml").write_text(TOML.replace('"spectral"', f'"{estimator}"') + more)
    stage = make_plan(read_experiment(corpus / f"{estimator}.toml")).systems["SPECTRAL"].model
    made = make_with_sources(StageCache(tmp_path), stage, 2)
    assert sorted(path.name for path in made.path.iterdir()) == ["model.lscfg", "size.json", "stage.json"]
    about = Parameters.load(made.path / MODEL).about
    assert about["method"] == estimator and about["settings"]["m"] == 3 and about["settings"]["iterations"] == 2
    assert len(about["held-out log-likelihood a rule"]) == 2
    assert len({source.key for source in stage.sources if source.name == "derive"}) == 1


@pytest.mark.parametrize("trees", ["biparsed", "sampled"])
def test_models_and_minimal_rules_come_of_other_trees(corpus, tmp_path, trees):
    chosen = f'trees = "{trees}"\nestimator = "clusters"\niterations = 2\n'
    (corpus / f"{trees}.toml").write_text(TOML.replace('estimator = "spectral"\n', chosen))
    plan = make_plan(read_experiment(corpus / f"{trees}.toml")).systems["SPECTRAL"]
    made, grammar = (make_with_sources(StageCache(tmp_path), stage, 2) for stage in (plan.model, plan.rules))
    model = Parameters.load(made.path / MODEL)
    (folder,) = tmp_path.glob(f"derive-{trees}-*")
    rules = Derivations.load(folder / DERIVATIONS).rules
    found = {rules.text(number) for number in range(len(rules))}
    assert {model.rules.text(number) for number in range(len(model.rules))} <= found
    lines = [line.split(" ||| ") for line in read_lines(grammar.path / GRAMMAR)]
    assert len(lines) > 100 and {" ||| ".join(line[:3]) for line in lines[:-1]} <= found


def test_hiero_rules_come_of_induced_links(corpus, tmp_path):
    text = TOML.replace('estimator = "spectral"\n', 'grammar = "hiero"\nalignment = "biparsed"\n')
    text = text.replace('features = "paper"\n', "").replace("m = 3\n", "")
    (corpus / "links.toml").write_text(text)
    plan = make_plan(read_experiment(corpus / "links.toml")).systems["SPECTRAL"]
    made = make_with_sources(StageCache(tmp_path), plan.rules, 2)
    assert len(read_lines(made.path / GRAMMAR)) > 100
    (folder,) = tmp_path.glob("align-biparsed-*")
    best, likely = (read_lines(folder / name) for name in ("best", "likely"))
    assert len(best) == len(likely) == 1200 and sum(map(len, best)) > 2400
    assert best != likely


def test_a_model_takes_over_weights_of_spans(corpus, tmp_path):
    chosen = 'grammar = "biparsed+minimal"\nfeatures = "boundary"\nestimator = "spectral"\n'
    text = "[biparsed]\npasses = 1\nheld_out = 0\n" + TOML.replace('estimator = "spectral"\n', chosen)
    (corpus / "spans.toml").write_text(text.replace('features = "paper"\n', ""))
    stage = make_plan(read_experiment(corpus / "spans.toml")).systems["SPECTRAL"].model
    model = Parameters.load(make_with_sources(StageCache(tmp_path), stage, 2).path / MODEL)
    assert len(model.boundary.ends) > 20 and len(model.rules) > 20


def test_models_of_any_estimator_share_a_network_and_orientations(corpus, tmp_path, monkeypatch):
    """A model of hidden states or of context contains the parts that its features need."""
    monkeypatch.setattr(NeuralEstimator, "DESIGN", Design(dims=32, epochs=1))
    chosen = 'features = ["ratios", "neural", "orientation"]\nestimator = "spectral"\n'
    other = '[systems.OTHER]\nestimator = "mle"\nfeatures = ["context", "neural"]\n'
    text = TOML.replace('estimator = "spectral"\n', chosen).replace('features = "paper"\n', "") + other
    alone = '[systems.ALONE]\nestimator = "neural"\nfeatures = "neural"\n'
    (corpus / "network.toml").write_text(text + alone)
    plan = make_plan(read_experiment(corpus / "network.toml"))
    network = plan.systems["ALONE"].model
    assert {stage.folder for stage in plan.stages() if stage.key == network.key} == {network.folder}
    assert all(
        network.folder in {source.folder for source in plan.systems[name].model.sources}
        for name in ("SPECTRAL", "OTHER")
    )
    cache, models = StageCache(tmp_path), {}
    for name in ("SPECTRAL", "OTHER"):
        made = make_with_sources(cache, plan.systems[name].model, 2)
        models[name] = Parameters.load(made.path / MODEL)
    assert models["SPECTRAL"].orientation and not models["OTHER"].orientation
    learned = Parameters.load(cache.path(network / MODEL)).neural
    for model in models.values():
        assert len(model.rules) > 20
        for name, array in learned.arrays().items():
            assert np.array_equal(model.neural.arrays()[name], array), name
    assert models["SPECTRAL"].rank == 3 and models["OTHER"].context


def test_settings_of_the_trees_reach_the_derivation_file(corpus, tmp_path):
    (corpus / "links").write_text("0-0\n" * 1200)
    chosen = '[derive]\nmax_arity = 1\nbinarise = true\nbracketing = "right"\n[corpus]\nalignment = "links"'
    (corpus / "derive.toml").write_text(TOML.replace("[corpus]", chosen))
    experiment = read_experiment(corpus / "derive.toml")
    chosen, default = (
        make_plan(dataclasses.replace(experiment, derive=trees)).derivations
        for trees in (experiment.derive, TreeOptions())
    )
    made = StageCache(tmp_path).make(chosen, 1)
    options = Derivations.load(made.path / DERIVATIONS).options
    assert options == DeriveOptions("right", 1, True)
    assert chosen.key != default.key


def test_failed_stage_is_one_line_and_keeps_the_others(corpus, tmp_path):
    (tmp_path / "links").write_text("0-99\n" * 1200)
    toml = corpus / "bad_links.toml"
    toml.write_text(TOML.replace("[corpus]", f'[corpus]\nalignment = "{tmp_path / "links"}"'))
    run = run_lscfg("run", toml, "-o", tmp_path / "out")
    assert run.returncode == 1 and "Traceback" not in run.stderr
    assert "links:1: link '0-99' points beyond the target sentence" in run.stderr.splitlines()[-1]


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
    experiment.check_decoder()
    run = Run(experiment, make_plan(experiment), StageCache(tmp_path / "cache"))
    manifest = manifest_of("", run, 1)
    assert list(manifest["decoder"]) == ["moses"]
