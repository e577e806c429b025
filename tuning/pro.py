"""PRO: tuning as ranking, by logistic regression on pairs of hypotheses.

Hopkins and May, "Tuning as Ranking" (2011), section 4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lscfg.settings import Declared, setting
from lscfg.tuning.optimisers import Learned, Optimiser, Step
from lscfg.tuning.pool import Pool

if TYPE_CHECKING:
    from scipy import sparse

# SciPy is imported where PRO needs SciPy, since all commands that list the optimisers load this module.
# PRO's weights have no scale: they are brought to the length of the old ones, then interpolated by 0.1 as in the
# paper.


@dataclass(frozen=True)
class ProSettings(Declared):
    """Settings of PRO; the first three defaults are those of the paper."""

    samples: int = setting(5000, "pairs of hypotheses sampled for each sentence, Γ", least=1)
    kept: int = setting(50, "pairs kept of these, those with the largest difference, Ξ", least=1)
    threshold: float = setting(
        0.05, "difference in sentence BLEU, 0 to 1, that a pair must exceed; α is a step at it", least=0, below=1
    )
    regularisation: float = setting(1.0, "weight of half the squared norm of the weights in the loss", above=0)


def sample_pairs(
    scores: NDArray[np.float64], settings: ProSettings, random: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Better and worse hypotheses of some pairs of one sentence, given their sentence BLEU: figure 4 of the paper."""
    drawn = random.integers(len(scores), size=(settings.samples, 2))
    difference = scores[drawn[:, 0]] - scores[drawn[:, 1]]
    kept = np.flatnonzero(np.abs(difference) > settings.threshold)
    kept = kept[np.argsort(-np.abs(difference[kept]), kind="stable")[: settings.kept]]
    swap = difference[kept] < 0
    one, two = drawn[kept].T
    return np.where(swap, two, one), np.where(swap, one, two)


def pro(
    pool: Pool, start: Mapping[str, float], settings: ProSettings | None = None, seed: int | Sequence[int] = 0
) -> Learned:
    """Learns weights that rank the better of two hypotheses of a sentence first.

    Pairs of hypotheses are sampled for each sentence, and those that differ most in sentence BLEU are kept; the weights
    come from a logistic regression (L-BFGS, penalised by the squared length) on the differences of their features. A
    feature that a hypothesis does not name is 0 there. The result is brought to the length (L2) of the start weights:
    only its direction matters to a decoder, and interpolation (section 4 of the paper, by ``lscfg.tuning.tune``) mixes
    directions. Without any pair to learn from, the start weights are the result.

    ``seed`` is a non-negative number or several; equal seeds give equal weights.

    Raises:
        InputError: a start weight is not finite, or the pool is empty.
    """
    from scipy import sparse

    settings = settings or ProSettings()
    old = pool.start(start)
    random = np.random.default_rng(seed)
    blocks = []
    for candidates in pool.sentences:
        if len(candidates.stats) < 2:
            continue
        better, worse = sample_pairs(pool.objective.sentence_scores(candidates.stats), settings, random)
        values = candidates.features.astype(np.float64)
        rows = sparse.coo_array(values[better] - values[worse])
        columns = candidates.numbers()[rows.coords[1]]
        blocks.append(sparse.csr_array((rows.data, (rows.coords[0], columns)), shape=(len(better), len(pool.names))))
    learned = old
    if any(block.shape[0] for block in blocks):
        learned = _regression(sparse.vstack(blocks, format="csr"), settings.regularisation)
        length, before = np.linalg.norm(learned), np.linalg.norm(old)
        if length > 0 and before > 0:
            learned = learned * (before / length)
        elif length == 0:
            learned = old
    return Learned(pool.named(learned, start), pool.bleu(learned))


def _regression(differences: sparse.csr_array, regularisation: float) -> NDArray[np.float64]:
    """The minimum of the logistic loss of w . difference, summed, plus regularisation / 2 times the squared length."""
    from scipy import optimize

    def loss(w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        margin = differences @ w
        wrong = np.exp(-np.logaddexp(0.0, margin))  # probability of the wrong order
        value = np.logaddexp(0.0, -margin).sum() + regularisation / 2 * (w @ w)
        return float(value), regularisation * w - differences.T @ wrong

    start = np.zeros(differences.shape[1])
    found = optimize.minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 1000, "ftol": 1e-12})
    return np.asarray(found.x, dtype=np.float64)


class Pro(Optimiser[ProSettings]):
    """PRO on the lists of all runs."""

    HELP = "PRO: pairwise ranking"
    INTERPOLATION = 0.1  # the weights have no scale (Hopkins and May 2011, section 4.1)
    Settings = ProSettings

    def learn(self, step: Step, settings: ProSettings) -> Learned:
        return pro(step.pool, step.weights, settings, step.seed)
