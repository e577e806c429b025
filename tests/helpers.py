"""Small models and slow reference computations for the tests."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from lscfg.kernel import Forest
from lscfg.parameters import Parameters
from lscfg.rules import RuleTable


def rule_table(rules: Iterable[str]) -> RuleTable:
    """A table of rules given as ``source ||| target`` in cdec's notation, sorted by arity (stable)."""
    words: dict[str, int] = {}

    def encode(side: str, source: bool) -> list[int]:
        symbols = []
        for token in side.split():
            if token.startswith("[X,"):
                symbols.append(-1 if source else -int(token[3:-1]))
            else:
                symbols.append(words.setdefault(token, len(words)))
        return symbols

    coded = []
    for rule in rules:
        src, tgt = rule.split("|||")
        coded.append((encode(src, True), encode(tgt, False)))
    coded.sort(key=lambda r: sum(s < 0 for s in r[0]))
    return RuleTable(
        list(words),
        np.array([s for src, tgt in coded for s in src + tgt], np.int32),
        np.cumsum([0] + [len(src) + len(tgt) for src, tgt in coded]).astype(np.int64),
        np.array([len(src) for src, _ in coded], np.int32),
        np.array([sum(s < 0 for s in src) for src, _ in coded], np.int32),
    )


def save_model(path: Path, rules: RuleTable, tensors: list[np.ndarray], root: np.ndarray, unk: np.ndarray) -> Path:
    """Writes a model whose tensors are given rule by rule."""
    m = len(root)
    stacked = tuple(
        np.array([t for t, a in zip(tensors, rules.arity, strict=True) if a == k]).reshape(-1, *[m] * (k + 1))
        for k in range(3)
    )
    Parameters(rules, stacked, root, unk).save(path)  # type: ignore[arg-type]
    return path


def derivations(forest: Forest, node: int | None = None) -> list[list[int]]:
    """All derivations of a node (the root if None) as lists of applications."""
    node = forest.n_nodes - 1 if node is None else node
    found = []
    for edge in range(forest.node_edges[node], forest.node_edges[node + 1]):
        tails = [derivations(forest, t) for t in forest.edge_tail[edge] if t >= 0]
        for app in range(forest.edge_apps[edge], forest.edge_apps[edge + 1]):
            found += [[app, *itertools.chain(*choice)] for choice in itertools.product(*tails)]
    return found


def sampled_pairs(n: int, seed: int) -> tuple[list[str], list[str], list[str], dict[str, float]]:
    """Pairs of two words of an L-SCFG whose hidden states decide which words come, (a, b) or (c, d), and their order.

    Returns:
        Source, target, links, and the probability of each tree by ``first second swapped`` (source words; a bool).
    """
    rng = np.random.default_rng(seed)
    lexicon, p_swap = ("ab", "cd"), (0.2, 0.9)
    src, tgt, links = [], [], []
    for _ in range(n):
        state = int(rng.random() < 0.4)
        first, second = (lexicon[state][int(rng.random() < 0.3)] for _ in range(2))
        swapped = rng.random() < p_swap[state]
        src.append(f"{first} {second}")
        tgt.append(f"{second} {first}".upper() if swapped else f"{first} {second}".upper())
        links.append("0-1 1-0" if swapped else "0-0 1-1")
    truth = {}
    for state, p_state in enumerate((0.6, 0.4)):
        for (i, p_i), (j, p_j) in itertools.product(enumerate((0.7, 0.3)), repeat=2):
            for swapped in (False, True):
                p = p_state * p_i * p_j * (p_swap[state] if swapped else 1 - p_swap[state])
                truth[f"{lexicon[state][i]} {lexicon[state][j]} {swapped}"] = p
    return src, tgt, links, truth
