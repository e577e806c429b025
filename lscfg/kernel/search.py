"""Cube pruning over a forest: the Python side of lscfg_search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from lscfg._kernel import ffi, lib
from lscfg.kernel.base import check, view
from lscfg.kernel.forest import Forest, Grammar
from lscfg.kernel.lm import JoinedModels, LanguageModel
from lscfg.settings import LARGEST


@dataclass(frozen=True)
class SearchOptions:
    """Limits and weights of a search."""

    pop_limit: int = 200
    """Candidates taken at each node (cubepruning_pop_limit)."""
    k: int = 1
    """Number of derivations."""
    unique: bool = False
    """Keeps only the best derivation of each translation. After 20 k + 1000 repetitions, the search stops with a
    shorter list.
    """
    lm_weight: float = 0.0
    """Weight of the sum of log10 p."""
    oov_weight: float = 0.0
    """Weight of the number of words outside the language model."""


@dataclass(frozen=True)
class KBest:
    """Derivations of a sentence, best first.

    Hypothesis h has words ``words[word_offsets[h] : word_offsets[h + 1]]``.
    """

    score: np.ndarray
    """float64 [n], model scores."""
    lm: np.ndarray
    """float64 [n], sums of log10 p."""
    oov: np.ndarray
    """float64 [n], numbers of unknown words."""
    word_offsets: np.ndarray
    """int64 [n + 1]."""
    words: np.ndarray
    """int32, vocabulary ids."""
    app_offsets: np.ndarray
    """int64 [n + 1]."""
    apps: np.ndarray
    """int32, applications of the forest."""

    def __len__(self) -> int:
        return len(self.score)

    def word_lists(self) -> list[list[int]]:
        """Returns the words of each derivation."""
        words = self.words.tolist()
        return [words[begin:end] for begin, end in pairwise(self.word_offsets.tolist())]


@dataclass(frozen=True, eq=False)
class Hypergraph:
    """The best part of a search's hypergraph: items in topological order, the goal last."""

    item_edges: np.ndarray
    """int32 [items + 1]; the edges into item i are ``item_edges[i] .. item_edges[i + 1] - 1``."""
    tail: np.ndarray
    """int32 [edges, 2], -1 for no tail."""
    symbol: np.ndarray
    """int64 [edges + 1], where each edge's target side begins in ``symbols``."""
    symbols: np.ndarray
    """int32, a word's number >= 0, or -1-k for the k-th tail of the application (see ``lscfg_hypergraph_view``)."""
    app: np.ndarray
    """int32 [edges], application of the forest, -1 from a root to the goal."""
    lm: np.ndarray
    """float64 [edges], sum of log10 p."""
    oov: np.ndarray
    """int32 [edges], number of unknown words."""

    def envelope(self, scores: np.ndarray, slopes: np.ndarray) -> Envelope:
        """Finds the derivations that are best for some x, with edge scores ``scores + x * slopes``.

        Kumar et al. 2009, section 3.2: by ascending slope; exact for the hypergraph. The time is about linear in the
        product of edges and derivations found. Several threads may call this at the same time.

        Args:
            scores: float64 [edges], finite.
            slopes: float64 [edges], finite.

        Raises:
            ValueError: the shape of ``scores`` or ``slopes`` is not [edges].
        """
        n = len(self.app)
        if scores.shape != (n,) or slopes.shape != (n,):
            raise ValueError(f"{n} edges, scores {scores.shape}, slopes {slopes.shape}")
        arrays = [np.ascontiguousarray(array, np.float64) for array in (scores, slopes)]
        error, result = ffi.new("lscfg_error *"), ffi.new("lscfg_envelope **")
        buffers = [ffi.from_buffer("double[]", array) for array in arrays]
        check(lib.lscfg_hypergraph_envelope(self._view(), *buffers, result, error), error)
        owner = ffi.gc(result[0], lib.lscfg_envelope_free)
        v = ffi.new("lscfg_envelope_view *")
        lib.lscfg_envelope_get(owner, v)
        offsets = view(v.word_offsets, v.n + 1, np.int64, owner)
        return Envelope(
            view(v.score, v.n, np.float64, owner),
            view(v.slope, v.n, np.float64, owner),
            offsets,
            view(v.words, int(offsets[-1]), np.int32, owner),
        )

    def refine(self, references: Sequence[np.ndarray]) -> Refined:
        """Splits the items until each edge completes known n-grams of the references.

        Derivations stay the same. Several threads may call this at the same time.

        Args:
            references: int32 numbers of the words of each reference, one or more; words that no edge has may have any
                other numbers.

        Raises:
            InputError: no reference, one with more than 255 equal n-grams, or references that are too long.
        """
        offsets, words = _joined(references)
        error, result = ffi.new("lscfg_error *"), ffi.new("lscfg_refined **")
        buffers = ffi.from_buffer("int64_t[]", offsets), ffi.from_buffer("int32_t[]", words)
        check(lib.lscfg_hypergraph_refine(self._view(), len(references), *buffers, result, error), error)
        owner = ffi.gc(result[0], lib.lscfg_refined_free)
        v = ffi.new("lscfg_refined_view *")
        lib.lscfg_refined_get(owner, v)
        offsets = view(v.gram_offsets, v.n_edges + 1, np.int64, owner)
        arrays = (
            view(v.head, v.n_edges, np.int32, owner),
            view(v.tail, (v.n_edges, 2), np.int32, owner),
            view(v.edge, v.n_edges, np.int32, owner),
            view(v.sizes, (v.n_edges, 4), np.int32, owner),
            offsets,
            view(v.grams, int(offsets[-1]), np.int32, owner),
            view(v.order, v.n_grams, np.int32, owner),
            view(v.most, v.n_grams, np.int32, owner),
        )
        return Refined(int(v.n_items), *(np.array(array, subok=False) for array in arrays))

    def _view(self) -> Any:
        """The arrays that the kernel reads; those of models stay out."""
        return ffi.new(
            "lscfg_hypergraph_view *",
            (
                len(self.item_edges) - 1,
                len(self.app),
                ffi.from_buffer("int32_t[]", self.item_edges),
                ffi.from_buffer("int32_t[]", self.tail),
                ffi.from_buffer("int64_t[]", self.symbol),
                ffi.from_buffer("int32_t[]", self.symbols),
                ffi.NULL,
                ffi.NULL,
                ffi.NULL,
            ),
        )


@dataclass(frozen=True)
class Refined:
    """A hypergraph whose edges complete known n-grams of references, up to four words long.

    Edges into an item come before those that use it, and those into the goal last.
    """

    items: int
    """Number of items."""
    head: np.ndarray
    """int32 [edges]."""
    tail: np.ndarray
    """int32 [edges, 2], -1 for no tail."""
    edge: np.ndarray
    """int32 [edges], edge of the hypergraph."""
    sizes: np.ndarray
    """int32 [edges, 4], n-grams of 1 to 4 words that each edge completes."""
    gram_offsets: np.ndarray
    """int64 [edges + 1], where those of the references begin in ``grams``."""
    grams: np.ndarray
    """int32, numbers of n-grams, which go by order, then by first occurrence in the references."""
    order: np.ndarray
    """int32 [n-grams], words of each."""
    most: np.ndarray
    """int32 [n-grams], largest count of each in one reference."""


@dataclass(frozen=True)
class Envelope:
    """Derivations as lines ``score + x * slope``; line i has words ``words[word_offsets[i] : word_offsets[i + 1]]``."""

    score: np.ndarray
    slope: np.ndarray
    word_offsets: np.ndarray
    words: np.ndarray


def search(
    forest: Forest,
    grammar: Grammar,
    model: LanguageModel | JoinedModels | None,
    app_scores: np.ndarray,
    options: SearchOptions,
) -> KBest:
    """Finds the k best derivations by cube pruning.

    Args:
        forest: a forest of the grammar.
        grammar: the finished grammar.
        model: the language model, None for none; the search holds its lock.
        app_scores: [n_apps], each application's score without the language model; finite.
        options: limits and weights.

    Raises:
        InputError: a score is not finite, or a limit is below 1.
        Exception: raised by the language model.
    """
    return _search(forest, grammar, model, app_scores, options, None)[0]


def search_hypergraph(
    forest: Forest,
    grammar: Grammar,
    model: LanguageModel | JoinedModels | None,
    app_scores: np.ndarray,
    options: SearchOptions,
    max_edges: int,
) -> tuple[KBest, Hypergraph]:
    """Runs ``search`` and also returns the ``max_edges`` edges whose best derivation has the highest score.

    Raises:
        InputError: as for ``search``, or ``max_edges`` is too small for a derivation.
    """
    found, kept = _search(forest, grammar, model, app_scores, options, max_edges)
    assert kept is not None
    return found, kept


@dataclass(frozen=True)
class EdgeMoments:
    """Expectations over the derivations of one or more hypergraphs."""

    share: np.ndarray
    """float64 [edges], probability of the edge among those into its item."""
    posterior: np.ndarray
    """float64 [edges], probability that a derivation uses the edge."""
    moment: np.ndarray
    """float64 [edges], covariance of the use of the edge with the value of the derivation."""


def edge_moments(items: int, head: np.ndarray, tail: np.ndarray, scores: np.ndarray, values: np.ndarray) -> EdgeMoments:
    """Finds expectations where the probability of a derivation is proportional to exp(score).

    Score and value of a derivation are the sums over its edges (Li and Eisner, "First- and Second-Order Expectation
    Semirings", 2009). Every item has an edge; edges into an item come before those that use it; an item that no edge
    uses is the goal of a graph.

    Args:
        head: int32 [edges].
        tail: int32 [edges, 2], -1 for no tail.
        scores: float64 [edges], finite.
        values: float64 [edges], finite.

    Raises:
        ValueError: an array has the wrong shape, a head is not in ``range(items)``, or a tail is ``items`` or more.
    """
    n = len(head)
    if tail.shape != (n, 2) or scores.shape != (n,) or values.shape != (n,):
        raise ValueError(f"{n} edges, tails {tail.shape}, scores {scores.shape}, values {values.shape}")
    if (n and not 0 <= head.min() <= head.max() < items) or tail.max(initial=-1) >= items:
        raise ValueError(f"items beyond 0 to {items - 1}")
    given = [np.ascontiguousarray(array, np.int32) for array in (head, tail)]
    numbers = [np.ascontiguousarray(array, np.float64) for array in (scores, values)]
    found = EdgeMoments(np.empty(n), np.empty(n), np.empty(n))
    error = ffi.new("lscfg_error *")
    code = lib.lscfg_edge_moments(
        items,
        n,
        *(ffi.from_buffer("int32_t[]", array) for array in given),
        *(ffi.from_buffer("double[]", array) for array in numbers),
        *(ffi.from_buffer("double[]", array) for array in (found.share, found.posterior, found.moment)),
        error,
    )
    check(code, error)
    return found


@dataclass(frozen=True)
class OracleOptions:
    """Limits of the search for the translation closest to references."""

    pop_limit: int = 1000
    """Candidates taken at each node, 1 or more."""
    beam: int = 100
    """Partial translations kept for each node, 1 or more."""
    smoothing: float = 0.1
    """Above 0, added to the matches and the n-grams of each order in sentence BLEU."""


def oracle(forest: Forest, grammar: Grammar, references: Sequence[np.ndarray], options: OracleOptions) -> KBest:
    """Finds the translations closest to references, best first by smoothed sentence BLEU.

    The decoder's search with BLEU instead of a model (Xiao et al. 2012, footnote 4); exact without limits. The list
    contains at most ``beam`` translations, all different. Their scores are BLEU from 0 to 1; lm and oov are 0. Several
    threads may call this at the same time.

    Args:
        forest: a forest of the grammar.
        grammar: the finished grammar.
        references: vocabulary ids of each reference, one or more.
        options: limits.

    Raises:
        InputError: no reference, a reference with more than 255 equal n-grams, or a limit out of its range.
    """
    offsets, words = _joined(references)
    settings = ffi.new("lscfg_oracle_options *", (options.pop_limit, options.beam, options.smoothing))
    error, result = ffi.new("lscfg_error *"), ffi.new("lscfg_kbest **")
    code = lib.lscfg_oracle(
        forest._pointer,
        grammar._pointer,
        len(references),
        ffi.from_buffer("int64_t[]", offsets),
        ffi.from_buffer("int32_t[]", words),
        settings,
        result,
        error,
    )
    check(code, error)
    return _kbest(result)


@dataclass(frozen=True)
class PatchOptions:
    """Costs of derivations with missing rules."""

    longest: int
    """Maximum number of words that a missing rule yields."""
    swap: int
    """Cost of a rule with two neighbours of its target side swapped; negative: no rule swaps."""


PATCH_NEVER = int(lib.LSCFG_PATCH_NEVER)
"""Cost of an interval that a node cannot yield."""


def patch_costs(
    forest: Forest, grammar: Grammar, missing: np.ndarray, words: Sequence[int], options: PatchOptions
) -> np.ndarray:
    """The least cost at which each node yields each interval of a translation.

    Args:
        forest: a forest of the grammar.
        missing: bool [n_apps], rules that may yield any words, at a cost of the words on both sides; other rules cost
            nothing.
        words: vocabulary ids of the translation, 1 to 1,000.
        options: costs.

    Returns:
        int16 [n_nodes, words + 1, words + 1], by places where the interval begins and ends.

    Raises:
        ValueError: the shape of ``missing`` is not [n_apps].
    """
    n = len(words)
    costs = np.empty((forest.n_nodes, n + 1, (n + 8) // 8 * 8), np.int16)
    marks, ids = np.ascontiguousarray(missing, np.uint8), np.asarray(words, np.int32)
    if marks.shape != (forest.n_apps,):
        raise ValueError(f"{forest.n_apps} applications, missing {marks.shape}")
    error = ffi.new("lscfg_error *")
    code = lib.lscfg_patch(
        forest._pointer,
        grammar._pointer,
        ffi.from_buffer("uint8_t[]", marks),
        ffi.from_buffer("int32_t[]", ids),
        n,
        ffi.new("lscfg_patch_options *", (options.longest, options.swap)),
        ffi.from_buffer("int16_t[]", costs),
        error,
    )
    check(code, error)
    return costs[:, :, : n + 1]


@dataclass(frozen=True)
class Forced:
    """A derivation of a given translation.

    Attributes:
        apps: int32, applications from the root down, the first tail first.
        intervals: int32 [applications, 2], words [i, j) of the translation that each yields.
        score: sum of the scores of the applications.
    """

    apps: np.ndarray
    intervals: np.ndarray
    score: float


def force(forest: Forest, grammar: Grammar, app_scores: np.ndarray, words: Sequence[int]) -> Forced | None:
    """The best derivation of a given translation.

    Of equally good derivations, each node takes the application of the lowest number; of equally good intervals of its
    tails, those whose last tail on the target side begins first, then the tail before, and so on.

    Args:
        forest: a forest of the grammar.
        app_scores: float64 [n_apps], score of each application without the language model, below 1e200 in magnitude.
        words: vocabulary ids of the translation, 1 to 1,000.

    Returns:
        The derivation; None if the forest does not derive the translation.

    Raises:
        ValueError: the shape of ``app_scores`` is not [n_apps].
    """
    scores, ids = np.ascontiguousarray(app_scores, np.float64), np.asarray(words, np.int32)
    if scores.shape != (forest.n_apps,):
        raise ValueError(f"expected {forest.n_apps} application scores, got shape {scores.shape}")
    apps, intervals = np.empty(forest.n_nodes, np.int32), np.empty((forest.n_nodes, 2), np.int32)
    n, score, error = ffi.new("int32_t *"), ffi.new("double *"), ffi.new("lscfg_error *")
    code = lib.lscfg_force(
        forest._pointer,
        grammar._pointer,
        ffi.from_buffer("double[]", scores),
        ffi.from_buffer("int32_t[]", ids),
        len(ids),
        ffi.from_buffer("int32_t[]", apps),
        ffi.from_buffer("int32_t[]", intervals),
        n,
        score,
        error,
    )
    check(code, error)
    return None if code == lib.LSCFG_NO_PARSE else Forced(apps[: n[0]].copy(), intervals[: n[0]].copy(), score[0])


def _search(
    forest: Forest,
    grammar: Grammar,
    model: LanguageModel | JoinedModels | None,
    app_scores: np.ndarray,
    options: SearchOptions,
    max_edges: int | None,
) -> tuple[KBest, Hypergraph | None]:
    scores = np.ascontiguousarray(app_scores, np.float64)
    if scores.shape != (forest.n_apps,):
        raise ValueError(f"expected {forest.n_apps} application scores, got shape {scores.shape}")
    settings = ffi.new(
        "lscfg_search_options *",
        (options.pop_limit, options.k, int(options.unique), options.lm_weight, options.oov_weight),
    )
    buffer = ffi.from_buffer("double[]", scores)
    if model is None:
        return _call(forest, grammar, ffi.NULL, buffer, settings, max_edges)
    with model.lock:
        model.trim()
        model.failure = None
        try:
            return _call(forest, grammar, model._pointer, buffer, settings, max_edges)
        except Exception:
            if model.failure is not None:
                raise model.failure from None
            raise


def _call(
    forest: Forest, grammar: Grammar, lm: object, scores: object, settings: object, max_edges: int | None
) -> tuple[KBest, Hypergraph | None]:
    error = ffi.new("lscfg_error *")
    result, kept = ffi.new("lscfg_kbest **"), ffi.new("lscfg_hypergraph **")
    arguments = (forest._pointer, grammar._pointer, lm, scores, settings)
    if max_edges is None:
        check(lib.lscfg_search(*arguments, result, error), error)
    else:
        most = min(max_edges, LARGEST)  # no hypergraph has more
        check(lib.lscfg_search_hypergraph(*arguments, most, result, kept, error), error)
    return _kbest(result), None if max_edges is None else _hypergraph(kept)


def _hypergraph(kept: Any) -> Hypergraph:
    """Copies the hypergraph, so that it can go to another process."""
    owner = ffi.gc(kept[0], lib.lscfg_hypergraph_free)
    v = ffi.new("lscfg_hypergraph_view *")
    lib.lscfg_hypergraph_get(owner, v)
    symbol = view(v.symbol, v.n_edges + 1, np.int64, owner)
    arrays = (
        view(v.item_edges, v.n_items + 1, np.int32, owner),
        view(v.tail, (v.n_edges, 2), np.int32, owner),
        symbol,
        view(v.symbols, int(symbol[-1]), np.int32, owner),
        view(v.app, v.n_edges, np.int32, owner),
        view(v.lm, v.n_edges, np.float64, owner),
        view(v.oov, v.n_edges, np.int32, owner),
    )
    return Hypergraph(*(np.array(array, subok=False) for array in arrays))


def _joined(lists: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Offsets of the lists, int64 [lists + 1], and the lists one after another, int32."""
    offsets = np.concatenate([[0], np.cumsum([len(one) for one in lists])]).astype(np.int64)
    return offsets, np.concatenate([np.empty(0, np.int32), *lists]).astype(np.int32)


def _kbest(result: Any) -> KBest:
    owner = ffi.gc(result[0], lib.lscfg_kbest_free)
    v = ffi.new("lscfg_kbest_view *")
    lib.lscfg_kbest_get(owner, v)
    word_offsets = view(v.word_offsets, v.n + 1, np.int64, owner)
    app_offsets = view(v.app_offsets, v.n + 1, np.int64, owner)
    return KBest(
        score=view(v.score, v.n, np.float64, owner),
        lm=view(v.lm, v.n, np.float64, owner),
        oov=view(v.oov, v.n, np.float64, owner),
        word_offsets=word_offsets,
        words=view(v.words, int(word_offsets[-1]), np.int32, owner),
        app_offsets=app_offsets,
        apps=view(v.apps, int(app_offsets[-1]), np.int32, owner),
    )
