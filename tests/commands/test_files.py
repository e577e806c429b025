"""Commands and their files: no input is overwritten, what is there is not replaced unasked, pipes are read twice."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from lscfg.adapter import example_model
from lscfg.cli import main
from lscfg.errors import InputError
from lscfg.io.read import read_lines
from lscfg.io.write import write_lines
from lscfg.moses_bridge.rule_table import GLUE, ROOT
from lscfg.tuning.commands import demo

SRC = ["una casa", "una casa roja", "la casa", "la flor roja"]
TGT = ["a house", "a red house", "the house", "the red flower"]
LINKS = ["0-0 1-1", "0-0 1-2 2-1", "0-0 1-1", "0-0 1-2 2-1"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A small corpus with derivations, grammar, model, configuration and weights; the working folder."""
    monkeypatch.chdir(tmp_path)
    for name, lines in (("f", SRC), ("e", TGT), ("links", LINKS), ("weights", ["EgivenF -1"])):
        write_lines(name, lines)
    run("derive f e links -o deriv")
    run("grammar minimal deriv -o g")
    run("estimate mle deriv -o model")
    write_lines("cdec.ini", ["formalism=scfg", "grammar=g", "feature_function=LSCFG model=model", "weights=weights"])
    return tmp_path


def run(line):
    assert main([*shlex.split(line), "--quiet"]) == 0


@pytest.mark.parametrize(
    "line",
    [
        "align f e -o e",
        "derive f e links -o links",
        "grammar minimal deriv -o deriv",
        "grammar hiero f e links -o links",
        "grammar minimal deriv --filter f -o f",
        "lm e -o e --order 2",
        "estimate mle deriv -o deriv",
        "context model f --derivations deriv -o f",
        "compress model --cp 2 -o model",
        "inspect choices model --train deriv --held-out deriv -o model",
        "inspect marginals model f -o f",
        "decode -c cdec.ini f -o f",
        "decode -c cdec.ini f -o cdec.ini",
        "decode -c cdec.ini f -o g",
        "decode -c cdec.ini f -o weights",
        "evaluate scores --reference e A=f -o f",
        "evaluate scores --reference e A=f --sentence-table e --baseline A",
        "cdec pack -c cdec.ini -w weights -o .",
        "cdec decode -c cdec.ini f -o f",
        "inspect marginals cdec.ini f --per-sentence-grammars .",
        "tune weights --config cdec.ini --source f --reference e --weights weights -o .",
        "moses weights moses.ini -c cdec.ini -o cdec.ini",
    ],
)
def test_no_command_overwrites_its_input(folder, capsys, line):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert main(shlex.split(line)) == 1
    assert "is also an input and would be overwritten; name another" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("output", ["my g", "my weights"])
def test_a_file_whose_name_contains_blanks_is_an_input_of_the_ini(folder, capsys, output):
    Path("g").rename("my g")
    Path("weights").rename("my weights")
    write_lines("cdec.ini", ["formalism=scfg", "grammar= my g # comment", "weights = my weights"])
    before = Path(output).read_bytes()
    assert main(["decode", "-c", "cdec.ini", "f", "-o", output]) == 1
    assert f"{output}: is also an input and would be overwritten" in capsys.readouterr().err
    assert Path(output).read_bytes() == before
    run("decode -c cdec.ini f -o out")


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("moses convert -c cdec.ini -o out", ["moses.ini", "rule-table.gz", "glue-grammar"]),
        ("grammar minimal deriv --format moses -o out/table", ["glue-grammar"]),
        ("demo -o out", ["demo.toml", "corpus/train.ja"]),
        ("init out --grammar f --lm e", ["cdec.ini", "start.weights"]),
    ],
)
def test_files_that_nobody_named_are_not_replaced(folder, capsys, line, names):
    for name in names:
        path = folder / "out" / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text("precious\n")
        assert main(shlex.split(line)) == 1
        assert f"{name}: already exists" in capsys.readouterr().err
        assert path.read_text() == "precious\n"
        path.unlink()


def test_values_that_a_rule_table_cannot_hold_are_told(folder, capsys):
    """Moses reads probabilities, none of which is 1e-50."""
    rules = [
        f"[X] ||| {word} ||| y ||| Count={value} EgivenF=0.5" for word, value in (("a", 50), ("b", -90), ("c", 30))
    ]
    write_lines("g", [*rules, "[S] ||| [X,1] ||| [1] |||"])
    assert main(["moses", "convert", "-c", "cdec.ini", "-w", "weights", "-o", "out"]) == 0
    said = capsys.readouterr().err
    assert "Count: 2 values beyond 30 or -30, which Moses' rule table cannot hold" in said and "EgivenF:" not in said


def test_what_lscfg_made_may_be_made_again(folder, monkeypatch):
    for glue in (GLUE, ROOT):
        (folder / "out").mkdir(exist_ok=True)
        write_lines("out/glue-grammar", glue)
        run("grammar minimal deriv --format moses -o out/table")
        assert read_lines("out/glue-grammar") == list(ROOT)
    calls = []
    monkeypatch.setattr(
        "lscfg.tuning.commands.demo.run_experiment", lambda *args, held: calls.append(args) or sys.exit(0)
    )
    for _ in range(2):
        with pytest.raises(SystemExit):
            main(["demo", "-o", "demo", "--quiet"])
    assert len(calls) == 2 and Path("demo/demo.toml").read_text() == demo.EXPERIMENT


def shell(line):
    command = line.replace("lscfg", f"{shlex.quote(sys.executable)} -P -m lscfg", 1)
    return subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/dev/stderr"])
def test_a_standard_file_as_output_keeps_what_others_write_there(folder, name):
    run("grammar minimal deriv -o expected")
    rules, to = read_lines("expected"), "2>" if name == "/dev/stderr" else ">"
    line = f"lscfg grammar minimal deriv -o {name} --quiet"
    done = shell(f"{{ echo head >&{to[:-1] or 1}; {line}; echo tail >&{to[:-1] or 1}; }} {to} g")
    assert done.returncode == 0 and read_lines("g") == ["head", *rules, "tail"]
    done = shell(f"{line} {to}> g")
    assert done.returncode == 0 and read_lines("g") == ["head", *rules, "tail", *rules]


@pytest.mark.parametrize(
    "line",
    [
        "estimate mle none",
        "compress none --cp 2",
        "context none none --derivations none",
        "propagate states none none none none",
    ],
)
def test_a_compressed_model_is_refused_before_any_work(folder, capsys, line):
    assert main([*shlex.split(line), "-o", "m.lscfg.gz"]) == 1
    assert "m.lscfg.gz: decoders map a model, which cannot be compressed; leave out .gz" in capsys.readouterr().err
    with pytest.raises(InputError, match=r"leave out \.gz"):
        example_model().save(folder / "m.lscfg.gz")
    assert not Path("m.lscfg.gz").exists()


def test_words_of_an_ini_that_are_no_paths_do_not_name_inputs(folder):
    Path("S").write_text("old\n")
    write_lines("cdec.ini", ["formalism=scfg", "grammar=g", "weights=weights", "goal=S"])
    run("decode -c cdec.ini f -o S")
    assert len(read_lines("S")) == len(SRC)


def test_forests_may_come_through_a_pipe(folder):
    run("inspect marginals model f -o forests")
    run("inspect marginals model forests --forests -o expected")
    done = shell("lscfg inspect marginals model <(cat forests) --forests -o out")
    assert done.returncode == 0, done.stderr
    assert read_lines("out") == read_lines("expected") and len(read_lines("out")) == len(SRC)
    assert all(json.loads(line)["parsed"] for line in read_lines("out"))


def test_corpora_may_come_through_pipes(folder):
    run("derive f e links links -o expected")
    done = shell("lscfg derive <(cat f) <(cat e) links links -o out")
    assert done.returncode == 0, done.stderr
    assert Path("out").read_bytes() == Path("expected").read_bytes()
    done = shell("lscfg derive <(cat f) <(head -3 e) <(cat links) -o short")
    assert done.returncode == 1 and not Path("short").exists()
    assert "/dev/fd/" in done.stderr and ": 3 lines, but /dev/fd/" in done.stderr and " has 4;" in done.stderr


def test_a_model_may_come_through_a_pipe(folder):
    example_model().save(folder / "example")
    done = shell("lscfg inspect model <(cat example)")
    assert done.returncode == 0 and done.stdout == shell("lscfg inspect model example").stdout != ""


QUICK, INIT = "name a file, or - for standard input", "name a file"


@pytest.mark.parametrize(
    ("line", "cure"),
    [
        ("lscfg quick <(cat f) --plan", QUICK),
        ("cat f | lscfg quick /dev/stdin --plan", QUICK),
        ("lscfg quick /dev/stdin --plan < f", QUICK),
        ("lscfg quick f --plan --set orthography=<(cat e)", QUICK),
        ("lscfg init new --raw -s <(cat f) -t e", INIT),
        ("lscfg init new --dev-set f <(cat e)", INIT),
    ],
)
def test_a_pipe_whose_path_is_written_for_later_commands_is_refused(folder, line, cure):
    done = shell(line)
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert done.stderr.endswith(f": cannot be read again by later commands; {cure}\n")
    assert not Path("quick").exists() and not Path("new").exists()
