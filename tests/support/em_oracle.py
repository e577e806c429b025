"""Expected counts of EM by enumeration of all states, and a corpus for it."""

import itertools

import numpy as np

from lscfg.extract.derive import Derivations, derive
from lscfg.kernel.expectation import TreeSet, Weights

PLAIN = {"shrink_source": 0.0, "shrink_arity": 0.0}


def corpus(n=60, seed=0, longest=6, forests=False) -> Derivations:
    """Sentences of few words in any order: rules of every arity, some of more than two nonterminals."""
    rng = np.random.default_rng(seed)
    src, tgt, links = [], [], []
    for _ in range(n):
        words = rng.integers(0, 6, size=rng.integers(1, longest + 1))
        words[rng.random(len(words)) < 0.05] = rng.integers(1000)  # seen once, most of them
        order = rng.permutation(len(words)) if rng.random() < 0.5 else np.arange(len(words))
        # a word without a link makes lexicalised rules with nonterminals
        free = rng.random(len(words)) < 0.2
        src.append(" ".join(f"f{w}" for w in words))
        tgt.append(" ".join(f"e{words[o]}" for o in order))
        links.append(" ".join(f"{o}-{k}" for k, o in enumerate(order) if not free[k] or len(words) < 3))
    return derive(src, tgt, links, forests=forests)


def random_weights(trees: TreeSet, m: int, seed: int) -> Weights:
    rng = np.random.default_rng(seed)
    tensors = [rng.random((rows, *[m] * (k + 1))) for k, rows in enumerate(trees.rows)]
    root = rng.random((2, m))
    return Weights(tensors, rng.random(m), root / root.sum(axis=1, keepdims=True))


def enumerate_states(trees: TreeSet, weights: Weights) -> tuple[np.ndarray, list[np.ndarray], np.ndarray]:
    """Likelihoods, expected counts by row and expected states of roots: the sum over all states of all nodes."""
    m = weights.m
    counts = [np.zeros_like(t) for t in weights.tensors]
    roots = np.zeros_like(weights.root)
    likelihoods = []
    for t in range(len(trees)):
        nodes = range(trees.first_node[t], trees.first_node[t + 1])
        # unobserved children have separate states, which are summed over like all others
        names = [*nodes, *((n, s) for n in nodes for s in range(trees.arity[n]) if trees.children[n, s] < 0)]
        total, found = 0.0, []
        for states in itertools.product(range(m), repeat=len(names)):
            state = dict(zip(names, states, strict=True))
            p = weights.root[trees.root_kind[t], state[nodes[0]]]
            used = []
            for n in nodes:
                k = int(trees.arity[n])
                below = [int(trees.children[n, s]) for s in range(k)]
                index = (int(trees.row[n]), state[n], *(state[c if c >= 0 else (n, s)] for s, c in enumerate(below)))
                p *= weights.scale[state[n]] * weights.tensors[k][index]
                used.append((k, index))
            total += p
            found.append((p, state[nodes[0]], used))
        likelihoods.append(np.log(total))
        for p, first, used in found:
            roots[trees.root_kind[t], first] += p / total
            for k, index in used:
                counts[k][index] += p / total
    return np.array(likelihoods), counts, roots
