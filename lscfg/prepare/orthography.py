"""Orthography: ordered rewrites that give the target side of the training text the spelling of the other texts."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from lscfg.errors import InputError, counted, quote
from lscfg.io.read import read_lines
from lscfg.prepare.characters import marks

# Texts of a small language come in several spellings: Shipibo has quesca and keska, Guaraní ã and â. The translations
# should have one. A table rewrites one-way, since the other direction is often ambiguous (c and qu are both k).

EDGE = "_"
"""The beginning or end of a word in a context."""
LEAST = 3
"""Minimum number of letters of a word that stays because the source contains it."""
NOT = "!"
"""Begins a context of letters that must not be there."""
COLUMNS = ("old letters", "new letters", "letters before", "letters after")


@dataclass(frozen=True)
class Rewrite:
    """Letters to replace.

    Args:
        old, new: letters in lower case; a capital first letter stays a capital.
        before, after: letters one of which must be next to the old ones; ``_`` is the edge of a word, and a context
            that begins with ``!`` lists the letters that must not be there. Empty: any.
    """

    old: str
    new: str
    before: str = ""
    after: str = ""

    @property
    def pattern(self) -> re.Pattern[str]:
        """Matches the old letters in their context, in lower case."""
        before, after = _context(self.before, "<"), _context(self.after, "")
        return re.compile(f"{before}{re.escape(self.old)}{after}(?![{marks()}])")


class Orthography:
    """Applies rewrites in their order, each everywhere in the line."""

    def __init__(self, rewrites: Iterable[Rewrite]):
        self._rewrites = [(rewrite, rewrite.pattern) for rewrite in rewrites]

    def apply(self, line: str, source: str = "") -> str:
        """The line in the new spelling; the result is NFC.

        Args:
            source: source sentence; words of three letters or more that it shares with the line, names and loans, stay.
        """
        if not self._rewrites:
            return line
        line = unicodedata.normalize("NFC", line)
        shared = _long_words(unicodedata.normalize("NFC", source)) & _long_words(line)
        if not shared:
            return self._rewritten(line)
        parts, end = [], 0
        for word in _word().finditer(line):
            if word[0].casefold() in shared:
                parts += [self._rewritten(line[end : word.start()]), word[0]]
                end = word.end()
        return "".join([*parts, self._rewritten(line[end:])])

    def _rewritten(self, line: str) -> str:
        for rewrite, pattern in self._rewrites:
            lower = line.replace("İ", "i").lower()  # the only letter whose small form is two characters
            if rewrite.old in lower:
                line = _replaced(line, lower, rewrite.new, pattern)
        return unicodedata.normalize("NFC", line)


@cache
def _word() -> re.Pattern[str]:
    return re.compile(rf"\w[\w{marks()}]*")


def _long_words(line: str) -> set[str]:
    """The words of three letters or more, without regard to case."""
    return {word.casefold() for word in _word().findall(line) if len(word) >= LEAST}


def _replaced(line: str, lower: str, new: str, pattern: re.Pattern[str]) -> str:
    parts, end = [], 0
    for found in pattern.finditer(lower):
        i, j = found.span()
        parts += [line[end:i], _cased(new, line[i:j], lower[i:j], line[max(0, i - 1) : i] + line[j : j + 1])]
        end = j
    return "".join(parts) + line[end:]


def _cased(new: str, old: str, lower: str, around: str) -> str:
    """The new letters in the casing of the old ones; a single letter may be in a word of capitals.

    Args:
        around: the letters before and after the old ones.
    """
    in_capitals = around.isupper() and not any(map(str.islower, around))
    if old == lower:
        without_capital = len(old) == 1 and old.isalpha() and len(old.upper()) > 1  # ß
        return new.upper() if without_capital and in_capitals else new
    if old.isupper() and (len(old) > 1 or in_capitals):
        return new.upper()
    return new[:1].upper() + new[1:]


def _context(letters: str, behind: str) -> str:
    """A look-ahead, or a look-behind with ``<``."""
    if not letters:
        return ""
    refused = letters.startswith(NOT)
    letters = letters.removeprefix(NOT)
    word = rf"\w{marks()}"
    parts = [f"[{re.escape(letters.replace(EDGE, ''))}]"] if letters.replace(EDGE, "") else []
    if EDGE in letters:
        parts.append(f"(?<![{word}])" if behind else f"(?![{word}])")
    if refused:
        return "".join(f"(?{behind}!{part})" if part.startswith("[") else _positive(part) for part in parts)
    looks = [f"(?{behind}={part})" if part.startswith("[") else part for part in parts]
    return f"(?:{'|'.join(looks)})"


def _positive(look: str) -> str:
    """The look-around that a negative one negates."""
    return look.replace("!", "=", 1)


def read_orthography(path: str | os.PathLike[str]) -> Orthography:
    """Reads a table: a rewrite a line, two to four columns between tabs (``COLUMNS``); ``#`` begins a comment.

    Raises:
        InputError: a line is not a rewrite, or there is none.
    """
    rewrites = []
    for number, line in enumerate(read_lines(path), 1):
        if line.strip() and not line.startswith("#"):
            rewrites.append(_rewrite(line.rstrip("\n").split("\t"), path, number))
    if not rewrites:
        raise InputError(f"contains no rewrite; give lines of {', '.join(COLUMNS)} with tabs between them", path)
    return Orthography(rewrites)


def _rewrite(columns: Sequence[str], path: str | os.PathLike[str], number: int) -> Rewrite:
    if not 2 <= len(columns) <= len(COLUMNS):
        raise InputError(
            f"has {counted(len(columns), 'column')}; give {', '.join(COLUMNS)} with tabs between them", path, number
        )
    found = [unicodedata.normalize("NFC", column.strip()) for column in columns]
    if not found[0]:
        raise InputError("names no letters to replace in its first column", path, number)
    for name, column in zip(COLUMNS, found, strict=False):
        if column != column.lower():
            raise InputError(f"has capitals in {name}, {quote(column)}; write small letters", path, number)
        if " " in column:
            raise InputError(f"has a blank in {name}, {quote(column)}; {EDGE} means the edge of a word", path, number)
    return Rewrite(*found)
