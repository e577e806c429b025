"""The files that ``lscfg init`` writes: an experiment, and a decoder's configuration with start weights."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from lscfg import log
from lscfg.errors import InputError
from lscfg.estimate.estimator import ESTIMATORS
from lscfg.extract.extractor import EXTRACTORS, Decoding, extractor_names
from lscfg.formats.ini import DecoderConfig, LatentFeature
from lscfg.io.folders import path_from
from lscfg.kernel import DEFAULT_FEATURES, FeatureOptions, Grammar, TreeOptions, feature_names
from lscfg.kernel.forest import live_features
from lscfg.model.parameters import Parameters
from lscfg.prepare.reader import TEXT, TEXT_READERS
from lscfg.prepare.settings import PrepareSettings
from lscfg.prepare.tokeniser import TOKENISERS
from lscfg.settings import Declared, Setting, settings_of
from lscfg.tuning.experiment import schema
from lscfg.tuning.experiment.schema import DEFAULT_SYSTEMS, START_WEIGHTS
from lscfg.tuning.experiment.stages.decoding import decoder_config
from lscfg.tuning.experiment.system import DecoderFiles, SystemDecoder

CORPUS = {
    "source": ("train.src", "source side of the training text"),
    "target": ("train.tgt", "target side of the training text"),
    "dev_source": ("dev.src", "source side of the text to tune on"),
    "dev_reference": ("dev.tgt", "its reference, or a list of references"),
    "test_source": ("test.src", "source side of the text to test on"),
    "test_reference": ("test.tgt", "its reference, or a list of references"),
}
"""Keys of [corpus]: a placeholder for a file that is not given, and the meaning."""

SMALL_TEXT: dict[str, dict[str, object]] = {"language_model": {"discount_fallback": True}}
"""Settings of new experiments: a text that is too small for its discounts stops no run; others do not change."""

MOST_HELD_OUT = 1000
"""Most pairs of raw text that dev and test get each."""


def held_out_size(pairs: int) -> int:
    """The number of pairs to draw for dev, and for test, from a corpus of raw text.

    It is a twentieth of the pairs, but at least 100, since fewer rarely distinguish two systems, at most 15 %, and at
    most ``MOST_HELD_OUT``.
    """
    return max(1, min(MOST_HELD_OUT, max(100, pairs // 20), pairs * 15 // 100))


def experiment_text(
    corpus: Mapping[str, str | list[str]],
    prepare: Mapping[str, object] | None = None,
    systems: Mapping[str, Mapping[str, Any]] = DEFAULT_SYSTEMS,
    tables: Mapping[str, Mapping[str, object]] | None = None,
) -> str:
    """Writes an experiment file with the keys that most users may want to change, their defaults and meanings.

    Args:
        corpus: a file, or several, by the key of [corpus]; missing files appear as placeholders.
        prepare: settings of [prepare], and of its reader and tokeniser, if the files are raw text; None if their words
            are separated by blanks.
        tables: settings of other tables, by their names, that are not the defaults.
    """
    against = ["HIERO"] if "HIERO" in systems else []
    parts: list[tuple[str, type[Declared], dict[str, object]]] = [
        ("alignment", schema.Alignment, {}),
        ("derive", TreeOptions, {}),
        *((name, EXTRACTORS[name].Settings, {}) for name in ("minimal", "hiero")),
        ("language_model", schema.LanguageModelSettings, {}),
        ("decoder", schema.DecoderSettings, {}),
        ("tuning", schema.Tuning, {}),
        ("evaluation", schema.EvaluationSettings, {"against": against}),
        ("report", schema.Report, {}),
    ]
    lines = ["# An experiment for lscfg run. Paths are relative to its folder.", "", "[corpus]"]
    files = [(key, corpus.get(key, name), text) for key, (name, text) in CORPUS.items()]
    if prepare is not None:
        lines += ["raw = true  # untokenised text; see [prepare]"]
        wanted = {*corpus} or {"source", "target"}  # a file of pairs has no separate target
        files = [(key, name, text) for key, name, text in files if key in wanted]
        parts.insert(0, ("prepare", PrepareSettings, dict(prepare)))
    lines += _aligned((f"{key} = {_toml(_single(name))}", text) for key, name, text in files)
    for table, cls, own in parts:
        given = {**own, **(tables or {}).get(table, {})}
        items = list(settings_of(cls))
        if table == "prepare":
            kinds = (
                TEXT_READERS[str(given.get("format") or TEXT)],
                TOKENISERS[str(given.get("tokeniser") or PrepareSettings().tokeniser)],
            )
            items += [item for kind in kinds for item in settings_of(kind.Settings) if item.name in given]
        lines += ["", f"[{table}]", *_aligned(_line(item, given) for item in items)]
    for name, system in systems.items():
        lines += ["", f"[systems.{_toml(name) if '+' in name else name}]", *_system(system)]
    return "\n".join(lines) + "\n"


def _system(settings: Mapping[str, Any]) -> list[str]:
    """The keys of a system, with the most important ones of its estimator."""
    helps = {
        "grammar": "rules: minimal, hiero, phrases, sampled, biparsed, both, or several joined by +",
        "estimator": "of the hidden states",
        "features": "families of latent features",
        "start": "system whose tuned weights tuning starts from",
        "agree": "member systems of the consensus",
    }
    if "estimator" in settings:
        settings = {**settings, "features": DEFAULT_FEATURES.split(","), "start": settings.get("start", "MIN")}
    lines = [(f"{key} = {_toml(value)}", helps[key]) for key, value in settings.items()]
    if "estimator" in settings:
        own = settings_of(ESTIMATORS[settings["estimator"]].Settings)
        lines += [_line(item, {}) for item in own if item.name in ("m", "iterations")]
    return _aligned(lines)


def _line(item: Setting, given: Mapping[str, object]) -> tuple[str, str]:
    """A key with its value, and its meaning; a key without a default is a comment."""
    value = given.get(item.name, item.default)
    text = item.meaning()
    if value in (None, (), ""):
        shown = item.default_text().replace("`", "")
        return f"# {item.name} =", f"{text} (default: {shown})"
    choices = f" ({item.limits})" if item.limits.choices and not item.many else ""
    return f"{item.name} = {_toml(value)}", text + choices


def _single(value: str | list[str]) -> str | list[str]:
    """One file of a list by itself."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def _aligned(lines: Iterator[tuple[str, str]] | list[tuple[str, str]]) -> list[str]:
    found = list(lines)
    width = max(len(line) for line, _ in found) if found else 0
    return [f"{line:<{width}}  # {text}" for line, text in found]


def _toml(value: object) -> str:
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)


def decoder_files(
    folder: Path, rules: Path, language_model: Path, model: Path | None, grammar: str, library: Path | None = None
) -> tuple[DecoderConfig, dict[str, float]]:
    """A configuration with paths relative to its folder, and the start weights of a tuning.

    Args:
        model: gives latent features, those that are recommended for the grammar.
        grammar: kind of the rules, as in ``grammar`` of a system.
        library: library with the latent features for cdec.

    Raises:
        InputError: the kind is unknown, or the model cannot be read or lacks the features of Hiero rules.
    """
    sources = extractor_names(grammar)
    families = ("context",) if sources == ("hiero",) else ("ratios", "context")
    if model and Parameters.load(model).context is None:
        if families == ("context",):
            raise InputError(
                "has no context model, the source of all features for Hiero rules; add one with lscfg context", model
            )
        log.warning(f"{model}: no context model, so the features are ratios alone; lscfg context adds one")
        families = ("ratios",)
    decoding = Decoding.joined([_decoding(name) for name in sources])
    settings = SystemDecoder(schema.DecoderSettings(), decoding, FeatureOptions(names=families))
    files = DecoderFiles(rules, language_model, model)
    made = decoder_config(settings, folder, files)
    if made.latent is not None:
        unknown = {key: made.latent.options[key] for key in ("unknown",) if key in made.latent.options}
        short = {"model": made.latent.options["model"], "features": ",".join(families), **unknown}
        made = replace(made, latent=LatentFeature(short, str(library.resolve()) if library else None))
    latent = feature_names(families) if model else ()
    read = Grammar()
    read.read(rules)
    others = ("LanguageModel", "LanguageModel_OOV", "WordPenalty", "PassThrough")
    names = [*live_features(read), *latent, *others]
    return made, {name: START_WEIGHTS.get(name, 0.0) for name in names}


def _decoding(name: str) -> Decoding:
    source = EXTRACTORS[name]
    return source.decoding(source.Settings())


def relative(path: str, folder: Path) -> str:
    """The path relative to the folder.

    Raises:
        InputError: the file does not exist.
    """
    if not os.path.isfile(path):
        raise InputError("no such file", path)
    return path_from(folder, path)
