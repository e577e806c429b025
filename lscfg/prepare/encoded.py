"""Text in any encoding: the setting that names the encoding, and lines of a file in it."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lscfg.errors import InputError
from lscfg.io.read import open_bytes, stream_lines
from lscfg.settings import Declared, setting

NOT_DECODED = "not decoded"
"""The fault of a pair with bytes that its encoding does not have."""

_LOST = "\N{REPLACEMENT CHARACTER}"

ENCODINGS = (
    "utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255",
    "cp1256", "cp1257", "cp1258", "iso-8859-1", "iso-8859-2", "iso-8859-5", "iso-8859-7", "iso-8859-9", "iso-8859-15",
    "koi8-r", "koi8-u", "mac-roman", "cp437", "cp850", "cp874", "cp932", "euc-jp", "gb18030", "big5", "cp949",
)  # fmt: skip
"""Names of Python's codecs. cp932 is Shift-JIS, cp949 extends EUC-KR, gb18030 extends GBK and GB 2312."""


@dataclass(frozen=True)
class EncodedSettings(Declared):
    """The encoding of a text."""

    encoding: str | None = setting(
        None,
        "encoding of the raw text; pairs with undecodable bytes are then dropped",
        choices=ENCODINGS,
        shown="UTF-8, where such bytes are an error",
    )


def encoded_lines(path: Path, encoding: str | None) -> Iterator[str]:
    """Yields the lines of a file as ``lscfg.io.read.stream_lines`` does.

    Args:
        encoding: None is UTF-8 and strict; otherwise U+FFFD replaces what the encoding does not have.

    Raises:
        InputError: the file cannot be read, or is not UTF-8 and has no given encoding.
    """
    if encoding is None:
        yield from stream_lines(path)
        return
    with open_bytes(path) as file:
        try:
            with io.TextIOWrapper(file, encoding, errors="replace", newline="\n") as text:
                for number, line in enumerate(text):
                    line = line.removesuffix("\n").rstrip("\r")
                    yield line if number else line.removeprefix("\ufeff")
        except UnicodeError as error:  # UTF-16 without its mark
            raise InputError(f"not {encoding}: {error}", path) from error


def decoding_fault(*texts: str) -> str:
    """The fault of texts that were decoded with an encoding they are not in; empty if they have none."""
    return NOT_DECODED if any(_LOST in text for text in texts) else ""
