"""The plug-in for cdec, compiled against our own stand-ins for cdec's headers and shown forests as cdec shows them.

The stand-ins in ``tests/plugin_stubs/cdec`` declare what the plug-in uses. ``make sanitize`` compiles with sanitizers.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from cdec_runs import PARTS, RULES, SENTENCES, THREE_GAPS, write_system
from native import stub_driver
from shown_forests import CdecForests, configure

from lscfg.kernel import FeatureOptions

Named = list[dict[str, float]]


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return stub_driver("cdec", tmp_path_factory.mktemp("driver"), "-Wno-invalid-offsetof")


@pytest.fixture
def system(tmp_path: Path) -> Path:
    write_system(tmp_path)
    return tmp_path


def run(driver: Path, folder: Path, *lines: str, options: str = "") -> subprocess.CompletedProcess[str]:
    command = [driver, "forest", *lines, "-c", "cdec.ini", "-w", "weights", *options.split()]
    environment = os.environ | {"UBSAN_OPTIONS": "print_stacktrace=1"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def shown(driver: Path, folder: Path, *lines: str) -> Named:
    """The features of all edges after the last pass."""
    done = run(driver, folder, *lines)
    assert done.returncode == 0 and "unmatched" not in done.stderr and "warning" not in done.stderr, done.stderr
    return features_of(done)


def features_of(done: subprocess.CompletedProcess[str]) -> Named:
    """The features that the driver has written, edge by edge."""
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
    ("features=paper improper=keep", FeatureOptions(names=("paper",), improper="keep")),
    (
        "features=paper,context,orientation,boundary",
        FeatureOptions(names=("paper", "context", "orientation", "boundary")),
    ),
    ("features=neural,orientation", FeatureOptions(names=PARTS)),
    ("features=LatentMarginal,LatentSpan", FeatureOptions(names=("LatentMarginal", "LatentSpan"))),
]


@pytest.mark.parametrize("glue", [False, True])
@pytest.mark.parametrize(("line", "options"), CASES, ids=[line for line, _ in CASES])
def test_both_modes_give_the_features_of_the_kernel(driver: Path, system: Path, line, options, glue: bool) -> None:
    configure(system, glue)
    ours = CdecForests(system, glue, options)
    model = f"model=model.lscfg {line}"
    assert_latent(shown(driver, system, model), ours.features)
    assert_latent(shown(driver, system, "mode=record", "-", f"mode=forest {model}"), ours.features)


def test_recorded_forests_need_no_grammar(driver: Path, system: Path) -> None:
    """Other formalisms of cdec read files that are no grammars of the kernel."""
    configure(system, False)
    ours = CdecForests(system, False, FeatureOptions(names=("paper",)))
    (system / "other").write_text("eins two three\n")
    ini = (system / "cdec.ini").read_text()
    (system / "cdec.ini").write_text("grammar=other\n" + ini.replace("formalism=scfg", "formalism=fst"))
    done = run(driver, system, "mode=record", "-", "mode=forest model=model.lscfg features=paper")
    assert done.returncode == 0 and done.stderr.count("warning: other:1: ") == 1, done.stderr
    assert "the rules of each forest are used instead" in done.stderr and "unmatched" not in done.stderr
    assert_latent(features_of(done), ours.features)
    assert run(driver, system, "model=model.lscfg features=paper").returncode != 0
    (system / "cdec.ini").write_text("grammar=other\n" + ini)  # a grammar of cdec's own parser must be whole
    assert run(driver, system, "mode=record", "-", "mode=forest model=model.lscfg features=paper").returncode != 0


@pytest.mark.parametrize("glue", [False, True])
def test_rules_of_three_nonterminals_leave_the_features_of_others(driver: Path, system: Path, glue: bool) -> None:
    """Such a rule gets no features; its translations get those of their other rules. Some words are all unknown."""
    lines = (system / "grammar").read_text().splitlines(keepends=True)
    lines.insert(len(RULES), f"[X] ||| {THREE_GAPS} ||| R{len(RULES)}=1\n")
    (system / "grammar").write_text("".join(lines))
    configure(system, glue)
    ours = CdecForests(system, glue, FeatureOptions(names=PARTS), [*SENTENCES, "u v nueva", "u y nueva nueva v"])
    model, of_long, numbers, number = "model=model.lscfg features=neural,orientation", [], [], -1
    for line in (system / "forest").read_text().splitlines():
        if line.startswith("sentence"):
            number += 1
            continue
        if line.endswith(f"R{len(RULES)}=1"):
            of_long.append((number, ours.features[len(numbers)]))
        numbers.append(number)
    assert len(of_long) > 3 and not any(any(values.values()) for _, values in of_long)
    assert_latent(shown(driver, system, model), ours.features)
    # a recorded forest with such a rule is none of the kernel's: a warning says so
    done = run(driver, system, "mode=record", "-", f"mode=forest {model}")
    sentences, nothing = {number for number, _ in of_long}, dict.fromkeys(ours.features[0], 0.0)
    assert f"sentence {min(sentences) + 1} gets no latent features: it has a rule of more than two" in done.stderr
    assert f"0 unmatched; {len(sentences)} sentences without latent features" in done.stderr
    kept = [nothing if n in sentences else values for n, values in zip(numbers, ours.features, strict=True)]
    assert_latent(features_of(done), kept)


@pytest.mark.parametrize("features", ["paper", "paper,neural,orientation"])
def test_packed_features_are_restored(driver: Path, system: Path, features: str) -> None:
    configure(system, False)
    CdecForests(system, False, FeatureOptions(names=tuple(features.split(","))))
    weights = (system / "weights").read_text() + "Packed 2\n"
    (system / "weights").write_text(weights)
    weight = {name: float(value) for name, value in (line.split() for line in weights.splitlines())}
    model = f"model=model.lscfg features={features}"
    plain, latent = shown(driver, system, model), ("Latent", "Neural", "Orient")
    for line, packed in ((f"{model} pack=latent", latent), (f"{model} pack=all", ""), (model, "")):
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


@pytest.mark.parametrize(
    ("setting", "packs"),
    [
        ("intersection_strategy=cube_pruning", True),
        ("quiet=true\ncubepruning_pop_limit=30\nbeam_prune=5", True),
        ("k_best=5", False),
        ("weights2=weights", False),
        ("summary_feature=Risk", False),
        ("feature_function2=External liblscfg_cdec.so mode=unpack", False),
    ],
)
def test_known_weights_are_packed(driver: Path, system: Path, setting: str, packs: bool) -> None:
    """One latent feature takes the sum if nothing but translations is written."""
    configure(system, False)
    CdecForests(system, False, CASES[0][1])
    weight = {name: float(value) for name, value in map(str.split, (system / "weights").read_text().splitlines())}
    model = "model=model.lscfg features=paper"
    plain = shown(driver, system, model)
    with open(system / "cdec.ini", "a") as ini:
        ini.write(f"feature_function=External liblscfg_cdec.so {model}\n{setting}\n")
    assert shown(driver, system, f"{model} pack=none") == plain
    found = shown(driver, system, model)
    assert (found != plain) == packs
    for own, whole in zip(found, plain, strict=True):
        sums = [sum(weight.get(name, 0.0) * value for name, value in edge.items()) for edge in (own, whole)]
        assert sums[0] == pytest.approx(sums[1], abs=1e-12)
        assert not packs or [*own] == ["LatentMarginal"] or not own  # the goal has no features


def test_options_of_the_command_line_count(driver: Path, system: Path) -> None:
    """Lists and forests show features, so these are not packed."""
    configure(system, False)
    CdecForests(system, False, CASES[0][1])
    model = "model=model.lscfg features=paper"
    with open(system / "cdec.ini", "a") as ini:
        ini.write(f"feature_function=External liblscfg_cdec.so {model}\n")
    plain = run(driver, system, f"{model} pack=none").stdout
    for words in ("-r", "--quiet", "-K 20", "--input text", "-rK 20", "--cubepruning_pop_limit=20"):
        assert run(driver, system, model, options=words).stdout != plain, words
    for words in ("-k 5", "-rk 5", "--k_best 5", "--k_b=5", "-O kept", "-z", "--show_partition", "-F External"):
        assert run(driver, system, model, options=words).stdout == plain, words


def test_recorded_forests_are_files(driver: Path, system: Path) -> None:
    """The file has a node for each node and an edge for each source side over the same nodes."""
    configure(system, False)
    CdecForests(system, False, CASES[0][1])
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
        (["model=model.lscfg", "model=model.lscfg"], "occurs in two lines"),
        (["mode=unpack"], "mode=unpack needs a line with pack="),
        (["mode=record forests=none"], "no folder that can be written to"),
        (["model=model.lscfg pack=all"], "pack= needs a weight of Packed"),
        (["max_span=0 model=model.lscfg"], "expected a whole number above 0"),
        (["mode=fold"], "mode=fold is now mode=pack"),
        (["model=model.lscfg prune=1e-8"], "prune=1e-8: only lscfg's own decoder can prune; remove this option"),
        (["other=1"], "unknown option 'other=1'"),
    ],
)
def test_bad_lines_are_refused(driver: Path, system: Path, lines: list[str], message: str) -> None:
    configure(system, False)
    CdecForests(system, False, CASES[0][1])
    done = run(driver, system, *lines)
    assert done.returncode == 1 and message in done.stderr and "Sanitizer" not in done.stderr, done.stderr
    assert done.stderr.startswith("[lscfg] ") and done.stderr.count("\n") == 1


def test_damaged_models_are_refused_in_one_line(driver: Path, system: Path) -> None:
    configure(system, False)
    CdecForests(system, False, CASES[0][1])
    good, rng = (system / "model.lscfg").read_bytes(), np.random.default_rng(3)
    for _ in range(30):
        data = bytearray(good)
        data[int(rng.integers(len(data) if rng.random() < 0.5 else 200))] ^= 1 << int(rng.integers(8))
        (system / "model.lscfg").write_bytes(
            bytes(data[: int(rng.integers(len(data)))] if rng.random() < 0.3 else data)
        )
        done = run(driver, system, "model=model.lscfg features=paper,ratios,context,boundary,neural,orientation")
        assert done.returncode in (0, 1) and "Sanitizer" not in done.stderr, done.stderr
        assert done.returncode == 0 or done.stderr.startswith("[lscfg] model model.lscfg: "), done.stderr
