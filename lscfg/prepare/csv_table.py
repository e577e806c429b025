"""Tables of spreadsheets as text: fields separated by commas, semicolons or tabs, and quoted where they need it."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from lscfg.errors import InputError
from lscfg.prepare.encoded import decoding_fault, encoded_lines
from lscfg.prepare.reader import RawPair, TextReader
from lscfg.prepare.table import LOOK, Row, TextTableSettings, parse_rows

SEPARATORS = {"\t": "tabs", ";": "semicolons", ",": "commas", "|": "bars"}
"""Separators and their names, the rarest within sentences first."""

_SPAN = 100
"""Lines of the longest field; a longer one begins with a quote that nobody closed."""


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
    VERSION = 1
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
    """Yields rows; the fields of a quoted cell may span several lines."""
    reader = csv.reader((line + "\n" for line in lines), delimiter=sign)
    begin = 0
    while True:
        line = number + begin
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:  # a field larger than the limit of the module
            raise InputError(_unclosed(), path, line) from error
        if reader.line_num - begin > _SPAN:
            raise InputError(_unclosed(), path, line)
        begin = reader.line_num
        yield line, cells


def _unclosed() -> str:
    return f"a quote begins a field of more than {_SPAN} lines; close the quote, or double it if it is text"
