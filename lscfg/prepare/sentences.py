"""Sentences of running text: where a sentence ends, in any script, without loss of the text between sentences."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import groupby, pairwise
from typing import NamedTuple
from unicodedata import category

from lscfg.errors import InputError
from lscfg.prepare.characters import ENDS, WIDE_ENDS
from lscfg.prepare.languages import rule_languages
from lscfg.prepare.unspaced import cut_places
from lscfg.prepare.untouched import untouched_spans

# Moses' splitter is not part of sacremoses, but its lists of abbreviations are.

_CLOSING = r"""["'’”»›)\]」』）】》]*+"""
_OPENING = r"""["'‘“„«‹(\[¿¡「『（【《\-–—]*"""
_UNSPACED = "\u0e00"  # and later letters: of scripts without blanks between words, or before particles
_SPACED = rf"[^\W{_UNSPACED}-\U0010ffff]"
_WIDE, _WIDE_STOP, _GREEK_MARK = WIDE_ENDS, "．", ";"
_MARKS = "".join(sign for sign in ENDS if sign not in _WIDE + _WIDE_STOP)
_NAMES = "0-9０-９A-Za-zＡ-Ｚａ-ｚ"  # numbers, headings and abbreviations go on after a wide full stop
_BLANKS = re.compile(r"\s*")
_LINE = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")


@cache
def _end(greek: bool) -> re.Pattern[str]:
    """Matches the end of a sentence, in time linear in the length of a line."""
    marks = _MARKS + _GREEK_MARK * greek
    return re.compile(
        rf"(?<![{marks}])[{marks}]++{_CLOSING}(?=\s++{_OPENING}(?P<next>\S))"
        rf"|(?<![{_WIDE}{_WIDE_STOP}])(?:[{_WIDE}]|(?<![{_NAMES}]){_WIDE_STOP})++{_CLOSING}(?=\s*+\S)"
    )


LONGEST_ABBREVIATION = 40
"""Characters in front of a full stop among which an abbreviation is looked for."""


class Stretch(NamedTuple):
    """A sentence and the text after it up to the next sentence: blanks and line ends."""

    sentence: str
    after: str


class Undivided:
    """Parts of a text that stay whole: the sources of terms, and code, addresses and the like.

    Args:
        sources: of terms, as they are typed; terms in which no sentence could end or be cut stay whole anyway.
        base: further parts.
    """

    def __init__(self, sources: Iterable[str] = (), base: Undivided | None = None):
        parts = {_folded(source): source.split() for source in sources}
        self._ending: dict[str, list[str]] = dict(base._ending) if base else {}
        self._cut: dict[str, list[str]] = dict(base._cut) if base else {}
        for part, words in parts.items():
            if any(mark in part[:-1] for mark in _MARKS + _WIDE + _WIDE_STOP + _GREEK_MARK):
                self._ending[part] = words
            if len(words) > 1 or _COMMAS.search(part) or cut_places(part):
                self._cut[part] = words

    def without_ends(self, text: str) -> list[tuple[int, int]]:
        """Characters [begin, end) of the parts in which a sentence could end, ascending; parts that overlap are one."""
        return _spans(text, self._ending)

    def without_cuts(self, text: str) -> list[tuple[int, int]]:
        """Characters of the parts in which a long sentence could be cut; see ``without_ends``."""
        return _spans(text, self._cut)


def _spans(text: str, parts: Mapping[str, Sequence[str]]) -> list[tuple[int, int]]:
    """Characters of terms, whose words are given by their text without blanks and case, and of code and the like."""
    folded = _folded(text) if parts else ""
    own = sorted((_expression(words) for part, words in parts.items() if part in folded), key=len, reverse=True)
    found = re.finditer(f"(?=({'|'.join(own)}))", text, re.IGNORECASE) if own else ()
    return _joined([*untouched_spans(text), *(match.span(1) for match in found)])


def _expression(words: Sequence[str]) -> str:
    """A regular expression for the words, which are no part of longer ones."""
    left, right = words[0][0], words[-1][-1]
    before = rf"(?<!{_SPACED})" if left.isalnum() and left < _UNSPACED else ""
    after = rf"(?!{_SPACED})" if right.isalnum() and right < _UNSPACED else ""
    return before + r"\s+".join(map(re.escape, words)) + after


def _joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for begin, end in sorted(spans):
        if joined and begin < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((begin, end))
    return joined


NO_TERMS = Undivided()


def _folded(text: str) -> str:
    """The text without blanks and case."""
    return "".join(text.casefold().split())


def split_sentences(text: str, language: str, whole: Undivided = NO_TERMS) -> list[Stretch]:
    """The sentences of a text, whose stretches joined give the text.

    A sentence ends at the end of its line, and at a full stop or the like before a capital letter, a digit or a letter
    without case, unless an abbreviation of the language or an initial precedes the full stop.

    Args:
        language: code of the language; empty: every line is a sentence.
        whole: parts that stay in one sentence.
    """
    found, begin = list[Stretch](), 0
    for line in _LINE.finditer(text):
        found += _of_line(text[begin : line.start()], line[0], language, whole)
        begin = line.end()
    return [*found, *_of_line(text[begin:], "", language, whole)] if begin < len(text) else found


def _of_line(line: str, end: str, language: str, whole: Undivided) -> Iterator[Stretch]:
    borders = [*_borders(line, language)] if language else []
    spans = whole.without_ends(line) if borders else []
    begin = 0
    for border in [*(one for one in borders if not _divides(one, spans)), len(line)]:
        piece = line[begin:border]
        sentence = piece.strip()
        if lead := piece[: len(piece) - len(piece.lstrip())] if sentence else "":
            yield Stretch("", lead)
        after = piece[len(lead) + len(sentence) :]
        yield Stretch(sentence, after + (end if border == len(line) else ""))
        begin = border


def _divides(border: int, spans: Sequence[tuple[int, int]]) -> bool:
    before = bisect_left(spans, (border,)) - 1  # the last span that begins earlier
    return before >= 0 and border < spans[before][1]


def _borders(line: str, language: str) -> Iterator[int]:
    """Positions at which a sentence begins, after the blanks in front of the sentence."""
    for mark in _end(rule_languages(language)[0] == "el").finditer(line):
        follows = mark["next"]
        if follows is not None and follows.islower():
            continue
        if mark[0].startswith(".") and not mark[0].startswith("..") and follows is not None:
            before = line[max(0, mark.start() - LONGEST_ABBREVIATION) : mark.start()].split()
            if before and _goes_on(before[-1].lstrip("([\"'“„«"), follows, language):
                continue
        blanks = _BLANKS.match(line, mark.end())
        assert blanks is not None
        yield blanks.end()


def _goes_on(word: str, follows: str, language: str) -> bool:
    """True if a full stop after this word belongs to the word."""
    always, before_digits = _abbreviations(language)
    if word in always or (len(word) == 1 and word.isupper()):
        return True
    if word.isdigit() and rule_languages(language)[0] in _ORDINALS:
        return True
    return word in before_digits and follows.isdigit()


_ORDINALS = frozenset(
    ["cs", "da", "de", "et", "fi", "hr", "hu", "is", "lb", "lt", "lv", "nb", "nn", "no", "pl", "sk", "sl", "sr", "tr"]
)
"""Languages that write a full stop after ordinal numbers."""


@cache
def _abbreviations(language: str) -> tuple[frozenset[str], frozenset[str]]:
    """Moses' abbreviations of a language, and those that count before digits only; English without a list.

    Without sacremoses both are empty.
    """
    try:
        from sacremoses.corpus import NonbreakingPrefixes
    except ImportError:
        return frozenset(), frozenset()
    lists = NonbreakingPrefixes()
    known = {*lists.available_langs.values()}
    code = next((code for code in rule_languages(language) if code in known), "en")
    always, digits = set[str](), set[str]()
    for word in lists.words(code):
        plain, _, numeric = word.partition(" #NUMERIC_ONLY#")
        (digits if numeric or "#NUMERIC_ONLY#" in word else always).add(plain.strip())
    return frozenset(always), frozenset(digits)


def words_and_signs(text: str) -> int:
    """Number of runs of letters, marks and digits in a text, and of its other signs, each of which can be a word."""
    return sum(1 if kind == "W" else len(list(signs)) for kind, signs in groupby(map(_kind, text)) if kind != "Z")


@lru_cache(1 << 14)
def _kind(sign: str) -> str:
    """``W`` for a sign within words, ``Z`` for a blank, otherwise ``S``."""
    return "Z" if sign.isspace() else "S" if category(sign)[0] in "PS" else "W"


def cut_long(
    text: str, most: int, whole: Undivided = NO_TERMS, count: Callable[[str], int] = words_and_signs
) -> list[Stretch]:
    """A sentence in pieces of at most so many words.

    They end at blanks; only a word with too many words inside is also cut, at commas or between characters of scripts
    without blanks. What is too long even so is no sentence but text between sentences, which stays untranslated.

    Args:
        whole: parts that stay in one piece if they do not exceed the limit.
        count: number of words of a text, at most twice the number of its characters.

    Raises:
        InputError: ``most`` is not positive.
    """
    if most < 1:
        raise InputError("a piece needs at least one word")
    if 2 * len(text) <= most or count(text) <= most:
        return [Stretch(text, "")]
    borders, found, first = _cut_borders(text, most, whole, count), list[Stretch](), 0
    while first + 1 < len(borders):
        last = _last_border(text, borders, first, most, count)
        piece = text[borders[first] : borders[last]]
        sentence = piece.rstrip() if count(piece) <= most else ""
        found.append(Stretch(sentence, piece[len(sentence) :]))
        first = last
    return found


def _cut_borders(text: str, most: int, whole: Undivided, count: Callable[[str], int]) -> list[int]:
    """Places at which a text may be cut, with both ends of the text; inside a word or part only if it is too long."""
    borders = [0, len(text)]
    for finer in _finer_borders(text, whole):
        long = [(i, j) for i, j in pairwise(borders) if 2 * (j - i) > most and count(text[i:j]) > most]
        if not long:
            break
        inner = (border for i, j in long for border in finer[bisect_right(finer, i) : bisect_left(finer, j)])
        borders = sorted([*borders, *inner])
    return borders


def _finer_borders(text: str, whole: Undivided) -> Iterator[list[int]]:
    """Places at which a text may be cut, the best kind first."""
    spans = whole.without_cuts(text)
    blanks = [word.start() for word in re.finditer(r"\S+", text)][1:]
    yield [border for border in blanks if not _divides(border, spans)]
    yield blanks
    commas = (found.end() for found in _COMMAS.finditer(text))
    yield [border for border in commas if not _divides(border, spans)]
    yield [border for border in cut_places(text) if not (_divides(border, spans) or text[border].isspace())]


_COMMAS = re.compile(r"[、，]++(?!\s)|,++(?![\d\s])")


def _last_border(text: str, borders: Sequence[int], first: int, most: int, count: Callable[[str], int]) -> int:
    """The number of the last border before which a piece from a border on is not too long, at least the next number."""

    def fits(last: int) -> bool:
        return count(text[borders[first] : borders[last]]) <= most

    low, step = first + 1, 1
    while low + step < len(borders) and fits(low + step):
        low, step = low + step, 2 * step
    high = min(low + step, len(borders))
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
