"""A map from source to target contexts, learned from words with known translations (``from_map``)."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy import sparse

from lscfg.estimate.svd import normalised_rows
from lscfg.induce.propagated.phrases import PhraseFile, PhraseSide
from lscfg.induce.propagated.spaces import GraphSettings, dense_rows

NEAREST = 100
"""Target phrases nearest to the image of a source phrase."""

LONGEST = 2
"""Most words of a target phrase; longer phrases have too few tokens for contexts."""

PENALTIES = (0.1, 0.3, 1, 3, 10, 30)
"""Penalties of ridge regression, compared on a tenth of the known translations."""

BLOCK = 512


def from_map(phrases: PhraseFile, settings: GraphSettings) -> sparse.csr_matrix:
    """The target phrases nearest to the images of unlabelled phrases, with their cosines, [phrases, targets].

    The map is a ridge regression from source to target vectors (svd), learned from labelled words and all their
    translations, weighted by probability. Its penalty is the one that ranks translations of held-out words best.
    """
    nothing = sparse.csr_matrix(phrases.labels.shape)
    known = np.flatnonzero(phrases.labelled & (phrases.source.phrases.lengths == 1))
    open_rows = np.flatnonzero(~phrases.labelled & (np.diff(phrases.source.contexts.indptr) > 0))
    short = _short(phrases.target)
    if not len(known) or not len(open_rows) or not len(short):
        return nothing
    labels = phrases.labels[:, short].tocsr()
    known = known[np.diff(labels.indptr)[known] > 0]  # of the other words all labels are longer
    if not len(known):
        return nothing
    space = GraphSettings(space="svd", rank=settings.rank, weighting=settings.weighting)
    source = dense_rows(phrases.source, phrases.words, space)
    target = _short_rows(phrases.target, space)
    pairs = labels[known].tocoo()
    row, column, weight = known[pairs.row], pairs.col, pairs.data
    tested = pairs.row % 10 == 0
    penalty = PENALTIES[0]
    if 0 < tested.sum() < len(row):
        learned = source[row[~tested]], target[column[~tested]], weight[~tested]
        scores = [_held_out(source, target, ridge(*learned, one), known[::10], labels) for one in PENALTIES]
        penalty = PENALTIES[int(np.argmax(scores))]
    image = ridge(source[row], target[column], weight, penalty)
    found = []
    for first in range(0, len(open_rows), BLOCK):
        cosine = normalised_rows(source[open_rows[first : first + BLOCK]] @ image) @ target.T
        best = np.argpartition(-cosine, min(NEAREST, len(short)) - 1, axis=1)[:, :NEAREST]
        places = np.repeat(open_rows[first : first + BLOCK], best.shape[1]), short[best.ravel()]
        found.append((*places, np.take_along_axis(cosine, best, 1).ravel()))
    rows, columns, values = (np.concatenate(part) for part in zip(*found, strict=True))
    near = values > 0
    return sparse.csr_matrix((values[near].astype(float), (rows[near], columns[near])), shape=nothing.shape)


def _short(target: PhraseSide) -> np.ndarray:
    return np.flatnonzero(target.phrases.lengths <= LONGEST)


@lru_cache(maxsize=1)  # the ranking is learned with the same target phrases
def _short_rows(target: PhraseSide, space: GraphSettings) -> np.ndarray:
    return dense_rows(target, [], space, chosen=_short(target))


def ridge(x: np.ndarray, y: np.ndarray, weight: np.ndarray, penalty: float) -> np.ndarray:
    """The matrix that minimises the sum of weight × |x map - y|² and of penalty × |map|²; [columns of x, of y]."""
    weighted = x * weight[:, None]
    return np.linalg.solve(x.T @ weighted + penalty * np.eye(x.shape[1]), weighted.T @ y)


def _held_out(
    source: np.ndarray, target: np.ndarray, image: np.ndarray, rows: np.ndarray, labels: sparse.csr_matrix
) -> float:
    """The mean reciprocal rank of the most probable translation among all target phrases."""
    total = 0.0
    for first in range(0, len(rows), BLOCK):
        part = rows[first : first + BLOCK]
        cosine = normalised_rows(source[part] @ image) @ target.T
        gold = np.asarray(labels[part].argmax(axis=1)).ravel()
        own = cosine[np.arange(len(part)), gold]
        total += float((1 / (1 + (cosine > own[:, None]).sum(1))).sum())
    return total
