"""Proposals of rewrites for ``lscfg.prepare.orthography``: spellings that differ between training and dev text."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from lscfg.prepare.characters import marks
from lscfg.prepare.orthography import EDGE, NOT, Orthography, Rewrite

# A rewrite is good if it turns words of the training text into unknown words of the development text. Inflection and
# loans do that, too, but their letters are as frequent in the development text; letters of another spelling are rarer
# there. The letter that follows shows where a rewrite holds (c, but not ch).

RATIO = 3.0
"""Minimum ratio of the shares of old letters in training and development text."""
LEAST_SHARE = 0.0003
"""Minimum share of old letters in the training text."""
LEAST_WORDS = 4
"""Minimum unknown words of the development text that a rewrite explains, more than known words that it destroys."""
LEAD = 2
"""Minimum ratio of the words that a rewrite explains, and those that another rewrite of the same letters explains."""
SHORTEST = 4
"""Minimum letters of a word; shorter words resemble each other by chance."""
MOST = 12
"""Maximum number of proposals."""
_LONGEST = 2
"""Maximum letters of each side of a rewrite."""


class Proposal(NamedTuple):
    """A proposed rewrite."""

    rewrite: Rewrite
    words: int
    """Number of unknown words of the development text that are words of the training text after the rewrite."""
    example: tuple[str, str]
    """A word of the training text that the rewrite changes, and the word of the development text."""

    def __str__(self) -> str:
        columns = [self.rewrite.old, self.rewrite.new, self.rewrite.before, self.rewrite.after]
        row = "\t".join(columns).rstrip("\t")
        words = "1 word" if self.words == 1 else f"{self.words} words"
        return f"# {words} of the development text, such as {self.example[1]} from {self.example[0]}\n{row}"


def propose(train: Iterable[str], dev: Iterable[str]) -> list[Proposal]:
    """Rewrites of the training text, in their order, each proposed for the text that the earlier ones leave.

    Args:
        train, dev: clean lines of the same language.
    """
    words, wanted = _words(train), _words(dev)
    found: list[Proposal] = []
    while len(found) < MOST:
        best = _best(words, wanted)
        if best is None:
            break
        found.append(best)
        spelling = Orthography([best.rewrite])
        changed = Counter[str]()
        for word, count in words.items():
            changed[spelling.apply(word)] += count
        words = changed
    return found


Found = dict[str, dict[str, dict[str, str]]]
"""The words of the training text that a rewrite turns into unknown words: by the letter that follows, by the new
letters, and by the unknown word."""


def _best(words: Counter[str], wanted: Counter[str]) -> Proposal | None:
    """The rewrite that explains most unknown words; None if there is none."""
    shares, other = _shares(words), _shares(wanted)
    old = {gram for gram in shares if len(gram) <= _LONGEST and _rarer(gram, shares, other)}
    unknown = _gaps(word for word in sorted(wanted) if word not in words and len(word) >= SHORTEST)
    found: dict[str, Found] = defaultdict(lambda: defaultdict(lambda: defaultdict(dict)))
    for word in sorted(words):
        for gram, before, after in _spans(word):
            if gram in old:
                for new in unknown.get((before, after), ()):
                    if new != gram:
                        found[gram][after[:1] or EDGE][new].setdefault(before + new + after, word)
    good = [one for gram in sorted(found) for one in _rewrites(gram, found[gram], words, wanted)]
    return max(good, key=lambda one: (one.words, -len(one.rewrite.old)), default=None)


def _rewrites(old: str, found: Found, words: Counter[str], wanted: Counter[str]) -> Iterable[Proposal]:
    """The rewrites of some letters, each before the letters before which it explains most words."""
    places: dict[str, list[str]] = defaultdict(list)
    for after in sorted(found):
        places[max(found[after].items(), key=lambda one: (len(one[1]), one[0]))[0]].append(after)
    for new, afters in places.items():
        if afters == [EDGE]:  # an ending, which inflection changes
            continue
        counts: Counter[str] = Counter()
        for after in afters:
            counts.update({other: len(own) for other, own in found[after].items()})
        if counts[new] < LEAD * max((count for other, count in counts.items() if other != new), default=0):
            continue
        alone = all(
            sum(len(found[after][other]) for after in own) < LEAST_WORDS
            for other, own in places.items()
            if other != new
        )
        rewrite = Rewrite(old, new, "", _exceptions(old, words, wanted) if alone else "".join(afters))
        spelling = Orthography([rewrite])
        explained = {unknown: word for after in afters for unknown, word in found[after][new].items()}
        explained = {unknown: word for unknown, word in explained.items() if spelling.apply(word) == unknown}
        lost = sum(old in word and word in words and spelling.apply(word) != word for word in wanted)
        if len(explained) - lost >= LEAST_WORDS:
            unknown, word = max(explained.items(), key=lambda one: (wanted[one[0]], one))
            yield Proposal(rewrite, len(explained) - lost, (word, unknown))


def _exceptions(old: str, words: Counter[str], wanted: Counter[str]) -> str:
    """The context without the letters before which the development text has the old letters, too."""
    counts: list[Counter[str]] = []
    for text in (words, wanted):
        counts.append(Counter())
        for word, count in text.items():
            for at in _ends(word, old):
                counts[-1][word[at : at + 1] or EDGE] += count
    usual = counts[1].total() / max(1, counts[0].total())
    kept = sorted(
        after for after, count in counts[1].items() if count > LEAST_WORDS and count > RATIO * usual * counts[0][after]
    )
    return NOT + "".join(kept) if kept else ""


def _rarer(gram: str, shares: Mapping[str, float], other: Mapping[str, float]) -> bool:
    return shares[gram] >= LEAST_SHARE and shares[gram] >= RATIO * other.get(gram, 0)


def _ends(word: str, old: str) -> list[int]:
    return [found.end() for found in re.finditer(re.escape(old), word)]


def _gaps(words: Iterable[str]) -> dict[tuple[str, str], list[str]]:
    """The letters, at most ``_LONGEST``, between each beginning and end of some words."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for word in words:
        for length in range(_LONGEST + 1):
            for at in range(len(word) - length + 1):
                found[word[:at], word[at + length :]].append(word[at : at + length])
    return found


def _spans(word: str) -> Iterable[tuple[str, str, str]]:
    """The letter groups of a word, with the letters before and after."""
    for length in range(1, _LONGEST + 1):
        for at in range(len(word) - length + 1):
            yield word[at : at + length], word[:at], word[at + length :]


def _shares(words: Mapping[str, int]) -> dict[str, float]:
    """The shares of groups of letters among the letters of running words."""
    counts: Counter[str] = Counter()
    letters = 0
    for word, count in words.items():
        letters += len(word) * count
        for n in range(1, _LONGEST + 1):
            for at in range(len(word) - n + 1):
                counts[word[at : at + n]] += count
    return {gram: count / letters for gram, count in counts.items()}


_SIGNS = "'’ʼ´`‘"
"""Signs inside words that are letters of some spellings."""


def _words(lines: Iterable[str]) -> Counter[str]:
    letter = rf"[^\W\d_][{marks()}]*"
    pattern = re.compile(rf"(?:{letter})+(?:[{_SIGNS}](?:{letter})*)*")
    return Counter(word for line in lines for word in pattern.findall(unicodedata.normalize("NFC", line).lower()))
