"""Matches of n-grams between one sentence's references and many hypotheses, counted in arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class NgramMatches:
    """The n-grams of one or more references, indexed so that many hypotheses are counted at once.

    Args:
        references: the tokens of each reference, words or characters.
        order: length of the longest n-grams.
    """

    def __init__(self, references: Sequence[Sequence[str]], order: int):
        self._order = order
        self._tokens: dict[str, int] = {}
        for tokens in references:
            for token in tokens:
                self._tokens.setdefault(token, len(self._tokens) + 1)
        self._base = len(self._tokens) + 1
        # Per order: the n-grams' keys in ascending order and the largest count of each in one reference. An n-gram's
        # key is (number of its first n - 1 tokens) * base + (number of its last token); its own number is its key's
        # rank, counted from 1, and 0 is any n-gram outside the references.
        self._keys: list[NDArray[np.int64]] = []
        self._counts: list[NDArray[np.int64]] = []
        token_ids = [np.array([self._tokens[token] for token in tokens], dtype=np.int64) for tokens in references]
        numbers = [np.zeros(len(ids), dtype=np.int64) for ids in token_ids]
        for n in range(1, order + 1):
            grams = [
                numbers[r][: max(len(ids) - n + 1, 0)] * self._base + ids[n - 1 :] for r, ids in enumerate(token_ids)
            ]
            keys = np.unique(np.concatenate(grams))
            numbers = [np.searchsorted(keys, gram) + 1 for gram in grams]
            counts = [np.bincount(number - 1, minlength=len(keys)) for number in numbers]
            self._keys.append(keys)
            self._counts.append(np.max(counts, axis=0))

    def matches(self, hypotheses: Sequence[Sequence[str]]) -> NDArray[np.int32]:
        """Matches of each hypothesis by order, int32 [hypotheses, order].

        Each n-gram counts at most as often as in the reference that has it most often.
        """
        count = len(hypotheses)
        result = np.zeros((count, self._order), dtype=np.int32)
        lengths = np.array([len(tokens) for tokens in hypotheses], dtype=np.int64)
        if count == 0:
            return result
        number_of = self._tokens.get
        tokens = np.zeros((count, int(lengths.max())), dtype=np.int64)
        tokens[np.arange(tokens.shape[1]) < lengths[:, None]] = [
            number_of(token, 0) for hypothesis in hypotheses for token in hypothesis
        ]
        numbers = np.zeros_like(tokens)
        for n in range(min(self._order, tokens.shape[1])):
            keys = self._keys[n]
            if len(keys) == 0:
                break
            # A key made of an unknown prefix is below the base, one made of an unknown token is a multiple of it; the
            # references have neither, so no mask is needed.
            wanted = numbers[:, : tokens.shape[1] - n] * self._base + tokens[:, n:]
            if n == 0:
                wanted = tokens
            rank = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            numbers = np.where(keys[rank] == wanted, rank + 1, 0)
            cells = numbers + (np.arange(count) * (len(keys) + 1))[:, None]
            found = np.bincount(cells.ravel(), minlength=count * (len(keys) + 1)).reshape(count, -1)[:, 1:]
            result[:, n] = np.minimum(found, self._counts[n]).sum(axis=1)
        return result
