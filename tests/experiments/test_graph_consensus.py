"""experiments/graph_consensus.py: enumeration of derivations, BLEU by its definition, and the whole program."""

import json
import math
import sys
from collections import Counter
from importlib import import_module
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from decoders import SENTENCES, WEIGHTS, small_config

from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.decode.request import SentenceGraph
from lscfg.formats.ini import write_ini
from lscfg.formats.kbest import Hypothesis
from lscfg.formats.weights import write_weights
from lscfg.kernel.search import Hypergraph

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "experiments"))
graph_consensus = import_module("graph_consensus")
sys.path.remove(str(ROOT / "experiments"))
refine, Candidates = graph_consensus.refine, graph_consensus.Candidates

ALL = 10**6
SCORE = {"Score": 1.0}
WORDS = ("a", "b", "c")


def random_graph(rng):
    """Items that share parts. An edge with three tails has an item for the last two, as in the decoder."""
    item_edges, tails, symbol, symbols = [0], [], [0], []

    def add(tail, target):
        tails.append(tail)
        symbols.extend(target)
        symbol.append(len(symbols))

    def words():
        return rng.integers(0, len(WORDS), rng.integers(0, 4)).tolist()

    for item in range(4):  # 3 is the rest of the tails of an edge into 4
        for _ in range(1 if item == 3 else rng.integers(1, 4)):
            if item == 3:
                add((1, 2), [])
            elif item == 0 or rng.random() < 0.4:
                add((-1, -1), [0, *words()])
            else:
                add((rng.integers(item), -1), [*words(), -1, *words()])
        item_edges.append(len(tails))
    add((0, 3), [*words(), -2, *words(), -1, -3])
    add((2, 1), [-2, *words(), -1])
    item_edges.append(len(tails))
    add((4, -1), [-1])
    item_edges.append(len(tails))
    size = len(tails)
    arrays = [np.array(item_edges, np.int32), np.array(tails, np.int32), np.array(symbol), np.array(symbols, np.int32)]
    graph = Hypergraph(*arrays, np.zeros(size, np.int32), np.zeros(size), np.zeros(size, np.int32))
    scores = rng.normal(size=size)
    return SentenceGraph(graph, WORDS, ("Score",), scores[:, None]), scores.tolist()


def derivations(graph, scores):
    """The score and the words of each derivation."""
    view = graph.graph

    def of(item):
        for edge in range(view.item_edges[item], view.item_edges[item + 1]):
            target = view.symbols[view.symbol[edge] : view.symbol[edge + 1]].tolist()
            for found in product(*(of(tail) for tail in view.tail[edge] if tail >= 0)):
                parts = [part for _, each in found for part in each]
                words = [w for s in target for w in ([WORDS[s]] if s >= 0 else parts[-1 - s])]
                yield scores[edge] + sum(score for score, _ in found), [words] if target or not parts else parts

    return [(score, words) for score, (words,) in of(len(view.item_edges) - 2)]


def ngrams(words):
    return Counter(tuple(words[i : i + n]) for n in range(1, 5) for i in range(len(words) - n + 1))


def counts(refined, gamma):
    return dict(zip(refined.ngrams, refined.counts(gamma), strict=True))


@pytest.mark.parametrize("seed", range(30))
def test_expected_counts_and_best_derivations_are_those_of_enumeration(seed):
    rng = np.random.default_rng(seed)
    graph, scores = random_graph(rng)
    every, refined = derivations(graph, scores), refine(graph, SCORE, ALL)
    for gamma in (0.0, 0.3, 1.0):
        shares = np.exp(gamma * np.array([score for score, _ in every]))
        expected = Counter()
        for share, (_, words) in zip(shares / shares.sum(), every, strict=True):
            for ngram, number in ngrams(words).items():
                expected[ngram] += share * number
        assert counts(refined, gamma) == pytest.approx(expected, rel=0, abs=1e-12)
    rewards = rng.normal(size=len(refined.ngrams))
    value = dict(zip(refined.ngrams, rewards, strict=True))
    gains = [0.5 * score + sum(value[w] * n for w, n in ngrams(words).items()) for score, words in every]
    found = refined.viterbi((refined.gains(rewards) + 0.5 * np.array(refined.scores)).tolist())
    assert found == (pytest.approx(max(gains), abs=1e-12), every[int(np.argmax(gains))][1])


def test_a_single_derivation_has_its_own_counts_and_a_great_scale_those_of_the_best():
    graph, scores = random_graph(np.random.default_rng(1))
    best = max(derivations(graph, scores))[1]
    for refined, gamma in ((refine(graph, SCORE, ALL), 1e4), (refine(graph, SCORE, 1), 1e4)):
        assert refined.viterbi(refined.scores)[1] == best
        positive = {ngram: number for ngram, number in counts(refined, gamma).items() if number > 1e-12}
        assert positive == pytest.approx(ngrams(best), abs=1e-12)


def test_bleu_against_the_counts_of_a_text_is_that_of_its_definition():
    texts = ["a b c a b", "a b c", "b a b c a b", "c"]
    candidates = Candidates([[Hypothesis(text, {}, 0.0) for text in texts]], [])
    own = ngrams(texts[0].split())
    numbers = list(dict.fromkeys(w for t in texts for w in graph_consensus.completed(t.split(), [-1] * len(t.split()))))
    found = candidates.bleu(np.array([float(own[ngram]) for ngram in numbers]))
    for text, value in zip(texts, found, strict=True):
        words = text.split()
        total = min(0, 1 - 5 / len(words))
        for n in range(1, 5):
            matches = sum(min(c, own[w]) for w, c in ngrams(words).items() if len(w) == n)
            total += math.log((matches + 0.01) / (max(len(words) - n + 1, 0) + 0.01)) / 4
        assert value == pytest.approx(total, abs=1e-12)
    assert found.argmax() == 0


@pytest.mark.parametrize("seed", range(10))
def test_search_finds_the_best_translation_of_all_graphs(seed):
    made = [random_graph(np.random.default_rng(seed + more)) for more in (0, 1)]
    made[seed % 2][0].features[-1] += 10  # of all derivations of a graph
    made[seed % 2][1][-1] += 10
    graphs = [refine(graph, SCORE, ALL) for graph, _ in made]
    candidates = Candidates([[Hypothesis("a", {}, 0.0)]], graphs)
    expected = candidates.expected(0.5)
    mean = Counter()
    for graph in graphs:
        for ngram, number in counts(graph, 0.5).items():
            mean[ngram] += number / 2
    gains = []
    for graph, scores in made:
        every = derivations(graph, scores)
        for score, words in every:
            gain = 0.5 * (score - max(every)[0]) - 0.3 * len(words)
            for ngram, number in ngrams(words).items():
                gain += number * min(mean[ngram], 1) * 0.5 ** (1 - len(ngram)) / 15
            gains.append((gain, " ".join(words)))
    assert candidates.search(expected, 0.5, -0.3, 0.5) == max(gains)[1]


def test_refined_graphs_of_the_decoder_keep_its_best_translation(tmp_path):
    with EmbeddedDecoder(small_config(tmp_path)) as decoder:
        lists, graphs = decoder.decode_graphs(SENTENCES, WEIGHTS, 50, True, 1000)
    for own, graph in zip(lists, graphs, strict=True):
        refined = refine(graph, WEIGHTS, 20)
        score, words = refined.viterbi(refined.scores)
        assert (pytest.approx(score), " ".join(words)) == (own[0].score, own[0].text)


def test_the_program_prints_a_row_for_each_method(tmp_path, monkeypatch, capsys):
    for name, penalty in (("A", 0.3), ("B", -0.5)):
        folder = tmp_path / "systems" / name
        for run in ("", "run2", "run3"):
            (folder / run).mkdir(parents=True, exist_ok=True)
            write_weights(folder / run / "weights", {**WEIGHTS, "WordPenalty": penalty})
        write_ini(folder / "cdec.ini", small_config(folder))
    (tmp_path / "source").write_text("la casa verde la casa verde\nla casa\n")
    (tmp_path / "reference").write_text("the green house the green house\nhouse\n")
    files = [str(tmp_path / "source"), str(tmp_path / "reference")]
    arguments = [str(tmp_path / "systems" / "A"), str(tmp_path / "systems" / "B"), "--dev", *files, "--test", *files]
    monkeypatch.setattr(sys, "argv", ["graph_consensus.py", *arguments])
    graph_consensus.main()
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row[0] for row in lines] == ["lists", "bleu", "search"]
    assert all(dev == pytest.approx(test, abs=1e-3) and 0 < dev <= 100 for _, _, dev, _, test, *_ in lines)
