"""Orientations of phrases (Galley & Manning 2008), learned from the words of derivation trees.

A block is a phrase pair that no link leaves. Its orientation relative to the target text before it is monotone if a
block ends there whose source side the block continues, swap if one ends there whose source side continues the block,
else discontinuous; likewise relative to the text behind. Source words without a link may lie in between.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import minimize

from lscfg import log
from lscfg.errors import InputError
from lscfg.estimate.estimator import Estimator
from lscfg.estimate.neural import Design, NeuralText
from lscfg.extract.derive import Derivations
from lscfg.kernel.neural import SOURCE_BEGIN, SOURCE_END
from lscfg.model.orientation import OrientationModel
from lscfg.model.parameters import Parameters
from lscfg.settings import Declared

MONOTONE, SWAP, DISCONTINUOUS = range(3)
"""Orientations, in the order of the kernel."""

SIDES, WORDS, LENGTHS = 2, 4, 7
"""Text before and behind; words of a span that count; classes of length, of which the last is open."""

LONGEST = 10
"""Most source words of a block to learn from, the limit of rules."""

PENALTY = 1.0
"""Inverse variance of the weights' prior."""

STEPS = 60
"""Most iterations of L-BFGS."""


class OrientationEstimator(Estimator[Declared]):
    """Learns a log-linear model of orientations by L-BFGS."""

    HELP = "orientations of phrases, for the features orientation; without hidden states"
    VERSION = 1
    Settings = Declared
    RULES = False

    def estimate(
        self,
        derivations: Derivations,
        settings: Declared,
        threads: int = 1,
        folder: Path | None = None,
        resume: bool = False,
    ) -> Parameters:
        """Returns a model without rules; see ``Estimator.estimate``.

        Raises:
            InputError: the text is too small, or contains no block inside a sentence.
        """
        text = NeuralText(derivations, Design())
        learned, held_out = (Events.of(text, text.trees(pairs, 0)) for pairs in (text.train, text.held_out))
        if any(not len(of_side) for of_side in learned.outcome):
            raise InputError("the derivations contain no phrase inside a sentence; give more text")
        weights = [fit_orientations(learned.design[side], learned.outcome[side]) for side in range(SIDES)]
        facts = _facts(learned, held_out, weights)
        rows = WORDS * text.sources
        stacked = np.stack([one[:rows].reshape(WORDS, text.sources, 3) for one in weights]).astype(np.float32)
        lengths = np.stack([one[rows:] for one in weights]).astype(np.float32)
        model = OrientationModel(text.words, stacked, lengths, *text.links)
        return dataclasses.replace(Parameters.without_rules(orientation=model), about=facts)


@dataclass(frozen=True)
class Events:
    """Orientations of the blocks of a text, of each side.

    Attributes:
        design: sparse [blocks, 4 source rows + 7], 1 for each word and length of a block.
        outcome: int64 [blocks].
    """

    design: tuple[sparse.csr_matrix, ...]
    outcome: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, text: NeuralText, trees: np.ndarray) -> Events:
        """The events of some trees."""
        columns: tuple[list[np.ndarray], ...] = ([], [])
        outcomes: tuple[list[np.ndarray], ...] = ([], [])
        for tree in trees.tolist():
            (n, m), (first, start) = text.lengths[tree].tolist(), text.starts[tree].tolist()
            rows = np.concatenate(([SOURCE_BEGIN], text.rows[0][first : first + n], [SOURCE_END])).astype(np.int64)
            spans, found = orientations(text.place[start : start + m], n)
            short = spans[:, 1] - spans[:, 0] <= LONGEST
            for side in range(SIDES):
                own = short & (found[:, side] >= 0)
                i, j = spans[own].T
                words = rows[np.stack((i + 1, j, i, j + 1), 1)] + text.sources * np.arange(WORDS)
                length = WORDS * text.sources + np.minimum(j - i, LENGTHS) - 1
                columns[side].append(np.column_stack((words, length)))
                outcomes[side].append(found[own, side])
        width = WORDS * text.sources + LENGTHS
        return cls(tuple(_indicators(parts, width) for parts in columns), tuple(map(_joined, outcomes)))


def _joined(parts: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([np.zeros(0, np.int64), *parts])


def _indicators(parts: list[np.ndarray], width: int) -> sparse.csr_matrix:
    columns = np.concatenate([np.zeros((0, WORDS + 1), np.int64), *parts])
    n = len(columns)
    starts = (WORDS + 1) * np.arange(n + 1)
    return sparse.csr_matrix((np.ones(columns.size), columns.ravel(), starts), (n, width))


def orientations(place: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The blocks of a pair and their orientations.

    Args:
        place: int32 [target words], the source word that each target word is linked to; n: number of source words.

    Returns:
        int64 [blocks, 2], source spans without free words at their ends; int64 [blocks, 2], orientations relative to
        the target text before and behind; -1 at the ends of the target sentence.
    """
    m, x = len(place), np.arange(len(place))
    low = np.minimum.accumulate(np.where(x >= x[:, None], place, n), axis=1)
    high = np.maximum.accumulate(np.where(x >= x[:, None], place, -1), axis=1) + 1
    linked = np.bincount(place, minlength=n)
    total = np.concatenate(([0], np.cumsum(linked)))
    upper = x >= x[:, None]
    whole = np.where(upper, total[np.maximum(high, 0)] - total[np.minimum(low, n)], -1) == x - x[:, None] + 1
    a, last = np.nonzero(whole & upper)
    i, j, b = low[a, last].astype(np.int64), high[a, last].astype(np.int64), last + 1
    left, right = _past_free(linked, n)
    begins, ends = (np.zeros((2, m + 1, n + 1), bool) for _ in range(2))  # [left or right end, target border, source]
    begins[0, a, left[i]], begins[1, a, right[j]] = True, True
    ends[0, b, left[i]], ends[1, b, right[j]] = True, True
    before = np.where(ends[1, a, i], MONOTONE, np.where(ends[0, a, j], SWAP, DISCONTINUOUS))
    behind = np.where(begins[0, b, j], MONOTONE, np.where(begins[1, b, i], SWAP, DISCONTINUOUS))
    found = np.stack((np.where(a > 0, before, -1), np.where(b < m, behind, -1)), 1)
    return np.stack((i, j), 1), found


def _past_free(linked: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Borders [n + 1] left of the free words that end at each border, and right of those that begin there."""
    left, right = np.arange(n + 1), np.arange(n + 1)
    for k in range(n):
        if not linked[k]:
            left[k + 1] = left[k]
        if not linked[n - 1 - k]:
            right[n - 1 - k] = right[n - k]
    return left, right


def fit_orientations(design: sparse.csr_matrix, outcome: np.ndarray) -> np.ndarray:
    """Weights float64 [columns, 3] of a multinomial logistic regression with a Gaussian prior."""
    seen = np.zeros((len(outcome), 3))
    seen[np.arange(len(outcome)), outcome] = 1
    # the second derivative of a weight is about the number of its tokens: with this scale, steps are equal
    scale = 1 / np.sqrt(np.asarray(design.sum(0)).ravel() / 3 + PENALTY)[:, None]
    turned = design.T.tocsr()

    def loss(x: np.ndarray) -> tuple[float, np.ndarray]:
        weights = x.reshape(-1, 3) * scale
        logarithm = orientation_logs(design, weights)
        slope = turned @ (np.exp(logarithm) - seen) + PENALTY * weights
        value = -(seen * logarithm).sum() + PENALTY / 2 * (weights**2).sum()
        return float(value), (slope * scale).ravel()

    options = {"maxiter": STEPS, "ftol": 1e-7, "gtol": 0.0}
    found = minimize(loss, np.zeros(3 * design.shape[1]), jac=True, method="L-BFGS-B", options=options)
    result: np.ndarray = found.x.reshape(-1, 3) * scale
    return result


def orientation_logs(design: sparse.csr_matrix, weights: np.ndarray) -> np.ndarray:
    """Log probabilities float64 [blocks, 3] of the orientations."""
    scores = design @ weights
    scores -= scores.max(1, keepdims=True)
    result: np.ndarray = scores - np.log(np.exp(scores).sum(1, keepdims=True))
    return result


def _facts(learned: Events, held_out: Events, weights: list[np.ndarray]) -> dict[str, Any]:
    """Held-out log-likelihoods of a block, in nats, of the model and of the orientations' shares; before and behind."""
    shares = [(np.bincount(outcome, minlength=3) + 1) / (len(outcome) + 3) for outcome in learned.outcome]
    model, unigram = [], []
    for side, outcome in enumerate(held_out.outcome):
        if not len(outcome):
            continue
        own = orientation_logs(held_out.design[side], weights[side])
        model.append(float(own[np.arange(len(outcome)), outcome].mean()))
        unigram.append(float(np.log(shares[side][outcome]).mean()))
    if model:
        text = ", ".join(f"{a:.4f} ({b:.4f})" for a, b in zip(model, unigram, strict=True))
        log.info(f"held-out log-likelihood of an orientation (of shares alone), before and behind: {text}")
    assert all(map(math.isfinite, model))
    return {
        "estimator": "orientation",
        "blocks": [len(outcome) for outcome in learned.outcome],
        "held-out blocks": [len(outcome) for outcome in held_out.outcome],
        "shares": [one.tolist() for one in shares],
        "held-out log-likelihood": model,
        "held-out log-likelihood of shares": unigram,
    }
