"""Feature functions over target words as a part of the search's language model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from lscfg.errors import InputError, cut
from lscfg.functions.function import BEGIN, END, FunctionLine
from lscfg.kernel.base import Vocab
from lscfg.kernel.lm import WordWindows

Window = tuple[int, ...]
"""Numbers of words."""


class TargetWords:
    """The functions with state of a configuration.

    Args:
        lines: feature functions, those without state included.
        vocab: of the search.

    Attributes:
        order: words that the functions see; 0 without such functions.

    Raises:
        InputError: a function has a wrong order.
    """

    def __init__(self, lines: Sequence[FunctionLine], vocab: Vocab):
        found = [(line, line.of_words()) for line in lines]
        self._functions = [(line.name, *one) for line, one in found if one is not None]
        self.order = max((order for _, order, _ in self._functions), default=0)
        self._names = {name for line, one in found if one is not None for name in line.names()}
        self._vocab = vocab
        self._known: dict[tuple[Window, int], Mapping[str, float]] = {}

    def features(self, before: Window, word: int) -> Mapping[str, float]:
        """The features of a word after at most ``order`` - 1 words.

        Raises:
            InputError: a function gives a value that is not finite, or two give one feature.
        """
        key = before, word
        if (known := self._known.get(key)) is not None:
            return known
        words = [self._vocab.word(one) for one in before]
        found: dict[str, float] = {}
        for name, _, of_word in self._functions:
            own = of_word(words, self._vocab.word(word))
            if taken := found.keys() & own.keys():
                raise InputError(
                    f"feature_function={name} gives the feature {cut(min(taken))}, which has another source; rename one"
                )
            found |= own
        self._known[key] = found
        return found

    def weighted(self, weights: Mapping[str, float]) -> WordWindows:
        """The sum of all features under weights by name, for the search."""

        def score(before: Window, word: int) -> float:
            return sum(weights.get(name, 0.0) * value for name, value in self.features(before, word).items())

        return WordWindows(self.order, score, self._vocab)

    def sums(self, words: np.ndarray, offsets: np.ndarray) -> list[dict[str, float]]:
        """Sums of the features over the words of each sentence; arguments are those of ``JoinedModels.sums``."""
        begin, end = (self._vocab.add(mark) for mark in (BEGIN, END))
        found = []
        for first, last in pairwise(offsets.tolist()):
            line = (begin, *words[first:last].tolist(), end)
            sums: dict[str, float] = {}
            for k in range(1, len(line)):
                for name, value in self.features(line[max(k - self.order + 1, 0) : k], line[k]).items():
                    sums[name] = sums.get(name, 0.0) + value
            found.append(sums)
        return found

    def add(
        self, features: np.ndarray, names: Sequence[str], words: np.ndarray, offsets: np.ndarray
    ) -> tuple[np.ndarray, tuple[str, ...]]:
        """Adds ``sums`` to features [sentences, names].

        Returns:
            The features with further columns, and the names of these columns.

        Raises:
            InputError: a name has another source.
        """
        sums = self.sums(words, offsets)
        columns = {name: column for column, name in enumerate(names)}
        for one in sums:
            for name in one:
                column = columns.setdefault(name, len(columns))
                if column < len(names) and name not in self._names:
                    raise InputError(f"two feature functions give the feature {cut(name)}; rename one")
        wide = np.pad(features, ((0, 0), (0, len(columns) - len(names))))
        for row, one in zip(wide, sums, strict=True):
            row[[columns[name] for name in one]] += [*one.values()]
        return wide, tuple(columns)[len(names) :]
