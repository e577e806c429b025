"""Options of ``lscfg prepare`` reach what does the work; see ``test_options``."""

import shlex
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock

import messy
import pytest
from helpers import double
from other_settings import other_values
from prepare_words import APPLY, PREPARATIONS, RESTORE, prepare_values, prepare_words

from lscfg.cli import main
from lscfg.prepare.reader import TEXT_READERS, reader_of
from lscfg.prepare.tokeniser import TOKENISERS


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The working directory, with the files that lines name."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text").write_text("a4 b\nc4\n")
    for name in ("source_model", "target_model", "orthography"):
        (tmp_path / f"{name}.file").touch()


@pytest.mark.parametrize(("reader", "tokeniser"), PREPARATIONS)
def test_prepare_corpus(monkeypatch, reader, tokeniser):
    """Every setting of the preparation and of its kinds, each with a value of its own."""
    record = SimpleNamespace(summary=lambda: ["pairs: read 1"])
    prepare_corpus = double(monkeypatch, "lscfg.prepare.corpus.prepare_corpus", record)
    assert main(prepare_words(reader, tokeniser)) == 0
    (files, settings, folder, engine), _ = prepare_corpus.call_args
    assert files == ((Path("f"), Path("e")), (Path("a1"),), (Path("e2"), Path("e")))
    for key, value in prepare_values(reader, tokeniser).items():
        assert getattr(settings, key) == value, key
    for cls, made in (
        (TEXT_READERS.settings()[reader], settings.reading),
        (TOKENISERS.settings()[tokeniser], settings.tokenisation),
    ):
        assert made == cls(**other_values(cls))
    assert folder.parent == Path.cwd() and engine.workers == 5


@pytest.mark.parametrize("make", messy.KINDS, ids=lambda make: make.__name__)
def test_what_is_not_given_is_guessed_as_quick_guesses(monkeypatch, tmp_path, capsys, make):
    prepare_corpus = double(monkeypatch, "lscfg.prepare.corpus.prepare_corpus", SimpleNamespace(summary=list))
    found, wanted, _ = make(tmp_path)
    assert main(["prepare", "corpus", *map(str, found), "-o", "out"]) == 0
    (files, settings, *_), _ = prepare_corpus.call_args
    made = vars(settings) | vars(settings.reading) | {"format": reader_of(files.corpus, settings.format)}
    made |= zip(("source_language", "target_language"), settings.languages(files.corpus), strict=True)
    assert {key: made[key] for key in wanted if key != "tokeniser"}.items() <= wanted.items()
    shown = capsys.readouterr().err
    assert ("change with --set" in shown or "change with --source-language" in shown) and "--columns" not in shown
    if "source_column" in wanted:
        words = shlex.split("--set source_column=1 --set target_column=2 --set header=false --source-language nl")
        assert main(["prepare", "corpus", *map(str, found), "-o", "out", *words]) == 0
        settings = prepare_corpus.call_args[0][1]
        reading = settings.reading
        assert (reading.source_column, reading.target_column, reading.header) == (1, 2, False)
        assert settings.source_language == "nl" and reader_of(files.corpus, settings.format) == made["format"]


@pytest.mark.parametrize(
    ("line", "side", "way"),
    [(APPLY, 1, "encode"), (APPLY.replace("target", "source"), 0, "encode"), (RESTORE, 1, "decode")],
)
def test_prepare_new_text(monkeypatch, capsys, line, side, way):
    sides = [MagicMock(), MagicMock()]
    getattr(sides[side].side.return_value, way).side_effect = lambda text: f"<{text}>"
    read = double(monkeypatch, "lscfg.prepare.record.Record.read", SimpleNamespace(sides=sides))
    assert main(shlex.split(line)) == 0
    read.assert_called_once_with(Path("folder"))
    assert capsys.readouterr().out == "<a4 b>\n<c4>\n"


@pytest.mark.parametrize(
    "words",
    [
        "apply folder --side target text",
        "apply folder text --side target",
        "apply --side target --quiet folder text",
        "apply folder --quiet text --side=target",
        "apply --side target folder --quiet text",
        "restore folder --quiet text",
        "restore --quiet folder text",
        "restore folder text --quiet",
    ],
)
def test_options_stand_anywhere(monkeypatch, capsys, words):
    sides = [MagicMock(), MagicMock()]
    side = sides[1].side.return_value
    side.encode.side_effect = side.decode.side_effect = lambda text: f"<{text}>"
    double(monkeypatch, "lscfg.prepare.record.Record.read", SimpleNamespace(sides=sides))
    assert main(["prepare", *words.split()]) == 0
    assert capsys.readouterr().out == "<a4 b>\n<c4>\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("apply --side target", "the following arguments are required: DIR"),
        ("apply folder --side target text more", "unrecognized arguments: more"),
        ("restore folder --sid text more", "unrecognized arguments: --sid"),
        ("apply folder --side nowhere text", "invalid choice: 'nowhere'"),
    ],
)
def test_wrong_arguments_of_prepare(capsys, words, message):
    with pytest.raises(SystemExit) as error:
        main(["prepare", *words.split()])
    assert error.value.code == 2 and message in capsys.readouterr().err
