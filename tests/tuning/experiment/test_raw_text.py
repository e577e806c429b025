"""Experiments on raw text: what their files may say, what is in the keys, and whole runs to restored text."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from little_experiment import run_lscfg
from other_settings import other_value, toml_lines

from lscfg.bundle.places import preparation_of
from lscfg.demo import generate
from lscfg.errors import InputError
from lscfg.io.read import read_lines
from lscfg.io.write import write_lines
from lscfg.prepare.reader import TEXT_READERS
from lscfg.prepare.record import Record
from lscfg.prepare.settings import PrepareSettings
from lscfg.prepare.tokeniser import TOKENISERS
from lscfg.settings import settings_of
from lscfg.tuning.evaluate import restored_bleu, restored_tokens
from lscfg.tuning.experiment.cache import StageCache
from lscfg.tuning.experiment.checks import check_corpus
from lscfg.tuning.experiment.config import Overrides, read_experiment
from lscfg.tuning.experiment.plan import make_plan
from lscfg.tuning.experiment.stages.charts import SentenceFiles, SentenceSettings, sentences

RAW = """
[corpus]
raw = true
source = "raw.es"
target = "raw.en"

[prepare]
tokeniser = "none"
dev = 20
test = 25

[language_model]
order = 3
estimator = "lscfg"

[tuning]
iterations = 2
kbest = 10

[systems.MIN]

[systems.MLE]
estimator = "mle"
"""


@pytest.fixture(scope="session")
def texts(tmp_path_factory):
    """A folder of raw text: sentences with capital letters, odd spaces, empty lines and doubles among them."""
    folder, corpus = tmp_path_factory.mktemp("texts"), generate(3)
    for name, pairs in (("raw", corpus.train[:500]), ("dev", corpus.dev[:20]), ("test", corpus.test[:25])):
        for side, language in enumerate(("es", "en")):
            lines = [pair[side][0].upper() + pair[side][1:].replace(" ", "\u00a0 ", 1) for pair in pairs]
            odd = {"raw": ["", lines[0]], "dev": [""], "test": [""]}.get(name, [])
            write_lines(folder / f"{name}.{language}", [*lines, *odd])
    return folder


@pytest.fixture
def experiment(texts, tmp_path):
    """Reads the experiment after changes of its text."""

    def read(*changes):
        text = RAW
        for old, new in changes:
            assert old in text
            text = text.replace(old, new, 1)
        (tmp_path / "raw.toml").write_text(text)
        return read_experiment(tmp_path / "raw.toml", Overrides(data=texts))

    return read


FILES = 'dev_source = "dev.es"\ndev_reference = "dev.en"\ntest_source = "test.es"\ntest_reference = "test.en"\n'
GIVEN = (("[prepare]", f"{FILES}[prepare]"), ("dev = 20\ntest = 25\n", ""))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("raw = true\n", ""), "raw.toml:2: corpus.dev_source is missing"),
        (("raw = true", "raw = 1"), "raw.toml:3: raw must be true or false, not 1"),
        (('source = "raw.es"', "source = []"), "raw.toml:4: source must be one value or more, not an empty list"),
        (('target = "raw.en"\n', ""), "raw.toml:2: plain text takes two files"),
        (("dev = 20\n", ""), "raw.toml:2: no dev set: name dev_source and dev_reference, or set dev in"),
        (("[prepare]", f"{FILES}[prepare]"), "raw.toml:13: dev is for pairs of the corpus, but the dev set has files"),
        (("[prepare]", 'dev_source = "dev.es"\n[prepare]'), "the dev set needs both dev_source and dev_reference"),
        (("[prepare]", "[prepare]\nvocabulary = 5"), "raw.toml:8: unknown key 'vocabulary'"),
        (("[prepare]", "[prepare]\nreading = 5"), "raw.toml:8: unknown key 'reading'"),
        (
            ("[prepare]", '[prepare]\nformat = "docx"'),
            "raw.toml:8: format must be one of csv, jsonl, parquet, srt, text, tmx, tsv, xliff, xlsx",
        ),
        (("[prepare]", "[prepare]\nmax_ratio = 0.5"), "raw.toml:8: max_ratio must be at least 1"),
        (("[prepare]", '[prepare]\nsource_language = "?"'), "raw.toml:8: source_language must be a language"),
        (('source = "raw.es"', 'source = ["raw.es", "dev.es"]'), "raw.toml:5: source has 2 files, but target has 1"),
        (('target = "raw.en"', 'target = "raw.es"'), "raw.toml:7: source and target have the same language, es"),
        (('"none"', '"split"'), "raw.toml:8: tokeniser must be one of moses, none, spm, words"),
    ],
)
def test_bad_experiments(experiment, change, message):
    with pytest.raises(InputError) as caught:
        experiment(change)
    assert message in str(caught.value)


def test_several_texts_with_their_translations(experiment):
    several = (('"raw.es"', '["raw.es", "dev.es"]'), ('"raw.en"', '["raw.en", "dev.en"]'))
    languages = ("[prepare]", '[prepare]\nsource_language = "es"\ntarget_language = "en"')
    found = experiment(*several, languages)
    assert [path.name for path in found.corpus.files] == ["raw.es", "raw.en", "dev.es", "dev.en"]
    reader = TEXT_READERS["text"]
    pairs = [*reader.read_pairs(found.corpus.files, ("es", "en"), reader.Settings())]
    assert [(Path(pair.path).name, pair.line) for pair in (pairs[0], pairs[-1])] == [("raw.es", 1), ("dev.es", 21)]


def test_a_preparation_is_for_raw_text(corpus, tmp_path):
    text = (corpus / "e.toml").read_text()
    (tmp_path / "e.toml").write_text(text + "[prepare]\ndev = 5\n")
    with pytest.raises(InputError, match=r"e\.toml:\d+: prepare is for raw text: set raw = true in \[corpus\]"):
        read_experiment(tmp_path / "e.toml", Overrides(data=corpus))
    (tmp_path / "e.toml").write_text(text.replace("[corpus]\n", "[corpus]\nraw = false\n"))
    assert make_plan(read_experiment(tmp_path / "e.toml", Overrides(data=corpus))).texts.prepared is None


def test_charts_of_sentences_that_are_not_there(experiment):
    asked = ("[systems.MIN]", "[report]\nsentences = [26]\n[systems.MIN]")
    with pytest.raises(InputError, match=r"has 25 lines; \[report\] asks for a chart of line 26"):
        check_corpus(experiment(asked))
    check_corpus(experiment(asked, *GIVEN))  # the empty line counts, too


@pytest.mark.usefixtures("terminal")
def test_charts_of_sentences_that_preparation_dropped(tmp_path, capsys):
    """Pieces can make a drawn sentence too long, so that the test set is smaller than asked for."""
    for name, lines in (("text", ["a b", "c d"]), ("one", ["A B", "C D"]), ("two", ["A B", "C"])):
        write_lines(tmp_path / name, lines)
    outputs = {name: tmp_path / name for name in ("one", "two")}
    files = SentenceFiles(tmp_path / "text", outputs, (tmp_path / "one",))
    sentences(tmp_path, SentenceSettings((2, 3), 5), files, 1)
    assert json.loads((tmp_path / "sentences.json").read_text())["charts"] == [1]
    assert "[report] asks for charts of sentences beyond the 2 sentences of the test set" in capsys.readouterr().err


def keys(experiment):
    return {stage.name: stage.key for stage in make_plan(experiment).shared}


SETTINGS = [item for item in settings_of(PrepareSettings) if item.name not in ("format", "tokeniser", "dev", "test")]


@pytest.mark.parametrize("item", SETTINGS, ids=lambda item: item.name)
def test_every_setting_is_in_the_key(experiment, texts, item):
    value = "fr" if item.name.endswith("language") else other_value(item, 0)
    if item.kind is Path:
        value = texts / value.name
        value.write_text("before\tafter\tplace\na\tb\tall\n")
    changed = keys(experiment(("[prepare]\n", f"[prepare]\n{toml_lines({item.name: value})}")))
    present = keys(experiment())
    assert {name for name in present if present[name] != changed[name]} == {*present}


@pytest.mark.parametrize("name", TOKENISERS.names())
def test_every_setting_of_a_tokeniser_is_in_the_key(experiment, texts, name, monkeypatch):
    head = f'tokeniser = "{name}"\n'
    present = keys(experiment(('tokeniser = "none"\n', head)))
    for item in settings_of(TOKENISERS[name].Settings):
        value = other_value(item, 0)
        if item.kind.__name__ == "Path":
            (texts / value.name).write_text("model")
            value = texts / value.name
        changed = keys(experiment(('tokeniser = "none"\n', head + toml_lines({item.name: value}))))
        assert changed["prepare"] != present["prepare"], item.name
    monkeypatch.setattr(TOKENISERS[name], "VERSION", 99)
    assert keys(experiment(('tokeniser = "none"\n', head)))["prepare"] != present["prepare"]


def test_settings_and_version_of_the_files_kind_are_in_the_key(experiment, texts, monkeypatch):
    rows = zip(read_lines(texts / "raw.es"), read_lines(texts / "raw.en"), strict=True)
    write_lines(texts / "raw.tsv", ["\t".join(["1", *row, "x"]) for row in rows])
    table = ('source = "raw.es"\ntarget = "raw.en"\n', 'source = "raw.tsv"\n')
    languages = 'source_language = "es"\ntarget_language = "en"\n'
    found = []
    for more in ("", "source_column = 3\n", "target_column = 3\n", "header = true\n"):
        found.append(keys(experiment(table, ("[prepare]\n", f"[prepare]\n{languages}{more}")))["prepare"])
    monkeypatch.setattr(TEXT_READERS["tsv"], "VERSION", 99)
    found.append(keys(experiment(table, ("[prepare]\n", f"[prepare]\n{languages}")))["prepare"])
    assert len(set(found)) == 5


# ---- whole runs ----


def results(folder):
    return json.loads((folder / "results.json").read_text())


def test_a_run_from_raw_text_to_restored_text(texts, tmp_path):
    (texts / "raw.toml").write_text(RAW)
    out = tmp_path / "out"
    run = run_lscfg("run", texts / "raw.toml", "-o", out, "--jobs", 2)
    assert run.returncode == 0, run.stderr
    found = results(out)
    assert "tok:none" in found["signature"] and "tok:13a" in found["restored_signature"]
    assert "need one word changed" in run.stdout
    assert "restored BLEU" in run.stdout and found["restored_signature"] in run.stdout
    assert "restored BLEU" in (out / "report.html").read_text()
    (made,) = out.glob("cache/prepare-*")
    reference = read_lines(made / "test.ref.en")
    assert len(reference) == 25 and not any(line.islower() for line in reference)
    for row in found["systems"]:
        restored = read_lines(out / "systems" / row["system"] / "test.restored")
        bleu, signature = restored_bleu(restored, [reference])
        assert row["restored_bleu"] == row["runs"][0]["restored_bleu"] == bleu > 10
        assert signature == found["restored_signature"] and all(line[0] != line[0].lower() for line in restored)
    words = (out / "systems" / "MIN" / "test.output").read_text()
    back = run_lscfg("prepare", "restore", out / "prepare", input=words, encoding="utf-8")
    assert back.stdout == (out / "systems" / "MIN" / "test.restored").read_text()
    (tmp_path / "new.txt").write_bytes((texts / "test.es").read_bytes())
    command = run.stdout.splitlines()[-1].removeprefix("translate: ").replace("TEXT", str(tmp_path / "new"))
    bin_first = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    told = subprocess.run(command, shell=True, env=bin_first, capture_output=True, text=True, check=True)
    given, translated = read_lines(texts / "test.es"), told.stdout.splitlines()
    assert [not line for line in translated] == [not line for line in given]
    assert sum(one == other for one, other in zip(given, translated, strict=True)) == 1  # the empty line
    assert read_lines(out / "prepare" / "test.ref.en") == reference
    assert (
        {"train.es", "dev.en", "dropped.tsv"} < {*os.listdir(out / "prepare")} == {*os.listdir(made)} - {"stage.json"}
    )
    dropped = [line.split("\t")[1:] for line in read_lines(out / "prepare" / "dropped.tsv")]
    assert ["501", "train", "dropped", "empty"] in dropped and ["502", "train", "dropped", "duplicate"] in dropped

    plan = run_lscfg("run", texts / "raw.toml", "-o", out, "--plan")
    assert "to do" not in plan.stdout and plan.stdout.splitlines()[1].startswith("prepare")
    mine = out / "prepare" / "new.words"
    mine.write_text("una casa\n")
    refused = run_lscfg("run", texts / "raw.toml", "-o", out)
    assert refused.returncode == 1 and f"{mine}: does not belong to the preparation" in refused.stderr
    mine.unlink()
    assert run_lscfg("run", texts / "raw.toml", "-o", out).returncode == 0
    before = (out / "results.json").read_bytes()
    shutil.rmtree(out)
    assert run_lscfg("run", texts / "raw.toml", "-o", out, "--jobs", 1).returncode == 0
    assert (out / "results.json").read_bytes() == before
    (texts / "lower.toml").write_text(RAW.replace("[prepare]", '[prepare]\ncasing = "lower"'))
    part = run_lscfg("run", texts / "lower.toml", "-o", out, "--systems", "MIN")
    assert part.returncode == 0 and "earlier runs that were made with another text: MLE" in part.stderr
    assert preparation_of(out / "systems" / "MIN") == out / "prepare"
    for action in (
        ["pack", out / "systems" / "MLE", "-o", tmp_path / "bundle"],
        command.replace("MIN", "MLE").split()[1:],
    ):
        refused = run_lscfg(*action)
        assert refused.returncode == 1 and f"MLE: was not made with the text in {out / 'prepare'}" in refused.stderr


def test_a_run_with_sub_words_given_sets_and_two_tunings(texts, tmp_path):
    pytest.importorskip("sentencepiece")
    text = RAW.replace('tokeniser = "none"', 'tokeniser = "spm"\nvocabulary = 300\nmax_length = 60')
    text = text.replace('[systems.MLE]\nestimator = "mle"\n', "")
    for old, new in GIVEN:
        text = text.replace(old, new)
    (texts / "pieces.toml").write_text(text)
    out = tmp_path / "out"
    run = run_lscfg("run", texts / "pieces.toml", "-o", out, "--jobs", 2, "--runs", 2)
    assert run.returncode == 0 and "need one piece changed" in run.stdout, run.stderr
    (row,) = results(out)["systems"]
    assert row["restored_bleu"] == pytest.approx(sum(one["restored_bleu"] for one in row["runs"]) / 2)
    for place in ("", "run2"):
        restored = read_lines(out / "systems" / "MIN" / place / "test.restored")
        assert len(restored) == 26 and restored[-1] == "" and not any("\u2581" in line for line in restored)
    manifest = json.loads((out / "manifest.json").read_text())
    assert {(texts / f"{name}.{end}").as_posix() for name in ("raw", "dev", "test") for end in ("es", "en")} == set(
        manifest["sha256"]
    )


@pytest.mark.parametrize(
    ("language", "tokens"),
    [(code, "13a") for code in ["en", "pt_BR", "kor", "fra_Latn", "zh-Latn", "ht"]]
    + [(code, "zh") for code in ["zh-TW", "zho_Hans", "chi", "cmn", "yue"]]
    + [(code, "char") for code in ["ja", "jpn", "jpn_Jpan", "tha", "lao", "bur", "bod_Tibt"]],
)
def test_tokens_of_restored_bleu(language, tokens):
    assert restored_tokens(language) == tokens
    score, signature = restored_bleu(["a b c d."], [["a b c d."]], tokens)
    assert score == pytest.approx(100) and f"tok:{tokens}|" in signature


def test_restored_bleu_of_lines_that_do_not_fit():
    with pytest.raises(InputError, match="restored text has 1 line, the references have 2"):
        restored_bleu(["a"], [["a", "b"]])


def test_monolingual_text_is_prepared_like_the_corpus(experiment, texts, tmp_path, caplog):
    reference = read_lines(texts / "test.en")[0]
    write_lines(tmp_path / "more.en", ["Nuevo quesca Raro.", "", reference])
    write_lines(tmp_path / "spelling.tsv", ["qu\tk\t\te"])
    spelling = f'[prepare]\northography = "{tmp_path / "spelling.tsv"}"'
    more = f'[monolingual]\ntarget = "{tmp_path / "more.en"}"\n[language_model]'
    plan = make_plan(experiment(*GIVEN, ("[language_model]", more), ("[prepare]", spelling)))
    assert plan.stages()[:2] == [plan.texts.prepared, plan.texts.more] and not plan.texts.more_source
    assert [part.stage for part in plan.texts.more_target] == [plan.texts.more]
    cache = StageCache(tmp_path / "cache", apart=False)
    for stage in (*plan.stages()[:2], next(stage for stage in plan.stages() if stage.name == "lm")):
        cache.make(stage, 1)
    side = Record.read(cache.path(plan.texts.prepared)).sides[1].side()
    made = read_lines(cache.path(plan.texts.more) / "target")
    assert made == [side.encode("Nuevo kesca Raro."), side.encode(reference)]
    assert "kesca" in (cache.path(stage) / "lm.arpa").read_text() and "monolingual text contains 1 of" in caplog.text
