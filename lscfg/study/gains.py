"""Gains in loss over a held-out text, which the measures of rules and of translations share."""

from __future__ import annotations

import math

import numpy as np


def mean_gain(sums: np.ndarray, counts: np.ndarray) -> tuple[float, float]:
    """The mean gain per question and its standard error, with sentences as independent units.

    Args:
        sums: float64 [sentences], gains of all questions of a sentence; counts: int64 [sentences], their number.
    """
    n = int(counts.sum())
    if not n:
        return math.nan, math.nan
    mean = float(sums.sum() / n)
    return mean, float(np.sqrt(np.square(sums - mean * counts).sum()) / n)
