"""Former names of tables and grammars in experiment files."""

from __future__ import annotations

from collections.abc import Mapping

from lscfg.settings_file import Keys, Reader

TABLES = {
    "grammar": "minimal",
    "sampling": "sampled",
    "induce": "biparsed",
    "propagate": "propagated",
    "sense": "context",
}
"""The new name of a table by its old one."""

GRAMMARS = {"induced": "biparsed"}
"""The new name of a rule extractor by its old one, in the keys ``grammar``, ``trees`` and ``alignment``."""


def refuse_old_names(table: Mapping[str, object], keys: Keys, reader: Reader) -> None:
    """Checks the names in a table of an experiment file.

    Args:
        keys: of the table; empty for the file itself, else those of a system.

    Raises:
        InputError: a name is an old one; the message has the new one.
    """
    for key, value in table.items():
        if key in TABLES and isinstance(value, dict):
            raise reader.error((*keys, key), f"the table {key} is now called {TABLES[key]}")
        if key in ("grammar", "trees", "alignment") and isinstance(value, str):
            for name in value.split("+"):
                if keys and name in GRAMMARS:
                    raise reader.error((*keys, key), f"{key}: {name} is now called {GRAMMARS[name]}")
