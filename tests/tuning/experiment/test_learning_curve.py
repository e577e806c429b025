"""The learning curve of ``lscfg run``: its stages, its parts of the text, and its place in the results."""

import json

import pytest
from little_experiment import TOML, run_lscfg

from lscfg.errors import InputError
from lscfg.io.read import read_lines
from lscfg.tuning.experiment.config import read_experiment
from lscfg.tuning.experiment.plan import format_plan, make_plan
from lscfg.tuning.experiment.stages.curve import PartFiles, PartSettings, part


def test_a_part_contains_the_smaller_ones_in_the_order_of_the_text(tmp_path):
    for name in ("s", "t", "a"):
        (tmp_path / name).write_text("".join(f"{name}{k}\n" for k in range(103)))
    files = PartFiles(tmp_path / "s", tmp_path / "t", (tmp_path / "a",))
    found = {}
    for divisor in (2, 4):
        folder = tmp_path / str(divisor)
        folder.mkdir()
        part(folder, PartSettings(divisor), files, 1)
        sides = [[line[1:] for line in read_lines(folder / name)] for name in ("source", "target", "alignment.0")]
        assert sides[0] == sides[1] == sides[2]
        found[divisor] = [int(number) for number in sides[0]]
        assert len(found[divisor]) == 103 // divisor and found[divisor] == sorted(found[divisor])
    assert {*found[4]} < {*found[2]}


def test_the_curve_adds_stages_and_changes_none(corpus):
    experiment = read_experiment(corpus / "e.toml")
    plain, with_curve = make_plan(experiment), make_plan(experiment, learning_curve=True)
    keys = [stage.key for stage in plain.stages()]
    assert [stage.key for stage in with_curve.stages()][: len(keys)] == keys
    more = with_curve.stages()[len(keys) :]
    assert {stage.name for stage in more} == {"part", "align", "lm", "derive", "grammar-minimal", "decode"}
    assert len(more) == 12 and with_curve.curve.system == "MIN"
    done = set(keys)
    for stage in more:  # each after those whose files it reads
        assert {source.key for source in stage.sources} <= done
        done.add(stage.key)
    shown = format_plan(with_curve, lambda stage: False).splitlines()
    assert sum(line.endswith("learning curve") for line in shown) == 12


def test_given_alignments_are_cut_with_the_text(corpus):
    lines = read_lines(corpus / "train.ja")
    (corpus / "links").write_text("0-0\n" * len(lines))
    text = TOML.replace('target = "train.en"', 'target = "train.en"\nalignment = ["links"]')
    (corpus / "given.toml").write_text(text)
    made = make_plan(read_experiment(corpus / "given.toml"), learning_curve=True)
    assert "align" not in {stage.name for stage in made.stages()}
    assert {stage.name for stage in made.curve.points[0].derivations.sources} == {"part"}


def test_a_system_with_latent_features_alone_has_no_curve(corpus):
    (corpus / "latent.toml").write_text(TOML.replace("[systems.MIN]\n", "") + '[evaluation]\nbaseline = "SPECTRAL"\n')
    with pytest.raises(InputError, match="--learning-curve needs a system without latent features"):
        make_plan(read_experiment(corpus / "latent.toml"), learning_curve=True)


def test_a_run_with_a_curve_keeps_all_other_results(corpus, tmp_path):
    words = "run", corpus / "e.toml", "-o", tmp_path / "o", "--systems", "MIN", "-j", 1
    assert run_lscfg(*words).returncode == 0
    results, report = tmp_path / "o" / "results.json", tmp_path / "o" / "report.html"
    before = json.loads(results.read_text())
    assert "drew no learning curve (lscfg run --learning-curve)" in report.read_text()
    made = run_lscfg(*words, "--learning-curve")
    assert made.returncode == 0, made.stderr
    after = json.loads(results.read_text())
    curve = after.pop("learning curve")
    assert after == before
    sizes = [point["sentence pairs"] for point in curve["points"]]
    whole = before["derivations"]["sentence pairs"]
    assert sizes == [whole // 4, whole // 2, whole]
    assert curve["points"][-1]["test_bleu"] == pytest.approx(before["systems"][0]["test_bleu"])
    assert curve["twice the text"]["low"] <= curve["twice the text"]["gain"] <= curve["twice the text"]["high"]
    assert "MIN trained on a quarter, a half and all of them reaches BLEU" in made.stdout
    assert "twice the text" in report.read_text()
    again = run_lscfg(*words, "--learning-curve")
    assert again.stdout.split("report:")[0] == made.stdout.split("report:")[0]
    assert "stage 1/" not in again.stderr  # all stages are there
