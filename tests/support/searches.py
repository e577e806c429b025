"""Searches of small random grammars and language models, with all their derivations."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import kenlm
import numpy as np

from lscfg.kernel import Forest, Grammar, ParseOptions
from lscfg.kernel.lm import LanguageModel
from lscfg.kernel.search import Hypergraph, KBest, SearchOptions, search, search_hypergraph

EVERYTHING = 1_000_000
WORDS = [*"abcd", "unk1", "unk2"]
LM_WEIGHT, OOV_WEIGHT = 0.7, -1.3


def random_arpa(path: Path, order: int, rng: random.Random) -> Path:
    """A model of a to d with some n-grams of each order; the prefix of each is in it, as ARPA wants, and the suffix."""
    grams: list[list[tuple[str, ...]]] = [[("<unk>",), ("<s>",), ("</s>",), *((w,) for w in WORDS[:4])]]
    for _ in range(order - 1):
        known = set(grams[-1])
        longer = [(*g, w) for g in grams[-1] for (w,) in grams[0] if g[-1] != "</s>" and w not in ("<s>", "<unk>")]
        grams.append([g for g in longer if g[1:] in known and "<unk>" not in g and rng.random() < 0.5])
    lines = ["\\data\\", *(f"ngram {n}={len(list_)}" for n, list_ in enumerate(grams, 1)), ""]
    for n, list_ in enumerate(grams, 1):
        lines.append(f"\\{n}-grams:")
        for gram in list_:
            backoff = "" if n == order else f"\t{-rng.random():.6f}"
            lines.append(f"{-3 * rng.random() - 0.01:.6f}\t{' '.join(gram)}{backoff}")
        lines.append("")
    path.write_text("\n".join([*lines, "\\end\\", ""]), encoding="utf-8")
    return path


def random_grammar(rng: random.Random) -> Grammar:
    """Rules of arity 0 to 2, some with reordering, words on neither side of a nonterminal, or no target words."""
    grammar = Grammar()
    sources = ["x", "y", "x y", "[X,1] y", "x [X,1]", "[X,1] [X,2]", "[X,1] x [X,2]"]
    rules = set()
    for source in sources:
        slots = ["[X,1]", "[X,2]"][: source.count("[X")]
        for _ in range(2):
            target = [*slots, *rng.choices(WORDS, k=rng.randint(0, 3))]
            rng.shuffle(target)
            rules.add((source, " ".join(target)))
    for source, target in sorted(rules):
        if target:
            grammar.read_text(f"[X] ||| {source} ||| {target} ||| F=1\n")
        else:
            grammar.add(0, [grammar.vocab.add(word) for word in source.split()], [])
    grammar.read_text("[X] ||| x ||| a ||| F=1\n[X] ||| y ||| b c ||| F=1\n")
    grammar.finish()
    return grammar


def derivations(forest: Forest, grammar: Grammar) -> list[tuple[list[int], list[int]]]:
    """(target words, applications) of every derivation of the root."""
    of_node: list[list[tuple[list[int], list[int]]]] = []
    size = len(grammar)

    def target(app: int) -> list[int]:
        rule = int(forest.app_rule[app])
        if rule < size:
            return grammar.tgt(rule)
        head = forest.edge_head[forest.app_edge[app]]
        return [[-1], [-1, -2], [int(forest.words[forest.node_span[head][0]])]][rule - size]

    for node in range(forest.n_nodes):
        found = []
        edges = range(forest.node_edges[node], forest.node_edges[node + 1])
        for edge, app in ((e, a) for e in edges for a in range(forest.edge_apps[e], forest.edge_apps[e + 1])):
            tails = [of_node[q] for q in forest.edge_tail[edge] if q >= 0]
            for parts in itertools.product(*tails):
                words = [w for s in target(app) for w in ([s] if s >= 0 else parts[-1 - s][0])]
                found.append((words, [app, *(a for part in parts for a in part[1])]))
        of_node.append(found)
    return of_node[-1]


class Case:
    """A sentence under a random grammar and model, with all its derivations scored on their whole strings."""

    def __init__(self, seed: int, order: int, folder: Path):
        rng = random.Random(1000 * seed + order)
        self.path = random_arpa(folder / f"{seed}.{order}.arpa", order, rng)
        self.grammar = random_grammar(rng)
        options = ParseOptions(max_span=10, glue=seed % 2 == 0, pass_through=1, goal=int(seed % 2 == 0))
        sentence = " ".join(rng.choices("xyz" if seed % 2 == 0 else "xy", k=3 + seed % 2))
        forest = self.grammar.parse(self.grammar.vocab.add_line(sentence), options)
        assert forest is not None
        self.forest = forest
        self.app_scores = np.random.default_rng(seed).normal(size=forest.n_apps)
        self.all = derivations(forest, self.grammar)
        model = kenlm.Model(str(self.path), quiet())
        self.lm, self.oov, self.score = [], [], []
        for words, apps in self.all:
            scores = list(model.full_scores(self.text(words), bos=True, eos=True))
            self.lm.append(sum(p for p, _, _ in scores))
            self.oov.append(sum(unknown for _, _, unknown in scores))
            self.score.append(self.app_scores[apps].sum() + LM_WEIGHT * self.lm[-1] + OOV_WEIGHT * self.oov[-1])

    def text(self, words: list[int]) -> str:
        return " ".join(self.grammar.vocab.word(w) for w in words)

    def search(self, k: int, unique: bool = False, pop_limit: int = EVERYTHING) -> KBest:
        options = SearchOptions(pop_limit, k, unique, LM_WEIGHT, OOV_WEIGHT)
        return search(self.forest, self.grammar, LanguageModel(self.path, self.grammar.vocab), self.app_scores, options)


def quiet() -> kenlm.Config:
    """Options that load a model without a message."""
    config = kenlm.Config()
    config.show_progress, config.arpa_complain = False, kenlm.ARPALoadComplain.NONE
    return config


def all_derivations(graph: Hypergraph, scores: np.ndarray) -> list[tuple[float, tuple[int, ...]]]:
    """Score and words of each derivation, by plain recursion over the items."""
    found: list[list[tuple[float, tuple[int, ...]]]] = []
    for begin, end in itertools.pairwise(graph.item_edges.tolist()):
        here = []
        for e in range(begin, end):
            symbols = graph.symbols[graph.symbol[e] : graph.symbol[e + 1]].tolist()
            for parts in itertools.product(*(found[t] for t in graph.tail[e].tolist() if t >= 0)):
                words = tuple(w for s in symbols for w in ((s,) if s >= 0 else parts[-1 - s][1]))
                here.append((scores[e] + sum(part[0] for part in parts), words))
        found.append(here)
    return found[-1]


def kept(case: Case, max_edges: int) -> Hypergraph:
    options = SearchOptions(EVERYTHING, 10, False, LM_WEIGHT, OOV_WEIGHT)
    model = LanguageModel(case.path, case.grammar.vocab)
    found, graph = search_hypergraph(case.forest, case.grammar, model, case.app_scores, options, max_edges)
    assert found.score.tolist() == case.search(10).score.tolist()
    return graph


def edge_scores(case: Case, graph: Hypergraph) -> np.ndarray:
    inner = np.where(graph.app >= 0, case.app_scores[graph.app], 0.0)
    return inner + LM_WEIGHT * graph.lm + OOV_WEIGHT * graph.oov
