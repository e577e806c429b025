"""k-best batch MIRA: large-margin tuning of weights on a fixed pool of hypotheses.

Cherry and Foster, "Batch Tuning Strategies for Statistical Machine Translation" (2012), section 3 (batch k-best MIRA)
with the hope and fear hypotheses of Chiang (2012): online passive-aggressive updates over shuffled sentences,
averaged.

The score of a hypothesis, as in Chiang, Marton and Resnik (2008), is the metric (0 to 1) of the hypothesis with a
decaying background, the earlier hopes, times the reference length of both. The background is far longer than the
sentence, so the score itself means little; differences between hypotheses of one sentence are in words of the
reference: about the sentence's length times what its own score would differ by.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lscfg.kernel.lists import MiraState
from lscfg.settings import Declared, setting
from lscfg.tuning.optimisers import Learned, Optimiser, Step
from lscfg.tuning.pool import Pool

BACKGROUND = np.array([4, 3, 2, 1, 4, 3, 2, 1, 4, 4], dtype=np.float64)
"""Statistics of BLEU that the background begins with, as if one perfect translation of four words had been seen: no
count is zero, so no logarithm is infinite."""


@dataclass(frozen=True)
class MiraSettings(Declared):
    """Settings of MIRA; the defaults are those of the authors' program (kbmira in Moses)."""

    step_cap: float = setting(0.01, "largest step C; a smaller one keeps the weights closer to the start", above=0)
    decay: float = setting(
        0.999,
        "share of the pseudo-corpus kept at each sentence; 0.999 spans about 1,000",
        least=0,
        most=1,
    )
    epochs: int = setting(60, "passes J over the sentences", least=1)


def mira(
    pool: Pool, start: Mapping[str, float], settings: MiraSettings | None = None, seed: int | Sequence[int] = 0
) -> Learned:
    """Learns weights under which the pool's highest-scoring hypotheses have a high value of its objective.

    For each sentence, in a new random order in every epoch, hope is the hypothesis with the highest sum of model
    score and sentence score, fear the one with the highest difference; the weights move along the difference of their
    features by min(C, loss / squared length), where the loss is how far the margin of the model scores falls short of
    that of the objective. After every epoch the average of all weights so far is tried on the pool, and the best
    average is returned (the earliest of equals). The step cap makes the result depend on the scale of the features and
    the start weights: features should vary by about 1 to 10 within a sentence, as log-probabilities and word counts do,
    and weights be of order 1 or less.

    ``seed`` is a non-negative number or several; equal seeds give equal weights. Features without start weight begin
    at 0.

    Raises:
        InputError: a start weight is not finite, or the pool is empty.
    """
    settings = settings or MiraSettings()
    first = pool.start(start)
    random = np.random.default_rng(seed)
    lists = pool.packed()
    examples = np.flatnonzero([len(candidates.stats) > 0 for candidates in pool.sentences])
    background = np.concatenate([pool.objective.background, BACKGROUND])
    state = MiraState(lists, first, background, settings.step_cap, settings.decay)
    best: tuple[float, NDArray[np.float64]] = (-math.inf, state.weights)
    for _ in range(settings.epochs):
        state.run(examples[random.permutation(len(examples))])
        average = state.average()
        score = pool.score(average)
        if score > best[0]:
            best = (score, average)
    return Learned(pool.named(best[1], start), pool.bleu(best[1]))


class Mira(Optimiser[MiraSettings]):
    """MIRA on the lists of all runs."""

    HELP = "batch MIRA"
    Settings = MiraSettings

    def learn(self, step: Step, settings: MiraSettings) -> Learned:
        return mira(step.pool, step.weights, settings, step.seed)
