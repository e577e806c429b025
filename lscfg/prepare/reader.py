"""Readers of raw sentence pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from lscfg.errors import InputError
from lscfg.io.compression import plain_name
from lscfg.kinds import Kind, Registry, SettingsT
from lscfg.settings import Declared

TEXT = "text"
"""The reader of two files line by line, for all names that do not end in the name of another reader."""

NO_TRANSLATION = "no translation"
"""The fault of a record that lacks one of the languages."""


class RawPair(NamedTuple):
    """A sentence and its translation in a file."""

    path: str
    line: int
    """Line or record, counted from 1."""
    source: str
    target: str
    fault: str = ""
    """The reason why the record is no pair; empty if it is one."""


class TextReader(Kind[SettingsT]):
    """Reads sentence pairs from raw text."""

    def read_pairs(self, files: Sequence[Path], languages: tuple[str, str], settings: SettingsT) -> Iterator[RawPair]:
        """Reads all pairs; a record that is no pair has a fault.

        Args:
            languages: of source and target, as en or pt-BR.

        Raises:
            InputError: a file cannot be read, by file and line.
        """
        raise NotImplementedError


TEXT_READERS: Registry[TextReader[Declared]] = Registry("lscfg.text_readers", TextReader, "text reader")


def reader_of(files: Sequence[Path], wanted: str | None = None) -> str:
    """The name of the reader of some files: the wanted one, else that of the ending of the first file's name.

    Raises:
        InputError: the reader takes another number of files.
    """
    ending = plain_name(files[0].name).rpartition(".")[2].lower()
    found = wanted or (ending if ending in TEXT_READERS else TEXT)
    if found == TEXT and len(files) != 2:
        others = ", ".join(f".{name}" for name in TEXT_READERS if name != TEXT)
        raise InputError(f"plain text takes two files, a source and its translation; one file of both is {others}")
    return found


def language_matches(tag: str, wanted: str) -> bool:
    """True if a language tag is the wanted one or a regional form of it: ``en`` matches ``en-US`` and ``EN_gb``."""
    parts, first = (text.lower().replace("_", "-").split("-") for text in (tag, wanted))
    return parts[: len(first)] == first
