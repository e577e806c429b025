"""UTF-8 text: the byte order mark at its beginning, the ends of its lines, and a guess at other encodings."""

from __future__ import annotations

import os
import re

from lscfg.errors import InputError

MARK = b"\xef\xbb\xbf"
"""The byte order mark, which some editors write before the text. It is not part of the first word."""

_WIDE = {
    b"\xff\xfe\0\0": "UTF-32", b"\0\0\xfe\xff": "UTF-32", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16",
}  # fmt: skip
KENLM = b"mmap lm http"
"""Beginning of KenLM's binary format."""
_BINARY = {
    b"PK\x03\x04": "a ZIP archive or an office document; unpack it, or save it as plain text",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive; unpack it",
    b"Rar!": "a RAR archive; unpack it",
    b"\x04\x22\x4d\x18": "compressed with lz4; unpack it with lz4 -d",
    b"\x1f\x9d": "compressed with compress; unpack it with uncompress",
    b"\xd0\xcf\x11\xe0": "an office document; save it as plain text",
    b"%PDF-": "a PDF document; save its text",
    b"PAR1": "a Parquet table; lscfg prepare corpus reads it",
    KENLM: "a compiled language model of KenLM; name its ARPA file",
}
_TENSORS = b'\0\0\0\0{"'
"""End of the length and beginning of the header in a safetensors file."""
_LOOK = 4096
_HIGH = re.compile(rb"[\x80-\xff]+")


def text_beginning(data: bytes, path: str | os.PathLike[str]) -> bytes:
    """The first bytes of a text without a byte order mark.

    Args:
        data: the first line, or more; the whole text if it has a single line.

    Raises:
        InputError: the text is UTF-16 or UTF-32, an archive or another binary file, or its lines end in a carriage
            return alone.
    """
    if kind := binary_kind(data):
        raise InputError(f"not text but {kind}", path)
    if wide := _wide(data[:_LOOK].partition(b"\n")[0]):
        raise InputError(f"not valid UTF-8; looks like {wide}: iconv -f {wide} -t UTF-8", path, 1)
    if b"\r" in data and b"\n" not in data:
        refuse_returns(data.decode("latin-1"), path)
    return data.removeprefix(MARK)


def binary_kind(data: bytes) -> str:
    """The kind of a binary file by its first bytes, with the cure; empty if they may be text."""
    if data[4:10] == _TENSORS:
        return "a safetensors file, such as models and derivations of lscfg; name the text of which it was made"
    return next((kind for begin, kind in _BINARY.items() if data.startswith(begin)), "")


def refuse_returns(text: str, path: str | os.PathLike[str]) -> None:
    """Refuses the line ends of old Macintosh files.

    Raises:
        InputError: the lines of a text end in a carriage return alone.
    """
    if "\n" not in text and "\r" in text.rstrip("\r"):
        raise InputError("lines end in a carriage return alone; convert them: tr '\\r' '\\n'", path, 1)


def _wide(data: bytes) -> str:
    """UTF-16 or UTF-32, if the first bytes are its mark or mostly Latin letters of it; else an empty text."""
    for mark, name in _WIDE.items():
        if data.startswith(mark):
            return name
    zeros = data.count(b"\0")
    if zeros > 1 and 5 * zeros >= 2 * len(data):
        if zeros == data[1::2].count(b"\0"):
            return "UTF-16LE"
        if zeros == data[::2].count(b"\0"):
            return "UTF-16BE"
    return ""


def not_utf8(
    data: bytes, path: str | os.PathLike[str], line: int, utf8_before: bool = False, cut: bool = False
) -> InputError:
    """The error for a line that is not UTF-8, with a guess of its encoding.

    Args:
        data: the line, or the text from it on.
        utf8_before: lines before it have UTF-8 characters other than ASCII.
        cut: the text ends within a character.
    """
    if cut:
        cure = "the text ends within a character, so the file is cut off; make it again"
    elif utf8_before:
        cure = "earlier lines are, so this line is damaged or of another encoding; correct or remove it"
    else:
        name, code = guess_encoding(data[:_LOOK])
        cure = f"looks like {name}: iconv -f {code} -t UTF-8"
    return InputError(f"not valid UTF-8; {cure}", path, line)


def guess_encoding(data: bytes) -> tuple[str, str]:
    """Guesses the encoding of bytes that are not UTF-8: a name for people, and the name that iconv takes."""
    runs = [len(run) for run in _HIGH.findall(data)]
    if wide := _wide(data):
        return wide, wide
    if sum(length == 1 for length in runs) * 2 > len(runs):  # accented letters among ASCII
        if _decodes(data, "shift_jis") and re.search(rb"[\x81-\x83][\x40-\xf1]", data):
            return "Shift_JIS", "SHIFT_JIS"
        return ("Windows-1252", "WINDOWS-1252") if re.search(rb"[\x80-\x9f]", data) else ("Latin-1", "ISO-8859-1")
    if re.search(rb"(?:\x82[\x9f-\xf1]|\x83[\x40-\x96])", data) and _decodes(data, "shift_jis"):  # kana
        return "Shift_JIS", "SHIFT_JIS"
    if all(length % 2 == 0 for length in runs):
        if re.search(rb"\xa4[\xa1-\xf3]", data) and _decodes(data, "euc_jp"):  # hiragana
            return "EUC-JP", "EUC-JP"
        if _decodes(data, "gb18030"):
            return "GB18030 (or Big5, EUC-KR)", "GB18030"
    return "Windows-1251 or another encoding of one byte per letter", "WINDOWS-1251"


def _decodes(data: bytes, encoding: str) -> bool:
    try:
        data.decode(encoding)
    except UnicodeDecodeError as error:
        return error.start > len(data) - 4 and error.start > 0  # the look may end within a character
    return True
