"""Minimum risk: weights for the objective of expected statistics, annealed.

Smith and Eisner, "Minimum Risk Annealing for Training Log-Linear Models" (2006). Hypotheses of a sentence have the
distribution p ∝ exp(γ · score); the objective is that of the sum of expected statistics, plus T times the mean entropy
of p. γ doubles and T halves from round to round, in the last of which T is 0; each round begins at the weights of the
last one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lscfg.settings import Declared
from lscfg.tuning.objectives import Objective
from lscfg.tuning.optimisers import Learned, Optimiser, Step
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


class Source(Protocol):
    """Translations of sentences, each sentence with a distribution. ``expect`` changes its state."""

    sentences: int
    """Number of sentences."""

    def expect(self, weights: Vector, sharpness: float) -> tuple[Vector, float]:
        """Finds expected statistics, [width], and the sum of the entropies, and keeps what the gradient needs."""

    def gradient(self, slopes: Vector, share: float) -> Vector:
        """Gradient of the expected statistics times ``slopes`` plus ``share`` times the entropies, [features].

        The point is that of the last ``expect``.
        """


def feature_rows(blocks: Sequence[tuple[NDArray[Any], NDArray[np.intp]]], width: int) -> Any:
    """Features of several sentences as one sparse matrix, [rows, width].

    Args:
        blocks: features of each sentence, [rows, columns], and the number of the feature in each column.
    """
    from scipy import sparse

    found = []
    for features, numbers in blocks:
        rows = sparse.coo_array(features.astype(np.float64))
        place = (rows.coords[0], numbers[rows.coords[1]])
        found.append(sparse.csr_array((rows.data, place), shape=(len(features), width)))
    return sparse.vstack(found, format="csr")


class ListSource:
    """The hypotheses of a pool.

    Attributes:
        first: int64 [S], the first hypothesis of each sentence that has some.
        owner: int64 [hypotheses], the sentence of each.
    """

    def __init__(self, pool: Pool):
        full = [one for one in pool.sentences if len(one.stats)]
        sizes = np.array([len(one.stats) for one in full], np.int64)
        self.sentences = len(full)
        self.first = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
        self.owner = np.repeat(np.arange(len(full)), sizes)
        self.stats = np.concatenate([one.stats for one in full]).astype(np.float64)
        self.features = feature_rows([(one.features, one.numbers()) for one in full], len(pool.names))

    def deviation(self, weights: Vector) -> float:
        """Mean over the sentences of the standard deviation of the model scores; 0 if it is only rounding."""
        scores = self.features @ weights
        size = np.bincount(self.owner)
        mean = np.add.reduceat(scores, self.first) / size
        variance = np.add.reduceat((scores - mean[self.owner]) ** 2, self.first) / size
        found = float(np.sqrt(variance).mean())
        return found if found > 1e-9 * float(np.abs(scores).max()) else 0.0

    def expect(self, weights: Vector, sharpness: float) -> tuple[Vector, float]:
        """See ``Source``."""
        scores = sharpness * (self.features @ weights)
        scores -= np.maximum.reduceat(scores, self.first)[self.owner]
        raw = np.exp(scores)
        total = np.add.reduceat(raw, self.first)
        self._p, self._log_p = raw / total[self.owner], scores - np.log(total)[self.owner]
        self._entropy = -np.add.reduceat(self._p * self._log_p, self.first)
        self._sharpness = sharpness
        return self._p @ self.stats, float(self._entropy.sum())

    def gradient(self, slopes: Vector, share: float) -> Vector:
        """See ``Source``."""
        gain = self.stats @ slopes
        centred = gain - np.add.reduceat(self._p * gain, self.first)[self.owner]
        by_score = self._p * (centred - share * (self._log_p + self._entropy[self.owner]))
        return np.asarray(self._sharpness * (self.features.T @ by_score))


class ExpectedScore:
    """The objective of the sum of expected statistics, and its gradient."""

    def __init__(self, objective: Objective, sources: Sequence[Source]):
        self._objective = objective
        self._sources = sources

    def value(self, weights: Vector, sharpness: float, temperature: float) -> tuple[float, Vector]:
        """The objective (at most 100) plus the mean entropy, and the gradient by weight.

        Args:
            sharpness: γ.
            temperature: T.
        """
        expected, entropy = np.zeros(self._objective.width), 0.0
        for source in self._sources:
            stats, more = source.expect(weights, sharpness)
            expected, entropy = expected + stats, entropy + more
        share = temperature / sum(source.sentences for source in self._sources)
        slopes = self._slopes(expected)
        gradient = sum((source.gradient(slopes, share) for source in self._sources), np.zeros_like(weights))
        return self._objective.score(expected) + share * entropy, gradient

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


def risk(
    pool: Pool,
    start: Mapping[str, float],
    further: Sequence[Source] = (),
    score: Callable[[Vector], float] | None = None,
) -> Learned:
    """Learns weights under which the expected statistics of the pool's hypotheses have a high value of its objective.

    The result has at least the score and exactly the length (L2) of the start weights; its direction does not depend
    on their length. Features without start weight begin at 0.

    Args:
        further: sources whose statistics are added; their features have the pool's numbers.
        score: the score of weights by feature number; None: that of the pool's highest-scoring hypotheses.

    Raises:
        InputError: a start weight is not finite, or the pool is empty.
    """
    from scipy.optimize import minimize

    first, lists = pool.start(start), ListSource(pool)
    expected = ExpectedScore(pool.objective, [lists, *further])
    length = float(np.linalg.norm(first))
    point = first / length if length > 0 else first  # so that the length of the start weights does not matter
    unit = lists.deviation(point) or 1.0
    score = score or pool.score
    best = (score(first), first)
    for number in range(1, ROUNDS + 1):
        sharpness = SHARPEST / unit / 2 ** (ROUNDS - number)
        temperature = TEMPERATURE / 2 ** (number - 1) if number < ROUNDS else 0.0

        given = (sharpness, temperature)
        found = minimize(expected.loss, point, given, "L-BFGS-B", jac=True, options={"maxiter": STEPS})
        point = np.asarray(found.x)
        scaled = point * (length / size) if length > 0 and (size := float(np.linalg.norm(point))) > 0 else point
        if (reached := score(scaled)) > best[0]:
            best = (reached, scaled)
    return Learned(pool.named(best[1], start), pool.bleu(best[1]))


class Risk(Optimiser[Declared]):
    """Minimum risk on the lists of all runs."""

    HELP = "minimum risk of expected statistics"
    Settings = Declared

    def learn(self, step: Step, settings: Declared) -> Learned:
        return risk(step.pool, step.weights)
