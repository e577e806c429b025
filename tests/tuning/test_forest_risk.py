"""Minimum risk on hypergraphs: statistics and entropy by enumeration, the gradient by finite differences."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from decoders import SENTENCES, WEIGHTS, small_config
from searches import EVERYTHING, all_derivations

from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.decode.request import SentenceGraph
from lscfg.errors import InputError
from lscfg.formats.kbest import Hypothesis
from lscfg.tuning.bleu import SentenceReferences
from lscfg.tuning.forest_risk import GraphSource
from lscfg.tuning.pool import Pool
from lscfg.tuning.risk import ExpectedScore, ListSource, risk

REFERENCES = [["the green house", "green house", "other house the", "the house green the", "house"]]
FURTHER = ["the house", "house of green", "house", "green", "the house"]

Decoded = tuple[Pool, list[SentenceGraph | None]]


def decoded(folder: Path, edges_per_word: int, k: int = 50) -> Decoded:
    with EmbeddedDecoder(small_config(folder)) as decoder:
        lists, graphs = decoder.decode_graphs(SENTENCES, WEIGHTS, k, True, edges_per_word)
    pool = Pool([*REFERENCES, FURTHER])
    pool.add(lists)
    return pool, [*graphs]


def scores_of(pool: Pool, graph: SentenceGraph, point: np.ndarray) -> np.ndarray:
    by_name = WEIGHTS | dict(zip(pool.names, point.tolist(), strict=True))
    return graph.features @ [by_name.get(name, 0.0) for name in graph.names]


def test_statistics_are_those_of_all_derivations(tmp_path: Path) -> None:
    pool, graphs = decoded(tmp_path, EVERYTHING)
    point, sharpness = pool.vector(WEIGHTS), 0.7
    stats, entropy = GraphSource(pool, graphs, WEIGHTS).expect(point, sharpness)
    wanted_entropy, correct, total = 0.0, np.zeros(4), np.zeros(4)
    for graph, references in zip(graphs, pool.references, strict=True):
        assert graph is not None
        every = all_derivations(graph.graph, sharpness * scores_of(pool, graph, point))
        p = np.exp([score for score, _ in every])
        p /= p.sum()
        wanted_entropy -= p @ np.log(p)
        expected: dict[tuple[str, ...], float] = {}
        for (_, numbers), share in zip(every, p.tolist(), strict=True):
            words = [graph.words[i] for i in numbers]
            for n in range(1, 5):
                for i in range(len(words) - n + 1):
                    gram = tuple(words[i : i + n])
                    expected[gram] = expected.get(gram, 0.0) + share
        for gram, count in expected.items():
            total[len(gram) - 1] += count
            most = max(
                sum(tuple(line.split()[i : i + len(gram)]) == gram for i in range(len(line.split())))
                for line in references
            )
            correct[len(gram) - 1] += min(count, most)
    assert stats[:4] == pytest.approx(correct) and stats[4:8] == pytest.approx(total)
    assert stats[8] == pytest.approx(total[0])
    assert entropy == pytest.approx(wanted_entropy)


def test_one_derivation_each_has_the_statistics_of_lists(tmp_path: Path) -> None:
    pool, graphs = decoded(tmp_path, 1, 1)
    point = pool.vector(WEIGHTS)
    for graph in graphs:
        assert graph is not None and len(all_derivations(graph.graph, scores_of(pool, graph, point))) == 1
    stats, entropy = GraphSource(pool, graphs, WEIGHTS).expect(point, 2.0)
    assert stats == pytest.approx(ListSource(pool).expect(point, 2.0)[0]) and entropy == pytest.approx(0)
    texts = [
        " ".join(graph.words[i] for i in all_derivations(graph.graph, np.zeros(99))[0][1]) for graph in graphs if graph
    ]
    rows = [SentenceReferences(r).stats([t.split()]) for t, r in zip(texts, pool.references, strict=True)]
    assert stats == pytest.approx(np.concatenate(rows).sum(axis=0))


@pytest.mark.parametrize("edges_per_word", [2, EVERYTHING])
def test_gradient_is_that_of_differences(tmp_path: Path, edges_per_word: int) -> None:
    pool, graphs = decoded(tmp_path, edges_per_word, 3)
    sources = [ListSource(pool), GraphSource(pool, [*graphs[:2], None, *graphs[3:]], WEIGHTS)]
    expected = ExpectedScore(pool.objective, sources)
    point = pool.vector(WEIGHTS) + np.random.default_rng(1).normal(size=len(pool.names)) / 10
    for sharpness, temperature in ((0.3, 2.0), (1.5, 0.0)):
        _, gradient = expected.value(point, sharpness, temperature)
        for k in range(len(point)):
            step = 1e-5 * np.eye(len(point))[k]
            above, below = (expected.value(point + sign * step, sharpness, temperature)[0] for sign in (1, -1))
            assert gradient[k] == pytest.approx((above - below) / 2e-5, rel=1e-4, abs=1e-5)


def test_features_of_hypergraphs_alone_keep_their_weights(tmp_path: Path) -> None:
    pool, graphs = decoded(tmp_path, EVERYTHING)
    graph = graphs[0]
    assert graph is not None
    features = np.concatenate([graph.features, np.ones((len(graph.features), 1))], axis=1)
    graphs[0] = replace(graph, names=(*graph.names, "Rare"), features=features)
    weights = WEIGHTS | {"Rare": 0.5}
    point = pool.vector(weights)
    found = GraphSource(pool, graphs, weights).expect(point, 1.0)[1]
    every = [score for score, _ in all_derivations(graph.graph, scores_of(pool, graph, point))]
    uses = [n for n, _ in all_derivations(graph.graph, np.ones(len(graph.features)))]
    p = np.exp(np.array(every) + 0.5 * np.array(uses))
    p /= p.sum()
    rest = GraphSource(pool, [None, *graphs[1:]], weights).expect(point, 1.0)[1]
    assert found == pytest.approx(rest - p @ np.log(p))


def test_the_length_of_the_start_weights_does_not_matter(tmp_path: Path) -> None:
    """Nor for features of hypergraphs alone, which keep their share."""
    pool, graphs = decoded(tmp_path, EVERYTHING, 5)
    for k, graph in enumerate(graphs):
        assert graph is not None
        rare = np.arange(len(graph.features))[:, None] % 3
        graphs[k] = replace(graph, names=(*graph.names, "Rare"), features=np.hstack([graph.features, rare]))
    point = pool.vector(WEIGHTS) / np.linalg.norm(pool.vector(WEIGHTS))
    found = []
    for factor in (1.0, 10.0):
        start = {name: factor * value for name, value in (WEIGHTS | {"Rare": 0.5}).items()}
        source = GraphSource(pool, graphs, start)
        found.append((source.expect(point, 0.7), source.gradient(np.arange(10.0), 0.3)))
    (stats, entropy), gradient = found[0]
    assert found[1][0] == (pytest.approx(stats), pytest.approx(entropy)) and found[1][1] == pytest.approx(gradient)
    expected = ExpectedScore(pool.objective, [source])
    gradient = expected.value(point, 0.7, 2.0)[1]
    for k in range(len(point)):
        step = 1e-5 * np.eye(len(point))[k]
        above, below = (expected.value(point + sign * step, 0.7, 2.0)[0] for sign in (1, -1))
        assert gradient[k] == pytest.approx((above - below) / 2e-5, rel=1e-4, abs=1e-5)


def test_no_objective_is_above_100(tmp_path: Path) -> None:
    """Sentences whose derivations are very short or very long, in any mixture."""
    pool, graphs = decoded(tmp_path, EVERYTHING)
    for graph, references in zip(graphs, pool.references, strict=True):
        for penalty in (-3.0, -1.0, 0.0, 1.0, 3.0):
            one, weights = Pool([[line] for line in references]), WEIGHTS | {"WordPenalty": penalty}
            source = GraphSource(one, [graph], weights)
            stats, _ = source.expect(np.zeros(0), 1.0)
            assert (stats[:4] <= stats[4:8] + 1e-9).all() and one.objective.score(stats) <= 100


def test_references_without_a_word_of_the_translations(tmp_path: Path) -> None:
    _, graphs = decoded(tmp_path, EVERYTHING)
    for lines in (["x y z q"] * 5, [""] * 5):
        pool = Pool([lines])
        pool.add([[Hypothesis("a b c", {"P": 1.0}, 0.0)]] * 5)
        found = risk(pool, WEIGHTS, [GraphSource(pool, graphs, WEIGHTS)])
        assert found.bleu == 0 and found.weights == pytest.approx(WEIGHTS)


def test_a_reference_of_equal_words_names_the_sentence(tmp_path: Path) -> None:
    pool, graphs = decoded(tmp_path, EVERYTHING)
    pool.references[2] = ("casa " * 256,)
    with pytest.raises(InputError, match="sentence 3: a reference has a word or sequence of words more than 255 times"):
        GraphSource(pool, graphs, WEIGHTS)
