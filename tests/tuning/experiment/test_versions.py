"""A stage whose output changes gets a new version, since finished stages are used again by their keys.

``stages.json`` holds a hash of the output of each stage on a small corpus beside the versions of what made it. A change
of output without a new version fails here. After a new version: ``python tests/tuning/experiment/test_versions.py``.
"""

import gzip
import hashlib
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file

from lscfg.tuning.experiment.cache import RECORD, StageCache
from lscfg.tuning.experiment.config import read_experiment
from lscfg.tuning.experiment.plan import make_plan
from lscfg.tuning.experiment.stage import Stage
from lscfg.tuning.experiment.stages.decoding import SystemTuning
from lscfg.tuning.experiment.steps.latent import ModelSettings

HELD = Path(__file__).with_name("stages.json")
TEXT = Path(__file__).with_name("corpus")
"""Sentence pairs that no change of the demo corpus changes."""

DIGITS = 4
"""Digits that are compared: the last ones of a sum depend on the machine's matrix library."""

UNHELD = {RECORD, "seconds.json", "cdec.ini", "prepare.json", "dropped.tsv", "health.json"}
"""Records of the run itself; what names folders or versions of packages."""

ON_THE_WAY = re.compile(r"history\.json|kbest\..*")
"""Of a tuning: which of several derivations of equal scores is in a list hangs on the last digits of the weights."""

EXPERIMENT = """
[corpus]
source = "train.es"
target = "train.en"
dev_source = "dev.es"
dev_reference = "dev.en"
test_source = "test.es"
test_reference = "test.en"
[language_model]
estimator = "lscfg"
order = 3
[tuning]
optimiser = "OPTIMISER"
iterations = 2
kbest = 10
[systems.MIN]
"""

SYSTEMS = """
[systems.HIERO]
grammar = "hiero"
[systems.MLE]
estimator = "mle"
features = "paper"
start = "none"
[systems.SPECTRAL]
estimator = "spectral"
m = 2
features = "paper"
start = "none"
[systems.EM]
estimator = "em"
m = 2
iterations = 3
features = "paper"
start = "none"
[systems.CLUSTERS]
estimator = "clusters"
m = 2
iterations = 2
features = "ratios"
start = "none"
[systems.BOTH]
grammar = "both"
estimator = "mle"
features = "context"
[systems.AGREED]
agree = ["HIERO", "CLUSTERS"]
"""

MONOLINGUAL = """
[systems.HIERO]
grammar = "hiero"
[systems.GRAPH]
grammar = "hiero"
estimator = "clusters"
m = 2
iterations = 2
features = "ratios"
expand = true
states = true
start = "HIERO"
[monolingual]
source = "dev.es"
target = "dev.en"
gold_source = "dev.es"
gold_target = "dev.en"
lm = false
[propagated]
neighbours = 5
rank = 4
"""

MARGIN = (
    EXPERIMENT.replace("OPTIMISER", "mira").replace("iterations = 2", "iterations = 1")  # the usual weights stay
    + """
[systems.HIERO]
grammar = "hiero"
[systems.MARGIN]
grammar = "hiero"
start = "HIERO"
margin = {passes = 1, kbest = 10, order = 2, held_out = 0.0}
"""
)

RAW = """
[corpus]
raw = true
source = "train.es"
target = "train.en"
[prepare]
tokeniser = "none"
casing = "lower"
dev = 20
test = 20
""" + EXPERIMENT.partition('test_reference = "test.en"\n')[2].replace("OPTIMISER", "mira")


def rounded(value: float) -> str:
    return f"{value:.{DIGITS - 1}e}" if abs(value) > 1e-12 else "0"


def coarse(array: np.ndarray) -> np.ndarray:
    """Integers for numbers, in parts of the largest: what is left where sums cancel differs from machine to machine."""
    return np.rint(array / (np.abs(array).max(initial=0) or 1) * 10**DIGITS).astype(np.int64)


def digest(path: Path) -> str:
    """A hash of what a file says, numbers with a point rounded."""
    data = path.read_bytes()
    if data[8:9] == b"{":  # safetensors
        with safe_open(path, "numpy") as file:
            about = json.loads(file.metadata().get("about", "{}"))
        parts = [json.dumps(about, sort_keys=True)]
        arrays = load_file(path)
        arrays.pop("checksum", None)  # of all bytes, which machines round in other ways
        for name, array in sorted(arrays.items()):
            kept = coarse(array) if array.dtype.kind == "f" else array
            parts.append(f"{name} {array.shape} {hashlib.sha256(kept.tobytes()).hexdigest()}")
        text = "\n".join(parts)
    else:
        text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode("utf-8")
    text = re.sub(r'"seconds": [0-9.e-]+|"version": "[0-9.]+"', "", text)
    text = re.sub(r"-?\d+\.\d+(e[+-]?\d+)?", lambda number: rounded(float(number[0])), text)
    return hashlib.sha256(text.encode()).hexdigest()


def label(stage: Stage) -> str:
    settings, words = stage.settings, [stage.name]
    if isinstance(settings, ModelSettings):
        words += [settings.estimator.name, *(["context"] if settings.context else [])]
    elif isinstance(settings, SystemTuning):
        words.append(settings.tuning.optimiser)
    return " ".join(words)


def versions(facts: object) -> list[int]:
    """All numbers of versions, wherever they are."""
    if isinstance(facts, dict):
        own = [value for key, value in sorted(facts.items()) if key == "version" or key.endswith("_version")]
        return own + [n for key, value in sorted(facts.items()) if key != "inputs" for n in versions(value)]
    return [n for item in facts for n in versions(item)] if isinstance(facts, list) else []


def stages(folder: Path) -> Iterator[Stage]:
    """Yields the stages of all experiments, which may be those of an earlier one again."""
    for path in TEXT.iterdir():
        shutil.copy(path, folder)
    texts = {
        name: EXPERIMENT.replace("OPTIMISER", name)
        for name in ("mira", "mert", "forest-mert", "pro", "risk", "forest-risk")
    }
    texts |= {
        "mira": texts["mira"] + SYSTEMS,
        "raw": RAW,
        "mono": texts["mira"] + MONOLINGUAL,
        "margin": MARGIN,
    }
    for name, text in texts.items():
        path = folder / f"{name}.toml"
        path.write_text(text)
        yield from make_plan(read_experiment(path)).stages()


def labels_before(stage: Stage) -> set[str]:
    """Labels of all stages whose output a stage directly or indirectly reads."""
    return {name for source in stage.sources for name in (label(source), *labels_before(source))}


def outputs(folder: Path) -> dict[str, dict[str, object]]:
    """Versions and hash of every stage's output, by its label; of several of a label the first."""
    found: dict[str, dict[str, object]] = {}
    cache = StageCache(folder / "cache")
    for stage in stages(folder):
        made = cache.make(stage, 2)
        names = sorted(path.name for path in made.path.iterdir())
        files = [made.path / name for name in names if name not in UNHELD and not ON_THE_WAY.fullmatch(name)]
        text = "".join(f"{path.name} {digest(path)}\n" for path in files)
        fact = {"versions": versions(stage.dependencies), "sha256": hashlib.sha256(text.encode()).hexdigest()}
        found.setdefault(label(stage), fact)
    return found


def is_held(fact: dict[str, object], held: dict[str, object]) -> bool:
    """True if versions and output are those noted, of which a stage may have one for each kind of processor.

    Processors with AVX-512 and without it round in other ways, and the steps of forest-risk carry the last digits on.
    """
    hashes = held["sha256"] if isinstance(held["sha256"], list) else [held["sha256"]]
    return fact["versions"] == held["versions"] and fact["sha256"] in hashes


def test_new_versions_are_noted(tmp_path):
    found: dict[str, list[int]] = {}
    for stage in stages(tmp_path):
        found.setdefault(label(stage), versions(stage.dependencies))
    noted = {name: fact["versions"] for name, fact in json.loads(HELD.read_text()).items()}
    assert found == noted, f"python {Path(__file__).name} notes the outputs of new versions"


@pytest.mark.slow
def test_no_output_changes_without_a_new_version(tmp_path):
    held = json.loads(HELD.read_text())
    found = outputs(tmp_path)
    assert held.keys() == found.keys()
    for name, fact in found.items():
        if not is_held(fact, held[name]):
            assert fact["versions"] != held[name]["versions"], f"{name}: other output, the same version"
            pytest.fail(f"{name} has a new version: python {Path(__file__).name} notes its output")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        now, before_each = outputs(Path(temporary)), dict[str, set[str]]()
        for one in stages(Path(temporary)):
            before_each.setdefault(label(one), labels_before(one))
    before = json.loads(HELD.read_text()) if HELD.exists() else {}
    same = [name for name, fact in now.items() if before.get(name, {}).get("versions") == fact["versions"]]
    for name in same:
        if is_held(now[name], before[name]):
            now[name] = before[name]
        elif before_each[name] <= {*same}:
            sys.exit(f"{name}: other output, the same versions up to it; give what made it a new VERSION")
    HELD.write_text(json.dumps(now, indent=1, sort_keys=True) + "\n")
