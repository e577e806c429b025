"""Tables of text: a pair on each line, its fields separated by tabs, without quoting."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from lscfg import log
from lscfg.io.sides import SIDES
from lscfg.prepare.encoded import decoding_fault, encoded_lines
from lscfg.prepare.reader import RawPair, TextReader
from lscfg.prepare.table import MOST, ColumnSettings, TextTableSettings, parse_rows

_SPREADSHEET = re.compile(r'"[^"]*""(?:[^"]|"")*"')


class TabSeparated(TextReader[TextTableSettings]):
    """Tables separated by tabs."""

    HELP = "tables with a pair on each line, fields separated by tabs"
    VERSION = 2
    Settings = TextTableSettings

    def read_pairs(
        self, files: Sequence[Path], languages: tuple[str, str], settings: TextTableSettings
    ) -> Iterator[RawPair]:
        """Reads tables; see ``lscfg.prepare.table.parse_rows``. Fields in the quotes of a spreadsheet are warned of.

        Raises:
            InputError: a file cannot be read or is not UTF-8, or no line of it has the columns.
        """
        for path in files:
            for pair in parse_table(encoded_lines(path, settings.encoding), path, languages, settings):
                lost = settings.encoding and not pair.fault and decoding_fault(pair.source, pair.target)
                yield pair._replace(fault=lost) if lost else pair


def parse_table(
    lines: Iterable[str], path: Path, languages: tuple[str, str], settings: ColumnSettings
) -> Iterator[RawPair]:
    """The pairs of a table's lines; see ``TabSeparated.read_pairs``."""
    good = quoted = example = 0
    enclosed = [0, 0]
    rows = ((number, line.split("\t")) for number, line in enumerate(lines, 1))
    for pair in parse_rows(rows, path, languages, settings, " separated by tabs"):
        yield pair
        if pair.fault:
            continue
        good += 1
        if _SPREADSHEET.fullmatch(pair.source) or _SPREADSHEET.fullmatch(pair.target):
            quoted, example = quoted + 1, example or pair.line
        for side, field in enumerate((pair.source.strip(), pair.target.strip())):
            enclosed[side] += len(field) > 1 and field[0] == field[-1] == '"'
    if quoted:
        log.warning(
            f"{path}:{example}: {quoted} lines have fields in quotes with doubled quotes inside, as spreadsheets write"
            " them; the quotes stay in the text: format = csv in [prepare] reads them"
        )
    for side, name in enumerate(SIDES):
        if enclosed[side] > good * MOST:
            log.warning(
                f"{path}: the fields of column {getattr(settings, f'{name}_column')} are in quotes, which stay in the"
                " text: format = csv in [prepare] removes them"
            )
