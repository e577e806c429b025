"""MERT: minimum error rate training by exact line search, on k-best lists and on hypergraphs.

Och, "Minimum Error Rate Training in Statistical Machine Translation" (2003), section 4, with the search over axes and
random directions, from several starts, that Moses and cdec have made usual; Kumar, Macherey, Dyer and Och, "Efficient
Minimum Error Rate Training and Minimum Bayes-Risk Decoding for Translation Hypergraphs and Lattices" (2009), section 3,
for hypergraphs.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lscfg.decode.request import SentenceGraph
from lscfg.kernel.lists import PackedLists, line_search
from lscfg.settings import Declared, setting
from lscfg.tuning.objectives import BLEU, Counter, Objective
from lscfg.tuning.optimisers import Learned, Optimiser, Step
from lscfg.tuning.pool import Pool

# MERT takes every step that gains BLEU, along the axes and some random directions in random order, where Moses and
# cdec take the best of all directions: fewer line searches give as much BLEU. Of equal intervals it takes the one
# nearest to the present point, and its middle.

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class MertSettings(Declared):
    """Settings of MERT."""

    restarts: int = setting(20, "random starting points besides the old weights", least=0)
    directions: int = setting(15, "random directions in each round besides the axes", least=0)
    epsilon: float = setting(1e-4, "points that a round must gain for another round", above=0)


class Line(Protocol):
    """The objective along straight lines through the space of weights."""

    def score(self, point: Vector) -> float:
        """The objective (0 to 100) of the best hypotheses at a point."""

    def search(self, point: Vector, direction: Vector) -> tuple[float, float]:
        """The step along the direction with the best score, and that score."""


class ListLine:
    """The hypotheses of k-best lists."""

    def __init__(self, lists: PackedLists, objective: Objective = BLEU):
        self._lists = lists
        self._objective = objective
        self._point: Vector | None = None
        self._scores: Vector = np.empty(0)

    def _at(self, point: Vector) -> Vector:
        """Scores of all hypotheses; those of the last point are kept, from which several directions are tried."""
        if self._point is None or not np.array_equal(point, self._point):
            self._point, self._scores = point.copy(), self._lists.scores(point)
        return self._scores

    def score(self, point: Vector) -> float:
        """See ``Line``."""
        return self._objective.score(self._lists.stats[self._lists.best(self._at(point))].sum(axis=0, dtype=np.int64))

    def search(self, point: Vector, direction: Vector) -> tuple[float, float]:
        """See ``Line``."""
        lists = self._lists
        return line_search(lists.first, self._at(point), lists.scores(direction), lists.stats, lists.metric)


def known_features(
    graph: SentenceGraph, number: Mapping[str, int], weights: Mapping[str, float]
) -> tuple[NDArray[np.intp], NDArray[np.intp], Vector]:
    """Splits the features of a hypergraph into numbered and others.

    Returns:
        The columns and the numbers of the numbered features; the score of each edge by the other features alone.
    """
    numbers = np.array([number.get(name, -1) for name in graph.names], np.intp)
    others = [0.0 if name in number else weights.get(name, 0.0) for name in graph.names]
    columns = np.flatnonzero(numbers >= 0)
    return columns, numbers[columns], graph.features @ np.array(others, np.float64)


class GraphLine:
    """The derivations of the last run's hypergraphs, and the hypotheses of all k-best lists so far.

    Hypotheses of earlier runs thus still count, as in MERT on lists, although only the last hypergraphs are kept.
    """

    def __init__(
        self,
        lists: PackedLists,
        names: Sequence[str],
        graphs: Sequence[SentenceGraph | None],
        references: Sequence[Counter],
        weights: Mapping[str, float],
        objective: Objective = BLEU,
    ):
        """Prepares a search over lists and hypergraphs.

        Args:
            lists: of the same sentences as ``graphs``, feature numbers as in ``names``.
            graphs: None for a sentence without one.
            weights: of features that only hypergraphs have; these weights stay.
        """
        self._lists = lists
        self._references = references
        self._objective = objective
        self._graphs = graphs
        self._known: list[dict[bytes, NDArray[np.int32]]] = [{} for _ in graphs]
        number = {name: n for n, name in enumerate(names)}
        self._features = [None if graph is None else known_features(graph, number, weights) for graph in graphs]

    def _lines(self, point: Vector, direction: Vector) -> tuple[list[int], Vector, Vector, NDArray[np.int32]]:
        """Sentence, score, slope and statistics of each line of the hypergraphs' envelopes."""
        owners: list[int] = []
        scores, slopes, stats = [np.empty(0)], [np.empty(0)], [np.empty((0, self._lists.stats.shape[1]), np.int32)]
        for s, (graph, known) in enumerate(zip(self._graphs, self._features, strict=True)):
            if graph is None or known is None:
                continue
            columns, numbers, fixed = known
            features = graph.features[:, columns]
            found = graph.graph.envelope(features @ point[numbers] + fixed, features @ direction[numbers])
            owners += [s] * len(found.score)
            scores.append(found.score)
            slopes.append(found.slope)
            stats.append(self._stats(s, graph, found.words, found.word_offsets))
        return owners, np.concatenate(scores), np.concatenate(slopes), np.concatenate(stats)

    def _stats(
        self, sentence: int, graph: SentenceGraph, words: NDArray[np.int32], offsets: NDArray[np.int64]
    ) -> NDArray[np.int32]:
        """Statistics of translations; each is counted once for all line searches."""
        known = self._known[sentence]
        texts = [words[begin:end] for begin, end in itertools.pairwise(offsets.tolist())]
        keys = [text.tobytes() for text in texts]
        fresh = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if fresh:
            tokens = [[graph.words[i] for i in text.tolist()] for text in fresh.values()]
            known.update(zip(fresh, self._references[sentence].stats(tokens), strict=True))
        return np.stack([known[key] for key in keys])

    def _joined(self, point: Vector, direction: Vector) -> tuple[NDArray[np.int64], Vector, Vector, NDArray[np.int32]]:
        """Lines of lists and hypergraphs, sentence by sentence: first, scores, slopes, statistics."""
        lists = self._lists
        owners, scores, slopes, stats = self._lines(point, direction)
        sizes = np.diff(lists.first)
        owner = np.concatenate([np.repeat(np.arange(len(lists)), sizes), np.array(owners, np.int64)])
        order = np.argsort(owner, kind="stable")
        first = np.concatenate([[0], np.cumsum(sizes + np.bincount(np.array(owners, np.int64), minlength=len(lists)))])
        return (
            first.astype(np.int64),
            np.concatenate([lists.scores(point), scores])[order],
            np.concatenate([lists.scores(direction), slopes])[order],
            np.concatenate([lists.stats, stats])[order],
        )

    def score(self, point: Vector) -> float:
        """See ``Line``."""
        first, scores, _, stats = self._joined(point, np.zeros_like(point))
        lengths = np.diff(first)
        best = [f + int(scores[f : f + n].argmax()) for f, n in zip(first[:-1], lengths, strict=True)]
        return self._objective.score(stats[best].sum(axis=0, dtype=np.int64))

    def search(self, point: Vector, direction: Vector) -> tuple[float, float]:
        """See ``Line``."""
        return line_search(*self._joined(point, direction), self._lists.metric)


def mert(
    pool: Pool,
    start: Mapping[str, float],
    settings: MertSettings | None = None,
    seed: int | Sequence[int] = 0,
    graphs: Sequence[SentenceGraph | None] | None = None,
) -> Learned:
    """Searches for weights under which the highest-scoring hypotheses have the best value of the pool's objective.

    From the start weights and from random points, in rounds: an exact line search along each axis and some random
    directions, in random order; every step that gains is taken at once. The best end of all is the result, as long
    (L2) as the start weights; it is never worse on the pool than they are. Random points and directions are normal,
    each feature in units of one over its standard deviation within sentences, so that the scale of features does not
    matter; nor does that of the start weights. A feature that a hypothesis does not name is 0 there; one that never
    differs within a sentence keeps its weight. Each round costs a line search for each feature: this is for dozens of
    features, not thousands.

    ``seed`` is a non-negative number or several; equal seeds give equal weights. Features without start weight begin
    at 0. With ``graphs``, hypergraphs of each sentence, their derivations count in addition to the pool's hypotheses;
    features that occur in hypergraphs only keep their weights.

    Raises:
        InputError: a start weight is not finite, or there are no hypotheses.
    """
    settings = settings or MertSettings()
    first = pool.start(start)
    lists = pool.packed()
    line: Line = ListLine(lists, pool.objective)
    restarts, directions = settings.restarts, settings.directions
    if graphs is not None:
        references = [candidates.references for candidates in pool.sentences]
        line = GraphLine(lists, pool.names, graphs, references, start, pool.objective)
    spread = _spread(pool)
    free = np.flatnonzero(spread)
    best, highest = first, line.score(first)
    for restart in range(restarts + 1):
        random = np.random.default_rng([*np.atleast_1d(seed), restart])
        point = first.copy()
        if restart:
            point[free] = random.standard_normal(len(free)) / spread[free]
        score = line.score(point)
        while True:
            before = score
            for direction in _directions(random, free, spread, directions):
                step, promised = line.search(point, direction)
                if promised > score + 1e-9:
                    candidate = point + step * direction
                    if (reached := line.score(candidate)) > score:
                        point, score = candidate, reached
            if not score > before + settings.epsilon:
                break
        if score > highest:
            best, highest = point, score
    length, old = np.linalg.norm(best), np.linalg.norm(first)
    if length > 0 and old > 0 and best is not first:
        scaled = best * (old / length)
        if line.score(scaled) >= highest:  # only rounding of equal scores could make it worse
            best = scaled
    return Learned(pool.named(best, start), pool.bleu(best))


def _directions(random: np.random.Generator, free: NDArray[np.intp], spread: Vector, number: int) -> Iterator[Vector]:
    """The axes and some random directions, in random order."""
    rows = np.zeros((len(free) + number, len(spread)))
    rows[np.arange(len(free)), free] = 1 / spread[free]
    rows[len(free) :, free] = random.standard_normal((number, len(free))) / spread[free]
    yield from rows[random.permutation(len(rows))]


def _spread(pool: Pool) -> Vector:
    """Each feature's standard deviation within sentences, 0 where it never differs; shape (features,)."""
    total, count = np.zeros(len(pool.names)), 0
    for candidates in pool.sentences:
        if len(candidates.stats):
            variance = candidates.features.astype(np.float64).var(axis=0)
            constant = (candidates.features == candidates.features[:1]).all(axis=0)
            total[candidates.numbers()] += np.where(constant, 0.0, variance) * len(candidates.stats)
            count += len(candidates.stats)
    return np.asarray(np.sqrt(total / max(count, 1)))


class Mert(Optimiser[MertSettings]):
    """MERT on the lists of all runs."""

    HELP = "MERT on k-best lists"
    Settings = MertSettings

    def learn(self, step: Step, settings: MertSettings) -> Learned:
        return mert(step.pool, step.weights, settings, step.seed)
