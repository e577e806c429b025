"""Record of a run: the manifest, and the files of the report."""

from __future__ import annotations

import dataclasses
import datetime
import os
import platform
import sys
from collections import Counter
from pathlib import Path

from lscfg.extras import installed_versions
from lscfg.formats.weights import read_weights
from lscfg.io.compression import plain_name
from lscfg.io.read import file_hash
from lscfg.prepare.health import HEALTH
from lscfg.prepare.languages import code_fault, equal_codes
from lscfg.prepare.record import Record
from lscfg.tuning.experiment.schema import Corpus, RawCorpus
from lscfg.tuning.experiment.stage import files_in
from lscfg.tuning.experiment.stages.charts import CHARTS, SENTENCES, TREES
from lscfg.tuning.experiment.stages.decoding import WEIGHTS
from lscfg.tuning.experiment.state import Run
from lscfg.tuning.experiment.system import Experiment
from lscfg.tuning.report.content import Charts, Content, TreeRecords
from lscfg.version import __version__

PACKAGES = (
    "numpy",
    "scipy",
    "cffi",
    "distributed",
    "sacrebleu",
    "kenlm",
    "ufal-kenlm",
    "sil-thot",
    "safetensors",
    "jinja2",
)
"""Packages whose versions the manifest lists, if they are installed."""


def report_content(path: Path, run: Run, results: dict[str, object]) -> Content:
    """Collects the content of the report; translations are those of each system's first run."""
    plan, texts = run.plan, run.plan.texts
    references = run.lines(*texts.test_references)
    outputs = {name: run.outputs(name)[0] for name in plan.systems}
    chosen = run.json(plan.sentences / SENTENCES) if plan.charts or plan.trees else {"charts": [], "trees": []}
    found = {name: run.json(stage / CHARTS) for name, stage in plan.charts.items()}
    charts = {name: Charts(chart["model"], chart["one state"]) for name, chart in found.items()}
    (sources,), examples = run.lines(texts.test_source), run.experiment.report.examples
    weights = {
        name: [read_weights(run.cache.path(stage / WEIGHTS)) for stage in system.tuned]
        for name, system in plan.systems.items()
        if not system.members
    }
    seen = {word for text in (*references, *outputs.values()) for line in text for word in line.split()}
    (target,) = run.lines(texts.target)
    training = Counter(word for line in target for word in line.split() if word in seen)
    counts = {word: training[word] for word in sorted(seen)}
    known = {word for line in run.lines(texts.source)[0] for word in line.split()}
    unknown = [sum(word not in known for word in line.split()) for line in sources]
    made = {name: run.json(stage / TREES) for name, stage in plan.trees.items()}
    trees = TreeRecords(
        chosen["trees"],
        {name: found["states"] for name, found in made.items()},
        {name: found["trees"] for name, found in made.items()},
    )
    size = len(run.lines(texts.dev_source)[0])
    own = results, sources, references, outputs, chosen["charts"], charts, examples, weights, counts, trees, unknown
    corpus = tuple(file.name for file in _training_files(run.experiment.corpus))
    health = run.json(texts.prepared / HEALTH) if texts.prepared else None
    return Content(path.stem, *own, _languages(run.experiment), corpus, size, health, _units(run))


def _units(run: Run) -> tuple[str, str]:
    if run.plan.texts.prepared is None:
        return "word", "word"
    source, target = Record.read(run.cache.path(run.plan.texts.prepared)).sides
    return "piece" if source.has_pieces else "word", "piece" if target.has_pieces else "word"


def _training_files(corpus: Corpus | RawCorpus) -> tuple[Path, ...]:
    return corpus.files if isinstance(corpus, RawCorpus) else (corpus.source, corpus.target)


def _languages(experiment: Experiment) -> tuple[str, str] | None:
    """The language pair by the settings of raw text, or by the endings of the names of prepared text, if both fit."""
    if isinstance(experiment.corpus, RawCorpus):
        return experiment.prepare.languages(experiment.corpus.files)
    source, target = (plain_name(path.name).rpartition(".")[2] for path in _training_files(experiment.corpus))
    return None if code_fault(source) or code_fault(target) or equal_codes(source, target) else (source, target)


def manifest_of(text: str, run: Run, jobs: int) -> dict[str, object]:
    """Records everything that the results depend on, and their costs.

    Args:
        text: the experiment file as it was read.
    """
    experiment = run.experiment
    hashes = run.plan.hashes
    programs = experiment.decoder.programs(bool(experiment.latent_systems))
    return {
        "lscfg": __version__,
        "date": datetime.date.today().isoformat(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cpus": os.cpu_count(),
        "jobs": jobs,
        "decoder": {name: file_hash(file) for name, file in programs.items()},
        "packages": installed_versions(PACKAGES),
        "command": [Path(sys.argv[0]).name, *sys.argv[1:]],
        "experiment": text,
        "settings": _plain(dataclasses.asdict(experiment)),
        "sha256": {
            str(file): hashes.get(file) or file_hash(file) for file in files_in(experiment) if isinstance(file, Path)
        },
        "stages": [
            {**made.record, "folder": made.path.name, "reused": made.reused, "systems": run.plan.users(made.stage)}
            for made in (run.cache.made.get(stage.key) for stage in run.plan.stages())
            if made
        ],
    }


def _plain(value: object) -> object:
    """Replaces paths by strings, for JSON."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value
