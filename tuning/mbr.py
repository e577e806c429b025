"""Minimum Bayes risk decoding of k-best lists (Kumar & Byrne 2004, "Minimum Bayes-Risk Decoding for SMT").

The translation of a list with the greatest expected utility, where every other translation of the list is a reference
with its posterior probability: argmax over e of the sum over e' of P(e' | f) U(e, e'). The posterior is proportional to
exp(scale * score), and equal translations share theirs. Lists of several systems are joined with an equal share of
probability each: the translation is chosen that the systems agree on most (sentence-level combination; Rosti et al.
2007, "Combining Outputs from Multiple Machine Translation Systems").
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lscfg.errors import InputError
from lscfg.tuning.metrics.metric import METRICS
from lscfg.tuning.metrics.tuned import TunedMetric

Floats = NDArray[np.float64]

MAX_SCALE = 1e6
"""Largest factor of scores: far below, the best hypothesis has all the probability already."""


def check_scale(scale: float) -> None:
    """Refuses a factor of scores outside 0 to ``MAX_SCALE``.

    Raises:
        InputError: see above.
    """
    if not 0 <= scale <= MAX_SCALE:  # false for NaN, too
        raise InputError(f"the scale of scores must be 0 to {MAX_SCALE:,.0f}, not {scale:g}")


def posterior(scores: Sequence[float], scale: float) -> Floats:
    """The probability of each hypothesis of a list, [hypotheses].

    Args:
        scores: natural logarithms up to a constant.
        scale: factor of the scores; 0 makes all hypotheses equally probable.

    Raises:
        InputError: a score is not finite, or a scale out of range.
    """
    check_scale(scale)
    values = np.array(scores, np.float64)
    if bad := [score for score in scores if not math.isfinite(score)]:
        raise InputError(f"a hypothesis has the score {bad[0]}, which is not finite")
    with np.errstate(over="ignore"):  # beyond the range of numbers a difference is -inf, whose probability is 0
        logs = scale * values
        if not np.isfinite(logs).all():
            logs = scale * (values - values.max())
        weights = np.exp(logs - logs.max())
    probabilities: Floats = weights / weights.sum()
    return probabilities


def which_texts(texts: Sequence[str]) -> NDArray[np.int64]:
    """A number for each text, equal for equal texts, from 0 in the order of first occurrence."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(text, len(numbers)) for text in texts], np.int64)


def expected_utilities(texts: Sequence[str], probabilities: Floats, utility: str) -> Floats:
    """The expected utility of each translation of a list, in the shape of the probabilities.

    Args:
        probabilities: of the translations, [texts] or [distributions, texts]; equal translations share theirs.
        utility: name of a metric, or of several joined by +, whose mean counts.

    Raises:
        InputError: the metric gives a utility that is not finite.
    """
    metric = TunedMetric(utility) if "+" in utility else METRICS[utility]
    which, table = which_texts(texts), metric.pairwise(list(dict.fromkeys(texts)))
    if not np.isfinite(table).all():
        raise InputError(f"{metric.TITLE} of two of the translations is not finite; choose another metric")
    values = [(table @ np.bincount(which, one))[which] for one in np.atleast_2d(probabilities)]
    return np.array(values).reshape(probabilities.shape)
