"""Refined hypergraphs and their expectations, compared with an enumeration of all derivations."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from searches import EVERYTHING, Case, all_derivations, edge_scores, kept

from lscfg.errors import InputError
from lscfg.kernel.search import edge_moments


@pytest.fixture(scope="module", params=[(seed, order) for seed in range(4) for order in (2, 3)], ids=str)
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    return Case(*request.param, tmp_path_factory.mktemp("case"))


def ngrams(words: tuple[int, ...]) -> Counter[tuple[int, ...]]:
    return Counter(words[i : i + n] for n in range(1, 5) for i in range(len(words) - n + 1))


def grams_of(references: list[np.ndarray]) -> list[tuple[int, ...]]:
    """The distinct n-grams, shorter ones first, then by first occurrence."""
    texts = [tuple(one.tolist()) for one in references]
    return [*dict.fromkeys(t[i : i + n] for n in range(1, 5) for t in texts for i in range(len(t) - n + 1))]


def references_of(case: Case, seed: int) -> list[np.ndarray]:
    """Two translations with some words changed, one of them with words that no edge has."""
    rng = np.random.default_rng(seed)
    graph = kept(case, EVERYTHING)
    texts = [words for _, words in all_derivations(graph, np.zeros(len(graph.app)))]
    found = [np.array(texts[k], np.int32) for k in rng.integers(0, len(texts), 2)]
    found[0] = np.where(rng.random(len(found[0])) < 0.2, 10_000, found[0]).astype(np.int32)
    return [found[0], np.concatenate([found[1], found[1]])]


@pytest.mark.parametrize("max_edges", [8, EVERYTHING])
@pytest.mark.parametrize("seed", range(2))
def test_expectations_are_those_of_all_derivations(case: Case, max_edges: int, seed: int) -> None:
    graph, references = kept(case, max_edges), references_of(case, seed)
    scores, values = edge_scores(case, graph), np.random.default_rng(seed).normal(size=len(graph.app))
    refined = graph.refine(references)
    found = edge_moments(refined.items, refined.head, refined.tail, scores[refined.edge], values[refined.edge])
    every = all_derivations(graph, scores)
    weight = np.exp(np.array([score for score, _ in every]))
    share = weight / weight.sum()
    entropy = -(found.posterior @ np.log(found.share))
    assert entropy == pytest.approx(-(share @ np.log(share)), abs=1e-9)
    # n-grams of the references, by order and first occurrence, and numbers of all n-grams
    grams = grams_of(references)
    most = [max(ngrams(tuple(one.tolist()))[gram] for one in references) for gram in grams]
    assert refined.order.tolist() == [len(gram) for gram in grams] and refined.most.tolist() == most
    users = np.repeat(np.arange(len(refined.edge)), np.diff(refined.gram_offsets))
    counts = np.bincount(refined.grams, found.posterior[users], len(refined.order))
    expected = Counter[tuple[int, ...]]()
    for (_, words), p in zip(every, share.tolist(), strict=True):
        for gram, n in ngrams(words).items():
            expected[gram] += n * p
    assert counts == pytest.approx([expected[gram] for gram in grams])
    totals = [sum(p for gram, p in expected.items() if len(gram) == order) for order in range(1, 5)]
    assert found.posterior @ refined.sizes == pytest.approx(totals)
    # covariances, by the edges of the hypergraph
    total = np.array([value for value, _ in all_derivations(graph, values)])
    for edge in np.random.default_rng(seed).integers(0, len(graph.app), 5).tolist():
        uses = np.array([n for n, _ in all_derivations(graph, np.eye(len(graph.app))[edge])])
        here = refined.edge == edge
        assert found.posterior[here].sum() == pytest.approx(share @ uses)
        covariance = share @ (uses * total) - (share @ uses) * (share @ total)
        assert found.moment[here].sum() == pytest.approx(covariance, abs=1e-9)


def test_several_graphs_at_once(case: Case) -> None:
    graph = kept(case, EVERYTHING)
    one, scores = graph.refine(references_of(case, 1)), edge_scores(case, graph)
    given = scores[one.edge]
    alone = edge_moments(one.items, one.head, one.tail, given, given)
    twice = edge_moments(
        2 * one.items,
        np.concatenate([one.head, one.head + one.items]),
        np.concatenate([one.tail, np.where(one.tail < 0, -1, one.tail + one.items)]),
        np.concatenate([given, given]),
        np.concatenate([given, given]),
    )
    for name in ("share", "posterior", "moment"):
        assert getattr(twice, name).tolist() == 2 * getattr(alone, name).tolist()


def test_references_without_words_split_items_by_length_alone(case: Case) -> None:
    graph = kept(case, EVERYTHING)
    refined = graph.refine([np.empty(0, np.int32)])
    assert len(refined.order) == 0 == len(refined.grams)
    assert refined.items <= 4 * len(graph.item_edges) and refined.sizes.min() >= 0


def test_large_scores_give_probabilities(case: Case) -> None:
    graph = kept(case, EVERYTHING)
    one = graph.refine(references_of(case, 1))
    scores = 1e12 * edge_scores(case, graph)[one.edge]
    found = edge_moments(one.items, one.head, one.tail, scores, scores)
    assert 0 <= found.posterior.min() <= found.posterior.max() <= 1 + 1e-12
    assert np.isfinite(found.moment).all()


def test_bad_references_are_refused(case: Case) -> None:
    with pytest.raises(InputError, match="at least one reference"):
        kept(case, EVERYTHING).refine([])
    with pytest.raises(InputError, match="more than 255 times"):
        kept(case, EVERYTHING).refine([np.zeros(256, np.int32)])


def test_items_out_of_range_are_refused() -> None:
    one = np.zeros(1)
    with pytest.raises(ValueError, match="items beyond 0 to 0"):
        edge_moments(1, np.array([1]), np.array([[-1, -1]]), one, one)
    with pytest.raises(ValueError, match="items beyond 0 to 0"):
        edge_moments(1, np.array([0]), np.array([[1, -1]]), one, one)
