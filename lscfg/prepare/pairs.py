"""Raw sentence pairs, and which kind of source reads a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from lscfg.errors import InputError
from lscfg.kinds import TEXT_SOURCES, kinds

TEXT = "text"
"""The kind of two files line by line, for all names that end in no other kind's name."""

NO_TRANSLATION = "no translation"
"""The fault of a record that lacks one of the languages."""


class RawPair(NamedTuple):
    """A sentence and its translation as a file has them.

    Attributes:
        path, line: where it stands; the number counts from 1, of lines or of records.
        fault: why it is no pair; empty if it is one.
    """

    path: str
    line: int
    source: str
    target: str
    fault: str = ""


def plain_name(path: Path) -> str:
    """The file's name without .gz."""
    return path.name.removesuffix(".gz")


def source_kind(files: Sequence[Path], wanted: str | None = None) -> str:
    """The kind of source that reads the files: the wanted one, else that of the first name's ending.

    Raises:
        InputError: the kind takes another number of files.
    """
    ending = plain_name(files[0]).rpartition(".")[2].lower()
    found = wanted or (ending if ending in kinds(TEXT_SOURCES) else TEXT)
    if found == TEXT and len(files) != 2:
        others = ", ".join(f".{name}" for name in kinds(TEXT_SOURCES) if name != TEXT)
        raise InputError(f"plain text takes two files, a source and its translation; one file of both is {others}")
    return found


def language_matches(tag: str, wanted: str) -> bool:
    """Whether a language tag is the wanted one or a region's form of it: ``en`` matches ``en-US`` and ``EN_gb``."""
    parts, first = (text.lower().replace("_", "-").split("-") for text in (tag, wanted))
    return parts[: len(first)] == first
