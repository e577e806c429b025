"""Conditional logit: choice of one of several options by their features (McFadden 1974)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

RIDGE = 1e-6
"""Inverse variance of the prior on weights of standardised features; keeps duplicate features solvable."""

STEPS, CLOSE = 100, 1e-9
"""Most steps of Newton's method, and the gain in nats per question below which it ends."""


@dataclass(frozen=True)
class Choices:
    """Questions with several options each, one of them right.

    Attributes:
        begin: int64 [questions + 1], first option of each question; every question has at least one.
        right: int64 [questions], the right option as an index into all options.
    """

    begin: np.ndarray
    right: np.ndarray

    def __len__(self) -> int:
        return len(self.right)

    @property
    def sizes(self) -> np.ndarray:
        """int64 [questions], number of options."""
        return np.diff(self.begin)

    def select(self, which: np.ndarray) -> tuple[Choices, np.ndarray]:
        """The selected questions, and bool [options], True for their options."""
        sizes = self.sizes
        begin = np.concatenate([[0], np.cumsum(sizes[which])])
        return Choices(begin, begin[:-1] + (self.right - self.begin[:-1])[which]), np.repeat(which, sizes)

    def log_shares(self, scores: np.ndarray) -> np.ndarray:
        """float64 [options], logarithm of each option's share of exp(scores) in its question."""
        first = self.begin[:-1]
        shifted = scores - np.repeat(np.maximum.reduceat(scores, first), self.sizes)
        result: np.ndarray = shifted - np.repeat(np.log(np.add.reduceat(np.exp(shifted), first)), self.sizes)
        return result

    def losses(self, scores: np.ndarray) -> np.ndarray:
        """float64 [questions], negative logarithm of the right option's share."""
        result: np.ndarray = -self.log_shares(scores)[self.right]
        return result

    def ranks(self, scores: np.ndarray) -> np.ndarray:
        """float64 [questions], rank of the right option, from 1; equal scores share their mean rank."""
        first = self.begin[:-1]
        own = np.repeat(scores[self.right], self.sizes)
        above, equal = (np.add.reduceat(found.astype(np.int64), first) for found in (scores > own, scores == own))
        return 1 + above + (equal - 1) / 2


def fit_choices(choices: Choices, features: np.ndarray) -> np.ndarray:
    """The weights float64 [features] with the largest likelihood of the right options, by Newton's method.

    Args:
        features: float64 [options, features], finite.
    """
    spread = features.std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    values, first = features / scale, choices.begin[:-1]
    weights = np.zeros(values.shape[1])
    objective = _objective(choices, values, weights)
    for _ in range(STEPS):
        shares = np.exp(choices.log_shares(values @ weights))
        means = np.add.reduceat(shares[:, None] * values, first)
        gradient = values[choices.right].sum(axis=0) - means.sum(axis=0) - len(choices) * RIDGE * weights
        curvature = values.T @ (shares[:, None] * values) - means.T @ means
        curvature += len(choices) * RIDGE * np.eye(len(weights))
        step, before = np.linalg.solve(curvature, gradient), objective
        while (objective := _objective(choices, values, weights + step)) < before and np.abs(step).max() > CLOSE:
            step /= 2
        if objective < before:
            break
        weights += step
        if objective - before < CLOSE:
            break
    return np.asarray(weights / scale)


def _objective(choices: Choices, values: np.ndarray, weights: np.ndarray) -> float:
    """The mean log-likelihood minus the penalty."""
    return float(-choices.losses(values @ weights).mean() - RIDGE / 2 * (weights**2).sum())
