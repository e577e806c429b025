"""Capital letters: their ways out of the text, and back where a sentence begins."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from lscfg.errors import InputError
from lscfg.io.text import read_lines, write_lines

CASINGS = ("true", "lower", "none")

_WORD = re.compile(r"\w+(?:['’-]\w+)*")
_END = {
    True: re.compile(r"\s[.?!…]+\s"),
    False: re.compile(r"[.?!…][^\w\s]*\s|[。！？]"),
}
"""What is between two sentences of a line, where words are tokenised and where not. In tokenised text the full stop of
an abbreviation belongs to its word."""


class Caser(Protocol):
    """A way to write words, and back."""

    def encode(self, line: str) -> str:
        """The line as the translation system has it."""

    def decode(self, line: str) -> str:
        """The line as people have it, as far as that can be told."""


class AsIs:
    """The way of ``none``."""

    def encode(self, line: str) -> str:
        """The same."""
        return line

    def decode(self, line: str) -> str:
        """The same."""
        return line


class Lower:
    """All letters small; back, a sentence begins with a capital letter, and names stay as they are."""

    def __init__(self, tokenised: bool):
        self.tokenised = tokenised

    def encode(self, line: str) -> str:
        """The line in small letters."""
        return line.lower()

    def decode(self, line: str) -> str:
        """The line with a capital letter where a sentence begins, unless the word has one."""
        return raise_starts(line, self.tokenised)


class Truecaser:
    """Words at the beginning of a sentence as they are within one, by counts of forms (Lita et al. 2003, as Moses).

    Args:
        forms: how often each form of a word stands within sentences.
    """

    def __init__(self, forms: dict[str, int], tokenised: bool):
        self.tokenised = tokenised
        self.forms = forms
        self.best: dict[str, str] = {}
        for form, count in forms.items():
            other = self.best.setdefault(form.lower(), form)
            if (-count, form) < (-forms[other], other):
                self.best[form.lower()] = form

    def encode(self, line: str) -> str:
        """The first word of a sentence in its most frequent form, and so any word whose form is new.

        A word that is not known in any form stays.
        """
        starts = _starts(line, self.tokenised)

        def form(found: re.Match[str]) -> str:
            word = found[0]
            if word in self.forms and found.start() not in starts:
                return word
            return self.best.get(word.lower(), word)

        return line if line.islower() else _WORD.sub(form, line)

    def decode(self, line: str) -> str:
        """See ``Lower.decode``."""
        return raise_starts(line, self.tokenised)


def open_caser(casing: str, forms: dict[str, int] | None, tokenised: bool) -> Caser:
    """The caser of one of ``CASINGS``; the forms are for ``true``, and without them it leaves words as they are."""
    if casing == "lower":
        return Lower(tokenised)
    return Truecaser(forms, tokenised) if casing == "true" and forms is not None else AsIs()


def _starts(line: str, tokenised: bool) -> set[int]:
    """Where the first words of sentences begin."""
    begins, end = set(), 0
    for found in _WORD.finditer(line):
        if not end or _END[tokenised].search(line, end, found.start()):
            begins.add(found.start())
        end = found.end()
    return begins


def raise_starts(line: str, tokenised: bool) -> str:
    """The line whose sentences begin with a capital letter; a word that has one anywhere stays."""
    starts = _starts(line, tokenised)

    def form(found: re.Match[str]) -> str:
        word = found[0]
        return word[0].title() + word[1:] if found.start() in starts and word.islower() else word

    return _WORD.sub(form, line)


def count_forms(lines: Iterable[str], tokenised: bool) -> dict[str, int]:
    """How often each form of a word stands within sentences; at the start of one only a small form tells something."""
    counts: Counter[str] = Counter()
    for line in lines:
        starts = _starts(line, tokenised)
        counts.update(
            found[0] for found in _WORD.finditer(line) if found.start() not in starts or found[0] == found[0].lower()
        )
    return dict(counts)


def write_forms(path: Path, forms: dict[str, int]) -> None:
    """Writes a line ``form<TAB>count`` for each form, forms of a word together."""
    write_lines(path, (f"{form}\t{forms[form]}" for form in sorted(forms, key=lambda form: (form.lower(), form))))


def read_forms(path: Path) -> dict[str, int]:
    """What ``write_forms`` wrote.

    Raises:
        InputError: a line is not a form and a count.
    """
    forms = {}
    for number, line in enumerate(read_lines(path), 1):
        form, tab, count = line.partition("\t")
        if not (form and tab and count.isdecimal()):
            raise InputError("not a word and its count; prepare the corpus anew", path, number)
        forms[form] = int(count)
    return forms
