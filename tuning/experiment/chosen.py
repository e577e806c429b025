"""Kinds that a table of an experiment file names, with the settings that are its other keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lscfg.kinds import CONTEXT_MODELS, DEFAULT_CONTEXT_MODEL, DEFAULT_SENSE_MODEL, SENSE_MODELS, kind, kinds
from lscfg.settings_file import Keys, Reader
from lscfg.tuning.experiment.schema import Chosen


def read_kind(
    group: str, key: str, default: str, table: dict[str, Any], keys: Keys, reader: Reader, beside: Sequence[str] = ()
) -> Chosen:
    """The kind that a table names, with the settings that are its other keys; ``beside`` as of ``Reader.build``."""
    name = reader.value(str, table.pop(key, default), (*keys, key))
    if name not in kinds(group):
        raise reader.not_one_of((*keys, key), name, kinds(group))
    return Chosen(name, reader.build(kind(group, name).Settings, table, keys, (key, *beside)))


def read_context(table: Any, keys: Keys, reader: Reader) -> Chosen:
    """The context model that a table asks for."""
    return _read_model(CONTEXT_MODELS, DEFAULT_CONTEXT_MODEL, table, keys, reader)


def read_scorer(table: Any, keys: Keys, reader: Reader) -> Chosen:
    """The scorer of target sides that a table asks for."""
    return _read_model(SENSE_MODELS, DEFAULT_SENSE_MODEL, table, keys, reader)


def _read_model(group: str, default: str, table: Any, keys: Keys, reader: Reader) -> Chosen:
    if not isinstance(table, dict):
        raise reader.error(keys, f"{keys[-1]} must be a table")
    return read_kind(group, "model", default, dict(table), keys, reader)
