"""One vocabulary over all commands: a word means one thing, has one letter, and errors name the word that is meant."""

import argparse
import re
import shlex
import subprocess
import sys
from collections import defaultdict

import pytest

from lscfg import log
from lscfg.cli import build_parser, main
from lscfg.command_table import COMMANDS, OLD_COMMANDS, OLD_FORMS, OLD_OPTIONS
from lscfg.errors import InputError, did_you_mean
from lscfg.estimate.estimator import ESTIMATORS
from lscfg.parallel.engine import available_cores
from lscfg.parser import SHELLS, completion_script

LETTERS = {
    "--help": "-h",
    "--config": "-c",
    "--jobs": "-j",
    "--kbest": "-k",
    "--output": "-o",
    "--source": "-s",
    "--target": "-t",
    "--unique": "-r",
    "--weights": "-w",
}
"""Options with a letter; -m, the number of hidden states, has no word."""

PARALLEL = {
    *("align", "compress", "decode", "demo", "derive", "grammar", "run", "serve", "estimate", "context"),
    *("tune weights", "tune margin", "evaluate oracle", "inspect marginals", "cdec decode", "cdec forest"),
    *("prepare corpus", "quick", "propagate phrases", "propagate graph", "propagate rules"),
}

EVALUATIONS = ("scores", "oracle", "confidence", "corrections")


@pytest.fixture(scope="module")
def parsers():
    """The parsers of all commands and actions by name."""
    return {parser.prog.removeprefix("lscfg "): parser for parser in build_parser(COMMANDS).every()}


@pytest.fixture(scope="module")
def uses(parsers):
    """The visible options of all commands: by word, with command and action."""
    found = defaultdict(list)
    for name, parser in parsers.items():
        for action in parser.arguments():
            for word in action.option_strings:
                found[word].append((name, action))
    return found


def value_of(action):
    """Kind of value that an option takes, and True for several values."""
    kind = "flag" if action.nargs == 0 else getattr(action.type, "__name__", "str")
    return kind, action.nargs in ("+", "*")


def test_a_word_means_one_thing(uses):
    for word, found in uses.items():
        assert len({action.dest for _, action in found}) == 1 or word == "--model", word  # [alignment] has a model, too
        if word not in ("-o", "--output", "--model", "--derivations"):  # several kinds of files
            assert len({value_of(action) for _, action in found}) == 1, (word, [name for name, _ in found])


def test_what_means_the_same_has_one_word(uses):
    destinations = defaultdict(set)
    for found in uses.values():
        for _, action in found:
            destinations[action.dest].add(tuple(action.option_strings))
    twice = {name: words for name, words in destinations.items() if len(words) > 1}
    assert twice == {
        "model": {("--model",), ("--aligner",)},  # a file; the kind of aligner, a key of [alignment]
    }


def test_letters_belong_to_words(uses):
    letters = {word: found for word, found in uses.items() if re.fullmatch("-[a-z]", word) and word != "-m"}
    assert {*letters} <= {*LETTERS.values()}
    for word, letter in LETTERS.items():
        assert all(letter in action.option_strings for _, action in uses[word]), word


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize(
    ("line", "new"),
    [
        ("induce sample f e a -o g", "lscfg induce sample: is now lscfg grammar sampled"),
        ("induce propagate p g", "lscfg induce propagate: is now lscfg propagate rules"),
        ("induce", "lscfg induce: is now lscfg propagate, lscfg grammar sampled and lscfg grammar biparsed"),
        ("explain m 'a b'", "lscfg explain: is now lscfg inspect sentence"),
        ("mrr m --train d", "lscfg mrr: is now lscfg inspect choices --measure translations"),
        ("cdec fold -c i -w w -o d", "lscfg cdec fold: is now lscfg cdec pack"),
        ("tune -c i -w w -s f --reference e -o d", "lscfg tune is now lscfg tune weights"),
        ("evaluate --reference e A=a", "lscfg evaluate is now lscfg evaluate scores"),
        ("inspect m.lscfg", "lscfg inspect FILE is now lscfg inspect model, derivations or grammar"),
        ("grammar d.deriv -o g", "lscfg grammar FILE is now lscfg grammar minimal"),
        ("derive f e a -o d --threads 3", "--threads is now --jobs"),
        ("estimate em d -o m --context f", "--context is now the command lscfg context"),
        ("estimate em d -o m --shrink-source 3", "--shrink-source is a setting: use --set shrink_source=VALUE"),
        (
            "tune weights -c i -w w -s f --reference e -o d --mira-epochs 3",
            "--mira-epochs is a setting: use --set epochs=",
        ),
        ("grammar biparsed f e a -o g --best-links l", "--best-links is now --write best-links=FILE"),
        ("init d --features ratios", "unrecognized arguments: --features ratios"),  # --set is no option of init
    ],
)
def test_old_words_end_with_the_new_ones(line, new, capsys):
    try:
        status = main(shlex.split(line))
    except SystemExit as error:
        status = error.code
    told = capsys.readouterr().err
    assert status == 2 and new in told.splitlines()[-1], told


def test_no_old_word_is_shown(uses):
    commands = {command.name for command in COMMANDS}
    renamed = {name.split()[0] for name in OLD_COMMANDS} - {"cdec"}  # whose action has another name
    assert not renamed & commands and OLD_FORMS.keys() <= commands
    gone = {word for word, new in OLD_OPTIONS.items() if new.startswith("--") and " " not in new}
    assert gone and not gone & uses.keys()


def test_all_parallel_work_has_jobs_with_one_default(uses):
    assert {name for name, _ in uses["--jobs"]} == PARALLEL
    assert {action.default for _, action in uses["--jobs"]} == {available_cores()}
    assert available_cores() >= 1


def test_available_cores_where_the_system_has_no_affinity(monkeypatch):
    monkeypatch.delattr("os.sched_getaffinity", raising=False)
    monkeypatch.setattr("os.cpu_count", lambda: 7)
    assert available_cores() == 7


def test_every_argument_has_help_in_short(parsers):
    for name, parser in parsers.items():
        for action in parser.arguments():
            text = str(action.help or "")
            assert text and len(text) <= 160, (name, action.dest, text)
            assert text[0] not in "(" and not text.startswith("default"), (name, action.dest, text)


def test_numbers_of_sentences_begin_at_1(uses):
    """Whatever an option says of counting sentences or trees, it says from 1."""
    for found in uses.values():
        for name, action in found:
            assert "from 0" not in str(action.help), (name, action.dest)
    assert all("counted from 1" in action.help for _, action in uses["--tree"])


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["aling", "f", "e"], "did you mean align?"),
        (["estimate", "spectal", "d"], "did you mean spectral?"),
        (["lm", "text", "-o", "out", "--ordr", "3"], "did you mean --order?"),
        (["estimate", "em", "d", "-o", "m", "--itrations=3"], "did you mean --iterations?"),
        (["cdec", "biuld"], "did you mean build?"),
        (
            ["tune", "weights", "-c", "i", "-s", "f", "--reference", "e", "-w", "w", "-o", "d", "--optimiser", "mirra"],
            "mean mira?",
        ),
        (["--verson"], "did you mean --version?"),
        (["--unique", "decode", "text", "-c", "ini"], "--unique goes after the command: lscfg decode ... --unique"),
    ],
)
def test_a_wrong_word_names_the_one_that_is_meant(words, meant, capsys):
    with pytest.raises(SystemExit) as ended:
        main(words)
    told = capsys.readouterr().err
    assert ended.value.code == 2 and meant in told.splitlines()[-1], told


def test_nothing_is_meant_by_what_is_like_nothing():
    assert did_you_mean("qqq", ["align", "derive"]) == ""
    assert did_you_mean(3, ["align"]) == ""
    with pytest.raises(InputError, match=r"choose from .*spectral \(did you mean spectral\?\)"):
        ESTIMATORS["spectrl"]


@pytest.mark.parametrize("shell", SHELLS)
def test_completion(parsers, shell, tmp_path):
    pytest.importorskip("shtab")
    script = completion_script(parsers["lscfg"], shell)
    for word in ("align", "--kbest", "clusters", "--cdec-root"):
        assert word in script
    assert "--threads" not in script
    (tmp_path / "script").write_text(script)
    if shell == "bash":
        subprocess.run(["bash", "-n", tmp_path / "script"], check=True)


WITHOUT_EXTRAS = """
import sys
from lscfg.cli import build_parser
from lscfg.command_table import every_command
from lscfg.extras import EXTRAS

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in lacking:
            raise ModuleNotFoundError(name, name=name)

lacking = {module for extra, modules in EXTRAS.items() if extra not in sys.argv for module in modules}
sys.meta_path.insert(0, Blocked())
for command in every_command() if "train" in sys.argv else ():
    build_parser([command], command.name)
build_parser(every_command())
"""


@pytest.mark.parametrize("extras", [(), ("train",)])
def test_parsers_need_no_extra(extras):
    """Completion builds all parsers; without the extra of training, too, whose commands then have no options."""
    command = [sys.executable, "-P", "-c", WITHOUT_EXTRAS, *extras]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize(
    ("words", "expected"), [("al", "align"), ("decode --kb", "--kbest"), ("estimate clu", "clusters")]
)
def test_bash_completes(words, expected, tmp_path, capsys):
    pytest.importorskip("shtab")
    assert main(["--print-completion", "bash"]) == 0
    (tmp_path / "script").write_text(capsys.readouterr().out)
    typed = ["lscfg", *words.split()]
    test = f"source {tmp_path / 'script'}; COMP_WORDS=({' '.join(typed)}); COMP_CWORD={len(typed) - 1}; "
    test += "_shtab_lscfg lscfg ${COMP_WORDS[-1]} ''; echo ${COMPREPLY[@]}"
    run = subprocess.run(["bash", "-c", test], capture_output=True, text=True, check=True)
    assert run.stdout.split() == [expected], run.stderr


@pytest.mark.usefixtures("terminal")
def test_figures_of_a_log_are_aligned(capsys):
    log.table({"rules": 1234567, "tokens of arity 1": 12, "size": "1 MB -> 2 MB"})
    assert capsys.readouterr().err.splitlines() == [
        "[lscfg]   rules              1,234,567",
        "[lscfg]   tokens of arity 1         12",
        "[lscfg]   size               1 MB -> 2 MB",
    ]


def test_a_parser_chooses_only_what_is_named(parsers):
    top = parsers["lscfg"]
    assert top.chosen(argparse.Namespace(command=None)) is top
    assert top.chosen(argparse.Namespace(command="cdec", action="pack")).prog == "lscfg cdec pack"


def test_every_command_with_references_takes_several(parsers):
    """The --dev-set and --test-set of lscfg init take one, and its experiment file a list."""
    found = {
        name: action for name, parser in parsers.items() for action in parser.arguments() if action.dest == "reference"
    }
    assert {*found} >= {"tune weights", "rescore", *(f"evaluate {name}" for name in EVALUATIONS)}
    for name, action in found.items():
        assert action.nargs == "+" or isinstance(action, argparse._AppendAction), name
