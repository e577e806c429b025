"""Vectors of the words around phrases (thesis, section 5.1.2)."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from lscfg.induce.propagate.ngrams import BORDER, Finder, NGrams

BLOCK = 1 << 20
"""Words of text whose contexts are collected at a time."""

WEIGHTINGS = ("pmi", "ppmi", "ppmi-cds")


def count_contexts(text: np.ndarray, phrases: NGrams, words: int, window: int) -> sparse.csr_matrix:
    """How often a word stands among the ``window`` words left or right of a phrase, int32 [phrases, 2 words].

    A word on the right has the column ``words + word``. Where it stands within the window, and the borders of
    sentences, are no part of the context.
    """
    finder, total = Finder(phrases), sparse.csr_matrix((len(phrases), 2 * words), dtype=np.int32)
    margin = int(phrases.lengths.max(initial=0)) + window
    for begin in range(0, len(text), BLOCK):
        # phrases begin in this block; their windows may reach beyond it
        first = max(begin - window, 0)
        part = text[first : begin + BLOCK + margin]
        total = total + _contexts(part, begin - first, min(BLOCK, len(text) - begin), finder, total.shape, window)
    return total


def _contexts(
    text: np.ndarray, begin: int, length: int, finder: Finder, shape: tuple[int, int], window: int
) -> sparse.csr_matrix:
    words, keys = shape[1] // 2, [np.zeros(0, np.int64)]
    for size, at, phrase in finder.find(text):
        inside = (at >= begin) & (at < begin + length)
        at, phrase = at[inside], phrase[inside]
        for side, step, edge in ((0, -1, at), (1, 1, at + size - 1)):
            reach, row = edge, phrase
            for _ in range(window):
                reach = reach + step
                kept = (reach >= 0) & (reach < len(text))
                kept[kept] = text[reach[kept]] != BORDER
                reach, row = reach[kept], row[kept]
                keys.append(row * shape[1] + side * words + text[reach])
    found, count = np.unique(np.concatenate(keys), return_counts=True)
    return sparse.csr_matrix((count.astype(np.int32), (found // shape[1], found % shape[1])), shape=shape)


def weighted(counts: sparse.csr_matrix, weighting: str = "pmi") -> sparse.csr_matrix:
    """Pointwise mutual information of phrases and contexts, float64, where they occur together.

    Args:
        weighting: ``pmi``, ``ppmi`` (negative values are 0) or ``ppmi-cds`` (with totals of columns to the power .75).
    """
    joint = counts.tocoo().astype(float)
    row, column = np.asarray(counts.sum(1)).ravel(), np.asarray(counts.sum(0)).ravel().astype(float)
    column = column**0.75 if weighting == "ppmi-cds" else column
    values = np.log(joint.data / row[joint.row] * column.sum() / column[joint.col])
    if weighting != "pmi":
        values = np.maximum(values, 0)
    return sparse.csr_matrix((values, (joint.row, joint.col)), shape=counts.shape)


def unit_rows(matrix: sparse.csr_matrix) -> sparse.csr_matrix:
    """The rows with length 1; empty ones stay empty."""
    norms = np.sqrt(np.asarray(matrix.multiply(matrix).sum(1)).ravel())
    return sparse.diags(1 / np.where(norms > 0, norms, 1)).dot(matrix).tocsr()


def values_at(matrix: sparse.csr_matrix, row: np.ndarray, column: np.ndarray) -> np.ndarray:
    """The values at some places of a matrix, [places]; 0 where it has none."""
    return np.asarray(matrix[row, column]).ravel() if len(row) else np.zeros(0)


def frequent_columns(text: np.ndarray, words: int, q: int) -> np.ndarray:
    """Both columns of the q most frequent words of a text; of equally frequent ones, the first."""
    count = np.bincount(text[text >= 0], minlength=words)
    best = np.argsort(-count, kind="stable")[:q]
    return np.concatenate([best, best + words])
