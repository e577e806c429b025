"""Vectors of the words around phrases (thesis, section 5.1.2)."""

from __future__ import annotations

from functools import partial, reduce
from operator import add

import numpy as np
from scipy import sparse

from lscfg.induce.propagated.ngrams import Finder, NGrams
from lscfg.induce.propagated.text import BORDER, Text
from lscfg.log import progress
from lscfg.parallel.choose import in_threads

HELD = 1 << 19
"""Approximate number of window words in memory at a time, besides those of one sentence."""

WEIGHTINGS = ("pmi", "ppmi", "ppmi-cds", "hellinger")


def count_contexts(text: Text, phrases: NGrams, words: int, window: int, threads: int = 1) -> sparse.csr_matrix:
    """Counts the words among the ``window`` words left or right of a phrase, int32 [phrases, 2 words].

    A word on the right has the column ``words + word``. The context ignores positions within the window and the
    borders of sentences. Memory grows with the result, not with the text.
    """
    held = [[sparse.csr_matrix((len(phrases), words + 1), dtype=np.int32)] * 2]
    count = partial(_contexts, Finder(phrases), len(phrases), words, window)
    blocks = progress(text.blocks(max(HELD // window, 1)), "contexts")
    with in_threads(threads, ahead=1) as engine:
        for sides in engine.map(count, blocks):
            held.append(list(sides))
            while len(held) > 1 and held[-2][0].nnz <= 2 * held[-1][0].nnz:  # so each count is added few times
                held[-2:] = [_sums(held[-2:])]
    return sparse.hstack([one[:, :words] for one in _sums(held[::-1])], format="csr").sorted_indices()


def _sums(parts: list[list[sparse.csr_matrix]]) -> list[sparse.csr_matrix]:
    return [reduce(add, side) for side in zip(*parts, strict=True)]


def _contexts(
    finder: Finder, phrases: int, words: int, window: int, text: np.ndarray
) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
    """The words left and right of each phrase, int32 [phrases, words + 1] each; the last column counts borders."""
    border = text == BORDER
    text = np.repeat(text, np.where(border, window, 1))  # keeps windows within a sentence and its borders
    spans = [np.stack([at, at + length, number]) for length, at, number in finder.find(text)]
    begin, end, phrase = np.concatenate([np.zeros((3, 0), np.int64), *spans], axis=1)
    windows = np.lib.stride_tricks.sliding_window_view(np.where(text == BORDER, np.int32(words), text), window)
    each = sparse.csr_matrix(
        (np.ones(windows.size, np.int32), windows.ravel(), np.arange(len(windows) + 1) * window),
        shape=(len(windows), words + 1),
    )
    places = np.arange(len(phrase) + 1)
    by_phrase = sparse.csc_matrix(
        (np.ones(len(phrase), np.int32), phrase, places), shape=(phrases, len(phrase))
    ).tocsr()
    left, right = (
        sparse.csr_matrix((by_phrase.data, at[by_phrase.indices], by_phrase.indptr), shape=(phrases, len(windows)))
        @ each
        for at in (begin - window, end)
    )
    return left, right


def weighted(counts: sparse.csr_matrix, weighting: str = "pmi") -> sparse.csr_matrix:
    """Values of phrases and contexts that occur together, float64: pointwise mutual information, or probabilities.

    Args:
        weighting: ``pmi``, ``ppmi`` (negative values are 0), ``ppmi-cds`` (with totals of columns to the power .75) or
            ``hellinger``: the root of p(context | phrase). The arc cosine of two such rows is half of their distance
            by Fisher's information metric (Amari and Nagaoka 2007; future work of the thesis, chapter 6).
    """
    joint = counts.tocoo().astype(float)
    row, column = np.asarray(counts.sum(1)).ravel(), np.asarray(counts.sum(0)).ravel().astype(float)
    if weighting == "hellinger":
        return sparse.csr_matrix((np.sqrt(joint.data / row[joint.row]), (joint.row, joint.col)), shape=counts.shape)
    column = column**0.75 if weighting == "ppmi-cds" else column
    values = np.log(joint.data / row[joint.row] * column.sum() / column[joint.col])
    if weighting != "pmi":
        values = np.maximum(values, 0)
    return sparse.csr_matrix((values, (joint.row, joint.col)), shape=counts.shape)


def unit_rows(matrix: sparse.csr_matrix) -> sparse.csr_matrix:
    """The rows scaled to length 1; empty rows stay empty."""
    norms = np.sqrt(np.asarray(matrix.multiply(matrix).sum(1)).ravel())
    return sparse.diags(1 / np.where(norms > 0, norms, 1)).dot(matrix).tocsr()


def values_at(matrix: sparse.csr_matrix, row: np.ndarray, column: np.ndarray) -> np.ndarray:
    """Values of a sparse matrix at given positions, [places]; 0 for missing entries."""
    return np.asarray(matrix[row, column]).ravel() if len(row) else np.zeros(0)


def frequent_columns(count: np.ndarray, q: int) -> np.ndarray:
    """Both columns of the q most frequent words; ties go to the first.

    Args:
        count: int64 [words], counts in the text.
    """
    best = np.argsort(-count, kind="stable")[:q]
    return np.concatenate([best, best + len(count)])
