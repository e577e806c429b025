"""Minimum risk: weights for the objective of expected statistics, annealed.

Smith and Eisner, "Minimum Risk Annealing for Training Log-Linear Models" (2006). Hypotheses of a sentence have the
distribution p ∝ exp(γ · score); the objective is that of the sum of expected statistics, plus T times the mean entropy
of p. γ doubles and T halves from round to round, in the last of which T is 0; each round begins at the weights of the
last one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lscfg.errors import InputError, cut
from lscfg.settings import Declared
from lscfg.tuning.objectives import Objective
from lscfg.tuning.optimisers import Optimiser, Step
from lscfg.tuning.pool import Pool

# SciPy is imported where it is needed, since all commands that list the optimisers load this module. Nothing is random,
# so tunings with different seeds are equal.

Vector = NDArray[np.float64]

ROUNDS = 5
"""Rounds of annealing."""

STEPS = 25
"""Iterations of L-BFGS in a round."""

SHARPEST = 8.0
"""γ of the last round, in units of one over the mean deviation of the scores of a sentence under the start weights."""

TEMPERATURE = 2.0
"""T of the first round, in points of the objective for each nat."""


@dataclass(frozen=True)
class RiskResult:
    """Result of minimum risk."""

    weights: dict[str, float]
    """The start weights with the pool's features re-weighted, sorted by name; as long (L2) as the start weights."""
    bleu: float
    """BLEU (0 to 100) of the pool's best hypotheses under these weights."""
    round: int
    """Round, from 1, whose weights are best on the pool; 0: none is better than the start weights."""


class ExpectedScore:
    """The objective of expected statistics of a pool, and its gradient.

    Attributes:
        first: int64 [S], the first hypothesis of each sentence that has some.
        owner: int64 [hypotheses], the sentence of each.
    """

    def __init__(self, pool: Pool):
        from scipy import sparse

        self._objective: Objective = pool.objective
        full = [one for one in pool.sentences if len(one.stats)]
        sizes = np.array([len(one.stats) for one in full], np.int64)
        self.first = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
        self.owner = np.repeat(np.arange(len(full)), sizes)
        self.stats = np.concatenate([one.stats for one in full]).astype(np.float64)
        blocks = []
        for one in full:
            rows = sparse.coo_array(one.features.astype(np.float64))
            place = (rows.coords[0], one.numbers()[rows.coords[1]])
            blocks.append(sparse.csr_array((rows.data, place), shape=(len(one.stats), len(pool.names))))
        self.features = sparse.vstack(blocks, format="csr")

    def deviation(self, weights: Vector) -> float:
        """Mean over the sentences of the standard deviation of the model scores."""
        scores = self.features @ weights
        size = np.bincount(self.owner)
        mean = np.add.reduceat(scores, self.first) / size
        variance = np.add.reduceat((scores - mean[self.owner]) ** 2, self.first) / size
        return float(np.sqrt(variance).mean())

    def value(self, weights: Vector, sharpness: float, temperature: float) -> tuple[float, Vector]:
        """The objective (at most 100) plus the entropy, and the gradient by weight.

        Args:
            sharpness: γ.
            temperature: T.
        """
        scores = sharpness * (self.features @ weights)
        scores -= np.maximum.reduceat(scores, self.first)[self.owner]
        raw = np.exp(scores)
        total = np.add.reduceat(raw, self.first)
        p, log_p = raw / total[self.owner], scores - np.log(total)[self.owner]
        entropy = -np.add.reduceat(p * log_p, self.first)
        expected = p @ self.stats
        gain = self.stats @ self._slopes(expected)
        share = temperature / len(self.first)
        centred = gain - np.add.reduceat(p * gain, self.first)[self.owner]
        by_score = p * (centred - share * (log_p + entropy[self.owner]))
        value = self._objective.score(expected) + share * float(entropy.sum())
        return value, np.asarray(sharpness * (self.features.T @ by_score))

    def loss(self, weights: Vector, sharpness: float, temperature: float) -> tuple[float, Vector]:
        """Minus the value, and minus the gradient."""
        found, gradient = self.value(weights, sharpness, temperature)
        return -found, -gradient

    def _slopes(self, expected: Vector) -> Vector:
        """Derivatives of the objective by the statistics, by central differences: one formula for all metrics."""
        step = 1e-5 * expected  # a count of 0 is 0 in all hypotheses, so that its derivative does not matter
        tried = expected + np.stack([np.diag(step), -np.diag(step)])
        above, below = self._objective.scores(tried)
        return np.asarray(np.divide(above - below, 2 * step, out=np.zeros_like(step), where=step > 0))


def risk(pool: Pool, start: Mapping[str, float]) -> RiskResult:
    """Learns weights under which the expected statistics of the pool's hypotheses have a high value of its objective.

    The result is never worse on the pool, by the highest-scoring hypotheses, than the start weights, and does not
    depend on their length. Features without start weight begin at 0.

    Raises:
        InputError: a start weight is not finite, or the pool is empty.
    """
    from scipy.optimize import minimize

    for name, value in start.items():
        if not math.isfinite(value):
            raise InputError(f"start weight of {cut(name)} is {value}, which is not finite")
    if not len(pool):
        raise InputError("no hypotheses to learn from: every k-best list is empty")
    expected, first = ExpectedScore(pool), pool.vector(start)
    length = float(np.linalg.norm(first))
    point = first / length if length > 0 else first  # so that the length of the start weights does not matter
    unit = expected.deviation(point) or 1.0
    best = (pool.score(first), 0, first)
    for number in range(1, ROUNDS + 1):
        sharpness = SHARPEST / unit / 2 ** (ROUNDS - number)
        temperature = TEMPERATURE / 2 ** (number - 1) if number < ROUNDS else 0.0

        given = (sharpness, temperature)
        found = minimize(expected.loss, point, given, "L-BFGS-B", jac=True, options={"maxiter": STEPS})
        point = np.asarray(found.x)
        scaled = point * (length / size) if length > 0 and (size := float(np.linalg.norm(point))) > 0 else point
        if (score := pool.score(scaled)) > best[0]:
            best = (score, number, scaled)
    return RiskResult(pool.named(best[2], start), pool.bleu(best[2]), best[1])


class Risk(Optimiser[Declared]):
    """Minimum risk on the lists of all runs."""

    HELP = "minimum risk of expected statistics"
    Settings = Declared

    def learn(self, step: Step, settings: Declared) -> RiskResult:
        return risk(step.pool, step.weights)
