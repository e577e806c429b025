"""Stages of an experiment: pieces of work that are known by their key before anything runs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from lscfg.io.text import file_hash

KEY = 16
"""Digits of a key that a folder's name has."""


class Output(NamedTuple):
    """A file that a stage makes."""

    stage: Stage
    name: str


Input = Path | Output


@dataclass(frozen=True, eq=False)
class Stage:
    """A piece of work, and all that its output depends on.

    Attributes:
        name: for people and folders, nothing hangs on it.
        work: a function of ``lscfg.tuning.experiment.stages``.
        settings: as JSON has them; inputs: files, by the names that the work has for them.
        aside: what the work would make itself of the same settings and inputs; its key does not hang on it.
    """

    name: str
    work: Callable[[Path, Mapping[str, Any], dict[str, Path], int], None]
    settings: Mapping[str, Any]
    inputs: Mapping[str, Input]
    aside: Mapping[str, Output] = field(default_factory=dict)

    def __truediv__(self, name: str) -> Output:
        return Output(self, name)

    @property
    def version(self) -> int:
        """The version of the work."""
        return int(self.work.version)  # type: ignore[attr-defined]

    @property
    def shares(self) -> bool:
        """Whether the work is shared by an engine that a cluster may stand behind."""
        return bool(self.work.shares)  # type: ignore[attr-defined]

    @property
    def growth(self) -> int | None:
        """Bytes of memory for a byte of input, if it may be made beside other stages."""
        found: int | None = self.work.growth  # type: ignore[attr-defined]
        return found

    @cached_property
    def facts(self) -> dict[str, Any]:
        """What the key is made from."""
        hashes = {
            name: f"{value.stage.key}/{value.name}" if isinstance(value, Output) else file_hash(value)
            for name, value in sorted(self.inputs.items())
        }
        work = {"stage": self.work.__name__, "version": self.version}
        return {**work, "settings": dict(self.settings), "inputs": hashes}

    @cached_property
    def key(self) -> str:
        """The hash of work, version, settings and inputs."""
        text = json.dumps(self.facts, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8")).hexdigest()

    @property
    def folder(self) -> str:
        """The name of its folder."""
        return f"{self.name}-{self.key[:KEY]}"

    @property
    def sources(self) -> Iterator[Stage]:
        """The stages whose files it reads."""
        files = (*self.inputs.values(), *self.aside.values())
        return (value.stage for value in files if isinstance(value, Output))


def numbered_inputs(name: str, files: Sequence[Input]) -> dict[str, Input]:
    """Several inputs of one kind, by the names that stages have for them."""
    return {f"{name} {number:03}": file for number, file in enumerate(files, 1)}


@dataclass(frozen=True)
class Texts:
    """The text of an experiment: files as they are given, or what the preparation makes of raw ones.

    Attributes:
        prepared: the stage of the preparation; restoring: settings and inputs of the way back, without the output.
    """

    source: Input
    target: Input
    dev_source: Input
    dev_reference: list[Input]
    test_source: Input
    test_reference: list[Input]
    alignment: list[Path] = field(default_factory=list)
    prepared: Stage | None = None
    restoring: tuple[Mapping[str, Any], Mapping[str, Input]] | None = None

    @property
    def dev_references(self) -> dict[str, Input]:
        """References of the dev set by the names that stages have for them."""
        return numbered_inputs("dev reference", self.dev_reference)

    @property
    def test_references(self) -> dict[str, Input]:
        """References of the test set by the names that stages have for them."""
        return numbered_inputs("test reference", self.test_reference)
