"""Minimum risk on the hypergraphs of the last run, next to the k-best lists of all runs.

The statistics are those of expected counts of n-grams, each at most the largest count in one reference (Rosti, Zhang,
Matsoukas and Schwartz, "Expected BLEU Training for Graphs", 2011), and of the expected length.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lscfg.decode.request import SentenceGraph
from lscfg.errors import InputError
from lscfg.kernel.search import Refined, edge_moments
from lscfg.settings import Declared, setting
from lscfg.tuning.bleu import CORRECT, HYPOTHESIS_LENGTH, ORDER, REFERENCE_LENGTH, TOTAL, WIDTH
from lscfg.tuning.mert import GraphLine
from lscfg.tuning.optimisers import Optimiser, Step
from lscfg.tuning.pool import Pool
from lscfg.tuning.risk import RiskResult, Vector, risk

# Hypergraphs of earlier runs are not kept. The lists of all runs hold their best translations, as negative examples,
# too.


class GraphSource:
    """The derivations of hypergraphs, joined into arrays. See ``lscfg.tuning.risk.Source``."""

    def __init__(self, pool: Pool, graphs: Sequence[SentenceGraph | None], weights: Mapping[str, float]):
        """Refines the hypergraphs.

        Args:
            pool: gives the references and the numbers of features.
            graphs: of the pool's sentences, at least one; None for a sentence without one.
            weights: of features that only hypergraphs have; these weights stay.

        Raises:
            InputError: a reference contains more than 255 equal n-grams.
        """
        from scipy import sparse

        number = {name: n for n, name in enumerate(pool.names)}
        blocks, fixed, words, lengths = [], [], [], []
        refined: list[Refined] = []
        for s, (graph, references) in enumerate(zip(graphs, pool.references, strict=True)):
            if graph is None:
                continue
            refined.append(_refine(s, graph, references))
            used = [(column, number[name]) for column, name in enumerate(graph.names) if name in number]
            rest = [0.0 if name in number else weights.get(name, 0.0) for name in graph.names]
            rows = sparse.coo_array(graph.features[:, [column for column, _ in used]])
            place = (rows.coords[0], np.array([n for _, n in used], np.int64)[rows.coords[1]])
            blocks.append(sparse.csr_array((rows.data, place), shape=(len(graph.features), len(pool.names))))
            fixed.append(graph.features @ np.array(rest))
            symbols = np.concatenate([[0], np.cumsum(graph.graph.symbols >= 0)])
            words.append(np.diff(symbols[graph.graph.symbol]))
            lengths.append(np.array(sorted({len(line.split()) for line in references}), np.float64))
        self.sentences = len(refined)
        self._lengths = lengths
        self._features, self._fixed = sparse.vstack(blocks, format="csr"), np.concatenate(fixed)
        items, edges, grams = (
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
            for sizes in (
                [one.items for one in refined],
                [len(block) for block in fixed],
                [len(one.order) for one in refined],
            )
        )
        self._items = int(items[-1])
        self._goals = items[1:] - 1
        self._head = np.concatenate([one.head + shift for one, shift in zip(refined, items, strict=False)])
        self._tail = np.concatenate(
            [np.where(one.tail < 0, -1, one.tail + shift) for one, shift in zip(refined, items, strict=False)]
        )
        self._edge = np.concatenate([one.edge + shift for one, shift in zip(refined, edges, strict=False)])
        self._grams = np.concatenate([one.grams + shift for one, shift in zip(refined, grams, strict=False)])
        counts = np.concatenate([np.diff(one.gram_offsets) for one in refined])
        self._user = np.repeat(np.arange(len(counts)), counts)
        self._order = np.concatenate([one.order for one in refined]) - 1
        self._most = np.concatenate([one.most for one in refined])
        self._words = np.concatenate(words)[self._edge]
        self._owner = np.repeat(np.arange(len(refined)), [len(one.edge) for one in refined])

    def expect(self, weights: Vector, sharpness: float) -> tuple[Vector, float]:
        """See ``lscfg.tuning.risk.Source``."""
        self._sharpness = sharpness
        self._scores = sharpness * (self._features @ weights + self._fixed)[self._edge]
        found = edge_moments(self._items, self._head, self._tail, self._scores, self._scores)
        p = found.posterior
        self._counts = np.bincount(self._grams, p[self._user], len(self._most))
        # Rounded, so that lengths which are certain have no traces of longer translations.
        self._length = np.round(np.bincount(self._owner, p * self._words, self.sentences), 9)
        stats = np.zeros(WIDTH)
        stats[CORRECT] = np.bincount(self._order, np.minimum(self._counts, self._most), ORDER)
        stats[TOTAL] = np.maximum(self._length[:, None] - np.arange(ORDER), 0).sum(axis=0)
        stats[HYPOTHESIS_LENGTH] = self._length.sum()
        closest = (one[np.abs(one - n).argmin()] for one, n in zip(self._lengths, self._length.tolist(), strict=True))
        stats[REFERENCE_LENGTH] = sum(closest)
        return stats, float(found.inside[self._goals].sum() - p @ self._scores)

    def gradient(self, slopes: Vector, share: float) -> Vector:
        """See ``lscfg.tuning.risk.Source``."""
        by_gram = np.where(self._counts < self._most, slopes[CORRECT][self._order], 0.0)
        by_word = slopes[HYPOTHESIS_LENGTH] + (self._length[:, None] > np.arange(ORDER)) @ slopes[TOTAL]
        values = np.bincount(self._user, by_gram[self._grams], len(self._edge))
        values += by_word[self._owner] * self._words - share * self._scores
        moment = edge_moments(self._items, self._head, self._tail, self._scores, values).moment
        by_edge = np.bincount(self._edge, moment, len(self._fixed))
        return np.asarray(self._sharpness * (self._features.T @ by_edge))


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


@dataclass(frozen=True)
class ForestRiskSettings(Declared):
    """Settings of minimum risk on hypergraphs."""

    edges_per_word: int = setting(50, "edges kept for each source word, best first", least=1)


class ForestRisk(Optimiser[ForestRiskSettings]):
    """Minimum risk on the last run's hypergraphs and the lists of all runs."""

    HELP = "minimum risk on hypergraphs"
    GRAPHS = True
    BLEU_ONLY = True
    Settings = ForestRiskSettings

    def learn(self, step: Step, settings: ForestRiskSettings) -> RiskResult:
        pool, graphs = step.pool, step.graphs()
        if all(graph is None for graph in graphs):
            return risk(pool, step.weights)
        references = [candidates.references for candidates in pool.sentences]
        line = GraphLine(pool.packed(), pool.names, graphs, references, step.weights)
        return risk(pool, step.weights, [GraphSource(pool, graphs, step.weights)], line.score)

    def edges_per_word(self, settings: ForestRiskSettings) -> int:
        return settings.edges_per_word
