"""Hidden states as clusters of the spectral embedding: a start for EM.

Inside and outside features of all nodes are projected by the singular vectors of their covariance, as for the spectral
estimate (paper, section 4.1). The spectral estimate continues with signed moments; this one runs k-means and counts
clusters as observed states.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

from lscfg.errors import InputError
from lscfg.estimate import em
from lscfg.estimate.checkpoint import CHECKPOINTS
from lscfg.estimate.estimator import Estimator
from lscfg.estimate.features import inside_features, of_columns, of_rows, outside_features, scale
from lscfg.estimate.occurrences import Occurrences
from lscfg.estimate.svd import randomized_svd
from lscfg.extract.derive import Derivations
from lscfg.extract.examples import Examples
from lscfg.model.parameters import Estimate

DIRECTIONS = 64
"""Singular vectors of the embedding; fewer if the features have a smaller rank."""

INSIDE = ("rule", "children")
OUTSIDE = ("parent", "sibling", "slot")

RARE = 3
"""Least number of nodes of a feature."""

OVERSAMPLING, ITERATIONS = 20, 3
"""Settings of ``randomized_svd``. The spectrum is flat, so the last directions are not exact; clusters do not need
more."""

SAMPLE = 50_000
"""Nodes that k-means runs on; all others go to the nearest centre."""

BLOCK = 1 << 16
"""Nodes whose nearest centres are computed at a time."""

SWEEPS = 50
"""Most sweeps of k-means."""


@dataclass(frozen=True)
class ClusterSettings(em.Iterations, defaults={"iterations": 10}):
    """Settings of EM from clusters: a few iterations suffice, since the start is close to the optimum."""


class SpectralClusters(Estimator[ClusterSettings]):
    """EM from k-means clusters of the spectral embedding."""

    HELP = "clusters of the spectral embedding, then a few iterations of EM"
    VERSION = 6
    Settings = ClusterSettings
    CHECKPOINTS = CHECKPOINTS

    def estimate(
        self,
        derivations: Derivations,
        settings: ClusterSettings,
        threads: int = 1,
        folder: Path | None = None,
        resume: bool = False,
    ) -> Estimate:
        """Finds parameters by EM from counts of clusters; see ``ExpectationMaximisation.estimate``.

        Raises:
            InputError: the derivations hold nothing to count or fewer different nodes than states, or the checkpoint
                has other settings.
        """
        settings, facts = em.with_chosen_states(derivations, settings, threads)

        def beginning(examples: Examples, training: np.ndarray, restart: int) -> np.ndarray:
            seen = (
                Occurrences.of_forests(derivations, threads)[1] if settings.forests else Occurrences.of_trees(examples)
            )
            states = np.empty(len(training), np.int64)
            states[seen.place] = cluster_states(
                examples, training[seen.place], settings.m, settings.seed + restart, seen
            )
            return states

        made = em.EMRun(derivations, settings, "clusters", threads, beginning, folder, resume).run()
        made.about.update(facts)
        return made


def cluster_states(
    examples: Examples, training: np.ndarray, m: int, seed: int, seen: Occurrences | None = None
) -> np.ndarray:
    """A state for each node, int64 [nodes]. Nodes of forests count by their probability; states belong to categories.

    Args:
        training: bool [nodes], the nodes that determine the embedding and the centres.
        m: number of states.
        seed: seed of the sample and of the first centres.
        seen: occurrences of the rules; None: the trees of ``examples``.

    Raises:
        InputError: fewer different nodes than states.
    """
    if examples.rules.lhs is not None:
        where = seen or Occurrences.of_trees(examples)
        category, states = where.category(examples), np.zeros(len(training), np.int64)
        for c in np.unique(category[training]):
            here = category == c
            states[here] = _clusters(examples, training & here, here, m, seed, seen, at_most=True)
        return states
    return _clusters(examples, training, np.ones(len(training), bool), m, seed, seen)


def _clusters(
    examples: Examples,
    training: np.ndarray,
    chosen: np.ndarray,
    m: int,
    seed: int,
    seen: Occurrences | None,
    at_most: bool = False,
) -> np.ndarray:
    """A state for each chosen node, int64, of bool [nodes]; ``at_most``: fewer states if fewer nodes differ."""
    weight = seen.node_weight if seen and seen.below.share is not None else None
    points = UnitEmbedding.of(examples, training, seed, seen, weight)
    rng = np.random.default_rng(seed)
    nodes = np.nonzero(training)[0]
    if len(nodes) > SAMPLE:
        nodes = np.sort(rng.choice(nodes, SAMPLE, replace=False))
    centres = k_means(points[nodes], m, rng, None if weight is None else weight[nodes], at_most)
    blocks = [slice(first, first + BLOCK) for first in range(0, int(chosen.sum()), BLOCK)]
    parts = blocks if chosen.all() else [np.flatnonzero(chosen)[block] for block in blocks]
    return np.concatenate([nearest(points[block], centres)[0] for block in parts])


@dataclass(frozen=True, eq=False)
class UnitEmbedding:
    """Each node as two unit vectors, for its inside and its outside; zero for unknown ones.

    Rows are computed on demand, since the rows of a large corpus do not fit into memory.

    Attributes:
        sides: scaled features of all nodes, float32 [nodes, features], and singular vectors, float32 [features, k].
    """

    sides: list[tuple[sparse.csr_matrix, np.ndarray]]

    @classmethod
    def of(
        cls,
        examples: Examples,
        training: np.ndarray,
        seed: int,
        seen: Occurrences | None = None,
        weight: np.ndarray | None = None,
    ) -> UnitEmbedding:
        """The embedding by the covariance of features of the nodes ``training``, bool [nodes]; weight: of nodes."""
        # one side after the other: unscaled features of both sides would be most of a large corpus's memory
        phi = _scaled_frequent(inside_features(examples, INSIDE, seen), training, weight)
        psi = _scaled_frequent(outside_features(examples, OUTSIDE, seen), training, weight)
        outside, total = of_rows(psi, training), float(training.sum())
        if weight is not None:
            outside = outside.copy()
            outside.data *= np.repeat(weight[training], np.diff(outside.indptr))
            total = weight[training].sum()
        covariance = ((of_rows(phi, training).T @ outside) / max(total, 1)).tocsr()
        del outside
        phi, psi = phi.astype(np.float32), psi.astype(np.float32)
        u, _, vt = randomized_svd(covariance, DIRECTIONS, seed, OVERSAMPLING, ITERATIONS)
        return cls([(phi, u.astype(np.float32)), (psi, vt.T.astype(np.float32))])

    def __getitem__(self, nodes: np.ndarray | slice) -> np.ndarray:
        """Rows of some nodes, float32 [nodes, 2k]."""
        return np.hstack([_unit_rows(features[nodes] @ directions) for features, directions in self.sides])


def _scaled_frequent(features: sparse.csr_matrix, training: np.ndarray, weight: np.ndarray | None) -> sparse.csr_matrix:
    """The scaled columns of frequent features; a rare feature only identifies its node.

    All features are indicators, so their mean is also the mean of their squares.
    """
    some = of_rows(features, training)
    count = some.T @ (np.ones(some.shape[0]) if weight is None else weight[training])
    del some
    kept = count >= min(RARE, count.max(initial=1))
    features = of_columns(features, kept)
    return scale(features, training, weight, count[kept])


def _unit_rows(points: np.ndarray) -> np.ndarray:
    length = np.sqrt(np.einsum("nk,nk->n", points, points))
    points /= np.where(length > 0, length, 1)[:, None]
    return points


def k_means(
    points: np.ndarray, m: int, rng: np.random.Generator, weight: np.ndarray | None = None, at_most: bool = False
) -> np.ndarray:
    """m centres, float32 [m, dimensions], by Lloyd's algorithm from k-means++ seeds (Arthur and Vassilvitskii 2007).

    An empty cluster takes the point that is farthest from its centre.

    Args:
        weight: float64 [points], weight of each point; None: equal weights.
        at_most: fewer centres if there are fewer different points.

    Raises:
        InputError: fewer different points than centres.
    """
    centres = np.empty((m, points.shape[1]), points.dtype)
    distance = np.full(len(points), np.inf)
    for k in range(m):
        if k == 0:
            chosen = int(rng.integers(len(points)))
        else:
            total = np.cumsum(distance if weight is None else distance * weight)
            if not total[-1] > 1e-6 and at_most:
                centres = centres[:k]
                break
            if not total[-1] > 1e-6:
                raise InputError(f"only {k} different nodes for {m} hidden states; use more text or a smaller m")
            chosen = int(np.searchsorted(total, rng.random() * total[-1], side="right"))
        centres[k] = points[min(chosen, len(points) - 1)]
        difference = points - centres[k]
        distance = np.minimum(distance, np.einsum("nk,nk->n", difference, difference, dtype=np.float64))
        distance[distance < 1e-9] = 0
    before, m = None, len(centres)
    for _ in range(SWEEPS):
        cluster, distance = nearest(points, centres)
        if before is not None and (cluster == before).all():
            break
        before = cluster
        part = np.ones(len(points)) if weight is None else weight
        member = sparse.csr_matrix((part, (cluster, np.arange(len(points)))), (m, len(points)))
        size = np.bincount(cluster, part, m)
        sums = member @ points.astype(np.float64)
        farthest = np.argsort(-distance, kind="stable")[: int((size == 0).sum())]
        centres[size > 0] = sums[size > 0] / size[size > 0, None]
        centres[size == 0] = points[farthest]
    return centres


def nearest(points: np.ndarray, centres: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number of the nearest centre of each point, int64, and the squared distance; ties go to the first centre."""
    norm = np.einsum("nk,nk->n", points, points)
    distances = np.einsum("nk,nk->n", centres, centres) - 2 * (points @ centres.T)
    cluster = distances.argmin(axis=1)
    return cluster, np.maximum(distances[np.arange(len(points)), cluster] + norm, 0)
