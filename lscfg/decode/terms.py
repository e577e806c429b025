"""Terms: words of the source whose translation is given, and the part of a forest that obeys them.

A hard term holds wherever its words occur. A rule may translate an occurrence together with other words, if its target
side contains an allowed form; a rule that splits the occurrence is left out. A soft term only adds a rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lscfg.errors import InputError, quote
from lscfg.kernel import REST, Forest, Grammar

MOST_WORDS = 20
MOST_FORMS = 16
MODES, MATCHES = ("hard", "soft", "keep"), ("exact", "nocase")


@dataclass(frozen=True)
class Term:
    """An entry of a glossary.

    Raises:
        InputError: a side is empty or too long, or mode or match are unknown.
    """

    source: str
    """Words, separated by blanks."""
    targets: tuple[str, ...]
    """Allowed translations."""
    mode: str = "hard"
    """``hard``: obeyed at each occurrence; ``soft``: a further rule; ``keep``: hard, translated by the words
    themselves."""
    match: str = "exact"
    """``exact``, or ``nocase`` to ignore upper and lower case."""

    def __post_init__(self) -> None:
        for name, value, known in (("mode", self.mode, MODES), ("match", self.match, MATCHES)):
            if value not in known:
                raise InputError(f"{name} {quote(value)} is unknown; use {' or '.join(known)}")
        if not self.source.split():
            raise InputError("the source of a term is empty; give at least one word")
        if len(self.source.split()) > MOST_WORDS:
            raise InputError(
                f"the source of a term has {len(self.source.split())} words; at most {MOST_WORDS} are used"
            )
        if self.mode == "keep" and self.targets:
            raise InputError(
                f"the term {quote(self.source)} is kept and takes no target; remove the target or the mode"
            )
        if self.mode != "keep" and not [target for target in self.targets if target.split()]:
            raise InputError(f"the term {quote(self.source)} has no target; give one, or the mode keep")
        if len(self.targets) > MOST_FORMS:
            raise InputError(f"the term {quote(self.source)} has {len(self.targets)} targets; at most {MOST_FORMS}")


class ChosenSpan(NamedTuple):
    """A translation chosen for a span of one sentence."""

    span: tuple[int, int]
    """Source words [i, j)."""
    target: str


class Occurrence(NamedTuple):
    """A term in a sentence."""

    span: tuple[int, int]
    forms: tuple[str, ...]
    """Allowed translations."""
    hard: bool


class UsedTerm(NamedTuple):
    """A hard term in a translation."""

    source: tuple[int, int]
    target: tuple[int, int]
    """Words [i, j) of both sides."""
    form: str


def find_terms(
    words: Sequence[str], terms: Sequence[Term], choices: Iterable[ChosenSpan] = ()
) -> tuple[Occurrence, ...]:
    """The occurrences of terms in a sentence, in its order: choices first, then the longest, then the leftmost.

    An occurrence that overlaps a better one is left out. Of equal sources the first term counts.

    Raises:
        InputError: a choice is not a span of the sentence, or has no target.
    """
    found: list[Occurrence] = []
    for span, target in choices:
        if not 0 <= span[0] < span[1] <= len(words):
            raise InputError(f"the choice {[*span]} is not a span of the sentence's {len(words)} words")
        if not target.split():
            raise InputError(f"the choice {[*span]} has no target; give at least one word")
        found.append(Occurrence(span, (" ".join(target.split()),), True))
    exact: dict[tuple[str, ...], Term] = {}
    nocase: dict[tuple[str, ...], Term] = {}
    for entry in terms:
        source = tuple(entry.source.split())
        if entry.match == "nocase":
            nocase.setdefault(tuple(word.lower() for word in source), entry)
        else:
            exact.setdefault(source, entry)
    folded = [word.lower() for word in words]
    matches = []
    for length in sorted({len(source) for source in [*exact, *nocase]}, reverse=True):
        for i in range(len(words) - length + 1):
            term = exact.get(tuple(words[i : i + length])) or nocase.get(tuple(folded[i : i + length]))
            if term is not None:
                kept = " ".join(words[i : i + length])
                forms = [kept] if term.mode == "keep" else [" ".join(t.split()) for t in term.targets if t.split()]
                matches.append(Occurrence((i, i + length), tuple(dict.fromkeys(forms)), term.mode != "soft"))
    for match in matches:
        if all(match.span[1] <= other.span[0] or other.span[1] <= match.span[0] for other in found):
            found.append(match)
    return tuple(sorted(found))


def obeying(forest: Forest, grammar: Grammar, occurrences: Sequence[Occurrence]) -> np.ndarray:
    """Applications that obey the hard terms, bool [n_apps].

    Args:
        forest: of a sentence, parsed with the forms as rules.
        grammar: of the forest, or its layer.
        occurrences: without overlaps; soft ones are ignored.
    """
    hard = [occurrence for occurrence in occurrences if occurrence.hard]
    keep = np.ones(forest.n_edges, bool)
    owners: dict[int, list[Occurrence]] = {}  # edges whose rule itself covers occurrences
    begin, end = forest.node_span[forest.edge_head].T
    rest = forest.node_cat[forest.edge_head] == REST
    for occurrence in hard:
        a, b = occurrence.span
        for edge in np.flatnonzero((begin < b) & (end > a) & ~rest).tolist():
            tails = [forest.node_span[tail].tolist() for tail in forest.tails(edge)]
            if any(i <= a and b <= j for i, j in tails):
                continue
            if begin[edge] <= a and b <= end[edge] and all(j <= a or b <= i for i, j in tails):
                owners.setdefault(edge, []).append(occurrence)
            else:
                keep[edge] = False
    apps: np.ndarray = keep[forest.app_edge]
    for edge, own in owners.items():
        for app in range(int(forest.edge_apps[edge]), int(forest.edge_apps[edge + 1])):
            target = target_words(forest, grammar, app)
            apps[app] &= has_forms(target, [[form.split() for form in one.forms] for one in own])
    return apps


def target_words(forest: Forest, grammar: Grammar, app: int) -> list[str]:
    """The target side of an application, nonterminals as empty texts."""
    rule = int(forest.app_rule[app])
    first = len(grammar)
    try:
        symbols = grammar.tgt(rule)
    except IndexError:  # an extra rule: glue has no words, and another one passes its word through
        head = int(forest.edge_head[forest.app_edge[app]])
        glue = forest.tails(int(forest.app_edge[app]))
        symbols = [-1] * len(glue) if glue or rule < first else [int(forest.words[forest.node_span[head, 0]])]
    return [grammar.vocab.word(symbol) if symbol >= 0 else "" for symbol in symbols]


def has_forms(target: Sequence[str], wanted: Sequence[Sequence[Sequence[str]]]) -> bool:
    """True if the target side contains a form of each term, in places that do not overlap."""

    def place(number: int, taken: frozenset[int]) -> bool:
        if number == len(wanted):
            return True
        for form in wanted[number]:
            for i in range(len(target) - len(form) + 1):
                own = frozenset(range(i, i + len(form)))
                if [*target[i : i + len(form)]] == [*form] and not own & taken and place(number + 1, taken | own):
                    return True
        return False

    return place(0, frozenset())


def used_terms(
    rules: Iterable[tuple[Sequence[int], Sequence[int]]], words: Sequence[str], occurrences: Iterable[Occurrence]
) -> tuple[UsedTerm, ...]:
    """Places of the hard terms in a translation, in the order of the source.

    Args:
        rules: positions of the source words and of the target words of each rule of the derivation.
        words: of the translation.
    """
    owner: Mapping[int, Sequence[int]] = {i: target for source, target in rules for i in source}
    found: list[UsedTerm] = []
    taken: set[int] = set()
    for occurrence in occurrences:
        if not occurrence.hard:
            continue
        target = owner[occurrence.span[0]]
        for form in occurrence.forms:
            n = len(form.split())
            runs = [r for r in (range(j, j + n) for j in target) if {*r} <= {*target} and not taken & {*r}]
            if place := next((run for run in runs if [words[k] for k in run] == form.split()), None):
                taken |= {*place}
                found.append(UsedTerm(occurrence.span, (place.start, place.stop), form))
                break
    return tuple(found)
