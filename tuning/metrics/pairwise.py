"""Sentence scores of all pairs of some texts, which minimum Bayes risk decoding needs: BLEU and chrF2."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ORDER = 4
"""Longest n-grams of BLEU."""
CHARACTERS, BETA = 6, 2
"""Longest n-grams of chrF, and the weight of recall relative to precision."""


def bleu_utility(texts: Sequence[str]) -> Floats:
    """Sentence BLEU of each text against each other one, [texts, texts], 0 to 100; row: hypothesis, column: reference.

    sacrebleu's: smoothed ("exp"), without orders longer than the hypothesis, of words separated by white space. Only
    the BLEU of an empty text against an empty text is 100, as of all equal texts, where sacrebleu gives 0.
    """
    words = [text.split() for text in texts]
    length = np.array([len(one) for one in words], np.float64)
    smooth = np.ones((len(texts), len(texts)))
    logs, orders = np.zeros_like(smooth), np.minimum(length, ORDER)
    any_match = np.zeros(smooth.shape, bool)
    for n in range(1, ORDER + 1):
        matches, totals = _matches([[tuple(one[k : k + n]) for k in range(len(one) - n + 1)] for one in words])
        there = (totals > 0)[:, None] & np.ones(smooth.shape, bool)
        none = there & (matches == 0)
        smooth = np.where(none, 2 * smooth, smooth)
        share = np.where(none, 1 / smooth, matches) / np.maximum(totals, 1)[:, None]
        logs += np.log(np.where(there, share, 1.0))
        any_match |= matches > 0
    brevity = np.minimum(0.0, 1 - length[None, :] / np.maximum(length, 1)[:, None])
    found = np.where(any_match, 100 * np.exp(brevity + logs / np.maximum(orders, 1)[:, None]), 0.0)
    return _with_empty(found, length == 0)


def chrf_utility(texts: Sequence[str]) -> Floats:
    """chrF2 of each text against each other one, as in ``bleu_utility``: sacrebleu's, but 100 for two empty texts."""
    letters = ["".join(text.split()) for text in texts]
    precision, recall, orders = (np.zeros((len(texts), len(texts))) for _ in range(3))
    for n in range(1, CHARACTERS + 1):
        matches, totals = _matches([[one[k : k + n] for k in range(len(one) - n + 1)] for one in letters])
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


def _matches(grams: Sequence[Iterable[object]]) -> tuple[Floats, Floats]:
    """Matching n-grams, clipped to the smaller count, [texts, texts], and n-grams of each text, [texts]."""
    numbers: dict[object, int] = {}
    coded = [np.array([numbers.setdefault(gram, len(numbers)) for gram in some], np.int64) for some in grams]
    counts = np.array([np.bincount(some, minlength=len(numbers)) for some in coded], np.float32)
    matches = np.zeros((len(grams), len(grams)), np.float32)
    # The smaller of two counts is the number of thresholds that both reach; 32 bits hold such small whole numbers.
    columns, threshold = counts, 1
    while columns.shape[1]:
        reached = (columns >= threshold).astype(np.float32)
        matches += reached @ reached.T
        threshold += 1
        columns = columns[:, columns.max(axis=0) >= threshold]
    return matches.astype(np.float64), counts.sum(axis=1, dtype=np.float64)
