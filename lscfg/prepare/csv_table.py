"""Tables of spreadsheets as text: fields separated by commas, semicolons or tabs, and quoted where they need it."""

from __future__ import annotations

import csv
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from lscfg import log
from lscfg.errors import InputError, counted
from lscfg.prepare.encoded import decoding_fault, encoded_lines
from lscfg.prepare.reader import RawPair, TextReader
from lscfg.prepare.table import LOOK, Row, TextTableSettings, parse_rows

SEPARATORS = {"\t": "tabs", ";": "semicolons", ",": "commas", "|": "bars"}
"""Separators and their names, the rarest within sentences first."""

_SPAN = 100
"""Lines of the longest field; a longer one begins with a quote that nobody closed."""

_UNCLOSED = (
    f"a quote begins a cell that no quote ends within {_SPAN} lines; close the quote, or double it if it is text"
)


class Separator(NamedTuple):
    """A separator of columns.

    Attributes:
        sign: the character; columns: the number of columns of most rows, 1 if there is no separator.
        share: share of the rows with as many columns.
    """

    sign: str
    columns: int
    share: float


class Spreadsheet(TextReader[TextTableSettings]):
    """Tables of spreadsheets."""

    HELP = "tables of spreadsheets: commas, semicolons or tabs between fields, quotes around them"
    VERSION = 2
    Settings = TextTableSettings

    def read_pairs(
        self, files: Sequence[Path], languages: tuple[str, str], settings: TextTableSettings
    ) -> Iterator[RawPair]:
        """Reads tables; see ``lscfg.prepare.table.parse_rows``. The content decides the separator.

        Raises:
            InputError: a file cannot be read or is not in its encoding, a quote is not closed, or no row has the
                columns.
        """
        for path in files:
            rows = table_rows(encoded_lines(path, settings.encoding), path)
            for pair in parse_rows(rows, path, languages, settings):
                lost = settings.encoding and not pair.fault and decoding_fault(pair.source, pair.target)
                yield pair._replace(fault=lost) if lost else pair


def table_rows(lines: Iterable[str], path: Path) -> Iterator[Row]:
    """The rows of a table with the lines where they begin.

    A first line ``sep=;`` names the separator, as in files for Excel.

    Raises:
        InputError: a quote is not closed.
    """
    rest = iter(lines)
    first = list(islice(rest, LOOK))
    number = 1
    if first and len(first[0]) == 5 and first[0].lower().startswith("sep="):
        sign, number = first[0][4], 2
        del first[0]
    else:
        sign = separator_of(first).sign
    yield from _rows(chain(first, rest), sign, path, number)


def separator_of(lines: Sequence[str]) -> Separator:
    """The separator that gives most rows the same number of columns, at least 2."""
    best = Separator(",", 1, 0.0)
    for sign in SEPARATORS:
        try:
            counts = Counter(len(cells) for _, cells in _rows(lines, sign, None) if cells)
        except InputError:
            continue
        columns, count = max(counts.items(), key=lambda item: (item[1], -item[0]), default=(1, 0))
        share = count / max(1, counts.total())
        if columns > 1 and share > best.share:
            best = Separator(sign, columns, share)
    return best


def _rows(lines: Iterable[str], sign: str, path: Path | None, number: int = 1) -> Iterator[Row]:
    """Yields rows; the fields of a quoted cell may span several lines.

    A quote that opens a cell and closes before its end, as in ``"Yes" he said``, is text, and so are all quotes of its
    row; with a path, a warning counts such rows.
    """
    rest, ahead = iter(lines), deque[str]()
    odd: list[int] = []

    def next_line() -> str | None:
        line = ahead.popleft() if ahead else next(rest, None)
        return None if line is None else line.replace("\r", " ")

    while (line := next_line()) is not None:
        block, cells = [line], line.split(sign) if line else []
        if '"' in line:
            try:
                while (quoted := _quoted(block, sign, path, number)) is None:
                    if len(block) == _SPAN or (line := next_line()) is None:
                        if path is None:  # a look at the beginning of a file, which may end within a cell
                            raise _OddQuoteError
                        raise InputError(_UNCLOSED, path, number)
                    block.append(line)
                cells = quoted
            except _OddQuoteError:
                odd.append(number)
                ahead.extendleft(reversed(block[1:]))
                del block[1:]
        yield number, cells
        number += len(block)
    if odd and path:
        log.warning(
            f"{path}:{odd[0]}: quotes do not enclose whole cells ({counted(len(odd), 'row')}, the first here); they "
            "are kept as text"
        )


class _OddQuoteError(Exception):
    """A quote closes before its cell ends."""


def _quoted(block: Sequence[str], sign: str, path: Path | None, number: int) -> list[str] | None:
    """The cells of some lines; None if a quote is still open. Blanks between a separator and a quote are no text.

    Raises:
        InputError: a cell is too long; _OddQuoteError: see there.
    """
    try:
        spaced = any(re.search(rf'"{re.escape(sign)} +"', line) for line in block)
        rows = list(csv.reader((f"{line}\n" for line in block), delimiter=sign, strict=True, skipinitialspace=spaced))
    except csv.Error as error:
        if "unexpected end" in str(error):
            return None
        if "field limit" in str(error):
            long = f"a cell has more than {csv.field_size_limit():,} characters; split it"
            raise InputError(_UNCLOSED if len(block) > 1 else long, path, number) from error
        raise _OddQuoteError from error
    return rows[0]
