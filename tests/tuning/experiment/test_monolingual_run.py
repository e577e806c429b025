"""``lscfg run`` with monolingual text: what is planned, made, reported and refused."""

import gzip
import json
import random
from types import SimpleNamespace

import pytest

from lscfg.errors import InputError
from lscfg.io.tensors import load
from lscfg.tuning.experiment.checks import check_corpus
from lscfg.tuning.experiment.config import read_experiment
from lscfg.tuning.experiment.plan import make_plan
from lscfg.tuning.experiment.results import _extracted
from lscfg.tuning.experiment.run import run_experiment
from lscfg.tuning.experiment.stage import files_in
from lscfg.tuning.experiment.steps.expand import Expand

WORDS, SENTENCES, NEW = 8, 120, 3

EXPERIMENT = """
[corpus]
source = "train.f"
target = "train.e"
dev_source = "dev.f"
dev_reference = "dev.e"
test_source = "test.f"
test_reference = "test.e"
[monolingual]
source = "mono.f"
target = "mono.e"
gold_source = "all.f"
gold_target = "all.e"
[propagated]
q = 0
neighbours = 5
[language_model]
order = 2
discount_fallback = true
[tuning]
iterations = 2
kbest = 10
[evaluation]
baseline = "HIERO"
[systems.HIERO]
grammar = "hiero"
[systems.GRAPH]
grammar = "hiero"
expand = true
start = "HIERO"
[systems.GOLD]
grammar = "hiero"
expand = true
start = "HIERO"
propagated = {method = "gold"}
[systems.LATENT]
grammar = "hiero+minimal"
estimator = "clusters"
m = 2
features = ["ratios", "context"]
expand = true
states = true
start = "HIERO"
"""


def write_corpus(folder):
    """Words f0, f1, ... mean e0, e1, ...; parallel text lacks the last ones, and each has its own words around it."""
    dice = random.Random(3)

    def pair(words):
        k = dice.choice(words)
        around = [f"{side}{k % (WORDS - NEW)}{dice.choice('ab')}" for side in "lr"]
        word = "d0" if k == 0 and around[0].endswith("a") else f"e{k}"
        return f"{around[0]} f{k} {around[1]}", f"{around[0].upper()} {word} {around[1].upper()}"

    known, every = range(WORDS - NEW), range(WORDS)
    for name, words, count in (("train", known, SENTENCES), ("dev", every, 24), ("test", every, 24)):
        write_pairs(folder, name, [pair(words) for _ in range(count)])
    more = [pair(every) for _ in range(4 * SENTENCES)]
    write_pairs(folder, "all", more)
    for side, column in (("f", 0), ("e", 1)):
        lines = [one[column] for one in more]
        dice.shuffle(lines)
        (folder / f"mono.{side}").write_text("".join(line + "\n" for line in lines))


def write_pairs(folder, name, pairs):
    for side, column in (("f", 0), ("e", 1)):
        (folder / f"{name}.{side}").write_text("".join(pair[column] + "\n" for pair in pairs))


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mono")
    write_corpus(folder)
    (folder / "run.toml").write_text(EXPERIMENT)
    run_experiment(folder / "run.toml", folder / "out", 1)
    return folder


def stage(folder, name):
    return next(path for path in (folder / "out/cache").iterdir() if path.name.startswith(f"{name}-"))


def test_systems_differ_by_what_monolingual_text_says(done):
    systems = {row["system"]: row for row in json.loads((done / "out/results.json").read_text())["systems"]}
    assert systems["HIERO"]["rules"] < systems["GRAPH"]["rules"]
    assert systems["HIERO"]["expansion"] is None
    facts = systems["GRAPH"]["expansion"]
    assert facts["test text: unknown words"] == NEW
    assert facts["test text: unknown words without a rule"] == 0
    assert systems["GOLD"]["test_TER"] < systems["HIERO"]["test_TER"]


def test_the_language_model_knows_the_monolingual_text(done):
    text = (stage(done, "lm") / "lm.arpa").read_text()
    assert f"e{WORDS - 1}" in text


@pytest.mark.usefixtures("terminal")
def test_references_in_monolingual_text_are_told(tmp_path, capsys):
    write_corpus(tmp_path)
    (tmp_path / "run.toml").write_text(EXPERIMENT)
    known = (tmp_path / "mono.e").read_text().splitlines()
    references = {"dev": [*known[:20], *["new words"] * 4], "test": ["new words"] * 24}
    for name, lines in references.items():
        (tmp_path / f"{name}.e").write_text("".join(line + "\n" for line in lines))
    check_corpus(read_experiment(tmp_path / "run.toml"))
    (line,) = capsys.readouterr().err.splitlines()
    assert "dev.e: the monolingual text contains 20 of 24 lines" in line


def test_grammars_within_expanded_unions_are_found(done):
    plan = make_plan(read_experiment(done / "run.toml"))
    for system, names in (("LATENT", ["grammar-hiero", "grammar-minimal"]), ("GRAPH", ["grammar-hiero"])):
        assert [stage.name for own in plan.systems[system].grammars for stage in _extracted(own)] == names


def test_weights_begin_as_those_of_their_counterparts(done):
    plan = make_plan(read_experiment(done / "run.toml"))
    assert plan.systems["GRAPH"].tuned[0].settings.counterparts["GraphEgivenF"] == "EgivenF"
    assert not plan.systems["HIERO"].tuned[0].settings.counterparts


def test_systems_read_the_files_of_their_expansion(tmp_path):
    write_corpus(tmp_path)
    (tmp_path / "run.toml").write_text(EXPERIMENT)
    experiment = read_experiment(tmp_path / "run.toml")
    system = make_plan(experiment).systems["LATENT"]
    files = [*files_in(system.model.inputs)]
    assert [file.stage.name for file in files[2:]] == ["propagate", "phrases", "graph"]
    columns = experiment.systems["LATENT"].step(Expand).columns(system, SimpleNamespace(json=lambda file: file))
    assert {key: (file.stage.name, file.name) for key, file in columns.items()} == {
        "expansion": ("propagate", "statistics.json"),
        "candidates": ("propagate", "examples.json"),
    }


def test_states_of_new_rules_are_in_the_model(done):
    grammar = gzip.decompress(next((done / "out/cache").glob("propagate-*/grammar.gz")).read_bytes()).decode()
    assert "Graph=1" in grammar
    wide, _ = load(stage(done, "states") / "model.lscfg", "model")
    narrow, _ = load(stage(done, "estimate") / "model.lscfg", "model")
    assert len(wide["C0"]) > len(narrow["C0"])
    sums = [model["C0"].sum(0) + model["unk"] for model in (wide, narrow)]
    assert sums[0] == pytest.approx(sums[1], rel=1e-5)


def test_the_report_says_what_was_found(done):
    page = (done / "out/report.html").read_text()
    assert "Monolingual text" in page and "candidates from" in page


def test_a_second_run_makes_nothing_again(done):
    before = (done / "out/results.json").read_bytes()
    run_experiment(done / "run.toml", done / "out", 1)
    assert (done / "out/results.json").read_bytes() == before
    assert all(made["reused"] for made in json.loads((done / "out/manifest.json").read_text())["stages"])


BAD = {
    ("[monolingual]\nsource", "[monolingual]\nlm = false\nsourc"): "unknown key 'sourc'",
    ('target = "mono.e"\n', ""): "expand needs text",
    ('source = "mono.f"', 'source = "none.f"'): "source: no file",
    ('gold_target = "all.e"\n', ""): "name both",
    ("neighbours = 5", "neighbours = 0"): "neighbours must be at least 1",
    ("neighbours = 5", "neighbors = 5"): "unknown key 'neighbors'",
    ('expand = true\nstart = "HIERO"', "expand = true"): "start must name the system",
    ('grammar = "hiero"\n[systems.GRAPH]', 'grammar = "hiero"\nstates = true\n[systems.GRAPH]'): "expand = true",
    ('{method = "gold"}', '"gold"'): "propagated must be a table",
    ('{method = "gold"}', '{method = "lpp"}'): "method must be one of",
    ('gold_source = "all.f"\ngold_target = "all.e"\n', ""): "method gold needs",
    ('{method = "gold"}', "{}\nstates = true"): "states needs a system with an estimator",
}


@pytest.mark.parametrize("change", BAD)
def test_bad_settings_are_refused_by_line(tmp_path, change):
    write_corpus(tmp_path)
    old, new = change
    assert old in EXPERIMENT
    (tmp_path / "run.toml").write_text(EXPERIMENT.replace(old, new))
    with pytest.raises(InputError, match=r"run.toml:\d+: ") as error:
        read_experiment(tmp_path / "run.toml")
    assert BAD[change] in str(error.value)
