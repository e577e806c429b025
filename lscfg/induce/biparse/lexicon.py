"""Probabilities of words given words: of the links of alignments, and of IBM model 1 (Brown et al. 1993)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lscfg.kernel.biparse import Bitexts

LEAST = 1e-7
"""Probability that a pair of words has at least, as in the kernel."""


@dataclass(frozen=True)
class Lexicon:
    """Probabilities of pairs of words.

    Attributes:
        words: int32 [n, 2], source and target word, -1 for NULL, each pair once.
        probability: float64 [n, 2], p(target | source) and p(source | target).
    """

    words: np.ndarray
    probability: np.ndarray


def make_lexicon(text: Bitexts, share: float, iterations: int) -> Lexicon:
    """The lexicon of a text whose links were counted.

    Args:
        share: weight of the relative frequencies of links, 0 to 1; IBM model 1 has the rest.
        iterations: of EM for IBM model 1, of the pairs that are parsed.
    """
    arrays = text.arrays()
    n_words = len(arrays["vocab.offsets"]) - 1
    linked = arrays["lexicon.words"]
    keys, cells, offsets = _cells(arrays, n_words)
    of_links = (linked[:, 0].astype(np.int64) + 1) * (n_words + 1) + linked[:, 1] + 1
    all_keys = np.union1d(keys, of_links)
    place, place_of_links = np.searchsorted(all_keys, keys), np.searchsorted(all_keys, of_links)
    words = np.stack([all_keys // (n_words + 1) - 1, all_keys % (n_words + 1) - 1], 1).astype(np.int32)
    probability = np.zeros((len(all_keys), 2))
    count = arrays["lexicon.count"].astype(float)
    for way in range(2):
        given = linked[:, way] + 1
        probability[place_of_links, way] = share * count / np.bincount(given, count)[given]
        probability[place, way] += (1 - share) * _model1(keys, cells, offsets[way], n_words, way, iterations)
    kept = (probability >= LEAST).any(1)
    return Lexicon(words[kept], np.minimum(probability[kept], 1))


def _cells(arrays: dict[str, np.ndarray], n_words: int) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """All pairs of words that occur together, NULL included.

    Returns:
        keys, ascending; for each cell of each sentence pair its place among them; the same of the token of each cell
        on the target and on the source side, -1 for NULL.
    """
    sizes = [np.diff(arrays[f"{side}.offsets"]) for side in ("src", "tgt")]
    rows, columns = sizes[0] + 1, sizes[1] + 1
    pair = np.repeat(np.arange(len(rows)), rows * columns)
    first = np.cumsum(rows * columns) - rows * columns
    at = np.arange(len(pair)) - first[pair]
    source, target = at // columns[pair] - 1, at % columns[pair] - 1
    there = (source >= 0) | (target >= 0)
    pair, source, target = pair[there], source[there], target[there]
    tokens = []
    words = []
    for side, position in (("src", source), ("tgt", target)):
        token = np.where(position >= 0, arrays[f"{side}.offsets"][pair] + position, -1)
        tokens.append(token)
        words.append(np.where(token >= 0, np.append(arrays[side], -1)[token], -1).astype(np.int64))
    keys, cells = np.unique((words[0] + 1) * (n_words + 1) + words[1] + 1, return_inverse=True)
    return keys, cells, [tokens[1], tokens[0]]


def _model1(
    keys: np.ndarray, cells: np.ndarray, token: np.ndarray, n_words: int, way: int, iterations: int
) -> np.ndarray:
    """IBM model 1: float64 [keys], p(target | source) for way 0, p(source | target) for way 1.

    Args:
        token: of each cell, the token that is generated; -1: none.
    """
    given = keys // (n_words + 1) if way == 0 else keys % (n_words + 1)
    used = token >= 0
    cells, token = cells[used], token[used]
    if not len(cells):
        return np.zeros(len(keys))
    table = np.ones(len(keys))
    for _ in range(iterations):
        weight = table[cells]
        weight /= np.bincount(token, weight)[token]
        count = np.bincount(cells, weight, minlength=len(keys))
        table = count / np.maximum(np.bincount(given, count), 1e-300)[given]
    return table
