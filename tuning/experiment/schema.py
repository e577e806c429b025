"""Dataclasses of an experiment: tables of its file, its systems, and the defaults of both."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lscfg import kernel
from lscfg.corpus.align import HEURISTICS, AlignmentSettings
from lscfg.corpus.aligner import ALIGNERS
from lscfg.decode.host import DECODER_HOSTS, EMBEDDED, DecoderHost
from lscfg.errors import InputError, quote
from lscfg.estimate.estimator import DEFAULT_ESTIMATOR
from lscfg.formats.ini import UNKNOWN_WORDS
from lscfg.functions.function import FEATURE_FUNCTIONS, FunctionLine
from lscfg.kinds import Registry
from lscfg.lm.estimate import MAX_ORDER, MIN_ORDER
from lscfg.lm.lmplz import ESTIMATORS as LM_ESTIMATORS
from lscfg.settings import LARGEST, Declared, Setting, SettingError, setting, settings_of
from lscfg.settings_file import Keys, Reader
from lscfg.tuning.evaluate import MAX_SAMPLES
from lscfg.tuning.tune import TuneSettings, is_feature_name

START_WEIGHTS = {
    "LanguageModel": 2.0,
    "LanguageModel_OOV": -1.0,
    "WordPenalty": -2.5,
    "EgivenF": -0.5,
    "FgivenE": -0.7,
    "MaxLexEgivenF": -0.2,
    "MaxLexFgivenE": -0.7,
    "PassThrough": -1.0,
    **kernel.START_WEIGHTS,
}
"""Start of a tuning: the expected sign of each feature, and a word penalty (less than 0 for every word, so that a
negative weight rewards words) that makes the first translations about as long as the references. Other features
start at 0. Latent features that a system lacks are left out."""

DEFAULT_SYSTEMS: dict[str, dict[str, object]] = {
    "MIN": {},
    "HIERO": {"grammar": "hiero"},
    "LATENT": {"estimator": DEFAULT_ESTIMATOR},
    "HIERO+LATENT": {"estimator": DEFAULT_ESTIMATOR, "grammar": "both", "start": "LATENT"},
    "SAMPLED+LATENT": {"estimator": DEFAULT_ESTIMATOR, "grammar": "sampled+minimal", "start": "LATENT"},
    "AGREED": {"agree": ["HIERO+LATENT", "SAMPLED+LATENT"]},
}


@dataclass(frozen=True)
class Corpus:
    """Files of tokenised text, one sentence per line.

    Relative paths start from the data folder, if the caller names one, else from the folder of the experiment file.
    """

    source: Path
    target: Path
    dev_source: Path
    dev_reference: list[Path]
    test_source: Path
    test_reference: list[Path]
    alignment: list[Path] = field(default_factory=list)
    """Pharaoh alignments of source and target; without any, the aligner makes them."""


@dataclass(frozen=True)
class RawCorpus:
    """Files of raw text, from which [prepare] makes a corpus; paths as in ``Corpus``."""

    source: list[Path]
    target: list[Path] = field(default_factory=list)
    """The translation of each file of ``source``; empty if the files have both sides."""
    dev_source: Path | None = None
    """None if pairs of the text are set aside."""
    dev_reference: list[Path] = field(default_factory=list)
    test_source: Path | None = None
    test_reference: list[Path] = field(default_factory=list)

    @property
    def files(self) -> tuple[Path, ...]:
        """The files of the training text: each source, before its translation if that is another file."""
        parts = zip(self.source, self.target, strict=True) if self.target else zip(self.source, strict=True)
        return tuple(path for part in parts for path in part)

    def held_out(self, name: str) -> tuple[Path, ...]:
        """Source and references of the dev or test set; none if pairs of the text are set aside."""
        source, references = getattr(self, f"{name}_source"), getattr(self, f"{name}_reference")
        return (source, *references) if source else ()


@dataclass(frozen=True)
class Monolingual:
    """Text of either side without translations; paths as in ``Corpus``."""

    source: list[Path] = field(default_factory=list)
    target: list[Path] = field(default_factory=list)
    lm: bool = True
    """True: the language model of all systems learns from the target text, too."""
    gold_source: Path | None = None
    """A larger parallel text: its rules measure the quality of the lists, and replace propagation with method gold."""
    gold_target: Path | None = None


@dataclass(frozen=True)
class Chosen:
    """A kind with its settings."""

    name: str
    settings: Declared
    version: int = 1
    """Version of the kind, for the keys of stages."""

    @classmethod
    def of(cls, kind: Any, name: str, settings: Declared) -> Chosen:
        """A kind that is found under a name."""
        return cls(name, settings, kind.VERSION)

    def only(self, *parts: str) -> Chosen:
        """The kind with default values for the settings that matter to other parts of the work only."""
        found = {item.name: getattr(self.settings, item.name) for item in _of_parts(type(self.settings), parts)}
        return dataclasses.replace(self, settings=type(self.settings)(**found))


def _of_parts(cls: type[Declared], parts: tuple[str, ...]) -> list[Setting]:
    return [item for item in settings_of(cls) if item.kind is Path or item.part in parts]


@dataclass(frozen=True)
class Alignment(Declared):
    """Word alignment; see ``lscfg.corpus.align.AlignmentSettings``. Further keys are settings of the aligner.

    Raises:
        InputError: a setting is unknown or out of its range, or no heuristic is named.
    """

    model: str = setting(AlignmentSettings.model, "aligner", choices=ALIGNERS.names())
    heuristics: tuple[str, ...] = setting(
        (AlignmentSettings.heuristic, "grow-diag-final-and"),
        "ways to join the two directions; each gives every pair a tree and Hiero rules",
        choices=HEURISTICS,
    )
    aligner: Declared | None = None
    """Settings of the aligner; None: its defaults."""

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "aligner", self.joined_by(self.heuristics[0]).aligner)

    def joined_by(self, heuristic: str) -> AlignmentSettings:
        """Settings of one alignment."""
        return AlignmentSettings(self.model, heuristic, self.aligner)


@dataclass(frozen=True)
class LanguageModelSettings(Declared):
    """The language model of the target side."""

    order: int = setting(4, "order of the n-grams", least=MIN_ORDER, most=MAX_ORDER)
    file: Path | None = setting(None, "ARPA file to use; without one, the model is estimated from the target side")
    estimator: str = setting(
        LM_ESTIMATORS[0], "estimator: lscfg's own, in memory, or KenLM's lmplz, on disk", choices=LM_ESTIMATORS
    )
    discount_fallback: bool = setting(False, "default discounts if the text is too small to estimate them")


@dataclass(frozen=True)
class DecoderSettings(Declared):
    """The decoder."""

    name: str = setting(EMBEDDED, "decoder, built in or an installed program", choices=DECODER_HOSTS.names())
    plugin: Path | None = setting(None, "cdec's library with the latent features", shown="`LSCFG_CDEC_PLUGIN`")
    max_span: int = setting(100, "maximum words that a rule covers", least=1)
    pop_limit: int = setting(200, "candidates of each node in cube pruning", least=1)
    unknown: str = setting(
        UNKNOWN_WORDS[0],
        "translations of unknown words: the words themselves, or also translations of similar words",
        choices=UNKNOWN_WORDS,
    )
    functions: tuple[str, ...] = setting((), "further feature functions, such as Letters and Copies")

    def __post_init__(self) -> None:
        super().__post_init__()
        for key, usual in (("unknown", UNKNOWN_WORDS[0]), ("functions", ())):
            if self.name != EMBEDDED and getattr(self, key) != usual:
                raise SettingError(key, f"is for the embedded decoder, not for {self.name}")
        for text in self.functions:
            name, *arguments = text.split() or [""]
            if name not in FEATURE_FUNCTIONS:
                known = ", ".join(FEATURE_FUNCTIONS)
                raise SettingError("functions", f"must be from {known}, not {quote(text)}")
            try:
                FunctionLine(name, tuple(arguments)).names()
            except InputError as error:
                raise SettingError("functions", f"must have suitable arguments; {error}") from None

    @property
    def lines(self) -> tuple[FunctionLine, ...]:
        """The feature functions."""
        words = [text.split() for text in self.functions]
        return tuple(FunctionLine(name, tuple(arguments)) for name, *arguments in words)

    @property
    def host(self) -> DecoderHost:
        """The kind of decoder."""
        return DECODER_HOSTS[self.name]

    def programs(self, latent: bool) -> dict[str, Path]:
        """The files outside the experiment on which the output depends; see ``DecoderHost.programs``."""
        return self.host.programs(latent, self.plugin)


@dataclass(frozen=True)
class Tuning(TuneSettings):
    """Weights learned on the development set."""

    runs: int = setting(1, "tunings of each system, with the seeds `seed`, `seed` + 1, ...", least=1, most=1000)
    latent_starts: tuple[float, ...] = setting(
        (0.0, 0.4),
        "start weights of latent features, as shares of the language model's weight; the best tuning is kept",
        least=0,
        most=10,
    )
    weights: dict[str, float] = field(default_factory=lambda: dict(START_WEIGHTS))
    """Start weights."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.seed + self.runs - 1 > LARGEST:
            raise SettingError("seed", f"of the last of {self.runs} runs must be at most {LARGEST}")
        for name, weight in self.weights.items():
            if not is_feature_name(name):
                raise SettingError("weights", f"must name features; {quote(name)} cannot name one")
            if not math.isfinite(weight):
                raise SettingError("weights", f"must be finite numbers; that of {name} is {weight}")


@dataclass(frozen=True)
class EvaluationSettings(Declared):
    """The table."""

    baseline: str = setting("MIN", "system that all others are tested against")
    against: tuple[str, ...] = setting((), "further systems that all others are tested against")
    samples: int = setting(1000, "samples of the bootstrap", least=1, most=MAX_SAMPLES)
    trials: int = setting(10000, "trials of the approximate randomisation", least=1, most=MAX_SAMPLES)
    seed: int = setting(12345, "seed of both tests", least=1)


@dataclass(frozen=True)
class Report(Declared):
    """Content of further sections of report.html."""

    charts: tuple[str, ...] = setting(
        (), "systems whose charts are drawn; each needs a model", shown="of each estimator the one with the most states"
    )
    sentences: tuple[int, ...] = setting(
        (),
        "lines of the test set whose charts are drawn, counted from 1",
        least=1,
        shown="those that the systems translate most differently",
    )
    derivations: int = setting(
        40,
        "sentences whose derivations are shown, in the embedded decoder: those that systems translate differently",
        least=0,
    )
    examples: int = setting(5, "number of sentences shown with the largest gains, and with the largest losses", least=0)


def read_chosen(
    group: Registry[Any],
    key: str,
    default: str,
    table: object,
    keys: Keys,
    reader: Reader,
    others: Sequence[str] = (),
) -> Chosen:
    """The kind that a table names, with its settings, which are the other keys.

    Args:
        key: the key that names the kind.
        others: further keys of the file's table, for messages.
    """
    if not isinstance(table, dict):
        raise reader.error(keys, f"{keys[-1]} must be a table")
    name = reader.value(str, table.get(key, default), (*keys, key))
    if name not in group.names():
        raise reader.not_one_of((*keys, key), name, group.names())
    own = {item: value for item, value in table.items() if item != key}
    found = group[name]
    return Chosen.of(found, name, reader.build(found.Settings, own, keys, (key, *others)))
