"""A synchronous grammar of phrases with slots, read from text, and sampling of sentence pairs.

A class has its name in brackets on a line. Its entries follow, one on each line or several between semicolons::

    [meeting]
    2* {person} ni ai/at = meet {person.me} ; {person} to kekkon shi = marry {person.me}

``2*`` makes an entry twice as likely. In a class of words, without slots, early entries are more frequent than late
ones, as words of a language are. ``{person}`` is a phrase of the class person, the same on both sides; ``{person2}`` is
another phrase. ``{person.me}`` is a form of the phrase, as ``japanese`` and ``english`` define it. On the English side
``be@person`` and ``be.past@person`` are verbs that agree with the phrase in that slot, and ``{eating.pres@person}`` is
a phrase that does. ``_`` is the empty word, and ``#`` begins a comment.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from random import Random

from lscfg.demo import english, japanese

_SLOT = re.compile(r"\{([a-z]+)(\d?)(?:\.([a-z]+))?(?:@([a-z]+\d?))?\}")
_AGREEING = re.compile(r"([a-z]+)(?:\.([a-z]+))?@([a-z]+\d?)")

COMMON = 3
"""Offset of Zipf's law: the larger, the more uniform the frequencies of a class of words."""

Pair = tuple[list[str], list[str]]
"""Words of both sides."""


class GrammarError(ValueError):
    """The text of a grammar is malformed."""


@dataclass(frozen=True)
class Part:
    """A word, or a slot if ``key`` is not empty, in a form that may agree with another slot."""

    word: str
    """The word, or the class of the slot."""
    key: str = ""
    """Class and number of the slot."""
    form: str = ""
    owner: str = ""
    """Key of the slot that the word agrees with."""


@dataclass(frozen=True)
class Entry:
    """A pair of phrases with slots."""

    weight: int
    source: tuple[Part, ...]
    target: tuple[Part, ...]
    slots: dict[str, str]
    """The class of every slot by its key."""


class Grammar:
    """The classes of texts in the notation above.

    Raises:
        GrammarError: a text is not in that notation, names an unknown class, or a slot or form is wrong.
    """

    def __init__(self, *texts: str):
        self.classes: dict[str, list[Entry]] = {}
        for text in texts:
            self._read(text)
        self._limits = {name: [*accumulate(_weights(found))] for name, found in self.classes.items()}
        for entry in (entry for found in self.classes.values() for entry in found):
            for name in entry.slots.values():
                if not self.classes.get(name):
                    raise GrammarError(f"no class {name!r}, or nothing in it")

    def _read(self, text: str) -> None:
        found: list[Entry] | None = None
        for line in text.splitlines():
            line = line.partition("#")[0].strip()
            if line.startswith("[") and line.endswith("]"):
                found = self.classes.setdefault(line[1:-1], [])
            elif line and found is None:
                raise GrammarError(f"an entry before the first class: {line}")
            elif line and found is not None:
                found += [_entry(part.strip()) for part in line.split(";") if part.strip()]

    def draw(self, name: str, rng: Random) -> Pair:
        """A random phrase of the class; verbs and adjectives are uninflected."""
        limits = self._limits[name]
        entry = self.classes[name][bisect(limits, rng.random() * limits[-1])]
        drawn = {key: self.draw(kind, rng) for key, kind in entry.slots.items()}
        source = _said(entry.source, {key: pair[0] for key, pair in drawn.items()}, japanese.formed)
        target = _said(entry.target, {key: pair[1] for key, pair in drawn.items()}, english.formed)
        return source, target


def _weights(entries: list[Entry]) -> list[float]:
    """Unnormalised probabilities of the entries: their weights, and in a class of words Zipf's law."""
    of_words = not any(entry.slots for entry in entries)
    return [entry.weight / (COMMON + rank if of_words else 1) for rank, entry in enumerate(entries)]


Formed = Callable[[list[str], str, Sequence[str]], list[str]]
"""Function from words, the name of a form and the words they agree with to the words in that form."""


def _said(parts: tuple[Part, ...], drawn: dict[str, list[str]], formed: Formed) -> list[str]:
    words: list[str] = []
    for part in parts:
        own = drawn[part.key] if part.key else [part.word]
        words += formed(own, part.form, drawn.get(part.owner, ())) if part.form else own
    return words


def _entry(text: str) -> Entry:
    match = re.fullmatch(r"(?:(\d+)\* )?(.+?) = (.+)", text)
    if not match:
        raise GrammarError(f"no entry of the form 'source = target': {text}")
    source, target = (_parts(side, text) for side in match.group(2, 3))
    slots = [{part.key: part.word for part in side if part.key} for side in (source, target)]
    if slots[0].keys() != slots[1].keys():
        raise GrammarError(f"the sides have different slots: {text}")
    if any(part.owner and part.owner not in slots[0] for part in (*source, *target)):
        raise GrammarError(f"agrees with no slot of the entry: {text}")
    if any(part.form not in ("", *japanese.FORMS) for part in source):
        raise GrammarError(f"no form of Japanese: {text}")
    if any(part.form not in ("", *english.FORMS) for part in target):
        raise GrammarError(f"no form of English: {text}")
    return Entry(int(match[1] or 1), source, target, slots[0])


def _parts(side: str, entry: str) -> tuple[Part, ...]:
    parts = []
    for token in side.split():
        if match := _SLOT.fullmatch(token):
            name, number, form, owner = (group or "" for group in match.groups())
            parts.append(Part(name, name + number, form, owner))
        elif match := _AGREEING.fullmatch(token):
            parts.append(Part(match[1], "", match[2] or "pres", match[3]))
        elif {*token} & {*"{}@"}:
            raise GrammarError(f"cannot read {token!r}: {entry}")
        elif token != "_":
            parts.append(Part(token))
    return tuple(parts)
