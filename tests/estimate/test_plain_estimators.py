"""EM and its clusters against plain versions: enumerated states, loops over points, dense matrices."""

import numpy as np
import pytest
from estimates import estimate_iterated

from lscfg.estimate.clusters import UnitEmbedding, k_means
from lscfg.estimate.em import EMSettings, Tying
from lscfg.estimate.features import inside_features, outside_features
from lscfg.estimate.pieces import Pieces
from lscfg.extract.derive import Derivations, derive
from lscfg.extract.examples import Examples
from lscfg.kernel.expectation import Expectation, Weights

NO_SHRINKAGE = {"shrink_source": 0.0, "shrink_arity": 0.0}


def corpus(n: int, seed: int = 3) -> Derivations:
    """Sentences of one to three words in either order; every rule without nonterminals occurs more than once."""
    rng = np.random.default_rng(seed)
    source, target, links = [], [], []
    for _ in range(n):
        words = rng.integers(0, 3, size=rng.integers(1, 4))
        order = np.arange(len(words))[:: -1 if words[0] else 1]
        source.append(" ".join(f"f{word}" for word in words))
        target.append(" ".join(f"e{words[k]}" for k in order))
        links.append(" ".join(f"{k}-{place}" for place, k in enumerate(order)))
    return derive(source * 2, target * 2, links * 2)


class Tree:
    """The rules of a piece of a derivation, from its root; a child of None is not observed."""

    def __init__(self, trees, number):
        self.nodes = range(trees.first_node[number], trees.first_node[number + 1])
        self.kind = int(trees.root_kind[number])
        self.rule = {n: (int(trees.arity[n]), int(trees.row[n])) for n in self.nodes}
        self.children = {n: [int(trees.children[n, s]) for s in range(self.rule[n][0])] for n in self.nodes}

    def inside(self, parameters, m):
        """By node the vector over its states, from the leaves."""
        alpha = {}
        for n in reversed(self.nodes):
            value = parameters[self.rule[n]]
            for child in reversed(self.children[n]):
                value = value @ (alpha[child] if child >= 0 else np.ones(m))
            alpha[n] = value
        return alpha


def expected_counts(trees, parameters, roots, m):
    """Counts of (rule, states) and of states of roots: the mass of a tree with a node's states fixed, over its mass."""
    counts = {rule: np.zeros_like(value) for rule, value in parameters.items()}
    of_roots = np.zeros((2, m))
    for tree in (Tree(trees, number) for number in range(len(trees))):
        alpha = tree.inside(parameters, m)
        first = tree.nodes[0]
        beta = {first: roots[tree.kind]}
        mass = float(alpha[first] @ beta[first])
        if mass == 0:
            continue
        of_roots[tree.kind] += alpha[first] * beta[first] / mass
        for n in tree.nodes:
            around = [alpha[child] if child >= 0 else np.ones(m) for child in tree.children[n]]
            joint = parameters[tree.rule[n]] * beta[n].reshape(-1, *[1] * len(around))
            for place, vector in enumerate(around):
                joint = joint * vector.reshape([1] * (place + 1) + [-1] + [1] * (len(around) - place - 1))
            counts[tree.rule[n]] += joint / mass
            for place, child in enumerate(tree.children[n]):
                if child >= 0:
                    below = joint.sum(axis=tuple(k for k in range(joint.ndim) if k != place + 1))
                    beta[child] = np.divide(below, alpha[child], out=np.zeros(m), where=alpha[child] > 0)
    return counts, of_roots


@pytest.mark.parametrize(("m", "iterations"), [(1, 1), (2, 1), (2, 4), (3, 3)])
def test_em(m, iterations):
    """From the same random numbers: expected counts by recursion over each tree, then relative frequencies."""
    derivations = corpus(25)
    examples = Examples.of(derivations)
    tying = Tying.of(examples, examples.counts, 0)
    trees = Pieces.of(examples, derivations.trees[:-1]).trees(tying.row, tying.rows)
    rng = np.random.default_rng([5, 0])
    parameters = {}
    for arity, rows in enumerate(tying.rows):
        block = rng.random((rows, *[m] * (arity + 1)))
        parameters |= {(arity, row): block[row] for row in range(rows)}
    roots = rng.random((2, m))
    roots /= roots.sum(axis=1, keepdims=True)
    for iteration in range(iterations + 1):
        mass = sum(value.reshape(m, -1).sum(axis=1) for value in parameters.values())
        parameters = {rule: value / mass.reshape(-1, *[1] * (value.ndim - 1)) for rule, value in parameters.items()}
        if iteration < iterations:
            parameters, of_roots = expected_counts(trees, parameters, roots, m)
            totals = of_roots.sum(axis=1, keepdims=True)
            roots = np.where(totals > 0, of_roots / np.maximum(totals, 1e-300), 1 / m)
    model = estimate_iterated(derivations, EMSettings(m, iterations, seed=5, **NO_SHRINKAGE))
    assert model.root == pytest.approx(roots[0], abs=1e-12)
    lexical = [rule for rule in range(len(examples.rules)) if examples.rules.arity[rule] == 0]
    assert (examples.counts[lexical] > 1).all()  # nothing is taken for unknown words
    for rule in range(len(examples.rules)):
        expected = parameters[int(examples.rules.arity[rule]), int(tying.row[rule])]
        assert np.allclose(model.tensor(rule), expected, rtol=0, atol=1e-12), examples.rules.text(rule)


@pytest.mark.parametrize("m", [2, 5])
def test_impossible_trees_change_no_other(m):
    """A rule without any probability, which trees in the middle and at the end have."""
    derivations = corpus(25)
    examples = Examples.of(derivations)
    tying = Tying.of(examples, examples.counts, 0)
    trees = Pieces.of(examples, derivations.trees[:-1]).trees(tying.row, tying.rows)
    rng = np.random.default_rng(2)
    tensors = [rng.random((rows, *[m] * (arity + 1))) for arity, rows in enumerate(tying.rows)]
    roots = rng.random((2, m))
    lexical = [tree.rule[tree.nodes[-1]][1] for tree in (Tree(trees, number) for number in range(len(trees)))]
    tensors[0][lexical[-1]] = 0
    parameters = {(arity, row): block[row].copy() for arity, block in enumerate(tensors) for row in range(len(block))}
    counts, of_roots = expected_counts(trees, parameters, roots, m)
    weights, expectation = Weights(tensors, np.ones(m), roots), Expectation(trees)
    assert 0 < expectation.infer(weights) < len(trees)
    assert expectation.root_counts() == pytest.approx(of_roots, abs=1e-10)
    expectation.count(weights)
    for (arity, row), expected in counts.items():
        assert np.allclose(weights.tensors[arity][row], expected, rtol=0, atol=1e-10), (arity, row)


def plain_k_means(points, m, rng):
    """k-means++, then Lloyd's sweeps, point by point; an empty cluster takes the point farthest from its centre."""

    def squares(point, centres):
        return [float(((point - centre) ** 2).sum()) for centre in centres]

    centres = [points[int(rng.integers(len(points)))]]
    while len(centres) < m:
        near = [min(squares(point, centres)) for point in points]
        at, total = rng.random() * sum(near), 0.0
        chosen = 0
        while (total := total + near[chosen]) <= at:
            chosen += 1
        centres.append(points[chosen])
    before = None
    while True:
        found = [squares(point, centres) for point in points]
        cluster = [one.index(min(one)) for one in found]
        if cluster == before:
            return np.array(centres)
        before = cluster
        far = sorted(range(len(points)), key=lambda k: -min(found[k]))
        for k in range(m):
            members = [point for point, own in zip(points, cluster, strict=True) if own == k]
            centres[k] = np.mean(members, axis=0) if members else points[far.pop(0)]


@pytest.mark.parametrize("seed", range(12))
def test_k_means(seed):
    rng = np.random.default_rng(seed)
    points = np.concatenate([rng.normal(centre, 0.6, size=(12, 3)) for centre in (0, 1, 2)])
    m = 2 + seed % 5
    found = k_means(points, m, np.random.default_rng(seed))
    assert found == pytest.approx(plain_k_means(list(points), m, np.random.default_rng(seed)), abs=1e-9)


def test_weights_of_points_are_repetitions():
    """Whole weights, from the same first centres."""
    rng = np.random.default_rng(4)
    points, weight = rng.normal(size=(20, 2)), rng.integers(1, 4, 20)

    class First:
        """Chooses the first point, then those whose share of the sum is at 0.3 and 0.8."""

        def __init__(self):
            self.at = [0.3, 0.8]

        def integers(self, n):
            return 0

        def random(self):
            return self.at.pop(0)

    weighted = k_means(points, 3, First(), weight.astype(float))
    assert weighted == pytest.approx(k_means(np.repeat(points, weight, axis=0), 3, First()), abs=1e-9)


def test_the_embedding():
    """Directions are singular vectors of the dense covariance of scaled features; each side of a node has length 1."""
    derivations = corpus(60)
    examples = Examples.of(derivations)
    training = examples.is_example & (np.arange(len(examples.is_example)) % 5 > 0)
    sides = []
    for features in (
        inside_features(examples, ("rule", "children")),
        outside_features(examples, ("parent", "sibling", "slot")),
    ):
        dense = features.toarray()
        counts = dense[training].sum(axis=0)
        dense, counts = dense[:, counts >= 3], counts[counts >= 3]
        sides.append(dense * np.sqrt((training.sum() - 1) / (counts + 5)))
    phi, psi = sides
    u, sigma, vt = np.linalg.svd(phi[training].T @ psi[training] / training.sum(), full_matrices=False)
    k = (sigma > 1e-9).sum()
    assert 4 < k < 64 and (np.diff(sigma[:k]) < -1e-6).all()  # signs are free, and nothing else
    found = UnitEmbedding.of(examples, training, 1)
    units = []
    for (features, directions), dense, expected in zip(found.sides, sides, (u, vt.T), strict=True):
        assert features.toarray() == pytest.approx(dense, rel=1e-5)
        assert np.abs(directions[:, :k]) == pytest.approx(np.abs(expected[:, :k]), abs=1e-4)
        values = dense @ directions
        units.append(values / np.linalg.norm(values, axis=1, keepdims=True))
    assert found[np.arange(len(phi))] == pytest.approx(np.hstack(units), abs=1e-4)
