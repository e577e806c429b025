"""Frames: the translation of a similar sentence as one rule, with a nonterminal for each difference."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import NamedTuple

from lscfg.decode.recalled import StoredPair

# Koehn and Senellart (2010), "Convergence of Translation Memory and Statistical Machine Translation": the decoder
# translates what differs, and the stored translation gives the rest.

MOST_GAPS = 9
"""Maximum nonterminals of a rule of the kernel."""

Span = tuple[int, int]


class Frame(NamedTuple):
    """A rule that covers a whole sentence."""

    source: str
    """Words and nonterminals ``[X,1]``, ``[X,2]`` and so on."""
    target: str
    """Words and nonterminals ``[1]``, ``[2]`` and so on."""


def frame_of(words: Sequence[str], pair: StoredPair) -> Frame | None:
    """The frame of a stored pair for a sentence of other words.

    Words of the sentence that the stored sentence lacks become nonterminals, and so does the translation of the stored
    words at their place.

    Returns:
        The frame; None if a difference has no translation that links separate from all others, if the differences are
        more than ``MOST_GAPS``, or if a side would be without words.
    """
    target = pair.target.split(" ")
    gaps = differing_spans(words, pair.source.split(" "))
    spans = [_translation(stored, pair) for _, stored in gaps]
    order = sorted(range(len(gaps)), key=lambda k: spans[k] or (0, 0))
    known = [span for k in order if (span := spans[k]) is not None]
    if len(known) < len(gaps) or len(gaps) > MOST_GAPS or any(one[1] > other[0] for one, other in pairwise(known)):
        return None
    source = _with_gaps(words, [own for own, _ in gaps], [f"[X,{k + 1}]" for k in range(len(gaps))])
    translation = _with_gaps(target, known, [f"[{k + 1}]" for k in order])
    if min(len(source), len(translation)) == len(gaps):
        return None
    return Frame(" ".join(source), " ".join(translation))


def _translation(span: Span, pair: StoredPair) -> Span | None:
    """The smallest span of the target that is linked to a span of the source and to nothing else."""
    inside = [t for s, t in pair.links if span[0] <= s < span[1]]
    if not inside:
        return None
    first, end = min(inside), max(inside) + 1
    if any(first <= t < end and not span[0] <= s < span[1] for s, t in pair.links):
        return None
    return first, end


def _with_gaps(words: Sequence[str], spans: Sequence[Span], names: Sequence[str]) -> list[str]:
    """Words with a name instead of each span; spans are ascending."""
    found, at = list[str](), 0
    for (begin, end), name in zip(spans, names, strict=True):
        found += [*words[at:begin], name]
        at = end
    return [*found, *words[at:]]


def differing_spans(words: Sequence[str], stored: Sequence[str]) -> list[tuple[Span, Span]]:
    """Spans of a sentence with the spans of another one at their place, neither of them empty, ascending.

    Where one sentence has no words, the word before the place, or else the word after it, belongs to the difference.
    """
    found: list[tuple[Span, Span]] = []
    for kind, a, b, c, d in SequenceMatcher(None, words, stored, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        if a == b or c == d:
            before = min(a, c) > 0
            a, c, b, d = a - before, c - before, b + (not before), d + (not before)
        if found and (a <= found[-1][0][1] or c <= found[-1][1][1]):
            (first, _), (stored_first, _) = found.pop()
            a, c = first, stored_first
        found.append(((a, b), (c, d)))
    return found
