"""Rows of tables: the choice of their columns, the header, and rows that are not pairs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from statistics import median

from lscfg import log
from lscfg.errors import InputError, quote
from lscfg.io.sides import SIDES
from lscfg.prepare.encoded import EncodedSettings
from lscfg.prepare.languages import named_language, same_language
from lscfg.prepare.reader import RawPair
from lscfg.settings import Declared, SettingError, setting

FEW_COLUMNS, MANY_COLUMNS = "too few columns", "too many columns"

LOOK = 1000
"""Rows at the beginning that decide how many columns the table has."""

MOST = 0.9
"""Share of the rows from which on a column is doubted."""

_ROLES = frozenset(
    (
        *("source", "target", "src", "tgt", "trg", "original", "translation", "text", "sentence", "sentence1"),
        *("sentence2", "source_text", "target_text", "reference"),
    )
)
_ENDED = re.compile(r"[^\w\s]\s*$")

Row = tuple[int, list[str]]
"""The line or row of a table where a row begins, from 1, and its cells."""


@dataclass(frozen=True)
class ColumnSettings(Declared):
    """Choice of columns.

    Raises:
        SettingError: a column is not counted from 1, or both are the same.
    """

    source_column: int = setting(1, "column of the source sentence, from 1", least=1)
    target_column: int = setting(2, "column of its translation, from 1", least=1)
    header: bool = setting(False, "skip the first row, which names the columns")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.source_column == self.target_column:
            raise SettingError("target_column", "must be another column than source_column")


@dataclass(frozen=True)
class TextTableSettings(ColumnSettings, EncodedSettings):
    """Choice of columns of a table that is text, and its encoding."""


def parse_rows(
    rows: Iterable[Row], path: Path, languages: tuple[str, str], settings: ColumnSettings, separated: str = ""
) -> Iterator[RawPair]:
    """The pairs of a table's rows; a row with fewer or more columns than the header, or than most, has a fault.

    Without a header, a first row that seems to name the columns is warned of, and so are columns without letters.

    Args:
        separated: the separator of the columns, for the message.

    Raises:
        InputError: no row has the columns.
    """
    source, target = settings.source_column - 1, settings.target_column - 1
    rest = iter(rows)
    first = list(islice(rest, LOOK))
    head = head_of([cells for _, cells in first])
    found = _header_of([cells for _, cells in first], (source, target), languages) if settings.header else None
    header = [] if found is None else [first.pop(found)]
    wanted = columns_of([cells for _, cells in header or first], max(source, target) + 1)
    good = read = 0
    numbers = [0, 0]
    for number, cells in chain(first, rest):
        read += 1
        if len(cells) != wanted:
            yield RawPair(str(path), number, "", "", FEW_COLUMNS if len(cells) < wanted else MANY_COLUMNS)
            continue
        pair = RawPair(str(path), number, cells[source], cells[target])
        for side, cell in enumerate((pair.source, pair.target)):
            numbers[side] += not any(map(str.isalpha, cell))
        good += 1
        yield pair
    if (header or read) and not good:
        raise InputError(f"no line has {wanted} columns{separated}", path)
    if not header and names_columns([cells for _, cells in first[head:]], (source, target), wanted, languages):
        number, cells = first[head]
        named = " and ".join(quote(cells[column]) for column in (source, target))
        log.warning(
            f"{path}:{number}: {named} look like column names but are treated as a pair; header = true in [prepare]"
            " skips them"
        )
    for side, name in enumerate(SIDES):
        column = getattr(settings, f"{name}_column")
        if numbers[side] > good * MOST:
            log.warning(
                f"{path}: column {column} has no letters on {numbers[side]:,} of {good:,} lines; {name}_column in"
                " [prepare] chooses another column"
            )


def head_of(rows: Sequence[Sequence[str]]) -> int:
    """The number of the first row with two filled cells, from 0: titles and blank rows precede it; 0 if none has."""
    return next((number for number, cells in enumerate(rows) if sum(map(bool, map(str.strip, cells))) > 1), 0)


def _header_of(rows: Sequence[Sequence[str]], columns: tuple[int, int], languages: tuple[str, str]) -> int | None:
    """The number of the header, from 0: the row below a title if it names the columns, else the first filled one."""
    head = head_of(rows)
    if rows and len(rows[head]) > max(columns) and names_columns(rows[head:], columns, len(rows[head]), languages):
        return head
    return next((number for number, cells in enumerate(rows) if any(map(str.strip, cells))), None)


def columns_of(rows: Sequence[Sequence[str]], least: int) -> int:
    """The number of columns that most rows have, of those with at least ``least``; the smaller one of equal counts."""
    counts = Counter(map(len, rows))
    return max((columns for columns in counts if columns >= least), key=lambda n: (counts[n], -n), default=least)


def names_columns(
    rows: Sequence[Sequence[str]], columns: tuple[int, int], wanted: int, languages: tuple[str, str]
) -> bool:
    """True if the first row seems to name the columns.

    Its cells are names of languages or the like, or are short although those of the other rows are sentences.

    Args:
        columns: the two columns, from 0; wanted: the number of columns of a good row.
    """
    whole = [[row[column].strip() for column in columns] for row in rows if len(row) == wanted]
    if not whole or len(rows[0]) != wanted:
        return False
    head, *others = whole
    if all(names_column(cell, language) for cell, language in zip(head, languages, strict=True)):
        return True
    short = all(cell and len(cell.split()) <= 2 and not _ENDED.search(cell) for cell in head)
    return (
        short
        and len(others) > 4
        and all(
            median(len(row[side].split()) for row in others) >= 5
            and sum(bool(_ENDED.search(row[side])) for row in others) * 2 > len(others)
            for side in range(2)
        )
    )


def names_column(cell: str, language: str = "") -> bool:
    """True if a cell names a column: the code of its language, the name of any, or a word such as ``source``."""
    word = cell.casefold().strip().replace(" ", "_")
    parts = word, word.rpartition("_")[2]
    named = any(part in _ROLES or (len(part) > 3 and named_language(part)) for part in parts)
    return named or (len(word) < 12 and same_language(word, language))
