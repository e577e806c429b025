"""Source words that terms and corrections translate, and terms and corrections that exclude each other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from lscfg import log
from lscfg.decode.derivations import Translated
from lscfg.decode.recalled import StoredRule
from lscfg.decode.terms import Occurrence
from lscfg.errors import quote
from lscfg.formats.segments import segment_text
from lscfg.kernel import Forest

LISTED = 5
"""Maximum number of conflicts that a warning lists."""

Shown = Callable[[str], str]
"""Turns words into text for people."""


def taught_positions(forest: Forest, apps: np.ndarray) -> tuple[int, ...]:
    """Positions of the words that rules of a layer translate, ascending.

    Args:
        forest: of the sentence, without the derivations that its hard terms exclude.
        apps: applications of the rules.
    """
    edges = np.asarray(forest.app_edge)[apps]
    edge_head, inner = np.asarray(forest.edge_head), np.asarray(forest.edge_tail)[edges, 0] >= 0
    node_span = np.asarray(forest.node_span)
    found = set[int]()
    for begin, end in {*map(tuple, node_span[edge_head[edges[~inner]]].tolist())}:
        found.update(range(begin, end))
    for edge in {*edges[inner].tolist()}:
        below = [range(*node_span[tail].tolist()) for tail in forest.tails(edge)]
        begin, end = node_span[edge_head[edge]].tolist()
        found.update(k for k in range(begin, end) if not any(k in one for one in below))
    return tuple(sorted(found))


def conflicts(
    found: Translated,
    source: Shown = str,
    target: Shown = str,
    typed: Callable[[tuple[int, int]], str] | None = None,
) -> list[str]:
    """Terms and corrections for a sentence that the translation does not obey, because others exclude them.

    Args:
        source, target: text of some words of each language.
        typed: text of a span of the sentence; None: its words.
    """
    words = segment_text(found.sentence).split()

    def named(span: tuple[int, int]) -> str:
        return quote(" ".join(words[slice(*span)]) if typed is None else typed(span))

    chosen = {one.span for one, number in _numbered(found) if number < 0}
    messages = []
    for overlap in found.found.overlaps:
        winner = f"the {'choice for' if overlap.winner in chosen else 'term'} {named(overlap.winner)}"
        messages.append(f"the term {named(overlap.span)} is ignored, because {winner} overlaps it")
    pair = found.recalled.pair
    blocking: list[str] = []
    if pair is not None and found.answered is None:
        wanted = [(one, number) for one, number in _numbered(found) if number < 0 or one.hard]
        without = found.recalled.lacking([one for one, _ in wanted])
        lacking = [
            (one, number)
            for one, number in wanted
            if number < 0 or (one in without and not _contains(pair.target, one.forms))
        ]
        blocking = [
            f"the {'choice' if number < 0 else 'term'} for {named(one.span)}"
            for one, number in lacking or wanted  # several terms may need the same words
        ]
        messages.append(f"{' and '.join(dict.fromkeys(blocking))} excluded the correction {pair.id}")
    for one, number in _numbered(found):
        if found.answered is not None:
            if not one.hard and not _contains(found.answered.target, one.forms):
                messages.append(f"the correction {found.answered.id} excluded the term {named(one.span)}")
        elif one.hard and number >= 0 and not blocking:
            for rule in _excluded(words, one, found.recalled.rules):
                by = f"{quote(source(rule.source))} by {quote(target(rule.target))}"
                messages.append(f"the term {named(one.span)} excluded a correction, which translates {by}")
    return [*dict.fromkeys(messages)]


def _numbered(found: Translated) -> Iterator[tuple[Occurrence, int]]:
    return zip(found.found.occurrences, found.found.numbers, strict=True)


def _contains(target: str, forms: Iterable[str]) -> bool:
    return any(f" {form} " in f" {target} " for form in forms)


def _excluded(words: Sequence[str], term: Occurrence, rules: Sequence[StoredRule]) -> list[StoredRule]:
    """The best of the shortest rules around a term, if none of the rules translates the term as the term demands."""
    begin, end = term.span
    own: list[tuple[int, float, StoredRule]] = []
    for rule in rules:
        side = rule.source.split(" ")
        places = range(max(0, end - len(side)), min(begin, len(words) - len(side)) + 1)
        if any([*words[k : k + len(side)]] == side for k in places):
            own.append((len(side), -rule.value, rule))
    if not own or any(_contains(rule.target, term.forms) for *_, rule in own):
        return []
    return [min(own)[-1]]


class ConflictReport:
    """Collects the conflicts of the sentences of a text."""

    def __init__(self) -> None:
        self._found: list[str] = []

    def add(self, sentence: Translated, number: int) -> None:
        """Adds the conflicts of a sentence, whose number counts from 0."""
        if sentence.recalled.pair is not None or sentence.recalled.phrases:
            self._found += [f"sentence {number + 1}: {one}" for one in conflicts(sentence) if "correction" in one]

    def finish(self) -> None:
        """Warns of the conflicts."""
        for message in self._found[:LISTED]:
            log.warning(message)
        if (more := len(self._found) - LISTED) > 0:
            log.warning(f"{more} further conflicts of terms and corrections")
