"""Words by the evidence of the training text, for languages without a tokeniser: signs inside words, and blanks."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TypedDict

from lscfg import log
from lscfg.errors import InputError
from lscfg.io.json_files import read_json
from lscfg.prepare.characters import FLAG, JOINERS, TONES, marks
from lscfg.prepare.languages import is_unspaced
from lscfg.prepare.spacing import Spacing, is_sign
from lscfg.prepare.tokeniser import Tokeniser
from lscfg.settings import Declared

# No rule belongs to a language. The training text of a side shows which signs are letters (the glottal stop of
# Aymara, Huichol's vowel +), and where blanks stand between words and signs. Blanks elsewhere are marked, so every line
# comes back, with two exceptions. Text with blanks before most commas was tokenised before, and text such as
# ``yanapt ' irinaka`` was torn: those blanks are neither marked nor restored.

SIGNS = "'’ʼ´`+-·=‘\u2010\u2011"
"""Signs that may be letters, or join parts of a word."""
INNER, FIRST, LAST, TORN = "inner", "first", "last", "torn"
"""Places of a sign in words; ``torn`` if the training text sets off the sign, which encoding undoes."""

_SHARE = 0.6
"""Share of a sign's occurrences that must belong to words."""
_LEAST = 5
"""Occurrences of a sign below which a sign between letters counts as a part of the word."""
_PAIRED = frozenset("\"'’‘´`|*-–—")
"""Signs that open and close in one form: the second of a line differs from the first."""
_OPENING, _CLOSING = frozenset((*"([{¿¡“«", '"1')), frozenset((*",.;:?!)]}…”»%", '"0'))
"""Kinds that join the word after or before in ordinary text."""
TOKENISED = 2
_SEPARATORS = ".,:/٫٬"
"""Signs between two digits of a number."""


class WordModel(TypedDict):
    """Content of the model's file.

    ``signs`` lists for each sign where a word may contain the sign. ``blanks`` is 1 for a pair of kinds between which
    most occurrences have a blank, 0 if most have none, and 2 if the blank is left from an earlier tokenisation. A pair
    is two kinds with a blank between them; an empty kind means any.
    """

    signs: dict[str, list[str]]
    blanks: dict[str, int]


class WordTokeniser(Tokeniser[Declared]):
    """Words and blanks that the training text shows."""

    HELP = "words and blanks as the training text shows them, without rules for a language"
    VERSION = 1
    MARKED = True
    LEARNS = True
    Settings = Declared

    def train_model(self, lines: Iterable[str], side: str, settings: Declared) -> bytes:
        """See ``learn_words``."""
        model = learn_words(list(lines))
        torn = [sign for sign, places in model["signs"].items() if TORN in places]
        if torn or TOKENISED in model["blanks"].values():
            signs = f", and of words torn at {' '.join(torn)}" if torn else ""
            log.warning(f"{side}: parts of the text are already tokenised; blanks before signs{signs} are not restored")
        return json.dumps(model, ensure_ascii=False, indent=0).encode() + b"\n"

    def remark(self, language: str) -> str:
        """Nothing.

        Raises:
            InputError: the language has no blanks between words.
        """
        if is_unspaced(language):
            raise InputError(f"the tokeniser words needs blanks between words, which {language} lacks; use spm")
        return ""

    def open(self, language: str, settings: Declared, model: Path | None) -> LearntWords:
        """Opens a model of ``train_model``.

        Raises:
            InputError: the model is damaged.
        """
        assert model is not None  # the preparation has written it
        found: WordModel = read_json(model, WordModel, "prepare the corpus again")
        return LearntWords(found)


class LearntWords:
    """Splits lines by a model, and joins words again; exact for any line."""

    def __init__(self, model: WordModel):
        self._pattern = _pattern(*_places(model["signs"]))
        self._torn = _torn("".join(sign for sign, places in model["signs"].items() if TORN in places))
        self._spacing = LearntSpacing(model["blanks"])

    def encode(self, line: str) -> list[str]:
        """The words of a clean line, with marks where ``decode`` could not infer the blanks."""
        line = self._torn.sub(r"\1", line)
        return self._spacing.encode(self._pattern.findall(line), line)

    def decode(self, words: list[str]) -> str:
        """The text, with the usual blanks unless a word is marked."""
        return self._spacing.decode(words)


class LearntSpacing(Spacing):
    """Blanks as the training text has them.

    Args:
        blanks: see ``WordModel``.
    """

    def __init__(self, blanks: dict[str, int]):
        super().__init__("")
        self._blanks = blanks
        self._strict: LearntSpacing | None = None
        if TOKENISED in blanks.values():
            self._strict = LearntSpacing({key: blank % TOKENISED for key, blank in blanks.items()})

    def encode(self, words: Sequence[str], line: str) -> list[str]:
        """See ``Spacing.encode``; in a line with blanks at some joints only, these blanks are marked."""
        if not self._strict:
            return super().encode(words, line)
        at, blanks = 0, set()
        for number, guess in enumerate(self.guess(words)):
            blank = bool(number) and line[at] == " "
            at += blank + len(words[number])
            if guess is None:
                blanks.add(blank)
        return super().encode(words, line) if len(blanks) < 2 else self._strict.encode(words, line)

    def guess(self, words: Sequence[str]) -> list[bool | None]:
        """For each word: True if a blank precedes the word in most of the training text.

        None means a joint where training text has a blank that ordinary text lacks.
        """
        known = self._blanks
        found: list[bool | None] = [False] * min(1, len(words))
        for left, right in _joints(words):
            blank = known.get(f"{left} {right}")
            if blank is None and "0" in (left, right):
                blank = known.get(f"{left} {right}".replace("0", "w"))
            if blank is None:  # one of the signs joins
                blank = min(known.get(f"{left} ", 1), known.get(f" {right}", 1))
            found.append(None if blank == TOKENISED else bool(blank))
        return found


def learn_words(lines: Sequence[str]) -> WordModel:
    """Counts the signs of clean lines and the blanks next to them."""
    signs = {sign: sorted(places) for sign, places in _signs_of_words(lines).items()}
    pattern = _pattern(*_places(signs))
    torn = _torn("".join(sign for sign, places in signs.items() if TORN in places))
    all_counts, with_blank = Counter[str](), Counter[str]()
    for line in lines:
        line = torn.sub(r"\1", line)
        words = pattern.findall(line)
        at = 0
        for (left, right), word in zip(_joints(words), words, strict=False):
            at += len(word)
            blank = int(line[at] == " ")
            at += blank
            for key in (f"{left} {right}", f"{left} ", f" {right}"):
                all_counts[key] += 1
                with_blank[key] += blank
    blanks = {key: int(2 * with_blank[key] >= count) for key, count in sorted(all_counts.items()) if count > 1}
    if blanks.get("w ,", 0) or blanks.get("w .", 0):
        for key, blank in blanks.items():
            left, _, right = key.partition(" ")
            if blank and (left in _OPENING or right in _CLOSING):
                blanks[key] = TOKENISED
    return {"signs": signs, "blanks": blanks}


def _signs_of_words(lines: Iterable[str]) -> dict[str, set[str]]:
    """Signs that are part of words, with their places in words.

    A sign is part of words if, in most of its occurrences, letters stand on both sides, or on one side and the word is
    more frequent with the sign than without. It is torn if most such occurrences have blanks between letters.
    """
    every, inner = Counter[str](), Counter[str]()
    bare, edges = Counter[str](), Counter[tuple[str, str, str]]()
    gaps = Counter[tuple[str, str, str]]()
    inside, torn, edge = _inside(), _torn(SIGNS, blanks=True), _edge()
    for line in lines:
        line = line.lower()
        every.update(character for character in line if character in SIGNS)
        inner.update(found[-1] for found in inside.findall(line))
        gaps.update((found["left"], found["sign"], found["right"]) for found in torn.finditer(line))
        for found in edge.finditer(line):
            form, first, last = found.group("form", "first", "last")
            for place, sign in ((FIRST, first), (LAST, last)):
                if sign:
                    edges[place, sign, form] += 1
            if not first and not last:
                bare[form] += 1
    found_places = _chosen(every, inner, bare, edges)
    joined = Counter[str]()
    with_sign = Counter[tuple[str, str]]()
    for (left, _, right), count in gaps.items():
        with_sign[left, LAST] += count
        with_sign[right, FIRST] += count
    for (left, sign, right), count in gaps.items():
        if 2 * with_sign[left, LAST] > bare[left] or 2 * with_sign[right, FIRST] > bare[right]:
            joined[sign] += count
    for sign, count in joined.items():
        if every[sign] >= _LEAST and count > inner[sign] and count + inner[sign] >= _SHARE * every[sign]:
            found_places[sign] = {INNER, TORN}
    return dict(sorted(found_places.items()))


@cache
def _letter() -> str:
    return rf"[\w{marks()}{JOINERS}]"


@cache
def _inside() -> re.Pattern[str]:
    """A sign between letters."""
    return re.compile(f"(?<={_letter()})[{re.escape(SIGNS)}](?={_letter()})")


@cache
def _edge() -> re.Pattern[str]:
    """A run of letters, with a sign at the beginning or the end of the string between blanks and punctuation."""
    letter, signs = _letter(), re.escape(SIGNS)
    first = f"(?:(?<![^ ])(?P<first>[{signs}]))?"
    return re.compile(f"{first}(?<!{letter})(?P<form>{letter}+)(?P<last>[{signs}](?!{letter}))?")


@cache
def _torn(signs: str, blanks: bool = False) -> re.Pattern[str]:
    """Matches one of the signs with blanks between letters: the sign is group 1, or with ``blanks`` the pieces also."""
    letter = _letter()
    if not signs:
        return re.compile("(?!)()")
    if blanks:
        return re.compile(f"(?<!{letter})(?P<left>{letter}+) (?P<sign>[{re.escape(signs)}]) ?(?P<right>{letter}+)")
    return re.compile(f"(?<={letter}) ([{re.escape(signs)}]) ?(?={letter})")


def _chosen(
    every: Counter[str], inner: Counter[str], bare: Counter[str], edges: Counter[tuple[str, str, str]]
) -> dict[str, set[str]]:
    """See ``_signs_of_words``; counts of all signs, of those between letters, of forms, of forms with a sign."""
    at_edge, proper = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for (place, sign, form), count in edges.items():
        at_edge[place, sign] += count
        if count > bare[form] and edges[FIRST if place == LAST else LAST, sign, form] < count:
            proper[place, sign] += count
    found: dict[str, set[str]] = {}
    for sign in SIGNS:
        count = every[sign]
        places = {place for place in (FIRST, LAST) if proper[place, sign] > _SHARE * at_edge[place, sign]}
        within = inner[sign] + sum(proper[place, sign] for place in places)
        if count < _LEAST:
            found[sign] = {INNER}
        elif within >= _SHARE * count:
            found[sign] = {INNER, *places}
    return found


def _places(signs: Mapping[str, Collection[str]]) -> tuple[str, str, str]:
    """The signs inside, at the beginning and at the end of words, for a bracket of a regular expression."""
    inner, first, last = ("".join(s for s in signs if place in signs[s]) for place in (INNER, FIRST, LAST))
    return re.escape(inner), re.escape(first), re.escape(last)


@cache
def _pattern(inner: str, first: str, last: str) -> re.Pattern[str]:
    """Matches words and single signs; takes what ``_places`` returns."""
    letter, more = rf"\w{marks()}{JOINERS}", rf"{marks()}{JOINERS}"
    inside = rf"(?<=\d)[{_SEPARATORS}](?=\d)" + (f"|[{inner}](?=[{letter}])" if inner else "")
    begin = f"(?:(?<![^ ])[{first}](?=[{letter}]))?" if first else ""
    end = f"[{last}]?" if last else ""
    sign = rf"[{FLAG}]{{2}}|[^ {letter}](?:[{more}{TONES}]|(?<=\u200d)[^ {letter}])*"
    return re.compile(f"{begin}[{letter}]+(?:(?:{inside})[{letter}]+)*{end}|{sign}")


def _joints(words: Sequence[str]) -> list[tuple[str, str]]:
    """The kinds on the left and on the right of each joint of two words.

    A kind is a sign, ``0`` for a digit, or ``w`` for a letter; a quotation mark or dash also has a number, 1 for every
    other one of its line.
    """
    counts = Counter[str]()
    kinds = []
    for word in words:
        if not is_sign(word):
            kinds.append(("0" if word[0].isdigit() else "w", "0" if word[-1].isdigit() else "w"))
            continue
        sign = word[0]
        if sign in _PAIRED:
            counts[sign] += 1
            sign += str(counts[sign] % 2)
        kinds.append((sign, sign))
    return [(left[1], right[0]) for left, right in pairwise(kinds)]
