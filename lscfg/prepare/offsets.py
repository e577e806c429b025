"""Places of words in the text that they come from, or in the text that was made of them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from lscfg.prepare.clean import restore_words
from lscfg.prepare.repair import ESCAPED, decode_entities
from lscfg.prepare.spacing import MARKS

# Preparing and restoring change blanks, capitals, normal forms and entities. All other characters stay in order, so the
# characters of the words are matched with those of the text from left to right; where they differ, the nearest place
# counts from which both go on in the same way.

MATCHED = 3
"""Equal characters in a row after which a difference is over."""

ONE_SIDE, BOTH_SIDES = 40, 6
"""Maximum characters that are skipped on one side only, and on both sides together."""

Range = tuple[int, int]

_PART = re.compile(rf"{ESCAPED.pattern}|(?s:.)")


def word_ranges(words: Sequence[str], text: str) -> list[Range]:
    """The characters [i, j) of each word in the text, in ascending order and disjoint.

    A word without characters in the text gets an empty range after the word before.

    Args:
        words: of a preparation, which may carry marks of blanks.
        text: the raw text of the words, or the restored text.
    """
    inside, places = list[str](), list[Range]()
    plain = [restore_words(word) for word in words]
    spelt = "".join(plain)
    for part in _PART.finditer(text):
        decoded = decode_entities(part[0])
        whole = decoded != part[0] and part[0] not in spelt  # otherwise, an entity is several characters
        for place, character in enumerate(decoded if whole else part[0], part.start()):
            for sign in _folded(character):
                inside.append(sign)
                places.append(part.span() if whole else (place, place + 1))
    signs, numbers = list[str](), list[int]()
    for number, word in enumerate(plain):
        own = [sign for character in word for sign in _folded(character)]
        signs += own
        numbers += [number] * len(own)
    found: list[Range | None] = [None] * len(words)
    for i, j in _matched(inside, signs):
        before = found[numbers[j]]
        found[numbers[j]] = places[i] if before is None else (before[0], places[i][1])
    ranges: list[Range] = []
    end = 0
    for one in found:
        begin, end = (end, end) if one is None else (max(end, one[0]), max(end, one[1]))
        ranges.append((begin, end))
    return ranges


@lru_cache(1 << 14)
def _folded(character: str) -> str:
    """The character without case, composition and compatibility; blanks and marks of blanks are left out."""
    if character in MARKS:
        return ""
    return "".join(unicodedata.normalize("NFKD", character.casefold()).split())


def _matched(first: Sequence[str], second: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of places of two sequences, ascending on both sides, in time linear in their lengths."""
    pairs, i, j = list[tuple[int, int]](), 0, 0
    while i < len(first) and j < len(second):
        if first[i] == second[j]:
            skipped = 0, 0
        else:
            skipped = next((skip for skip in _SKIPS if _goes_on(first, i + skip[0], second, j + skip[1])), (1, 1))
        if min(skipped):  # the skipped characters of both sides replace one another
            pairs += [(i + min(k, skipped[0] - 1), j + k) for k in range(skipped[1])]
        i, j = i + skipped[0], j + skipped[1]
        if not any(skipped):
            pairs.append((i, j))
            i, j = i + 1, j + 1
    return pairs


_SKIPS = sorted(
    [(k, 0) for k in range(1, ONE_SIDE + 1)]
    + [(0, k) for k in range(1, ONE_SIDE + 1)]
    + [(k, n - k) for n in range(2, BOTH_SIDES + 1) for k in range(1, n)],
    key=lambda skip: (sum(skip), abs(skip[0] - skip[1])),
)


def _goes_on(first: Sequence[str], i: int, second: Sequence[str], j: int) -> bool:
    """True if both sequences go on in the same way, or end together."""
    ours, theirs = first[i : i + MATCHED], second[j : j + MATCHED]
    return ours == theirs
