"""Ranking of candidates, learned from labelled phrases whose labels are hidden.

Some labelled phrases are treated as unlabelled, without evidence of their words in parallel text. Sources propose
candidates and propagation spreads probabilities as for all other phrases. Then a log-linear model of P(e|f) is fitted
to the labels.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy import sparse
from scipy.optimize import minimize

from lscfg.induce.propagated.contexts import values_at
from lscfg.induce.propagated.ngrams import NGrams
from lscfg.induce.propagated.phrases import PhraseFile, PhraseSide
from lscfg.induce.propagated.spaces import GraphSettings
from lscfg.induce.propagated.spread import PropagationSettings, Spread, spread

# The ranking is learned because propagation alone rarely puts the right candidate first: a fifth of the rarer labelled
# phrases temporarily lose their labels, and a log-linear model learns from their lists.

FEWEST = 20
"""Least number of phrases with a label in their list for learning a model."""

LONGEST = 4
"""Longest length of target phrases with a separate feature; longer phrases share it."""

DECODER = 0.2
"""Weight of the logarithm of 1 / rank in a decoder's list, fixed because the decoder knows the labelled phrases."""

LINKED = 0.5
"""Factor of the weights of longer phrases' lexical weights, since links are more reliable in labelled phrases."""

SMALL = 1e-3
"""Added to a source's value before its logarithm."""

LEXICAL = slice(1, 3)
"""Columns of the lexical weights among the features."""


def learn_ranking(
    phrases: PhraseFile,
    graph: tuple[sparse.csr_matrix, GraphSettings],
    found: Spread,
    settings: PropagationSettings,
    threads: int = 1,
) -> Spread:
    """Replaces the probabilities of candidates by those of the model; for the arguments see ``expand``.

    Each length of source phrases has separate weights. If too few phrases are available for learning, probabilities
    do not change.
    """
    if not phrases.held.any():
        return found
    part, rows = _without_labels(phrases)
    tried = spread(part, (graph[0][rows][:, rows].tocsr(), graph[1]), None, settings, threads)
    gold = values_at(phrases.labels, rows[tried.row], tried.column)
    probability = found.probability.copy()
    lengths = phrases.source.phrases.lengths
    for length in np.unique(lengths[found.row]).tolist():
        learned, used = lengths[rows[tried.row]] == length, lengths[found.row] == length
        names = sorted(tried.values.keys() & found.values.keys())
        known = _features(part, tried, names)[learned]
        weights = _fit(known, tried.row[learned], gold[learned])
        if weights is None:
            continue
        if length > 1:
            weights[LEXICAL] *= LINKED
        score = _features(phrases, found, names)[used] @ weights
        if "decoder" in found.values:
            score += DECODER * np.log(found.values["decoder"][used] + SMALL)
        probability[used] = _softmax(score, np.unique(found.row[used], return_inverse=True)[1])
    return dataclasses.replace(found, probability=probability)


def _without_labels(phrases: PhraseFile) -> tuple[PhraseFile, np.ndarray]:
    """The labelled phrases alone, some without their labels, and their numbers, int64."""
    rows, held = np.flatnonzero(phrases.labelled), phrases.held
    kept = sparse.diags((~held[rows]).astype(float)) @ phrases.labels[rows]
    kept.eliminate_zeros()
    side, every = phrases.source, list(phrases.source.phrases.tuples())
    chosen = NGrams.of([every[row] for row in rows.tolist()])
    source = PhraseSide(chosen, side.count[rows], side.contexts[rows].tocsr(), side.frequent)
    words = [every[row][0] for row in np.flatnonzero(held & (side.phrases.lengths == 1)).tolist()]
    links = ~np.isin(phrases.lexicon[:, 0], words)
    lexicon, count = phrases.lexicon[links], phrases.lexicon_count[links]
    proposed = {name: matrix[rows].tocsr() for name, matrix in phrases.proposed.items()}
    part = PhraseFile(phrases.words, source, phrases.target, kept.tocsr(), lexicon, count, proposed, held[rows])
    return part, rows


def _features(phrases: PhraseFile, found: Spread, names: list[str]) -> np.ndarray:
    """The model's features of pairs, float64 [pairs, features]."""
    length = np.minimum(phrases.target.phrases.lengths[found.column], LONGEST)
    columns = [np.log(found.probability + 1e-6), *found.lexical.T, np.log1p(phrases.target.count[found.column])]
    columns += [(length == one).astype(float) for one in range(1, LONGEST + 1)]
    which = np.unique(found.row, return_inverse=True)[1]
    for name in names:
        value = found.values[name]
        total = np.bincount(which, value)[which] if len(which) else value
        columns += [value, np.log(value / np.where(total > 0, total, 1) + SMALL)]
    return np.stack(columns, 1)


def _fit(features: np.ndarray, row: np.ndarray, gold: np.ndarray) -> np.ndarray | None:
    """Weights that maximise the probability of the labels in the lists, with a normal prior; None for too few."""
    which = np.unique(row, return_inverse=True)[1]
    total = np.bincount(which, gold) if len(which) else np.zeros(0)
    if (total > 0).sum() < FEWEST:
        return None
    seen = total[which] > 0
    features, gold = features[seen], (gold[seen] / total[which[seen]])
    which = np.unique(which[seen], return_inverse=True)[1]
    mean, deviation = features.mean(0), features.std(0)
    scale = np.where(deviation > 1e-9, deviation, np.inf)  # constant features carry no information
    x = (features - mean) / scale

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        p = _softmax(x @ weights, which)
        return float(-(gold @ np.log(p + 1e-300)) + weights @ weights / 2), weights - x.T @ (gold - p)

    result: np.ndarray = minimize(loss, np.zeros(x.shape[1]), jac=True, method="L-BFGS-B").x / scale
    return result


def _softmax(score: np.ndarray, which: np.ndarray) -> np.ndarray:
    """exp(score) divided by its sum over the group."""
    best = np.full(int(which.max(initial=-1)) + 1, -np.inf)
    np.maximum.at(best, which, score)
    value = np.exp(score - best[which])
    result: np.ndarray = value / np.bincount(which, value)[which]
    return result
