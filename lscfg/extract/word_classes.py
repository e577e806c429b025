"""Word classes by exchange (Kneser and Ney 1993; Martin, Liermann and Ney 1998).

Words move between K classes as long as the likelihood of a bigram model of classes rises. With n(c, d) the number of
bigrams of classes and n(c, .), n(., d) its sums, the part of the log-likelihood that depends on the classes is

    F = sum n(c, d) ln n(c, d) - sum n(c, .) ln n(c, .) - sum n(., d) ln n(., d).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from lscfg.errors import InputError
from lscfg.log import progress

FEWEST = 2
"""Fewest classes."""

SWEEPS = 20
"""Maximum number of sweeps over all words."""

STILL = 0.001
"""A sweep that moves a smaller share of the words is the last."""


@dataclass(frozen=True)
class ExchangeClasses:
    """Classes of words.

    Attributes:
        words: the words of a text, the most frequent first; words of equal frequency in alphabetical order.
        number: int64 [words], the class of each.
        objective: F after each sweep, the start first.
    """

    words: list[str]
    number: np.ndarray
    objective: list[float]

    def by_word(self) -> dict[str, str]:
        """Names of the classes, from ``C0`` on, by word."""
        return {word: f"C{k}" for word, k in zip(self.words, self.number.tolist(), strict=True)}


def exchange(sentences: Iterable[Sequence[str]], classes: int, sweeps: int = SWEEPS) -> ExchangeClasses:
    """Classes of the words of a text. The ends of sentences form another class.

    Raises:
        InputError: fewer than two classes, or the text has fewer words than classes.
    """
    if classes < FEWEST:
        raise InputError(f"at least {FEWEST} word classes are needed, not {classes}")
    lines = [list(line) for line in sentences if line]
    counts = Counter(word for line in lines for word in line)
    words = sorted(counts, key=lambda word: (-counts[word], word))
    if len(words) < classes:
        raise InputError(f"{classes} classes of {len(words)} different words; use fewer classes or more text")
    pairs = _bigrams(lines, words)
    state = _Exchange(pairs, np.append(np.arange(len(words)) % classes, classes))
    objective = [state.objective()]
    for _ in progress(range(sweeps), "word classes", sweeps):
        moved = sum(state.move(word) for word in range(len(words)))
        objective.append(state.objective())
        if moved < STILL * len(words):
            break
    return ExchangeClasses(words, state.of[:-1], objective)


def _bigrams(lines: list[list[str]], words: list[str]) -> sparse.csr_matrix:
    """Counts of bigrams, float64 [words + 1, words + 1]; the last word is the end of a sentence, before and after."""
    number, end = {word: k for k, word in enumerate(words)}, len(words)
    ids = np.array([k for line in lines for k in (*(number[word] for word in line), end)], np.int64)
    before = np.concatenate([[end], ids[:-1]])
    ones = np.ones(len(ids))
    return sparse.csr_matrix((ones, (before, ids)), (end + 1, end + 1))


def _xlogx(x: np.ndarray) -> np.ndarray:
    result: np.ndarray = x * np.log(np.maximum(x, 1))
    return result


class _Exchange:
    """Counts of bigrams of classes, and of the classes around each word."""

    def __init__(self, pairs: sparse.csr_matrix, of: np.ndarray):
        self.after, self.before = pairs, pairs.T.tocsr()
        self.of, self.classes = of, int(of.max())
        size = self.classes + 1
        member = sparse.csr_matrix((np.ones(len(of)), (of, np.arange(len(of)))), (size, len(of)))
        self.counts = (member @ pairs @ member.T).toarray()

    def objective(self) -> float:
        """F, from all counts."""
        sides = _xlogx(self.counts.sum(axis=0)).sum() + _xlogx(self.counts.sum(axis=1)).sum()
        return float(_xlogx(self.counts).sum() - sides)

    def _around(self, matrix: sparse.csr_matrix, word: int) -> tuple[np.ndarray, float]:
        """float64 [classes + 1], bigrams of the word with the other words of each class; and those with itself."""
        part = slice(matrix.indptr[word], matrix.indptr[word + 1])
        others, values = matrix.indices[part], matrix.data[part]
        own = others == word
        return np.bincount(self.of[others[~own]], values[~own], self.classes + 1), float(values[own].sum())

    def move(self, word: int) -> bool:
        """Moves a word to its best class, and returns True if it moved; among equally good classes, it stays."""
        old, counts, n = self.of[word], self.counts, self.classes
        (right, twice), (left, _) = self._around(self.after, word), self._around(self.before, word)
        counts[old] -= right
        counts[:, old] -= left
        counts[old, old] -= twice
        # F with the word in each class c: row and column c change, and both sums
        row, column, here = counts[:n], counts[:, :n].T, np.arange(n)
        corner = counts[here, here]
        gain = (_xlogx(row + right) - _xlogx(row)).sum(axis=1) + (_xlogx(column + left) - _xlogx(column)).sum(axis=1)
        gain -= _xlogx(corner + right[:n]) + _xlogx(corner + left[:n]) - 2 * _xlogx(corner)
        gain += _xlogx(corner + right[:n] + left[:n] + twice) - _xlogx(corner)
        # bigrams of the class and the word are in the sums wherever the word is
        rows, columns = counts.sum(axis=1)[:n] + left[:n], counts.sum(axis=0)[:n] + right[:n]
        for sums, own in ((rows, right), (columns, left)):
            gain -= _xlogx(sums + own.sum() + twice) - _xlogx(sums)
        best = int(gain.argmax())
        if gain[best] <= gain[old] + 1e-9:
            best = int(old)
        self.of[word] = best
        counts[best] += right
        counts[:, best] += left
        counts[best, best] += twice
        return bool(best != old)
