"""Subtitles of a film in two languages: SubRip and WebVTT. Cues are paired by their times."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from lscfg.errors import InputError
from lscfg.prepare.codes import means_space
from lscfg.prepare.encoded import EncodedSettings, decoding_fault, encoded_lines
from lscfg.prepare.reader import NO_TRANSLATION, RawPair, TextReader

CUE_TIMES = re.compile(
    r"\s*((?:\d{1,3}:)?\d{1,2}:\d{2}[,.]\d{1,3})\s*-->\s*((?:\d{1,3}:)?\d{1,2}:\d{2}[,.]\d{1,3})(?:\s|$)"
)
_TAGS = re.compile(r"<[^<>]{0,100}>|\{\\[^{}]{0,100}\}")

MOST = 4
"""Cues of one side in a pair; longer chains of cues that overlap are not a pair."""


class Cue(NamedTuple):
    """A subtitle.

    Attributes:
        begin, end: seconds; line: the line of its times.
    """

    begin: float
    end: float
    line: int
    text: str


class Subtitles(TextReader[EncodedSettings]):
    """Subtitles of a film in two languages."""

    HELP = "two files of subtitles of the same film (SubRip, WebVTT), paired by their times"
    VERSION = 3
    Settings = EncodedSettings
    FILES = 2
    ENDINGS = ("vtt",)

    def read_pairs(
        self, files: Sequence[Path], languages: tuple[str, str], settings: EncodedSettings
    ) -> Iterator[RawPair]:
        """Reads the subtitles of each film; cues that overlap for half of the shorter one make a pair.

        A cue without a counterpart, and a chain of more than four cues of a side, has a fault.

        Raises:
            InputError: a file cannot be read or is not in its encoding, or has no times.
        """
        for source, target in zip(files[::2], files[1::2], strict=True):
            for one, other in _groups(_cues(source, settings), _cues(target, settings)):
                texts = " ".join(cue.text for cue in one), " ".join(cue.text for cue in other)
                fault = "" if 0 < len(one) <= MOST and 0 < len(other) <= MOST else NO_TRANSLATION
                if not fault and settings.encoding:
                    fault = decoding_fault(*texts)
                path, line = (source, one[0].line) if one else (target, other[0].line)
                yield RawPair(str(path), line, texts[0], texts[1], fault)


def _cues(path: Path, settings: EncodedSettings) -> list[Cue]:
    cues = list(parse_cues(encoded_lines(path, settings.encoding)))
    if not cues:
        raise InputError("has no times such as 00:01:02,500 --> 00:01:04,000, so it has no subtitles", path)
    return sorted(cues)


def parse_cues(lines: Iterable[str]) -> Iterator[Cue]:
    """The cues of a file, without tags; the lines of a cue are joined by blanks.

    An empty line ends a cue of WebVTT, after which notes may follow; in SubRip it may be a part of the text.
    """
    times: tuple[float, float] | None = None
    begun, text, web = 0, list[str](), False
    own = 0  # lines of the text before the last empty line
    for number, line in enumerate(lines, 1):
        web = web or (number == 1 and line.removeprefix("\ufeff").startswith("WEBVTT"))
        if found := CUE_TIMES.match(line):
            if times and len(text) > own and text[-1].strip().isdigit():
                text.pop()  # the number of this cue
            if times:
                yield Cue(*times, begun, _joined(text))
            times, begun, text, own = (_seconds(found[1]), _seconds(found[2])), number, [], 0
        elif not line.strip():
            if times and web:
                yield Cue(*times, begun, _joined(text))
                times = None
            own = len(text)
        elif times:
            text.append(line)
    if times:
        yield Cue(*times, begun, _joined(text))


def _joined(lines: Sequence[str]) -> str:
    return " ".join(" ".join(_TAGS.sub(_blank_of, line).split()) for line in lines).strip()


def _blank_of(tag: re.Match[str]) -> str:
    return " " if means_space({}, tag[0]) else ""


def _seconds(text: str) -> float:
    seconds = 0.0
    for part in text.replace(",", ".").split(":"):
        seconds = 60 * seconds + float(part)
    return seconds


def _groups(source: Sequence[Cue], target: Sequence[Cue]) -> Iterator[tuple[list[Cue], list[Cue]]]:
    """Groups of cues that overlap, in order of time; a side of a group may be empty."""
    sides, place = (source, target), [0, 0]
    while any(place[side] < len(sides[side]) for side in range(2)):
        group: tuple[list[Cue], list[Cue]] = ([], [])
        heads = [(sides[side][place[side]].begin, side) for side in range(2) if place[side] < len(sides[side])]
        side = min(heads)[1]
        group[side].append(sides[side][place[side]])
        place[side] += 1
        grown = True
        while grown:
            grown = False
            for side in range(2):
                last = group[1 - side][-1:]
                if last and place[side] < len(sides[side]) and _overlap(sides[side][place[side]], last[0]):
                    group[side].append(sides[side][place[side]])
                    place[side] += 1
                    grown = True
        yield group


def _overlap(one: Cue, other: Cue) -> bool:
    """True if two cues are shown together for half of the shorter one at least."""
    shorter = max(0.001, min(one.end - one.begin, other.end - other.begin))
    return min(one.end, other.end) - max(one.begin, other.begin) >= shorter / 2
