"""Conditional logit: which of several options is right, given features of each (McFadden 1974)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

RIDGE = 1e-6
"""Inverse variance of the weights' prior, of standardised features: for features that are copies of each other."""

STEPS, CLOSE = 100, 1e-9
"""Most steps of Newton's method, and the gain in nats a question below which it ends."""


@dataclass(frozen=True)
class Choices:
    """Questions of which each has some options, one of them right.

    Attributes:
        begin: int64 [questions + 1], where the options of each begin; every question has one or more.
        right: int64 [questions], the right option, counted over all options.
    """

    begin: np.ndarray
    right: np.ndarray

    def __len__(self) -> int:
        return len(self.right)

    @property
    def sizes(self) -> np.ndarray:
        """int64 [questions], options of each."""
        return np.diff(self.begin)

    def select(self, which: np.ndarray) -> tuple[Choices, np.ndarray]:
        """Some questions, bool [questions], and bool [options], which are theirs."""
        sizes = self.sizes
        begin = np.concatenate([[0], np.cumsum(sizes[which])])
        return Choices(begin, begin[:-1] + (self.right - self.begin[:-1])[which]), np.repeat(which, sizes)

    def log_shares(self, scores: np.ndarray) -> np.ndarray:
        """float64 [options], the logarithm of each one's share of exp(scores) in its question."""
        first = self.begin[:-1]
        shifted = scores - np.repeat(np.maximum.reduceat(scores, first), self.sizes)
        result: np.ndarray = shifted - np.repeat(np.log(np.add.reduceat(np.exp(shifted), first)), self.sizes)
        return result

    def losses(self, scores: np.ndarray) -> np.ndarray:
        """float64 [questions], less the logarithm of the right option's share."""
        result: np.ndarray = -self.log_shares(scores)[self.right]
        return result

    def ranks(self, scores: np.ndarray) -> np.ndarray:
        """float64 [questions], the rank of the right option, from 1; the middle one among equal scores."""
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
    """The mean log-likelihood less the penalty."""
    return float(-choices.losses(values @ weights).mean() - RIDGE / 2 * (weights**2).sum())
