"""Capital letters: their ways out of the text, and back where a sentence begins."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol

from lscfg.errors import InputError
from lscfg.io.read import read_lines
from lscfg.io.write import write_lines

# Casing works on text, not on tokens: a pattern finds the words. So it serves tokenised lines as well as lines that
# SentencePiece splits later. Moses' rules look at capitals, so they come first.

CASINGS = ("true", "lower", "none")

_LETTERS = r"\w+(?:['’-]\w+)*"
_WORD = re.compile(_LETTERS)
_FIRST = {
    True: re.compile(rf"(?:^|(?<=\s)[.?!…]+\s)\W*(?P<word>{_LETTERS})"),
    False: re.compile(rf"(?:^|[.?!…][^\w\s]*\s|[。！？])\W*(?P<word>{_LETTERS})"),
}
"""The first word of each sentence of a line, where words are tokenised and where not. In tokenised text the full stop
of an abbreviation belongs to its word."""


class Caser(Protocol):
    """A way to write words, and back."""

    def encode(self, line: str) -> str:
        """The line as the translation system has it."""

    def decode(self, line: str) -> str:
        """Restores the casing of a line, as far as it can be inferred."""


class AsIs:
    """The way of ``none``."""

    def encode(self, line: str) -> str:
        """Returns the line unchanged."""
        return line

    def decode(self, line: str) -> str:
        """Returns the line unchanged."""
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
        if not self.forms.keys() >= set(_WORD.findall(line)):
            line = _WORD.sub(lambda found: found[0] if found[0] in self.forms else self._best(found[0]), line)
        return _with_first(line, self.tokenised, self._best)

    def _best(self, word: str) -> str:
        return self.best.get(word.lower(), word)

    def decode(self, line: str) -> str:
        """See ``Lower.decode``."""
        return raise_starts(line, self.tokenised)


def open_caser(casing: str, forms: dict[str, int] | None, tokenised: bool) -> Caser:
    """The caser of one of ``CASINGS``; the forms are for ``true``, and without them it leaves words as they are."""
    if casing == "lower":
        return Lower(tokenised)
    return Truecaser(forms, tokenised) if casing == "true" and forms is not None else AsIs()


def _with_first(line: str, tokenised: bool, change: Callable[[str], str]) -> str:
    """The line with the first word of each sentence changed."""

    def changed(found: re.Match[str]) -> str:
        before = found.start("word") - found.start()
        return found[0][:before] + change(found["word"])

    return _FIRST[tokenised].sub(changed, line)


def raise_starts(line: str, tokenised: bool) -> str:
    """The line whose sentences begin with a capital letter; a word that has one anywhere stays."""
    return _with_first(line, tokenised, lambda word: word[0].title() + word[1:] if word.islower() else word)


def count_forms(lines: Iterable[str], tokenised: bool) -> dict[str, int]:
    """Counts each form of a word within sentences; at the start of a sentence only lower-case forms count."""
    counts: Counter[str] = Counter()
    for line in lines:
        counts.update(_WORD.findall(line))
        counts.subtract(word for word in _FIRST[tokenised].findall(line) if word != word.lower())
    return dict(+counts)


def write_forms(path: Path, forms: dict[str, int]) -> None:
    """Writes a line ``form<TAB>count`` for each form, forms of a word together."""
    write_lines(path, (f"{form}\t{forms[form]}" for form in sorted(forms, key=lambda form: (form.lower(), form))))


def read_forms(path: Path) -> dict[str, int]:
    """Reads the file of ``write_forms``.

    Raises:
        InputError: a line is not a form and a count.
    """
    forms = {}
    for number, line in enumerate(read_lines(path), 1):
        form, tab, count = line.partition("\t")
        if not (form and tab and count.isdecimal()):
            raise InputError("not a word and its count; prepare the corpus again", path, number)
        forms[form] = int(count)
    return forms
