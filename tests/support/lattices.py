"""Word lattices for tests."""

import numpy as np

from lscfg.kernel import EPSILON, Grammar

Arcs = list[tuple[int, int, str]]
EMPTY = "*EPS*"


def encode(grammar: Grammar, arcs: Arcs) -> np.ndarray:
    ids = [(i, j, EPSILON if word == EMPTY else grammar.vocab.add(word)) for i, j, word in arcs]
    return np.array(ids, np.int32).reshape(-1, 3)


def random_lattice(rng: np.random.Generator, words: list[str], alternatives: list[str], epsilon: float) -> Arcs:
    """The sentence, with other words, arcs over two and three words, and empty arcs next to its own."""
    arcs: Arcs = []
    for i, word in enumerate(words):
        arcs.append((i, i + 1, word))
        for _ in range(int(rng.integers(0, 3))):
            to = min(i + int(rng.integers(1, 4)), len(words))
            arcs.append((i, to, EMPTY if rng.random() < epsilon else str(rng.choice(alternatives))))
    return arcs
