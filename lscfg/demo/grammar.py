"""A synchronous grammar in a notation meant to be written by hand: both sides of a phrase share their slots.

An entry is ``Spanish = English``. Alternatives that mean the same stand in parentheses, ``(perdone|disculpe)``, or,
for a whole side, behind `` / ``; each side chooses for itself, and that is where a source gets several targets. Slots
in braces are filled once, for both sides::

    ¿ tienen {un room} más {roomadj@room} ? = do you have {a roomadj.er room} ?

``{room}``            a phrase of the class ``room``; ``{room2}`` is another phrase of the same class
``{room+}``           in the plural; ``{room*}`` in either number
``{room?}``           filled or, on both sides, left out
``{el otro room}``    words before the name agree with what fills the slot (el otro, la otra; this, these)
``{mi@who room}``     a possessive agrees with both: the owner ``who`` and the thing (mi, tus, nuestra; my, your, our)
``{act.pret@who}``    a verb phrase whose first word is conjugated for the subject ``who``
``{roomadj@room}``    an adjective phrase that agrees with what fills ``room``
``roto@room``         a word of the template that agrees with a slot
``estar.pres@room``   a verb of the template, conjugated for a slot

A slot that only follows an ``@`` in an entry belongs to the phrase around it: this is how the subject of a sentence
reaches the possessives deep inside its verb phrase. In noun phrases the first Spanish word and the last English word
are inflected, in verb and adjective phrases the first of each; ``~`` marks further words that are (``habitación
~doble``) or, in English nouns, the one that is (``bottle~ of water``). ``_`` is nothing.

Classes are declared by a header line ``kind name:`` and entries, one a line or divided by `` ; ``. The kinds ``noun``
and ``person`` start each entry with a code for gender, number and person (see ``features.CODES``); ``verb``, ``adj``
and ``phrase`` have none; ``name`` is a phrase class whose later entries are rarer and rarer; ``number few: 2..6``
counts in words. A name alone (``<place``) includes another class, and ``3*`` before an entry makes it three times as
likely.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from random import Random
from typing import NamedTuple, TypeVar

from lscfg.demo import english, spanish
from lscfg.demo.features import CODES, NEUTRAL, Features

SPANISH, ENGLISH = 0, 1
LANGUAGES = (spanish, english)
T = TypeVar("T")


class GrammarError(ValueError):
    """The grammar text is wrong; says which entry and why."""


class Agreeing(NamedTuple):
    """A word of a template that agrees with (or, given a form, is conjugated for) a slot."""

    word: str
    form: str
    owner: str


class Slot(NamedTuple):
    """A place for a phrase, with the determiners before it as pairs of word and owner."""

    key: str
    form: str
    owner: str
    determiners: tuple[tuple[str, str], ...]


class Head(NamedTuple):
    """An inflected word of a noun, verb or adjective phrase."""

    word: str
    kind: str


class Choice(NamedTuple):
    """Alternatives with the same meaning."""

    options: tuple[tuple[Node, ...], ...]


Node = str | Agreeing | Slot | Head | Choice
Template = tuple[Node, ...]

_TOKEN = re.compile(r"\{[^{}]*\}|[()|]|[^\s(){}|]+")
_SLOT = re.compile(r"(?P<key>[a-z]+\d?[+*]?)(?P<optional>\??)(?:\.(?P<form>[a-z]+))?(?:@(?P<owner>[a-z]+\d?[+*]?))?")
_AGREEING = re.compile(r"(?P<word>[^\W\d_]+)(?:\.(?P<form>[a-z]+))?@(?P<owner>[a-z]+\d?[+*]?)")
_ENTRY = re.compile(r"(?:(?P<weight>\d+)\*\s)?\s*(?P<rest>.*)")


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """A phrase pair: the variants of each side, its features and the slots it fills itself."""

    sides: tuple[tuple[Template, ...], tuple[Template, ...]]
    features: Features
    slots: tuple[tuple[str, bool], ...]  # key and whether it is optional
    owners: tuple[str, ...]  # keys of slots agreed with that belong to the phrase around it
    weight: int = 1
    text: str = ""


@dataclass(slots=True)
class PhraseClass:
    """The entries of a class, and how to draw one."""

    kind: str
    entries: list[Entry] = field(default_factory=list)
    cumulative: list[int] = field(default_factory=list)

    def draw(self, rng: Random) -> Entry:
        """An entry by weight; of names, the first ones are the common ones."""
        if self.kind == "name":
            return self.entries[int(len(self.entries) * rng.random() ** 2.5)]
        if not self.cumulative:
            self.cumulative = list(accumulate(entry.weight for entry in self.entries))
        return self.entries[bisect_right(self.cumulative, int(rng.random() * self.cumulative[-1]))]


@dataclass(slots=True)
class Phrase:
    """An entry that fills a slot: the variant drawn for each side, its features, and the phrases in its own slots."""

    entry: Entry
    sides: tuple[Template, Template]
    features: Features
    around: Phrase | None
    filled: dict[str, Phrase | None] = field(default_factory=dict)


def pick(rng: Random, options: Sequence[T]) -> T:
    """One of the options; built on ``random()`` alone, whose sequence Python keeps stable across versions."""
    return options[int(rng.random() * len(options))] if len(options) > 1 else options[0]


class Grammar:
    """The phrase classes by name; draws phrases of a class and says them in both languages."""

    def __init__(self, *texts: str):
        """Reads the classes from texts in the notation of this module.

        Raises:
            GrammarError: an entry is not in the notation, or names a class that is not there.
        """
        self.classes: dict[str, PhraseClass] = {}
        for text in texts:
            self._read(text)
        for name, phrases in self.classes.items():
            for entry in phrases.entries:
                for key, _ in entry.slots:
                    if class_of(key) not in self.classes:
                        raise GrammarError(f"no class {class_of(key)!r} for {{{key}}} in {name}: {entry.text}")
                for key in entry.owners:
                    if class_of(key) not in self.classes or self.classes[class_of(key)].kind != "person":
                        raise GrammarError(f"no slot {{{key}}} to agree with, in {name}: {entry.text}")

    def _read(self, text: str) -> None:
        phrases = PhraseClass("")
        for line in joined_lines(text):
            if header := re.fullmatch(r"(noun|person|verb|adj|phrase|name) (\w+):", line):
                phrases = self.classes.setdefault(header[2], PhraseClass(header[1]))
            elif header := re.fullmatch(r"number (\w+): (\d+)\.\.(\d+)(?:/(\d+))?", line):
                counted = range(int(header[2]), int(header[3]) + 1, int(header[4] or 1))
                numbers = [parse_entry(f"{spanish.number(n)} = {english.number(n)}", "phrase") for n in counted]
                self.classes[header[1]] = PhraseClass("phrase", numbers)
            elif line.startswith("<"):
                phrases.entries += self.classes[line[1:]].entries
            else:
                phrases.entries += (parse_entry(entry, phrases.kind) for entry in line.split(" ; "))

    def nouns(self) -> Iterator[tuple[str, str, Features]]:
        """The head of every noun: class, Spanish word and features. The oracle for agreement."""
        for name, phrases in self.classes.items():
            if phrases.kind == "noun":
                for entry in phrases.entries:
                    for template in entry.sides[SPANISH]:
                        for node in template[:1]:
                            if isinstance(node, Head | str):
                                yield name, node if isinstance(node, str) else node.word, entry.features

    def draw(self, name: str, rng: Random) -> Phrase:
        """A phrase of the class with all its slots filled."""
        return self._fill(self.classes[name].draw(rng), "", None, rng)

    def _fill(self, entry: Entry, number: str, around: Phrase | None, rng: Random) -> Phrase:
        features = entry.features
        if number == "+" or (number == "*" and rng.random() < 0.4):
            features = features._replace(number="p", pronoun="they")
        if features.gender == "?":
            features = features._replace(gender="m" if rng.random() < 0.6 else "f")
        phrase = Phrase(entry, (pick(rng, entry.sides[0]), pick(rng, entry.sides[1])), features, around)
        for key, optional in entry.slots:
            if optional and rng.random() < 0.5:
                phrase.filled[key] = None
                continue
            phrases = self.classes[class_of(key)]
            taken = [other.entry for name, other in phrase.filled.items() if other and class_of(name) == class_of(key)]
            filler = phrases.draw(rng)
            while filler in taken and len(taken) < len(phrases.entries):
                filler = phrases.draw(rng)
            phrase.filled[key] = self._fill(filler, key[-1] if key[-1] in "+*" else "", phrase, rng)
        return phrase

    def say(self, phrase: Phrase, rng: Random) -> tuple[list[str], list[str]]:
        """The words of the phrase in Spanish and in English."""
        source: list[str] = []
        target: list[str] = []
        self._render(phrase.sides[SPANISH], phrase, SPANISH, "", phrase.features, rng, source)
        self._render(phrase.sides[ENGLISH], phrase, ENGLISH, "", phrase.features, rng, target)
        return spanish.polish(source), english.polish(target, rng.random())

    def _owner(self, phrase: Phrase, key: str, rng: Random) -> Features:
        """Features of the slot of that name here or in what is around; a person nobody mentions is drawn, once."""
        at = phrase
        while not (found := at.filled.get(key)):
            if at.around is None:
                found = at.filled[key] = self._fill(self.classes[class_of(key)].draw(rng), "", at, rng)
                break
            at = at.around
        return found.features

    def _render(
        self, template: Template, phrase: Phrase, side: int, form: str, features: Features, rng: Random, out: list[str]
    ) -> None:
        """Appends the words of a template; ``form`` and ``features`` are for the heads in it."""
        language = LANGUAGES[side]
        for node in template:
            if isinstance(node, str):
                out.append(node)
            elif isinstance(node, Head):
                out += _INFLECT[node.kind, side](node.word, form, features).split()
            elif isinstance(node, Choice):
                self._render(pick(rng, node.options), phrase, side, form, features, rng, out)
            elif isinstance(node, Agreeing):
                owner = self._owner(phrase, node.owner, rng)
                word = language.verb(node.word, node.form, owner) if node.form else language.agree(node.word, owner)
                out += word.split()
            elif inner := phrase.filled[node.key]:
                for determiner, key in node.determiners:
                    possessor = self._owner(phrase, key, rng) if key else None
                    out += language.agree(determiner, inner.features, possessor).split()
                heads = self._owner(phrase, node.owner, rng) if node.owner else inner.features
                self._render(inner.sides[side], inner, side, node.form, heads, rng, out)


_INFLECT: dict[tuple[str, int], Callable[[str, str, Features], str]] = {
    ("noun", SPANISH): lambda word, form, features: spanish.noun(word, features),
    ("noun", ENGLISH): lambda word, form, features: english.noun(word, features),
    ("adj", SPANISH): spanish.adjective,
    ("adj", ENGLISH): english.adjective,
    ("verb", SPANISH): lambda word, form, features: spanish.verb(word, form, features),
    ("verb", ENGLISH): lambda word, form, features: english.verb(word, form, features),
}


def joined_lines(text: str) -> Iterator[str]:
    """The lines without comments and blank ones; a line that starts with "=" or "/" continues the one before."""
    pending = ""
    for raw in text.splitlines():
        line = raw.partition("#")[0].strip()
        if not line:
            continue
        if line[0] in "=/":
            pending += " " + line
            continue
        if pending:
            yield pending
        pending = line
    if pending:
        yield pending


def class_of(key: str) -> str:
    """The class that fills a slot: its name without index and number."""
    return key.rstrip("+*").rstrip("0123456789")


def parse_entry(text: str, kind: str) -> Entry:
    """Reads one entry.

    Raises:
        GrammarError: it is not in the notation.
    """
    match = _ENTRY.fullmatch(text.strip())
    assert match
    rest, features = match["rest"], NEUTRAL
    if kind in ("noun", "person"):
        code, _, rest = rest.partition(" ")
        if code not in CODES:
            raise GrammarError(f"a {kind} starts with one of {' '.join(CODES)}: {text}")
        features = CODES[code]
        if features.number == "p":
            kind = "plural " + kind  # written as it is used: nothing left to inflect
    source, _, target = rest.partition(" = ")
    slots: dict[str, bool] = {}
    owners: dict[str, None] = {}
    spanish_side = tuple(_parse(variant, kind, SPANISH, slots, owners, text) for variant in source.split(" / "))
    english_side = tuple(
        _parse(variant, kind, ENGLISH, slots, owners, text) for variant in (target or source).split(" / ")
    )
    if kind.endswith("person") and all(
        len(variant) == 1 and variant[0] in english.PRONOUNS for variant in english_side
    ):
        features = features._replace(is_pronoun=True)
    return Entry(
        (spanish_side, english_side),
        features,
        tuple(slots.items()),
        tuple(owner for owner in owners if owner not in slots),
        int(match["weight"] or 1),
        text,
    )


def _parse(text: str, kind: str, side: int, slots: dict[str, bool], owners: dict[str, None], entry: str) -> Template:
    """Reads one variant of a side; notes its slots."""
    stack: list[list[list[Node]]] = [[[]]]
    words = _TOKEN.findall(text)
    heads = _heads(words, kind, side)
    for at, token in enumerate(words):
        if token == "(":
            stack.append([[]])
        elif token == "|":
            stack[-1].append([])
        elif token == ")" and len(stack) > 1:
            options = stack.pop()
            stack[-1][-1].append(Choice(tuple(map(tuple, options))))
        elif token[0] == "{":
            slot, optional = _parse_slot(token[1:-1].split(), entry)
            slots[slot.key] = slots.get(slot.key, False) or optional
            owners |= dict.fromkeys(key for key in (slot.owner, *(key for _, key in slot.determiners)) if key)
            stack[-1][-1].append(slot)
        elif match := _AGREEING.fullmatch(token):
            owners[match["owner"]] = None
            stack[-1][-1].append(Agreeing(match["word"], match["form"] or "", match["owner"]))
        elif "@" in token or "{" in token or "}" in token:
            raise GrammarError(f"cannot read {token!r}: {entry}")
        elif token != "_":
            word = token.replace("~", "")
            stack[-1][-1].append(Head(word, heads[at]) if at in heads else word)
    if len(stack) > 1:
        raise GrammarError(f"unbalanced parentheses: {entry}")
    if len(stack[0]) > 1:
        raise GrammarError(f"'|' needs parentheses: {entry}")
    return tuple(stack[0][0])


def _parse_slot(parts: list[str], entry: str) -> tuple[Slot, bool]:
    match = _SLOT.fullmatch(parts[-1])
    if not match:
        raise GrammarError(f"cannot read the slot {parts[-1]!r}: {entry}")
    determiners = tuple((word, owner) for word, _, owner in (part.partition("@") for part in parts[:-1]))
    return Slot(match["key"], match["form"] or "", match["owner"] or "", determiners), bool(match["optional"])


def _heads(words: list[str], kind: str, side: int) -> dict[int, str]:
    """Which words are inflected, and as what."""
    if kind not in ("noun", "verb", "adj"):
        return {}
    marked = [at for at, word in enumerate(words) if "~" in word]
    if kind == "noun" and side == ENGLISH:
        return dict.fromkeys(marked or [len(words) - 1], "noun")
    further = "adj" if kind == "noun" else kind
    return {0: kind} | dict.fromkeys((at for at in marked if at), further)
