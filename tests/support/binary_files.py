"""Every kind of binary file with seeds and with all that reads it, for files that are damaged."""

from __future__ import annotations

import gzip
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import numpy as np
from limits import time_limit
from mutations import mutate_arrays, mutations
from simulate import sample

from lscfg.context import loglinear
from lscfg.context.inputs import read_source
from lscfg.errors import LscfgError
from lscfg.estimate import checkpoint, clusters, em, features_em, mle, neural, spectral
from lscfg.estimate.estimator import ESTIMATORS as REGISTRY
from lscfg.extract.derive import Derivations, DeriveOptions, derive
from lscfg.extract.minimal import MinimalRules, tokens_of
from lscfg.extract.yields import Yields
from lscfg.grammar.select import select_rules
from lscfg.grammar.write import write_grammar
from lscfg.io.tensors import file_kind
from lscfg.kernel import Model
from lscfg.model.compress import CPSettings, compress
from lscfg.model.parameters import Parameters
from lscfg.settings import Declared
from lscfg.study.diagnose import Diagnosis, format_diagnosis, report
from lscfg.study.inspect import (
    describe_derivations,
    describe_model,
    show_nearest,
    show_rule,
    show_states,
    show_tree,
)

SOURCE = ["a b c", "b a", "c c a b", "", "a", "a b c", "b"]
TARGET = ["A B C", "A B", "B C C A", "x", "A", "C B A", "d B"]
LINKS = ["0-0 1-1 2-2", "0-1 1-0", "0-1 1-2 2-3 3-0", "", "0-0", "0-2 1-1 2-0", "0-1"]
SETTINGS = em.EMSettings(m=2, iterations=2, held_out=0.3, restarts=2)
ESTIMATORS = {
    "mle": mle.MLESettings(),
    "em": em.EMSettings(m=2, iterations=1),
    "em-features": features_em.FeatureEMSettings(m=2, iterations=1),
    "clusters": clusters.ClusterSettings(m=2, iterations=1),
    "spectral": spectral.SpectralSettings(m=1),
}
NETWORK = neural.NeuralSettings(hidden=32)
SECONDS = 10
"""Seconds that one damaged file may take in all its readers."""


@dataclass
class Kind:
    """A kind of file: its seeds, all that reads such a file, its name, and files that have to lie beside it."""

    seeds: list[bytes]
    use: Callable[[Path], None]
    name: str = "file"
    beside: dict[str, bytes] = field(default_factory=dict)


@dataclass
class Found:
    """Results of damaged files: how many were refused at once, refused later, or used."""

    outcomes: Counter[str] = field(default_factory=Counter)


def kinds(folder: Path) -> dict[str, Kind]:
    """All kinds; the folder gets the seeds."""
    whole, wide = folder / "whole.deriv", folder / "wide.deriv"
    derive(SOURCE, TARGET, LINKS, options=DeriveOptions(drop=True)).save(whole)
    derive(["a b c d", "d a", "b c"], ["B D A C", "A D", "C B"], ["0-2 1-0 2-3 3-1", "0-1 1-0", "0-1 1-0"]).save(wide)
    train = Derivations.load(whole)
    models = []
    for name, settings in (
        ("mle", mle.MLESettings()),
        ("spectral", spectral.SpectralSettings(m=1)),
        ("em", em.EMSettings(m=2, iterations=1)),
    ):
        model = REGISTRY[name].estimate(train, settings)
        model = loglinear.Loglinear().add(
            model, tokens_of(train), SOURCE, loglinear.LoglinearSettings(min_word=1, min_count=1)
        )
        model.save(folder / name)
        models.append(folder / name)
    compress(folder / "em", folder / "low", CPSettings(1))
    REGISTRY["neural"].estimate(train, NETWORK, 1, folder).save(folder / "neural")
    REGISTRY["orientation"].estimate(train, Declared(), 1, folder).save(folder / "orientation")
    models += [folder / name for name in ("low", "neural", "orientation")]
    state = folder / "state"
    em.EMRun(train, SETTINGS, "random", 1, None, state).run()

    def use_derivations(path: Path) -> None:
        _use_derivations(path, train, folder / "mle")

    def use_checkpoint(path: Path) -> None:
        em.EMRun(train, SETTINGS, "random", 1, None, path.parent, True).run()

    def use_neural_checkpoint(path: Path) -> None:
        REGISTRY["neural"].estimate(train, NETWORK, 1, path.parent, True)

    now, best = ((state / name).read_bytes() for name in em.CHECKPOINTS)
    return {
        "derivations": Kind([whole.read_bytes(), wide.read_bytes()], use_derivations),
        "compressed derivations": Kind([whole.read_bytes()], use_derivations, "file.gz"),
        "models": Kind([path.read_bytes() for path in models], _use_model),
        "compressed models": Kind([(folder / "em").read_bytes()], _describe, "file.gz"),
        neural.CHECKPOINT: Kind([(folder / neural.CHECKPOINT).read_bytes()], use_neural_checkpoint, neural.CHECKPOINT),
        checkpoint.CHECKPOINT: Kind([now], use_checkpoint, checkpoint.CHECKPOINT, {checkpoint.BEST: best}),
        checkpoint.BEST: Kind([best], use_checkpoint, checkpoint.BEST, {checkpoint.CHECKPOINT: now}),
    }


def _try(function: Callable[..., object], *arguments: object) -> bool:
    """True if the function finishes; it may refuse its input."""
    try:
        function(*arguments)
        return True
    except LscfgError:
        return False


def _use_derivations(path: Path, train: Derivations, model: Path) -> None:
    file_kind(path)
    trees = Derivations.load(path)
    describe_derivations(path, 3)
    for number in (1, len(trees)):
        _try(show_tree, path, number)
    Yields.of(trees).sentences(trees, 1)
    counted = MinimalRules.of(trees)
    for most in (0, 1):
        _try(write_grammar, path.with_name("grammar"), counted, select_rules(counted, most), 1)
    for name, settings in ESTIMATORS.items():
        _try(_estimate, trees, name, settings, path.with_name("model"))
    _try(neural.NeuralText, trees, neural.Design())
    for pair in ((trees, train), (train, trees)):
        _try(_diagnose, *pair, model)
    text = path.with_name("text")
    text.write_text("".join(f"{line}\n" for line in SOURCE))
    if _try(read_source, text, trees):
        own = loglinear.LoglinearSettings(min_word=1, min_count=1, passes=1)
        _try(loglinear.estimate_context, tokens_of(trees), SOURCE, own)


def _estimate(trees: Derivations, name: str, settings: Declared, path: Path) -> None:
    REGISTRY[name].estimate(trees, settings).save(path)
    assert _try(lambda: Model(path).grammar()), f"the kernel refuses what {name} made"


def _diagnose(train: Derivations, held_out: Derivations, model: Path) -> None:
    diagnosis = Diagnosis(train, held_out)
    format_diagnosis(report(diagnosis, diagnosis.references() + diagnosis.measure_all(model)))


def _describe(path: Path) -> None:
    describe_model(path, 2)


def _use_model(path: Path) -> None:
    file_kind(path)
    opened = _try(Model, path)
    parameters = Parameters.load(path)
    describe_model(path, 3)
    _try(show_states, path, 2)
    if len(parameters.rules):
        _try(show_rule, path, parameters.rules.text(0))
        _try(show_nearest, path, parameters.rules.text(len(parameters.rules) - 1), 2)
    _try(compress, path, path.with_name("low"), CPSettings(2, iterations=3))
    _try(sample, parameters, 3, 1)
    assert opened or not _kernel_can_read(parameters, path), "Python takes a model that the kernel refuses"


def _kernel_can_read(parameters: Parameters, path: Path) -> bool:
    """True if the arrays that Python read make a model that the kernel takes: it should have taken the file, too."""
    parameters.save(path.with_name("again"), parameters.tensors[0].dtype)
    return _try(Model, path.with_name("again"))


def damage(kind: Kind, rng: Random) -> bytes:
    """A damaged file of the kind, not compressed."""
    return rng.choice((mutations, mutate_arrays, mutate_arrays))(rng.choice(kind.seeds), rng)


def attack(kind: Kind, files: int, rng: Random, folder: Path) -> Found:
    """Makes damaged files of a kind and lets everything read them.

    A file that raises anything but an ``LscfgError``, or takes too long, stays in the folder.
    """
    found = Found()
    path = folder / kind.name
    for number in range(files):
        data = damage(kind, rng)
        for name, content in kind.beside.items():  # what the last file was read with may have written there
            (folder / name).write_bytes(content)
        path.write_bytes(gzip.compress(data, 1) if kind.name.endswith(".gz") else data)
        try:
            # numbers may be so large that their products overflow: only that may be reported
            with time_limit(SECONDS), warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore", RuntimeWarning)
                kind.use(path)
            found.outcomes["used"] += 1
        except LscfgError:
            found.outcomes["refused"] += 1
        except BaseException as error:
            error.add_note(f"file {number}: {path}")
            raise
    return found
