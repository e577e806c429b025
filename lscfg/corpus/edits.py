"""Edit distance of sentences."""

from __future__ import annotations

from collections.abc import Sequence


def word_edits(output: Sequence[str], reference: Sequence[str]) -> int:
    """The least number of words to insert, delete or replace (Levenshtein)."""
    row = list(range(len(reference) + 1))
    for i, word in enumerate(output, 1):
        last, row[0] = row[0], i
        for j, other in enumerate(reference, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (word != other))
    return row[-1]
