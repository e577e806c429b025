"""Modules that few inputs need, imported when they are first used, so that commands start fast.

The line for the type checker shows the dependency, to the tests of the architecture as well:

    if TYPE_CHECKING:
        from lscfg.prepare import record
    else:
        record = later("lscfg.prepare.record")
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


class _Later:
    """A module that is not imported yet."""

    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)


def later(name: str) -> Any:
    """The module of a dotted name, imported when one of the module's names is first used."""
    return _Later(name)
