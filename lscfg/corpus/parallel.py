"""Parallel text: two files (and an alignment) line by line, checked before any work is done."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from lscfg.errors import InputError, counted, quote
from lscfg.io.read import read_lines, stream_lines
from lscfg.kernel import words_fault

_OF_CDEC = re.compile(r"\s*(?:(\(\(\(['\"])|<seg\b[^>]*>)", re.IGNORECASE)
_SGML = re.compile(r"\s*<((?:src|ref|tst)set|mteval|doc)\b[^>]*>\s*", re.IGNORECASE)
_SEGMENT = re.compile(r"\s*<seg\b[^>]*>.*</seg>\s*", re.IGNORECASE)
_LIST = re.compile(r"\d+ \|\|\| ")


def check_sentence(line: str, path: str | os.PathLike[str] | None, number: int, allow_empty: bool = False) -> None:
    """Refuses what cannot appear in a grammar; see ``check_sentences``.

    Raises:
        InputError: the line is empty without ``allow_empty``, or ``words_fault`` finds a fault in it.
    """
    if not allow_empty and not line.strip(" "):
        raise InputError("empty line; remove this pair from both sides, as lscfg prepare does", path, number)
    if fault := words_fault(line):
        raise InputError(fault, path, number)


READERS = "only lscfg decode, lscfg tune weights and cdec read it"
"""Cure of a line that is not a sentence."""


def check_plain(lines: Iterable[str], path: str | os.PathLike[str], cure: str = READERS) -> None:
    """Refuses cdec's lattices and segments and SGML sets, which would otherwise count as words.

    Args:
        cure: end of the message.

    Raises:
        InputError: the first of them.
    """
    for number, line in enumerate(lines, 1):
        if fault := plain_fault(line, cure) or sgml_fault(line):
            raise InputError(fault, path, number)


def sgml_fault(line: str) -> str | None:
    """Describes the fault of a line of a file that is a tag of an SGML set; None for another line."""
    found = _SGML.fullmatch(line)
    return found and f"<{found[1]}> of an SGML set, not words; keep the words of its segments, one sentence a line"


def plain_fault(line: str, cure: str = READERS) -> str | None:
    """Describes the fault of a line that must consist of words but is other cdec input; None if the line is good."""
    if not (found := _OF_CDEC.match(line)):
        return None
    kind = "lattice" if found[1] else "segment"
    return f"a {kind} of cdec's, not words; {cure}"


def check_sentences(lines: Sequence[str], path: str | os.PathLike[str], allow_empty: bool = False) -> None:
    """Refuses lines that a grammar cannot contain.

    These are empty lines, control characters, spaces other than the blank, and words that look like nonterminals.

    Raises:
        InputError: the first bad line, with the cure.
    """
    for number, line in enumerate(lines, 1):
        check_sentence(line, path, number, allow_empty)


def check_plain_sentences(lines: Sequence[str], path: str | os.PathLike[str]) -> None:
    """Refuses what ``check_plain`` and ``check_sentences`` refuse, except empty lines.

    Raises:
        InputError: the first bad line, with the cure.
    """
    check_plain(lines, path)
    check_sentences(lines, path, allow_empty=True)


def check_length(lines: int, path: str | os.PathLike[str], wanted: int, other: str | os.PathLike[str]) -> None:
    """Refuses a file that has not as many lines as another one.

    Raises:
        InputError: both are named, with their numbers of lines.
    """
    if lines != wanted:
        raise InputError(
            f"{counted(lines, 'line')}, but {other} has {wanted:,}; both need the same number of lines", path
        )


def read_scored_lines(
    path: str | os.PathLike[str], wanted: int | None = None, other: str | os.PathLike[str] = ""
) -> list[str]:
    """Reads translations or references, one a line, for scores.

    Args:
        wanted: number of lines; None: any.
        other: file with so many lines, for the message.

    Raises:
        InputError: the file cannot be read; it has another number of lines; or its lines are k-best lists, several
            references each, segments, an SGML set, or columns between tabs.
    """
    lines = read_lines(path)
    if lines and (_LIST.match(lines[0]) or all(" ||| " in line for line in lines)):
        raise InputError("|||, as in k-best lists; keep one translation a line, and nothing else", path, 1)
    for number, line in enumerate(lines, 1):
        if fault := sgml_fault(line) or (_SEGMENT.fullmatch(line) and plain_fault(line, "keep its words alone")):
            raise InputError(fault, path, number)
    if len(lines) > 1 and len(tabs := {line.count("\t") for line in lines}) == 1 and tabs != {0}:
        raise InputError("columns between tabs, not translations; write each column to a file", path, 1)
    if wanted is not None:
        check_length(len(lines), path, wanted, other)
    return lines


def check_words(words: Iterable[str]) -> None:
    """Refuses words that do not survive writing and reading a grammar file.

    Raises:
        InputError: the first such word.
    """
    for word in words:
        if not word or " " in word or words_fault(word):
            raise InputError(
                f"the word {quote(word)} cannot appear in a grammar; replace it in the text and start again"
            )


def stream_aligned(
    src: str | os.PathLike[str], tgt: str | os.PathLike[str], alignment: str | os.PathLike[str]
) -> Iterator[tuple[str, str, str]]:
    """Source sentence, target sentence and links, pair by pair, in memory for one pair.

    Raises:
        InputError: the files differ in length or hold no line, or a sentence is refused by ``check_sentence``.
    """
    number = 0
    paths = (src, tgt, alignment)
    for number, lines in enumerate(zip_longest(*map(stream_lines, paths)), 1):
        f, e, links = lines
        if f is None or e is None or links is None:
            shorter = next(path for path, line in zip(paths, lines, strict=True) if line is None)
            longer = next(path for path, line in zip(paths, lines, strict=True) if line is not None)
            raise InputError(
                f"{counted(number - 1, 'line')}, but {longer} has more; both need the same number of lines", shorter
            )
        check_sentence(f, src, number)
        check_sentence(e, tgt, number)
        yield f, e, links
    if not number:
        raise InputError("the corpus is empty", src)


def read_parallel(
    src: str | os.PathLike[str], tgt: str | os.PathLike[str], allow_empty: bool = False
) -> tuple[list[str], list[str]]:
    """Both sides of a parallel corpus, tokenised sentences a line.

    Raises:
        InputError: the sides differ in length, or a line is empty, not UTF-8 or has a reserved word.
    """
    sides = read_lines(src), read_lines(tgt)
    check_length(len(sides[1]), tgt, len(sides[0]), src)
    if not sides[0]:
        raise InputError("the corpus is empty", src)
    for lines, path in zip(sides, (src, tgt), strict=True):
        check_sentences(lines, path, allow_empty)
    return sides
