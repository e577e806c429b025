"""Plain text, each line a unit, and subtitles (SubRip), each of whose blocks of text is a unit."""

from __future__ import annotations

import re

from lscfg.markup.document import Document, DocumentError, MarkupRun, Unit, unit_of, utf8_text
from lscfg.prepare.codes import means_space

_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_TIMES = re.compile(r"\s*\d[\d:,.]*\s*-->\s*\d")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|\{\\[^{}]*\}")
_DASH = re.compile(r"\s*[-–—♪#]\s*")
_SPEAKER = re.compile(rf"(?:\s|{_TAG.pattern})*[-–—♪#]")


def read_plain_text(data: bytes) -> Document:
    """Plain text.

    Raises:
        DocumentError: the data are not UTF-8.
    """
    mark, text = utf8_text(data)
    parts: list[str | Unit] = []
    for line, end in _lines(text):
        parts += [*unit_of([MarkupRun(line, line)]), end]
    return Document(tuple(parts), mark=mark, lined=True)


def read_subtitles(data: bytes) -> Document:
    """Subtitles, whose numbers, times and numbers of lines stay.

    Raises:
        DocumentError: the data are not UTF-8, or contain no times.
    """
    mark, text = utf8_text(data)
    lines = _lines(text)
    timed = [_TIMES.match(line) is not None for line, _ in lines]
    if not any(timed):
        raise DocumentError("contains no times such as 00:00:01,000 --> 00:00:02,000; subtitles must be SubRip (.srt)")
    first, parts = timed.index(True), list[str | Unit]()
    block: list[tuple[str, str]] = []  # lines of text
    for k, (line, end) in enumerate(lines):
        numbered = line.strip().isdecimal() and all(timed[k + 1 : k + 2])  # an empty line in front may be missing
        if k > first and line.strip() and not timed[k] and not numbered:
            block.append((line, end))
            continue
        parts += [*_block(block), line + end]
        block = []
    newline = "\r\n" if "\r\n" in text else "\n"
    return Document((*parts, *_block(block)), newline=newline, mark=mark, lined=True)


def _block(block: list[tuple[str, str]]) -> list[str | Unit]:
    """One unit for all lines, or one for each line if the lines are a dialogue."""
    if not block:
        return []
    if len(block) > 1 and any(_SPEAKER.match(line) for line, _ in block):
        return [part for line, end in block for part in (*unit_of(_runs(line)), end)]
    joined = " ".join(line.strip() for line, _ in block)
    return [*unit_of(_runs(joined), len(block)), block[-1][1]]


def _runs(line: str) -> list[MarkupRun]:
    """Texts and tags of a line; the dash of a speaker is a tag, which may follow others."""
    runs, begin, spoken = list[MarkupRun](), 0, False
    for tag in (*_TAG.finditer(line), None):
        text = line[begin : tag.start() if tag else len(line)]
        if not spoken and (dash := _DASH.match(text)) is not None:
            runs.append(MarkupRun(dash[0], "", "void"))
            text, spoken = text[dash.end() :], True
        spoken = spoken or bool(text.strip())
        runs.append(MarkupRun(text, text))
        if tag:
            runs.append(_tag(tag[0]))
            begin = tag.end()
    return [run for run in runs if run.markup]


def _tag(markup: str) -> MarkupRun:
    if means_space({}, markup):
        return MarkupRun(markup, " ", "void")
    return MarkupRun(markup, "", "close" if markup.startswith("</") else "open" if markup[0] == "<" else "void")


def _lines(text: str) -> list[tuple[str, str]]:
    """Lines and their ends."""
    whole = [found[0] for found in _LINES.finditer(text) if found[0]]
    return [(line.rstrip("\r\n"), line[len(line.rstrip("\r\n")) :]) for line in whole]
