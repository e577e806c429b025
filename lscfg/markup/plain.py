"""Plain text, each line a unit, and subtitles (SubRip), each of whose blocks of text is a unit."""

from __future__ import annotations

import re

from lscfg.markup.document import Document, DocumentError, MarkupRun, Unit, unit_of, utf8_text

_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_TIMES = re.compile(r"\s*\d[\d:,.]*\s*-->\s*\d")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|\{\\[^{}]*\}")


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
    if len(block) > 1 and any(re.match(r"\s*[-–—♪#]", line) for line, _ in block):
        return [part for line, end in block for part in (*unit_of(_runs(line)), end)]
    joined = " ".join(line.strip() for line, _ in block)
    return [*unit_of(_runs(joined), len(block)), block[-1][1]]


def _runs(line: str) -> list[MarkupRun]:
    runs, begin = [], 0
    if (dash := re.match(r"\s*[-–—♪#]\s*", line)) is not None:
        runs.append(MarkupRun(dash[0], "", "void"))
        begin = dash.end()
    for tag in _TAG.finditer(line, begin):
        runs.append(MarkupRun(line[begin : tag.start()], line[begin : tag.start()]))
        runs.append(
            MarkupRun(tag[0], "", "close" if tag[0].startswith("</") else "open" if tag[0][0] == "<" else "void")
        )
        begin = tag.end()
    return [run for run in (*runs, MarkupRun(line[begin:], line[begin:])) if run.markup]


def _lines(text: str) -> list[tuple[str, str]]:
    """Lines and their ends."""
    whole = [found[0] for found in _LINES.finditer(text) if found[0]]
    return [(line.rstrip("\r\n"), line[len(line.rstrip("\r\n")) :]) for line in whole]
