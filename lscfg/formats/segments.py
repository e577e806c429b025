"""cdec's input with a grammar for each sentence: ``<seg grammar="FILE" id="N">words</seg>``."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from lscfg.errors import InputError, cut
from lscfg.io.numbers import MOST_DIGITS
from lscfg.io.write import write_lines

SEGMENTS = "segments.sgm"
"""The input file for cdec in a folder of grammars."""


def check_segments(folder: str | os.PathLike[str], sentences: Sequence[str]) -> None:
    """Checks that cdec's input can contain the folder and the sentences.

    Raises:
        InputError: the folder's name or the first bad sentence.
    """
    if set('"<>') & set(str(folder)):
        raise InputError("cdec's input cannot name a folder with quotes or angle brackets", folder)
    for number, line in enumerate(sentences, 1):
        if end := _early_end(line):
            raise InputError(f"cdec's input cannot hold {end}; replace it in sentence {number}")


def _early_end(text: str) -> str:
    """The name of what ends a sentence too early in cdec's input; empty if there is none."""
    return "</seg>" if "</seg>" in text.lower() else "a NUL byte" if "\0" in text else ""


_OPENING = re.compile(r"\s*<seg\b[^>]*>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""([\w:.-]+)\s*=\s*("[^"]*"|'[^']*'|[^\s>]+)""")
_SEGMENT = re.compile(r"\s*<seg\b([^>]*)>(.*)</seg>\s*", re.IGNORECASE)


def _attribute(name: str) -> re.Pattern[str]:
    return re.compile(rf"""\s*\b{name}\s*=\s*("[^"]*"|'[^']*'|[^\s>]+)""", re.IGNORECASE)


_ID = _attribute("id")


class Segment(NamedTuple):
    """A line of cdec's input with attributes."""

    id: str | None
    grammars: tuple[str, ...]
    """Files of the sentence's grammars, which join those of the configuration."""
    text: str
    """Words or a lattice."""


def is_segment(line: str) -> bool:
    """Recognises a line with attributes, where other lines contain words."""
    return _OPENING.match(line) is not None


def read_segment(line: str) -> Segment | None:
    """Reads a line with attributes; None for another line. Attributes that cdec does not use are ignored.

    Raises:
        InputError: the line does not end with ``</seg>``, or its grammars are not numbered grammar, grammar1, grammar2
            and so on, each once.
    """
    if not is_segment(line):
        return None
    found = _SEGMENT.fullmatch(line)
    if found is None:
        raise InputError("a segment that does not end with </seg> in the same line")
    values: dict[str, str] = {}
    for name, value in _ATTRIBUTE.findall(found[1]):
        if name.lower() in values:
            raise InputError(f"a segment with a second {cut(name)}=")
        values[name.lower()] = value.strip("\"'")
    given = [name for name in values if re.fullmatch(r"grammar\d*", name)]
    wanted = ["grammar", *(f"grammar{number}" for number in range(1, len(given)))][: len(given)]
    if {*given} != {*wanted}:
        raise InputError(f"a segment with {', '.join(sorted(given))}; name its grammars {', '.join(wanted)}")
    return Segment(values.get("id"), tuple(values[name] for name in wanted), found[2].strip(" "))


def segment_text(line: str) -> str:
    """The words or lattice of a line, without the attributes of a good segment."""
    segment = read_segment(line)
    return line if segment is None else segment.text


def with_text(line: str, text: str) -> str:
    """The line with other words; the attributes of a good segment stay."""
    found = _SEGMENT.fullmatch(line) if is_segment(line) else None
    return text if found is None else line[: found.start(2)] + text + line[found.end(2) :]


SPARE_IDS = 1_000_000_000
"""Ids above it replace those of earlier lines; numbers of lines do not come near."""


def sentence_id(line: str, number: int) -> int:
    """The id that a segment gives itself, if it is a whole number; else the number of the line."""
    segment = read_segment(line)
    own = None if segment is None else segment.id
    return int(own) if own is not None and own.isascii() and own.isdigit() and len(own) <= MOST_DIGITS else number


def check_ids(lines: Sequence[str], path: str | os.PathLike[str]) -> list[int]:
    """Returns the ids of the lines; refuses two lines of one id, whose lists would be mixed.

    Raises:
        InputError: the second line.
    """
    first: dict[int, int] = {}
    for number, line in enumerate(lines):
        label = sentence_id(line, number)
        if label in first:
            raise InputError(f"has the id {label} of line {first[label] + 1}; give all lines ids", path, number + 1)
        first[label] = number
    return [*first]


class StreamIds:
    """Ids of the lines of a stream, each used once, so that the translations of two lines are not mixed."""

    def __init__(self) -> None:
        self._first: dict[int, int] = {}
        self._spare = SPARE_IDS

    def next(self, line: str) -> tuple[int, str]:
        """The id of the next line, which is ``sentence_id`` or, if an earlier line has it, an unused one; a warning.

        The warning is empty for a line that keeps its id.
        """
        number = len(self._first)
        label = wanted = sentence_id(line, number)
        while label in self._first:
            label = self._spare = self._spare + 1
        self._first[label] = number
        if label == wanted:
            return label, ""
        first = self._first[wanted] + 1
        return label, f"has the id {wanted} of line {first}; its translations get the id {label}; give all lines ids"


def check_whole_lines(lines: Sequence[str], path: str | os.PathLike[str]) -> None:
    """Refuses lines of which cdec would read a part.

    Raises:
        InputError: the first segment that ``read_segment`` refuses, or line that contains ``</seg>`` or a NUL byte.
    """
    for number, line in enumerate(lines, 1):
        try:
            text = segment_text(line)
        except InputError as error:
            raise InputError(str(error), path, number) from error
        if end := _early_end(text):
            raise InputError(f"contains {end}, where cdec ends the sentence; remove it", path, number)


def grammars_of_lines(lines: Iterable[str]) -> list[str]:
    """Returns the grammars that lines of cdec's input name, each once; no segment is refused."""
    segments = filter(None, map(_SEGMENT.fullmatch, lines))
    named = [_ATTRIBUTE.findall(segment[1]) for segment in segments]
    names = [value.strip("\"'") for one in named for name, value in one if re.fullmatch(r"(?i)grammar\d*", name)]
    return list(dict.fromkeys(names))


def numbered(line: str, number: int) -> str:
    """Returns the line as a segment with this id; other attributes of a ``<seg ...>`` stay.

    cdec skips empty lines and accepts any id; only our own ids identify the lines of its output.
    """
    found = _SEGMENT.fullmatch(line)
    attributes, text = (_ID.sub("", found[1]), found[2]) if found else ("", line)
    return f'<seg id="{number}"{attributes}>{text}</seg>\n'


def grammar_path(folder: str | os.PathLike[str], number: int) -> Path:
    """Returns the grammar file of a sentence, counted from 0."""
    return Path(folder) / f"grammar.{number}.gz"


def write_segments(folder: str | os.PathLike[str], sentences: Sequence[str]) -> None:
    """Writes the folder's input for cdec. Empty sentences, for which cdec prints nothing, are omitted."""
    write_lines(
        Path(folder) / SEGMENTS,
        (
            f'<seg grammar="{grammar_path(folder, number)}" id="{number}">{line}</seg>'
            for number, line in enumerate(sentences)
            if line.strip()
        ),
    )
