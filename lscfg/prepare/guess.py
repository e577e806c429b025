"""Guesses what files of sentence pairs contain: format, encoding, header, columns, languages.

Each guess carries its evidence and the option that overrules it. The settings of ``[prepare]`` hold the guesses, so a
later run does not guess again.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lscfg.errors import InputError, quote
from lscfg.io.numbers import MOST_DIGITS
from lscfg.io.read import read_chunks
from lscfg.io.sides import SIDES
from lscfg.log import progress
from lscfg.prepare.content import OWN_ENCODING, FileBeginning, Guess, find_encoding, find_format
from lscfg.prepare.csv_table import table_rows
from lscfg.prepare.encoded import NOT_DECODED, encoded_lines
from lscfg.prepare.json_lines import json_rows, texts_of
from lscfg.prepare.languages import code_fault, equal_codes, is_unspaced, named_language, named_languages, same_language
from lscfg.prepare.parquet import first_rows
from lscfg.prepare.reader import TEXT, TEXT_READERS, file_ending, kind_of_ending, reader_of
from lscfg.prepare.subtitles import parse_cues
from lscfg.prepare.table import columns_of, head_of, names_column
from lscfg.prepare.tmx import parse_memory
from lscfg.prepare.tokeniser import TOKENISERS
from lscfg.prepare.tongues import DETECTOR, detects, language_of_text
from lscfg.prepare.workbook import Sheet, main_sheet, read_sheets
from lscfg.prepare.xliff import parse_xliff

ROWS = 3000
"""Rows that guesses look at."""

SURE = 20
"""Minimum number of sentences whose language contradicts a stated one."""

UNKNOWN = "qaa", "qab"
"""Codes for private use, of a source and a target language that are unknown."""

TABLES, OBJECTS, MEMORIES = ("csv", "tsv", "xlsx"), ("jsonl", "parquet"), ("tmx", "xliff")

_SOURCES = frozenset(("source", "src", "original", "input", "question", "sentence1", "source_text"))
_TARGETS = frozenset(("target", "tgt", "trg", "translation", "output", "answer", "sentence2", "target_text"))
RICH_METRIC = "bleu+chrf"
"""Metric of tuning for targets of many word forms."""
_RICH: dict[str, dict[str, object]] = {
    "tuning": {"metric": RICH_METRIC},
    "decoder": {"unknown": "similar", "functions": ["Letters", "Copies"]},
}
"""Settings for such targets; experiments/small measures them on four languages."""
RARE = 0.12
"""Share of new words in the last tenth of a sample of the target above which the target has many forms: German has
0.09 and English 0.05, Guaraní 0.13, Shipibo 0.16, Nahuatl 0.24 and Aymara 0.35, in 3,000 lines."""
_LEAST_WORDS = 200
"""Words of this tenth without which there is no evidence."""

_CLOSE = 0.1
"""Difference of correlations up to which the first of two pairs of columns is chosen."""


class Finding(NamedTuple):
    """A guess for a person.

    Attributes:
        what: format, encoding or the like; option: the option that overrules the guess, if any.
    """

    what: str
    value: str
    evidence: str
    option: str

    def __str__(self) -> str:
        notes = [self.evidence, f"change with {self.option}" if self.option else ""]
        shown = "; ".join(filter(None, notes))
        return f"{self.what + ':':<10} {self.value}" + (f" ({shown})" if shown else "")


class GuessOptions(NamedTuple):
    """Options of a command, or keys of a file, with which a user replaces each guess."""

    format: str
    encoding: str
    header: str
    no_header: str
    columns: str
    fields: str
    languages: str
    tokeniser: str


QUICK_OPTIONS = GuessOptions(
    "--format",
    "--encoding",
    "--header",
    "--no-header",
    "--columns",
    "--columns",
    "--languages",
    "--set tokeniser=moses",
)
PREPARE_OPTIONS = GuessOptions(
    "--set format=KIND",
    "--set encoding=NAME",
    "--set header=true",
    "--set header=false",
    "--set source_column=N, --set target_column=N",
    "--set source_field=NAME, --set target_field=NAME",
    "--source-language, --target-language",
    "--tokeniser moses",
)
INIT_OPTIONS = GuessOptions(
    "format in [prepare]",
    "encoding in [prepare]",
    "header in [prepare]",
    "header in [prepare]",
    "source_column, target_column in [prepare]",
    "source_field, target_field in [prepare]",
    "--source-language, --target-language",
    "tokeniser in [prepare]",
)


@dataclass(frozen=True)
class Given:
    """Statements of the user, instead of guesses.

    Attributes:
        languages: an empty text leaves a side to be guessed.
        columns: numbers from 1, or names of fields.
        options: for messages.
    """

    format: str | None = None
    encoding: str | None = None
    languages: tuple[str, str] | None = None
    columns: tuple[str, str] | None = None
    header: bool | None = None
    options: GuessOptions = QUICK_OPTIONS


@dataclass
class Guesses:
    """Settings of [prepare] that read the files, and how they were found."""

    files: list[Path] = field(default_factory=list)
    """The files; each text comes before its translation."""
    settings: dict[str, object] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    tables: dict[str, dict[str, object]] = field(default_factory=dict)
    """Settings of other tables of an experiment that suit the text."""
    pairs: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    """Records that are not pairs, by reason."""

    def found(self, what: str, value: str, evidence: str, option: str) -> None:
        """Adds a finding."""
        self.findings.append(Finding(what, value, evidence, option))


LAYOUT = ("header", "source_column", "target_column", "source_field", "target_field")
"""Settings that all tables must share."""


def guess(files: Sequence[Path], given: Given, count: bool = True) -> Guesses:
    """Guesses how to read files of pairs of one layout, or texts and their translations.

    Args:
        count: read all files to count their pairs.

    Raises:
        InputError: a file cannot be read, holds nothing that is known, has no pair, or differs from the first one in
            its layout; or the names of texts do not show which of them belong together.
    """
    if len(files) < 2:
        return _guess(files, given, count)
    looks = [FileBeginning.of(path) for path in files]
    encoding = _encoding(looks, given)
    kind = given.format or find_format(looks[:2], encoding).value
    assert kind is not None
    parts = [(path,) for path in files] if TEXT_READERS[kind].FILES is None else paired_files(files, kind)
    if len(parts) == 1:
        return _guess(files, given, count)
    if TEXT_READERS[kind].FILES is None and not given.format:
        for look in looks[1:]:
            if (other := find_format([look], encoding).value) != kind:
                raise InputError(f"is of format {other}, but {files[0]} is of format {kind}; convert one", look.path)
    first, *others = parts
    own_encoding = _encoding(looks[:1] if len(first) == 1 else [FileBeginning.of(path) for path in first], given)
    made = _guess(first, given if own_encoding == encoding else replace(given, encoding=encoding), count)
    made.files = [path for part in parts for path in part]
    own = made.settings
    languages = str(own["source_language"]), str(own["target_language"])
    for part in others:
        found = _guess(part, replace(given, format=kind, encoding=encoding or "utf-8", languages=languages), count)
        if any(found.settings.get(name) != own.get(name) for name in LAYOUT):
            places = ("source_column", "target_column")
            cure = f"give the layout of all files with {given.options.columns} and {given.options.header}"
            if any(found.settings.get(name) != own.get(name) for name in places) and given.columns:
                cure = "put the columns of all files into one order"
            raise InputError(
                f"has {_layout(found)}, but {first[0]} has {_layout(made)}; change one, or {cure}", part[0]
            )
        made.warnings += [warning for warning in found.warnings if warning not in made.warnings]
        made.pairs += found.pairs
        made.faults += found.faults
    kept = [one for one in made.findings if one.what != "pairs"]
    what = "texts with their translations" if len(first) > 1 else "tables or memories"
    made.findings = [Finding("files", f"{len(parts):,}", what, ""), *kept]
    if count:
        _found_pairs(made)
    return made


def guess_reading(files: Sequence[Path], stated: Mapping[str, Any]) -> Guesses:
    """Guesses the languages and the settings of [prepare] for reading files, except those that are stated.

    Texts and their translations stay in the order of the files, and the endings of two names are their languages.

    Args:
        stated: settings that the user gives, by name.

    Raises:
        InputError: see ``guess``.
    """
    by_ending = kind_of_ending(files[0]) or TEXT
    kind = stated.get("format") or by_ending
    languages = [str(stated.get(f"{side}_language", "")) for side in SIDES]
    columns = None
    for item, usual in (("column", ("1", "2")), ("field", SIDES)):
        own = [stated.get(f"{side}_{item}") for side in SIDES]
        if any(own):
            columns = str(own[0] or usual[0]), str(own[1] or usual[1])
    endings = [file_ending(path) for path in files]
    if kind == TEXT and len({*endings}) == len(files) == 2 and not any(map(code_fault, endings)):
        languages = [own or ending for own, ending in zip(languages, endings, strict=True)]
    given = Given(
        stated.get("format"),
        stated.get("encoding"),
        (languages[0], languages[1]),
        columns,
        stated.get("header"),
        PREPARE_OPTIONS,
    )
    paired = TEXT_READERS[kind].FILES is not None
    encoding = _encoding(map(FileBeginning.of, files), given) if paired and len(files) > 2 else None
    found = guess(files[:2] if paired else files, given, count=False)
    if encoding and "encoding" not in found.settings:  # the first two files are ASCII
        found.settings["encoding"] = encoding
        found.findings = [one for one in found.findings if one.what != "encoding"]
        found.found("encoding", encoding, "further files", PREPARE_OPTIONS.encoding)
    known = {"format", "encoding", *LAYOUT} - {*stated}
    if found.settings["format"] == by_ending:
        known.discard("format")
    known |= {f"{side}_language" for side, language in zip(SIDES, languages, strict=True) if not language}
    found.settings = {name: value for name, value in found.settings.items() if name in known}
    found.findings = [one for one in found.findings if one.evidence != "given" and one.what != "tokeniser"]
    return found


def _layout(made: Guesses) -> str:
    found = {one.what: one.value for one in made.findings}
    return ", ".join(f"{what} {found[what]}" for what in ("columns", "fields", "header") if what in found)


def paired_files(files: Sequence[Path], kind: str) -> list[tuple[Path, Path]]:
    """Texts with their translations, by names that differ in a language only; two files are a pair in any case.

    The language of the first file is the source language.

    Raises:
        InputError: a name has no language, or no other name differs from it in the language only.
    """
    if len(files) == 2:
        return [(files[0], files[1])]
    found: dict[tuple[str, ...], dict[str, Path]] = {}
    source = ""
    for path in files:
        parts = re.split(r"[^\w]+|_", str(path))
        number = next((k for k in reversed(range(len(parts))) if k >= len(parts) - 3 and _code(parts[k])), None)
        if number is None:
            raise _unpaired(kind, path)
        source = source or _code(parts[number])
        texts = found.setdefault((*parts[:number], *parts[number + 1 :]), {})
        if texts.setdefault(_code(parts[number]), path) != path:
            raise _unpaired(kind, path)
    for texts in found.values():
        if len(texts) != 2 or source not in texts:
            raise _unpaired(kind, next(iter(texts.values())))
    return [(texts.pop(source), texts.popitem()[1]) for texts in found.values()]


def _unpaired(kind: str, path: Path) -> InputError:
    what = "subtitles" if kind != TEXT else "a text"
    return InputError(
        f"{what} without a translation among the files: give both names that differ only in the language, such as"
        " a.de and a.en",
        path,
    )


def _guess(files: Sequence[Path], given: Given, count: bool) -> Guesses:
    """Guesses how to read one file of pairs, or a source and its translation; see ``guess``."""
    made = Guesses(files=list(files))
    looks = [FileBeginning.of(path) for path in files]
    if names := [look.compression for look in looks if look.compression]:
        made.found("compressed", ", ".join(dict.fromkeys(names)), "first bytes", "")
    encoding = _encoding(looks, given)
    kind, evidence = given.format, "given"
    if kind is None:
        kind, evidence = find_format(looks, encoding)
    assert kind is not None
    reader_of(files, kind)  # refuses one file of a pair
    made.settings["format"] = kind
    made.found("format", kind, evidence, given.options.format)
    if kind not in OWN_ENCODING:
        shown = encoding or "utf-8"
        evidence = (
            "given" if given.encoding else ", ".join(dict.fromkeys(_found_encoding(look, given)[1] for look in looks))
        )
        made.found("encoding", shown, evidence, given.options.encoding)
        if encoding:
            made.settings["encoding"] = encoding
    texts, named = _sides(kind, files, encoding, given, made)
    languages = _languages(files, texts, named, given, made)
    made.settings |= {"source_language": languages[0], "target_language": languages[1]}
    unspaced = [language for language in languages if is_unspaced(language)]
    if unspaced:
        made.settings["tokeniser"] = "spm"
        made.found("tokeniser", "spm", f"{', '.join(unspaced)} writes no blanks between words", "")
    elif unruled := [language for language in languages if TOKENISERS["moses"].remark(language)]:
        made.settings["tokeniser"] = "words"
        evidence = f"Moses has no rules for {', '.join(unruled)}; the text shows its words"
        made.found("tokeniser", "words", evidence, given.options.tokeniser)
    if (rare := rare_words(texts[1])) > RARE:
        made.tables = {table: dict(settings) for table, settings in _RICH.items()}
        evidence = f"{rare:.0%} of the words of further target text are new, so few n-grams match"
        made.found("metric", RICH_METRIC, evidence, "")
        made.found("unknown", "similar", "source words without rules borrow those of similar words, or are copied", "")
    if count:
        _count(kind, files, languages, made)
    return made


def _encoding(looks: Iterable[FileBeginning], given: Given) -> str | None:
    """The encoding of text files; None for UTF-8 and for files of bytes.

    Raises:
        InputError: the encoding is unknown, or the files differ in it.
    """
    if given.encoding:
        return None if given.encoding == "utf-8" else given.encoding
    if given.format in OWN_ENCODING:
        return None
    found: str | None = None
    files = dict[str, Path]()  # by encoding, the first file with characters beyond ASCII
    for number, look in enumerate(looks):
        if not number and _names_encoding(look.data):
            return None
        value = _found_encoding(look, given).value
        found = found or value
        if value or not look.data.isascii():
            files.setdefault(value or "utf-8", look.path)
    if len(files) > 1:
        (one, first), (other, path), *_ = files.items()
        cure = f"convert one with iconv -t UTF-8, or name the encoding of all with {given.options.encoding}"
        raise InputError(f"is in {other}, but {first} is in {one}; {cure}", path)
    return found


def _names_encoding(data: bytes) -> bool:
    """True for the beginning of XML, and of files of bytes."""
    binary = data.startswith((b"PAR1", b"PK\x03\x04", b"\xd0\xcf\x11\xe0"))
    return binary or data.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"<?xml")


def _found_encoding(look: FileBeginning, given: Given) -> Guess:
    return find_encoding(look, given.options.encoding)


# ---- sides ----


def _sides(
    kind: str, files: Sequence[Path], encoding: str | None, given: Given, made: Guesses
) -> tuple[tuple[list[str], list[str]], tuple[str, str]]:
    """Sample texts of both sides, and the languages that the format names; chooses columns and header."""
    if kind in TABLES:
        return _table_sides(kind, files[0], encoding, given, made)
    if kind in OBJECTS:
        return _object_sides(kind, files[0], encoding, given, made)
    if kind in MEMORIES:
        return _memory_sides(kind, files, given, made)
    if kind == TEXT:
        found = [list(islice(encoded_lines(path, encoding), ROWS)) for path in files]
    else:
        found = [[cue.text for cue in islice(parse_cues(encoded_lines(path, encoding)), ROWS)] for path in files]
    return (found[0], found[1]), ("", "")


def _table_sides(
    kind: str, path: Path, encoding: str | None, given: Given, made: Guesses
) -> tuple[tuple[list[str], list[str]], tuple[str, str]]:
    sheets = read_sheets(path) if kind == "xlsx" else []
    rows = main_sheet(sheets).rows[:ROWS] if sheets else list(islice(_rows(kind, path, encoding), ROWS))
    width = columns_of(rows, 2)
    rows = [row for row in rows if len(row) == width]
    rows = rows[head_of(rows) :]
    if not rows:
        cure = f"name its translation as a second file, or another format with {given.options.format}"
        raise InputError(f"no row has two columns; {cure}", path)
    head, rest = rows[0], rows[1:] or rows
    chosen, evidence = _chosen_columns(head, list(zip(*rest, strict=True)), given, path)
    header, reason = _header(head, rest, chosen)
    if given.header is not None:
        header, reason = given.header, "given"
    named = named_languages([head[number] for number in chosen]) if header else ("", "")
    texts = tuple([row[number] for row in (rest if header else rows)] for number in chosen)
    if given.languages and all(given.languages) and not given.columns and _reversed(given.languages, named, texts):
        chosen, named, texts = chosen[::-1], named[::-1], texts[::-1]
        evidence += ", in the order of the given languages"
    made.settings |= {"source_column": chosen[0] + 1, "target_column": chosen[1] + 1, "header": header}
    shown = " and ".join(quote(head[number]) for number in chosen) if header else "none"
    if len(sheets) > 1:
        _found_sheets(sheets, header, made)
    made.found("header", shown, reason, given.options.no_header if header else given.options.header)
    made.found("columns", f"{chosen[0] + 1}, {chosen[1] + 1} of {width}", evidence, given.options.columns)
    return (texts[0], texts[1]), (named[0], named[1])


def _rows(kind: str, path: Path, encoding: str | None) -> Iterator[list[str]]:
    if kind == "tsv":
        return (line.split("\t") for line in encoded_lines(path, encoding))
    return (cells for _, cells in table_rows(encoded_lines(path, encoding), path))


def _found_sheets(sheets: Sequence[Sheet], header: bool, made: Guesses) -> None:
    """Adds the sheets of a workbook that has several."""
    main = main_sheet(sheets)
    used, others = (
        [quote(sheet.name) for sheet in sheets if sheet.suits(main, header) == wanted] for wanted in (True, False)
    )
    left = f"{', '.join(others)} left out: another layout" if others else "all of one layout"
    made.found("sheets", ", ".join(used), left, "")


def _object_sides(
    kind: str, path: Path, encoding: str | None, given: Given, made: Guesses
) -> tuple[tuple[list[str], list[str]], tuple[str, str]]:
    rows: Iterator[Any] = (row for _, row in json_rows(encoded_lines(path, encoding), path))
    found = [texts_of(row) for row in (first_rows(path, ROWS) if kind == "parquet" else islice(rows, ROWS)) if row]
    names = list({name: None for row in found for name in row})
    columns = [[row.get(name, "") for row in found] for name in names]
    if len(names) < 2:
        raise InputError(f"no two fields of text; fields: {', '.join(names) or 'none'}", path)
    chosen, evidence = _chosen_columns(names, columns, given, path)
    named = tuple(named_language(names[number].rpartition(".")[2]) for number in chosen)
    texts = tuple(columns[number] for number in chosen)
    if given.languages and all(given.languages) and not given.columns and _reversed(given.languages, named, texts):
        chosen, named, texts = chosen[::-1], named[::-1], texts[::-1]
    fields = names[chosen[0]], names[chosen[1]]
    if not all(named) or given.columns or any(given.languages or ()):
        made.settings |= {"source_field": fields[0], "target_field": fields[1]}
    made.found("fields", ", ".join(fields), evidence, given.options.fields)
    return (texts[0], texts[1]), (named[0], named[1])


def _memory_sides(
    kind: str, files: Sequence[Path], given: Given, made: Guesses
) -> tuple[tuple[list[str], list[str]], tuple[str, str]]:
    parse = parse_memory if kind == "tmx" else parse_xliff
    counts: Counter[str] = Counter()
    for path in files:
        for _ in islice(parse(read_chunks(path), path, UNKNOWN, counts), ROWS):
            pass
    tags = [tag for tag in counts if tag]
    tags = [tag for k, tag in enumerate(tags) if not any(same_language(tag, other) for other in tags[:k])]
    if len(tags) < 2:
        raise InputError(f"has no two languages; languages: {', '.join(tags) or 'none'}", files[0])
    most = sorted(tags, key=lambda tag: -sum(counts[other] for other in counts if same_language(tag, other)))[:2]
    first = [tag for tag in tags if tag in most]
    wanted = given.languages or first
    languages = wanted[0] or first[0], wanted[1] or first[1]
    found = (
        pair for path in files for pair in islice(parse(read_chunks(path), path, languages), ROWS) if not pair.fault
    )
    pairs = [(pair.source, pair.target) for pair in found]
    if len(tags) > 2:
        made.warnings.append(
            f"{files[0]}: languages are {', '.join(tags)}; name two of them with {given.options.languages}"
        )
    return ([one for one, _ in pairs], [other for _, other in pairs]), (first[0], first[1])


def _chosen_columns(
    head: Sequence[str], columns: Sequence[Sequence[str]], given: Given, path: Path
) -> tuple[tuple[int, ...], str]:
    """The columns of source and target, from 0, and the evidence.

    Raises:
        InputError: a given column is missing, or fewer than two columns are text.
    """
    if given.columns:
        return tuple(_column(name, head, path) for name in given.columns), "given"
    texts = [number for number, column in enumerate(columns) if _is_text(column)]
    if len(texts) < 2:  # a phrase book may repeat itself
        texts = [number for number, column in enumerate(columns) if _is_text(column, varied=False)]
    names = {number: head[number].rpartition(".")[2] for number in texts}
    named = [number for number in texts if named_language(names[number])]
    roles = [
        next((number for number in texts if names[number].casefold().strip() in words), None)
        for words in (_SOURCES, _TARGETS)
    ]
    if given.languages and all(given.languages):
        found = [_column_of(language, names) for language in given.languages]
        if found[0] is not None and found[1] is not None and found[0] != found[1]:
            return (found[0], found[1]), "named by the given languages"
        if len(named) > 2:
            missing = given.languages[0 if found[0] is None else 1]
            shown = ", ".join(quote(head[number]) for number in named)
            raise InputError(
                f"no column is named after {quote(missing)}, but {shown} are named after languages; name two with "
                f"{given.options.columns}",
                path,
            )
    codes = {number: named_language(names[number]) for number in named}
    first = {code: number for number, code in reversed(codes.items())}
    if len(first) == 2:
        evidence = "named by languages" if len(named) == 2 else "the first of each language that the header names"
        return tuple(sorted(first.values())), evidence
    if roles[0] is not None and roles[1] is not None:
        return (roles[0], roles[1]), "named so"
    if len(texts) < 2:
        raise InputError(f"fewer than two columns are text; name two with {given.options.columns}", path)
    pairs = [
        (_correlation(columns[one], columns[other]), one, other)
        for one, other in combinations(texts, 2)
        if len(texts) == 2 or one not in codes or codes[one] != codes.get(other)  # not a text and its correction
    ]
    pairs = pairs or [(0.0, texts[0], texts[1])]  # all of one language
    best = max(pairs)[0]
    chosen = next(pair for pair in pairs if pair[0] >= best - _CLOSE)
    evidence = "text" if len(pairs) == 1 else f"text, correlation of lengths {chosen[0]:.2f}"
    return chosen[1:], evidence


def _column_of(language: str, names: Mapping[int, str]) -> int | None:
    """The column whose name is this language, with its script and region if possible."""
    for equal in (equal_codes, same_language):
        for number, name in names.items():
            code = named_language(name) or name.strip().casefold()
            if equal(code, language):
                return number
    return None


def _column(name: str, head: Sequence[str], path: Path) -> int:
    if name.isdecimal():
        if len(name) <= MOST_DIGITS and 0 < int(name) <= len(head):
            return int(name) - 1
    elif name in head:
        return list(head).index(name)
    raise InputError(f"no column {quote(name)}; columns are {', '.join(map(quote, head))}", path)


def _is_text(column: Sequence[str], varied: bool = True) -> bool:
    """True for a column of running text, unlike numbers, dates, links and, if ``varied``, cells that repeat."""
    filled = [cell.strip() for cell in column if cell.strip()]
    if len(filled) * 2 < len(column) or not filled:
        return False
    letters = sum(sum(map(str.isalpha, cell)) * 2 > len(cell.replace(" ", "")) and "://" not in cell for cell in filled)
    different = not varied or len(set(filled)) >= min(0.2 * len(filled), 50)
    return letters >= 0.8 * len(filled) and different


def _correlation(one: Sequence[str], other: Sequence[str]) -> float:
    """Pearson's correlation of the logarithms of lengths; 0 if the lengths of a column are equal."""
    lengths = np.array([[math.log(1 + len(cell)) for cell in column] for column in (one, other)])
    if lengths.shape[1] < 2 or not lengths.std(axis=1).all():
        return 0.0
    return float(np.corrcoef(lengths)[0, 1])


def _header(head: Sequence[str], rest: Sequence[Sequence[str]], chosen: Sequence[int]) -> tuple[bool, str]:
    """True if the first row names the columns, and the reason."""
    if all(names_column(head[number]) or len(named_language(head[number])) > 1 for number in chosen):
        return True, "names of languages or roles"
    for number in range(len(head)):
        cells = [row[number] for row in rest]
        if number not in chosen and any(map(str.isalpha, head[number])):
            digits = sum(cell.strip().isdigit() for cell in cells)
            if len(cells) > 4 and digits >= 0.95 * len(cells):
                return True, f"{quote(head[number])} is above numbers"
    words = [np.array([len(row[number]) for row in rest]) for number in chosen]
    if len(rest) > 4 and all(
        0 < len(head[number].strip()) < np.median(lengths) / 2 and re.fullmatch(r"[\w\s()/-]{1,30}", head[number])
        for number, lengths in zip(chosen, words, strict=True)
    ):
        return True, "a short first row without punctuation"
    return False, "the first row is like the others"


# ---- languages ----


def _reversed(given: tuple[str, str], named: Sequence[str], texts: Sequence[Sequence[str]]) -> bool:
    """True if the sides are in the other order than the languages that the user gives."""
    found = [name or language_of_text(lines[:300]).code for name, lines in zip(named, texts, strict=True)]
    fits = [same_language(found[k], given[1 - k]) for k in range(2)]
    return any(fits) and not any(same_language(found[k], given[k]) for k in range(2))


def _languages(
    files: Sequence[Path], texts: Sequence[Sequence[str]], named: tuple[str, str], given: Given, made: Guesses
) -> tuple[str, str]:
    """The languages of both sides: given, or named by format or file, or those of the text."""
    heard = [language_of_text(lines) for lines in texts]
    stated = given.languages or ("", "")
    if all(stated):
        languages, evidence = list(stated), "given"
    else:
        languages, evidence = list(named), "named in the file"
        if not all(languages) and all(found := _of_names(files)):
            languages, evidence = list(found), "named by the files" if len(files) == 2 else "named by the file"
        known = stated if any(stated) else tuple(one.code for one in heard)
        sides = [k for k in range(2) if known[1 - k] or not any(stated)]
        crossed = all(same_language(languages[k], known[1 - k]) for k in sides)
        if crossed and made.settings["format"] not in (*MEMORIES, *OBJECTS):
            languages.reverse()
            evidence = "the text; the names are the wrong way round"
        languages = [own or one for own, one in zip(stated, languages, strict=True)]
        if not all(languages):
            parts = [
                "unknown" if not one.code else f"{one.code} by {one.means}, {one.share:.0%} of the samples"
                for one, language in zip(heard, languages, strict=True)
                if not language
            ]
            other = heard[languages.index("")]
            if any(named) and not any(stated) and other.code and other.means == DETECTOR:
                made.warnings.append(
                    "the header names only one language, and detection, which covers few small languages, took the"
                    f" other text for {other.code}; name both with {given.options.languages}"
                )
            languages = [language or one.code for language, one in zip(languages, heard, strict=True)]
            evidence = "; ".join(dict.fromkeys(parts))
    for side, (language, one) in enumerate(zip(list(languages), heard, strict=True)):
        if not language or (side and equal_codes(language, languages[0])):
            reason = one.means if not language else f"both sides seem to be {language}"
            languages[side] = UNKNOWN[side]
            made.warnings.append(
                f"the {SIDES[side]} language is unknown ({reason}); name both with {given.options.languages}"
            )
        elif (
            one.code
            and one.share > 0.9
            and len(texts[side]) >= SURE
            and not same_language(one.code, language)
            and not code_fault(one.code)
            and (one.means != DETECTOR or detects(language) or same_language(one.code, languages[1 - side]))
        ):
            cure = "check" if all(stated) else "name both with"
            made.warnings.append(
                f"the {SIDES[side]} text looks like {one.code}, not {language}; {cure} {given.options.languages}"
            )
    made.found("languages", f"{languages[0]} to {languages[1]}", evidence, given.options.languages)
    return languages[0], languages[1]


# fmt: off
_OTHER_ENDINGS = frozenset((
    "txt", "text", "raw", "tok", "norm", "clean", "bpe", "seg", "low", "src", "tgt", "trg", "ref", "hyp", "out", "new",
    "old", "dat", "bak", "log", "doc", "csv", "tsv",
))
# fmt: on
"""Endings of texts that are no languages, though three letters might be a code."""


def _of_names(files: Sequence[Path]) -> tuple[str, str]:
    """The languages in names of files: one in each of two names, or two next to each other in one name."""
    parts = [re.split(r"[^\w]+|_", path.name) for path in files]
    codes = [[_code(part) for part in words] for words in parts]
    if len(files) == 1:
        pairs = zip(codes[0], codes[0][1:], strict=False)
        return next(((one, other) for one, other in pairs if one and other and one != other), ("", ""))
    endings = file_ending(files[0]), file_ending(files[1])
    stems = {path.name.lower().rpartition(f".{ending}")[0] for path, ending in zip(files, endings, strict=True)}
    one, other = named_languages(endings)
    if len(stems) == 1 and one and other and one != other and not _OTHER_ENDINGS.intersection(endings):
        return one, other
    own = [[code for code in mine if code and code not in others] for mine, others in (codes, tuple(reversed(codes)))]
    return (own[0][-1], own[1][-1]) if all(own) else ("", "")


def _code(word: str) -> str:
    """The language that a part of a file's name means: a code of two or three small letters, or a name."""
    found = named_language(word) if len(word) > 1 else ""
    return found if not word.isupper() and (len(found) < 4 or word != found) else ""


def rare_words(lines: Sequence[str]) -> float:
    """The share of the words of the last tenth of the lines that earlier lines lack; 0 if they are too few."""
    words = [_WORD.findall(line.lower()) for line in lines]
    known = {word for line in words[: len(words) * 9 // 10] for word in line}
    later = [word for line in words[len(words) * 9 // 10 :] for word in line]
    return sum(word not in known for word in later) / len(later) if len(later) >= _LEAST_WORDS else 0.0


_WORD = re.compile(r"[^\W\d_]+")


def _count(kind: str, files: Sequence[Path], languages: tuple[str, str], made: Guesses) -> None:
    """Reads all pairs once.

    Raises:
        InputError: as for the reader, or no pair has two sides.
    """
    reader = TEXT_READERS[kind]
    names = ("source_column", "target_column", "header", "encoding", "source_field", "target_field")
    settings: Mapping[str, Any] = {name: made.settings[name] for name in names if name in made.settings}
    for pair in progress(reader.read_pairs(files, languages, reader.Settings(**settings)), "counting pairs"):
        fault = pair.fault or ("" if pair.source.strip() and pair.target.strip() else "empty side")
        if fault:
            made.faults[fault] += 1
        else:
            made.pairs += 1
    if not made.pairs:
        raise InputError(f"no pair of sentences{': ' + _faults(made) if made.faults else ''}", files[0])
    _found_pairs(made)


def _faults(made: Guesses) -> str:
    shown = {NOT_DECODED: "undecodable bytes"}
    return ", ".join(f"{count:,} with {shown.get(reason, reason)}" for reason, count in sorted(made.faults.items()))


def _found_pairs(made: Guesses) -> None:
    rest = _faults(made)
    made.found("pairs", f"{made.pairs:,}", f"left out: {rest}" if rest else "all records", "")
