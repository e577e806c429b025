"""Edit distance of sentences."""

from __future__ import annotations

from collections.abc import Sequence


def word_edits(output: Sequence[str], reference: Sequence[str]) -> int:
    """The least number of words to insert, delete or replace (Levenshtein)."""
    # A column of the table of distances as bits (Hyyro 2003): differences of neighbours in a column are -1, 0 or 1.
    places: dict[str, int] = {}
    for k, word in enumerate(reference):
        places[word] = places.get(word, 0) | 1 << k
    edits, last = len(reference), 1 << len(reference) >> 1
    every = 2 * last - 1
    more, less = every, 0  # of the differences in a column, those that are 1 and those that are -1
    for word in output:
        equal = places.get(word, 0)
        diagonal = ((equal & more) + more ^ more) | equal | less
        right_more, right_less = less | ~(diagonal | more), more & diagonal
        edits += (right_more & last != 0) - (right_less & last != 0)
        right_more, right_less = right_more << 1 | 1, right_less << 1
        more, less = (right_less | ~(diagonal | right_more)) & every, right_more & diagonal & every
    return edits if reference else len(output)
