"""Parquet tables, as data sets of Hugging Face are.

Their layouts: a column ``translation`` with a field for each language, a column for each language, or a column
``translation`` that lists languages and texts.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from lscfg import log
from lscfg.errors import InputError, cut, quote
from lscfg.prepare.fields import LANGUAGES, STRUCT, TEXTS, FieldSettings
from lscfg.prepare.reader import NO_TRANSLATION, RawPair, TextReader, language_fit, list_languages, sides_of

BATCH = 10_000
Pairs = Callable[[Any], Iterator[tuple[str | None, str | None]]]


class Parquet(TextReader[FieldSettings]):
    """Parquet tables."""

    HELP = "Parquet tables with a column translation, or two columns of text"
    VERSION = 2
    Settings = FieldSettings

    def read_pairs(
        self, files: Sequence[Path], languages: tuple[str, str], settings: FieldSettings
    ) -> Iterator[RawPair]:
        """Reads Parquet tables; a row without one of the sentences has a fault. Rows count from 1.

        Raises:
            InputError: pyarrow is missing, a file is damaged or no Parquet, or lacks the columns or languages, or text
                is not UTF-8.
        """
        try:
            import pyarrow
        except ImportError as error:
            raise InputError("Parquet needs pyarrow: pip install 'lscfg[parquet]'", files[0]) from error
        for path in files:
            try:
                yield from parse_parquet(path, path, languages, settings)
            except (pyarrow.ArrowException, OSError) as error:
                if isinstance(error, OSError) and error.errno:
                    raise InputError(f"cannot read: {os.strerror(error.errno)}", path) from error
                raise InputError("not a Parquet file, or cut off or damaged; download it again", path) from error


def parse_parquet(file: Any, path: Path, languages: tuple[str, str], settings: FieldSettings) -> Iterator[RawPair]:
    """The pairs of a table; see ``Parquet.read_pairs``.

    Args:
        file: a path, or a file-like object with the bytes.

    Raises:
        ArrowException: the table is damaged.
        OSError: the table is damaged or cannot be read.
        InputError: the columns are missing or not distinct, text is not UTF-8, or no list of translations has text in
            both languages.
    """
    import pyarrow.parquet

    row = good = 0
    found = Counter[str]()
    try:
        with pyarrow.parquet.ParquetFile(file) as table:
            columns, pairs_of = _layout(path, table.schema_arrow, languages, settings, found)
            for batch in table.iter_batches(BATCH, columns=columns):
                for source, target in pairs_of(batch):
                    row += 1
                    fault = NO_TRANSLATION if source is None or target is None else ""
                    good += not fault
                    yield RawPair(str(path), row, source or "", target or "", fault)
    except UnicodeDecodeError as error:
        raise InputError(f"text after row {row} is not UTF-8", path) from error
    if found and not good:
        there = list_languages(found)
        raise InputError(f"no row contains text in both {' and '.join(languages)}; languages: {there}", path)


def _layout(
    path: Path, schema: Any, languages: tuple[str, str], settings: FieldSettings, found: Counter[str]
) -> tuple[list[str], Pairs]:
    """The columns to read, and the function that returns the pairs of a batch.

    Args:
        found: counts the languages of a list of translations.

    Raises:
        InputError: the columns are missing, or hold no text.
    """
    texts = _texts(schema)
    wanted = settings.source_field, settings.target_field
    # the struct's fields before columns next to it
    order = sorted(texts, key=lambda name: name[0] != STRUCT)
    sides = sides_of(tuple(name[-1] for name in order), languages)
    if not any(wanted) and None in sides and (listed := _list_of_translations(schema, languages, found)):
        return listed
    ways = []
    for name, language, side in zip(wanted, languages, sides, strict=True):
        named = [way for way in order if way[-1] == name or ".".join(way) == name] if name else []
        if not name and side is not None:
            named = [order[side]]
        if not named:
            raise InputError(_missing(schema, name or language, texts), path)
        if not name and language_fit(named[0][-1], language) == 1:
            log.warning(f"{path}: no column is in {language}; column {quote('.'.join(named[0]))} is used")
        ways.append(named[0])
    if ways[0] == ways[1]:
        raise InputError(f"source and target are the same column {quote('.'.join(ways[0]))}; name two", path)
    for way in ways:
        if schema.names.count(way[0]) > 1:
            raise InputError(f"two columns are called {quote(way[0])}; rename or remove one", path)
    return sorted({way[0] for way in ways}), lambda batch: zip(*(_values(batch, way) for way in ways), strict=True)


def _texts(schema: Any) -> list[tuple[str, ...]]:
    """The names that lead to texts: of columns, and of fields of structs."""
    import pyarrow.types as types

    found: dict[tuple[str, ...], None] = {}
    for column in schema:
        fields = column.type if types.is_struct(column.type) else ()
        for name, kind in [((column.name,), column.type), *(((column.name, part.name), part.type) for part in fields)]:
            if _is_text(kind):
                found[name] = None
    return list(found)


def _is_text(kind: Any) -> bool:
    """True for every type of Arrow that holds text, also a dictionary of texts, which is a category of pandas."""
    import pyarrow.types as types

    if types.is_dictionary(kind):
        kind = kind.value_type
    is_view = getattr(types, "is_string_view", lambda _: False)  # not in pyarrow 14 and 15
    return bool(types.is_string(kind) or types.is_large_string(kind) or is_view(kind))


def _missing(schema: Any, name: str, texts: Sequence[tuple[str, ...]]) -> str:
    there = ", ".join(".".join(way) for way in texts) or "none"
    others = ", ".join(f"{column.name} ({column.type})" for column in schema if (column.name,) not in texts)
    found = f"columns of text: {there}" + (f"; others: {cut(others)}" if others else "")
    return f"no column of text {quote(name)}; {' '.join(found.split())}"  # a name may contain ends of lines


def _list_of_translations(
    schema: Any, languages: tuple[str, str], found: Counter[str]
) -> tuple[list[str], Pairs] | None:
    """The layout of a column that lists languages and texts; None if there is none.

    The column holds a list of structs, or a struct of two lists.
    """
    import pyarrow.types as types

    def is_list(kind: Any) -> bool:
        return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))

    def field(kinds: dict[str, Any], names: Sequence[str]) -> str | None:
        return next((name for name in names if name in kinds and _is_text(kinds[name])), None)

    for column in sorted(schema, key=lambda column: column.name != STRUCT):
        kind = column.type
        if listed := is_list(kind) and types.is_struct(kind.value_type):
            kinds = {part.name: part.type for part in kind.value_type}
        elif types.is_struct(kind):
            kinds = {part.name: part.type.value_type for part in kind if is_list(part.type)}
        else:
            continue
        tag, text = field(kinds, LANGUAGES), field(kinds, TEXTS)
        if tag is None or text is None:
            continue

        def pairs_of(
            batch: Any, name: str = column.name, tag: str = tag, text: str = text, listed: bool = bool(listed)
        ) -> Iterator[tuple[str | None, str | None]]:
            for row in batch.column(name).to_pylist():
                if listed:
                    rows = [(part[tag], part[text]) for part in row or () if part]
                else:
                    lists = [(row or {}).get(name) or () for name in (tag, text)]
                    rows = list(zip(*lists, strict=True)) if len(lists[0]) == len(lists[1]) else []
                rows = [(language or "", sentence) for language, sentence in rows]
                found.update(language for language, _ in rows)
                sides = sides_of(tuple(language for language, _ in rows), languages)
                source, target = (None if side is None else rows[side][1] for side in sides)
                yield source, target

        return [column.name], pairs_of
    return None


def _values(batch: Any, way: tuple[str, ...]) -> list[str | None]:
    rows = batch.column(way[0]).to_pylist()
    found: list[str | None] = [row and row[way[1]] for row in rows] if len(way) > 1 else rows
    return found


def first_rows(path: Path, count: int) -> list[dict[str, Any]]:
    """The first rows of a table, for a guess of its columns.

    Raises:
        InputError: pyarrow is missing, or the file is not a Parquet table.
    """
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise InputError("Parquet needs pyarrow: pip install 'lscfg[parquet]'", path) from error
    try:
        with pyarrow.parquet.ParquetFile(path) as table:
            found: list[dict[str, Any]] = next((batch.to_pylist() for batch in table.iter_batches(count)), [])
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError("not a Parquet file, or cut off or damaged; download it again", path) from error
    return found
