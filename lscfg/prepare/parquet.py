"""Parquet tables, as data sets of Hugging Face are: a column ``translation`` of languages, or a column for each."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lscfg.errors import InputError, quote
from lscfg.prepare.reader import NO_TRANSLATION, RawPair, TextReader, language_matches
from lscfg.settings import Declared, setting

STRUCT = "translation"
BATCH = 10_000


@dataclass(frozen=True)
class FieldSettings(Declared):
    """Choice of columns."""

    source_field: str = setting("", "column of the source sentence", shown=f"that of its language, first in `{STRUCT}`")
    target_field: str = setting("", "column of its translation", shown=f"that of its language, first in `{STRUCT}`")


class Parquet(TextReader[FieldSettings]):
    """Parquet tables."""

    HELP = "Parquet tables with a column translation, or two columns of text"
    VERSION = 1
    Settings = FieldSettings

    def read_pairs(
        self, files: Sequence[Path], languages: tuple[str, str], settings: FieldSettings
    ) -> Iterator[RawPair]:
        """Reads Parquet tables; a row without one of the sentences has a fault. Rows count from 1.

        Raises:
            InputError: pyarrow is missing, a file is damaged or no Parquet, or lacks the columns, or text is no UTF-8.
        """
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError as error:
            raise InputError("Parquet needs pyarrow: pip install 'lscfg[parquet]'", files[0]) from error
        for path in files:
            row = 0
            try:
                with pyarrow.parquet.ParquetFile(path) as table:
                    ways = _columns(path, table.schema_arrow, languages, settings)
                    for batch in table.iter_batches(BATCH, columns=sorted({way[0] for way in ways})):
                        for pair in zip(*(_values(batch, way) for way in ways), strict=True):
                            row += 1
                            fault = NO_TRANSLATION if None in pair else ""
                            yield RawPair(str(path), row, pair[0] or "", pair[1] or "", fault)
            except UnicodeDecodeError as error:
                raise InputError(f"text after row {row} is not UTF-8", path) from error
            except (pyarrow.ArrowException, OSError) as error:
                if isinstance(error, OSError) and error.errno:
                    raise InputError(f"cannot read: {os.strerror(error.errno)}", path) from error
                raise InputError("not a Parquet file, or cut off or damaged; download it again", path) from error


def _columns(path: Path, schema: Any, languages: tuple[str, str], settings: FieldSettings) -> list[tuple[str, ...]]:
    """The names that lead to the text of either side.

    Raises:
        InputError: there is no such text.
    """
    import pyarrow.types as types

    texts: dict[tuple[str, ...], None] = {}
    for column in schema:
        fields = column.type if types.is_struct(column.type) else ()
        for name, kind in [((column.name,), column.type), *(((column.name, part.name), part.type) for part in fields)]:
            if types.is_string(kind) or types.is_large_string(kind):
                texts[name] = None
    found = []
    for wanted, language in zip((settings.source_field, settings.target_field), languages, strict=True):
        named = [name for name in texts if name[-1] == wanted] if wanted else []
        matching = [name for name in texts if not wanted and language_matches(name[-1], language)]
        # the struct's fields before columns next to it
        ways = named or sorted(matching, key=lambda name: name[0] != STRUCT)
        if not ways:
            there = ", ".join(".".join(name) for name in texts) or "none"
            raise InputError(f"no column of text {quote(wanted or language)}; columns of text: {there}", path)
        found.append(ways[0])
    if found[0] == found[1]:
        raise InputError(f"source and target are the same column {quote('.'.join(found[0]))}; name two", path)
    return found


def _values(batch: Any, way: tuple[str, ...]) -> list[str | None]:
    rows = batch.column(way[0]).to_pylist()
    found: list[str | None] = [row and row[way[1]] for row in rows] if len(way) > 1 else rows
    return found
