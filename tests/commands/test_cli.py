"""The command line: help, each subcommand on files, exit status, errors without traceback."""

import gzip
import json
import lzma
import os
import pickle
import re
import shlex
import signal
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from commands_here import run_here
from safetensors import SafetensorError

from lscfg.cli import SESSION, build_parser, main
from lscfg.command_table import COMMANDS, OTHERS, by_group
from lscfg.errors import InputError, KernelError
from lscfg.io.write import write_lines

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
SRC = ["una casa", "una casa roja", "la casa", "la flor roja", "una flor"] * 8
TGT = ["a house", "a red house", "the house", "the red flower", "a flower"] * 8
LINKS = ["0-0 1-1", "0-0 1-2 2-1", "0-0 1-1", "0-0 1-2 2-1", "0-0 1-1"] * 8


def lscfg(*arguments):
    return run_here(*arguments)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A small model, grammar, language model and configuration, all made by the commands themselves."""
    folder = tmp_path_factory.mktemp("cli")
    for name, lines in (("f", SRC), ("e", TGT), ("links", LINKS), ("test", ["una flor roja", "", "la x"])):
        write_lines(folder / name, lines)
    for command in (
        ("align", folder / "f", folder / "e", "-o", folder / "aligned"),
        ("derive", folder / "f", folder / "e", folder / "links", "-o", folder / "deriv"),
        ("grammar", "minimal", folder / "deriv", "-o", folder / "g.gz"),
        ("estimate", "mle", folder / "deriv", "--precision", "double", "-o", folder / "mle.lscfg"),
        ("estimate", "spectral", folder / "deriv", "-m", 2, "-o", folder / "spectral.lscfg"),
        ("lm", folder / "e", "-o", folder / "lm.arpa", "--order", 2, "--discount-fallback", "--estimator", "lscfg"),
    ):
        run = lscfg(*command)
        assert run.returncode == 0 and run.stdout == "", run.stderr
    (folder / "cdec.ini").write_text(
        "formalism=scfg\ngrammar=g.gz\nfeature_function=WordPenalty\nfeature_function=KLanguageModel lm.arpa\n"
        "feature_function=LSCFG model=spectral.lscfg features=paper floor=1e-4\nadd_pass_through_rules=true\n"
        "scfg_max_span_limit=100\nscfg_no_hiero_glue_grammar=true\n"
    )
    (folder / "weights").write_text("LanguageModel 1\nEgivenF -1\nPassThrough -5\nWordPenalty -2\nLatentMarginal 0.1\n")
    return folder


def test_every_command_is_in_a_group_of_the_help():
    assert len({command.name for command in COMMANDS}) == len(COMMANDS)
    run = lscfg("--help")
    assert run.returncode == 0 and max(map(len, run.stdout.splitlines())) <= 80
    sections = dict(re.findall(r"^(\w[\w ]*):\n((?:  .*\n)+)", run.stdout, re.M))
    for title, group in by_group(COMMANDS).items():
        assert re.findall(r"^  (\w+)  +\w", sections[title], re.M) == [command.name for command in group]


def test_the_help_loads_no_command():
    """``lscfg --help`` starts fast because it imports neither NumPy nor a module of a command."""
    code = "import sys; from lscfg.cli import main; main([]); print(*sys.modules, file=sys.stderr)"
    run = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    loaded = run.stderr.split()
    assert "numpy" not in loaded and not {command.module for command in COMMANDS} & {*loaded}
    own = {name for name in loaded if name.startswith("lscfg.")}
    assert len(own) <= 20 and len(loaded) <= 350, sorted(own)
    assert not {"tqdm", "importlib.metadata"} & {*loaded}


UNUSED = (
    *(
        f"lscfg.{name}"
        for name in ("api", "context", "demo", "estimate", "extract", "grammar", "induce", "lm", "markup")
    ),
    *(f"lscfg.{name}" for name in ("markup", "model", "parallel.processes", "serve", "study", "tuning")),
    *("lscfg.bundle.system", "lscfg.bundle.manifest"),
    *(f"lscfg.decode.{name}" for name in ("glossary", "memory", "on_demand", "phrases", "similar", "why_not")),
    *(f"lscfg.kernel.{name}" for name in ("demand", "estimate", "extract", "induce", "sample")),
    *("concurrent", "dask", "email", "importlib.metadata", "kenlm", "multiprocessing", "scipy", "sacrebleu", "socket"),
    *("subprocess", "tempfile", "tqdm", "uuid", "xml", "zipfile"),
)
"""Modules that decode loads only for options and configurations that need them."""


def test_decode_loads_what_the_configuration_needs(files, tmp_path):
    """``lscfg decode`` starts fast; ``lscfg.prepare.files`` only names a file."""
    (tmp_path / "empty").write_text("")
    given = ["-c", str(files / "cdec.ini"), "-w", str(files / "weights"), str(tmp_path / "empty")]
    code = "import sys; from lscfg.cli import main; assert main(sys.argv[1:]) == 0; print(*sys.modules)"
    command = [sys.executable, "-P", "-c", code, "decode", *given]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = {*run.stdout.split()} - {"lscfg.prepare", "lscfg.prepare.files"}
    wrong = {name for name in loaded for unused in (*UNUSED, "lscfg.prepare") if f"{name}.".startswith(f"{unused}.")}
    assert "lscfg.decode.sentence" in loaded and not wrong, sorted(wrong)


def test_another_package_adds_a_command(tmp_path):
    (tmp_path / "toys-1.dist-info").mkdir()
    (tmp_path / "toys-1.dist-info" / "METADATA").write_text("Name: toys\nVersion: 1\n")
    (tmp_path / "toys-1.dist-info" / "entry_points.txt").write_text("[lscfg.commands]\ntoy = toys\n")
    (tmp_path / "toys.py").write_text(
        "HELP, EXAMPLE = 'play', 'lscfg toy --times 2'\n"
        "def add_arguments(parser): parser.add_argument('--times', type=int)\n"
        "def run(args): print('played', args.times)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}

    def run(*words):
        command = [sys.executable, "-P", "-m", "lscfg", *words]
        return subprocess.run(command, capture_output=True, text=True, check=False, env=environment).stdout

    assert re.search(rf"^{OTHERS}:\n  toy +play$", run("--help"), re.M)
    assert run("toy", "--times", "3") == "played 3\n"


def test_lscfg_alone_prints_the_help():
    run = lscfg()
    assert (run.returncode, run.stdout, run.stderr) == (0, lscfg("--help").stdout, "")


def test_examples_of_the_help_are_understood():
    """Commands in pages: tests/test_documents.py."""
    parser = build_parser(COMMANDS)
    for line in [*SESSION, *(command.example for command in COMMANDS)]:
        words = shlex.split(re.split(" [<>] ", line)[0])
        assert words[0] == "lscfg" and parser.parse_args(words[1:]).command == words[1], line


@pytest.mark.parametrize(
    ("page", "block", "output"),
    [
        (README, 0, r"sentence  una casa\n"),
        (ROOT / "docs" / "guides" / "python.md", 1, r"sentence  una casa\n"),
        (ROOT / "docs" / "guides" / "python.md", 2, ""),
        (ROOT / "docs" / "guides" / "python.md", 3, r"-\d"),
    ],
)
def test_python_in_the_pages_runs(files, tmp_path, page, block, output):
    code = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.S)[block]
    places = {name: str(files / name) for name in ("cdec.ini", "weights")}
    places |= {"clusters16.lscfg": str(files / "spectral.lscfg"), "una habitación tranquila .": "una casa"}
    places |= {"train.ja": str(files / "f"), "train.en": str(files / "e"), "mine.lscfg": str(tmp_path / "mine")}
    for name, place in places.items():
        code = code.replace(f'"{name}"', repr(place)).replace(f'["{name}"]', f"[{place!r}]")
    code = code.replace("m=16", "m=2")
    run = subprocess.run([sys.executable, "-P", "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0 and re.match(output, run.stdout), run.stdout + run.stderr


def test_em_and_clusters_make_models_that_decode(files, tmp_path):
    ini = (files / "cdec.ini").read_text()
    for method, *options in (
        (
            "em",
            "--iterations",
            4,
            "--set",
            "restarts=2",
            "--set",
            "held_out=0.2",
            "--jobs",
            2,
            "--checkpoint",
            tmp_path / "state",
        ),
        ("em", "--set", "init=matsuzaki", "--set", "shrink_source=0", "--set", "shrink_arity=0", "--iterations", 3),
        ("clusters",),
    ):
        run = lscfg("estimate", method, files / "deriv", "-m", 2, "-o", tmp_path / "model", *options)
        assert run.returncode == 0 and "iteration 3: log-likelihood -" in run.stderr, run.stderr
        for name in ("g.gz", "lm.arpa"):
            ini = ini.replace(f"={name}", f"={files / name}").replace(f" {name}", f" {files / name}")
        (tmp_path / "cdec.ini").write_text(ini.replace("spectral.lscfg", str(tmp_path / "model")))
        run = lscfg("decode", "-c", tmp_path / "cdec.ini", "-w", files / "weights", files / "test")
        assert run.returncode == 0 and run.stdout.startswith("a red flower\n"), run.stderr
    assert (tmp_path / "state" / "checkpoint.em").exists()


def test_decode_warns_of_weights_that_it_does_not_know(files, tmp_path):
    (tmp_path / "weights").write_text((files / "weights").read_text() + "LanguageModle 2\nOther 1\nUnused 0\n")
    run = lscfg("decode", "-c", files / "cdec.ini", "-w", tmp_path / "weights", files / "test")
    assert run.returncode == 0
    warned = [line for line in run.stderr.splitlines() if "weights without a feature in the decoder" in line]
    assert len(warned) == 1
    assert warned[0].endswith("decoder: 'LanguageModle' (did you mean LanguageModel?), 'Other'")


@pytest.mark.parametrize("command", ["decode", "inspect marginals"])
def test_a_configuration_without_a_grammar_is_refused(files, tmp_path, command):
    lines = (files / "cdec.ini").read_text().replace(" lm.arpa", f" {files / 'lm.arpa'}").splitlines()
    ini = tmp_path / "cdec.ini"
    write_lines(ini, [line.replace("=spectral", f"={files}/spectral") for line in lines if "grammar=g.gz" not in line])
    options = ["-c", ini, "-w", files / "weights"] if command == "decode" else [ini]
    run = lscfg(*command.split(), *options, files / "test", "-o", tmp_path / "out")
    assert run.returncode == 1 and not (tmp_path / "out").exists()
    expected = f"{ini}: the configuration names no grammar; add grammar=FILE"
    if command == "decode":  # each line may name a grammar
        cure = 'name one in the line, <seg grammar="FILE">words</seg>, or in the configuration'
        expected = f"{files / 'test'}:1: no grammar; {cure}"
    assert run.stderr == f"lscfg {command.split()[0]}: {expected}\n"


def test_usage_errors_have_status_2():
    heuristic = ("align", "f", "e", "-o", "a", "--heuristic", "all")
    jobs = ("derive", "f", "e", "a", "-o", "d", "--jobs", "0")
    for arguments in (
        ("nothing",),
        ("--nothing",),
        ("align", "f"),
        heuristic,
        jobs,
        ("estimate", "moments", "d", "-o", "m"),
    ):
        run = lscfg(*arguments)
        assert run.returncode == 2 and "usage:" in run.stderr


@pytest.mark.parametrize(
    ("name", "words", "status", "message"),
    [
        ("mle", "--set held_out=0.5", 1, "--set held_out: held_out is a setting of clusters, em, em-features only"),
        ("clusters", "--set init=random", 1, "--set init: init is a setting of em only"),
        ("mle", "-m 2", 2, "-m is for clusters, em, em-features, spectral, not for mle"),
        ("spectral", "--iterations 2", 2, "--iterations is for clusters, em, em-features, not for spectral"),
        ("mle", "--checkpoint folder", 2, "--checkpoint is for clusters, em, em-features, neural, not for mle"),
    ],
)
def test_settings_of_another_estimator_are_refused(files, tmp_path, name, words, status, message):
    run = lscfg("estimate", name, files / "deriv", *words.split(), "-o", tmp_path / "out")
    assert run.returncode == status and message in run.stderr, run.stderr
    assert not (tmp_path / "out").exists()


def test_decode_keeps_the_number_of_lines(files):
    run = lscfg("decode", "-c", files / "cdec.ini", "-w", files / "weights", files / "test")
    assert run.returncode == 0
    assert run.stdout.split("\n") == ["a red flower", "", "the x", ""]
    assert "sentence 2 is empty" in run.stderr


def test_kbest_is_cdecs_format(files):
    command = ("decode", "-c", files / "cdec.ini", "-w", files / "weights", files / "test", "-k", 5, "-r")
    lines = lscfg(*command).stdout.splitlines()
    assert lines[0].startswith("0 ||| a red flower ||| ") and "LatentMarginal=" in lines[0]
    assert {line.split(" ||| ")[0] for line in lines} == {"0", "1", "2"}
    assert lscfg(*command, "--jobs", 3).stdout.splitlines() == lines


def test_unique_lists_have_each_translation_once(files):
    """The best five of those in a longer list, which has some of them several times, as the shorter one has."""
    command = ("decode", "-c", files / "cdec.ini", "-w", files / "weights", files / "test", "-k")

    def translations(*options):
        run = lscfg(*command, *options)
        assert run.returncode == 0, run.stderr
        return [tuple(line.split(" ||| ")[:2]) for line in run.stdout.splitlines()]

    unique, short, long = translations(5, "-r"), translations(5), translations(100)
    assert len(set(short)) < len(short)
    for sentence, number in (("0", 5), ("1", 1), ("2", 4)):
        found = [text for n, text in unique if n == sentence]
        assert len(found) == number and found == [text for n, text in dict.fromkeys(long) if n == sentence][:5]


def test_explain(files, tmp_path):
    run = lscfg("inspect", "sentence", files / "mle.lscfg", "una flor roja", "--compare", files / "cdec.ini")
    assert run.returncode == 0 and run.stderr == "", run.stderr
    assert "A  best      a flower red" in run.stdout and "B P(e|f)" in run.stdout
    output = tmp_path / "page.html"
    run = lscfg(
        "inspect", "sentence", files / "mle.lscfg", "una flor", "--format", "html", "--choices", 1, "-o", output
    )
    assert run.returncode == 0 and run.stdout == "" and output.read_text().endswith("</html>\n")
    run = lscfg("inspect", "sentence", files / "mle.lscfg", "una flor", "--format", "json", "--min-marginal", 2)
    assert [model["translation"] for model in json.loads(run.stdout)] == ["a flower"]
    for words, message in (
        ([files / "mle.lscfg", ""], "SENTENCE is empty; give the words of a sentence"),
        ([files / "f", "x"], "f: not a safetensors file"),
        ([files / "mle.lscfg", "x", "--choices", 0], "the number of choices must be at least 1"),
    ):
        run = lscfg("inspect", "sentence", *words)
        assert run.returncode == 1 and message in run.stderr and "Traceback" not in run.stderr, run.stderr


def test_marginals_are_json_lines(files, tmp_path):
    run = lscfg("inspect", "marginals", files / "mle.lscfg", files / "test")
    records = [json.loads(line) for line in run.stdout.splitlines()]
    assert [record["parsed"] for record in records] == [True, False, True]
    assert ["X", 0, 3, pytest.approx(1)] in records[0]["nodes"]
    edge = next(edge for edge in records[2]["edges"] if edge["source"] == "x")
    assert records[2]["nodes"][edge["node"]][:3] == ["X", 1, 2] and edge["targets"][0][0] == "x"
    output = tmp_path / "out.gz"
    again = lscfg("inspect", "marginals", files / "cdec.ini", files / "test", "--jobs", 2, "-o", output)
    assert again.returncode == 0, again.stderr
    with gzip.open(output, "rt", encoding="utf-8") as text:
        of_ini = [json.loads(line) for line in text]
    assert [record["parsed"] for record in of_ini] == [True, False, True]
    assert len(of_ini[0]["edges"][0]["targets"][0]) == 2 + len(of_ini[0]["features"])
    assert (
        "change them there"
        in lscfg("inspect", "marginals", files / "cdec.ini", files / "test", "--set", "log=false").stderr
    )
    run = lscfg("inspect", "marginals", files / "mle.lscfg", files / "test", "--per-sentence-grammars", tmp_path / "g")
    assert run.returncode == 1 and "name a cdec.ini" in run.stderr


def test_heat_maps(files, tmp_path):
    models = (files / "mle.lscfg", "--compare", files / "spectral.lscfg")
    run = lscfg("inspect", "sentence", *models[:1], "una flor roja", *models[1:], "--format", "svg")
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("<svg") and ">mle<" in run.stdout and ">spectral<" in run.stdout
    again = ("inspect", "sentence", files / "mle.lscfg", "una", "--compare", files / "mle.lscfg", "--format", "svg")
    assert lscfg(*again, "-o", tmp_path / "chart.svg").returncode == 0
    assert "mle.lscfg<" in (tmp_path / "chart.svg").read_text(encoding="utf-8")


def test_evaluate_and_tune(files, tmp_path):
    longer = [f"{line} and {line}" for line in TGT]
    write_lines(tmp_path / "a", longer)
    write_lines(tmp_path / "b", [line.replace("red", "blue") for line in longer])
    run = lscfg(
        "evaluate",
        "scores",
        "--reference",
        tmp_path / "a",
        "--baseline",
        "B",
        f"B={tmp_path / 'b'}",
        f"A={tmp_path / 'a'}",
    )
    assert run.returncode == 0 and "100.00" in run.stdout
    run = lscfg(
        *("tune", "weights", "-c", files / "cdec.ini", "-s", files / "f", "--reference", files / "e"),
        *("-w", files / "weights", "-o", tmp_path / "tuned", "--iterations", 2),
    )
    assert run.returncode == 0, run.stderr
    assert "LanguageModel" in (tmp_path / "tuned" / "weights").read_text()


def test_inspect(files):
    text = lscfg("inspect", "model", files / "spectral.lscfg").stdout
    assert "singular values" in text and "parameters" in text
    assert "█" in text and "% negative" in text and "condition" in text
    assert "[X] ||| una ||| a" in lscfg("inspect", "model", files / "spectral.lscfg", "--rule", "una ||| a").stdout
    nearest = lscfg("inspect", "model", files / "spectral.lscfg", "--nearest", "una ||| a").stdout
    assert "nearest of 4 rules of arity 0" in nearest and "[X] ||| la ||| the" in nearest
    states = lscfg("inspect", "model", files / "mle.lscfg", "--states").stdout
    assert "state 0: " in states and "share 100.0 %, root 100.0 %" in states and "una ||| a" in states
    assert "dimension 1 +" in lscfg("inspect", "model", files / "spectral.lscfg", "--states").stdout
    run = lscfg("inspect", "derivations", files / "deriv")
    sizes = {name: int(size) for name, size in re.findall(r"^(\w.*?) +(\d+)$", run.stdout, re.M)}
    words = sum(len(line.split()) for line in SRC)
    expected = {"sentence pairs": 40, "trees": 40, "rule tokens": 2 * words - 40, "rule types": 7}
    expected |= {"types of arity 0": 5, "tokens of arity 0": words}
    expected |= {"types of arity 2": 2, "tokens of arity 2": words - 40, "tokens of arity 1": 0}
    assert run.returncode == 0 and expected.items() <= sizes.items(), run.stderr
    assert re.search(r"^ +40  \[X\] \|\|\| \[X,1\] \[X,2\] \|\|\| \[X,1\] \[X,2\]$", run.stdout, re.M)
    assert (
        "[0,2) [0,2)  [X,1] [X,2] ||| [X,1] [X,2]"
        in lscfg("inspect", "derivations", files / "deriv", "--tree", 1).stdout
    )


def test_diagnose(files, tmp_path):
    names = ("mle.lscfg", "spectral.lscfg")
    options = ("--train", files / "deriv", "--held-out", files / "deriv", "-o", tmp_path / "json")
    run = lscfg("inspect", "choices", *(files / name for name in names), *options)
    assert run.returncode == 0 and run.stderr == "", run.stderr
    content = json.loads((tmp_path / "json").read_text())
    assert [model["m"] for model in content["models"]] == [None, 1, 1, 2]
    assert content["models"][1]["rule"] == content["models"][2]["rule"]
    assert re.search(r"^rule, \d+ questions +m +loss +gain +rank$", run.stdout, re.M)
    assert max(map(len, run.stdout.splitlines())) <= 100
    more = lscfg("inspect", "choices", *(files / name for name in names), *options, "--differences", 1)
    assert "differences" in json.loads((tmp_path / "json").read_text())["models"][-1], more.stderr
    assert "must be at least 0" in lscfg("inspect", "choices", files / names[0], *options, "--differences", -1).stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("align", "{f}", "{test}", "-o", "{out}"), "test: 3 lines, but"),
        (
            ("align", "{f}", "{e}", "--set", "iterations=0", "-o", "{out}"),
            "--set iterations: iterations must be at least 1",
        ),
        (("derive", "{f}", "{e}", "{test}", "-o", "{out}"), "test: 3 lines for 40 sentence pairs"),
        (("derive", "{f}", "{none}", "{links}", "-o", "{out}"), "none: cannot read: No such file"),
        (("grammar", "minimal", "{mle.lscfg}", "-o", "{out}"), "not an lscfg derivations file, but 'model'"),
        (("grammar", "minimal", "{f}", "-o", "{out}"), "not a safetensors file but text; name a model"),
        (("estimate", "spectral", "{deriv}", "-m", "99", "-o", "{out}"), "hidden states from"),
        (("estimate", "spectral", "{deriv}", "-m", "-1", "-o", "{out}"), "-m must be at least 0, not -1"),
        (("estimate", "em", "{deriv}", "-m", "-1", "-o", "{out}"), "-m must be at least 0, not -1"),
        (
            ("estimate", "em", "{deriv}", "--set", "held_out=1", "-o", "{out}"),
            "--set held_out: held_out must be less than 1, not 1.0",
        ),
        (("estimate", "em", "{deriv}", "--resume", "-o", "{out}"), "--resume needs --checkpoint DIR"),
        (("estimate", "clusters", "{deriv}", "-m", "99", "-o", "{out}"), "different nodes for 99 hidden states"),
        (("inspect", "marginals", "{deriv}", "{f}"), "tensor 'CS' is missing"),
        (("inspect", "marginals", "{mle.lscfg}", "{f}", "--set", "floor=0"), "floor must be more than 0, not 0"),
        (
            ("inspect", "marginals", "{mle.lscfg}", "{f}", "--set", "names=LatentX"),
            "--set names: names is invalid: unknown feature 'LatentX'",
        ),
        (("inspect", "choices", "{mle.lscfg}", "--train", "{deriv}", "--held-out", "{f}"), "f: not a safetensors file"),
        (("inspect", "choices", "{deriv}", "--train", "{deriv}", "--held-out", "{deriv}"), "tensor 'CS' is missing"),
        (("decode", "-c", "{none}", "-w", "{weights}", "{test}"), "cannot read"),
        (("decode", "-c", "{cdec.ini}", "{test}"), "no weights"),
        (("decode", "-c", "{cdec.ini}", "-w", "{e}", "{test}"), "e:1: expected 'name value'"),
        (("decode", "-c", "{cdec.ini}", "-w", "{weights}", "{test}", "-k", "0"), "k must be 1 to 2147483647, not 0"),
        (("decode", "-c", "{cdec.ini}", "-w", "{weights}", "{test}", "-k", "5000000000"), "not 5000000000"),
        (
            ("decode", "-c", "{cdec.ini}", "-w", "{weights}", "{cdec.ini}", "-o", "{.}"),
            "is a folder; name a file in it",
        ),
        (("align", "{f}", "{e}", "-o", "{.}"), "is a folder; name a file in it"),
        (
            ("grammar", "minimal", "{deriv}", "--set", "max_arity=0", "-o", "{out}"),
            "--set max_arity: max_arity is a setting of hiero only",
        ),
        (("inspect", "derivations", "{deriv}", "--tree", "0"), "has no tree 0; trees are counted from 1"),
        (("inspect", "derivations", "{deriv}", "--tree", "9" * 5000), "--tree must be a number or all, not 9999"),
        (("inspect", "model", "{f}"), "not a safetensors file"),
        (("inspect", "model", "{mle.lscfg}", "--rule", "no ||| such"), "the model has no rule"),
        (("inspect", "derivations", "{mle.lscfg}", "--tree", "1"), "a model file; use lscfg inspect model"),
        (("inspect", "model", "{deriv}", "--states"), "a derivations file; use lscfg inspect derivations"),
        (("estimate", "spectral", "{deriv}", "--set", "inside=real", "-o", "{out}"), "needs a file of rule values"),
        (
            ("estimate", "spectral", "{deriv}", "--set", "smoothing=-1", "-o", "{out}"),
            "--set smoothing: smoothing must be at least 0, not -1.0",
        ),
        (("run", "{e}", "-o", "{out}"), "e:1: not TOML"),
        (("evaluate", "scores", "--reference", "{e}", "A={test}"), "test: 3 lines, but"),
    ],
)
def test_bad_input_is_one_line_and_status_1(files, tmp_path, arguments, message):
    def fill(argument):
        if "{" not in argument:
            return argument
        prefix, name = argument.rstrip("}").split("{")
        return f"{prefix}{tmp_path / 'out' if name == 'out' else files / name}"

    run = lscfg(*map(fill, arguments))
    errors = [line for line in run.stderr.splitlines() if line and not line.startswith("[lscfg]")]
    assert run.returncode == 1 and len(errors) == 1, run.stderr
    assert message in errors[0] and "Traceback" not in run.stderr
    assert not (tmp_path / "out").exists()


def test_a_fault_of_the_output_is_found_before_the_estimation(files, tmp_path):
    run = lscfg("estimate", "spectral", files / "deriv", "-m", 2, "-o", tmp_path)
    assert run.returncode == 1 and "is a folder; name a file in it" in run.stderr
    assert "singular values" not in run.stderr


def test_standard_output_is_utf_8_or_one_error(files, tmp_path):
    (tmp_path / "text").write_text("é\n", encoding="utf-8")
    command = [sys.executable, "-P", "-m", "lscfg", "decode", "-c", files / "cdec.ini", "-w", files / "weights"]
    done = subprocess.run(
        [*command, tmp_path / "text"],
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
    )
    assert done.stdout == "é\n".encode()
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full to be a full disk")
    with open("/dev/full", "w") as full:
        done = subprocess.run([*command, files / "f"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith("lscfg decode: standard output: cannot write: No space left")


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    ("words", "status"), [(["decode", "--nope"], 2), (["decode", "-c", "none", "text"], 1), ([], 0)]
)
def test_statuses_do_not_depend_on_messages(words, status, unbuffered):
    """With a full disk behind stderr."""
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full to be a full disk")
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "lscfg", *words],
            stdout=subprocess.PIPE,
            stderr=full,
            check=False,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        )
    assert done.returncode == status


def test_quiet_is_silent(files, tmp_path):
    run = lscfg("grammar", "minimal", files / "deriv", "-o", tmp_path / "g", "--quiet")
    assert run.returncode == 0 and run.stderr == "" and (tmp_path / "g").exists()


ERRORS = {
    MemoryError("Unable to allocate 8 GiB"): (1, r"out of memory \(Unable to allocate 8 GiB\); give it less"),
    MemoryError(): (1, "out of memory; give it less"),
    RecursionError("deep"): (1, "nested too deeply"),
    OverflowError("too large to convert"): (1, r"a number is too large \(too large to convert\)"),
    FileNotFoundError(2, "No such file", "a b"): (1, "a b: cannot be read or written: No such file"),
    OSError(5, "Input/output error"): (1, "cannot be read or written: Input/output error"),
    OSError(28, "No space left on device"): (1, "standard output: cannot write: No space left"),
    BrokenPipeError(32, "Broken pipe"): (1, "cannot be read or written: Broken pipe"),
    InputError("bad", "f", 3): (1, "f:3: bad"),
    KernelError("out of memory"): (1, "out of memory"),
    RuntimeError("can't start new thread"): (1, "no further thread can start; use fewer --jobs"),
    UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed"): (1, "text that is not UTF-8 .*iconv"),
    zlib.error("Error -3"): (1, "zlib failed: Error -3; is the input whole"),
    lzma.LZMAError("Corrupt input data"): (1, "lzma failed: Corrupt input data; is the input whole"),
    pickle.UnpicklingError("truncated"): (1, "pickle failed: truncated; is the input whole"),
    SafetensorError("header too large"): (1, "safetensors failed: header too large; is the input whole"),
    ImportError("libblas.so: failed to map segment from shared object"): (
        1,
        "a library cannot be loaded .*more memory",
    ),
    ImportError("cannot import name 'x'"): (70, "fault in lscfg: ImportError"),
    KeyError("a"): (70, r"fault in lscfg: KeyError at test_cli.py:\d+: 'a'; please report"),
    ValueError("two\nlines"): (70, "two lines"),
    KeyboardInterrupt(): (130, "interrupted"),
}


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_no_exception_leaves_main(error, monkeypatch, capsys):
    def fail(args):
        raise error

    monkeypatch.setattr("lscfg.commands.compress.run", fail)
    status, message = ERRORS[error]
    assert main(["compress", "m", "--cp", "2", "-o", "d"]) == status
    told = capsys.readouterr().err
    assert re.match(f"lscfg compress: .*{message}", told) and told.count("\n") == 1


def test_the_traceback_of_a_fault_shows_on_demand(monkeypatch, capsys):
    def fail(args):
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr("lscfg.commands.compress.run", fail)
    monkeypatch.setenv("LSCFG_TRACEBACK", "1")
    assert main(["compress", "m", "--cp", "2", "-o", "d"]) == 70
    assert capsys.readouterr().err.startswith("Traceback")


@pytest.mark.parametrize(("closed", "status"), [("<&-", 0), (">&-", 1), ("2>&-", 0), ("<&- >&- 2>&-", 1)])
def test_closed_standard_files(files, closed, status):
    command = f'"{sys.executable}" -P -m lscfg inspect model "{files / "mle.lscfg"}" {closed}'
    run = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert run.returncode == status, run.stderr
    if status and "2>" not in closed:
        assert run.stderr == "lscfg inspect: standard output: cannot write: Bad file descriptor\n"


@pytest.mark.parametrize("words", ["decode -c ini -w weights -", "lm /dev/stdin -o out"])
def test_closed_standard_input_is_no_empty_text(tmp_path, words):
    (tmp_path / "ini").write_text("formalism=scfg\ngrammar=grammar\n")
    (tmp_path / "grammar").write_text("[X] ||| a ||| b ||| Rule=1\n")
    (tmp_path / "weights").write_text("Rule 1\n")
    command = f'"{sys.executable}" -P -m lscfg {words} <&-'
    run = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    message = f"lscfg {words.split()[0]}: standard input: is closed; name a file, or write < FILE"
    assert run.returncode == 1 and run.stderr.splitlines()[-1] == message
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""), reason="a sanitizer reserves more than the limit")
def test_out_of_memory_is_one_line(tmp_path):
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(b"a " * 80_000_000, 1))
    command = f'ulimit -v 700000; "{sys.executable}" -P -m lscfg lm bomb.gz -o lm.arpa --estimator lscfg'
    run = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 1 and run.stderr.count("\n") == 1 and "out of memory" in run.stderr
    assert not list(tmp_path.glob("*arpa*"))


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        ("run e.toml -o out", True),
        ("tune weights -c text -w text -s text --reference text -o out", True),
        ("estimate em text -m 2 -o out --checkpoint points", True),
        ("estimate em text -m 2 -o out", False),
        ("grammar hiero text text text -o out", False),
        ("prepare corpus text text -o out", False),
        ("decode -c text text", False),
    ],
)
def test_interrupted_commands_claim_to_keep_what_they_keep(words, kept, tmp_path, monkeypatch, capsys):
    def interrupted(args):
        raise KeyboardInterrupt

    name = words.split()[0]
    module = next(command for command in COMMANDS if command.name == name).load()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(module, "run", interrupted)
    for file in ("text", "e.toml"):
        Path(file).touch()
    assert main(words.split()) == 130
    assert capsys.readouterr().err == f"lscfg {name}: interrupted{'; finished work is kept' * kept}\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_command_that_is_told_to_end_leaves_nothing(tmp_path, number):
    code = (  # the suite may run under nohup, which lets no child hear SIGHUP
        f"import signal, sys, time\nsignal.signal({int(number)}, signal.SIG_DFL)\n"
        "from lscfg import cli\nimport lscfg.commands.compress as command\n"
        "from lscfg.io.write import atomic_write\n"
        "def run(args):\n  with atomic_write('out') as file:\n    print('writing', flush=True)\n    time.sleep(60)\n"
        "command.run = run\nsys.exit(cli.main(['compress', 'm', '--cp', '2', '-o', 'd']))"
    )
    words = [sys.executable, "-P", "-c", code]
    process = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout.readline() == b"writing\n" and list(tmp_path.glob(".lscfg.*.tmp"))
    process.send_signal(number)
    assert process.wait(20) == 128 + number
    told = f"lscfg compress: ended by {signal.Signals(number).name}\n"
    assert process.stderr.read().decode() == told
    process.stdout.close()
    process.stderr.close()
    assert not list(tmp_path.glob(".lscfg.*.tmp")) and not (tmp_path / "out").exists()
