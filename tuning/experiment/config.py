"""Reader of experiment files: a TOML file whose every key is known, typed and checked before any work."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lscfg.corpus.aligner import ALIGNERS
from lscfg.decode.host import DECODER_HOSTS
from lscfg.errors import InputError, counted, did_you_mean, quote
from lscfg.estimate.estimator import ESTIMATORS
from lscfg.extract.extractor import ALIASES, EXTRACTORS, TREES, alignment_fault, extractor_names, with_trees
from lscfg.io.read import decode_text, read_bytes
from lscfg.kernel import FeatureOptions, TreeOptions
from lscfg.kinds import Registry
from lscfg.log import info
from lscfg.prepare.reader import TEXT_READERS, reader_of
from lscfg.prepare.settings import PrepareSettings
from lscfg.prepare.tokeniser import TOKENISERS
from lscfg.settings import Declared, SettingError, settings_of
from lscfg.settings_file import Keys, Reader, parse_toml
from lscfg.tuning.experiment.renamed import refuse_old_names
from lscfg.tuning.experiment.schema import (
    DEFAULT_SYSTEMS,
    Alignment,
    Corpus,
    DecoderSettings,
    EvaluationSettings,
    LanguageModelSettings,
    Monolingual,
    RawCorpus,
    Report,
    Tuning,
    read_chosen,
)
from lscfg.tuning.experiment.steps import STEPS
from lscfg.tuning.experiment.steps.agree import Agree
from lscfg.tuning.experiment.steps.expand import TABLE, read_propagation
from lscfg.tuning.experiment.steps.latent import Latent, read_contexts
from lscfg.tuning.experiment.system import (
    PLAIN_KEYS,
    RULE_KEYS,
    Experiment,
    Fault,
    System,
    SystemRules,
    SystemStep,
)
from lscfg.tuning.optimisers import OPTIMISERS, takes_graphs

SYSTEM_KEYS = {*PLAIN_KEYS, *(key for step in STEPS for key in step.KEYS)}
"""Keys of every system, with any estimator."""

NO_START = "none"
RAW = "raw"
"""The key of [corpus] that chooses between its two tables."""


@dataclass(frozen=True)
class Overrides:
    """Options of a command line that replace keys of the experiment file; None: the key stays."""

    data: Path | None = None
    """Folder that relative paths of [corpus] start from."""
    runs: int | None = None
    decoder: str | None = None
    systems: list[str] | None = None
    """Systems to keep. For a missing system, charts have their default, and no system is tested against it; the first
    kept one of ``against``, or else of all systems, takes the place of a missing baseline."""
    learning_curve: bool = False
    """Train a system on parts of the text, too; no key of the file."""


def read_experiment(path: str | os.PathLike[str], overrides: Overrides | None = None) -> Experiment:
    """Reads the experiment in a TOML file.

    Raises:
        InputError: the file is not TOML, or a key is unknown, missing or of the wrong type, by file and line; or
            an override is wrong.
    """
    overrides = overrides or Overrides()
    if overrides.data is not None and not overrides.data.is_dir():
        raise InputError("no such folder; --data names the folder of the corpus", overrides.data)
    text = decode_text(read_bytes(path), path)
    table = parse_toml(text, path)
    table.setdefault("systems", DEFAULT_SYSTEMS)
    reader = Reader(Path(path), text, overrides.data)
    experiment = _overridden(_build(table, reader), overrides)
    _check(experiment, reader)
    return experiment


# ---- tables ----


PARTS: dict[str, type] = {
    "corpus": Corpus,
    "monolingual": Monolingual,
    "derive": TreeOptions,
    "language_model": LanguageModelSettings,
    "decoder": DecoderSettings,
    "features": FeatureOptions,
    "evaluation": EvaluationSettings,
    "report": Report,
}
"""Tables whose keys do not depend on a choice."""


def _build(table: dict[str, Any], reader: Reader) -> Experiment:
    """The experiment from its tables."""

    def part(name: str) -> dict[str, Any]:
        found = table.pop(name, {})
        if not isinstance(found, dict):
            raise reader.error((name,), f"{name} must be a table")
        return found

    refuse_old_names(table, (), reader)
    corpus = table.get("corpus")
    raw = isinstance(corpus, dict) and reader.value(bool, corpus.pop(RAW, False), ("corpus", RAW))
    rules = {name: part(name) for name in EXTRACTORS.names()}
    shared = {TABLE: part(TABLE)}
    read_propagation(shared[TABLE], (TABLE,), reader)
    made: dict[str, Any] = {
        "extractors": {name: reader.build(cls, rules[name], (name,)) for name, cls in EXTRACTORS.settings().items()},
        "contexts": read_contexts(part("context"), ("context",), reader),
        "systems": _systems(part("systems"), rules, shared, reader),
        "tuning": _with_kind(Tuning, OPTIMISERS, "optimiser", "learner", part("tuning"), ("tuning",), reader),
        "alignment": _with_kind(Alignment, ALIGNERS, "model", "aligner", part("alignment"), ("alignment",), reader),
    }
    preparation = part("prepare")
    refuse_old_names(preparation, ("prepare",), reader)
    known = [item.name for item in dataclasses.fields(Experiment) if item.name not in (*made, "prepare")]
    tables = [*known, *rules, *shared]
    tables += [name for name in made if name != "extractors"]
    for name in table:
        if name not in known:
            raise reader.unknown((name,), tables)
    parts = PARTS | {"corpus": RawCorpus} if raw else PARTS
    others = {"corpus": [RAW]}
    values = {
        name: reader.build(parts[name], part(name), (name,), others.get(name, ())) for name in known if name in table
    }
    if "corpus" not in values:
        raise reader.error((), "corpus is missing")
    if raw:
        made["prepare"] = _prepare(values["corpus"], preparation, reader)
    elif preparation:
        raise reader.error(("prepare",), "prepare is for raw text: set raw = true in [corpus]")
    return Experiment(**made, **values)


def _prepare(corpus: RawCorpus, table: Mapping[str, Any], reader: Reader) -> PrepareSettings:
    """The preparation, with its own keys and those of its tokeniser and reader."""
    keys = ("prepare",)
    if corpus.target and len(corpus.target) != len(corpus.source):
        numbers = f"source has {counted(len(corpus.source), 'file')}, but target has {len(corpus.target)}"
        message = f"{numbers}; name the translation of each file"
        raise reader.error(("corpus", "target"), message)
    wanted = reader.value(str, table.get("format", ""), (*keys, "format"))
    if wanted and wanted not in TEXT_READERS.names():
        raise reader.error(
            (*keys, "format"), f"format must be one of {', '.join(TEXT_READERS.names())}, not {quote(wanted)}"
        )
    try:
        cls = TEXT_READERS[reader_of(corpus.files, wanted)].Settings
    except InputError as error:
        raise reader.error(("corpus",), str(error)) from error
    names = {item.name for item in settings_of(cls)}
    reading = reader.build(cls, {name: table[name] for name in table if name in names}, keys)
    rest = {name: table[name] for name in table if name not in names}
    made = _with_kind(PrepareSettings, TOKENISERS, "tokeniser", "tokenisation", rest, keys, reader, ("reading",))
    settings = dataclasses.replace(made, reading=reading)
    try:
        settings.languages(corpus.files)
    except SettingError as error:
        raise reader.error((*keys, error.name), str(error)) from error
    except InputError as error:
        raise reader.error(keys, str(error)) from error
    for name in ("dev", "test"):
        source, references = getattr(corpus, f"{name}_source"), getattr(corpus, f"{name}_reference")
        if bool(source) != bool(references):
            raise reader.error(("corpus",), f"the {name} set needs both {name}_source and {name}_reference")
        if source and getattr(settings, name):
            raise reader.error((*keys, name), f"{name} is for pairs of the corpus, but the {name} set has files")
        if not source and not getattr(settings, name):
            message = f"no {name} set: name {name}_source and {name}_reference, or set {name} in [prepare]"
            raise reader.error(("corpus",), message)
    result: PrepareSettings = settings
    return result


def _with_kind(
    cls: Any,
    group: Registry[Any],
    key: str,
    own: str,
    table: Mapping[str, Any],
    keys: Keys,
    reader: Reader,
    others: Sequence[str] = (),
) -> Any:
    """The dataclass of a table with its own keys and those of the kind that it names.

    Args:
        key: key with the name of the kind; own: field for the kind's settings; others: fields that are not keys.
    """
    names = {item.name for item in dataclasses.fields(cls)} - {own, *others}
    default = next(item.default for item in settings_of(cls) if item.name == key)
    rest = {key: table.get(key, default)} | {name: value for name, value in table.items() if name not in names}
    chosen = read_chosen(group, key, default, rest, keys, reader, sorted(names - {key}))
    made = reader.build(cls, {name: table[name] for name in table if name in names}, keys)
    return dataclasses.replace(made, **{own: chosen.settings})


# ---- systems ----


def _systems(
    tables: Mapping[str, Any], rules: Mapping[str, Any], shared: Mapping[str, Any], reader: Reader
) -> dict[str, System]:
    """The systems in order.

    Args:
        rules: the table that all systems share, by rule extractor.
        shared: other tables that systems share, by name.
    """
    found: dict[str, System] = {}
    for name, table in tables.items():
        keys = ("systems", name)
        if not isinstance(table, dict):
            raise reader.error(keys, f"{name} must be a table")
        refuse_old_names(table, keys, reader)
        system = _system(table, rules, shared, keys, reader)
        if system.start and system.weights_of:
            raise reader.error(
                (*keys, "start"), "start needs a tuning, but a system with weights_of is not tuned; remove one of them"
            )
        if system.step(Latent) and "start" not in table and not system.weights_of:
            start = next((plain for plain, other in found.items() if _is_plain(other, system)), "")
            system = dataclasses.replace(system, start=start)
        found[name] = dataclasses.replace(system, start="" if system.start == NO_START else system.start)
    return found


def _system(
    table: Mapping[str, Any], rules: Mapping[str, Any], shared: Mapping[str, Any], keys: Keys, reader: Reader
) -> System:
    """A system: steps take their keys from its table; the remaining keys define its rules."""
    rest, own = _own_settings(table, rules, keys, reader)
    steps: dict[str, SystemStep] = {}
    for kind_of_step in STEPS:
        if step := kind_of_step.read(rest, shared, keys, reader):
            steps[step.NAME] = step
    for key in rest:
        if key not in PLAIN_KEYS:
            more = dict.fromkeys(key for step in steps.values() for key in step.known_keys() if key not in SYSTEM_KEYS)
            raise reader.unknown((*keys, key), (*sorted(SYSTEM_KEYS), *more))
    chosen: SystemRules = reader.build(SystemRules, {key: rest[key] for key in rest if key in RULE_KEYS}, keys)
    start, weights_of = (reader.value(str, rest.get(key, ""), (*keys, key)) for key in ("start", "weights_of"))
    only_chooses = any(step.CHOOSES for step in steps.values())
    return System(None if only_chooses else chosen, steps, start, weights_of, own)


def _own_settings(
    table: Mapping[str, Any], rules: Mapping[str, Any], keys: Keys, reader: Reader
) -> tuple[dict[str, Any], dict[str, Declared]]:
    """The table of a system without its tables for rule extractors, and the settings in these.

    Missing keys of such a table come from the table that all systems share.
    """
    rest = {key: value for key, value in table.items() if key not in rules}
    own: dict[str, Declared] = {}
    grammar = table.get("grammar", SystemRules.grammar)
    named = ALIASES.get(grammar, grammar).split("+") if isinstance(grammar, str) else []
    named += [table[key] for key in ("trees", "alignment") if key in table]
    for name in [key for key in table if key in rules]:
        given = table[name]
        if not isinstance(given, dict):
            raise reader.error((*keys, name), f"{name} must be a table")
        if name not in named:
            raise reader.error((*keys, name), f"{name} is for rules that are not in the system's grammar")
        own[name] = reader.build(EXTRACTORS[name].Settings, rules[name] | given, (*keys, name))
    return rest, own


def _is_plain(plain: System, latent: System) -> bool:
    """Compares a system with the second one without latent features."""
    steps = {name: left for name, step in latent.steps.items() if (left := step.without_features())}
    return (plain.rules, plain.own, {**plain.steps}) == (latent.rules, latent.own, steps)


# ---- overrides and checks ----


def _overridden(experiment: Experiment, overrides: Overrides) -> Experiment:
    """The experiment with the overrides of the command line.

    Raises:
        InputError: an unknown decoder or system, or too few runs.
    """
    if overrides.runs is not None:
        try:
            tuning = dataclasses.replace(experiment.tuning, runs=overrides.runs)
        except SettingError as error:
            raise InputError(f"--{error}") from error
        experiment = dataclasses.replace(experiment, tuning=tuning)
    if overrides.decoder is not None:
        hosts = DECODER_HOSTS.names()
        if overrides.decoder not in hosts:
            near = f"{quote(overrides.decoder)}{did_you_mean(overrides.decoder, hosts)}"
            raise InputError(f"--decoder must be one of {', '.join(hosts)}, not {near}")
        decoder = dataclasses.replace(experiment.decoder, name=overrides.decoder)
        experiment = dataclasses.replace(experiment, decoder=decoder)
    if overrides.systems is not None:
        for name in overrides.systems:
            if name not in experiment.systems:
                known = ", ".join(experiment.systems)
                near = did_you_mean(name, experiment.systems)
                raise InputError(f"--systems: no system {quote(name)}; systems are {known}{near}")
        chosen = {name: item for name, item in experiment.systems.items() if name in overrides.systems}
        for name, system in chosen.items():
            if system.before and system.before not in chosen:
                raise InputError(f"--systems: {name} begins with the weights of {system.before}; give both")
            members = agree.members if (agree := system.step(Agree)) else ()
            if absent := [member for member in members if member not in chosen]:
                raise InputError(f"--systems: {name} chooses from translations of {', '.join(absent)}; give these, too")
        wanted = experiment.report.charts
        charts = wanted if all(name in chosen for name in wanted) else ()
        report = dataclasses.replace(experiment.report, charts=charts)
        evaluation = _tests_among(experiment.evaluation, [*chosen], experiment.systems)
        experiment = dataclasses.replace(experiment, systems=chosen, report=report, evaluation=evaluation)
    return experiment


def _tests_among(
    evaluation: EvaluationSettings, chosen: Sequence[str], systems: Mapping[str, System]
) -> EvaluationSettings:
    """The tests that remain if only some of the systems are kept."""
    against = tuple(name for name in evaluation.against if name in chosen)
    if not chosen or evaluation.baseline in chosen or evaluation.baseline not in systems:
        return dataclasses.replace(evaluation, against=against)
    baseline = (*against, *chosen)[0]
    if len(chosen) > 1:
        info(f"--systems leaves out the baseline {evaluation.baseline}; other systems are tested against {baseline}")
    return dataclasses.replace(evaluation, baseline=baseline, against=tuple(one for one in against if one != baseline))


def _check(experiment: Experiment, reader: Reader) -> None:
    """Checks that need several tables."""
    if not experiment.systems:
        raise reader.error(("systems",), f"no system; leave [systems] out for {', '.join(DEFAULT_SYSTEMS)}")
    if bool(experiment.monolingual.gold_source) != bool(experiment.monolingual.gold_target):
        raise reader.error(("monolingual",), "gold_source and gold_target are both sides of one text: name both")
    before: list[str] = []
    for name, system in experiment.systems.items():
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._+-]*", name):
            raise reader.error(("systems", name), "a system's name may contain letters, digits and . _ + -")
        if fault := _fault(system, experiment, before):
            raise reader.error(("systems", name, fault.key), fault.message)
        before.append(name)
    optimiser = experiment.tuning.optimiser
    if takes_graphs(optimiser) and not experiment.decoder.host.GRAPHS:
        raise reader.error(("tuning", "optimiser"), f"{optimiser} needs the hypergraphs of the embedded decoder")
    if OPTIMISERS[optimiser].BLEU_ONLY and experiment.tuning.metric != "bleu":
        raise reader.error(("tuning", "metric"), f"{optimiser} tunes for BLEU only; leave out metric")
    for name in experiment.report.charts:
        latent = experiment.systems[name].step(Latent) if name in experiment.systems else None
        if not latent or not ESTIMATORS[latent.estimator.name].RULES:
            raise reader.error(
                ("report", "charts"), f"charts: {quote(name)} is not a system with an estimator of rules"
            )
    if experiment.evaluation.baseline not in experiment.systems:
        names = ", ".join(experiment.systems)
        raise reader.error(("evaluation", "baseline"), f"baseline must be one of the systems: {names}")
    for name in experiment.evaluation.against:
        if name not in experiment.systems or name == experiment.evaluation.baseline:
            raise reader.error(("evaluation", "against"), f"against: {quote(name)} is not a system, or is the baseline")


def _fault(system: System, experiment: Experiment, before: Sequence[str]) -> Fault | None:
    """The first fault of a system among the systems before it."""
    if system.before and system.before not in before:
        key, near = "weights_of" if system.weights_of else "start", did_you_mean(system.before, before)
        return Fault(key, f"{key}: {quote(system.before)} is not an earlier system{near}")
    if system.before and not experiment.systems[system.before].tuned:
        return Fault("start", f"start: {system.before} chooses from others, and has no weights")
    if (rules := system.rules) and (fault := _rules_fault(rules)):
        return fault
    return next((fault for step in system.steps.values() if (fault := step.check(system, experiment, before))), None)


def _rules_fault(rules: SystemRules) -> Fault | None:
    if rules.trees not in (TREES, *with_trees()):
        known = (TREES, *with_trees())
        near = did_you_mean(rules.trees, known)
        return Fault("trees", f"trees must be one of {', '.join(known)}, not {quote(rules.trees)}{near}")
    others = (*ALIASES.get(rules.grammar, rules.grammar).split("+"), rules.trees)
    if wrong := alignment_fault(rules.alignment, others):
        return Fault("alignment", f"alignment {wrong}")
    try:
        extractor_names(rules.grammar)
    except InputError as error:
        return Fault("grammar", str(error))
    return None
