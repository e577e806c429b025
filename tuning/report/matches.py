"""Matches of n-grams between a translation and its references, counted as in BLEU."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from lscfg.tuning.bleu import ORDER


def grams(words: Sequence[str], order: int) -> list[tuple[str, ...]]:
    """The n-grams of an order, by position."""
    return [tuple(words[k : k + order]) for k in range(len(words) - order + 1)]


def clipped_counts(references: Sequence[Sequence[str]], order: int) -> Counter[tuple[str, ...]]:
    """The largest number of matches of each n-gram: its maximum count in any one reference."""
    most: Counter[tuple[str, ...]] = Counter()
    for words in references:
        most |= Counter(grams(words, order))
    return most


def matched_orders(output: Sequence[str], references: Sequence[Sequence[str]]) -> str:
    """A digit for each word: the length, 0 to 4, of the longest matched n-gram around the word.

    If the output repeats an n-gram more often than any reference, the first occurrences match.
    """
    longest = [0] * len(output)
    for order in range(1, min(ORDER, len(output)) + 1):
        left = clipped_counts(references, order)
        for begin, gram in enumerate(grams(output, order)):
            if left[gram] > 0:
                left[gram] -= 1
                longest[begin : begin + order] = [order] * order
    return "".join(map(str, longest))
