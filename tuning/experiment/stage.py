"""Stages of an experiment: pieces of work that are known by their keys before anything runs.

The settings and the inputs of a stage are dataclasses, declared next to the work. A plan builds them with files that
other stages are still to make (``Output``); the work gets the same dataclasses with paths. The key of a stage comes
from these declarations alone: from every setting, and from the content of every file.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from lscfg.errors import InputError
from lscfg.io.read import file_hash

KEY = 16
"""Digits of a key in the name of a stage's folder."""

File = TypeVar("File")
"""A file among the inputs of a stage: ``Input`` in a plan, ``Path`` while the work runs."""


class Output(NamedTuple):
    """A file that a stage makes."""

    stage: Stage
    name: str


Input = Path | Output


def side_input() -> Any:
    """A field of files that spare work without changing its output; no key depends on these."""
    return field(default_factory=dict, metadata={_SIDE: True})


_SIDE = "side input"

Function = TypeVar("Function", bound=Callable[..., None])


def version(
    number: int, spare: tuple[str, ...] = (), shares: bool = False, growth: int | None = None
) -> Callable[[Function], Function]:
    """Declares the work of a stage, ``work(folder, settings, inputs, jobs)``, which writes files into its folder.

    Args:
        number: version of the work. Raise it whenever equal settings and inputs give other files.
        spare: patterns of files that nobody needs once the stage is finished.
        shares: the engine of ``lscfg.parallel`` shares the work, while the stage itself waits.
        growth: upper bound of the memory, in bytes for a byte of input, if the stage may run at the same time as
            others; None: it may not.
    """

    def declared(work: Function) -> Function:
        work.version, work.spare, work.shares, work.growth = number, spare, shares, growth  # type: ignore[attr-defined]
        return work

    return declared


@dataclass(frozen=True, eq=False)
class Stage:
    """A piece of work, and everything that its output depends on."""

    name: str
    """Name for people and folders; no key depends on it."""
    work: Callable[[Path, Any, Any, int], None]
    """Function declared by ``version``."""
    settings: Any
    """Dataclass, or None for work without settings."""
    inputs: Any
    """Dataclass of files."""

    def __truediv__(self, name: str) -> Output:
        return Output(self, name)

    @property
    def version(self) -> int:
        """The version of the work."""
        return int(self.work.version)  # type: ignore[attr-defined]

    @property
    def shares(self) -> bool:
        """True if an engine shares the work, perhaps on a cluster."""
        return bool(self.work.shares)  # type: ignore[attr-defined]

    @property
    def growth(self) -> int | None:
        """Bytes of memory for a byte of input, if the stage may run at the same time as others."""
        found: int | None = self.work.growth  # type: ignore[attr-defined]
        return found

    @cached_property
    def hashes(self) -> dict[Path, str]:
        """Hashes of the files that no stage makes, as they are when the key is made."""
        return {file: file_hash(file) for file in self.files if isinstance(file, Path)}

    @cached_property
    def dependencies(self) -> dict[str, Any]:
        """All that the key is made from, as JSON: work, version, settings, and hashes of the inputs."""
        return {
            "stage": self.work.__name__,
            "version": self.version,
            "settings": _described(self.settings, self.hashes),
            "inputs": _described(self.inputs, self.hashes),
        }

    @cached_property
    def key(self) -> str:
        """Hash of the dependencies."""
        text = json.dumps(self.dependencies, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8")).hexdigest()

    @property
    def folder(self) -> str:
        """Name of the stage's folder."""
        return f"{self.name}-{self.key[:KEY]}"

    @property
    def files(self) -> list[Input]:
        """All files of settings and inputs, side inputs too."""
        return [*files_in(self.settings), *files_in(self.inputs)]

    @property
    def sources(self) -> Iterator[Stage]:
        """Stages whose files this stage reads."""
        return (file.stage for file in self.files if isinstance(file, Output))

    @property
    def side_sources(self) -> Iterator[Stage]:
        """Stages of the side inputs."""
        return (file.stage for file in _side_files(self.inputs) if isinstance(file, Output))

    def with_files(self, change: Callable[[Input], Input]) -> Stage:
        """The stage with other files in settings and inputs."""
        return Stage(self.name, self.work, with_files(self.settings, change), with_files(self.inputs, change))


def with_files(value: Any, change: Callable[[Input], Input]) -> Any:
    """Settings or inputs with other files; everything else is kept."""
    if isinstance(value, (Path, Output)):
        return change(value)
    if isinstance(value, (list, tuple)):
        return type(value)([with_files(item, change) for item in value])
    if isinstance(value, Mapping):
        return {key: with_files(item, change) for key, item in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type) and any(True for _ in files_in(value)):
        own = {item.name: getattr(value, item.name) for item in dataclasses.fields(value)}
        return dataclasses.replace(value, **{name: with_files(item, change) for name, item in own.items()})
    return value


def check_unchanged(hashes: Mapping[Path, str]) -> None:
    """Refuses files that have changed since keys were made of them.

    Args:
        hashes: those in the keys.

    Raises:
        InputError: a file has changed, or cannot be read.
    """
    for path, digest in hashes.items():
        if file_hash(path) != digest:
            raise InputError("changed during the run; run again, and leave the file as it is meanwhile", path)


def files_in(value: Any) -> Iterator[Input]:
    """All files of settings or inputs."""
    if isinstance(value, (Path, Output)):
        yield value
    else:
        for _, item, _ in _parts(value):
            yield from files_in(item)


def _side_files(value: Any) -> Iterator[Input]:
    for _, item, side in _parts(value):
        yield from files_in(item) if side else () if isinstance(item, (Path, Output)) else _side_files(item)


def _described(value: Any, hashes: Mapping[Path, str]) -> Any:
    """Settings or inputs as JSON: hashes for files, without side inputs."""
    if isinstance(value, Output):
        return f"{value.stage.key}/{value.name}"
    if isinstance(value, Path):
        return hashes[value]
    if isinstance(value, (list, tuple)):
        return [_described(item, hashes) for item in value]
    if isinstance(value, Mapping) or dataclasses.is_dataclass(value):
        return {name: _described(item, hashes) for name, item, side in _parts(value) if not side}
    return value


def _parts(value: Any) -> Iterator[tuple[str, Any, bool]]:
    """Names and values of what a container holds; the last one: whether it is a side input."""
    if isinstance(value, (list, tuple)):
        yield from (("", item, False) for item in value)
    elif isinstance(value, Mapping):
        yield from ((name, item, False) for name, item in value.items())
    elif dataclasses.is_dataclass(value):
        for item in dataclasses.fields(value):
            yield item.name, getattr(value, item.name), _SIDE in item.metadata
