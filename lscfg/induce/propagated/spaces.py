"""Spaces in which phrases are compared: sparse ones of contexts, and low-dimensional ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

from lscfg.errors import InputError
from lscfg.estimate.svd import normalised_rows, randomized_svd
from lscfg.induce.propagated.approximate import nearly_nearest_dense_rows
from lscfg.induce.propagated.contexts import WEIGHTINGS, unit_rows, weighted
from lscfg.induce.propagated.diffusion import TIMES, along_graph
from lscfg.induce.propagated.neighbours import nearest_dense_rows, nearest_rows, scattered, symmetric
from lscfg.induce.propagated.ngrams import NGrams
from lscfg.induce.propagated.phrases import PhraseSide
from lscfg.io.vectors import read_vectors
from lscfg.settings import Declared, SettingError, setting

SPACES = ("pmi", *TIMES, "svd", "cca", "vectors")
SEED, ITERATIONS = 1, 4
"""Settings of the singular value decompositions, whose last directions need not be exact."""


@dataclass(frozen=True)
class GraphSettings(Declared):
    """Settings of the graph of similar phrases."""

    neighbours: int = setting(100, "neighbours of each phrase", least=1)
    space: str = setting(
        "pmi",
        "space of the comparison: sparse context vectors (pmi), their SVD or CCA, sums of word vectors, or "
        "eigenvectors of the graph of pmi, which give its edges new weights (laplacian; diffusion: four steps)",
        choices=SPACES,
    )
    weighting: str = setting("pmi", "values of the context vectors", choices=WEIGHTINGS)
    rank: int = setting(200, "dimensions of svd, cca, laplacian and diffusion", least=1, most=2000)
    source_vectors: Path | None = setting(None, "word vectors of the source for the space vectors, as text")
    approximate: bool = setting(
        False, "approximate search with faiss in the spaces svd, cca and vectors; the log shows the share of misses"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.approximate and self.space in ("pmi", *TIMES):
            raise SettingError("approximate", "needs one of the spaces svd, cca and vectors")
        if self.source_vectors and self.space != "vectors":
            raise SettingError("source_vectors", "needs the space vectors")


def similar_phrases(
    side: PhraseSide,
    words: Sequence[str],
    settings: GraphSettings,
    k: int,
    vectors: Path | None = None,
    chosen: np.ndarray | None = None,
    threads: int = 1,
) -> sparse.csr_matrix:
    """The k most similar phrases of each phrase.

    Args:
        words: the vocabulary; vectors: file of word vectors, for the space ``vectors``.
        chosen: int64, phrases to compare; None: all. Other phrases have no neighbours.
    """
    own = np.arange(len(side.count)) if chosen is None else chosen
    if settings.space in ("pmi", *TIMES):
        matrix = unit_rows(weighted(side.contexts[own], settings.weighting))
        graph = nearest_rows(matrix, k, side.frequent, threads)
        if settings.space in TIMES:
            graph = along_graph(graph, settings.rank, TIMES[settings.space])
    else:
        rows = dense_rows(side, words, settings, vectors, chosen)
        graph = nearly_nearest_dense_rows(rows, k, threads) if settings.approximate else nearest_dense_rows(rows, k)
    if chosen is None:
        return graph
    return scattered(graph, own, len(side.count))


def source_graph(
    side: PhraseSide, words: Sequence[str], settings: GraphSettings, threads: int = 1
) -> sparse.csr_matrix:
    """The graph of the source phrases."""
    graph = similar_phrases(side, words, settings, settings.neighbours, settings.source_vectors, threads=threads)
    return symmetric(graph)


def dense_rows(
    side: PhraseSide,
    words: Sequence[str],
    settings: GraphSettings,
    vectors: Path | None = None,
    chosen: np.ndarray | None = None,
) -> np.ndarray:
    """Vectors of the chosen phrases, or of all, in a low-dimensional space.

    Vectors are float32 [phrases, dimensions] and have length 1, or 0 for phrases without contexts.

    ``svd``: left singular vectors of the positive PMI, each times the square root of its singular value. ``cca``: left
        singular vectors
    of the counts divided by the roots of both totals, which is a canonical correlation analysis of phrases and their
    contexts (Dhillon et al. 2015). ``vectors``: sums of the vectors of a phrase's words (thesis, table 5.7).

    Raises:
        InputError: see ``read_vectors``; or word vectors are missing.
    """
    if settings.space == "vectors":
        if vectors is None:
            files = "--source-vectors and --target-vectors, or source_vectors and target_vectors"
            raise InputError(f"the space vectors needs word vectors: name files with {files}")
        rows = phrase_sums(side.phrases, words, read_vectors(vectors, words))
        rows = rows if chosen is None else rows[chosen]
    else:
        contexts = side.contexts if chosen is None else side.contexts[chosen]
        if settings.space == "svd":
            matrix = weighted(contexts, "ppmi" if settings.weighting == "pmi" else settings.weighting)
        else:
            totals = [np.sqrt(np.maximum(np.asarray(contexts.sum(axis)).ravel(), 1)) for axis in (1, 0)]
            matrix = sparse.diags(1 / totals[0]) @ contexts.astype(float) @ sparse.diags(1 / totals[1])
        used = np.flatnonzero(np.asarray(abs(matrix).sum(0)).ravel())
        matrix = matrix.tocsr()[:, used]
        rank = min(settings.rank, *(size - 1 for size in matrix.shape))
        if rank < 1 or not matrix.nnz:
            return np.zeros((contexts.shape[0], 1), np.float32)
        left, values, _ = randomized_svd(matrix, rank, SEED, iterations=ITERATIONS)
        rows = left * (np.sqrt(values) if settings.space == "svd" else 1)
        rows[np.diff(matrix.indptr) == 0] = 0  # rounding errors are not a vector
    return normalised_rows(rows).astype(np.float32)


def phrase_sums(phrases: NGrams, words: Sequence[str], vectors: np.ndarray) -> np.ndarray:
    """Sums of word vectors, float64 [phrases, dimensions]; unknown words count as 0."""
    row = np.repeat(np.arange(len(phrases)), phrases.lengths)
    places = sparse.csr_matrix((np.ones(len(row)), (row, phrases.symbols)), shape=(len(phrases), len(words)))
    return np.asarray(places @ vectors)
