"""Monolingual text in an experiment file: where it is, and how translations of its phrases are found."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple

from lscfg.induce.propagated.phrases import PhraseSettings
from lscfg.induce.propagated.spaces import GraphSettings
from lscfg.induce.propagated.spread import GOLD, PropagationSettings
from lscfg.settings import Declared, settings_of
from lscfg.settings_file import Keys, Reader
from lscfg.tuning.experiment.schema import Monolingual, Propagation, System

TABLE = "propagated"
"""The table of experiment files, and of their systems, with the settings of propagation."""


PARTS: dict[str, type[Declared]] = {"phrases": PhraseSettings, "graph": GraphSettings, "rules": PropagationSettings}


def read_propagation(table: Mapping[str, Any], keys: Keys, reader: Reader) -> Propagation:
    """The settings of a table.

    Raises:
        InputError: a key is unknown, or a value is out of its range.
    """
    names = {part: {item.name for item in settings_of(cls)} for part, cls in PARTS.items()}
    every = sorted(set().union(*names.values()))
    for name in table:
        if name not in every:
            raise reader.unknown((*keys, name), every)
    made = {
        part: reader.build(cls, {name: table[name] for name in table if name in names[part]}, keys)
        for part, cls in PARTS.items()
    }
    return dataclasses.replace(Propagation(), **made)


class Fault(NamedTuple):
    """What is wrong with a key of a system."""

    key: str
    message: str


def expansion_fault(texts: Monolingual, system: System, raw: bool) -> Fault | None:
    """What a system that is expanded lacks.

    Args:
        raw: the text is raw.
    """
    assert system.propagation is not None
    rules = system.propagation.rules
    if raw:
        return Fault("expand", "expand is for tokenised text, not for raw = true")
    if not texts.source or not texts.target:
        return Fault("expand", "expand needs text: name source and target in [monolingual]")
    if "decoder" in rules.candidates and not system.before:
        message = "start must name the system whose translations are candidates; or leave decoder out of candidates"
        return Fault("start", message)
    if rules.method == GOLD and not (texts.gold_source and texts.gold_target):
        return Fault("expand", "method gold needs gold_source and gold_target in [monolingual]")
    if system.states and not system.estimator:
        return Fault("states", "states is not for a system without estimator")
    return None
