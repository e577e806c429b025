"""Values of declared settings that are not the defaults, each another one, as options and as keys of TOML files."""

import json
from pathlib import Path
from typing import Any

from lscfg.settings import Declared, Setting, settings_of

BESIDE: dict[str, dict[str, Any]] = {
    "resample": {"tables": "exact"},
    "length": {"base": "uniform"},
    "start_temperature": {"burn_in": 2},
    "approximate": {"space": "svd"},
}
"""Settings that the other value of a setting requires."""


NAMES = {
    "names": ("LatentSpan", "LatentMarginal"),
    "functions": ("Letters", "Copies"),
    "pieces": ("target:unigram:21",),
}
"""Values of settings whose strings have to be known."""


def other_value(item: Setting, number: int) -> Any:
    """A value within the range that is not the default.

    Args:
        number: of the setting among those of its class; other numbers have other values, where the range allows it.
    """
    if item.kind is bool:
        return not item.default
    if item.kind is Path:
        return Path(f"{item.name}.file")
    if item.limits.choices:
        value = next(choice for choice in reversed(item.limits.choices) if choice != item.default)
        return (value,) if item.many else value
    if item.name in NAMES:
        return NAMES[item.name]
    if item.kind is str:
        return f"{item.name}{number}"
    for value in (21 + number, (21 + number) / 64, 1, 0, 0.5, 2, 21.5 + number, 0.95, 1000 + number):
        fits = isinstance(value, item.kind) and value != item.default
        if fits and item.limits.requirement(value) is None:
            return (value,) if item.many else value
    raise AssertionError(f"no other value of {item.name}")


def other_values(cls: type[Declared]) -> dict[str, Any]:
    """Such a value of each setting, by name."""
    return {item.name: other_value(item, number) for number, item in enumerate(settings_of(cls))}


def option_words(cls: type[Declared], values: dict[str, Any]) -> list[str]:
    """The words of a command line that give the values by ``--set``."""
    words = []
    for item in settings_of(cls):
        if item.name in values:
            value = values[item.name]
            text = ",".join(map(str, value)) if item.many else str(value).lower() if item.kind is bool else value
            words += ["--set", f"{item.name}={text}"]
    return words


def toml_lines(values: dict[str, Any]) -> str:
    """The lines of a TOML table that give the values."""

    def text(value: Any) -> str:
        return json.dumps([*value] if isinstance(value, tuple) else str(value) if isinstance(value, Path) else value)

    return "".join(f"{name} = {text(value)}\n" for name, value in values.items())
