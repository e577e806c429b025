"""The plug-in for cdec, compiled against our own stand-ins for cdec's headers and shown forests as cdec shows them.

The stand-ins in ``tests/plugin_stubs/cdec`` declare what the plug-in uses. ``make sanitize`` compiles with sanitizers.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from cdec_runs import SENTENCES, write_system
from native import stub_driver

from lscfg.kernel import Binding, FeatureOptions, Forest, Grammar, Model, ParseOptions

GLUE_TOP, GLUE, PASS = range(3)
"""Rules of every grammar, whose numbers follow those of the rules that it lists."""

Named = list[dict[str, float]]


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return stub_driver("cdec", tmp_path_factory.mktemp("driver"), "-Wno-invalid-offsetof")


@pytest.fixture
def system(tmp_path: Path) -> Path:
    write_system(tmp_path)
    return tmp_path


def configure(folder: Path, glue: bool) -> None:
    """Writes ``cdec.ini``; with glue rules, the grammar loses its rule of the goal."""
    ini = "formalism=scfg\ngrammar=grammar\nadd_pass_through_rules=true\nscfg_max_span_limit=50\n"
    (folder / "cdec.ini").write_text(ini + ("" if glue else "scfg_no_hiero_glue_grammar=true\n"))
    if glue:
        lines = (folder / "grammar").read_text().splitlines(keepends=True)
        (folder / "grammar").write_text("".join(lines[:-1]))


class Ours:
    """The forests of the kernel's parser, and their features."""

    def __init__(self, folder: Path, glue: bool, options: FeatureOptions):
        self.grammar, self.features = Grammar.from_files([folder / "grammar"]), []
        binding = Binding(Model(folder / "model.lscfg"), self.grammar)
        lines = []
        for sentence in SENTENCES:
            words = self.grammar.vocab.add_line(sentence)
            forest = self.grammar.parse(words, ParseOptions(50, glue, 1))
            assert forest is not None
            values = binding.features(forest, binding.infer(forest), options)
            self.features += [dict(zip(options.names, row, strict=True)) for row in values.tolist()]
            self.features.append(dict.fromkeys(options.names, 0.0))  # the edge of the goal
            lines += [f"sentence {sentence}", *self.edges(forest, sentence.split())]
        (folder / "forest").write_text("\n".join(lines) + "\n")

    def edges(self, forest: Forest, words: list[str]) -> list[str]:
        """The applications in cdec's words; the last edge leads to cdec's goal."""
        lines, before = [], 0
        for app, edge in enumerate(forest.app_edge.tolist()):
            head = int(forest.edge_head[edge])
            assert head >= before  # from below
            before = head
            i, j = forest.node_span[head].tolist()
            tails = [tail for tail in forest.edge_tail[edge].tolist() if tail >= 0]
            names = ["XS"[forest.node_cat[tail]] for tail in tails]
            source, target, scores = self.rule(int(forest.app_rule[app]), names, words[i])
            numbers = " ".join(map(str, (head, i, j, *tails)))
            lines.append(f"{numbers} ||| {'XS'[forest.node_cat[head]]} ||| {source} ||| {target} ||| {scores}")
        root, last = forest.n_nodes - 1, "XS"[forest.node_cat[-1]]
        return [*lines, f"{forest.n_nodes} 0 {len(words)} {root} ||| Goal ||| [{last},1] ||| [1] ||| "]

    def rule(self, number: int, names: list[str], word: str) -> tuple[str, str, str]:
        size = len(self.grammar)
        if number == size + PASS:
            return word, word, "PassThrough=1"
        if number in (size + GLUE_TOP, size + GLUE):
            gaps = range(1, len(names) + 1)
            return " ".join(f"[{names[k - 1]},{k}]" for k in gaps), " ".join(f"[{k}]" for k in gaps), "Glue=1"
        gaps = iter([f"[{name},{k}]" for k, name in enumerate(names, 1)])
        source = [next(gaps) if symbol < 0 else self.grammar.vocab.word(symbol) for symbol in self.grammar.src(number)]
        target = [
            f"[{-symbol}]" if symbol < 0 else self.grammar.vocab.word(symbol) for symbol in self.grammar.tgt(number)
        ]
        return " ".join(source), " ".join(target), f"R{number}=1"


def run(driver: Path, folder: Path, *lines: str) -> subprocess.CompletedProcess[str]:
    command = [driver, "forest", *lines, "-c", "cdec.ini", "-w", "weights"]
    environment = os.environ | {"UBSAN_OPTIONS": "print_stacktrace=1"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def shown(driver: Path, folder: Path, *lines: str) -> Named:
    """The features of all edges after the last pass."""
    done = run(driver, folder, *lines)
    assert done.returncode == 0 and "unmatched" not in done.stderr and "warning" not in done.stderr, done.stderr
    return [
        {name: float(value) for name, value in (word.split("=") for word in line.split()[2:])}
        for line in done.stdout.splitlines()
    ]


def assert_latent(found: Named, expected: Named) -> None:
    """Asserts equal latent features of each edge; cdec leaves out zeros."""
    assert len(found) == len(expected) > 100
    for edge, (own, ours) in enumerate(zip(found, expected, strict=True)):
        assert {name: own.get(name, 0.0) for name in ours} == pytest.approx(ours, abs=1e-12), edge
    assert any(sum(1 for name in ours if own.get(name)) > 1 for own, ours in zip(found, expected, strict=True))


CASES = [
    ("features=paper", FeatureOptions(names=("paper",))),
    ("features=paper log=false", FeatureOptions(names=("paper",), log=False)),
    ("features=paper floor=0.01 negative=clamp", FeatureOptions(names=("paper",), floor=0.01, negative="clamp")),
    ("features=paper,ratios,context,boundary", FeatureOptions(names=("paper", "ratios", "context", "boundary"))),
    ("features=LatentMarginal,LatentSpan", FeatureOptions(names=("LatentMarginal", "LatentSpan"))),
]


@pytest.mark.parametrize("glue", [False, True])
@pytest.mark.parametrize(("line", "options"), CASES, ids=[line for line, _ in CASES])
def test_both_modes_give_the_features_of_the_kernel(driver: Path, system: Path, line, options, glue: bool) -> None:
    configure(system, glue)
    ours = Ours(system, glue, options)
    model = f"model=model.lscfg {line}"
    assert_latent(shown(driver, system, model), ours.features)
    assert_latent(shown(driver, system, "mode=record", "-", f"mode=forest {model}"), ours.features)


def test_packed_features_are_restored(driver: Path, system: Path) -> None:
    configure(system, False)
    Ours(system, False, CASES[0][1])
    weights = (system / "weights").read_text() + "Packed 2\n"
    (system / "weights").write_text(weights)
    weight = {name: float(value) for name, value in (line.split() for line in weights.splitlines())}
    model = "model=model.lscfg features=paper"
    plain = shown(driver, system, model)
    for line, packed in ((f"{model} pack=latent", "Latent"), (f"{model} pack=all", ""), (model, "")):
        lines = (line,) if "pack=" in line else (line, "-", "mode=pack")
        for own, whole in zip(shown(driver, system, *lines), plain, strict=True):
            names = [name for name in whole if name.startswith(packed)]
            total = sum(weight.get(name, 0.0) * whole[name] for name in names)
            expected = {name: value for name, value in whole.items() if name not in names} | {"Packed": total / 2}
            assert {name: own.get(name, 0.0) for name in {*expected, *own}} == pytest.approx(
                {name: expected.get(name, 0.0) for name in {*expected, *own}}, abs=1e-12
            )
        for own, whole in zip(shown(driver, system, *lines, "-", "mode=unpack"), plain, strict=True):
            assert own == pytest.approx(whole, abs=1e-12)


def test_recorded_forests_are_files(driver: Path, system: Path) -> None:
    """The file has a node for each node and an edge for each source side over the same nodes."""
    configure(system, False)
    Ours(system, False, CASES[0][1])
    (system / "kept").mkdir()
    shown(driver, system, "mode=record forests=kept")
    assert sorted(path.name for path in (system / "kept").iterdir()) == [f"{n}.json.gz" for n in range(len(SENTENCES))]
    text = (system / "kept" / "2.json.gz").read_text()  # the stand-in does not compress
    assert text.startswith('{"id":2,"words":["casa"],"parsed":true,"features":["PassThrough","R')
    assert '"source":"casa","targets":[["home"' in text and '"source":"casa","pass":true' in text


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["model=none"], "[lscfg] model none: "),
        (["mode=forest model=model.lscfg"], "mode=forest needs a line with mode=record in an earlier pass"),
        (["model=model.lscfg features=nothing"], "nothing"),
        (["model=model.lscfg", "model=model.lscfg"], "stands in two lines"),
        (["mode=unpack"], "mode=unpack needs a line with pack="),
        (["mode=record forests=none"], "no folder that can be written to"),
        (["model=model.lscfg pack=all"], "pack= needs a weight of Packed"),
        (["max_span=0 model=model.lscfg"], "expected a whole number above 0"),
        (["mode=fold"], "mode=fold is now mode=pack"),
        (["other=1"], "unknown option 'other=1'"),
    ],
)
def test_bad_lines_are_refused(driver: Path, system: Path, lines: list[str], message: str) -> None:
    configure(system, False)
    Ours(system, False, CASES[0][1])
    done = run(driver, system, *lines)
    assert done.returncode == 1 and message in done.stderr and "Sanitizer" not in done.stderr, done.stderr
    assert done.stderr.startswith("[lscfg] ") and done.stderr.count("\n") == 1


def test_damaged_models_are_refused_in_one_line(driver: Path, system: Path) -> None:
    configure(system, False)
    Ours(system, False, CASES[0][1])
    good, rng = (system / "model.lscfg").read_bytes(), np.random.default_rng(3)
    for _ in range(30):
        data = bytearray(good)
        data[int(rng.integers(len(data) if rng.random() < 0.5 else 200))] ^= 1 << int(rng.integers(8))
        (system / "model.lscfg").write_bytes(
            bytes(data[: int(rng.integers(len(data)))] if rng.random() < 0.3 else data)
        )
        done = run(driver, system, "model=model.lscfg features=paper,ratios,context,boundary")
        assert done.returncode in (0, 1) and "Sanitizer" not in done.stderr, done.stderr
        assert done.returncode == 0 or done.stderr.startswith("[lscfg] model model.lscfg: "), done.stderr
