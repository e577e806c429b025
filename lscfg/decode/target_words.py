"""Feature functions over target words and language models as one model of the search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from lscfg.decode.columns import FeatureColumns
from lscfg.errors import InputError, cut
from lscfg.functions.function import BEGIN, END, FunctionLine
from lscfg.kernel.base import Vocab
from lscfg.kernel.lm import JoinedModels, LanguageModel, WordWindows
from lscfg.kernel.search import KBest

Window = tuple[int, ...]
"""Numbers of words."""

MOST_KNOWN = 1 << 20
"""Maximum number of windows and words whose features are kept; a full cache is emptied."""


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
        if len(self._known) >= MOST_KNOWN:
            self._known.clear()
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


class SearchModel:
    """The language model of the search, which several models and functions over target words join.

    Args:
        models: language models of the configuration.
        columns: the decoder's features.
        target: the functions.
    """

    def __init__(self, models: Sequence[LanguageModel], columns: FeatureColumns, target: TargetWords):
        self._models, self._columns, self._target = models, columns, target
        self._joined: JoinedModels | None = None
        self._joined_for: tuple[np.ndarray, Mapping[str, float]] | None = None

    def __call__(self, weights: np.ndarray, named: Mapping[str, float]) -> LanguageModel | JoinedModels | None:
        """The model for some weights.

        Args:
            weights: of the decoder's features, by column.
            named: weights of further features.
        """
        if len(self._models) < 2 and not self._target.order:
            return self._models[0] if self._models else None
        latest = self._joined_for
        if self._joined is None or latest is None or latest[1] != named or not np.array_equal(latest[0], weights):
            windows = None
            if self._target.order:
                by_name = dict(named) | dict(zip(self._columns.names, weights.tolist(), strict=True))
                windows = self._target.weighted(by_name)
            self._joined = JoinedModels(self._models, weights[self._columns.lm], windows)
            self._joined_for = weights, named
        return self._joined

    def weights(self, weights: np.ndarray) -> tuple[float, float]:
        """The weights of the model's sum of log10 p and of its unknown words, by those of all columns."""
        if len(self._models) > 1 or self._target.order:  # the joined models have weights
            return 1.0, 0.0
        lm_weight, oov_weight = weights[self._columns.lm[0]] if self._models else (0.0, 0.0)
        return float(lm_weight), float(oov_weight)

    def add(self, features: np.ndarray, found: KBest) -> None:
        """Adds the features of the language models to those of a search's derivations, in place."""
        columns = self._columns.lm
        if self._joined is not None:
            features[:, columns] += self._joined.sums(found.words, found.word_offsets)
        elif len(columns):
            features[:, columns[0, 0]] += found.lm
            features[:, columns[0, 1]] += found.oov
