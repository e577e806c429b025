"""Workbooks of spreadsheets: xlsx, xlsb, xls and ods."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from pathlib import Path

from lscfg.errors import InputError
from lscfg.io.read import read_bytes
from lscfg.prepare.reader import RawPair, TextReader
from lscfg.prepare.table import ColumnSettings, Row, parse_rows


class Workbook(TextReader[ColumnSettings]):
    """Workbooks of spreadsheets."""

    HELP = "workbooks of spreadsheets (also xls, xlsb, ods), the first sheet with two columns"
    VERSION = 1
    Settings = ColumnSettings
    ENDINGS = ("xlsm", "xlsb", "xls", "ods")

    def read_pairs(
        self, files: Sequence[Path], languages: tuple[str, str], settings: ColumnSettings
    ) -> Iterator[RawPair]:
        """Reads the first sheet with two columns; see ``lscfg.prepare.table.parse_rows``. Rows count from 1.

        Raises:
            InputError: python-calamine is missing, or a file cannot be read, is not a workbook, or has no such sheet.
        """
        for path in files:
            yield from parse_rows(sheet_rows(path), path, languages, settings)


def sheet_rows(path: Path) -> Iterator[Row]:
    """The rows of the first sheet with at least two columns.

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
        sheets = (book.get_sheet_by_name(name) for name in book.sheet_names)
        tables = (sheet.to_python(skip_empty_area=False) for sheet in sheets)
        rows = next((rows for rows in tables if rows and max(map(len, rows)) > 1), None)
    except (python_calamine.CalamineError, ValueError, OSError) as error:
        raise InputError(f"not a workbook, protected, or damaged: {error}", path) from error
    if rows is None:
        raise InputError("no sheet has two columns", path)
    for number, cells in enumerate(rows, 1):
        yield number, [_text(cell) for cell in cells]


def _text(cell: object) -> str:
    """A cell as text; a whole number is shown without a fraction."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)
