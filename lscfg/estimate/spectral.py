"""Spectral estimation: the method of moments (paper, section 4.1 and Fig. 2a)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from scipy import sparse

from lscfg import log
from lscfg.errors import InputError
from lscfg.estimate.estimator import Estimator, check_states
from lscfg.estimate.features import (
    INSIDE,
    INSIDE_KNOWN,
    OUTSIDE,
    OUTSIDE_KNOWN,
    FeatureMatrix,
    FeatureSources,
    extract_features,
    scale,
)
from lscfg.estimate.mle import by_arity, category_totals, complete, keep_targets, one_state, oov_by_category, spread_oov
from lscfg.estimate.occurrences import Occurrences
from lscfg.estimate.rank import held_out_rank
from lscfg.estimate.svd import SVD, Projected, ProjectedByCategory, truncated_svd
from lscfg.extract.derive import Derivations
from lscfg.extract.examples import Examples
from lscfg.io.tensors import Blocks
from lscfg.kernel import add_moments
from lscfg.model.parameters import Estimate, blocks_of, rounded
from lscfg.parallel.choose import in_threads
from lscfg.parallel.engine import Serial
from lscfg.parallel.threads import Threads
from lscfg.settings import Declared, setting


@dataclass(frozen=True)
class SpectralSettings(Declared):
    """Settings of spectral estimation.

    Raises:
        InputError: a value is out of its range, or a feature template is unknown or lacks its file.
    """

    m: int = setting(16, "hidden states; 0: chosen by moments of held-out sentences", least=0, metavar="M", common=True)
    inside: tuple[str, ...] = setting(INSIDE, "templates of inside features", choices=INSIDE_KNOWN)
    outside: tuple[str, ...] = setting(OUTSIDE, "templates of outside features", choices=OUTSIDE_KNOWN)
    seed: int = setting(1, "seed of the start vectors of the decomposition", least=0, common=True)
    min_count: int = setting(1, "minimum number of examples of a feature", least=1)
    scaling: bool = setting(True, "no scaling of features by their frequency")
    smoothing: float = setting(
        0.0, "C of Cohen et al. 2013: weight of moments of lower order; 0: none", least=0, metavar="C"
    )
    max_targets: int = setting(0, "most frequent target sides kept of each source side; 0: all", least=0)
    svd: str = setting("arpack", "method of the singular value decomposition", choices=SVD)
    src_classes: Path | None = setting(None, "classes of source words, one 'word class' per line")
    tgt_classes: Path | None = setting(None, "classes of target words, one 'word class' per line")
    rule_values: Path | None = setting(None, "values of the feature 'real', one 'SRC ||| TGT ||| value ...' per line")
    forests: bool = setting(
        False,
        "moments over all minimal derivations (from lscfg derive --forests) instead of one tree",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self.sources.check((*self.inside, *self.outside))

    @property
    def sources(self) -> FeatureSources:
        """The files that feature templates need."""
        return FeatureSources(self.src_classes, self.tgt_classes, self.rule_values)


@dataclass(frozen=True, eq=False)
class Embedding:
    """Every node in the latent space; nodes of forests by means over all derivations that contain them.

    Attributes:
        y: [nodes, m], Y(t) = U' phi(t); z: [nodes, m], Z(o) = S^-1 V' psi(o). Each category has separate U, S and V;
            m is the largest of their ranks.
        sigma: float64 [m], singular values; of several categories those of the most frequent one, as for ``held_out``.
        columns: features of each template, for ``"inside"`` and ``"outside"``.
        held_out: float64, gains of 1, 2, ... states on held-out moments, see ``held_out_rank``; empty if m is given.
    """

    y: Projected | ProjectedByCategory
    z: Projected | ProjectedByCategory
    sigma: np.ndarray
    columns: dict[str, dict[str, int]]
    held_out: np.ndarray
    ranks: tuple[int, ...] = ()
    """Hidden states of each category; empty for one category."""


def embed(
    examples: Examples, settings: SpectralSettings, threads: int = 1, seen: Occurrences | None = None
) -> Embedding:
    """Steps 0 and 1: decomposes the covariance of scaled inside and outside features (Eq. 1) and projects every node.

    Args:
        seen: occurrences of the rules; None: the trees of ``examples``.

    Raises:
        InputError: the text is too small for the rank, or files do not fit the corpus.
    """
    seen = seen or Occurrences.of_trees(examples)

    def extract(side: tuple[tuple[str, ...], bool]) -> FeatureMatrix:
        return extract_features(examples, *side, settings.sources, settings.min_count, seen)

    with in_threads(min(threads, 2)) as engine:
        sides = [*engine.map(extract, [(settings.inside, True), (settings.outside, False)])]
    columns = {"inside": sides[0].columns, "outside": sides[1].columns}
    for side, sizes in columns.items():
        log.info(f"{side} features: " + ", ".join(f"{name} {n:,}" for name, n in sizes.items()))
    if examples.rules.lhs is None:
        space = _Space.of(examples, seen, settings, sides, None, threads)
        return Embedding(space.y, space.z, space.sigma, columns, space.curve)
    category, spaces = seen.category(examples), {}
    with log.held_back():  # warnings of small ranks, which the table lists
        for c in np.flatnonzero(category_totals(examples)).tolist():
            spaces[c] = _Space.of(examples, seen, settings, sides, category == c, threads)
    ranks = tuple(len(spaces[c].sigma) if c in spaces else 0 for c in range(len(examples.rules.categories)))
    log.table({f"states of [{name}]": n for name, n in zip(examples.rules.categories, ranks, strict=True)})
    y, z = (
        ProjectedByCategory(category, {c: getattr(space, side) for c, space in spaces.items()}) for side in ("y", "z")
    )
    largest = max(spaces, key=lambda c: int(category_totals(examples)[c]))
    return Embedding(y, z, spaces[largest].sigma, columns, spaces[largest].curve, ranks)


@dataclass(frozen=True, eq=False)
class _Space:
    """The latent space of the nodes of one category; see ``Embedding``."""

    y: Projected
    z: Projected
    sigma: np.ndarray
    curve: np.ndarray

    @classmethod
    def of(
        cls,
        examples: Examples,
        seen: Occurrences,
        settings: SpectralSettings,
        sides: list[FeatureMatrix],
        member: np.ndarray | None,
        threads: int,
    ) -> _Space:
        """Decomposes the covariance of the examples that are members, bool [nodes]; None: of all."""
        chosen = seen.is_example if member is None else seen.is_example & member
        weight = seen.node_weight
        some = None if weight is None else weight[chosen]

        def matrix(features: FeatureMatrix) -> sparse.csr_matrix:
            found, squares = features.matrix, features.squares
            if member is not None:  # features of this category
                kept = np.unique(found[chosen].indices)
                all_of_them = bool(member[seen.is_example].all())
                found, squares = found[:, kept], squares[kept] if squares is not None and all_of_them else None
            return scale(found, chosen, weight, squares) if settings.scaling else found

        with in_threads(min(threads, 2)) as engine:
            phi, psi = engine.map(matrix, sides)
        outside = psi[chosen]
        if some is not None:
            outside.data *= np.repeat(some, np.diff(outside.indptr))
        total = examples.n_examples if member is None else chosen.sum() if some is None else some.sum()
        covariance = (phi[chosen].T @ outside) / total
        m, curve = settings.m, np.zeros(0)
        if not m:
            options = settings.seed, settings.svd, threads
            best = held_out_rank(phi[chosen], psi[chosen], seen.pair(examples)[chosen], some, *options)
            m, curve = best.m, best.curve
            best.tell()
            check_states(m, int(examples.rules.arity.max(initial=0)))
        if member is not None:
            m = min(m, *covariance.shape)
        u, sigma, v = truncated_svd(covariance.tocsr(), m, settings.seed, settings.svd, threads)
        if member is None:
            singular_values = f"{sigma[0]:.4f} to {sigma[-1]:.4f}"
            condition = f"{sigma[0] / sigma[-1]:.1f}"
            log.table({"covariances": covariance.nnz, "singular values": singular_values, "condition": condition})
        return cls(Projected(phi, u), Projected(psi, v / sigma), sigma, curve)


class MethodOfMoments(Estimator[SpectralSettings]):
    """Method of moments."""

    HELP = "spectral estimation by the method of moments"
    VERSION = 3
    Settings = SpectralSettings

    def estimate(
        self,
        derivations: Derivations,
        settings: SpectralSettings,
        threads: int = 1,
        folder: Path | None = None,
        resume: bool = False,
    ) -> Estimate:
        """Sets C^r = count(r) / M x the mean over tokens of Z(o) (x) Y(t2) (x) Y(t3); C^S = the mean of Y over roots.

        M counts the tokens of the rule's category, and each category has a separate space.

        Step 0 decomposes the covariance of scaled inside and outside features (Eq. 1), step 1 projects every node to
        Y(t) = U' phi(t) and Z(o) = S^-1 V' psi(o), steps 2 and 3 sum outer products. Singletons without nonterminals
        are estimated as one OOV rule, whose tensor they share. Tensors are computed on demand.

        Over forests, means cover all derivations of each pair, with probabilities from EM with one state.

        Args:
            threads: number of threads; the result does not depend on it.
            folder, resume: unused, since nothing is iterated.

        Raises:
            InputError: the text is too small for the rank, files do not fit the corpus, forests are missing, or
                smoothing is set with several categories.
        """
        check_states(settings.m, int(derivations.rules.arity.max(initial=0)))
        if settings.smoothing and derivations.rules.lhs is not None:
            raise InputError("smoothing needs derivations of one category; leave smoothing out")
        examples, seen = Occurrences.of(derivations, settings.forests, threads)
        embedding = embed(examples, settings, threads, seen)
        about: dict[str, object] = {
            "method": "spectral",
            "rule tokens": examples.n_examples,
            "sentences": len(derivations),
            "inside templates": list(settings.inside),
            "outside templates": list(settings.outside),
            "features by template": embedding.columns,
            "feature threshold": settings.min_count,
            "feature scaling": settings.scaling,
            "singular values": embedding.sigma.tolist(),
            "condition": float(embedding.sigma[0] / embedding.sigma[-1]),
            "rank asked": settings.m or "auto",
            "rank kept": len(embedding.sigma),
            "smoothing": settings.smoothing,
            "targets of a source side": settings.max_targets or "all",
            "svd": settings.svd,
            "seed": settings.seed,
        }
        if not settings.m:
            about["gain on held-out moments"] = embedding.held_out.tolist()
        if embedding.ranks:
            about["states by category"] = dict(zip(examples.rules.categories, embedding.ranks, strict=True))
        if settings.forests:
            about["forests"] = True
        about |= {
            f"{name} file": os.path.basename(path) for name, path in vars(settings.sources).items() if path is not None
        }
        return from_embedding(examples, embedding.y, embedding.z, settings, about, threads, seen)


def from_embedding(
    examples: Examples,
    y: Rows,
    z: Rows,
    settings: SpectralSettings,
    about: dict[str, object],
    threads: int = 1,
    seen: Occurrences | None = None,
) -> Estimate:
    """Steps 2 and 3 for embedded nodes, float64 [nodes, m] each."""
    seen = seen or Occurrences.of_trees(examples)
    kept = keep_targets(examples, settings.max_targets)
    everything = np.ones(len(kept), bool)
    means, weight = (np.zeros(0), np.zeros(0)), seen.node_weight
    if settings.smoothing:
        some = None if weight is None else weight[seen.is_example]
        means = _mean(y[seen.is_example], some), _mean(z[seen.is_example] / examples.n_examples, some)
    # singletons share their mass before some are dropped
    lexical = _moments(examples, seen, everything, 0, y, z, means, settings, threads).array()
    lexical, unk = oov_by_category(spread_oov, lexical, examples)
    lexical = lexical[by_arity(kept, examples)[0]]
    tensors = (
        blocks_of(lexical),
        _moments(examples, seen, kept, 1, y, z, means, settings, threads),
        _moments(examples, seen, kept, 2, y, z, means, settings, threads),
    )
    roots = seen.is_root & seen.is_example
    roots = roots if roots.any() else seen.is_root
    of_roots = None if weight is None else weight[roots]
    root = _mean(y[roots], of_roots)
    if examples.rules.lhs is not None:
        category, vectors = seen.category(examples)[roots], y[roots]
        part = np.ones(len(vectors)) if of_roots is None else of_roots
        root = np.stack([(vectors * (part * (category == c))[:, None]).sum(0) for c in range(len(unk))]) / part.sum()
        complete(root, unk, examples, *_category_means(examples, seen, y, z))
    rules = examples.rules if kept.all() else examples.rules.select(np.nonzero(kept)[0])
    return Estimate(rules, tensors, root, unk, about, one_state(examples, kept))


def _category_means(examples: Examples, seen: Occurrences, y: Rows, z: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Means of Y and of Z over the examples of each category, float64 [categories, m]."""
    category = seen.category(examples)
    found = np.zeros((2, len(examples.rules.categories), y.shape[1]))
    for c in np.unique(category[seen.is_example]):
        here = seen.is_example & (category == c)
        weight = None if seen.node_weight is None else seen.node_weight[here]
        found[:, c] = _mean(y[here], weight), _mean(z[here], weight)
    return found[0], found[1]


def _mean(rows: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
    """The mean of rows, float64 [m], weighted by float64 [rows] if given."""
    return np.asarray(np.average(rows, axis=0, weights=weight))


Rows = np.ndarray | Projected | ProjectedByCategory
"""Rows that are selected by number."""


def _bound(rows: Rows) -> float:
    """Upper bound of absolute values."""
    return float(np.abs(rows).max(initial=0)) if isinstance(rows, np.ndarray) else rows.bound()


BLOCK = 1 << 20
"""Values of a block of tensors, small enough to stay in the cache while tokens are added."""


def _moments(
    examples: Examples,
    seen: Occurrences,
    kept: np.ndarray,
    arity: int,
    y: Rows,
    z: Rows,
    means: tuple[np.ndarray, np.ndarray],
    settings: SpectralSettings,
    threads: int,
) -> Blocks:
    """Sums over each kept rule's tokens of Z (x) Y ...: [rules, m], [., m, m] or [., m, m, m]; means for smoothing."""
    m = y.shape[1]
    chosen = kept & (examples.rules.arity == arity)
    number = np.cumsum(chosen) - 1
    tokens = np.nonzero(seen.is_counted)[0]
    tokens = tokens[chosen[seen.type[tokens]]]
    # by rule, for the blocks; stable, so that sums keep the order of the tokens
    tokens = tokens[np.argsort(seen.type[tokens], kind="stable")]
    rows = number[seen.type[tokens]]
    n, size = int(chosen.sum()), max(BLOCK // m ** (arity + 1), 1)
    borders = np.searchsorted(rows, np.arange(0, n + size, size))

    # bounds a sum over tokens; if the bound is far from overflow, values need no check
    bound = _bound(z) * _bound(y) ** arity * len(tokens)
    totals, category = category_totals(examples), seen.category(examples)
    safe = bool(bound < np.finfo(np.float32).max / 2) and not settings.smoothing

    def make(spaces: list[np.ndarray], precision: np.dtype, block: int) -> np.ndarray:
        first = block * size
        out = spaces[block % len(spaces)][: min(size, n - first)]
        out.fill(0)
        these = slice(borders[block], borders[block + 1])
        here, local = tokens[these], rows[these] - first
        weight = None if seen.weight is None else seen.weight[here]
        outside = z[seen.head[here]]
        outside /= examples.n_examples if examples.rules.lhs is None else totals[category[seen.head[here]]][:, None]
        outside = outside if weight is None else outside * weight[:, None]
        inside = y[seen.children[here, :arity].ravel()]
        number = np.arange(len(here))
        children = np.arange(len(inside)).reshape(-1, arity) if arity else np.empty((len(here), 0), np.int64)
        add_moments(local, number, children, outside, inside, out, max(threads - 1, 1))
        if arity and settings.smoothing:
            smooth(out, local, number, children, outside, inside, means, settings.smoothing, weight)
        return out.astype(precision, copy=False) if safe else rounded(out, precision)

    def parts(precision: np.dtype) -> Iterator[np.ndarray]:
        # while a block is written, the next is computed in the other buffer
        engine = Threads(1, ahead=2) if threads > 1 else Serial()
        spaces = [np.empty((min(size, n), *[m] * (arity + 1))) for _ in range(min(threads, 2))]
        with engine:
            yield from engine.map(partial(make, spaces, precision), range(len(borders) - 1))

    return Blocks((n, *[m] * (arity + 1)), parts)


def smooth(
    sums: np.ndarray,
    rows: np.ndarray,
    nodes: np.ndarray,
    children: np.ndarray,
    z: np.ndarray,
    y: np.ndarray,
    means: tuple[np.ndarray, np.ndarray],
    c: float,
    weight: np.ndarray | None = None,
) -> None:
    """Interpolates the moments of rules of one or two nonterminals with those of lower order, in place.

    Cohen et al. 2013, section 5.4: with E the mean of a rule's Z (x) Y2 (x) Y3, E2 the mean of the three products of a
    pair's second moment and the third's mean, E3 the product of the three means, E4 that of the means over all
    examples, and w = sqrt(count) / (C + sqrt(count)), a rule gets

        w E + (1 - w) (w E2 + (1 - w) (w E3 + (1 - w) E4))

    and a rule of one nonterminal, which has only pairs, w E + (1 - w) (w E3 + (1 - w) E4).

    Args:
        sums: float64 [rules, m, m] or [rules, m, m, m], sums over tokens; changed.
        rows, nodes: int64 [tokens], each token's rule and node; children: int64 [tokens, arity].
        z: float64 [tokens, m], each with the token's weight; y: float64 [tokens * arity, m], without.
        means: the means over all examples of Y and Z, float64 [m] each.
        c: C > 0.
        weight: float64 [tokens], weight of each token; None: 1.
    """
    n, m = len(sums), z.shape[1]
    count = np.bincount(rows, weight, n).astype(float)
    trust = np.sqrt(count) / (c + np.sqrt(count))
    over = np.divide(1, count, out=np.zeros(n), where=count > 0)
    weighted = y if weight is None else y * np.repeat(weight, children.shape[1])[:, None]
    none = np.empty((len(rows), 0), np.int64)

    def mean(of: np.ndarray, index: np.ndarray) -> np.ndarray:
        out = np.zeros((n, m))
        add_moments(rows, index, none, of, of, out)
        result: np.ndarray = out * over[:, None]
        return result

    def pair(first: np.ndarray, index: np.ndarray, second: np.ndarray) -> np.ndarray:
        out = np.zeros((n, m, m))
        add_moments(rows, index, second[:, None], first, y, out)
        result: np.ndarray = out * over[:, None, None]
        return result

    mean_y, mean_z = means
    outside = mean(z, nodes)
    inside = [mean(weighted, child) for child in children.T]
    if sums.ndim == 3:

        def blend(part: slice) -> None:
            w, k = trust[part, None, None], count[part, None, None]
            lower = w * outside[part, :, None] * inside[0][part, None, :] + (1 - w) * np.outer(mean_z, mean_y)
            sums[part] = w * sums[part] + (1 - w) * k * lower

    else:
        left, right = pair(z, nodes, children[:, 0]), pair(z, nodes, children[:, 1])
        both = pair(weighted, children[:, 0], children[:, 1])
        overall = np.einsum("a,b,c->abc", mean_z, mean_y, mean_y)

        def blend(part: slice) -> None:
            w, k = trust[part, None, None, None], count[part, None, None, None]
            second, third = inside[0][part, None, :, None], inside[1][part, None, None, :]
            first = outside[part, :, None, None]
            pairs = left[part, :, :, None] * third + right[part, :, None, :] * second + both[part, None, :, :] * first
            lower = w * (first * second * third) + (1 - w) * overall
            sums[part] = w * sums[part] + (1 - w) * k * (w / 3 * pairs + (1 - w) * lower)

    size = max(BLOCK // 64 // m ** (sums.ndim - 1), 1)  # the products of a part stay in the cache, too
    for first in range(0, n, size):
        blend(slice(first, first + size))
