"""Tables of text: a pair on each line, its fields separated by tabulators, without quoting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lscfg.errors import InputError
from lscfg.io.read import stream_lines
from lscfg.prepare.reader import RawPair, TextReader
from lscfg.settings import Declared, SettingError, setting

FEW_COLUMNS = "too few columns"


@dataclass(frozen=True)
class ColumnSettings(Declared):
    """Choice of columns.

    Raises:
        SettingError: a column is not counted from 1, or both are the same.
    """

    source_column: int = setting(1, "column of the source sentence, from 1", least=1)
    target_column: int = setting(2, "column of its translation, from 1", least=1)
    header: bool = setting(False, "first line passed over, since it names the columns")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.source_column == self.target_column:
            raise SettingError("target_column", "must be another column than source_column")


class TabSeparated(TextReader[ColumnSettings]):
    """Tables with tabulators."""

    HELP = "tables with a pair on each line, fields separated by tabulators"
    VERSION = 1
    Settings = ColumnSettings

    def read_pairs(
        self, files: Sequence[Path], languages: tuple[str, str], settings: ColumnSettings
    ) -> Iterator[RawPair]:
        """Reads tables; a line with too few columns has a fault.

        Raises:
            InputError: a file cannot be read or is not UTF-8, or no line of it has the columns.
        """
        source, target = settings.source_column - 1, settings.target_column - 1
        for path in files:
            good = number = 0
            for number, line in enumerate(stream_lines(path), 1):
                if number == 1 and settings.header:
                    continue
                fields = line.split("\t")
                if len(fields) <= max(source, target):
                    yield RawPair(str(path), number, "", "", FEW_COLUMNS)
                else:
                    good += 1
                    yield RawPair(str(path), number, fields[source], fields[target])
            if number and not good:
                raise InputError(f"no line has {max(source, target) + 1} columns separated by tabulators", path)
