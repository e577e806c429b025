"""Minimum Bayes risk decoding of k-best lists (Kumar & Byrne 2004, "Minimum Bayes-Risk Decoding for SMT").

The translation of a list with the greatest expected utility, where every other translation of the list is a reference
with its posterior probability: argmax over e of the sum over e' of P(e' | f) U(e, e'). The posterior is proportional to
exp(scale * score), and equal translations share theirs. Lists of several systems are joined with an equal share of
probability each: the translation is chosen that the systems agree on most (sentence-level combination; Rosti et al.
2007, "Combining Outputs from Multiple Machine Translation Systems").
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ORDER = 4
"""Longest n-grams of BLEU."""
CHARACTERS, BETA = 6, 2
"""Longest n-grams of chrF, and how much more recall weighs than precision."""


def bleu_utility(texts: Sequence[str]) -> Floats:
    """Sentence BLEU of each text against each other one, [texts, texts], 0 to 100; row: hypothesis, column: reference.

    As sacrebleu's: smoothed ("exp"), orders longer than the hypothesis left out, words separated by blanks.
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
    return np.where(any_match, 100 * np.exp(brevity + logs / np.maximum(orders, 1)[:, None]), 0.0)


def chrf_utility(texts: Sequence[str]) -> Floats:
    """chrF2 of each text against each other one, as ``bleu_utility`` gives BLEU; as sacrebleu's sentence chrF."""
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
    return np.where(weighted > 0, 100 * (1 + BETA**2) * precision * recall / np.where(weighted > 0, weighted, 1), 0.0)


UTILITIES: dict[str, Callable[[Sequence[str]], Floats]] = {"bleu": bleu_utility, "chrf": chrf_utility}
"""What translations are compared by."""


def _matches(grams: Sequence[Iterable[object]]) -> tuple[Floats, Floats]:
    """Matches of n-grams, each counted as often as both have it, [texts, texts]; n-grams of each text, [texts]."""
    numbers: dict[object, int] = {}
    coded = [np.array([numbers.setdefault(gram, len(numbers)) for gram in some], np.int64) for some in grams]
    counts = np.array([np.bincount(some, minlength=len(numbers)) for some in coded], np.float64)
    matches = np.array([np.minimum(row, counts).sum(axis=1) for row in counts])
    return matches, counts.sum(axis=1)


def posterior(scores: Sequence[float], scale: float) -> Floats:
    """The probability of each hypothesis of a list, [hypotheses].

    Args:
        scores: the model's, natural logarithms up to a constant.
        scale: what scores are multiplied by; 0 makes all hypotheses alike.
    """
    logs = scale * np.array(scores, np.float64)
    weights = np.exp(logs - logs.max())
    probabilities: Floats = weights / weights.sum()
    return probabilities


def which_texts(texts: Sequence[str]) -> NDArray[np.int64]:
    """A number for each text, the same for equal ones, from 0 in the order of their first places."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(text, len(numbers)) for text in texts], np.int64)


def expected_utilities(texts: Sequence[str], probabilities: Floats, utility: str) -> Floats:
    """The expected utility of each translation of a list, in the shape of the probabilities.

    Args:
        probabilities: of the translations, [texts] or [distributions, texts]; equal translations share theirs.
        utility: one of ``UTILITIES``.
    """
    which, table = which_texts(texts), UTILITIES[utility](list(dict.fromkeys(texts)))
    values = [(table @ np.bincount(which, one))[which] for one in np.atleast_2d(probabilities)]
    return np.array(values).reshape(probabilities.shape)
