"""The plug-in for Moses, compiled against our own stand-ins for Moses' headers and called as Moses calls it.

The stand-ins in ``tests/plugin_stubs/moses`` declare what the plug-in uses. ``make sanitize`` compiles with sanitizers.
"""

from __future__ import annotations

import dataclasses
import subprocess
from pathlib import Path

import numpy as np
import pytest
from categories import RULES as LABELLED_RULES
from categories import random_parameters, saved, table_of
from cdec_runs import PARTS, RULES, SENTENCES, write_system
from native import stub_driver
from shown_forests import MosesForests

from lscfg.grammar.table import RuleTable
from lscfg.grammar.write import glue_rules
from lscfg.kernel import FeatureOptions
from lscfg.model.parameters import Parameters


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return stub_driver("moses", tmp_path_factory.mktemp("driver"))


@pytest.fixture
def system(tmp_path: Path) -> Path:
    write_system(tmp_path)
    (tmp_path / "grammar").write_text("".join(f"[X] ||| {rule} ||| R{n}=1\n" for n, rule in enumerate(RULES)))
    return tmp_path


def run(driver: Path, folder: Path, weights: int, line: str) -> subprocess.CompletedProcess[str]:
    command = [driver, "forest", str(weights), line]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("line", "options"),
    [
        ("features=paper", FeatureOptions(names=("paper",))),
        ("features=paper log=false", FeatureOptions(names=("paper",), log=False)),
        (
            "features=paper,ratios,boundary,orientation",
            FeatureOptions(names=("paper", "ratios", "boundary", "orientation")),
        ),
        ("features=neural,orientation", FeatureOptions(names=PARTS)),
        ("features=LatentMarginal,LatentSpan", FeatureOptions(names=("LatentMarginal", "LatentSpan"))),
    ],
)
def test_features_are_those_of_the_kernel(driver: Path, system: Path, line: str, options: FeatureOptions) -> None:
    ours = MosesForests(system, options)
    done = run(driver, system, len(options.names), f"LatentSCFG model=model.lscfg {line}")
    assert done.returncode == 0 and "warning" not in done.stderr and ", 0 unmatched" in done.stderr, done.stderr
    shown = [[float(value) for value in row.split()] for row in done.stdout.splitlines()]
    assert len(shown) == len(ours.features) > 60
    for (sentence, *found), (number, values) in zip(shown, ours.features, strict=True):
        assert sentence == number and found == pytest.approx(values, rel=1e-6, abs=1e-7)  # Moses' scores are single
    assert any(value for _, values in ours.features for value in values)


def test_four_threads_give_the_features_of_the_kernel(driver: Path, system: Path) -> None:
    """Each thread keeps the sentence that it decodes; some sentences contain only words that no rule has."""
    options = FeatureOptions(names=PARTS)
    ours = MosesForests(system, options, sentences=[*SENTENCES, "u v nueva"] * 60)
    command = [driver, "forest", str(len(options.names)), "LatentSCFG model=model.lscfg features=neural,orientation"]
    both = [
        subprocess.run([*command, *more], cwd=system, capture_output=True, text=True, check=True)
        for more in ([], ["threads"])
    ]
    assert both[0].stdout == both[1].stdout
    assert all(f"{len(ours.features)} rule applications" in done.stderr for done in both)
    found = [[float(value) for value in row.split()] for row in both[1].stdout.splitlines()]
    expected = [[number, *values] for number, values in ours.features]
    assert np.array(found) == pytest.approx(np.array(expected), rel=1e-6, abs=1e-7)


def test_values_beyond_single_precision_are_told(driver: Path, system: Path) -> None:
    """The kernel's features are finite, Moses' would not be."""
    model, options = Parameters.load(system / "model.lscfg"), FeatureOptions(names=("orientation",))
    assert model.orientation
    huge = dataclasses.replace(model.orientation, weights=np.sign(model.orientation.weights) * np.float32(3e38))
    dataclasses.replace(model, orientation=huge).save(system / "model.lscfg", np.float64)
    assert max(abs(value) for _, values in MosesForests(system, options).features for value in values) > 1e39
    for more in ([], ["best"]):
        command = [driver, "forest", "3", "LatentSCFG model=model.lscfg features=orientation", *more]
        done = subprocess.run(command, cwd=system, capture_output=True, text=True, check=True)
        assert "gets no latent features: its features are not finite in Moses' single precision" in done.stderr
        assert "inf" not in done.stdout and "nan" not in done.stdout


def test_weighted_sums_contain_the_network(driver: Path, system: Path) -> None:
    """With the stand-ins all weights are 0.5."""
    options = FeatureOptions(names=PARTS)
    ours = MosesForests(system, options)
    line = "LatentSCFG model=model.lscfg features=neural,orientation"
    command = [driver, "forest", str(len(options.names)), line, "best"]
    done = subprocess.run(command, cwd=system, capture_output=True, text=True, check=True)
    shown = [float(row.split()[1]) for row in done.stdout.splitlines()]
    assert shown == pytest.approx([0.5 * sum(values) for _, values in ours.features], rel=1e-6, abs=1e-6)


@pytest.fixture
def labelled(tmp_path: Path) -> RuleTable:
    """A system of the categories A and B."""
    table = table_of(LABELLED_RULES, ("A", "B"))
    saved(random_parameters(table, (2, 3), 1), tmp_path / "model.lscfg")
    lines = [table.text(rule) for rule in range(len(table))] + list(glue_rules(table))
    (tmp_path / "grammar").write_text(
        "".join(f"{line} |||\n" if line.count("|||") == 2 else f"{line}\n" for line in lines)
    )
    return table


def test_labels_are_categories(driver: Path, labelled: RuleTable, tmp_path: Path) -> None:
    options = FeatureOptions(names=("paper",))
    ours = MosesForests(tmp_path, options, labelled, ["a", "u a c b", "a q c", "a c a u"])
    done = run(driver, tmp_path, 3, "LatentSCFG model=model.lscfg features=paper")
    assert done.returncode == 0 and "warning" not in done.stderr and ", 0 unmatched" in done.stderr, done.stderr
    shown = [[float(value) for value in row.split()] for row in done.stdout.splitlines()]
    for (sentence, *found), (number, values) in zip(shown, ours.features, strict=True):
        assert sentence == number and found == pytest.approx(values, rel=1e-6, abs=1e-7)


def test_outputs_of_translations_alone_get_sums(driver: Path, system: Path) -> None:
    """With the stand-ins all weights are 0.5."""
    ours = MosesForests(system, FeatureOptions(names=("paper",)))
    line = "LatentSCFG model=model.lscfg features=paper trace=trace"
    command = [driver, "forest", "3", line, "best"]
    done = subprocess.run(command, cwd=system, capture_output=True, text=True, check=True)
    shown = [float(row.split()[1]) for row in done.stdout.splitlines() if len(row.split()) == 2]
    assert shown == pytest.approx([0.5 * sum(values) for _, values in ours.features], rel=1e-6, abs=1e-6)
    assert len((system / "trace").read_text().splitlines()) == len(shown)
    command[3] += " pack=none"
    done = subprocess.run(command, cwd=system, capture_output=True, text=True, check=True)
    assert all(len(row.split()) == 4 for row in done.stdout.splitlines())


def test_the_trace_has_exact_features(driver: Path, system: Path) -> None:
    options = FeatureOptions(names=("paper",))
    ours = MosesForests(system, options)
    done = run(driver, system, len(options.names), "LatentSCFG model=model.lscfg features=paper trace=trace")
    assert done.returncode == 0, done.stderr
    lines = (system / "trace").read_text().splitlines()
    assert len(lines) == len(ours.features)
    for line, (number, values) in zip(lines, ours.features, strict=True):
        first, *_, last = line.split(" ||| ")
        assert int(first.split()[0]) == number
        exact = [float(word.split("=")[1]) for word in last.split()]
        assert exact == pytest.approx(values, rel=1e-14)


def test_a_sentence_without_derivation_gets_an_empty_line(driver: Path, system: Path) -> None:
    """Moses shows no application of it; the feature writes the line that Moses does not."""
    MosesForests(system, FeatureOptions(names=("paper",)))
    text = (system / "forest").read_text()
    (system / "forest").write_text(text + "sentence una casa\nsentence\n")
    done = run(driver, system, 3, "LatentSCFG model=model.lscfg features=paper")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-2:] == [f"empty {len(SENTENCES)}", f"empty {len(SENTENCES) + 1}"]


@pytest.mark.parametrize(
    ("weights", "line", "message"),
    [
        (3, "LatentSCFG model=none features=paper", "[lscfg] model none: "),
        (3, "LatentSCFG features=paper", "[lscfg] LatentSCFG0 names no model; add model=FILE"),
        (2, "LatentSCFG model=model.lscfg features=paper", "LatentSCFG0 has 3 features, but 2 weights"),
        (3, "LatentSCFG model=model.lscfg features=paper other=1", "unknown option other=1; options are "),
        (3, "LatentSCFG model=model.lscfg features=paper trace=no/such", "cannot write trace=no/such"),
        (3, "LatentSCFG model=model.lscfg features=nothing", "nothing"),
        (3, "LatentSCFG model=model.lscfg features=paper prune=1e-8", "only lscfg's own decoder can prune"),
    ],
)
def test_bad_lines_are_refused(driver: Path, system: Path, weights: int, line: str, message: str) -> None:
    MosesForests(system, FeatureOptions(names=("paper",)))
    done = run(driver, system, weights, line)
    assert done.returncode == 1 and message in done.stderr and done.stderr.count("\n") == 1, done.stderr
