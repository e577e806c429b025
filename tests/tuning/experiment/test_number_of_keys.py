"""Settings of all kinds and tables, and keys of experiment files that are no settings: how many a user meets."""

import dataclasses
import inspect
import pkgutil
from collections.abc import Iterator
from importlib import import_module

import lscfg.tuning
from lscfg.settings import Declared, settings_of
from lscfg.tuning.experiment.config import RAW, SYSTEM_KEYS
from lscfg.tuning.experiment.schema import Corpus, Monolingual, RawCorpus

MOST = 300


def classes(base: type = Declared) -> Iterator[type[Declared]]:
    """All classes of settings, wherever they are."""
    for cls in base.__subclasses__():
        yield cls
        yield from classes(cls)


def declared() -> set[tuple[type, str]]:
    """Each setting once: by the class that declares it first, and its name. Another default is no other setting."""
    for package in (lscfg, lscfg.tuning):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith(("__main__", "_kernel.abi3", "_kernel")):
                import_module(module.name)
    found = set()
    for cls in classes():  # arguments of feature functions are words of a line, as in cdec.ini, and no keys
        if cls.__module__.startswith("lscfg.") and not cls.__module__.startswith("lscfg.functions."):
            for item in settings_of(cls):
                bases = [base for base in cls.__mro__ if item.name in inspect.get_annotations(base)]
                found.add((bases[-1], item.name))
    return found


def test_there_are_at_most_300_keys():
    files = [item.name for cls in (Corpus, RawCorpus, Monolingual) for item in dataclasses.fields(cls)]
    others = [*files, RAW, *SYSTEM_KEYS, "weights"]  # the last is of [tuning]
    settings = declared()
    assert len(settings) > 200
    assert len(settings) + len(others) <= MOST


def test_a_setting_that_kinds_share_counts_once():
    shared = {(cls.__name__, name) for cls, name in declared() if name in ("window", "max_targets", "iterations")}
    assert ("WindowSettings", "window") in shared and sum(name == "window" for _, name in shared) == 2
    assert ("Iterations", "iterations") in shared and ("ClusterSettings", "iterations") not in shared
