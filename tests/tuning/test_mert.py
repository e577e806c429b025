"""Envelopes and line searches against brute force, MERT on problems with known answers."""

from __future__ import annotations

import itertools
import math
import random
from pathlib import Path

import numpy as np
import pytest
from decoders import SENTENCES, WEIGHTS, small_config
from pools import planted
from searches import EVERYTHING, Case, all_derivations, edge_scores, kept
from seeds import seeds

from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.errors import InputError
from lscfg.formats.ini import DecoderConfig
from lscfg.formats.kbest import Hypothesis
from lscfg.kernel.lists import MiraState, PackedLists, line_search
from lscfg.parallel.choose import in_processes
from lscfg.tuning.bleu import SentenceReferences, bleu, corpus_bleu
from lscfg.tuning.forest_mert import ForestMertSettings
from lscfg.tuning.mert import GraphLine, ListLine, MertSettings, mert
from lscfg.tuning.pool import Pool


@pytest.fixture
def config(tmp_path: Path) -> DecoderConfig:
    return small_config(tmp_path)


def random_stats(rng: np.random.Generator, n: int) -> np.ndarray:
    """Statistics of n hypotheses of a sentence of ten words."""
    length = rng.integers(1, 14, n)
    total = np.maximum(length[:, None] - np.arange(4), 0)
    correct = np.minimum.accumulate(rng.integers(0, total + 1), axis=1)
    return np.column_stack([correct, total, length, np.full(n, 10)]).astype(np.int32)


def random_lists(seed: int, ties: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0 if seed % 2 else 1, 12, 8)
    first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    scores, slopes = rng.normal(size=(2, first[-1]))
    if ties:
        scores, slopes = np.round(2 * scores), np.round(2 * slopes)
    return first, scores, slopes, random_stats(rng, int(first[-1]))


def chosen(first: np.ndarray, scores: np.ndarray) -> list[int]:
    return [f + int(scores[f:end].argmax()) for f, end in itertools.pairwise(first.tolist()) if end > f]


@pytest.mark.parametrize("ties", [False, True])
@seeds(40)
def test_line_search_against_every_interval(seed: int, ties: bool) -> None:
    """All crossings of all pairs of lines cut the line into intervals; the middle of each is tried."""
    first, scores, slopes, stats = random_lists(seed, ties)
    crossings = set()
    for f, end in itertools.pairwise(first.tolist()):
        for i, j in itertools.combinations(range(f, end), 2):
            if slopes[i] != slopes[j]:
                crossings.add((scores[i] - scores[j]) / (slopes[j] - slopes[i]))
    ends = sorted(crossings)
    points = [0.0, *((a + b) / 2 for a, b in itertools.pairwise(ends) if b - a > 1e-7)]
    points += [ends[0] - 1, ends[-1] + 1] if ends else []

    def value(x: float) -> float:
        return corpus_bleu(stats[chosen(first, scores + x * slopes)].sum(axis=0))

    step, found = line_search(first, scores, slopes, stats)
    if ties and 0.0 in crossings:
        points.remove(0.0)  # not inside of an interval
    assert found == pytest.approx(max(map(value, points)), abs=1e-9)
    assert value(step) == pytest.approx(found, abs=1e-9)


def test_line_search_stays_where_nothing_changes() -> None:
    stats = random_stats(np.random.default_rng(1), 3)
    first, equal = np.array([0, 2, 3]), np.ones(3)
    assert line_search(first, np.array([1.0, 2.0, 0.0]), equal, stats)[0] == 0
    assert line_search(np.array([0]), np.empty(0), np.empty(0), stats[:0]) == (0.0, 0.0)


def test_the_middle_of_the_best_interval_or_a_unit_beyond() -> None:
    good, bad = [4, 3, 2, 1, 4, 3, 2, 1, 4, 4], [1, 0, 0, 0, 4, 3, 2, 1, 4, 4]
    stats = np.array([bad, good, bad], np.int32)
    first = np.array([0, 3])
    step, found = line_search(first, np.array([0.0, 0.0, -3.0]), np.array([-1.0, 0.0, 1.0]), stats)
    assert (step, found) == (1.5, pytest.approx(100))
    assert line_search(first, np.array([0.0, -2.0, -9.0]), np.array([0.0, 1.0, 0.5]), stats)[0] == 3
    assert line_search(first, np.array([0.0, -2.0, -9.0]), np.array([0.0, -1.0, -0.5]), stats)[0] == -3


@pytest.mark.parametrize(("slopes", "expected"), [([-1.0, 0.0, 1.0], 2), ([1.0, 0.0, -1.0], -2)])
def test_of_equal_intervals_the_one_nearest_to_zero(slopes: list[float], expected: float) -> None:
    """The sweep meets this interval first or last: changes are at 1 and -3, or at -1 and 3."""
    good, bad = [4, 3, 2, 1, 4, 3, 2, 1, 4, 4], [1, 0, 0, 0, 4, 3, 2, 1, 4, 4]
    stats = np.array([good, bad, good], np.int32)
    step, found = line_search(np.array([0, 3]), np.array([0.0, 3.0, 2.0]), np.array(slopes), stats)
    assert (step, found) == (expected, pytest.approx(100))


@pytest.mark.parametrize(
    ("scores", "slopes"), [([0.0, 1.0, 0.0], [-1.0, 0.0, 5e-324]), ([0.0, 1e308, -1e308], [-1.0, 0.0, 1.0])]
)
def test_lines_that_meet_beyond_the_range_of_numbers_never_meet(scores: list[float], slopes: list[float]) -> None:
    stats = random_stats(np.random.default_rng(1), 3)
    step, _ = line_search(np.array([0, 1, 3]), np.array(scores), np.array(slopes), stats)
    assert math.isfinite(step)


def test_packed_lists() -> None:
    rng = np.random.default_rng(3)
    sentences = []
    for n, numbers in ((4, [2, 0]), (1, []), (3, [1]), (5, [0, 1, 4])):
        values = rng.normal(size=(n, len(numbers))).astype(np.float32)
        sentences.append((np.array(numbers, np.intp), values, random_stats(rng, n)))
    lists = PackedLists(sentences, 5)
    vector = rng.normal(size=5)
    expected = np.concatenate([values.astype(float) @ vector[numbers] for numbers, values, _ in sentences])
    scores = lists.scores(vector)
    assert scores == pytest.approx(expected)
    assert lists.best(scores).tolist() == chosen(lists.first, scores)
    with pytest.raises(ValueError, match="expected 5 weights"):
        lists.scores(vector[:4])
    with pytest.raises(ValueError, match="feature numbers beyond"):
        PackedLists(sentences, 4)
    with pytest.raises(ValueError, match="numbers"):
        PackedLists([(np.arange(2), np.zeros((3, 1)), random_stats(rng, 3))], 5)
    state = MiraState(lists, vector, np.ones(10), 0.1, 0.9)
    with pytest.raises(ValueError, match="sentence number out of range"):
        state.run(np.array([4]))
    empty = PackedLists([(np.arange(0), np.zeros((0, 0)), random_stats(rng, 0))], 5)
    with pytest.raises(ValueError, match="without hypotheses"):
        MiraState(empty, vector, np.ones(10), 0.1, 0.9).run(np.array([0]))


# Hypergraphs.


@pytest.fixture(scope="module", params=[(seed, order) for seed in range(6) for order in (2, 3)], ids=str)
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    return Case(*request.param, tmp_path_factory.mktemp("case"))


def test_the_whole_hypergraph_has_every_derivation(case: Case) -> None:
    graph = kept(case, EVERYTHING)
    found = sorted(all_derivations(graph, edge_scores(case, graph)))
    expected = sorted(zip(case.score, (tuple(words) for words, _ in case.all), strict=True))
    assert [score for score, _ in found] == pytest.approx([score for score, _ in expected])
    assert sorted(words for _, words in found) == sorted(words for _, words in expected)


@pytest.mark.parametrize("max_edges", [1, 5, 12])
def test_pruning_keeps_the_best_derivations(case: Case, max_edges: int) -> None:
    graph = kept(case, max_edges)
    whole = sorted(case.score, reverse=True)
    found = sorted((score for score, _ in all_derivations(graph, edge_scores(case, graph))), reverse=True)
    assert found[0] == pytest.approx(whole[0])
    assert len(graph.app) < len(kept(case, EVERYTHING).app)
    assert (np.diff(graph.item_edges) > 0).all()
    assert sorted(set(graph.tail[graph.tail >= 0].tolist())) == list(range(len(graph.item_edges) - 2))


@pytest.mark.parametrize("max_edges", [20, EVERYTHING])
def test_envelope_of_a_hypergraph_against_all_derivations(case: Case, max_edges: int) -> None:
    graph = kept(case, max_edges)
    rng = np.random.default_rng(1)
    scores, slopes = edge_scores(case, graph), rng.normal(size=len(graph.app))
    found = graph.envelope(scores, slopes)
    assert (np.diff(found.slope) > 0).all()
    every_score = np.array([score for score, _ in all_derivations(graph, scores)])
    lines = all_derivations(graph, slopes)
    every_slope, words = np.array([slope for slope, _ in lines]), [w for _, w in lines]
    for x in np.concatenate([rng.normal(size=200) * 3, [-1e6, 1e6]]):
        values = found.score + x * found.slope
        best = int((every_score + x * every_slope).argmax())
        assert values.max() == pytest.approx((every_score + x * every_slope)[best], rel=1e-9)
        line = int(values.argmax())
        text = tuple(found.words[found.word_offsets[line] : found.word_offsets[line + 1]].tolist())
        assert text == words[best]
    for x in ((found.score[1:] - found.score[:-1]) / (found.slope[:-1] - found.slope[1:])).tolist():
        assert (found.score + x * found.slope).max() == pytest.approx((every_score + x * every_slope).max(), rel=1e-9)


@pytest.mark.parametrize("jobs", [1, 2])
def test_graphs_of_the_decoder(config: DecoderConfig, jobs: int) -> None:
    with in_processes(jobs) as engine, EmbeddedDecoder(config, None, engine) as decoder:
        sentences = [*SENTENCES, "", "unheard of"]
        lists, graphs = decoder.decode_graphs(sentences, WEIGHTS, 50, True, EVERYTHING)
        assert lists == decoder.decode(sentences, WEIGHTS, 50, True)
        assert [graph is None for graph in graphs] == [not text for text in sentences]
        for graph, found in zip(graphs, lists, strict=True):
            if graph is None:
                continue
            weights = np.array([WEIGHTS.get(name, 0.0) for name in graph.names])
            scores = graph.features @ weights
            best: dict[str, float] = {}
            for score, words in all_derivations(graph.graph, scores):
                text = " ".join(graph.words[w] for w in words)
                best[text] = max(score, best.get(text, -math.inf))
            assert {h.text: pytest.approx(h.score) for h in found} == {
                text: score for text, score in best.items() if text in {h.text for h in found}
            }
            assert len(found) == min(50, len(best))
        with pytest.raises(InputError, match="edges_per_word"):
            decoder.decode_graphs(sentences, WEIGHTS, 50, True, 0)


@pytest.mark.parametrize("hidden", ["", "P"])
def test_bleu_along_a_line_through_hypergraphs_and_lists(config: DecoderConfig, hidden: str) -> None:
    """Against the enumeration of all derivations and hypotheses, at many points of the line.

    A feature that is hidden from the lists keeps its weight in the hypergraphs.
    """
    references = ["the green house", "green house", "other house", "the house green", "house here"]
    with EmbeddedDecoder(config) as decoder:
        lists, graphs = decoder.decode_graphs(SENTENCES, WEIGHTS, 3, True, EVERYTHING)
        lists[1] = [*lists[1], Hypothesis("green house", {"Own": 1.0, "P": 0.5}, 0.0)]  # what only an earlier run had
        for hypothesis in itertools.chain(*lists):
            hypothesis.features.pop(hidden, None)
        assert not hidden or any(hidden in graph.names for graph in graphs if graph)
        pool = Pool([references])
        pool.add(lists)
        graphs = [*graphs[:3], None, graphs[4]]
    fixed = {hidden: 1.5}
    line = GraphLine(pool.packed(), pool.names, graphs, [SentenceReferences([r]) for r in references], fixed)
    rng = np.random.default_rng(2)
    for _ in range(5):
        point, direction = rng.normal(size=(2, len(pool.names)))
        values = {}
        for x in [line.search(point, direction)[0], *(rng.normal(size=300) * 2)]:
            total = np.zeros(10, np.int64)
            for candidates, graph, reference in zip(pool.sentences, graphs, references, strict=True):
                weights = point + x * direction
                best = [(float(score), stats) for score, stats in zip(
                    candidates.features @ weights[candidates.numbers()], candidates.stats, strict=True)]  # fmt: skip
                if graph is not None:
                    named = {**fixed, **dict(zip(pool.names, weights.tolist(), strict=True))}
                    scores = graph.features @ np.array([named.get(name, 0.0) for name in graph.names])
                    score, words = max(all_derivations(graph.graph, scores))
                    text = [graph.words[w] for w in words]
                    best.append((score, SentenceReferences([reference]).stats([text])[0]))
                total += max(best, key=lambda pair: pair[0])[1]
            values[x] = corpus_bleu(total)
        first, *others = values.values()
        assert first >= max(others) - 1e-9
        assert line.score(point + next(iter(values)) * direction) == pytest.approx(first)


# The whole search.


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_mert_finds_the_planted_weights(seed: int) -> None:
    pool, truth = planted(sentences=60, hypotheses=40, seed=seed)
    start = {"lm": 0.1, "tm": -0.1, "words": 0.2, "noise": 0.3}
    result = mert(pool, start, MertSettings(restarts=3), seed=seed)
    assert result.bleu > 99
    length = math.hypot(*result.weights.values())
    assert length == pytest.approx(math.hypot(*start.values()))
    assert sum(truth[name] * result.weights[name] for name in truth) / length > 0.9


def test_the_best_of_two_weights_is_found_on_a_grid() -> None:
    """With two features only the angle matters: no angle is better than what MERT finds."""
    rng = random.Random(4)
    references = [" ".join(rng.choices("abcdef", k=8)) for _ in range(12)]
    lists = []
    for reference in references:
        texts = [" ".join(rng.choices([*reference.split(), "x"], k=rng.randint(5, 9))) for _ in range(15)]
        lists.append([Hypothesis(text, {"f": rng.gauss(0, 1), "g": rng.gauss(0, 9)}, 0.0) for text in texts])
    pool = Pool([references])
    pool.add(lists)
    result = mert(pool, {"f": 1.0, "g": 0.0}, MertSettings(restarts=30), seed=1)
    angles = np.linspace(0, 2 * np.pi, 20001)
    grid = max(corpus_bleu(pool.best_stats(pool.vector({"f": 9 * np.cos(a), "g": np.sin(a)}))) for a in angles.tolist())
    assert result.bleu >= grid - 1e-9 > 0


def test_mert_is_never_worse_than_its_start() -> None:
    for seed in range(5):
        pool, truth = planted(sentences=10, hypotheses=10, seed=seed)
        for start in (truth, {"lm": -1.0}, {}):
            before = corpus_bleu(pool.best_stats(pool.vector(start)))
            for settings in (MertSettings(restarts=0, directions=0), MertSettings(restarts=1)):
                result = mert(pool, start, settings, seed)
                assert result.bleu >= before
                assert result.bleu == corpus_bleu(pool.best_stats(pool.vector(result.weights)))


def test_mert_is_determined_by_its_seed() -> None:
    pool, _ = planted(sentences=20, hypotheses=10, seed=5)
    settings = MertSettings(restarts=1, directions=3)
    one, two, other = (mert(pool, {"lm": 0.1}, settings, seed) for seed in ((1, 2), (1, 2), (1, 3)))
    assert one == two and one.weights != other.weights


def test_scale_of_features_does_not_matter() -> None:
    pool, _ = planted(sentences=20, hypotheses=10, seed=5)
    scaled = Pool([["x"] * 20])
    for candidates, other in zip(pool.sentences, scaled.sentences, strict=True):
        other.references, other.stats, other.columns = candidates.references, candidates.stats, candidates.columns
        other.features = candidates.features * np.float32(1024)
    scaled.names = pool.names
    settings = MertSettings(restarts=1)
    one, two = mert(pool, {"lm": 0.5}, settings, 1), mert(scaled, {"lm": 0.5 / 1024}, settings, 1)
    assert two.bleu == one.bleu
    assert {name: 1024 * value for name, value in two.weights.items()} == pytest.approx(one.weights)


def test_a_feature_that_never_differs_keeps_its_weight() -> None:
    pool = Pool([["a b c d e", "f g h i j"]])
    texts = [("a b c d e", "a b x y z"), ("f g h i j", "f x")]
    pool.add([[Hypothesis(t, {"f": float(n), "same": 3.0}, 0.0) for n, t in enumerate(pair)] for pair in texts])
    result = mert(pool, {"f": 1.0, "same": 0.0, "other": 0.25}, MertSettings(restarts=2))
    assert result.bleu == pytest.approx(100)
    assert result.weights["same"] == 0 and result.weights["f"] < 0 and result.weights["other"] == 0.25


def test_mert_refuses_bad_arguments() -> None:
    pool = Pool([["a"]])
    with pytest.raises(InputError, match="no hypotheses"):
        mert(pool, {})
    with pytest.raises(InputError, match="start weight of f is nan"):
        mert(pool, {"f": math.nan})
    for bad in ({"restarts": -1}, {"directions": -1}, {"epsilon": 0.0}):
        for kind in (MertSettings, ForestMertSettings):
            with pytest.raises(InputError, match=f"{next(iter(bad))} must be"):
                kind(**bad)
    with pytest.raises(InputError, match="edges_per_word must be at least 1, not 0"):
        ForestMertSettings(edges_per_word=0)


def test_list_line_is_the_pool() -> None:
    pool, truth = planted(sentences=5, hypotheses=10, seed=1)
    line = ListLine(pool.packed())
    rng = np.random.default_rng(1)
    for _ in range(3):
        point = rng.normal(size=len(truth))
        assert line.score(point) == corpus_bleu(pool.best_stats(point))
        assert bleu(pool.best_stats(point)) == line.score(point)
