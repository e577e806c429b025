"""``lscfg init``: what it writes is what ``lscfg run`` and ``lscfg decode`` read."""

import dataclasses
import re
from pathlib import Path

import messy
import pytest

from lscfg.cli import main
from lscfg.formats.ini import read_ini
from lscfg.formats.weights import read_weights
from lscfg.io.write import write_lines
from lscfg.kernel import START_WEIGHTS as LATENT_START
from lscfg.kernel import feature_names
from lscfg.tuning.experiment.config import read_experiment

SRC = ["una casa", "una casa roja", "la casa", "la flor roja", "una flor"] * 8
TGT = ["a house", "a red house", "the house", "the red flower", "a flower"] * 8
LINKS = ["0-0 1-1", "0-0 1-2 2-1", "0-0 1-1", "0-0 1-2 2-1", "0-0 1-1"] * 8

NAMED = ["-s", "f", "--target", "e", "--dev-set", "f", "e", "--test-set", "f", "e"]

EQUAL = """
[corpus]
source = "f"
target = "e"
dev_source = "f"
dev_reference = "e"
test_source = "f"
test_reference = "e"
[evaluation]
against = ["HIERO"]
[systems.MIN]
[systems.HIERO]
grammar = "hiero"
[systems.LATENT]
estimator = "clusters"
features = ["ratios", "context"]
start = "MIN"
[systems."HIERO+LATENT"]
grammar = "both"
estimator = "clusters"
features = ["ratios", "context"]
start = "LATENT"
[systems."SAMPLED+LATENT"]
grammar = "sampled+minimal"
estimator = "clusters"
features = ["ratios", "context"]
start = "LATENT"
[systems.AGREED]
agree = ["HIERO+LATENT", "SAMPLED+LATENT"]
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with text, grammars, a language model and a model."""
    folder = tmp_path_factory.mktemp("init")
    for name, lines in (("f", SRC), ("e", TGT), ("links", LINKS), ("text", ["una flor roja"])):
        write_lines(folder / name, lines)
    f, e, links, deriv = (str(folder / name) for name in ("f", "e", "links", "deriv"))
    text = [f, e, links, "--rules", "hiero+minimal"]
    for words in (
        ["derive", f, e, links, "-o", deriv],
        ["grammar", "minimal", deriv, "-o", str(folder / "min.gz")],
        ["grammar", "hiero", f, e, links, "-o", str(folder / "hiero.gz")],
        ["grammar", "hiero", f, e, links, "--join", str(folder / "min.gz"), "-o", str(folder / "both.gz")],
        ["estimate", "mle", deriv, "-o", str(folder / "mle")],
        ["context", str(folder / "mle"), *text, "--derivations", deriv, "-o", str(folder / "model")],
        ["lm", e, "-o", str(folder / "lm.arpa"), "--order", "2", "--discount-fallback", "--estimator", "lscfg"],
    ):
        assert main([*words, "--quiet"]) == 0
    return folder


@pytest.fixture(autouse=True)
def here(made, monkeypatch):
    """Files are named from their folder."""
    monkeypatch.chdir(made)


def test_the_experiment_is_the_recommended_one_and_can_be_planned(tmp_path, made, capsys):
    assert main(["init", str(tmp_path / "new"), *NAMED]) == 0
    assert "edit in [corpus]" not in capsys.readouterr().err
    (made / "equal.toml").write_text(EQUAL)
    experiment, equal = read_experiment(tmp_path / "new" / "experiment.toml"), read_experiment(made / "equal.toml")
    assert experiment.language_model == dataclasses.replace(equal.language_model, discount_fallback=True)
    for key in ("systems", "extractors", "alignment", "derive", "decoder", "tuning", "evaluation"):
        assert getattr(experiment, key) == getattr(equal, key), key
    assert experiment.report == equal.report
    assert experiment.corpus.dev_reference[0].samefile(made / "e")
    assert main(["run", str(tmp_path / "new" / "experiment.toml"), "-o", str(tmp_path / "out"), "--plan"]) == 0
    planned = capsys.readouterr().out
    assert "HIERO+LATENT" in planned and "to do" in planned


@pytest.mark.parametrize(
    ("words", "pairs", "held_out"),
    [
        (["-s", "raw.es", "-t", "raw.en"], 3000, {"dev": 150, "test": 150}),
        (["-s", "raw.es", "-t", "raw.en", "--dev-set", "f", "e"], 1000, {"dev": 0, "test": 100}),
        (["-s", "raw.tsv", "--source-language", "es", "--target-language", "en"], 60, {"dev": 9, "test": 9}),
        (["-s", "raw.es", "-t", "raw.en", "--target-language", "cy"], 30000, {"dev": 1000, "test": 1000}),
    ],
)
def test_an_experiment_on_raw_text(tmp_path, made, capsys, words, pairs, held_out):
    for name in ("raw.es", "raw.en"):
        (made / name).write_text(("Una casa.\n" if name == "raw.es" else "A house.\n") * pairs)
    (made / "raw.tsv").write_text("Una casa.\tA house.\n" * pairs)
    assert main(["init", str(tmp_path / "new"), "--raw", *words]) == 0
    said = capsys.readouterr().err
    assert "edit in [corpus]" not in said
    assert f"{pairs:,} pairs: " + ", ".join(f"{name} = {size}" for name, size in held_out.items() if size) in said
    path = tmp_path / "new" / "experiment.toml"
    experiment = read_experiment(path)
    assert {name: getattr(experiment.prepare, name) for name in held_out} == held_out
    assert experiment.prepare.target_language == ("cy" if "cy" in words else "en")
    assert main(["run", str(path), "-o", str(tmp_path / "out"), "--plan"]) == 0
    assert re.search(r"prepare .*to do", capsys.readouterr().out)


def test_raw_text_is_read_as_its_content_says(tmp_path, capsys):
    files, settings, _ = messy.spreadsheet(tmp_path)
    assert main(["init", str(tmp_path / "new"), "-s", str(files[0])]) == 1
    assert "a file of pairs (.csv) is raw text; add --raw" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()
    assert main(["init", str(tmp_path / "new"), "--raw", "-s", str(files[0])]) == 0
    assert (
        "columns:   2, 3 of 4 (named by languages; change with source_column, target_column in [prepare])"
        in capsys.readouterr().err
    )
    prepare = read_experiment(tmp_path / "new" / "experiment.toml").prepare
    assert (prepare.format, prepare.source_language, prepare.target_language) == ("csv", "de", "en")
    assert (prepare.reading.source_column, prepare.reading.header) == (settings["source_column"], True)


def test_a_folder_behind_a_link(tmp_path, monkeypatch):
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "lnk").symlink_to("deep/er")
    monkeypatch.chdir(tmp_path)
    for name, lines in (("raw.de", SRC), ("raw.en", TGT)):
        write_lines(tmp_path / name, lines)
    assert main(["init", "lnk", "-s", "raw.de", "-t", "raw.en", "--raw"]) == 0
    assert 'source = "../../raw.de"' in (tmp_path / "lnk" / "experiment.toml").read_text()


def test_one_file_for_both_sides_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_lines(tmp_path / "raw.de", SRC)
    assert main(["init", "e", "-s", "raw.de", "-t", "./raw.de", "--raw"]) == 1
    assert "is named for both sides" in capsys.readouterr().err


def test_further_text_of_a_context_model_is_refused(made, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(made)
    deriv = next(path.name for path in made.iterdir() if path.name.endswith("deriv"))
    assert main(["context", "mle", "f", "no-file", "--derivations", deriv, "-o", str(tmp_path / "m")]) == 1
    assert "only SOURCE is read for these rules; name more source text with --more" in capsys.readouterr().err


def test_a_bad_language_is_refused(tmp_path, made, capsys):
    (made / "raw.tsv").write_text("Una casa.\tA house.\n")
    assert main(["init", str(tmp_path / "new"), "--raw", "-s", "raw.tsv", "--source-language", "jp"]) == 1
    assert "raw.tsv: --source-language must be a language code" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(("rules", "status"), [("minimal", 0), ("hiero", 1)])
def test_features_are_those_of_the_model(tmp_path, made, capsys, rules, status):
    folder = tmp_path / "new"
    files = ["--grammar", "min.gz" if rules == "minimal" else "hiero.gz", "--lm", "lm.arpa", "--model", "mle"]
    assert main(["init", str(folder), *files, "--rules", rules]) == status
    assert "mle: " in (said := capsys.readouterr().err) and "no context model" in said and "lscfg context" in said
    if status == 0:
        assert read_ini(folder / "cdec.ini").latent.options["features"] == "ratios"
        assert main(["decode", "-c", str(folder / "cdec.ini"), "-w", str(folder / "start.weights"), "text"]) == 0
    else:
        assert not folder.exists()


def test_every_key_has_its_meaning_beside_it(tmp_path):
    assert main(["init", str(tmp_path / "new")]) == 0
    for line in (tmp_path / "new" / "experiment.toml").read_text().splitlines():
        assert not line or line.startswith(("[", "# An experiment")) or "  # " in line, line


def test_what_is_not_named_is_to_be_replaced(tmp_path, capsys):
    assert main(["init", str(tmp_path / "new"), "-s", "f", "-t", "e"]) == 0
    missing = "dev_source, dev_reference, test_source, test_reference"
    assert f"edit in [corpus]: {missing}\n" in capsys.readouterr().err
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["experiment.toml"]
    assert main(["run", str(tmp_path / "new" / "experiment.toml"), "-o", str(tmp_path / "out"), "--plan"]) == 1
    assert "experiment.toml:6: dev_source: no file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("kind", "grammar", "model", "features"),
    [
        ("minimal", "min.gz", False, []),
        ("minimal", "min.gz", True, ["ratios", "context"]),
        ("hiero", "hiero.gz", True, ["context"]),
        ("both", "both.gz", True, ["ratios", "context"]),
    ],
)
def test_the_configuration_decodes(tmp_path, capsys, kind, grammar, model, features):
    options = ["--model", "model"] if model else []
    words = ["init", str(tmp_path / "new"), "--grammar", grammar, "--lm", "lm.arpa", "--rules", kind, *options]
    assert main(words) == 0
    config = read_ini(tmp_path / "new" / "cdec.ini")
    assert (config.latent is not None) == model and config.glue == (kind == "hiero")
    if model:
        assert config.latent.options["features"] == ",".join(features)
        assert config.latent.options.get("unknown") == ("zero" if kind == "both" else None)
    weights = read_weights(tmp_path / "new" / "start.weights")
    latent = {name for name in weights if name.startswith(("Latent", "Context"))}
    assert latent == {*feature_names(features)} and "LanguageModel" in weights
    assert {name for name in latent if weights[name]} == latent & {*LATENT_START}
    capsys.readouterr()
    words = ["decode", "-c", str(tmp_path / "new" / "cdec.ini"), "-w", str(tmp_path / "new" / "start.weights"), "text"]
    assert main(words) == 0
    told = capsys.readouterr()
    assert len(told.out.splitlines()) == 1 and told.out.strip() and "weight" not in told.err


def test_the_configuration_of_cdec_itself(tmp_path, made):
    words = ["init", str(tmp_path / "new"), "--grammar", "min.gz", "--lm", "lm.arpa", "--model", "model"]
    (made / "liblscfg_cdec.so").write_bytes(b"")
    assert main([*words, "--library", "liblscfg_cdec.so"]) == 0
    assert read_ini(tmp_path / "new" / "cdec.ini").latent.library == str(made / "liblscfg_cdec.so")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--grammar", "min.gz", "--lm", "lm.arpa", "--library", "links"], "which need --model, too"),
        (["-s", "none"], "none: no such file"),
        (["--grammar", "none", "--lm", "lm.arpa"], "none: no such file"),
        (["--lm", "lm.arpa"], "which needs --grammar, too"),
        (["--grammar", "min.gz"], "needs a language model"),
        (["--grammar", "min.gz", "--lm", "lm.arpa", "--rules", "hieros"], "unknown grammar 'hieros'"),
    ],
)
def test_bad_input_writes_nothing(tmp_path, capsys, words, message):
    assert main(["init", str(tmp_path / "new"), *words]) == 1
    assert message in capsys.readouterr().err and not Path(tmp_path / "new").exists()
