"""The weight of the soft terms of a glossary, from the development set that a system was tuned on."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lscfg import log
from lscfg.bundle.new_text import EXPERIMENT_MANIFEST
from lscfg.bundle.places import experiment_of
from lscfg.bundle.system import TranslationSystem
from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.decode.glossary import Glossary
from lscfg.decode.inflected import ModelPhrases
from lscfg.decode.sentence_rules import ADDED, TERMINOLOGY
from lscfg.decode.soft_terms import fit_terminology
from lscfg.errors import InputError
from lscfg.io.json_files import read_json
from lscfg.io.read import read_lines
from lscfg.prepare.record import Record

NAME = ADDED[TERMINOLOGY]


def with_soft_terms(
    system: TranslationSystem, place: Path, preparation: Path | None, path: str | os.PathLike[str]
) -> Mapping[str, float]:
    """The weights of a system with the weight of soft terms, which is fitted unless the weights contain it.

    Args:
        place: folder of the system, or its ini file.
        preparation: of raw text.
        path: the glossary.

    Raises:
        InputError: the glossary cannot be read or contains no soft terms, or the system names no development set.
    """
    sides, glossary = None, Glossary.read(path)
    if preparation is not None:
        recipes = Record.read(preparation).sides
        sides = recipes[0].side(), recipes[1].side()
    terms = glossary.prepared(sides, ModelPhrases(system.config)).index()
    if not any(term.mode == "soft" for term in terms.terms):
        raise InputError("contains no soft terms, for which lscfg pack fits a weight; pack without --glossary", path)
    if NAME in system.weights:
        log.info(f"{system.weights_path}: contains {NAME} {system.weights[NAME]:.4g}, which is kept")
        return system.weights
    sentences = read_lines(development_source(place, preparation))
    with EmbeddedDecoder.from_config(system.config, cached=0) as decoder:  # without a second warning of missing weights
        weight = fit_terminology(decoder, system.weights, terms, sentences)
    return system.weights if weight is None else {**system.weights, NAME: weight}


def development_source(place: Path, preparation: Path | None) -> Path:
    """The source side of the development set, in words, of a preparation or of the experiment of a system.

    Raises:
        InputError: neither names a file.
    """
    if preparation is not None:
        found = preparation / f"dev.{Record.read(preparation).sides[0].language}"
        if found.is_file():
            return found
    experiment = experiment_of(place)
    if experiment is not None and (experiment / EXPERIMENT_MANIFEST).is_file():
        try:
            named = read_json(experiment / EXPERIMENT_MANIFEST, dict[str, Any])["settings"]["corpus"]["dev_source"]
        except (InputError, KeyError, TypeError):
            named = None
        if isinstance(named, str) and Path(named).is_file():
            return Path(named)
    raise InputError(
        f"no development set to fit the weight of soft terms; add {NAME} to the weights, or pack a system of lscfg run",
        place,
    )
