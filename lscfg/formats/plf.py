"""Lattices in Python lattice format (PLF), as cdec and Moses read them, one per line.

``((('a',0.5,1),('b',0.25,2),),(('c',1),),)``: for each state its arcs, each with a word, costs and the number of states
that the arc leads on. Costs are features ``LatticeCost_0``, ``LatticeCost_1`` ...; a dictionary ``{'Name': 0.5}`` gives
them other names. ``*EPS*`` is not a word. A confusion network is a lattice whose arcs all lead to the next state.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from lscfg.errors import InputError, cut, quote
from lscfg.kernel import words_fault

EMPTY = "*EPS*"
"""Mark of an arc without a word."""

COST = "LatticeCost_"
"""Name prefix of unnamed costs."""


class Arc(NamedTuple):
    """An arc of a lattice."""

    begin: int
    end: int
    word: str | None
    """None: no word."""
    features: Mapping[str, float]


@dataclass(frozen=True)
class Lattice:
    """A word lattice whose paths lead from state 0 to the last state."""

    arcs: tuple[Arc, ...]
    """Arcs by their first state."""
    states: int

    def first_path(self) -> list[str]:
        """Words of the path that takes the first arc at each state."""
        first: dict[int, Arc] = {}
        for arc in self.arcs:
            first.setdefault(arc.begin, arc)
        words, state = [], 0
        while state in first:
            words.append(first[state].word)
            state = first[state].end
        return [word for word in words if word is not None]

    def first_words(self) -> tuple[str, ...]:
        """The word of each state's first arc, empty for none."""
        words = [""] * (self.states - 1)
        for arc in reversed(self.arcs):
            words[arc.begin] = EMPTY if arc.word is None else arc.word
        return tuple(words)


def is_lattice(line: str) -> bool:
    """Recognises a lattice as cdec does, where other lines contain words."""
    return line.startswith("((('")


def format_lattice(lattice: Lattice) -> str:
    """Writes a lattice as ``parse_lattice`` reads it."""
    states: list[list[str]] = [[] for _ in range(lattice.states - 1)]
    for arc in lattice.arcs:
        named = [f"{_quoted(name)}:{value!r}" for name, value in arc.features.items()]
        costs = f"{{{','.join(named)}}}," if named else ""
        states[arc.begin].append(f"({_quoted(EMPTY if arc.word is None else arc.word)},{costs}{arc.end - arc.begin})")
    return "(" + "".join(f"({''.join(f'{arc},' for arc in arcs)})," for arcs in states) + ")"


def _quoted(text: str) -> str:
    return "'" + re.sub(r"([\\'])", r"\\\1", text) + "'"


def parse_lattice(line: str) -> Lattice:
    """Reads a lattice.

    Raises:
        InputError: by column, what is malformed.
    """
    return _Scanner(line).lattice()


def lattice_fault(line: str) -> str | None:
    """Explains why a lattice is malformed; None if it is well-formed."""
    try:
        parse_lattice(line)
    except InputError as error:
        return str(error)
    return None


_NUMBER = re.compile(r"[^ ),}]+")
_TEXT = re.compile(r"'((?:[^'\\]|\\.)*)'")


class _Scanner:
    def __init__(self, text: str):
        self._text, self._at = text, 0

    def lattice(self) -> Lattice:
        arcs: list[Arc] = []
        self._skip()
        self._take("(")
        states = 0
        while not self._ends():
            self._take("(")
            while not self._ends():
                arcs.append(self._arc(states))
            states += 1
        if self._at < len(self._text):
            raise self._error("the end of the line")
        for arc in arcs:
            if arc.end > states:
                raise InputError(
                    f"lattice, state {arc.begin + 1} of {states}: the arc {quote(arc.word or EMPTY)} leads "
                    f"{arc.end - arc.begin} states on, beyond the end"
                )
        return Lattice(tuple(arcs), states + 1)

    def _error(self, wanted: str) -> InputError:
        found = quote(self._text[self._at :][:20]) if self._at < len(self._text) else "the end of the line"
        return InputError(f"lattice, column {self._at + 1}: expected {wanted}, found {found}")

    def _skip(self) -> None:
        while self._text.startswith(" ", self._at):
            self._at += 1

    def _take(self, character: str) -> None:
        if not self._text.startswith(character, self._at):
            raise self._error(character)
        self._at += 1
        self._skip()

    def _next_is(self, character: str) -> bool:
        return self._text.startswith(character, self._at)

    def _ends(self) -> bool:
        """Skips a comma between parts; at the end of a list, skips the parenthesis and returns True."""
        if self._next_is(","):
            self._take(",")
        if self._next_is(")"):
            self._take(")")
            return True
        return False

    def _arc(self, begin: int) -> Arc:
        self._take("(")
        place = self._at
        word = self._quoted("a word in single quotes")
        if fault := "an empty word" if not word else "a blank in a word" if " " in word else words_fault(word):
            raise InputError(f"lattice, column {place + 1}: {fault}")
        self._take(",")
        if self._next_is("{"):
            features = self._named()
            self._take(",")
            place, steps = self._at, self._number()
        else:
            place, numbers = self._at, [self._number()]
            while self._next_is(","):
                self._take(",")
                place = self._at
                numbers.append(self._number())
            *costs, steps = numbers
            features = {f"{COST}{k}": cost for k, cost in enumerate(costs)}
        if steps != int(steps) or steps < 1:
            self._at = place
            raise self._error("the number of states that the arc leads on, a whole number from 1")
        self._take(")")
        own = {name: value for name, value in features.items() if value}
        return Arc(begin, begin + int(steps), None if word == EMPTY else word, own)

    def _named(self) -> dict[str, float]:
        features: dict[str, float] = {}
        self._take("{")
        while not self._next_is("}"):
            place = self._at
            name = self._quoted("a feature's name in single quotes")
            if name.split() != [name] or name in features:
                raise InputError(f"lattice, column {place + 1}: the feature {cut(name)!r} has a blank or occurs twice")
            self._take(":")
            features[name] = self._number()
            if not self._next_is("}"):
                self._take(",")
        self._take("}")
        return features

    def _quoted(self, wanted: str) -> str:
        found = _TEXT.match(self._text, self._at)
        if found is None:
            raise self._error(wanted)
        self._at = found.end()
        self._skip()
        return re.sub(r"\\(.)", r"\1", found[1])

    def _number(self) -> float:
        found = _NUMBER.match(self._text, self._at)
        try:
            value = float(found[0]) if found else math.nan
        except ValueError:
            value = math.nan
        if found is None or not math.isfinite(value) or "_" in found[0]:
            raise self._error("a finite number")
        self._at = found.end()
        self._skip()
        return value
