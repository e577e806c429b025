"""Tables of text: a pair on each line, its fields separated by tabs, without quoting."""

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
from lscfg.io.read import stream_lines
from lscfg.prepare.languages import same_language
from lscfg.prepare.reader import RawPair, TextReader
from lscfg.settings import Declared, SettingError, setting

FEW_COLUMNS, MANY_COLUMNS = "too few columns", "too many columns"

_LOOK = 1000
"""Lines at the beginning that decide how many columns the table has."""

_MOST = 0.9
"""Share of the lines from which on a column is doubted."""

_NAMES_OF_COLUMNS = """
source target src tgt trg original translation text sentence sentence1 sentence2 source_text target_text
reference arabic العربية bulgarian български catalan català chinese 中文 czech čeština danish dansk dutch
nederlands english englisch anglais inglés inglese estonian eesti finnish suomi french französisch français
francés francese german deutsch allemand alemán tedesco greek ελληνικά hebrew עברית hindi हिन्दी hungarian
magyar indonesian icelandic íslenska italian italienisch italien italiano japanese japanisch 日本語 korean 한국어
latvian lithuanian norwegian norsk persian فارسی polish polnisch polski portuguese português romanian română
russian russisch русский serbian slovak slovenian spanish spanisch espagnol español swahili swedish schwedisch
svenska tamil thai ไทย turkish türkisch türkçe ukrainian українська urdu اردو vietnamese
"""
_NAMES = frozenset(_NAMES_OF_COLUMNS.split())
_SPREADSHEET = re.compile(r'"[^"]*""(?:[^"]|"")*"')
_ENDED = re.compile(r"[^\w\s]\s*$")


@dataclass(frozen=True)
class ColumnSettings(Declared):
    """Choice of columns.

    Raises:
        SettingError: a column is not counted from 1, or both are the same.
    """

    source_column: int = setting(1, "column of the source sentence, from 1", least=1)
    target_column: int = setting(2, "column of its translation, from 1", least=1)
    header: bool = setting(False, "skip the first line, which names the columns")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.source_column == self.target_column:
            raise SettingError("target_column", "must be another column than source_column")


class TabSeparated(TextReader[ColumnSettings]):
    """Tables separated by tabs."""

    HELP = "tables with a pair on each line, fields separated by tabs"
    VERSION = 2
    Settings = ColumnSettings

    def read_pairs(
        self, files: Sequence[Path], languages: tuple[str, str], settings: ColumnSettings
    ) -> Iterator[RawPair]:
        """Reads tables; a line with fewer or more columns than the header, or than most lines, has a fault.

        A first line that seems to name the columns, and fields in the quotes of a spreadsheet, are warned of.

        Raises:
            InputError: a file cannot be read or is not UTF-8, or no line of it has the columns.
        """
        for path in files:
            yield from parse_table(stream_lines(path), path, languages, settings)


def parse_table(
    lines: Iterable[str], path: Path, languages: tuple[str, str], settings: ColumnSettings
) -> Iterator[RawPair]:
    """The pairs of a table's lines; see ``TabSeparated.read_pairs``."""
    source, target = settings.source_column - 1, settings.target_column - 1
    rest = iter(lines)
    header = list(islice(rest, 1)) if settings.header else []
    first = list(islice(rest, _LOOK))
    least = max(source, target) + 1
    wanted = columns_of(header or first, least)
    good = number = quoted = example = 0
    enclosed, numbers = [0, 0], [0, 0]
    for number, line in enumerate(chain(first, rest), len(header) + 1):
        fields = line.split("\t")
        if len(fields) != wanted:
            yield RawPair(str(path), number, "", "", FEW_COLUMNS if len(fields) < wanted else MANY_COLUMNS)
            continue
        pair = RawPair(str(path), number, fields[source], fields[target])
        if _SPREADSHEET.fullmatch(pair.source) or _SPREADSHEET.fullmatch(pair.target):
            quoted, example = quoted + 1, example or number
        for side, field in enumerate((pair.source.strip(), pair.target.strip())):
            enclosed[side] += len(field) > 1 and field[0] == field[-1] == '"'
            numbers[side] += not any(map(str.isalpha, field))
        good += 1
        yield pair
    if (header or number) and not good:
        raise InputError(f"no line has {wanted} columns separated by tabs", path)
    if not header and names_columns(first, (source, target), wanted, languages):
        named = " and ".join(quote(first[0].split("\t")[column]) for column in (source, target))
        log.warning(
            f"{path}:1: {named} look like column names but are treated as a pair; header = true in [prepare] skips them"
        )
    if quoted:
        log.warning(
            f"{path}:{example}: {quoted} lines have fields in quotes with doubled quotes inside, as spreadsheets write"
            " them; the quotes stay in the text: export the table without quoting"
        )
    for side, name in enumerate(("source", "target")):
        column = getattr(settings, f"{name}_column")
        if enclosed[side] > good * _MOST:
            log.warning(
                f"{path}: the fields of column {column} are in quotes, which stay in the text: export the table without"
                " quoting"
            )
        if numbers[side] > good * _MOST:
            log.warning(
                f"{path}: column {column} has no letters on {numbers[side]:,} of {good:,} lines; {name}_column in"
                " [prepare] chooses another column"
            )


def columns_of(lines: Sequence[str], least: int) -> int:
    """The number of columns that most lines have, of those with at least ``least``; the smaller one of equal counts."""
    counts = Counter(line.count("\t") + 1 for line in lines)
    return max((columns for columns in counts if columns >= least), key=lambda n: (counts[n], -n), default=least)


def names_columns(lines: Sequence[str], columns: tuple[int, int], wanted: int, languages: tuple[str, str]) -> bool:
    """True if the first line seems to name the columns.

    Its fields are names of languages or the like, or are short although those of the other lines are sentences.

    Args:
        columns: the two columns, from 0; wanted: the number of columns of a good line.
    """
    rows = [
        [line.split("\t")[column].strip() for column in columns] for line in lines if line.count("\t") + 1 == wanted
    ]
    if not rows or lines[0].count("\t") + 1 != wanted:
        return False
    head, *others = rows
    if all(_names(cell, language) for cell, language in zip(head, languages, strict=True)):
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


def _names(cell: str, language: str) -> bool:
    """True if a cell names a column: the code of its language, the name of one, or a word such as ``source``."""
    word = cell.casefold().replace(" ", "_")
    return word in _NAMES or word.rpartition("_")[2] in _NAMES or (len(word) < 12 and same_language(word, language))
