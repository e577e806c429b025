"""Blanks between words and punctuation: guessed from the words, and marked where the guess would be wrong.

A line of words comes back as it was, because a word next to a wrongly guessed blank carries a mark: ``￭`` (as OpenNMT's
joiner) on the side where no blank is, ``▁`` on the side where a blank is. Lines whose blanks are guessed right carry no
marks.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import cache

from lscfg.prepare.characters import JOINERS
from lscfg.prepare.languages import ELISIONS, base_language

JOINER, SPACER = "￭", "▁"
MARKS = JOINER + SPACER
_NO_MARKS = str.maketrans("", "", MARKS)

# A clean line holds no ▁, so ▁￭ can name a ￭ of the text.
_LITERAL = SPACER + JOINER
_MARKED = re.compile(f"({JOINER}|{SPACER}(?!{JOINER}))?((?:{_LITERAL}|[^{MARKS}])+)([{MARKS}])?")

_LEFT = frozenset(",.?!:;\\%}])…‥。、，．！？：；｡､‰‱°′″™®©٪،؛؟۔।॥։՝՜՞՛፣፤፥፦።፧፨၊။។៕៖᠂᠃᙮·‼⁇⁈⁉")
"""Punctuation that follows a word without a blank."""
_RIGHT = frozenset("([{¿¡#")
_BOTH = frozenset("/_־\u2010\u2011་༌፡﹏_")
_DOUBLE, _GUILLEMETS = frozenset('"„“”‟〝〞'), frozenset("«»")
_SUFFIXED = frozenset(("tr", "az", "crh", "gag", "tk", "kk", "tt", "ku"))
"""Languages whose suffixes follow an apostrophe."""
_WIDE = (
    *((0x1100, 0x11FF), (0x2E80, 0xA4CF), (0xA840, 0xA87F), (0xAC00, 0xD7AF), (0xF900, 0xFAFF), (0xFE30, 0xFE4F)),
    *((0xFF01, 0xFF60), (0xFF65, 0xFFDC), (0x16FE0, 0x18AFF), (0x1B000, 0x1B2FF), (0x20000, 0x3FFFF)),
)
"""Blocks of the East Asian scripts."""


def is_wide(character: str) -> bool:
    """True for letters and punctuation of East Asian scripts, as Moses' detokeniser lists them."""
    code = ord(character)
    return code >= 0x1100 and any(first <= code <= last for first, last in _WIDE)


@cache
def _category(character: str) -> str:
    return unicodedata.category(character)


def without_marks(words: str) -> str:
    """A line of words without the marks of their blanks; a ￭ of the text becomes ■, which copies keep."""
    if JOINER not in words and SPACER not in words:
        return words
    return " ".join(
        found[2].replace(_LITERAL, "■") if (found := _MARKED.fullmatch(word)) else word for word in words.split()
    )


def unmarked(text: str) -> str:
    """The text without any character that may be a mark, for counts of letters."""
    return text.translate(_NO_MARKS)


class Spacing:
    """Blanks between the words of a language. All work is linear in the length of a line."""

    def __init__(self, language: str):
        self._base = base_language(language)

    # ---- marks ----

    def encode(self, words: Sequence[str], line: str) -> list[str]:
        """The words of a line, marked where ``decode`` would not restore the line.

        Args:
            words: all characters of the line but its blanks.
            line: clean text.
        """
        marked = [word.replace(JOINER, _LITERAL) for word in words]
        at = 0
        for number, guess in enumerate(self.guess(words)):
            if number:
                blank = line[at] == " "
                at += blank
                if guess is not None and blank != guess:
                    mark = SPACER if blank else JOINER
                    if is_sign(words[number - 1]) and not is_sign(words[number]):
                        marked[number - 1] += mark
                    else:
                        marked[number] = mark + marked[number]
            at += len(words[number])
        return marked

    def decode(self, marked: Sequence[str]) -> str:
        """The text of marked words."""
        words, marks = [], []
        for word in marked:
            if found := _MARKED.fullmatch(word):
                words.append(found[2].replace(_LITERAL, JOINER))
                marks.append((found[1], found[3]))
            elif plain := word.strip(MARKS).replace(SPACER, ""):
                words.append(plain)
                marks.append(("", ""))
        text = []
        for number, blank in enumerate(self.guess(words)):
            near = {marks[number - 1][1], marks[number][0]} if number else set()
            text.append(" " if number and JOINER not in near and (blank or SPACER in near) else "")
            text.append(words[number])
        return "".join(text)

    # ---- guesses ----

    def guess(self, words: Sequence[str]) -> list[bool | None]:
        """For each word: True if a blank precedes the word, as Moses' detokeniser guesses and for more scripts.

        Subclasses may return None, which means that no mark shows the blank, and that ``decode`` writes none.
        """
        quotes = _Quotes(self._base, Counter(word for word in words if word in _APOSTROPHES or word in _DOUBLE))
        blanks: list[bool | None] = []
        held = False  # the word before takes no blank after it
        for number, word in enumerate(words):
            before = words[number - 1] if number else ""
            after = words[number + 1] if number + 1 < len(words) else ""
            left, right = self._joins(word, before, after, quotes)
            if before and is_wide(before[-1]) and is_wide(word[0]) and self._base != "ko":
                left = True
            blanks.append(not (left or held))
            held = right
        return blanks

    def _joins(self, word: str, before: str, after: str, quotes: _Quotes) -> tuple[bool, bool]:
        """True if the word joins the word before, and if it joins the word after."""
        if word in _APOSTROPHES or (word[0] in _QUOTES and _QUOTES.issuperset(word)):
            return quotes.joins(word, before, after)
        first = word[0]
        if is_sign(word):
            if first in _BOTH:
                return bool(before), bool(after)
            if first in ":–−" and before[-1:].isdigit() and after[:1].isdigit():
                return True, True
            if first == ":" and after[:1] == "/":
                return True, True
            if first == "·" and self._base != "el":
                return before[-1:].isalnum(), before[-1:].isalnum() and after[:1].isalnum()
            if word != "%" and _LEFT.issuperset(word):
                return not (self._base == "fr" and len(word) == 1 and word in "?!:;\\"), False
            if first == "%":  # ``50 %``, but ``%s``
                return (
                    (False, True) if after[:1].isalnum() and not before[-1:].isdigit() else (self._base != "fr", False)
                )
            if first in "<>":
                return quotes.brackets(first, after)
            if first == "=":
                return before[:1] == "-", before[:1] == "-"  # an option, as ``--name=value``
            if first == "@":
                return bool(before) and before[-1].isalnum() and "." in after, after[:1].isalnum()
            if _category(first) == "Sc":
                return False, not (before[-1:].isdigit() and not after[:1].isdigit())
            if first in _RIGHT or _category(first) in ("Ps", "Pi"):
                return False, True
            if _category(first) in ("Pe", "Pf") or (_category(first) == "Po" and ord(first) >= 0x530):
                return True, False
        elif first == "'" and self._base == "en":
            return bool(before) and word[1:2].isalpha(), False
        elif word[-1] in "'’" and (self._base in ELISIONS or self._base == "mt"):
            return False, word[-2:-1].isalpha() and after[:1].isalpha()
        return False, False


_APOSTROPHES = frozenset("'’‘‚`ʼ")
_QUOTES = _DOUBLE | _GUILLEMETS | _APOSTROPHES


class _Quotes:
    """Quotation marks of a line, which join the word after where they open and the word before where they close.

    Args:
        counts: of the quotation marks of the line.
    """

    def __init__(self, base: str, counts: Counter[str]):
        self._base, self._counts = base, counts
        self._open: Counter[str] = Counter()

    def brackets(self, word: str, after: str) -> tuple[bool, bool]:
        """As ``joins`` for ``<`` and ``>``, which enclose a name or compare."""
        if word == "<":
            self._open["<"] = int(after[:1].isalpha() or after == "/")
            return False, bool(self._open["<"])
        closes = bool(self._open["<"])
        self._open["<"] = 0
        return closes, False

    def joins(self, word: str, before: str, after: str) -> tuple[bool, bool]:
        """See ``Spacing._joins``."""
        kind = '"' if _DOUBLE.issuperset(word) else "«" if _GUILLEMETS.issuperset(word) else word
        between = before[-1:].isalnum() and after[:1].isalpha() and (before[-1].isalpha() or self._base in _SUFFIXED)
        if between and self._is_apostrophe(word):
            return True, True
        if word == "’" and not self._open["‘"]:
            return True, False
        if word in "‘‚’":
            kind = "‘"
        if self._base == "en" and word == "'" and not self._open[kind] and before.endswith("s"):
            return True, False  # the boys' toys
        if kind == "«" and self._base == "fr":
            return False, False
        self._open[kind] ^= 1
        return (False, True) if self._open[kind] else (True, False)

    def _is_apostrophe(self, word: str) -> bool:
        """True if a mark between two letters is an apostrophe."""
        if word == "’":
            return not self._open["‘"]
        if word == "'":
            return self._base != "en" and (self._base in _SUFFIXED or self._counts["'"] == 1)
        return word == '"' and self._base in ("he", "yi") and self._counts['"'] % 2 == 1


def is_sign(word: str) -> bool:
    """True if a word holds neither a letter nor a digit."""
    return not any(character.isalnum() or _category(character)[0] == "M" or character in JOINERS for character in word)
