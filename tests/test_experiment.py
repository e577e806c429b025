"""The experiment runner: a whole run on a little corpus, resumed, changed; and every kind of bad experiment file."""

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from lscfg.demo import generate, write
from lscfg.derive import Derivations
from lscfg.errors import InputError, LscfgError
from lscfg.kernel import DeriveOptions
from lscfg.parameters import Parameters
from tuning.experiment import stages
from tuning.experiment.cache import StageCache, locked, measured
from tuning.experiment.config import DeriveSettings, read_experiment
from tuning.experiment.run import check_corpus
from tuning.experiment.stages import DERIVATIONS, derive

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
    assert stages == ["align", "derive", "grammar", "lm", "tune", "decode", "estimate", "tune", "decode"]
    assert all(stage["seconds"] >= 0 and stage["peak_mib"] > 1 for stage in manifest["stages"])
    assert len(manifest["sha256"]) == 6 and manifest["packages"]["numpy"]


def test_published_configuration_translates_the_same(whole, corpus):
    for name in ("MIN", "SPECTRAL"):
        system = whole[0] / "systems" / name
        run = lscfg("decode", "-c", system / "cdec.ini", "-w", system / "weights", corpus / "test.es", "--jobs", 2)
        assert run.stdout == (system / "test.output").read_text()


def test_killed_run_resumes_to_the_same_bytes(whole, corpus, tmp_path):
    """Killed in the tuning of the second system, when a checkpoint is there."""
    command = [sys.executable, "-P", "-m", "lscfg", "run", str(corpus / "e.toml"), "-o", str(tmp_path), "--jobs", "2"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        started = list(tmp_path.glob("cache/tune-*.unfinished/history.json"))
        if started and len(list(tmp_path.glob("cache/tune-*/weights"))) == 1:
            break
        time.sleep(0.01)
    assert process.poll() is None, "the run ended before it could be killed"
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert not (tmp_path / "results.json").exists()
    run = lscfg("run", corpus / "e.toml", "-o", tmp_path)
    assert run.returncode == 0 and "stage align" not in run.stderr and "stage tune" in run.stderr
    for name in ("results.json", "systems/SPECTRAL/weights", "systems/SPECTRAL/tuning.json", "systems/MIN/test.output"):
        assert (tmp_path / name).read_bytes() == (whole[0] / name).read_bytes(), name


def test_changed_setting_redoes_what_depends_on_it(whole, corpus):
    before = (whole[0] / "results.json").read_bytes()
    changed = corpus / "changed.toml"
    changed.write_text(TOML.replace("m = 3", "m = 2"))
    run = lscfg("run", changed, "-o", whole[0])
    made = [line.removeprefix("[lscfg] stage ") for line in run.stderr.splitlines() if "] stage " in line]
    assert made == ["estimate", "tune", "decode"]
    again = lscfg("run", corpus / "e.toml", "-o", whole[0])
    assert "] stage " not in again.stderr and (whole[0] / "results.json").read_bytes() == before


@pytest.mark.parametrize("estimator", ["em", "clusters"])
def test_em_and_clusters_are_estimators(corpus, tmp_path, estimator):
    (corpus / f"{estimator}.toml").write_text(
        TOML.replace('"spectral"', f'"{estimator}"') + "iterations = 2\nheld_out = 0.1\nrestarts = 2\n"
    )
    experiment = read_experiment(corpus / f"{estimator}.toml")
    cache = StageCache(tmp_path)
    derivations = stages.derive(cache, experiment, stages.align(cache, experiment, 1))
    model = stages.estimate(cache, experiment.systems["SPECTRAL"], derivations, 2)
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
        ("kbest = 20", "kbset = 20", r"e\.toml:16: unknown key 'kbset'; known here are iterations"),
        ("kbest = 20", 'kbest = "20"', r"e\.toml:16: kbest must be a whole number"),
        ("kbest = 20", "kbest = 0", r"e\.toml:16: kbest must be at least 1"),
        ("iterations = 3", "iterations = 3.5", "must be a whole number"),
        ('"train.es"', '"none.es"', r"e\.toml:3: source: no file"),
        ('target = "train.en"\n', "", "corpus.target is missing"),
        ('"spectral"', '"spectal"', r"e\.toml:21: estimator must be one of"),
        ('"spectral"\nm = 3', '"em"\nheld_out = 1.5', r"e\.toml:20: the held-out share must be in"),
        ('"spectral"\nm = 3', '"em"\ninit = "best"', "unknown initialisation 'best'"),
        ("[systems.MIN]", "[systems.BASE]", "baseline must be one of the systems"),
        ("[tuning]", "[tuning", r"e\.toml:14: not TOML"),
        ("[tuning]", "[derive]\nmax_arity = 3\n[tuning]", r"e\.toml:15: max_arity must be at most 2"),
        ("[tuning]", "[derive]\nmax_arity = -1\n[tuning]", r"e\.toml:15: max_arity must be at least 0"),
        ("[tuning]", '[derive]\nbracketing = "up"\n[tuning]', r"e\.toml:15: bracketing must be one of normal, left"),
    ],
)
def test_bad_experiment_file(corpus, tmp_path, old, new, message):
    text = TOML.replace("source = ", "source = ", 1)
    for name in ("train.es", "train.en", "dev.es", "dev.en", "test.es", "test.en"):
        (tmp_path / name).write_bytes((corpus / name).read_bytes())
    (tmp_path / "e.toml").write_text(text.replace(old, new, 1))
    with pytest.raises(InputError, match=message):
        read_experiment(tmp_path / "e.toml")


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("train.en", lambda t: t.split("\n", 1)[1], r"train\.en: 1199 lines"),
        ("train.es", lambda t: "\n" + t.split("\n", 1)[1], r"train\.es:1: empty line"),
        ("dev.en", lambda t: t + "more\n", r"dev\.en: 41 lines"),
        ("dev.es", lambda t: t.replace("\n", "\n\n", 1), r"dev\.es:2: empty line"),
    ],
)
def test_bad_corpus(corpus, tmp_path, name, change, message):
    for part in ("train.es", "train.en", "dev.es", "dev.en", "test.es", "test.en"):
        text = (corpus / part).read_text()
        (tmp_path / part).write_text(change(text) if part == name else text)
    (tmp_path / "e.toml").write_text(TOML)
    with pytest.raises(InputError, match=message):
        check_corpus(read_experiment(tmp_path / "e.toml"))


def test_failed_stage_is_one_line_and_keeps_the_others(corpus, tmp_path):
    (tmp_path / "links").write_text("0-99\n" * 1200)
    toml = corpus / "bad_links.toml"
    toml.write_text(TOML.replace("[corpus]", f'[corpus]\nalignment = "{tmp_path / "links"}"'))
    run = lscfg("run", toml, "-o", tmp_path / "out")
    assert run.returncode == 1 and "Traceback" not in run.stderr
    assert "links:1: link '0-99' points beyond the target sentence" in run.stderr.splitlines()[-1]


def test_measured_work_passes_errors_on():
    def fail():
        raise InputError("no good", "file", 3)

    with pytest.raises(LscfgError, match="file:3: no good"):
        measured(fail)
    with pytest.raises(LscfgError, match="status 7"):
        measured(lambda: os._exit(7))
    seconds, peak = measured(lambda: time.sleep(0.05))
    assert seconds >= 0.05 and peak > 1000


def test_folder_is_locked(tmp_path):
    with locked(tmp_path), pytest.raises(InputError, match="another run"), locked(tmp_path):
        pass


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
