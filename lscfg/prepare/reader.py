"""Readers of raw sentence pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from lscfg.errors import InputError, cut
from lscfg.io.compression import plain_name
from lscfg.kinds import Kind, Registry, SettingsT
from lscfg.prepare.languages import Language, language_of
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
    """The reason why the record is not a pair; empty if it is one."""


class TextReader(Kind[SettingsT]):
    """Reads sentence pairs from raw text."""

    FILES: int | None = None
    """The number of files of a text, of which each has one side, source first; None: a file has both sides."""
    ENDINGS: tuple[str, ...] = ()
    """Further endings of names that mean this kind; the name of the kind is one always."""

    def read_pairs(self, files: Sequence[Path], languages: tuple[str, str], settings: SettingsT) -> Iterator[RawPair]:
        """Reads all pairs; a record that is not a pair has a fault.

        Args:
            files: one file or more, or ``FILES`` files of one text after those of another.
            languages: source and target language, such as en or pt-BR.

        Raises:
            InputError: a file cannot be read, by file and line.
        """
        raise NotImplementedError


TEXT_READERS: Registry[TextReader[Declared]] = Registry("lscfg.text_readers", TextReader, "text reader")


def file_ending(file: Path) -> str:
    """The ending of a file's name in small letters, without its dot and without that of a compressed file."""
    return plain_name(file.name).rpartition(".")[2].lower()


def kind_of_ending(file: Path) -> str | None:
    """The kind of source that the ending of a file's name means; None if none does."""
    ending = file_ending(file)
    if ending in TEXT_READERS:
        return ending
    return next((name for name in TEXT_READERS if ending in TEXT_READERS[name].ENDINGS), None)


def reader_of(files: Sequence[Path], wanted: str | None = None) -> str:
    """The name of the reader of some files: the wanted one, else that of the ending of the first file's name.

    Raises:
        InputError: the reader takes pairs of files, and one is missing.
    """
    found = wanted or kind_of_ending(files[0]) or TEXT
    if (count := TEXT_READERS[found].FILES) and len(files) % count:
        others = ", ".join(f".{name}" for name in TEXT_READERS if TEXT_READERS[name].FILES is None)
        kind = "plain text takes" if found == TEXT else f".{found} takes"
        raise InputError(f"{kind} two files, a source and its translation; a single file with both must be {others}")
    return found


_CHINESE = dict.fromkeys(("cn", "sg", "my"), "hans") | dict.fromkeys(("tw", "hk", "mo"), "hant")


def _script(language: Language) -> str:
    return language.script or (_CHINESE.get(language.region, "") if language.base == "zh" else "")


def language_fit(tag: str, wanted: str) -> int:
    """Grades a language tag: 2 for the wanted language or a regional form of it, 1 for another form, 0 for another one.

    ``en-US`` fits ``en`` by 2, ``en`` and ``en-GB`` fit ``en-US`` by 1. Another script does not fit.
    """
    own, asked = language_of(tag), language_of(wanted)
    scripts = _script(own), _script(asked)
    if own.base != asked.base or not own.base or ("" not in scripts and scripts[0] != scripts[1]):
        return 0
    return 2 if scripts[1] in ("", scripts[0]) and asked.region in ("", own.region) else 1


@lru_cache(4096)
def sides_of(tags: tuple[str, ...], wanted: tuple[str, str]) -> tuple[int | None, int | None]:
    """Numbers of the tags for source and target: the first of those that fit best, none twice.

    A tag that fits one side by 1 and the other by 2 belongs to the other side.
    """
    found: list[int | None] = []
    for side, language in enumerate(wanted):
        fits = [language_fit(tag, language) for tag in tags]
        fits = [
            0 if fit == 1 and language_fit(tag, wanted[1 - side]) == 2 else fit
            for fit, tag in zip(fits, tags, strict=True)
        ]
        if found and found[0] is not None:
            fits[found[0]] = 0
        best = max(fits, default=0)
        found.append(fits.index(best) if best else None)
    return found[0], found[1]


def list_languages(tags: Iterable[str]) -> str:
    """Languages for a message, the most frequent ones first, with their counts if known."""
    counted = isinstance(tags, Counter)
    rows = Counter(tags).most_common(12)
    shown = ", ".join(f"{tag or 'no code'} ({count})" if counted else tag for tag, count in rows)
    return cut(" ".join(shown.split())) or "none"  # a tag may contain ends of lines
