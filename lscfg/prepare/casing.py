"""Casing: removal of capital letters, and restoration at the beginning of sentences."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Protocol

from lscfg.errors import InputError
from lscfg.io.numbers import MOST_DIGITS
from lscfg.io.read import read_lines
from lscfg.io.write import write_lines
from lscfg.prepare.characters import ENDS, JOINERS, WIDE_ENDS, marks
from lscfg.prepare.languages import base_language, has_dotted_i
from lscfg.prepare.spacing import JOINER, MARKS

# Casing works on text, not on tokens: a pattern finds the words. So it serves tokenised lines as well as lines that
# SentencePiece splits later. Moses' rules look at capitals, so they come first.

CASINGS = ("true", "lower", "none")

_ENDS, _WIDE_ENDS = frozenset(ENDS), frozenset(WIDE_ENDS)
_APOSTROPHES = "'’"
_SIGNS_IN_BRACKETS = re.compile(r"[(\[{][^()\[\]{}]*[)\]}]")
_JOINED, _MARK = re.compile(f" {JOINER}|{JOINER} "), re.compile(f"[{MARKS}]")
_LEAST_STARTS = 20
"""Minimum number of lines with cased letters that decide if lines begin with a capital letter."""
_NAME = 3
"""Minimum number of first letters, without accents, that a name shares with its translation."""


@cache
def _words() -> re.Pattern[str]:
    letter = rf"\w[\w{marks()}{JOINERS}]*"
    return re.compile(rf"{letter}(?:['’-]{letter})*")


@cache
def _cut_abbreviations() -> re.Pattern[str]:
    return re.compile(rf"(?<![^ ])[^\W\d] [{MARKS}]*\.[{MARKS}]* (?=([^\W\d]) [{MARKS}]*\.)")


class Letters:
    """Small and capital letters as a language pairs them; all results keep the normal form NFC.

    Unicode's SpecialCasing.txt is the source for Turkish, Azeri and Lithuanian; Python knows the rest of that file,
    such as the final sigma.

    Args:
        language: any code; an unknown one means the rules that languages share.
    """

    def __init__(self, language: str = ""):
        base = base_language(language)
        self._dotted, self._lithuanian, self._dutch = has_dotted_i(language), base == "lt", base == "nl"
        self.ends = _ENDS | {";"} if base == "el" else _ENDS  # the Greek question mark
        self.small_starts = frozenset("nstkmdr") if base in ("nl", "af") else frozenset()
        """Letters that stay small after an apostrophe: Dutch ``'s Avonds`` and Afrikaans ``'n Man`` begin sentences."""

    def lower(self, text: str) -> str:
        """The text in small letters; Cherokee, which is written in capitals, stays."""
        low = text
        if self._dotted:
            low = low.replace("I\u0307", "i").replace("İ", "i").replace("I", "ı")
        elif self._lithuanian:  # i, j and į keep their dots below accents
            low = re.sub("[ÌÍĨ]", lambda found: "i\u0307" + unicodedata.normalize("NFD", found[0])[1:], low)
            low = re.sub("([IJĮ])(?=[\u0300\u0301\u0303])", lambda found: found[0].lower() + "\u0307", low)
        low = _CHEROKEE.sub(lambda found: found[0].lower(), low) if _CHEROKEE_LETTER.search(low) else low.lower()
        return _composed(low, text)

    def title(self, word: str) -> str:
        """The word with a capital first letter; signs such as the Hawaiian ʻokina may precede the letter."""
        at = 0
        while at < len(word) - 1 and unicodedata.category(word[at]) == "Lm" and word[at].title() == word[at]:
            at += 1
        before, first, rest = word[:at], word[at], word[at + 1 :]
        if self._dotted and first == "i":
            first = "İ"
        elif self._dutch and (pair := re.match("ij|íj\u0301", word)):
            first, rest = pair[0].upper(), word[pair.end() :]
        else:
            if self._lithuanian and first in "ijį":
                rest = rest.removeprefix("\u0307")
            first = first.title()
        return _composed(before + first + rest, word)


_CHEROKEE_LETTER, _CHEROKEE = re.compile("[Ꭰ-Ᏽ]"), re.compile("[^Ꭰ-Ᏽ]+")


def _composed(new: str, old: str) -> str:
    """The new text, composed if the old one was: small letters compose with marks that capitals do not compose with."""
    if new.isascii() or not unicodedata.is_normalized("NFC", old):
        return new
    return unicodedata.normalize("NFC", new)


class Caser(Protocol):
    """A casing of words and its inverse."""

    def encode(self, line: str) -> str:
        """The line in the casing of the translation system."""

    def decode(self, line: str) -> str:
        """Restores the casing of a line, as far as it can be inferred."""


class AsIs:
    """The casing ``none``."""

    def encode(self, line: str) -> str:
        """Returns the line unchanged."""
        return line

    def decode(self, line: str) -> str:
        """Returns the line unchanged."""
        return line


class Lower:
    """Small letters only; restored names stay small.

    Args:
        starts: restored sentences begin with a capital letter.
    """

    def __init__(self, tokenised: bool, language: str = "", starts: bool = True):
        self.tokenised, self.letters, self.starts = tokenised, Letters(language), starts

    def encode(self, line: str) -> str:
        """The line in small letters."""
        return self.letters.lower(line)

    def decode(self, line: str) -> str:
        """The line with a capital letter where a sentence begins, unless the word has one or ``starts`` is false."""
        return raise_starts(line, self.tokenised, self.letters) if self.starts else line


class Truecaser:
    """Words at the beginning of a sentence in their usual form within sentences (Lita et al. 2003, as in Moses).

    Args:
        forms: see ``count_forms``.
        starts: see ``Lower``.
    """

    def __init__(self, forms: dict[str, int], tokenised: bool, language: str = "", starts: bool = True):
        self.tokenised, self.letters, self.starts = tokenised, Letters(language), starts
        self.forms = forms
        self.best: dict[str, str] = {}
        for form, count in forms.items():
            low = self.letters.lower(form)
            other = self.best.setdefault(low, form)
            if (-count, form) < (-forms[other], other):
                self.best[low] = form

    def encode(self, line: str) -> str:
        """Writes the first word of a sentence, and every word in an unknown form, in its most frequent form.

        A word without a known form stays.
        """
        if not self.forms.keys() >= set(_words().findall(line)):
            line = _words().sub(lambda found: found[0] if found[0] in self.forms else self._best(found[0]), line)
        return _with_first(line, self.tokenised, self.letters, self._best)

    def _best(self, word: str) -> str:
        return self.best.get(self.letters.lower(word), word)

    def decode(self, line: str) -> str:
        """See ``Lower.decode``."""
        return raise_starts(line, self.tokenised, self.letters) if self.starts else line


def open_caser(casing: str, forms: dict[str, int] | None, tokenised: bool, language: str, starts: bool = True) -> Caser:
    """The caser of one of ``CASINGS``; ``true`` needs the forms, and does not change words without them."""
    if casing == "lower":
        return Lower(tokenised, language, starts)
    return Truecaser(forms, tokenised, language, starts) if casing == "true" and forms is not None else AsIs()


# ---- beginnings of sentences ----


def _first_words(line: str, tokenised: bool, letters: Letters) -> Iterator[re.Match[str]]:
    """The first word of each sentence of a line, in time linear in the line.

    In tokenised text the full stop of an abbreviation belongs to its word, so a stop alone ends a sentence, but not if
    marks join the stop and the next word. Elsewhere a blank must follow the stop, with no letter between them. Brackets
    with signs only, such as ``(?)`` and ``[...]``, end no sentence.
    """
    end, begins = 0, True
    for word in _words().finditer(line):
        gap = line[end : word.start()]
        begins = begins or _ends_sentence(gap, tokenised, letters.ends)
        end = word.end()
        if begins and not (word[0] in letters.small_starts and gap.rstrip(" " + MARKS).endswith(tuple(_APOSTROPHES))):
            begins = False
            yield word


def _ends_sentence(gap: str, tokenised: bool, ends: frozenset[str]) -> bool:
    """True if a sentence ends between two words."""
    gap = _SIGNS_IN_BRACKETS.sub("", gap)
    pieces = gap.split(" ")
    if tokenised:  # the first and the last piece belong to the words
        pieces = _JOINED.sub(JOINER, " ".join(pieces[1:])).split(" ")
        return any(token and ends.issuperset(token) for piece in pieces[:-1] for token in _MARK.split(piece))
    return not _WIDE_ENDS.isdisjoint(gap) or any(not ends.isdisjoint(piece) for piece in pieces[:-1])


def _with_first(line: str, tokenised: bool, letters: Letters, change: Callable[[str], str]) -> str:
    """The line with the first word of each sentence changed."""
    parts, end = [], 0
    for word in _first_words(line, tokenised, letters):
        parts += [line[end : word.start()], change(word[0])]
        end = word.end()
    return "".join(parts) + line[end:]


def raise_starts(line: str, tokenised: bool, letters: Letters | None = None) -> str:
    """The line whose sentences begin with a capital letter; a word that contains one stays.

    The second letter of an abbreviation that the tokeniser cuts, such as ``p . m .``, stays, too.
    """
    letters = letters or Letters()
    inside = {found.start(1) for found in _cut_abbreviations().finditer(line)} if tokenised else ()
    parts, end = [], 0
    for word in _first_words(line, tokenised, letters):
        raised = word[0].islower() and word.start() not in inside
        parts += [line[end : word.start()], letters.title(word[0]) if raised else word[0]]
        end = word.end()
    return "".join(parts) + line[end:]


# ---- forms of words ----


def count_forms(
    lines: Iterable[str], tokenised: bool, language: str = "", names: Collection[str] = ()
) -> dict[str, int]:
    """Counts each form of a word within sentences; at the start of a sentence only lower-case forms count.

    A word that occurs at starts only, with a capital letter, is written like most words of one occurrence within
    sentences: if these are small, the small form is added with the count 0.

    Args:
        names: words that keep their capital letters.
    """
    counts: Counter[str] = Counter()
    starts = set[str]()
    letters = Letters(language)
    for line in lines:
        counts.update(_words().findall(line))
        firsts = [form for word in _first_words(line, tokenised, letters) if (form := word[0]) != letters.lower(form)]
        counts.subtract(firsts)
        starts.update(firsts)
    forms = dict(+counts)
    rare = [form for form, count in forms.items() if count == 1 and form[0].isalpha()]
    if 2 * sum(form[0].isupper() for form in rare) < len(rare):
        known = {letters.lower(form) for form in forms}
        small = {letters.lower(form) for form in starts.difference(names) if form == letters.title(letters.lower(form))}
        forms |= dict.fromkeys(sorted(small - known), 0)
    return forms


def shared_names(sources: Iterable[str], targets: Iterable[str]) -> set[str]:
    """Capitalised words of both sides whose pair contains a capitalised word with the same beginning on the other side.

    Args:
        sources, targets: lines that translate each other.
    """
    found = set[str]()
    for pair in zip(sources, targets, strict=True):
        by_start = [_by_start(line) for line in pair]
        for start in by_start[0].keys() & by_start[1].keys():
            found.update(by_start[0][start], by_start[1][start])
    return found


def _by_start(line: str) -> dict[str, list[str]]:
    """The capitalised words of a line by their first letters."""
    found: dict[str, list[str]] = {}
    for word in _words().findall(line):
        if word[0].isupper():
            bare = "" if word.isascii() else unicodedata.normalize("NFD", word)
            bare = "".join(sign for sign in bare if not unicodedata.combining(sign)) or word
            found.setdefault(bare[:_NAME], []).append(word)
    return found


def begins_small(lines: Sequence[str]) -> bool | None:
    """True if at least half of the lines that begin with a cased letter begin small; None: too few such lines."""
    words = (word[0] for line in lines if (word := _words().search(line)))
    firsts = [word[0] for word in words if word[0].isupper() or word[0].islower()]
    return None if len(firsts) < _LEAST_STARTS else 2 * sum(map(str.islower, firsts)) >= len(firsts)


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
        if not (form and tab and count.isdecimal() and len(count) <= MOST_DIGITS):
            raise InputError("not a word and its count; prepare the corpus again", path, number)
        forms[form] = int(count)
    return forms
