"""Format and encoding of a file of raw text, by its content."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from lscfg.errors import InputError, quote
from lscfg.io.compression import compression_of
from lscfg.io.encoding import MARK, binary_kind, refuse_returns
from lscfg.io.read import open_bytes
from lscfg.json_text import parse_json
from lscfg.prepare.csv_table import SEPARATORS, separator_of
from lscfg.prepare.reader import TEXT, file_ending, kind_of_ending
from lscfg.prepare.subtitles import CUE_TIMES
from lscfg.prepare.tongues import encoding_of_text

LOOK = 1 << 24
"""Bytes of a file that are looked at."""

BAD = 0.02
"""Share of lines that are not UTF-8 up to which a text is UTF-8 with damaged lines."""

REGULAR = 0.6
"""Share of the rows of a table that have the same number of columns."""

_ROOT = re.compile(r"<(?!\?|!)\s*(?:\w+:)?([\w.-]+)")
_MARKS = (b"\xff\xfe", b"\xfe\xff")
OWN_ENCODING = frozenset(("xlsx", "parquet", "tmx", "xliff"))
"""Formats that name their encoding themselves."""


class Guess(NamedTuple):
    """A value with its evidence; ``value`` is None for the default."""

    value: str | None
    evidence: str


class FileBeginning(NamedTuple):
    """The beginning of a file, decompressed.

    Attributes:
        compression: name of the compression, if any.
    """

    path: Path
    data: bytes
    compression: str | None

    @classmethod
    def of(cls, path: Path) -> FileBeginning:
        """Reads a file.

        Raises:
            InputError: the file cannot be read, is empty, or its compressed data are damaged.
        """
        with open_bytes(path) as file:
            data = file.read(LOOK)
        if not data.strip():
            raise InputError("is empty", path)
        with open(path, "rb") as file:
            compression = compression_of(file.read(10))
        return cls(path, data, compression)


def find_encoding(look: FileBeginning, option: str) -> Guess:
    """The encoding of a text: by its byte order mark, as valid UTF-8, else by its bytes.

    Args:
        option: option that names the encoding, for messages.

    Raises:
        InputError: no known encoding fits.
    """
    if look.data.startswith(_MARKS):
        return Guess("utf-16", "byte order mark")
    if b"\0" not in look.data[:4096]:
        end = look.data.rfind(b"\n") + 1 if len(look.data) >= LOOK else len(look.data)
        lines = look.data[:end].split(b"\n")
        bad = sum(not _is_utf8(line) for line in lines)
        if not bad:
            return Guess(None, "byte order mark" if look.data.startswith(MARK) else "valid")
        good = sum(not line.isascii() and _is_utf8(line) for line in lines)
        if bad <= BAD * len(lines) and good > bad:
            return Guess("utf-8", f"lines: {good:,} valid, {bad:,} damaged and left out")
    codec, means = encoding_of_text(look.data)
    if codec is None:
        raise InputError(f"neither UTF-8 nor a known encoding; name the encoding with {option}", look.path)
    return Guess(codec, means)


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def decoded(look: FileBeginning, encoding: str | None) -> str:
    """The beginning of a text."""
    return look.data.decode(encoding or "utf-8", "replace").removeprefix("\ufeff")


def find_format(looks: Sequence[FileBeginning], encoding: str | None) -> Guess:
    """The kind of source of files, by their content.

    Args:
        encoding: of the first file.

    Raises:
        InputError: the content is nothing that a reader reads, its lines end in a carriage return alone, or one file
            has one side only.
    """
    first = looks[0]
    if binary := _binary(first):
        return binary
    text = decoded(first, encoding)
    start = text[: 1 << 16].lstrip()
    if start.startswith("<") and (root := _ROOT.search(start)) and (kind := _xml(root[1], first.path)):
        return Guess(kind, f"root <{root[1]}>")
    refuse_returns(text, first.path)
    lines = [line.rstrip("\r") for line in text.split("\n")[:1000]]
    if start.startswith(("{", "[")) and (evidence := _json(start, lines)):
        return Guess("jsonl", evidence)
    if len(looks) == 1 and re.match(r'\{\s*"[^"]*"\s*:', start):
        fault = f"looks like JSON, but {_json_fault(lines)}"
        raise InputError(f"{fault}; give one object per line, or a list of objects", first.path)
    if any(map(CUE_TIMES.match, lines[:50])):
        if len(looks) != 2:
            raise InputError("subtitles take two files: those of the other language are missing", first.path)
        return Guess("srt", "times of subtitles")
    found = separator_of([line for line in lines if line.strip()])
    pair = len(looks) == 2 and kind_of_ending(first.path) in (None, TEXT)
    if found.columns > 1 and found.share >= REGULAR and (not pair or (found.sign == "\t" and found.share > 0.9)):
        evidence = f"{found.columns} columns between {SEPARATORS[found.sign]} in {found.share:.0%} of the rows"
        quoted = found.sign != "\t" or _is_quoted(lines) or _quotes_join_lines(lines, found.columns)
        return Guess("csv" if quoted else "tsv", evidence)
    if len(looks) == 2:
        return Guess(TEXT, "two files of lines")
    raise InputError(
        "no table, translation memory or list of objects; plain text takes two files: name its translation, too",
        first.path,
    )


def _binary(look: FileBeginning) -> Guess | None:
    """The format of a file that is not text.

    Raises:
        InputError: an archive, a document that is not a spreadsheet, or another binary file.
    """
    if look.data.startswith(b"PAR1"):
        return Guess("parquet", "first bytes")
    if look.data.startswith(b"\xd0\xcf\x11\xe0"):
        return Guess("xlsx", "first bytes of an old office document")
    if not look.data.startswith(b"PK\x03\x04"):
        if kind := binary_kind(look.data):
            raise InputError(f"not text but {kind}", look.path)
        return None
    try:
        names = set(zipfile.ZipFile(io.BytesIO(look.data)).namelist())
    except zipfile.BadZipFile:
        names = set()
    if any(name.startswith("xl/workbook") for name in names) or file_ending(look.path) == "ods":
        return Guess("xlsx", "a workbook in a ZIP archive")
    if not names:
        raise InputError("a ZIP archive or an office document that is damaged or too large; save it again", look.path)
    cure = "unpack it, or save its table as a spreadsheet, or its text as two files"
    raise InputError(f"a ZIP archive without a workbook; {cure}", look.path)


def _xml(root: str, path: Path) -> str | None:
    if root in ("tmx", "xliff"):
        return root
    if root.lower() in ("html", "body", "p", "b", "i"):
        return None  # text with markup
    raise InputError(f"XML with the root element {quote(root)}; lscfg reads tmx and xliff", path)


def _json(start: str, lines: Sequence[str]) -> str:
    """The evidence for JSON; empty if a text only begins with a bracket."""
    if start.startswith("["):
        return "a list of objects" if re.match(r"\[\s*\{", start) else ""
    good = 0
    for line in lines[:20]:
        try:
            good += isinstance(parse_json(line, nan=True), dict)
        except ValueError:
            continue
    return "an object on each line" if good * 2 > sum(bool(line.strip()) for line in lines[:20]) else ""


def _json_fault(lines: Sequence[str]) -> str:
    """Says which line is no JSON object, and why."""
    for number, line in enumerate(lines, 1):
        try:
            if line.strip() and not isinstance(parse_json(line, nan=True), dict):
                return f"line {number} is not an object"
        except ValueError as error:
            return f"line {number} is not JSON ({error})"
    return "most lines are not JSON"


def _is_quoted(lines: Sequence[str]) -> bool:
    """True if fields between tabs are in the quotes of a spreadsheet; a quotation alone is not evidence."""
    fields = [field.strip() for line in lines for field in line.split("\t")]
    begun = [field for field in fields if field.startswith('"')]
    whole = [field for field in begun if re.fullmatch(r'"(?:[^"]|"")*"', field)]
    doubled = any('""' in field[1:-1] for field in whole)
    return bool(whole) and len(whole) >= 0.9 * len(begun) and (doubled or len(whole) >= 0.9 * len(lines))


def _quotes_join_lines(lines: Sequence[str], columns: int) -> bool:
    """True if some cells contain line ends or tabs: most wrong rows become right if they are read as fields in quotes.

    Args:
        lines: the beginning of the file, which may end inside a cell.
    """
    wrong_lines = sum(line.count("\t") != columns - 1 for line in lines if line.strip())
    if not wrong_lines:
        return False
    reader, rows = csv.reader([f"{line}\n" for line in lines], delimiter="\t", strict=True), list[list[str]]()
    try:
        for row in reader:
            rows += [row] if row else []
    except csv.Error:
        if reader.line_num < len(lines):
            return False
    joined = any("\n" in field or "\t" in field for row in rows for field in row)
    wrong = sum(len(row) != columns for row in rows)
    return joined and wrong <= BAD * len(rows) and 2 * wrong <= wrong_lines
