"""Sentence scores of all pairs of some texts, which minimum Bayes risk decoding needs: BLEU and chrF2."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lscfg.kernel.lists import count_matches
from lscfg.prepare.spacing import unmarked

Floats = NDArray[np.float64]

ORDER = 4
"""Longest n-grams of BLEU."""
CHARACTERS, BETA = 6, 2
"""Longest n-grams of chrF, and the weight of recall relative to precision."""


def bleu_utility(texts: Sequence[str]) -> Floats:
    """Sentence BLEU of each text against each other one, [texts, texts], 0 to 100; row: hypothesis, column: reference.

    sacrebleu's: smoothed ("exp"), without orders longer than the hypothesis, of words separated by white space. Only
    the BLEU of an empty text against an empty text is 100, as for all equal texts, where sacrebleu gives 0.
    """
    words = [text.split() for text in texts]
    length = np.array([len(one) for one in words], np.int64)
    shape = (len(texts), len(texts))
    logs, misses, any_match = np.zeros(shape), np.zeros(shape, np.int64), np.zeros(shape, bool)
    for n, matches in enumerate(count_matches(_numbered(words), ORDER), 1):
        totals = np.maximum(length - n + 1, 0)
        table, begin = _logs_of_shares(totals)
        any_match |= matches > 0
        none = (matches == 0) & (totals > 0)[:, None]
        logs += table[begin[totals][:, None] + matches - misses * none]
        misses += none
    brevity = np.minimum(0.0, 1 - length[None, :] / np.maximum(length, 1)[:, None])
    found = np.where(any_match, 100 * np.exp(brevity + logs / np.clip(length, 1, ORDER)[:, None]), 0.0)
    return _with_empty(found, length == 0)


def chrf_utility(texts: Sequence[str]) -> Floats:
    """chrF2 of each text against each other one, as in ``bleu_utility``: sacrebleu's, but 100 for two empty texts.

    The marks of joined words and of pieces are not letters.
    """
    letters = ["".join(unmarked(text).split()) for text in texts]
    length = np.array([len(one) for one in letters], np.int64)
    precision, recall, orders = (np.zeros((len(texts), len(texts))) for _ in range(3))
    for n, matches in enumerate(count_matches(_numbered(letters), CHARACTERS), 1):
        totals = np.maximum(length - n + 1, 0)
        both = (totals > 0)[:, None] & (totals > 0)[None, :]
        precision += np.where(both, matches / np.maximum(totals, 1)[:, None], 0.0)
        recall += np.where(both, matches / np.maximum(totals, 1)[None, :], 0.0)
        orders += both
    precision, recall = precision / np.maximum(orders, 1), recall / np.maximum(orders, 1)
    weighted = BETA**2 * precision + recall
    found = np.where(weighted > 0, 100 * (1 + BETA**2) * precision * recall / np.where(weighted > 0, weighted, 1), 0.0)
    return _with_empty(found, np.array([not one for one in letters], bool))


def _with_empty(utilities: Floats, empty: NDArray[np.bool_]) -> Floats:
    """Utilities, in which empty texts equal each other."""
    utilities[np.ix_(empty, empty)] = 100.0
    return utilities


def _numbered(sequences: Sequence[Sequence[str]]) -> list[NDArray[np.int32]]:
    """Sequences of numbers, equal for equal words or letters."""
    numbers: dict[str, int] = {}
    return [np.array([numbers.setdefault(one, len(numbers)) for one in some], np.int32) for some in sequences]


def _logs_of_shares(totals: NDArray[np.int64]) -> tuple[Floats, NDArray[np.int64]]:
    """Logarithms of shares of matches, smoothed.

    Returns:
        The logarithms, and by total t the place in them of the share without a match; m matches are m places further,
        and the share without a match after k orders without one, 0 < k < ORDER, is k places before. Total 0: always 0.
    """
    some = np.unique(totals[totals > 0])
    begin = np.zeros(int(totals.max(initial=0)) + 1, np.int64)
    begin[some] = np.cumsum(some + ORDER) - some
    smoothed = 0.5 ** np.arange(ORDER, 0, -1)
    shares = [np.concatenate([smoothed, np.arange(1, total + 1)]) / total for total in some.tolist()]
    return np.log(np.concatenate([np.ones(1), *shares])), begin
