"""Translations from sentence pairs in which a source phrase belongs to no consistent phrase pair.

The links of such a phrase leave every span of target words, or lead to words whose other links leave the phrase.
Spans that partly fit its links are counted, weighted by their fit.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import numpy as np
from scipy import sparse

from lscfg.corpus.parallel import stream_aligned
from lscfg.induce.propagated.ngrams import NGrams

KEPT = 1 << 22
"""Entries in memory before entries of the same pair are summed."""


def loose_pairs(
    parallel: tuple[str | os.PathLike[str], str | os.PathLike[str]],
    alignments: Sequence[str | os.PathLike[str]],
    numbers: Mapping[str, int],
    source: NGrams,
    target: NGrams,
) -> sparse.csr_matrix:
    """Counts the fits of target phrases with the links of source phrases, float64 [source phrases, target phrases].

    Counts cover positions of a source phrase that belong to no consistent phrase pair in any alignment. A
    target phrase in the same sentence pair gets the mean over alignments of a/(a + b): a is the number of links
    between words of both phrases, b the number of links from one of them to words outside the other.

    Args:
        parallel: source and target text; alignments: links, already read once.
        numbers: number of each word.
    """
    shape = len(source), len(target)
    rows, columns = ({one: number for number, one in enumerate(side.tuples())} for side in (source, target))
    lengths = [sorted({*side.lengths.tolist()}) for side in (source, target)]
    total = sparse.csr_matrix(shape)
    parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    held = 0
    for pair in zip(*(stream_aligned(*parallel, path) for path in alignments), strict=True):
        words = [[numbers[word] for word in text.split()] for text in pair[0][:2]]
        places = _places(words[0], rows, lengths[0]), _places(words[1], columns, lengths[1])
        if not len(places[0]) or not len(places[1]):
            continue
        links = [_links(line, len(words[0]), len(words[1])) for _, _, line in pair]
        inside = np.any([consistent(own, places[0]) for own in links], axis=0)
        spans = places[0][~inside]
        fit = np.mean([fits(own, spans, places[1]) for own in links], axis=0)
        f, e = np.nonzero(fit)
        parts.append((spans[f, 2], places[1][e, 2], fit[f, e]))
        held += len(f)
        if held > KEPT:
            total, parts, held = total + _sum(parts, shape), [], 0
    return (total + _sum(parts, shape)).tocsr()


def _sum(parts: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]], shape: tuple[int, int]) -> sparse.csr_matrix:
    if not parts:
        return sparse.csr_matrix(shape)
    f, e, fit = (np.concatenate(one) for one in zip(*parts, strict=True))
    return sparse.csr_matrix((fit, (f, e)), shape=shape)


def _places(words: Sequence[int], known: Mapping[tuple[int, ...], int], lengths: Sequence[int]) -> np.ndarray:
    """int64 [places, 3]: begin, end and number of the phrases of a sentence."""
    found = [
        (at, at + length, number)
        for length in lengths
        for at in range(len(words) + 1 - length)
        if (number := known.get(tuple(words[at : at + length]), -1)) >= 0
    ]
    return np.array(found, np.int64).reshape(-1, 3)


def _links(line: str, rows: int, columns: int) -> np.ndarray:
    """bool [source words, target words]."""
    found = np.zeros((rows, columns), bool)
    for link in line.split():
        i, j = link.split("-")
        found[int(i), int(j)] = True
    return found


def consistent(links: np.ndarray, spans: np.ndarray) -> np.ndarray:
    """bool [spans]: True for source sides of tight phrase pairs.

    Args:
        links: bool [source words, target words]; spans: int64 [spans, ≥ 2], begin and end.
    """
    found = np.zeros(len(spans), bool)
    for place, (begin, end) in enumerate(spans[:, :2].tolist()):
        linked = np.flatnonzero(links[begin:end].any(0))
        if links[begin].any() and links[end - 1].any():
            block = links[:, linked[0] : linked[-1] + 1]
            found[place] = block[begin:end].sum() == block.sum()
    return found


def fits(links: np.ndarray, source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Scores the fit of each pair of spans, float64 [source spans, target spans]; see ``loose_pairs``."""
    sums = np.zeros((links.shape[0] + 1, links.shape[1] + 1), np.int64)
    sums[1:, 1:] = links.cumsum(0).cumsum(1)
    of_rows = sums[source[:, 1]] - sums[source[:, 0]]
    both = of_rows[:, target[:, 1]] - of_rows[:, target[:, 0]]
    other = of_rows[:, -1:] + (sums[-1, target[:, 1]] - sums[-1, target[:, 0]]) - both
    result: np.ndarray = both / np.maximum(other, 1)
    return result
