"""Parallel text: two files (and an alignment) line by line, checked before any work is done."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from lscfg.errors import InputError
from lscfg.text import read_lines

_RESERVED = re.compile(r"(?:^| )(\|\|\||\[[^ ]+\])(?= |$)")
_BLANKS = re.compile(r"[\t\r\v\f\u0000]")


def check_sentences(lines: Sequence[str], path: str | os.PathLike[str], allow_empty: bool = False) -> None:
    """Refuses what cannot stand in a grammar: empty lines, control characters, and words that look like nonterminals.

    Raises:
        InputError: the first bad line, with the cure.
    """
    for number, line in enumerate(lines, 1):
        if not allow_empty and not line.strip(" "):
            raise InputError("empty line; remove this pair from both sides", path, number)
        if match := _BLANKS.search(line):
            raise InputError(f"control character {match[0]!r}; separate words by single blanks", path, number)
        if match := _RESERVED.search(line):
            raise InputError(f"the word {match[1]!r} is reserved in grammars; replace it in the text", path, number)


def read_parallel(
    src: str | os.PathLike[str], tgt: str | os.PathLike[str], allow_empty: bool = False
) -> tuple[list[str], list[str]]:
    """Both sides of a parallel corpus, tokenised sentences a line.

    Raises:
        InputError: the sides differ in length, or a line is empty, not UTF-8 or has a reserved word.
    """
    sides = read_lines(src), read_lines(tgt)
    if len(sides[0]) != len(sides[1]):
        raise InputError(f"{len(sides[1])} lines, but {src} has {len(sides[0])}; line n must translate line n", tgt)
    if not sides[0]:
        raise InputError("the corpus is empty", src)
    for lines, path in zip(sides, (src, tgt), strict=True):
        check_sentences(lines, path, allow_empty)
    return sides
