"""The experiment file: a TOML whose every key is known, typed and checked before any work."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lscfg.errors import InputError, did_you_mean, quote
from lscfg.estimate.estimator import DEFAULT_ESTIMATOR, ESTIMATORS
from lscfg.extract.extractor import (
    ALIASES,
    EXTRACTORS,
    TREES,
    alignment_fault,
    extractor_names,
    with_boundary,
    with_trees,
)
from lscfg.grammar.table import MAX_TENSOR_ARITY
from lscfg.io.text import decode_text, read_bytes
from lscfg.kernel import (
    FeatureOptions,
    TreeOptions,
)
from lscfg.kinds import ALIGNERS, OPTIMISERS, TEXT_SOURCES, TOKENISERS, kind, kinds
from lscfg.prepare.pairs import source_kind
from lscfg.prepare.settings import PrepareSettings
from lscfg.settings import Declared, SettingError, settings_of
from lscfg.settings_file import Keys, Reader, parse_toml
from lscfg.tuning.experiment.agreement import agreement_fault
from lscfg.tuning.experiment.chosen import read_context, read_kind, read_scorer
from lscfg.tuning.experiment.learned import MARGIN, margin_fault, read_margin
from lscfg.tuning.experiment.monolingual import TABLE, expansion_fault, read_propagation
from lscfg.tuning.experiment.overrides import Overrides, overridden
from lscfg.tuning.experiment.renamed import refuse_old_names
from lscfg.tuning.experiment.schema import (
    DEFAULT_SYSTEMS,
    NO_ESTIMATOR,
    Alignment,
    Chosen,
    Corpus,
    DecoderSettings,
    EvaluationSettings,
    Experiment,
    LanguageModelSettings,
    Monolingual,
    Propagation,
    RawCorpus,
    Report,
    System,
    Tuning,
)

SYSTEM_KEYS = {item.name for item in dataclasses.fields(System)} - {"own", "context", "sense", "margin", "propagation"}
"""Keys of every system."""

NO_START = "none"
RAW = "raw"
"""The key of [corpus] that says which of both its tables it is."""


def read_experiment(path: str | os.PathLike[str], overrides: Overrides | None = None) -> Experiment:
    """The experiment in a TOML file.

    Raises:
        InputError: the file is not TOML, or a key is unknown, missing or of the wrong type, by file and line; or
            something is wrong with the overrides.
    """
    overrides = overrides or Overrides()
    if overrides.data is not None and not overrides.data.is_dir():
        raise InputError("no such folder; --data names the folder of the corpus", overrides.data)
    text = decode_text(read_bytes(path), path)
    table = parse_toml(text, path)
    table.setdefault("systems", DEFAULT_SYSTEMS)
    reader = Reader(Path(path), text, overrides.data)
    experiment = overridden(_build(table, reader), overrides)
    _check(experiment, reader)
    return experiment


def _build(table: dict[str, Any], reader: Reader) -> Experiment:
    """The experiment from its tables; those of kinds have the keys of the kind's settings."""

    def part(name: str) -> dict[str, Any]:
        found = table.pop(name, {})
        if not isinstance(found, dict):
            raise reader.error((name,), f"{name} must be a table")
        return found

    refuse_old_names(table, (), reader)
    corpus = table.get("corpus")
    raw = isinstance(corpus, dict) and reader.value(bool, corpus.pop(RAW, False), ("corpus", RAW))
    rules = {name: part(name) for name in EXTRACTORS.names()}
    made: dict[str, Any] = {
        "sources": {name: reader.build(cls, rules[name], (name,)) for name, cls in EXTRACTORS.settings().items()},
        "context": read_context(part("context"), ("context",), reader),
        "sense": read_scorer(part("sense"), ("sense",), reader),
        "systems": _systems(part("systems"), rules, part(TABLE), reader),
        "tuning": _with_kind(Tuning, OPTIMISERS, "optimiser", "learner", part("tuning"), ("tuning",), reader),
        "alignment": _with_kind(Alignment, ALIGNERS, "model", "aligner", part("alignment"), ("alignment",), reader),
    }
    preparation = part("prepare")
    known = [item.name for item in dataclasses.fields(Experiment) if item.name not in (*made, "prepare")]
    tables = [*known, *rules, TABLE]
    tables += [name for name in made if name != "sources"]
    for name in table:
        if name not in known:
            raise reader.unknown((name,), tables)
    parts = PARTS | {"corpus": RawCorpus} if raw else PARTS
    beside = {"corpus": [RAW]}
    values = {
        name: reader.build(parts[name], part(name), (name,), beside.get(name, ())) for name in known if name in table
    }
    if "corpus" not in values:
        raise reader.error((), "corpus is missing")
    if raw:
        made["prepare"] = _prepare(values["corpus"], preparation, reader)
    elif preparation:
        raise reader.error(("prepare",), "prepare is for raw text: set raw = true in [corpus]")
    return Experiment(**made, **values)


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
"""Tables of the file that have the same keys whatever is chosen in them."""


def _prepare(corpus: RawCorpus, table: Mapping[str, Any], reader: Reader) -> PrepareSettings:
    """The preparation, whose keys are its own and those of its tokeniser and of the files' kind."""
    keys = ("prepare",)
    wanted = reader.value(str, table.get("format", ""), (*keys, "format"))
    if wanted and wanted not in kinds(TEXT_SOURCES):
        raise reader.error(
            (*keys, "format"), f"format must be one of {', '.join(kinds(TEXT_SOURCES))}, not {quote(wanted)}"
        )
    try:
        cls = kind(TEXT_SOURCES, source_kind(corpus.files, wanted)).Settings
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
    return settings


def _with_kind(
    cls: Any,
    group: str,
    key: str,
    own: str,
    table: Mapping[str, Any],
    keys: Keys,
    reader: Reader,
    others: Sequence[str] = (),
) -> Any:
    """The dataclass of a table whose keys are its own and those of the kind that it names.

    Args:
        key: names the kind; own: the field for the kind's settings; others: fields that are no keys either.
    """
    names = {item.name for item in dataclasses.fields(cls)} - {own, *others}
    default = next(item.default for item in settings_of(cls) if item.name == key)
    rest = {key: table.get(key, default)} | {name: value for name, value in table.items() if name not in names}
    chosen = read_kind(group, key, default, rest, keys, reader, sorted(names - {key}))
    made = reader.build(cls, {name: table[name] for name in table if name in names}, keys)
    return dataclasses.replace(made, **{own: chosen.settings})


def _systems(
    tables: Mapping[str, Any], rules: Mapping[str, Any], propagate: Mapping[str, Any], reader: Reader
) -> dict[str, System]:
    """The systems; one with latent features starts by default from the weights of the plain one of its grammar.

    Args:
        rules: by source of rules, the table that all systems share; propagate: that of [propagated].
    """
    read_propagation(propagate, (TABLE,), reader)
    found: dict[str, System] = {}
    for name, table in tables.items():
        keys = ("systems", name)
        if not isinstance(table, dict):
            raise reader.error(keys, f"{name} must be a table")
        refuse_old_names(table, keys, reader)
        table, own = _own_sources(table, rules, keys, reader)
        table, propagation = _own_propagation(table, propagate, keys, reader)
        context = read_context(table.pop("context"), (*keys, "context"), reader) if "context" in table else None
        scorer = read_scorer(table.pop("sense"), (*keys, "sense"), reader) if "sense" in table else None
        margin = read_margin(table.pop(MARGIN), (*keys, MARGIN), reader) if MARGIN in table else None
        if "agree" in table and (other := next((key for key in table if key != "agree"), "")):
            raise reader.error((*keys, other), f"{other} is not for a system that chooses from others' translations")
        system = dataclasses.replace(_system(table, keys, reader), own=own, propagation=propagation)
        system = dataclasses.replace(system, context=context, sense=scorer, margin=margin)
        start = system.start
        if system.start and system.weights_of:
            raise reader.error((*keys, "start"), "start is for a tuning, of which there is none with weights_of")
        if system.estimator and "start" not in table and not system.weights_of:
            start = next((plain for plain, other in found.items() if _is_plain(other, system)), "")
        found[name] = dataclasses.replace(system, start="" if start == NO_START else start)
    return found


def _own_propagation(
    table: Mapping[str, Any], shared: Mapping[str, Any], keys: Keys, reader: Reader
) -> tuple[dict[str, Any], Propagation | None]:
    """The table of a system without that of its propagation, and the settings of this if the system is expanded."""
    rest = {key: value for key, value in table.items() if key != TABLE}
    given = table.get(TABLE, {})
    if not isinstance(given, dict):
        raise reader.error((*keys, TABLE), f"{TABLE} must be a table")
    for key in (TABLE, "states"):
        if table.get(key) and table.get("expand") is not True:
            raise reader.error((*keys, key), f"{key} is for a system with expand = true")
    if table.get("expand") is not True:
        return rest, None
    return rest, read_propagation({**shared, **given}, (*keys, TABLE), reader)


def _is_plain(plain: System, latent: System) -> bool:
    """Whether the first system is the second one without latent features."""
    names = ("grammar", "grammar_file", "trees", "alignment", "own", "expand", "propagation")
    same = all(getattr(plain, name) == getattr(latent, name) for name in names)
    return plain.estimator is None and plain.margin is None and same


def _own_sources(
    table: Mapping[str, Any], rules: Mapping[str, Any], keys: Keys, reader: Reader
) -> tuple[dict[str, Any], dict[str, Declared]]:
    """The table of a system without those in it that are for sources of its rules, and the settings these make.

    What such a table does not say is as in the table that all systems share.
    """
    rest = {key: value for key, value in table.items() if key not in rules}
    own: dict[str, Declared] = {}
    grammar = table.get("grammar", System.grammar)
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


def _system(table: dict[str, Any], keys: Keys, reader: Reader) -> System:
    """A system, whose keys are its own and those of its estimator."""
    own = SYSTEM_KEYS - {"estimator"}
    default = DEFAULT_ESTIMATOR if "features" in table else NO_ESTIMATOR
    name = reader.value(str, table.get("estimator", default), (*keys, "estimator"))
    system: System = reader.build(System, {key: table[key] for key in table if key in own}, keys)
    if name == NO_ESTIMATOR:
        for key in table:
            if key not in (*own, "estimator") or key == "features":
                raise reader.error((*keys, key), f"{key} is not for a system without estimator")
        return system
    if name not in ESTIMATORS.names():
        raise reader.not_one_of((*keys, "estimator"), name, (NO_ESTIMATOR, *ESTIMATORS.names()))
    settings = ESTIMATORS[name].Settings
    known_keys = {item.name for item in settings_of(settings)}
    others = {item.name for other in ESTIMATORS.names() for item in settings_of(ESTIMATORS[other].Settings)}
    for key in table:
        if key in others - known_keys:
            raise reader.error((*keys, key), f"{key} is not for the estimator {name}")
    rest = {key: table[key] for key in table if key not in (*own, "estimator")}
    unknown = [key for key in rest if key not in known_keys]
    if unknown:
        every = (*sorted(own), "estimator", *(item.name for item in settings_of(settings)))
        raise reader.unknown((*keys, unknown[0]), every)
    return dataclasses.replace(system, estimator=Chosen(name, reader.build(settings, rest, keys)))


def _check(experiment: Experiment, reader: Reader) -> None:
    """What the settings by themselves do not say."""
    if not experiment.systems:
        raise reader.error(("systems",), f"no system; leave [systems] out for {', '.join(DEFAULT_SYSTEMS)}")
    _check_systems(experiment, reader)
    if experiment.tuning.optimiser == "forest-mert" and not experiment.decoder.host.GRAPHS:
        raise reader.error(("tuning", "optimiser"), "forest-mert needs the hypergraphs of the embedded decoder")
    for name in experiment.report.charts:
        if name not in experiment.systems or not experiment.systems[name].estimator:
            raise reader.error(("report", "charts"), f"charts: {quote(name)} is no system with an estimator")
    if experiment.evaluation.baseline not in experiment.systems:
        names = ", ".join(experiment.systems)
        raise reader.error(("evaluation", "baseline"), f"baseline must be one of the systems: {names}")
    for name in experiment.evaluation.against:
        if name not in experiment.systems or name == experiment.evaluation.baseline:
            raise reader.error(("evaluation", "against"), f"against: {quote(name)} is no system beside the baseline")


def _check_systems(experiment: Experiment, reader: Reader) -> None:
    before: list[str] = []
    if bool(experiment.monolingual.gold_source) != bool(experiment.monolingual.gold_target):
        raise reader.error(("monolingual",), "gold_source and gold_target are both sides of one text: name both")
    for name, system in experiment.systems.items():
        keys = ("systems", name)
        raw = isinstance(experiment.corpus, RawCorpus)
        if system.propagation and (fault := expansion_fault(experiment.monolingual, system, raw)):
            raise reader.error((*keys, fault.key), fault.message)
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._+-]*", name):
            raise reader.error(keys, "a system's name is made of letters, digits and . _ + -")
        if system.before and system.before not in before:
            key, near = "weights_of" if system.weights_of else "start", did_you_mean(system.before, before)
            raise reader.error((*keys, key), f"{key}: {quote(system.before)} is no system before this one{near}")
        if wrong_choice := agreement_fault(system, experiment.systems, before):
            raise reader.error((*keys, wrong_choice[0]), wrong_choice[1])
        if message := margin_fault(system):
            raise reader.error((*keys, MARGIN), message)
        if system.over_forests and (experiment.derive.binarise or experiment.derive.max_arity < MAX_TENSOR_ARITY):
            message = "forests have all minimal rules: set binarise = false and max_arity = 2 in [derive]"
            raise reader.error((*keys, "forests"), message)
        if system.trees not in (TREES, *with_trees()):
            raise reader.not_one_of((*keys, "trees"), system.trees, (TREES, *with_trees()))
        of_rules = (*ALIASES.get(system.grammar, system.grammar).split("+"), system.trees)
        if wrong := alignment_fault(system.alignment, of_rules):
            raise reader.error((*keys, "alignment"), f"alignment {wrong}")
        if system.over_forests and system.trees != TREES:
            raise reader.error((*keys, "trees"), "trees is not for a system over forests, which are of alignments")
        try:
            extractor_names(system.grammar)
        except InputError as error:
            raise reader.error((*keys, "grammar"), str(error)) from error
        try:
            if system.features:
                FeatureOptions(names=tuple(system.features))
        except SettingError as error:
            raise reader.error((*keys, "features"), f"features {error.requirement}") from error
        for key, needed in (("context", experiment.context_model(system)), ("sense", experiment.scorer(system))):
            if getattr(system, key) and not needed:
                raise reader.error((*keys, key), f"{key} is for a system with an estimator and features of it")
        if experiment.needs_boundary(system):
            learned = with_boundary(system.sources)
            if not learned or not experiment.of(system).sources[learned].facts()["passes"]:
                message = "SpanBoundary needs biparsed rules: add +biparsed to grammar, and passes to [biparsed]"
                raise reader.error((*keys, "features"), message)
        before.append(name)
