"""Workbooks of spreadsheets: xlsx, xlsb, xls and ods."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from lscfg.errors import InputError
from lscfg.io.read import read_bytes
from lscfg.prepare.languages import named_language
from lscfg.prepare.reader import RawPair, TextReader
from lscfg.prepare.table import ColumnSettings, columns_of, head_of, names_column, parse_rows

OTHER_SHEET = "another layout"
"""The fault of a row of a sheet whose columns are not those of the main one."""


class Sheet(NamedTuple):
    """A sheet of a workbook, with the cells of its rows as text."""

    name: str
    rows: list[list[str]]

    @property
    def pairs(self) -> int:
        """The number of rows with text in two cells."""
        return sum(sum(any(map(str.isalpha, cell)) for cell in row) > 1 for row in self.rows)

    @property
    def head(self) -> list[str]:
        """The cells of the first row of the table."""
        return _filled(self.rows[head_of(self.rows)])

    def suits(self, main: Sheet, header: bool) -> bool:
        """True if the columns are those of the main sheet: by the header, or by their number.

        Args:
            header: sheets have headers.
        """
        if self is main or header:
            return self.head == main.head
        widths = [columns_of(list(map(_filled, sheet.rows)), 2) for sheet in (self, main)]
        return widths[0] == widths[1] and not all(names_column(cell) or named_language(cell) for cell in self.head)


class Workbook(TextReader[ColumnSettings]):
    """Workbooks of spreadsheets."""

    HELP = "workbooks of spreadsheets (also xls, xlsb, ods), the sheets of one layout"
    VERSION = 2
    Settings = ColumnSettings
    ENDINGS = ("xlsm", "xlsb", "xls", "ods")

    def read_pairs(
        self, files: Sequence[Path], languages: tuple[str, str], settings: ColumnSettings
    ) -> Iterator[RawPair]:
        """Reads the sheet with most pairs and those with the same columns; see ``lscfg.prepare.table.parse_rows``.

        Rows count from 1. Rows of other sheets have a fault.

        Raises:
            InputError: python-calamine is missing, or a file cannot be read, is not a workbook, or has no such sheet.
        """
        for path in files:
            sheets = read_sheets(path)
            main = main_sheet(sheets)
            for sheet in sheets:
                place = Path(f"{path}:{sheet.name}") if len(sheets) > 1 else path
                rows = enumerate(sheet.rows, 1)
                if sheet.suits(main, settings.header):
                    yield from parse_rows(rows, place, languages, settings)
                else:
                    yield from (RawPair(str(place), row, "", "", OTHER_SHEET) for row, cells in rows if any(cells))


def read_sheets(path: Path) -> list[Sheet]:
    """The sheets that are not empty, of which at least one has two columns.

    Raises:
        InputError: see ``Workbook.read_pairs``.
    """
    try:
        import python_calamine
    except ImportError as error:
        raise InputError(
            "workbooks need python-calamine: pip install 'lscfg[xlsx]', or save the table as CSV", path
        ) from error
    data = io.BytesIO(read_bytes(path))
    try:
        book = python_calamine.CalamineWorkbook.from_filelike(data)
        tables = [(name, book.get_sheet_by_name(name).to_python(skip_empty_area=False)) for name in book.sheet_names]
    except (python_calamine.CalamineError, ValueError, OSError) as error:
        raise InputError(f"not a workbook, protected, or damaged: {error}", path) from error
    sheets = [Sheet(" ".join(name.split()), [list(map(_text, row)) for row in rows]) for name, rows in tables if rows]
    if all(max(map(len, sheet.rows)) < 2 for sheet in sheets):
        raise InputError("no sheet has two columns", path)
    return sheets


def main_sheet(sheets: Sequence[Sheet]) -> Sheet:
    """The sheet with most pairs; the first of equal ones."""
    return max(sheets, key=lambda sheet: (sheet.pairs, len(sheet.rows[0]) > 1))


def _filled(cells: Sequence[str]) -> list[str]:
    """The cells without those at the end that are empty."""
    last = max((number for number, cell in enumerate(cells, 1) if cell.strip()), default=0)
    return list(cells[:last])


def _text(cell: object) -> str:
    """A cell as text; a whole number is shown without a fraction."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)
