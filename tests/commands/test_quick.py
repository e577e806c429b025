"""``lscfg quick``: what it writes, shows and refuses; ``tests/tuning/experiment/test_quick_run.py`` runs it."""

import re

import messy
import pytest

from lscfg.cli import main
from lscfg.tuning.commands import quick
from lscfg.tuning.experiment.config import read_experiment


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_plan_shows_guesses_and_stages_and_trains_nothing(here, capsys):
    [file], settings, _ = messy.spreadsheet(here)
    assert main(["quick", str(file), "--plan"]) == 0
    shown = capsys.readouterr()
    assert re.search(r"^prepare +\w+ +\d+ +to do", shown.out, re.MULTILINE) and "LATENT" in shown.out
    for part in (
        "format:    csv (4 columns between semicolons in 100% of the rows; change with --format)",
        "encoding:  utf-8 (byte order mark; change with --encoding)",
        "header:    'Deutsch' and 'Englisch' (names of languages or roles; change with --no-header)",
        "columns:   2, 3 of 4 (named by languages; change with --columns)",
        "languages: de to en (named in the file; change with --languages)",
        "pairs:     375 (left out: 9 with empty side)",
        "sizes:     56 to tune, 56 to test (by the pairs; change with --dev, --test)",
    ):
        assert part in shown.err
    experiment = read_experiment("quick/experiment.toml")
    assert {path.name for path in (here / "quick").iterdir()} == {"experiment.toml"}
    assert [*experiment.systems] == ["MIN", "LATENT"] and experiment.tuning.iterations == quick.ITERATIONS
    prepare = experiment.prepare
    assert (prepare.source_language, prepare.target_language, prepare.format) == ("de", "en", "csv")
    assert (prepare.reading.source_column, prepare.reading.header) == (settings["source_column"], True)
    assert (prepare.dev, prepare.test) == (56, 56)


def test_options_replace_guesses(here, capsys):
    [file], _, _ = messy.tatoeba(here)
    words = "--format csv --encoding cp1252 --languages en,de --columns 4,2 --header --dev 20 --test 30 --all-systems"
    assert main(["quick", str(file), *words.split(), "--plan", "-o", "a"]) == 0
    experiment = read_experiment("a/experiment.toml")
    prepare = experiment.prepare
    assert (prepare.format, prepare.source_language, prepare.dev, prepare.test) == ("csv", "en", 20, 30)
    reading = prepare.reading
    assert (reading.encoding, reading.source_column, reading.target_column, reading.header) == ("cp1252", 4, 2, True)
    assert len(experiment.systems) == 6


def test_an_experiment_is_replaced_until_somebody_edits_it(here, capsys):
    [file], _, _ = messy.tatoeba(here)
    path = here / "quick" / "experiment.toml"
    for words in ([], ["--languages", "de,nl"]):
        assert main(["quick", str(file), "--plan", *words]) == 0
    assert 'target_language = "nl"' in path.read_text()
    path.write_text(path.read_text().replace('"nl"', '"fy"'))
    assert main(["quick", str(file), "--plan"]) == 1
    assert "was edited or is not by lscfg quick; run it by lscfg run quick/experiment.toml" in capsys.readouterr().err
    assert '"fy"' in path.read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("a.tsv a.tsv a.tsv", "give one file of pairs, or a source and its translation"),
        ("a.tsv", "2 pairs are too few to train on; at least 200 are needed"),
        ("absent.tsv", "absent.tsv: cannot read: No such file or directory"),
        ("a.tsv --languages de", "--languages takes two values separated by a comma, not 'de'"),
        ("a.tsv --languages de,de", "--languages: source and target are the same"),
        ("a.tsv --languages de,jp", "--languages: 'jp' is a country code; the language is ja"),
        ("a.tsv --columns 1,1", "--columns: source and target are the same"),
        ("b.tsv --dev 500", "--dev 500: dev and test take 1 pair to half of the 384 pairs together"),
    ],
)
def test_what_is_refused(here, capsys, words, message):
    (here / "a.tsv").write_text("Guten Tag.\tGood day.\nBis morgen!\tSee you!\n")
    messy.tatoeba(here).files[0].rename(here / "b.tsv")
    assert main(["quick", *words.split(), "--plan"]) == 1
    assert message in capsys.readouterr().err
    assert not (here / "quick").exists()


def test_training_comes_first_and_the_best_system_is_served(here, capsys, monkeypatch):
    [file], _, _ = messy.tatoeba(here)
    runs, served = [], []

    def run_experiment(path, folder, jobs, overrides=None):
        runs.append(overrides and overrides.systems)
        for name in ("MIN", "LATENT", "HIERO"):
            place = folder / "systems" / name
            place.mkdir(parents=True, exist_ok=True)
            (place / "cdec.ini").touch()
        rows = '{"systems": [{"system": "MIN", "dev_bleu": 20}, {"system": "LATENT", "dev_bleu": 30},'
        rows += '{"system": "HIERO", "dev_bleu": 40}]}'  # with the rules of dev and test only
        (folder / "results.json").write_text(rows)
        return "the table"

    monkeypatch.setattr(quick, "run_experiment", run_experiment)
    monkeypatch.setattr(quick, "pack", lambda system, bundle: served.append((str(system), str(bundle))))
    monkeypatch.setattr(quick.serve, "run", lambda args: served.append((args.system, args.port, args.jobs)))
    assert main(["quick", str(file), "--port", "0", "-j", "1", "--all-systems"]) == 0
    assert runs == [["MIN"], None]
    assert served == [("quick/systems/LATENT", "quick/bundle"), ("quick/bundle", 0, 1)]
    out = capsys.readouterr().out
    assert out.startswith("the table") and "lscfg decode -c quick/systems/LATENT/cdec.ini" in out
    assert "lscfg serve quick/bundle" in out
