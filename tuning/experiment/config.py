"""The experiment file: a TOML whose every key is known, typed and checked before any work."""

from __future__ import annotations

import dataclasses
import math
import os
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from lscfg.corpus.align import AlignmentSettings
from lscfg.errors import InputError
from lscfg.estimate.em import EMSettings
from lscfg.estimate.features import INSIDE, OUTSIDE, FeatureSources
from lscfg.estimate.spectral import SpectralSettings
from lscfg.extract.hiero import HieroLimits
from lscfg.grammar.select import MAX_TARGETS
from lscfg.grammar.table import MAX_ARITY
from lscfg.io.text import read_bytes
from lscfg.kernel import BRACKETINGS, CONTEXT_FEATURES, LATENT_FEATURES, FeatureOptions, feature_names
from lscfg.lm.estimate import check_order
from lscfg.lm.lmplz import ESTIMATORS as LM_ESTIMATORS
from tuning.optimisers import OPTIMISERS

START_WEIGHTS = {
    "LanguageModel": 2.0,
    "LanguageModel_OOV": -1.0,
    "WordPenalty": -2.5,
    "EgivenF": -0.5,
    "FgivenE": -0.7,
    "MaxLexEgivenF": -0.2,
    "MaxLexFgivenE": -0.7,
    "PassThrough": -1.0,
    "LatentTarget": 0.5,
    "LatentSourceN": 0.5,
}
"""Where tuning begins: the signs that the features ought to have, and a word penalty (less than 0 for every word, so
that a negative weight rewards words) that makes the first translations about as long as the references. Features that
are not named start at 0; a system passes over latent features that it does not have."""


@dataclass(frozen=True)
class Corpus:
    """Files of text, tokenised, one sentence a line; relative paths count from the data folder, where the caller names
    one, or else from the experiment file."""

    source: Path
    target: Path
    dev_source: Path
    dev_reference: list[Path]
    test_source: Path
    test_reference: list[Path]
    alignment: list[Path] = field(default_factory=list)
    """Pharaoh alignments of source and target; made by the align stage if not given."""


@dataclass(frozen=True)
class Alignment:
    """Word alignment; see ``lscfg.corpus.align.AlignmentSettings``.

    Raises:
        InputError: a setting is unknown or out of its range, or there is no heuristic.
    """

    model: str = AlignmentSettings.model
    heuristics: list[str] = field(default_factory=lambda: [AlignmentSettings.heuristic, "grow-diag-final-and"])
    """How the two directions are joined: of each of them every pair has a derivation tree and gives Hiero rules."""
    iterations: int | None = AlignmentSettings.iterations
    seed: int = AlignmentSettings.seed

    def __post_init__(self) -> None:
        if not self.heuristics:
            raise InputError("heuristics must name one or more")
        for heuristic in self.heuristics:
            self.joined_by(heuristic)

    def joined_by(self, heuristic: str) -> AlignmentSettings:
        """The settings of one alignment."""
        return AlignmentSettings(self.model, heuristic, self.iterations, self.seed)


@dataclass(frozen=True)
class DeriveSettings:
    """How sentence pairs become derivation trees (see ``lscfg.kernel.DeriveOptions``)."""

    max_arity: int = MAX_ARITY
    binarise: bool = False
    bracketing: str = "normal"


@dataclass(frozen=True)
class GrammarSettings:
    """The minimal grammar."""

    max_targets: int = MAX_TARGETS


@dataclass(frozen=True)
class HieroSettings:
    """The Hiero grammar and its decoder; limits as of ``lscfg.extract.hiero.HieroLimits``."""

    max_phrase: int = 10
    max_target_phrase: int = 0
    max_symbols: int = 5
    max_arity: int = 2
    max_targets: int = MAX_TARGETS
    max_span: int = 15
    """Words that a rule other than glue may cover; takes the place of the decoder's max_span."""

    def __post_init__(self) -> None:
        self.limits()

    def limits(self) -> HieroLimits:
        """What the extraction is told.

        Raises:
            InputError: a limit is out of range.
        """
        return HieroLimits(**{item.name: getattr(self, item.name) for item in dataclasses.fields(HieroLimits)})


@dataclass(frozen=True)
class LanguageModelSettings:
    """The language model of the target side."""

    order: int = 4
    file: Path | None = None
    """An ARPA file to use; estimated from the corpus's target side if not given."""
    estimator: str = "auto"
    """lscfg, lmplz, or auto: lmplz where it is on PATH."""
    discount_fallback: bool = False

    def __post_init__(self) -> None:
        check_order(self.order)
        if self.estimator not in LM_ESTIMATORS:
            raise InputError(f"unknown estimator {self.estimator!r}; known are {', '.join(LM_ESTIMATORS)}")


@dataclass(frozen=True)
class DecoderSettings:
    """The decoder."""

    name: str = "embedded"
    """One of ``DECODERS``; cdec is found on PATH or below CDEC_ROOT."""
    plugin: Path | None = None
    """cdec's shared library with the latent features; the environment variable LSCFG_CDEC_PLUGIN if not given."""
    max_span: int = 100
    pop_limit: int = 200


@dataclass(frozen=True)
class Features:
    """How marginals become features (see ``lscfg.kernel.FeatureOptions``)."""

    log: bool = True
    floor: float = 1e-6
    negative: str = "flip"
    names: list[str] = field(default_factory=lambda: ["paper"])
    """Of systems that do not name their own."""

    def __post_init__(self) -> None:
        FeatureOptions(self.log, self.floor, self.negative)


@dataclass(frozen=True)
class Tuning:
    """Weights learned on the development set."""

    optimiser: str = "mira"
    """One of ``tuning.optimisers.OPTIMISERS``; forest-mert is for the embedded decoder."""
    iterations: int = 15
    kbest: int = 100
    patience: int = 4
    seed: int = 1
    runs: int = 1
    """Independent tunings of each system, with the seeds ``seed``, ``seed + 1``, ..."""
    weights: dict[str, float] = field(default_factory=lambda: dict(START_WEIGHTS))

    def __post_init__(self) -> None:
        for name, weight in self.weights.items():
            if not math.isfinite(weight):
                raise InputError(f"the weight of {name} must be a finite number, not {weight}")


@dataclass(frozen=True)
class Evaluation:
    """The table."""

    baseline: str = "MIN"
    against: list[str] = field(default_factory=list)
    """Further systems that all others are tested against."""
    samples: int = 1000
    """Of the bootstrap."""
    trials: int = 10000
    """Of the approximate randomisation."""
    seed: int = 12345


@dataclass(frozen=True)
class Report:
    """What report.html shows beside the results."""

    charts: list[str] = field(default_factory=list)
    """Systems with a model whose charts are drawn; none: the first of MLE, and of the spectral estimator and EM the one
    with the most states."""
    sentences: list[int] = field(default_factory=list)
    """Lines of the test set, counted from 1, whose charts are drawn; none: those the systems of the charts translate
    most differently."""
    examples: int = 5
    """Sentences that gained most, and as many that lost most, shown of each system."""


@dataclass(frozen=True)
class System:
    """One row of the table: a grammar, and latent features of the minimal one unless ``estimator`` is none."""

    grammar: str = "minimal"
    """minimal, hiero or both: Hiero's rules and the minimal ones, decoded without glue rules."""
    grammar_file: Path | None = None
    """A grammar in cdec's format (.gz allowed) in place of the extracted one; it is decoded as ``grammar`` says."""
    estimator: str = "none"
    m: int = 8
    seed: int = 1
    features: list[str] = field(default_factory=list)
    """Names of its latent features; none: those of [features]."""
    start: str = ""
    """A system before this one, from whose tuned weights its own tuning begins; none: from those of [tuning]."""
    # spectral; max_targets for mle too
    inside: list[str] = field(default_factory=lambda: list(INSIDE))
    outside: list[str] = field(default_factory=lambda: list(OUTSIDE))
    min_count: int = 1
    scaling: bool = True
    smoothing: float = 0.0
    max_targets: int = 0
    src_classes: Path | None = None
    tgt_classes: Path | None = None
    rule_values: Path | None = None
    """Files of the feature templates class and real (see docs/FORMATS.md)."""
    # em and clusters
    iterations: int | None = None
    """25, for clusters 5."""
    restarts: int = 1
    init: str = "random"
    shrink_source: float = 5.0
    shrink_arity: float = 25.0
    held_out: float = 0.0


_EM = ("m", "seed", "iterations", "restarts", "shrink_source", "shrink_arity", "held_out")
_FILES = ("src_classes", "tgt_classes", "rule_values")
_USED = {
    "none": (),
    "mle": ("features", "max_targets"),
    "spectral": (
        *("features", "m", "seed", "inside", "outside", "min_count", "scaling", "smoothing", "max_targets"),
        *_FILES,
    ),
    "em": ("features", *_EM, "init"),
    "clusters": ("features", *_EM),
}
"""Keys of a system that each estimator makes use of, beside those of all systems."""
_OF_ALL = ("grammar", "grammar_file", "estimator", "start")

DECODERS = ("embedded", "cdec", "moses")
GRAMMARS = ("minimal", "hiero", "both")
ESTIMATORS = tuple(_USED)


def em_settings(system: System) -> EMSettings:
    """The settings of a system whose estimator is em or clusters.

    Raises:
        InputError: one of them is out of its range.
    """
    return EMSettings.of(
        system.estimator,
        system.iterations,
        system.init,
        rank=system.m,
        restarts=system.restarts,
        seed=system.seed,
        shrink_source=system.shrink_source,
        shrink_arity=system.shrink_arity,
        held_out=system.held_out,
    )


def spectral_settings(system: System) -> SpectralSettings:
    """The settings of a system whose estimator is spectral.

    Raises:
        InputError: one of them is out of its range, or a feature template unknown.
    """
    return SpectralSettings(
        rank=system.m,
        inside=tuple(system.inside),
        outside=tuple(system.outside),
        seed=system.seed,
        min_count=system.min_count,
        scaling=system.scaling,
        smoothing=system.smoothing,
        max_targets=system.max_targets,
        sources=FeatureSources(system.src_classes, system.tgt_classes, system.rule_values),
    )


@dataclass(frozen=True)
class Experiment:
    """A whole experiment file."""

    corpus: Corpus
    systems: dict[str, System]
    alignment: Alignment = field(default_factory=Alignment)
    derive: DeriveSettings = field(default_factory=DeriveSettings)
    grammar: GrammarSettings = field(default_factory=GrammarSettings)
    hiero: HieroSettings = field(default_factory=HieroSettings)
    language_model: LanguageModelSettings = field(default_factory=LanguageModelSettings)
    decoder: DecoderSettings = field(default_factory=DecoderSettings)
    features: Features = field(default_factory=Features)
    tuning: Tuning = field(default_factory=Tuning)
    evaluation: Evaluation = field(default_factory=Evaluation)
    report: Report = field(default_factory=Report)

    def with_context(self, system: System) -> bool:
        """Whether the system's model has to learn of the words around rules."""
        return not {*CONTEXT_FEATURES}.isdisjoint(self.of(system).features.names)

    def of(self, system: System) -> Experiment:
        """The experiment as the system has it: with its features, without start weights of other latent ones."""
        names = feature_names(system.features or self.features.names) if system.estimator != "none" else ()
        absent = {*LATENT_FEATURES} - {*names}
        weights = {name: value for name, value in self.tuning.weights.items() if name not in absent}
        return dataclasses.replace(
            self,
            features=dataclasses.replace(self.features, names=list(names)),
            tuning=dataclasses.replace(self.tuning, weights=weights),
        )


@dataclass(frozen=True)
class Overrides:
    """What a command line says in place of the experiment file; None: nothing."""

    data: Path | None = None
    """Folder from which relative paths of [corpus] count."""
    runs: int | None = None
    decoder: str | None = None
    systems: list[str] | None = None
    """Only these; where they lack one whose charts the file asks for, the charts are chosen as without it. Nothing is
    tested against a system that is not among them, but for the baseline, which has to be."""


LATENT = {"estimator": "clusters", "m": 16, "iterations": 10, "features": ["ratios", "context"]}
DEFAULT_SYSTEMS: dict[str, dict[str, Any]] = {
    "MIN": {},
    "MLE": {"estimator": "mle"},
    "SPECTRAL": {"estimator": "spectral"},
    "LATENT": {**LATENT, "start": "MIN"},
    "HIERO": {"grammar": "hiero"},
    "HIERO+LATENT": {**LATENT, "grammar": "both", "start": "LATENT"},
}


def read_experiment(path: str | os.PathLike[str], overrides: Overrides | None = None) -> Experiment:
    """The experiment in a TOML file.

    Raises:
        InputError: the file is not TOML, or a key is unknown, missing or of the wrong type, by file and line; or
            something is wrong with the overrides.
    """
    overrides = overrides or Overrides()
    if overrides.data is not None and not overrides.data.is_dir():
        raise InputError("no such folder; --data names the folder of the corpus", overrides.data)
    data = read_bytes(path)
    try:
        text = data.decode("utf-8")
        table = tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise InputError("not valid UTF-8", path, data.count(b"\n", 0, error.start) + 1) from error
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line (\d+)", str(error))
        raise InputError(f"not TOML: {error}", path, int(line[1]) if line else None) from error
    reader = _Reader(Path(path), text, overrides.data)
    table.setdefault("systems", DEFAULT_SYSTEMS)
    experiment = _overridden(reader.build(Experiment, table, ()), overrides)
    _check(experiment, reader)
    for name in experiment.systems:
        estimator = experiment.systems[name].estimator
        for key in table["systems"][name]:
            if key not in (*_OF_ALL, *_USED[estimator]):
                named = "a system without estimator" if estimator == "none" else f"the estimator {estimator}"
                raise reader.error(("systems", name, key), f"{key} is not for {named}")
    return experiment


def _overridden(experiment: Experiment, overrides: Overrides) -> Experiment:
    """The experiment with what the command line says.

    Raises:
        InputError: an unknown system or too few runs.
    """
    if overrides.runs is not None:
        if overrides.runs < 1:
            raise InputError(f"--runs must be at least 1, not {overrides.runs}")
        experiment = dataclasses.replace(experiment, tuning=dataclasses.replace(experiment.tuning, runs=overrides.runs))
    if overrides.decoder is not None:
        decoder = dataclasses.replace(experiment.decoder, name=overrides.decoder)
        experiment = dataclasses.replace(experiment, decoder=decoder)
    if overrides.systems is not None:
        for name in overrides.systems:
            if name not in experiment.systems:
                raise InputError(f"--systems: no system {name!r}; there are {', '.join(experiment.systems)}")
        chosen = {name: item for name, item in experiment.systems.items() if name in overrides.systems}
        for name, system in chosen.items():
            if system.start and system.start not in chosen:
                raise InputError(f"--systems: {name} begins with the weights of {system.start}; give both")
        wanted = experiment.report.charts
        charts = wanted if all(name in chosen for name in wanted) else []
        report = dataclasses.replace(experiment.report, charts=charts)
        against = [name for name in experiment.evaluation.against if name in chosen]
        evaluation = dataclasses.replace(experiment.evaluation, against=against)
        experiment = dataclasses.replace(experiment, systems=chosen, report=report, evaluation=evaluation)
    return experiment


def _check(experiment: Experiment, reader: _Reader) -> None:
    """What types alone do not say."""
    for name, system in experiment.systems.items():
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._+-]*", name):
            raise reader.error(("systems", name), "a system's name is made of letters, digits and . _ + -")
        if system.estimator not in ESTIMATORS:
            raise reader.error(("systems", name, "estimator"), f"estimator must be one of {', '.join(ESTIMATORS)}")
        if system.grammar not in GRAMMARS:
            raise reader.error(("systems", name, "grammar"), f"grammar must be one of {', '.join(GRAMMARS)}")
        before = list(experiment.systems)[: list(experiment.systems).index(name)]
        if system.start and system.start not in before:
            raise reader.error(("systems", name, "start"), f"start: {system.start!r} is no system before this one")
        if system.features:
            _check_features(system.features, ("systems", name, "features"), reader)
        try:
            if system.estimator in ("em", "clusters"):
                em_settings(system)
            elif system.estimator == "spectral":
                spectral_settings(system)
        except InputError as error:
            raise reader.error(("systems", name), str(error)) from error
    _check_features(experiment.features.names, ("features", "names"), reader)
    if not experiment.systems:
        raise reader.error(("systems",), f"no system; leave [systems] out for {', '.join(DEFAULT_SYSTEMS)}")
    if experiment.decoder.name not in DECODERS:
        raise reader.error(("decoder", "name"), f"name must be one of {', '.join(DECODERS)}")
    if experiment.tuning.optimiser not in OPTIMISERS:
        raise reader.error(("tuning", "optimiser"), f"optimiser must be one of {', '.join(OPTIMISERS)}")
    if experiment.tuning.optimiser == "forest-mert" and experiment.decoder.name != "embedded":
        raise reader.error(("tuning", "optimiser"), "forest-mert needs the hypergraphs of the embedded decoder")
    for name in experiment.report.charts:
        if name not in experiment.systems or experiment.systems[name].estimator == "none":
            raise reader.error(("report", "charts"), f"charts: {name!r} is no system with an estimator")
    if any(number < 1 for number in experiment.report.sentences):
        raise reader.error(("report", "sentences"), "sentences count from 1")
    if experiment.evaluation.baseline not in experiment.systems:
        names = ", ".join(experiment.systems)
        raise reader.error(("evaluation", "baseline"), f"baseline must be one of the systems: {names}")
    for name in experiment.evaluation.against:
        if name not in experiment.systems or name == experiment.evaluation.baseline:
            raise reader.error(("evaluation", "against"), f"against: {name!r} is no system beside the baseline")
        if experiment.evaluation.against.count(name) > 1:
            raise reader.error(("evaluation", "against"), f"against: {name!r} is there twice")
    lower_bounds: dict[tuple[str, ...], int] = {
        ("derive", "max_arity"): 0,
        ("grammar", "max_targets"): 1,
        ("hiero", "max_targets"): 1,
        ("hiero", "max_span"): 1,
        ("decoder", "max_span"): 1,
        ("decoder", "pop_limit"): 1,
        ("tuning", "iterations"): 1,
        ("tuning", "kbest"): 1,
        ("tuning", "patience"): 1,
        ("tuning", "seed"): 0,
        ("tuning", "runs"): 1,
        ("evaluation", "samples"): 1,
        ("evaluation", "trials"): 1,
        ("evaluation", "seed"): 1,
        ("report", "examples"): 0,
        **{("systems", name, "m"): 1 for name in experiment.systems},
        **{("systems", name, "max_targets"): 0 for name in experiment.systems},
    }
    for keys, least in lower_bounds.items():
        value: Any = experiment
        for key in keys:
            value = value[key] if isinstance(value, dict) else getattr(value, key)
        if value < least:
            raise reader.error(keys, f"{keys[-1]} must be at least {least}, not {value}")
        if value >= 2**31:
            raise reader.error(keys, f"{keys[-1]} must be at most {2**31 - 1}, not {value}")
    if experiment.derive.max_arity > MAX_ARITY:
        raise reader.error(("derive", "max_arity"), f"max_arity must be at most {MAX_ARITY}")
    if experiment.derive.bracketing not in BRACKETINGS:
        raise reader.error(("derive", "bracketing"), f"bracketing must be one of {', '.join(BRACKETINGS)}")


def _check_features(names: list[str], keys: tuple[str, ...], reader: _Reader) -> None:
    try:
        FeatureOptions(names=tuple(names))
    except InputError as error:
        raise reader.error(keys, str(error)) from error


class _Reader:
    """Turns TOML tables into dataclasses; knows where a key stands, for messages."""

    def __init__(self, path: Path, text: str, data: Path | None):
        self.path, self.lines, self.data = path, text.splitlines(), data

    def error(self, keys: tuple[str, ...], message: str) -> InputError:
        return InputError(message, self.path, self._line(keys))

    def _line(self, keys: tuple[str, ...]) -> int | None:
        """The line that sets the key, or opens the nearest table around it."""
        table: tuple[str, ...] = ()
        nearest = None
        for number, line in enumerate(self.lines, 1):
            if header := re.match(r"\s*\[([^\[\]]+)\]", line):
                table = tuple(part.strip().strip("\"'") for part in header[1].split("."))
                if table == keys[: len(table)]:
                    nearest = number
                if table == keys:
                    return number
            elif setting := re.match(r"\s*([A-Za-z0-9_.\"'+-]+)\s*=", line):
                name = tuple(part.strip("\"'") for part in setting[1].split("."))
                if table + name == keys[: len(table + name)]:
                    nearest = number
        return nearest

    def build(self, kind: Any, table: dict[str, Any], keys: tuple[str, ...]) -> Any:
        """An instance of the dataclass from the table."""
        hints = get_type_hints(kind)
        for name in table:
            if name not in hints:
                known = ", ".join(hints)
                raise self.error((*keys, name), f"unknown key {name!r}; known here are {known}")
        values = {}
        for item in dataclasses.fields(kind):
            if item.name in table:
                values[item.name] = self.value(hints[item.name], table[item.name], (*keys, item.name))
            elif item.default is dataclasses.MISSING and item.default_factory is dataclasses.MISSING:
                raise self.error(keys, f"{'.'.join((*keys, item.name))} is missing")
        try:
            return kind(**values)
        except InputError as error:
            raise self.error(keys, str(error)) from error

    def value(self, hint: Any, found: Any, keys: tuple[str, ...]) -> Any:
        """The value, checked against the type that is expected."""
        if isinstance(hint, UnionType):
            hint = next(argument for argument in get_args(hint) if argument is not type(None))
        if get_origin(hint) is dict:
            if not isinstance(found, dict):
                raise self.error(keys, f"{keys[-1]} must be a table")
            inner = get_args(hint)[1]
            return {name: self.value(inner, item, (*keys, name)) for name, item in found.items()}
        if get_origin(hint) is list:
            items = found if isinstance(found, list) else [found]
            return [self.value(get_args(hint)[0], item, keys) for item in items]
        if dataclasses.is_dataclass(hint):
            if not isinstance(found, dict):
                raise self.error(keys, f"{keys[-1]} must be a table")
            return self.build(hint, found, keys)
        if hint is Path and isinstance(found, str):
            in_corpus = keys[0] == "corpus"
            path = (self.data if in_corpus and self.data else self.path.parent) / found
            if not path.is_file():
                cure = "; name the folder of the corpus with --data" if in_corpus and not self.data else ""
                raise self.error(keys, f"{keys[-1]}: no file {str(path)!r}{cure}")
            return path
        if hint is float and isinstance(found, int) and not isinstance(found, bool):
            return float(found)
        if hint is not Path and type(found) is hint:
            return found
        names = {Path: "a file name", str: "a string", int: "a whole number", float: "a number", bool: "true or false"}
        raise self.error(keys, f"{keys[-1]} must be {names[hint]}, not {found!r}")
