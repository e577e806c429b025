"""``lscfg quick``: what it writes, shows and refuses; ``tests/tuning/experiment/test_quick_run.py`` runs it."""

import io
import json
import re
import socket

import messy
import pytest

from lscfg.cli import main
from lscfg.errors import LscfgError
from lscfg.tuning.commands import quick
from lscfg.tuning.experiment.cache import StageCache, locked
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
    assert {path.name for path in (here / "quick").iterdir()} == {".lock", "experiment.toml"}
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


@pytest.mark.parametrize(
    ("make", "word", "part"),
    [
        (messy.unspaced, "model_type=bpe", "tokenisation"),
        (messy.unspaced, "vocabulary=60", "tokenisation"),
        (messy.spreadsheet, "header=false", "reading"),
        (messy.objects, "source_field=translation.en", "reading"),
        (messy.tatoeba, "orthography=rules.tsv", ""),
    ],
)
def test_any_setting_of_the_preparation_is_set(here, capsys, make, word, part):
    """Settings of the reader and of the tokeniser, too; files count from the working directory."""
    (here / "rules.tsv").write_text("ß\tss\n")
    assert main(["quick", *map(str, make(here).files), "--plan", "--set", word]) == 0
    prepare = read_experiment("quick/experiment.toml").prepare
    name, _, value = word.partition("=")
    found = getattr(getattr(prepare, part) if part else prepare, name)
    assert str(found).lower() == value or (name == "orthography" and found.samefile(here / value))


@pytest.mark.parametrize("tokeniser", ["moses", "words"])
def test_tokenisers_that_need_blanks_are_refused_before_the_training(here, capsys, tokeniser):
    files = [str(file) for file in messy.unspaced(here).files]
    options = ["--source-language", "ja", "--target-language", "en", "--tokeniser", tokeniser]
    for command in (["quick", "--plan", "--set", f"tokeniser={tokeniser}"], ["prepare", "corpus", "--check", *options]):
        assert main([*command, *files]) == 1
        assert f"the tokeniser {tokeniser} " in capsys.readouterr().err


def test_languages_may_be_names(here, capsys):
    [file], _, _ = messy.tatoeba(here)
    command = ["quick", str(file), "--plan", "-o", "a", "--languages"]
    assert main([*command, "Español,Shipibo-Konibo"]) == 0
    prepare = read_experiment("a/experiment.toml").prepare
    assert (prepare.source_language, prepare.target_language) == ("es", "shp")
    assert main([*command, "Español,Matsigenka"]) == 1
    assert "--languages: 'Matsigenka' is not an ISO 639 code; iso639-3.sil.org" in capsys.readouterr().err


def test_an_experiment_is_replaced_until_somebody_edits_it(here, capsys):
    [file], _, _ = messy.tatoeba(here)
    path = here / "quick" / "experiment.toml"
    for words in ([], ["--languages", "de,nl"]):
        assert main(["quick", str(file), "--plan", *words]) == 0
    assert 'target_language = "nl"' in path.read_text()
    path.write_text(path.read_text().replace('"nl"', '"fy"'))
    assert main(["quick", str(file), "--plan"]) == 1
    assert (
        "was edited, or lscfg quick did not write it; run it by lscfg run quick/experiment.toml"
        in capsys.readouterr().err
    )
    assert '"fy"' in path.read_text()
    path.write_bytes(b"# caf\xe9\n")
    assert main(["quick", str(file), "--plan"]) == 1
    assert "quick/experiment.toml:1: not valid UTF-8" in capsys.readouterr().err


def test_a_translator_of_other_files_is_not_replaced(here, capsys):
    """The default folder is the same for every text; more files of the same text continue it."""
    [file], _, _ = messy.tatoeba(here)
    other, more = here / "other.tsv", here / "more.tsv"
    for copy in (other, more):
        copy.write_bytes(file.read_bytes())
    path = here / "quick" / "experiment.toml"
    assert main(["quick", str(file), "--plan"]) == 0
    before = path.read_bytes()
    assert main(["quick", str(other), "--plan"]) == 1
    error = capsys.readouterr().err
    assert f"quick: contains a translator of '{file.name}', which this one would replace; choose another" in error
    assert path.read_bytes() == before
    assert main(["quick", str(file), str(more), "--plan"]) == 0
    assert main(["quick", str(more), "--plan"]) == 0
    (here / "link").symlink_to(".")
    assert main(["quick", f"link/{more.name}", "--plan"]) == 0


def test_earlier_input_stays_until_its_translator_may_be_replaced(here, capsys, monkeypatch):
    [file], _, _ = messy.tatoeba(here)
    text = file.read_bytes()
    kept, experiment = here / "quick" / "stdin", here / "quick" / "experiment.toml"

    def quick_of(data):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        return main(["quick", "-", "--plan"])

    assert quick_of(text) == 0 and kept.read_bytes() == text
    assert read_experiment(experiment).corpus.files[0].samefile(kept)
    assert quick_of(b"Guten Tag.\tGood day.\nBis morgen!\tSee you!\n") == 1
    assert "quick/stdin: 2 pairs are too few to train on" in capsys.readouterr().err
    assert kept.read_bytes() == text
    more = text + b"\n".join(text.splitlines()[1:40])
    assert quick_of(more) == 0 and kept.read_bytes() == more
    assert "quick/stdin: replaced by other text; the translator of quick will be that" in capsys.readouterr().err
    experiment.write_text(experiment.read_text() + "# edited\n")
    assert quick_of(text) == 1 and kept.read_bytes() == more
    assert "quick/experiment.toml: was edited" in capsys.readouterr().err
    assert {path.name for path in (here / "quick").iterdir()} == {".lock", "experiment.toml", "stdin"}


@pytest.mark.parametrize("words", ["{file}", "{file} --plan", "- --plan"])
def test_files_of_a_command_at_work_stay(here, capsys, monkeypatch, faked, words):
    [file], _, _ = messy.tatoeba(here)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(file.read_bytes())))
    contents = {"experiment.toml": "of the command at work", "stdin": "its input"}
    with locked(here / "quick"):
        for name, text in contents.items():
            (here / "quick" / name).write_text(text)
        assert main(["quick", *(word.format(file=file) for word in words.split()), "--port", "0"]) == 1
    assert "quick: another run is at work in this folder" in capsys.readouterr().err
    assert {path.name: path.read_text() for path in (here / "quick").iterdir()} == {".lock": "", **contents}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("a.tsv b.tsv a.tsv", "a.tsv: is named twice; name each file once"),
        ("b.tsv -", "- is standard input, one file of pairs; name it alone, or save it to a file first"),
        ("b.tsv --set dorp=copy", "--set dorp: unknown key 'dorp'; known keys: source_language"),
        ("b.tsv --set drop", "--set drop: expected KEY=VALUE"),
        ("b.tsv --set drop=copies", "--set drop: drop must be one of damaged, script, copy"),
        ("b.tsv --set vocabulary=60", "--set vocabulary: vocabulary is a setting of spm only"),
        ("b.tsv --set source_field=de", "--set source_field: source_field is a setting of jsonl, parquet only"),
        ("b.tsv --set orthography=absent", "--set orthography: orthography: no file 'absent'"),
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


def test_a_port_that_cannot_be_had_shows_before_the_training(here, capsys):
    pytest.importorskip("uvicorn")
    file = messy.tatoeba(here).files[0]
    assert main(["quick", str(file), "--port", "65536"]) == 1
    assert "--port must be 0 to 65535, not 65536" in capsys.readouterr().err
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["quick", str(file), "--port", str(port)]) == 1
    assert f"cannot listen at '127.0.0.1' port {port}" in capsys.readouterr().err
    assert not (here / "quick").exists()


@pytest.fixture
def faked(monkeypatch):
    """Training and service that only note their calls, and the BLEU of each system on the development set."""
    done = []
    bleu = {"MIN": 20, "HIERO": 40, "LATENT": 30, "HIERO+LATENT": 50, "SAMPLED+LATENT": 10, "AGREED": 60}

    class Rolling:
        alive = True

        def __init__(self, function, listening):
            assert function is quick.serve.serve_on
            listening.close()

        def show(self, args):
            done.append(("show", args.system, args.report, args.jobs))
            return True

        def wait(self):
            done.append("wait")

        def close(self):
            done.append("close")

    def run_experiment(path, folder, jobs, overrides, held):
        assert held
        done.append(overrides.systems)
        if isinstance(fault := bleu.get(overrides.systems[-1]), BaseException):
            raise fault
        rows = [{"system": name, "dev_bleu": bleu[name]} for name in overrides.systems]
        (folder / "results.json").write_text(json.dumps({"systems": rows}))
        (folder / "report.html").touch()
        (folder / "bundle").mkdir(exist_ok=True)
        return "the table"

    monkeypatch.setattr(quick, "run_experiment", run_experiment)
    monkeypatch.setattr(quick, "pack", lambda system, bundle, prepare, name: done.append(str(system)))
    monkeypatch.setattr(quick, "RollingService", Rolling)
    return done, bleu


def test_training_comes_first_and_the_best_system_is_served(here, capsys, faked):
    [file], _, _ = messy.tatoeba(here)
    done, bleu = faked
    assert main(["quick", str(file), "--port", "0", "-j", "1", "--all-systems"]) == 0
    shown = ("show", "quick/bundle", "quick/report.html", 1)
    # HIERO and HIERO+LATENT hold the rules of dev and test only; the last run makes no better system
    systems = [*bleu]
    first = [["MIN"], "quick/systems/MIN", shown, ["MIN", "LATENT"], "quick/systems/LATENT", shown]
    assert done == [*first, systems, "wait", "close"]
    found = capsys.readouterr()
    assert re.fullmatch(
        r"the table\npage:      http://127\.0\.0\.1:\d+ \(Ctrl-C ends it; again: lscfg serve quick/bundle\)\n",
        found.out,
    )
    assert re.search(r"page: +http://\S+ translates with MIN; a better system replaces it when ready\n", found.err)
    assert re.search(r"page: +http://\S+ now translates with LATENT\n", found.err)


def test_a_service_that_died_starts_again_after_the_next_training(here, capsys, faked, monkeypatch):
    [file], _, _ = messy.tatoeba(here)
    done, bleu = faked
    bleu["LATENT"] = 10  # MIN stays the best
    monkeypatch.setattr(quick.RollingService, "alive", False)
    assert main(["quick", str(file), "--port", "0", "-j", "1"]) == 0
    shown = ("show", "quick/bundle", "quick/report.html", 1)
    assert done == [["MIN"], "quick/systems/MIN", shown, ["MIN", "LATENT"], shown, "wait", "close"]
    assert "the service has died and starts again" in capsys.readouterr().err


@pytest.mark.parametrize("fault", [LscfgError("stage tune: out of luck"), OSError(28, "No space left"), MemoryError()])
def test_a_later_training_that_fails_leaves_the_service(here, capsys, faked, fault):
    [file], _, _ = messy.tatoeba(here)
    done, bleu = faked
    bleu["LATENT"] = fault
    assert main(["quick", str(file), "--port", "0", "-j", "1"]) == 1
    assert done[-4:] == [("show", "quick/bundle", "quick/report.html", 1), ["MIN", "LATENT"], "wait", "close"]
    found = capsys.readouterr()
    assert "MIN is kept, and the next run continues from here" in found.err and "the table\npage:" in found.out


@pytest.mark.parametrize("fault", [LscfgError("stage prepare: out of luck"), KeyboardInterrupt()])
def test_without_a_system_a_fault_ends_the_command(here, capsys, faked, fault):
    [file], _, _ = messy.tatoeba(here)
    done, bleu = faked
    bleu["MIN"] = fault
    assert main(["quick", str(file), "--port", "0", "-j", "1"]) == (130 if isinstance(fault, KeyboardInterrupt) else 1)
    assert done == [["MIN"]] and "is kept, and the next" not in capsys.readouterr().err


def test_faults_show_once_with_the_options_of_quick(here, caplog):
    """Pairs near the test set are found only when the text is prepared."""
    [file], _, _ = messy.tatoeba(here)
    rows = [line.split("\t") for line in file.read_text("utf-8").splitlines()]
    longest = sorted(rows, key=lambda row: -len(row[1].split()))[:60]
    rows += [[a, f"{source[:-1]} heute.", b, target] for a, source, b, target in longest]
    file.write_text("\n".join("\t".join(row) for row in rows), "utf-8")
    assert main(["quick", str(file), "--plan"]) == 0
    health = quick._Health(here / "quick" / "experiment.toml", here / "quick")
    health.show()
    health.show()
    caplog.clear()
    StageCache(here / "quick" / "cache", apart=False).make(health._stage, 1)
    caplog.clear()
    with caplog.at_level("INFO", "lscfg"):
        health.show()
        health.show()
    pattern = r"health:    \d+ pairs with a source near the dev or test set \(kept; change with --set drop=leak\)"
    assert [one for one in caplog.messages if re.fullmatch(pattern, one)] == caplog.messages[:1]
    assert not [one for one in caplog.messages if "near duplicates" in one]


def test_the_plan_names_the_faults_of_the_text(here, capsys):
    [file], _, _ = messy.tatoeba(here)
    lines = file.read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines]
    for number in (10, 20, 30):
        rows[number][3] = rows[number][1]
        rows[number + 1][1] = rows[number + 1][1].replace(" ", " &amp; ", 1)
    rows += rows[40:44]
    file.write_text("\n".join("\t".join(row) for row in rows), "utf-8")
    assert main(["quick", str(file), "--plan"]) == 0
    shown = capsys.readouterr().err
    for part in (
        "health:    3 pairs with HTML entities (repaired; change with --set unicode=none)",
        "health:    3 pairs with equal sides (kept; change with --set drop=copy)",
        "health:    4 pairs with an equal earlier pair (dropped; change with --set keep_duplicates=true)",
    ):
        assert part in shown
    assert main(["quick", str(file), "--plan", "--set", "drop=copy,script", "--set", "max_length=50"]) == 0
    assert "health:    3 pairs with equal sides (dropped)" in capsys.readouterr().err
    prepare = read_experiment("quick/experiment.toml").prepare
    assert (prepare.drop, prepare.max_length) == (("copy", "script"), 50)


@pytest.mark.parametrize("state", ["closed", "empty"])
def test_no_standard_input_is_refused_before_a_file_is_made(here, capsys, monkeypatch, state):
    empty = io.TextIOWrapper(io.BytesIO(b""))
    monkeypatch.setattr("sys.stdin", None if state == "closed" else empty)
    assert main(["quick", "-", "-o", "out"]) == 1
    assert f"- is standard input, which is {state} here" in capsys.readouterr().err
    assert not list(here.glob("out/stdin"))


def test_standard_input_is_kept_for_later_runs(here, capsys, monkeypatch):
    [file], _, _ = messy.wrong_header(here)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(file.read_bytes())))
    assert main(["quick", "-", "--plan"]) == 0
    assert (here / "quick" / "stdin").read_bytes() == file.read_bytes()
    experiment = read_experiment("quick/experiment.toml")
    assert [path.name for path in experiment.corpus.files] == ["stdin"]
    assert experiment.prepare.reading.encoding == "utf-16"
    capsys.readouterr()
    for text, told in ((file.read_bytes(), False), (file.read_bytes() * 2, True)):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
        assert main(["quick", "-", "--plan"]) == 0
        assert ("stdin: replaced by other text" in capsys.readouterr().err) == told


def test_several_tables(here, capsys):
    rows = messy.GERMAN
    for number, name in enumerate(("one.csv", "two.csv", "three.csv")):
        part = [f"{f};{e}" for f, e in rows[number::3]]
        (here / name).write_text("\n".join(["Deutsch;Englisch", *part]) + "\n", "utf-8")
    assert main(["quick", "one.csv", "two.csv", "three.csv", "--plan"]) == 0
    shown = capsys.readouterr().err
    assert "files:     3 (tables or memories)" in shown and f"pairs:     {len(rows)} (all records)" in shown
    experiment = read_experiment("quick/experiment.toml")
    assert [path.name for path in experiment.corpus.files] == ["one.csv", "two.csv", "three.csv"]
    assert experiment.prepare.reading.header
    (here / "two.csv").write_text("\n".join(f"{e};{f}" for f, e in rows[1::3]) + "\n", "utf-8")
    assert main(["quick", "one.csv", "two.csv", "three.csv", "--plan"]) == 1
    shown = capsys.readouterr().err
    assert "two.csv: has columns 2, 1 of 2, header none, but one.csv has columns 1, 2 of 2, header" in shown
    assert "give the layout of all files with --columns and --header" in shown
    (here / "two.csv").write_text("\n".join(["Englisch;Deutsch", *(f"{e};{f}" for f, e in rows[1::3])]) + "\n", "utf-8")
    assert main(["quick", "one.csv", "two.csv", "--plan", "--columns", "Deutsch,Englisch"]) == 1
    assert "change one, or put the columns of all files into one order" in capsys.readouterr().err
    messy.memory(here)
    assert main(["quick", "one.csv", "de-en.tmx", "--plan"]) == 1
    assert "de-en.tmx: is of format tmx, but one.csv is of format csv; convert one" in capsys.readouterr().err


def test_several_texts_with_their_translations(here, capsys):
    for number, name in enumerate(("news", "talk")):
        for side, language in enumerate(("de", "en")):
            lines = [pair[side] for pair in messy.GERMAN[number::2]]
            (here / f"{name}.{language}.txt").write_text("\n".join(lines) + "\n", "utf-8")
    assert main(["quick", "talk.de.txt", "news.en.txt", "talk.en.txt", "news.de.txt", "--plan"]) == 0
    assert f"pairs:     {len(messy.GERMAN)} (all records)" in capsys.readouterr().err
    experiment = read_experiment("quick/experiment.toml")
    names = [path.name for path in experiment.corpus.files]
    assert names == ["talk.de.txt", "talk.en.txt", "news.de.txt", "news.en.txt"]
    assert (experiment.prepare.source_language, experiment.prepare.target_language) == ("de", "en")
    assert main(["quick", "talk.de.txt", "news.en.txt", "talk.en.txt", "--plan"]) == 1
    message = (
        "news.en.txt: a text without a translation among the files: give both names that differ only in the language"
    )
    assert message in capsys.readouterr().err
