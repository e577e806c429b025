"""Words of a translation that a person could leave as they are, by the alignment of the translation edit rate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sacrebleu.metrics import lib_ter


class Edited(NamedTuple):
    """Edits that turn a translation into a reference.

    Attributes:
        matched: for each word of the translation, True if the word stays, perhaps at another place.
        edits: number of insertions, deletions, substitutions and shifts.
    """

    matched: tuple[bool, ...]
    edits: int


class _Placed(str):
    """A word that keeps its position while words are shifted."""

    position: int


def edited(translation: Sequence[str], references: Sequence[Sequence[str]]) -> Edited:
    """The edits into the reference that needs the fewest, the first of equal ones.

    sacrebleu searches the shifts (Snover et al. 2006); its functions return only the number of edits, so the loop of
    its ``translation_edit_rate`` is repeated here over words with positions.

    Args:
        references: words of each reference, one or more.
    """
    return min((_edited(translation, reference) for reference in references), key=lambda one: one.edits)


def _edited(translation: Sequence[str], reference: Sequence[str]) -> Edited:
    if not reference or not translation:
        return Edited((False,) * len(translation), len(translation) + len(reference))
    words: list[str] = []
    for position, word in enumerate(translation):
        placed = _Placed(word)
        placed.position = position
        words.append(placed)
    distance = lib_ter.BeamEditDistance([*reference])
    shifts = tried = 0
    while True:
        gain, shifted, tried = lib_ter._shift(words, [*reference], distance, tried)
        if tried >= lib_ter._MAX_SHIFT_CANDIDATES or gain <= 0:
            break
        words, shifts = shifted, shifts + 1
    edits, trace = distance(words)
    _, wrong, _ = lib_ter.trace_to_alignment(trace)  # of the way back, the errors of the reference
    matched = [False] * len(words)
    for word, error in zip(words, wrong, strict=True):
        assert isinstance(word, _Placed)
        matched[word.position] = not error
    return Edited(tuple(matched), shifts + edits)
