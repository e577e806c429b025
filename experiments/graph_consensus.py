"""Compares the consensus of lists (AGREED) with that of n-grams which search hypergraphs expect.

    python experiments/graph_consensus.py ja-en/systems/{HIERO,LATENT-16,SAMPLED+LATENT-16} \
        --dev DIR/dev.ja DIR/dev.en --test DIR/devtest.ja DIR/devtest.en

The folders contain systems of lscfg run in three tunings. Three methods choose translations:

- lists: the text of the joined lists with the best expected BLEU.
- bleu: the text of the joined lists with the best BLEU against expected counts (DeNero, Chiang & Knight 2009).
- search: the derivation of any hypergraph with the best rewards of n-grams (Tromble et al. 2008; DeNero et al. 2010).

Expected counts are means over the systems. Items of a hypergraph carry states of the language model, which can be
shorter than n-grams; ``refine`` splits items by the three words at either end, so that each edge completes known
n-grams. The development set chooses the settings of each run. A row of output contains method, settings, BLEU of both
sets with deviations, and p against lists.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from pathlib import Path
from statistics import fmean, stdev

import numpy as np

from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.decode.request import SentenceGraph
from lscfg.formats.kbest import HypothesisList
from lscfg.formats.weights import read_weights
from lscfg.io.read import read_lines
from lscfg.tuning.bleu import corpus_bleu, corpus_stats
from lscfg.tuning.evaluate import evaluate
from lscfg.tuning.experiment.steps.agree import SCALES
from lscfg.tuning.rescore import agreed

ORDER, KBEST, EDGES_PER_WORD, NODES = 4, 100, 50, 20
Settings = dict[str, list[tuple[float, ...]]]
SETTINGS: Settings = {"lists": [(scale,) for scale in SCALES], "bleu": [(scale,) for scale in (*SCALES, 2.0, 5.0)]}
SETTINGS["search"] = [*product((0.5, 2.0), (0.5, 0.72), (-0.2, -0.3), (0.0, 0.05))]
"""The scale; for search also ratio and word of ``Candidates.search``, and the factor of a hypergraph's own score."""

Ends = tuple[str | None, ...]
"""Up to three words, or the first three, None and the last three of more."""
Known = tuple[list[str | None], list[int]]  # words, and the tail that contributes each of them, -1 for the rule


@dataclass(frozen=True)
class Refined:
    """A hypergraph whose nodes are items with their ends, in topological order, the goal last."""

    node_edges: list[int]
    """The edges into node q are ``node_edges[q] .. node_edges[q + 1] - 1``."""
    tails: list[tuple[int, ...]]
    targets: list[list[str | int]]
    """Words and numbers of tails by edge; empty with two tails, which are then the rest of an edge's tails."""
    scores: list[float]
    ngrams: dict[tuple[str | None, ...], int]
    used: list[tuple[int, int]]
    """Edges with the numbers of the n-grams that they complete."""

    def viterbi(self, weights: Sequence[float]) -> tuple[float, list[str]]:
        """The sum of the weights of the best derivation, and its words."""
        inside, chosen = list[float](), list[int]()
        for begin, end in pairwise(self.node_edges):
            sums = [weights[e] + sum(inside[t] for t in self.tails[e]) for e in range(begin, end)]
            inside.append(max(sums))
            chosen.append(begin + sums.index(inside[-1]))

        def parts_of(node: int) -> list[list[str]]:
            target, parts = self.targets[chosen[node]], [p for t in self.tails[chosen[node]] for p in parts_of(t)]
            words = [word for one in target for word in ([one] if isinstance(one, str) else parts[one])]
            return parts if parts and not target else [words]

        return inside[-1], parts_of(len(chosen) - 1)[0]

    def counts(self, gamma: float) -> np.ndarray:
        """The expected count of each n-gram if probabilities are proportional to exp(gamma score)."""
        inside, uses = list[float](), list[float]()
        for begin, end in pairwise(self.node_edges):
            sums = [gamma * self.scores[e] + sum(inside[t] for t in self.tails[e]) for e in range(begin, end)]
            shares = [math.exp(one - max(sums)) for one in sums]
            inside.append(max(sums) + math.log(total := sum(shares)))
            uses += [share / total for share in shares]
        outside = [0.0] * (len(inside) - 1) + [1.0]
        for node in range(len(inside) - 1, -1, -1):
            for edge in range(self.node_edges[node], self.node_edges[node + 1]):
                uses[edge] *= outside[node]
                for tail in self.tails[edge]:
                    outside[tail] += uses[edge]
        edges, numbers = np.array(self.used, int).reshape(-1, 2).T
        return np.bincount(numbers, np.array(uses)[edges], len(self.ngrams))

    def gains(self, rewards: np.ndarray) -> np.ndarray:
        """The rewards of the n-grams that each edge completes."""
        edges, numbers = np.array(self.used, int).reshape(-1, 2).T
        return np.bincount(edges, rewards[numbers], len(self.scores))


def refine(graph: SentenceGraph, weights: Mapping[str, float], limit: int) -> Refined:
    """Splits items by their ends. Of each item, ``limit`` nodes with the best derivations remain."""
    scores = (graph.features @ [weights.get(name, 0.0) for name in graph.names]).tolist()
    view, found, inside, ends = graph.graph, Refined([0], [], [], [], {}, []), list[float](), list[tuple[Ends, ...]]()
    symbols = [graph.words[s] if s >= 0 else -1 - s for s in view.symbols.tolist()]
    targets = [symbols[begin:end] for begin, end in pairwise(view.symbol.tolist())]
    items, pairs = list[range](), view.tail.tolist()
    for begin, end in pairwise(view.item_edges.tolist()):
        made: dict[tuple[Ends, ...], list[tuple[float, int, tuple[int, ...], Known]]] = {}
        for edge in range(begin, end):
            for tails in product(*(items[tail] for tail in pairs[edge] if tail >= 0)):
                parts = [part for tail in tails for part in ends[tail]]
                known = join(targets[edge], parts)
                if targets[edge] or not parts:
                    short = (
                        known[0] if len(known[0]) < ORDER else [*known[0][: ORDER - 1], None, *known[0][1 - ORDER :]]
                    )
                    parts = [tuple(short)]
                state = () if end == len(targets) else tuple(parts)
                score = scores[edge] + sum(inside[tail] for tail in tails)
                made.setdefault(state, []).append((score, edge, tails, known))
        best = sorted(made, key=lambda state: -max(one[0] for one in made[state]))[:limit]
        items.append(range(len(inside), len(inside) + len(best)))
        for state in best:
            inside.append(max(one[0] for one in made[state]))
            ends.append(state)
            for _, edge, tails, known in made[state]:
                for ngram in completed(*known):
                    found.used.append((len(found.scores), found.ngrams.setdefault(ngram, len(found.ngrams))))
                found.tails.append(tails)
                found.targets.append(targets[edge])
                found.scores.append(scores[edge])
            found.node_edges.append(len(found.scores))
    return found


def join(target: Sequence[str | int], parts: Sequence[Ends]) -> Known:
    """The known words of an edge."""
    words, sources = list[str | None](), list[int]()
    for one in target:
        added = (one,) if isinstance(one, str) else parts[one]
        words += added
        sources += [-1 if isinstance(one, str) else one] * len(added)
    return words, sources


def completed(words: Sequence[str | None], sources: Sequence[int]) -> Iterator[tuple[str | None, ...]]:
    """The n-grams of known words that no single tail contains."""
    for begin, source in enumerate(sources):
        new = False
        for end in range(begin, min(begin + ORDER, len(words))):
            if words[end] is None:
                break
            if new := new or sources[end] < 0 or sources[end] != source:
                yield tuple(words[begin : end + 1])


class Candidates:
    """The different texts of joined lists, and hypergraphs, with numbers of their n-grams."""

    def __init__(self, lists: Sequence[HypothesisList], graphs: Sequence[Refined]):
        self.texts, self.graphs = [*dict.fromkeys(one.text for each in lists for one in each)], graphs
        words = [text.split() for text in self.texts]
        cells = Counter((row, w) for row, one in enumerate(words) for w in completed(one, [-1] * len(one)))
        every = dict.fromkeys([*(ngram for _, ngram in cells), *(ngram for graph in graphs for ngram in graph.ngrams)])
        numbers = {ngram: number for number, ngram in enumerate(every)}
        self.of_graph = [np.array([numbers[ngram] for ngram in graph.ngrams], int) for graph in graphs]
        self.order, self.lengths = np.array([*map(len, every)], int), np.array([*map(len, words)])
        self.row, self.column = np.array([(row, numbers[ngram]) for row, ngram in cells], int).reshape(-1, 2).T
        self.count = np.array([*cells.values()], float)
        self.viterbi = [graph.viterbi(graph.scores)[0] for graph in graphs]

    def expected(self, gamma: float) -> np.ndarray:
        """The mean of the systems' expected counts of each n-gram."""
        found = np.zeros(len(self.order))
        for graph, numbers in zip(self.graphs, self.of_graph, strict=True):
            found[numbers] += graph.counts(gamma) / len(self.graphs)
        return found

    def bleu(self, expected: np.ndarray) -> np.ndarray:
        """The logarithm of each text's BLEU against expected counts, matches and n-grams of each order plus 0.01."""
        found = np.minimum(0, 1 - expected[self.order == 1].sum() / np.maximum(self.lengths, 1))
        clipped = np.minimum(self.count, expected[self.column])
        for order in range(1, ORDER + 1):
            matches = np.bincount(self.row, clipped * (self.order[self.column] == order), len(self.texts)) + 0.01
            found += np.log(matches / (np.maximum(self.lengths - order + 1, 0) + 0.01)) / ORDER
        return found

    def search(self, expected: np.ndarray, ratio: float, word: float, own: float) -> str:
        """The best text of any graph by rewards of words and n-grams and by its score less that of the graph's best.

        The rewards of the four orders sum to 1, and each is 1 / ratio times the one before. Counts above 1 count as 1.
        """
        shares = ratio ** (1.0 - self.order) / sum(ratio**-order for order in range(ORDER))
        rewards, found = shares * np.minimum(expected, 1) + word * (self.order == 1), []
        for graph, numbers, best in zip(self.graphs, self.of_graph, self.viterbi, strict=True):
            gain, words = graph.viterbi((graph.gains(rewards[numbers]) + own * np.array(graph.scores)).tolist())
            found.append((gain - own * best, words))
        return " ".join(max(found, key=lambda one: one[0])[1]) if found else self.texts[0]


def translate(
    members: Sequence[tuple[EmbeddedDecoder, Mapping[str, float]]], lines: Sequence[str], settings: Settings
) -> dict[tuple[str, tuple[float, ...]], list[str]]:
    """The translations by method and setting."""
    texts = {(method, setting): list[str]() for method, found in settings.items() for setting in found}
    for line in lines:
        found = [one.decode_graphs([line], weights, KBEST, True, EDGES_PER_WORD) for one, weights in members]
        best = agreed([one for (one,), _ in found], [scale for (scale,) in settings["lists"]])
        graphs = [refine(one, own, NODES) for (_, own), (_, (one,)) in zip(members, found, strict=True) if one]
        sentence = Candidates([one for (one,), _ in found], graphs)
        expected = {scale: sentence.expected(scale) for scale, *_ in (*settings["bleu"], *settings["search"])}
        best += [sentence.texts[sentence.bleu(expected[scale]).argmax()] for (scale,) in settings["bleu"]]
        best += [sentence.search(expected[scale], *rest) for scale, *rest in settings["search"]]
        for own, text in zip(texts.values(), best, strict=True):
            own.append(text)
    return texts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--dev", nargs=2, required=True, metavar=("SOURCE", "REFERENCE"))
    parser.add_argument("--test", nargs=2, required=True, metavar=("SOURCE", "REFERENCE"))
    args = parser.parse_args()
    dev, test = ([read_lines(path) for path in paths] for paths in (args.dev, args.test))
    decoders = [EmbeddedDecoder.from_ini(folder / "cdec.ini", cached=0) for folder in args.folders]
    chosen, outputs = {method: [] for method in SETTINGS}, {method: [] for method in SETTINGS}
    for run in ("", "run2", "run3"):
        members = [(one, read_weights(at / run / "weights")) for one, at in zip(decoders, args.folders, strict=True)]
        texts = translate(members, dev[0], SETTINGS)
        scores = {key: corpus_bleu(corpus_stats(lines, [dev[1]]).sum(axis=0)) for key, lines in texts.items()}
        best = {method: max((key for key in texts if key[0] == method), key=scores.__getitem__) for method in SETTINGS}
        texts = translate(members, test[0], {method: [setting] for method, setting in best.values()})
        for method, key in best.items():
            chosen[method].append((key[1], scores[key]))
            outputs[method].append(texts[key])
    for system in evaluate(outputs, [test[1]], against=["lists"], samples=1).systems:
        (settings, scores), found = zip(*chosen[system.name], strict=True), system.metrics["BLEU"]
        figures = fmean(scores), stdev(scores), found.score, found.deviation, found.p_against["lists"]
        print(json.dumps([system.name, settings, *(one and round(one, 4) for one in figures)]))


if __name__ == "__main__":
    main()
