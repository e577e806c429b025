"""Systems with weights of rules and words that are learned on the training text (``margin``)."""

from __future__ import annotations

from typing import Any

from lscfg.errors import InputError
from lscfg.extract.extractor import EXTRACTORS
from lscfg.settings_file import Keys, Reader
from lscfg.tuning.experiment.schema import System
from lscfg.tuning.margin.settings import MarginSettings

MARGIN = "margin"
"""The table of a system that asks for them."""


def read_margin(table: Any, keys: Keys, reader: Reader) -> MarginSettings:
    """The settings in a system's table, which may be empty."""
    if not isinstance(table, dict):
        raise reader.error(keys, f"{MARGIN} must be a table, such as {{ passes = 2 }}")
    made: MarginSettings = reader.build(MarginSettings, table, keys)
    return made


def margin_fault(system: System) -> str:
    """What is wrong with a system that asks for learned weights; empty if nothing is."""
    if system.margin is None:
        return ""
    if system.agree:
        return "margin is not for a system that chooses from others' translations"
    if not system.start:
        return "margin learns beside the tuned weights of a system with the same rules: name it with start"
    if system.estimator or system.expand or system.grammar_file:
        return "margin is for rules of the training text without latent features"
    try:
        sources = system.sources
    except InputError:  # told of the grammar itself
        return ""
    if len(sources) > 1 or EXTRACTORS[sources[0]].NEEDS != ("text",):
        return "margin is for the rules of one extractor that needs text alone, such as hiero or biparsed"
    return ""
