"""Kinds of estimators, rule extractors and the like: classes that the entry points of packages name.

Each group of kinds has a base class and a registry in the package that owns the concept, for example ``Estimator`` and
``ESTIMATORS`` in ``lscfg.estimate.estimator``. A new kind is one class in one file and one row in pyproject.toml:

    [project.entry-points."lscfg.estimators"]
    toy = "toys.estimator:Toy"

Another package adds a kind with a row in its own pyproject.toml.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from lscfg.errors import InputError, did_you_mean, quote
from lscfg.settings import Declared

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

SettingsT = TypeVar("SettingsT", bound=Declared)
"""The settings of a kind."""


class Kind(Generic[SettingsT]):
    """Base class of all kinds. The base class of a group adds methods, with defaults for the optional ones."""

    name: str = ""
    """Name of the entry point."""
    HELP: str
    """One line for ``--help`` and the documentation."""
    VERSION: int = 1
    """Part of the key of each stage that uses the kind: raise it whenever equal input gives other output."""
    Settings: type[SettingsT]


K = TypeVar("K", bound=Kind[Any])


@lru_cache(maxsize=1)
def _groups(path: tuple[str, ...]) -> dict[str, list[EntryPoint]]:
    """Entry points of all packages on a search path, by group, for groups of kinds; the first of equal packages counts.

    Only packages with such groups are parsed, in a tenth of the time that all of them would take.
    """
    from importlib.metadata import distributions  # takes longer than the rest of this module

    groups: dict[str, list[EntryPoint]] = {}
    names: set[str] = set()
    for package in distributions():
        if "[lscfg." not in (package.read_text("entry_points.txt") or "") or package.name in names:
            continue
        names.add(package.name)
        for point in package.entry_points:
            groups.setdefault(point.group, []).append(point)
    return groups


def group_rows(group: str) -> list[EntryPoint]:
    """Entry points of a group, of all packages on the present search path."""
    return _groups(tuple(sys.path)).get(group, [])


class Registry(Generic[K]):
    """Kinds of one group by name, loaded when first used.

    Args:
        group: name of the entry-point group.
        base: base class of the kinds.
        noun: name of such a kind in error messages.
    """

    def __init__(self, group: str, base: type[K], noun: str):
        self.group, self.base, self.noun = group, base, noun
        self._instances: dict[type, K] = {}

    def names(self) -> tuple[str, ...]:
        """Names of all kinds, sorted."""
        return tuple(sorted({row.name for row in self._group()}))

    def __getitem__(self, name: str) -> K:
        """The only instance of the kind.

        Raises:
            InputError: no kind has the name, or its entry point names something else than a subclass of the base class.
        """
        for row in self._group():
            if row.name == name:
                return self._instance(row.load(), name, row.value)
        known = self.names()
        raise InputError(
            f"unknown {self.noun} {quote(name)}; choose from {', '.join(known)}{did_you_mean(name, known)}"
        )

    def __contains__(self, name: object) -> bool:
        return any(row.name == name for row in self._group())

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def settings(self) -> dict[str, type[Declared]]:
        """The class of settings of every kind by its name."""
        return {name: self[name].Settings for name in self.names()}

    def overriding(self, method: str) -> tuple[str, ...]:
        """Names of the kinds that override an optional method of the base class."""
        default = getattr(self.base, method)
        return tuple(name for name in self.names() if getattr(type(self[name]), method) is not default)

    def _group(self) -> list[EntryPoint]:
        return group_rows(self.group)

    def _instance(self, found: object, name: str, value: str) -> K:
        if not (isinstance(found, type) and issubclass(found, self.base)):
            base = f"{self.base.__module__}.{self.base.__name__}"
            raise InputError(f"entry point {self.group}: {name} = {value} is not a subclass of {base}")
        if found not in self._instances:
            self._instances[found] = made = found()
            made.name = name
        return self._instances[found]
