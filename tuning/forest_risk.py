"""Minimum risk on the hypergraphs of the last run, next to the k-best lists of all runs.

The matches are expected counts of n-grams, each at most the largest count in one reference (Rosti, Zhang, Matsoukas and
Schwartz, "Expected BLEU Training for Graphs", 2011). The length of the reference is the one closest to the expected
length of the translation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from lscfg.decode.request import SentenceGraph
from lscfg.errors import InputError
from lscfg.kernel.search import Refined, edge_moments
from lscfg.tuning.bleu import CORRECT, HYPOTHESIS_LENGTH, ORDER, REFERENCE_LENGTH, TOTAL, WIDTH
from lscfg.tuning.mert import GraphLine, known_features
from lscfg.tuning.optimisers import HypergraphSettings, Learned, Optimiser, Step
from lscfg.tuning.pool import Pool
from lscfg.tuning.risk import Vector, feature_rows, risk

# Hypergraphs of earlier runs are not kept. Their best translations remain in the lists as negative examples.


class GraphSource:
    """The derivations of hypergraphs, joined into arrays. See ``lscfg.tuning.risk.Source``."""

    def __init__(self, pool: Pool, graphs: Sequence[SentenceGraph | None], weights: Mapping[str, float]):
        """Refines the hypergraphs.

        Args:
            pool: gives the references and the numbers of features.
            graphs: of the pool's sentences, at least one; None for a sentence without one.
            weights: start weights, which features of hypergraphs alone keep, in proportion to the length of all.

        Raises:
            InputError: a reference contains more than 255 equal n-grams, or the hypergraphs are too large.
        """
        number = {name: n for n, name in enumerate(pool.names)}
        refined: list[Refined] = []
        blocks, fixed, lengths = [], [], []
        for s, (graph, references) in enumerate(zip(graphs, pool.references, strict=True)):
            if graph is None:
                continue
            refined.append(_refine(s, graph, references))
            columns, numbers, others = known_features(graph, number, weights)
            blocks.append((graph.features[:, columns], numbers))
            fixed.append(others)
            lengths.append(np.array(sorted({len(line.split()) for line in references}), np.float64))
        self.sentences = len(refined)
        self._lengths = lengths
        self._features, self._fixed = feature_rows(blocks, len(pool.names)), np.concatenate(fixed)
        self._norm = float(np.linalg.norm(pool.vector(weights)))
        items, edges, grams = (
            _offsets([one.items for one in refined]),
            _offsets([len(others) for others in fixed]),
            _offsets([len(one.order) for one in refined]),
        )
        self._items = int(items[-1])
        if max(self._items, sum(len(one.edge) for one in refined)) > np.iinfo(np.int32).max:
            raise InputError("the hypergraphs are too large; set a smaller edges_per_word")
        joined = list(zip(refined, items, edges, grams, strict=False))
        self._head = np.concatenate([one.head + np.int32(item) for one, item, _, _ in joined])
        self._tail = np.concatenate(
            [np.where(one.tail < 0, -1, one.tail + np.int32(item)) for one, item, _, _ in joined]
        )
        self._edge = np.concatenate([one.edge + edge for one, _, edge, _ in joined])
        self._grams = np.concatenate([one.grams + gram for one, _, _, gram in joined])
        counts = np.concatenate([np.diff(one.gram_offsets) for one in refined])
        self._user = np.repeat(np.arange(len(counts)), counts)
        self._order = np.concatenate([one.order for one in refined]) - 1
        self._most = np.concatenate([one.most for one in refined])
        self._sizes = np.concatenate([one.sizes for one in refined]).astype(np.float64)
        self._owner = np.repeat(np.arange(len(refined)), [len(one.edge) for one in refined])

    def expect(self, weights: Vector, sharpness: float) -> tuple[Vector, float]:
        """See ``lscfg.tuning.risk.Source``."""
        self._weights, self._sharpness = weights, sharpness
        self._scale = float(np.linalg.norm(weights)) / self._norm if self._norm else 1.0
        self._scores = sharpness * (self._features @ weights + self._scale * self._fixed)[self._edge]
        found = edge_moments(self._items, self._head, self._tail, self._scores, self._scores)
        self._log_share = np.log(found.share, out=np.zeros_like(found.share), where=found.share > 0)
        p = found.posterior
        self._counts = np.bincount(self._grams, p[self._user], len(self._most)).astype(np.float64)
        stats = np.zeros(WIDTH)
        stats[CORRECT] = np.bincount(self._order, np.minimum(self._counts, self._most), ORDER)
        stats[TOTAL] = p @ self._sizes
        stats[HYPOTHESIS_LENGTH] = stats[TOTAL][0]
        # Rounded, so that of two references that are equally close the shorter one counts.
        words = np.round(np.bincount(self._owner, p * self._sizes[:, 0], self.sentences), 6).tolist()
        closest = (one[np.abs(one - n).argmin()] for one, n in zip(self._lengths, words, strict=True))
        stats[REFERENCE_LENGTH] = sum(closest)
        return stats, -float(p @ self._log_share)

    def gradient(self, slopes: Vector, share: float) -> Vector:
        """See ``lscfg.tuning.risk.Source``."""
        by_gram = np.where(self._counts < self._most, slopes[CORRECT][self._order], 0.0)
        matches = np.bincount(self._user, by_gram[self._grams], len(self._edge))
        values = matches + self._sizes @ slopes[TOTAL] + slopes[HYPOTHESIS_LENGTH] * self._sizes[:, 0]
        values -= share * self._log_share
        moment = edge_moments(self._items, self._head, self._tail, self._scores, values).moment
        by_edge = np.bincount(self._edge, moment, len(self._fixed))
        found = self._features.T @ by_edge
        if self._norm and self._scale:  # the share of the other features grows with the length of the weights
            found = found + (by_edge @ self._fixed) / (self._norm**2 * self._scale) * self._weights
        return np.asarray(self._sharpness * found)


def _offsets(sizes: list[int]) -> NDArray[np.int64]:
    """Places where parts of these sizes begin, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _refine(sentence: int, graph: SentenceGraph, references: Sequence[str]) -> Refined:
    """The refined hypergraph. Words that only references have get further numbers."""
    number = {word: n for n, word in enumerate(graph.words)}
    lines: list[NDArray[np.int32]] = [
        np.array([number.setdefault(word, len(number)) for word in line.split()], np.int32) for line in references
    ]
    try:
        return graph.graph.refine(lines)
    except InputError as error:
        raise InputError(f"sentence {sentence + 1}: {error}") from None


class ForestRisk(Optimiser[HypergraphSettings]):
    """Minimum risk on the last run's hypergraphs and the lists of all runs."""

    HELP = "minimum risk on hypergraphs"
    BLEU_ONLY = True
    Settings = HypergraphSettings

    def learn(self, step: Step, settings: HypergraphSettings) -> Learned:
        pool, graphs = step.pool, step.graphs()
        if all(graph is None for graph in graphs):
            return risk(pool, step.weights)
        references = [candidates.references for candidates in pool.sentences]
        line = GraphLine(pool.packed(), pool.names, graphs, references, step.weights)
        return risk(pool, step.weights, [GraphSource(pool, graphs, step.weights)], line.score)
