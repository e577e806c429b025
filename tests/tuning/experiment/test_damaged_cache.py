"""Damage to any file of a finished experiment: the next run has the same results, or names the file and a cure."""

import dataclasses
import gzip
import json
import os
import random
import shutil

import pytest
from little_experiment import TOML, run_lscfg

from lscfg.demo import generate, write
from lscfg.errors import InputError, LscfgError
from lscfg.prepare import files as prepared
from lscfg.tuning.experiment import run
from lscfg.tuning.experiment.checks import check_folder
from lscfg.tuning.experiment.config import read_experiment
from lscfg.tuning.experiment.run import run_experiment

SMALL = TOML
for long, short in (
    ("iterations = 3", "iterations = 2"),
    ("kbest = 20", "kbest = 10"),
    ("order = 3", "order = 2\ndiscount_fallback = true"),
    ("[systems.MIN]", "[evaluation]\nsamples = 20\ntrials = 20\n\n[systems.MIN]"),
):
    SMALL = SMALL.replace(long, short)

RESULT = "results.json"


def removed(path):
    path.unlink()


def empty(path):
    path.write_bytes(b"")


def cut(path):
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


def garbage(path):
    """Of the same size, so that only its hash shows it."""
    path.write_bytes(random.Random(1).randbytes(path.stat().st_size))


def other_json(path):
    path.write_text('{"seconds": "1", "outputs": [], "history": [{"dev_bleu": "x"}]}')


def deep_json(path):
    path.write_text("[" * 100_000)


def folder(path):
    path.unlink()
    path.mkdir()


WAYS = (removed, empty, cut, garbage, other_json, deep_json, folder)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A finished run's experiment file and folder."""
    output, corpus = tmp_path_factory.mktemp("finished"), tmp_path_factory.mktemp("tiny")
    write(generate(seed=2, train=300, dev=10, test=10), corpus)
    experiment = corpus / "small.toml"
    experiment.write_text(SMALL)
    run_experiment(experiment, output, 1)
    return experiment, output


def damages(output):
    """(file, way) of all that can be done to one file."""
    files = sorted(path.relative_to(output) for path in output.rglob("*") if path.is_file())
    return [(name, way) for name in files for way in WAYS if name.name != ".lock" or way is folder]


def sample(found):
    """A few of them; with LSCFG_ALL_DAMAGES set, all."""
    if os.environ.get("LSCFG_ALL_DAMAGES"):
        return found
    draw = random.Random(8)
    records = [pair for pair in found if pair[0].name == "stage.json"]
    return draw.sample(records, 5) + draw.sample([pair for pair in found if pair not in records], 15)


def check(experiment, output, before):
    try:
        run_experiment(experiment, output, 1)
    except LscfgError as error:
        return str(error)
    assert (output / RESULT).read_bytes() == before
    return ""


def test_a_damaged_file_is_made_again_or_named(finished, tmp_path):
    experiment, whole = finished
    before = (whole / RESULT).read_bytes()
    assert len(damages(whole)) > 200
    for name, way in sample(damages(whole)):
        output = tmp_path / "output"
        shutil.copytree(whole, output)
        way(output / name)
        message = check(experiment, output, before)
        assert "\n" not in message
        if message:
            assert way is folder and str(output / name) in message, (name, way, message)
            (output / name).rmdir()
            assert check(experiment, output, before) == ""
        shutil.rmtree(output)


@pytest.mark.usefixtures("terminal")
def test_a_stage_whose_output_was_changed_says_so(finished, tmp_path, capsys):
    experiment, whole = finished
    shutil.copytree(whole, tmp_path / "output")
    model = next((tmp_path / "output").glob("cache/estimate-*/model.lscfg"))
    record = next((tmp_path / "output").glob("cache/derive-*/stage.json"))
    garbage(model)
    empty(record)
    assert check(experiment, tmp_path / "output", (whole / RESULT).read_bytes()) == ""
    log = capsys.readouterr().err.splitlines()
    assert f"[lscfg] stage estimate is made again: {model} has another content" in log
    assert f"[lscfg] stage derive is made again: {record} is missing, damaged or of an older lscfg" in log
    assert sum(" is made again" in line for line in log) == 2
    run_experiment(experiment, tmp_path / "output", 1)
    assert not [line for line in capsys.readouterr().err.splitlines() if line.startswith("[lscfg] stage ")]


def test_the_experiment_may_be_compressed(finished, tmp_path):
    experiment, whole = finished
    shutil.copytree(whole, tmp_path / "output")
    compressed = experiment.with_name("small.toml.gz")
    compressed.write_bytes(gzip.compress(experiment.read_bytes()))
    run_experiment(compressed, tmp_path / "output", 1)
    manifest = json.loads((tmp_path / "output" / "manifest.json").read_text())
    assert manifest["experiment"] == experiment.read_text()


@pytest.mark.parametrize("whose", ["an earlier run's", "the text's", "somebody's"])
def test_a_preparation_of_other_text_does_not_stay(finished, tmp_path, caplog, whose):
    shutil.copytree(finished[1], tmp_path / "output")
    prepare = tmp_path / "output" / "prepare"
    (prepare.parent / "cache" / "prepare-0").mkdir()
    for made in (prepare, prepare.parent / "cache" / "prepare-0"):
        made.mkdir(exist_ok=True)
        (made / prepared.RECORD).write_text("the record")
    experiment = finished[0]
    if whose == "the text's":
        shutil.copytree(experiment.parent, prepare, dirs_exist_ok=True)
        experiment = prepare / experiment.name
    elif whose == "somebody's":
        (prepare / prepared.RECORD).write_text("another record")
    restored = tmp_path / "output" / "systems" / "MIN" / "test.restored"
    restored.write_text("of another output")
    assert check(experiment, tmp_path / "output", (finished[1] / RESULT).read_bytes()) == ""
    assert prepare.exists() == (whose != "an earlier run's") and not restored.exists()
    assert (f"{prepare}: prepares new text, but not the text of this run" in caplog.text) == (whose == "somebody's")


def test_files_of_a_system_of_another_kind_do_not_stay(finished, tmp_path):
    """The configuration and the weights would translate new text."""
    shutil.copytree(finished[1], tmp_path / "output")
    experiment = finished[0].with_name("agreed.toml")
    experiment.write_text(SMALL + '\n[systems.AGREED]\nagree = ["MIN", "SPECTRAL"]\n')
    agreed = tmp_path / "output" / "systems" / "AGREED"
    shutil.copytree(agreed.with_name("MIN"), agreed)
    assert {"cdec.ini", "weights", "tuning.json"} < {path.name for path in agreed.iterdir()}
    run_experiment(experiment, tmp_path / "output", 1)
    assert [path.name for path in agreed.iterdir()] == ["test.output"]


def test_a_file_that_changes_before_the_results_is_named(finished, tmp_path, monkeypatch):
    """An edited experiment is one for the next run."""
    shutil.copytree(finished[0].parent, tmp_path / "tiny")
    shutil.copytree(finished[1], tmp_path / "output")
    experiment, reference = tmp_path / "tiny" / "small.toml", tmp_path / "tiny" / "test.en"
    collect = run.collect_results

    def edited(*given):
        reference.write_text(texts.pop())
        experiment.write_text(SMALL + "# edited\n")
        return collect(*given)

    texts = [reference.read_text(), "other\n" * 10]
    monkeypatch.setattr(run, "collect_results", edited)
    assert check(experiment, tmp_path / "output", b"").startswith(f"{reference}: changed during the run")
    reference.write_text(texts[0])
    experiment.write_text(SMALL)
    assert check(experiment, tmp_path / "output", (finished[1] / RESULT).read_bytes()) == ""
    assert json.loads((tmp_path / "output" / "manifest.json").read_text())["experiment"] == SMALL


@pytest.mark.usefixtures("terminal")
def test_k_best_lists_of_finished_tunings_may_be_removed(finished, tmp_path, capsys):
    experiment, whole = finished
    shutil.copytree(whole, tmp_path / "output")
    lists = list((tmp_path / "output").glob("cache/tune-*/kbest.*.gz"))
    assert lists
    for path in lists:
        path.unlink()
    assert check(experiment, tmp_path / "output", (whole / RESULT).read_bytes()) == ""
    assert "made again" not in capsys.readouterr().err


@pytest.mark.parametrize("name", ["cache", "systems", "systems/MIN", "cache/derive", "cache/derive.unfinished"])
def test_a_file_in_the_place_of_a_folder(finished, tmp_path, name):
    experiment, whole = finished
    output = tmp_path / "output"
    shutil.copytree(whole, output)
    derived = next(output.glob("cache/derive-*"))
    path = output / name.replace("cache/derive", f"cache/{derived.name}")
    shutil.rmtree(derived)
    shutil.rmtree(path, ignore_errors=True)
    path.write_text("in the way")
    message = check(experiment, output, (whole / RESULT).read_bytes())
    if "derive" not in name:
        assert message == f"{path}: is a file where the run needs a folder; remove it and run again"
        path.unlink()
        message = check(experiment, output, (whole / RESULT).read_bytes())
    assert message == ""


@pytest.mark.parametrize("name", ["results.json", "systems/MIN/weights", "systems/MIN/run2/weights"])
def test_a_folder_in_the_place_of_a_file(finished, tmp_path, name):
    experiment, _ = finished
    (tmp_path / name).mkdir(parents=True)
    read = read_experiment(experiment)
    twice = dataclasses.replace(read, tuning=dataclasses.replace(read.tuning, runs=2))
    with pytest.raises(InputError) as caught:
        check_folder(tmp_path, twice)
    assert str(caught.value) == f"{tmp_path / name}: is a folder where the run needs a file; remove it and run again"


@pytest.mark.parametrize(
    ("name", "way"),
    [
        *(("history.json", way) for way in (cut, other_json, deep_json, folder)),
        *(("kbest.001.gz", way) for way in (removed, garbage)),
        *(("seconds.json", way) for way in (removed, deep_json)),
    ],
)
def test_a_damaged_checkpoint_is_named_with_its_cure(finished, tmp_path, name, way):
    experiment, whole = finished
    output = tmp_path / "output"
    shutil.copytree(whole, output)
    done = next(output.glob("cache/tune-*"))
    unfinished = done.with_name(f"{done.name}.unfinished")
    done.rename(unfinished)
    (unfinished / "stage.json").unlink()
    way(unfinished / name)
    before = (whole / RESULT).read_bytes()
    if message := check(experiment, output, before):
        assert str(unfinished / name) in message or "not those of its history" in message
        assert message.endswith(f"remove the folder {unfinished} and run again") and "\n" not in message
        shutil.rmtree(unfinished)
        assert check(experiment, output, before) == ""


def test_the_command_says_it_in_one_line(finished, tmp_path):
    experiment, _ = finished
    (tmp_path / "cache").write_text("")
    ended = run_lscfg("run", experiment, "-o", tmp_path, "--quiet")
    assert ended.returncode == 1
    assert (
        ended.stderr
        == f"lscfg run: {tmp_path}/cache: is a file where the run needs a folder; remove it and run again\n"
    )


def test_what_a_killed_run_was_writing_is_removed(finished, tmp_path):
    experiment, whole = finished
    shutil.copytree(whole, tmp_path / "output")
    left = [tmp_path / "output" / ".lscfg.77.tmp", tmp_path / "output/systems/MIN/.lscfg.78.tmp"]
    for path in left:
        path.write_text("half")
    assert check(experiment, tmp_path / "output", (whole / RESULT).read_bytes()) == ""
    assert not any(path.exists() for path in left)
