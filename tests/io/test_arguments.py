"""The files of a command line: what would be overwritten is refused, and pipes can be read again."""

import argparse
import os
import shlex
import threading
from pathlib import Path

import pytest

from lscfg.cli import build_parser, main
from lscfg.command_table import COMMANDS
from lscfg.errors import InputError, LscfgError
from lscfg.formats.ini import IniFile
from lscfg.io.arguments import (
    InputFile,
    InputFolder,
    NamedFile,
    NamedOutput,
    OutputFile,
    OutputFolder,
    OutputPattern,
    checked_files,
    output_folder,
)

NO_FILES = {
    "context --rules", "evaluate --baseline", "evaluate --metrics", "init --rules", "init --source-language",
    "init --target-language", "inspect --nearest", "inspect --rule", "inspect --tree", "inspect --why-not",
    "inspect sentence", "moses --flag", "prepare --source-language", "prepare --target-language", "quick --columns",
    "quick --languages", "run --decoder", "run --systems", "serve --cors", "serve --host", "serve --languages",
    "serve --public-name",
}  # fmt: skip
"""Arguments of any text: names and lists."""


def arguments(parser):
    """All arguments of a parser and those below it, with the command's name."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, below in action.choices.items():
                yield from ((f"{name} {where}".strip(), found) for where, found in arguments(below))
        else:
            yield "", action


def test_every_argument_that_is_a_file_says_so():
    """An argument of plain text is a file that is not checked, unless it is known to be none."""
    plain = {
        f"{where.split()[0]} {(action.option_strings or [action.dest])[-1]}"
        for where, action in arguments(build_parser(COMMANDS))
        if action.type in (None, str) and action.nargs != 0 and not action.choices
    }
    assert plain == NO_FILES
    kinds = [action.type for _, action in arguments(build_parser(COMMANDS))]
    assert sum(kind in (InputFile, NamedFile, IniFile) for kind in kinds) > 40
    assert sum(kind in (OutputFile, OutputPattern) for kind in kinds) > 15


def test_no_file_has_an_empty_name():
    """As of a variable that is unset: the name must not mean the working directory."""
    tried = 0
    for where, action in arguments(build_parser(COMMANDS)):
        name = f"{where} {(action.option_strings or [action.dest])[-1]}"
        assert action.type is not Path, f"{name}: Path('') is the working directory; use a type of lscfg.io.arguments"
        if action.type in (None, str, int, float) or action.nargs == 0 or action.choices:
            continue
        try:
            value = action.type("")
        except (ValueError, argparse.ArgumentTypeError, LscfgError):
            continue  # refused already
        if not isinstance(value, str):
            continue  # no file
        with pytest.raises(InputError, match="the name of a file is empty"):
            check(**{action.dest: [value] if action.nargs in ("+", "*", 2) else value})
        tried += 1
    assert tried > 100


def namespace(**values):
    return argparse.Namespace(**values)


def check(**values):
    with checked_files(namespace(**values)):
        pass


@pytest.mark.parametrize("output", [OutputFile("-"), NamedOutput("content=-")])
def test_an_output_named_as_standard_input_is_refused(output):
    with pytest.raises(InputError, match=r"^-: is no name of an output; write \./-"):
        check(output=output)


@pytest.mark.parametrize("way", ["same", "link", "hard link", "another way"])
def test_an_output_that_is_an_input_is_refused(tmp_path, way):
    (tmp_path / "a").write_text("a\n")
    output = tmp_path / "b"
    if way == "same":
        output = tmp_path / "a"
    elif way == "link":
        output.symlink_to("a")
    elif way == "hard link":
        output.hardlink_to(tmp_path / "a")
    else:
        output = tmp_path / ".." / tmp_path.name / "a"
    for read in (InputFile(tmp_path / "a"), NamedFile(f"A={tmp_path / 'a'}"), tmp_path / "a"):
        with pytest.raises(InputError, match="is also an input and would be overwritten; name another output"):
            check(texts=[InputFile("other"), read], output=OutputFile(output))
    assert (tmp_path / "a").read_text() == "a\n"


def test_what_an_ini_file_names_is_an_input(tmp_path):
    (tmp_path / "cdec.ini").write_text(
        "grammar=g  # comment\nfeature_function=KLanguageModel -n LM lm\nfeature_function=LSCFG model=m log=true\n"
    )
    for name in ("g", "lm", "m"):
        (tmp_path / name).touch()
        with pytest.raises(InputError, match=f"{name}: is also an input"):
            check(config=IniFile(tmp_path / "cdec.ini"), output=OutputFile(tmp_path / name))
    check(config=IniFile(tmp_path / "missing"), output=OutputFile(tmp_path / "out"))


def test_a_folder_keeps_the_inputs_that_are_in_it(tmp_path):
    (tmp_path / "weights").touch()
    (tmp_path / "kbest.001.gz").touch()
    folder = output_folder("weights", "kbest.*.gz")(str(tmp_path))
    assert isinstance(folder, OutputFolder)
    for name in ("weights", "kbest.001.gz"):
        with pytest.raises(InputError, match=f"{name}: is also an input.*another folder"):
            check(read=InputFile(tmp_path / name), output=folder)
    with pytest.raises(InputError, match=r"kbest\.001\.gz: is also an input"):
        check(read=InputFolder(tmp_path), output=output_folder("kbest.*.gz")(str(tmp_path)))
    check(read=InputFile(tmp_path / "weights"), output=output_folder("kbest.*.gz")(str(tmp_path)))
    with pytest.raises(InputError, match="weights: is not a folder"):
        check(output=output_folder()(str(tmp_path / "weights")))


def test_two_outputs_are_two_files(tmp_path):
    (tmp_path / "a").touch()
    with pytest.raises(InputError, match="would be written twice"):
        check(one=OutputFile(tmp_path / "a"), other=OutputFile(tmp_path / "." / "a"))


def test_devices_may_be_read_and_written():
    check(read=InputFile("/dev/null"), output=OutputFile("/dev/null"))


def fed(path: Path, content: bytes) -> threading.Thread:
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(content,))
    writer.start()
    return writer


def test_a_pipe_can_be_read_twice(tmp_path):
    writers = [fed(tmp_path / name, name.encode()) for name in ("a", "b", "c")]
    (tmp_path / "file").touch()
    args = namespace(
        one=InputFile(tmp_path / "a"),
        some=[InputFile(tmp_path / "a"), NamedFile(f"B={tmp_path / 'b'}"), NamedFile(tmp_path / "file")],
        setting=tmp_path / "c",
        number=3,
    )
    with checked_files(args):
        copies = [args.one.path, args.some[0].path, args.some[1].path, str(args.setting)]
        assert [Path(path).read_bytes() for path in copies * 2] == [b"a", b"a", b"b", b"c"] * 2
        assert args.some[1].name == "B" and args.some[2] == str(tmp_path / "file") and args.number == 3
    assert not any(map(os.path.exists, copies))
    for writer in writers:
        writer.join()


def test_an_error_names_the_pipe(tmp_path):
    writer = fed(tmp_path / "a", b"x\n")
    args = namespace(one=InputFile(tmp_path / "a"))
    with pytest.raises(InputError) as caught, checked_files(args):
        raise InputError("is bad", args.one, 1)
    writer.join()
    assert str(caught.value) == f"{tmp_path / 'a'}:1: is bad"


@pytest.mark.parametrize(
    "line",
    [
        "inspect model ''",
        "prepare apply ''",
        "prepare corpus '' -o x",
        "quick ''",
        "serve ''",
        "pack -c '' -o x",
        "decode x -c '' -w y",
        "decode x -c y -w z --corrections ''",
        "run x -o ''",
        "grammar minimal x -o ''",
        "estimate mle x -o ''",
        "init '' -s a -t b",
    ],
)
def test_empty_names_are_refused_before_any_work(line, capsys, tmp_path, monkeypatch):
    """As of a variable that is unset: an empty name must not mean the working directory."""
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(line)) == 1
    assert "the name of a file is empty; is a variable of the shell unset?" in capsys.readouterr().err
    assert not [*tmp_path.iterdir()]


NEW_FOLDERS = [
    ("cdec pack -c cdec.ini -w weights -o DIR", "weights"),
    ("inspect marginals cdec.ini f --per-sentence-grammars DIR", "grammar.7.gz"),
    ("inspect marginals cdec.ini f --heat-maps DIR", "1.svg"),
    ("grammar minimal deriv --filter f --per-sentence DIR", "segments.sgm"),
    ("cdec forest f -c cdec.ini --binary DIR", "0.bin.gz"),
    ("tune margin f e al --rules hiero -c cdec.ini -w weights -o DIR", "cdec.ini"),
    ("moses convert -c cdec.ini -o DIR", "moses.ini"),
    ("init DIR", "experiment.toml"),
]


@pytest.mark.parametrize(("line", "name"), NEW_FOLDERS)
def test_files_whose_names_nobody_gave_are_not_replaced(tmp_path, monkeypatch, capsys, line, name):
    """Old grammars, forests or weights would otherwise be lost, or remain among the new ones."""
    monkeypatch.chdir(tmp_path)
    for file in ("cdec.ini", "weights", "f", "e", "al", "deriv", "liblscfg_cdec.so"):
        (tmp_path / file).write_text("x 1\n")
    (tmp_path / "DIR").mkdir()
    (tmp_path / "DIR" / name).write_text("old")
    (tmp_path / "DIR" / "other").touch()
    assert main(line.split()) == 1
    command = line.split()[0]
    assert capsys.readouterr().err == (
        f"lscfg {command}: DIR/{name}: already exists; name another folder, or remove the file\n"
    )
    assert (tmp_path / "DIR" / name).read_text() == "old"


@pytest.mark.parametrize(("others", "count"), [(["1.svg"], "1 more file"), (["1.svg", "2.svg"], "2 more files")])
def test_many_such_files_are_named_at_once(tmp_path, capsys, others, count):
    for name in (*others, "index.html", "notes.txt"):
        (tmp_path / name).touch()
    (tmp_path / "text").write_text("a\n")
    (tmp_path / "model").write_text("x")
    assert (
        main(["inspect", "marginals", str(tmp_path / "model"), str(tmp_path / "text"), "--heat-maps", str(tmp_path)])
        == 1
    )
    assert (
        f"{tmp_path}: already contains 1.svg and {count} of this command; name another folder"
        in capsys.readouterr().err
    )
