"""Spectral moments and clusters over forests against the enumeration of all derivations."""

import dataclasses
import itertools
from math import prod

import numpy as np
import pytest
from estimates import estimate_spectral
from trees import aligned

from lscfg.cli import main
from lscfg.errors import InputError
from lscfg.estimate.clusters import ClusterSettings, SpectralClusters, cluster_states, k_means, nearest
from lscfg.estimate.em import EMRun, EMSettings, ExpectationMaximisation
from lscfg.estimate.features import INSIDE_KNOWN, OUTSIDE_KNOWN, extract_features, scale
from lscfg.estimate.occurrences import Occurrences
from lscfg.estimate.pieces import ROUNDS
from lscfg.estimate.spectral import MethodOfMoments, SpectralSettings, embed
from lscfg.extract.derive import Derivations, derive
from lscfg.extract.examples import Examples
from lscfg.io import tensors
from lscfg.model.parameters import Parameters

WITHOUT_FILES = {"class", "real"}
TEMPLATES = {
    "inside": tuple(name for name in INSIDE_KNOWN if name not in WITHOUT_FILES),
    "outside": tuple(name for name in OUTSIDE_KNOWN if name not in WITHOUT_FILES),
}


def trees_under(forests, node):
    """All derivation trees of a node: each a list of (node, edge, number of the parent in the list, slot)."""
    for edge in range(forests.edge[node], forests.edge[node + 1]):
        tails = forests.tail[forests.first_tail[edge] : forests.first_tail[edge + 1]].tolist()
        for below in itertools.product(*(list(trees_under(forests, tail)) for tail in tails)):
            tree = [(node, edge, -1, 0)]
            for slot, part in enumerate(below):
                first = len(tree)
                tree += [
                    (n, e, first + parent if parent >= 0 else 0, s if parent >= 0 else slot) for n, e, parent, s in part
                ]
            yield tree


def enumerated(made: Derivations) -> Derivations:
    """Every derivation of each pair as a tree of its own, whose weight is its probability.

    EM with one state on the list of trees says how probable they are.
    """
    forests = made.forests
    pairs = [list(trees_under(forests, root)) for root in forests.first[:-1].tolist()]
    frequency = np.ones(len(forests.rules))
    for _ in range(ROUNDS):
        counts, weights = np.zeros(len(frequency)), []
        for trees in pairs:
            found = np.array([prod(frequency[forests.rule[e]] for _, e, _, _ in tree) for tree in trees])
            weights += (found / found.sum()).tolist()
            for tree, weight in zip(trees, found / found.sum(), strict=True):
                np.add.at(counts, forests.rule[[e for _, e, _, _ in tree]], weight)
        frequency = counts / len(pairs)
    trees = [tree for found in pairs for tree in found]
    first = np.concatenate([[0], np.cumsum([len(tree) for tree in trees])])
    node, edge, parent, slot = map(np.array, zip(*(place for tree in trees for place in tree), strict=True))
    parent = np.where(parent < 0, -1, parent + np.repeat(first[:-1], np.diff(first)))
    return Derivations(
        forests.rules,
        first,
        forests.rule[edge].astype(np.int32),
        parent.astype(np.int32),
        slot.astype(np.int32),
        forests.span[node],
        made.lexicon,
        made.lexicon_count,
        weight=np.array(weights),
    )


def corpus(seed, n=14, longest=5):
    lines = aligned(n, seed, longest)
    for column, line in zip(lines, ("f0 f1 f2 f3", "e1 e3 e0 e2", "0-2 1-0 2-3 3-1"), strict=True):
        column.append(line)  # a rule of four nonterminals
    return derive(*lines, forests=True)


@pytest.mark.parametrize("scaling", [True, False])
@pytest.mark.parametrize("seed", [0, 1])
def test_moments_are_those_of_all_derivations(seed, scaling):
    """Dense numpy, derivation by derivation, node by node."""
    made, m = corpus(seed), 3
    settings = SpectralSettings(m, scaling=scaling, forests=True, **TEMPLATES)
    model = estimate_spectral(made, settings)
    listed = enumerated(made)
    assert len(listed) > 2 * len(made)
    examples = Examples.of(listed)
    weight, nodes = listed.node_weight, np.nonzero(examples.is_example)[0]
    n = weight[nodes].sum()
    known, seen = Occurrences.of_forests(made)
    assert np.isclose(n, known.n_examples) and np.allclose(known.counts, examples.counts, atol=1e-8)
    dense, forest = [], []
    for templates, inside in ((TEMPLATES["inside"], True), (TEMPLATES["outside"], False)):
        found = extract_features(examples, templates, inside).matrix.toarray()
        squares = weight[nodes] @ found[nodes] ** 2
        dense.append(found * np.sqrt((n - 1) / (squares + 5)) if scaling else found)
        features = extract_features(known, templates, inside, seen=seen)
        scaled = scale(features.matrix, seen.is_example, seen.node_weight, features.squares)
        forest.append((scaled if scaling else features.matrix).toarray())
    phi, psi = dense
    omega = sum(weight[node] * np.outer(phi[node], psi[node]) for node in nodes) / n
    counted = seen.is_example
    assert np.allclose((forest[0][counted].T * seen.node_weight[counted]) @ forest[1][counted] / n, omega, atol=1e-9)
    u, sigma, vt = np.linalg.svd(omega)
    assert np.allclose(model.about["singular values"], sigma[:m])
    flip = np.sign(u[np.abs(u[:, :m]).argmax(axis=0), np.arange(m)])
    y, z = phi @ u[:, :m] * flip, psi @ vt[:m].T / sigma[:m] * flip
    singletons = known.singletons()
    for rule in np.flatnonzero(~singletons).tolist():
        arity, expected = int(model.rules.arity[rule]), 0
        for node in nodes[examples.type[nodes] == rule]:
            product = weight[node] * z[node]
            for child in examples.children[node, :arity]:
                product = np.multiply.outer(product, y[child])
            expected = expected + product
        assert np.allclose(model.tensor(rule), expected / n, atol=1e-8), model.rules.text(rule)
    roots = examples.is_root & examples.is_example
    assert np.allclose(model.root, np.average(y[roots], axis=0, weights=weight[roots]))
    assert np.allclose(model.one.rules[~singletons], examples.counts[~singletons] / n, atol=1e-8)


@pytest.mark.parametrize("smoothing", [0.0, 4.0])
def test_listed_derivations_say_the_same(smoothing):
    made = corpus(2)
    settings = SpectralSettings(3, smoothing=smoothing, **TEMPLATES)
    forests = estimate_spectral(made, dataclasses.replace(settings, forests=True))
    listed = estimate_spectral(enumerated(made), settings)
    for a, b in zip(forests.tensors, listed.tensors, strict=True):
        assert np.allclose(a, b, rtol=0, atol=1e-8)
    trees = estimate_spectral(made, settings)
    assert not np.allclose(trees.about["singular values"], forests.about["singular values"], rtol=1e-3)


def test_a_tree_twice_has_twice_the_weight():
    """Smoothing too, whose trust in a rule goes by its tokens."""
    once = derive(*aligned(30, 3))
    twice = derive(*([*column, *column] for column in aligned(30, 3)))
    settings = SpectralSettings(2, smoothing=2.0, max_targets=3)
    heavy = estimate_spectral(dataclasses.replace(once, weight=np.full(len(once), 2.0)), settings)
    plain = estimate_spectral(twice, settings)
    for a, b in zip(heavy.tensors, plain.tensors, strict=True):
        assert np.allclose(a, b, rtol=1e-9, atol=1e-12)


def single_trees():
    """Pairs of one derivation each: words without links, a word that two are linked to, a rule of four nonterminals."""
    src, tgt, links = [], [], []
    rng = np.random.default_rng(4)
    for f, e, link in [
        ("a b", "p q", "0-0 1-1"),
        ("b c a", "q r p", "0-0 2-2"),
        ("a b c d", "q s p r", "0-2 1-0 2-3 3-1"),
        ("c a", "p r", "0-1 1-0"),
        ("d a c", "s p p", "0-0 0-1 1-2"),
        ("b", "q q", "0-0"),
    ] * 6:
        other = dict(zip("abcd", rng.permutation(list("abcd")), strict=True))
        src.append(" ".join(other[word] for word in f.split()))
        tgt.append(e)
        links.append(link)
    return derive(src, tgt, links, forests=True)


@pytest.mark.parametrize("smoothing", [0.0, 3.0])
def test_forests_of_one_tree_are_trees(tmp_path, smoothing):
    made = single_trees()
    assert len(made.forests.rule) == len(made.rule)
    settings = SpectralSettings(4, smoothing=smoothing, **TEMPLATES)
    for forests in (True, False):
        MethodOfMoments().estimate(made, dataclasses.replace(settings, forests=forests)).save(tmp_path / str(forests))
    found = [tensors.load(tmp_path / name, "model")[0] for name in ("True", "False")]
    assert found[0].keys() == found[1].keys()
    assert all(found[0][name].tobytes() == found[1][name].tobytes() for name in found[0])
    assert Parameters.load(tmp_path / "True").about["forests"] is True


def test_threads_change_no_byte(tmp_path):
    made = corpus(5, 60)
    for threads in (1, 3):
        MethodOfMoments().estimate(made, SpectralSettings(4, forests=True), threads).save(tmp_path / str(threads))
    assert (tmp_path / "1").read_bytes() == (tmp_path / "3").read_bytes()


def test_thresholds_are_expected_examples():
    known, seen = Occurrences.of_forests(corpus(6))
    every = extract_features(known, ("children",), True, None, 1, seen)
    expected = seen.node_weight[seen.is_example] @ every.matrix[seen.is_example].toarray()
    assert ((expected > 0) & (expected < 1)).any()
    kept = extract_features(known, ("children",), True, None, 2, seen).matrix.toarray()
    assert np.array_equal(kept, every.matrix.toarray()[:, expected >= 2 - 1e-9])
    with pytest.raises(InputError, match="no inside feature occurs 1000 times"):
        extract_features(known, ("children",), True, None, 1000, seen)


def test_values_of_rules_have_the_mean_of_their_squares(tmp_path):
    made = corpus(7)
    rules = made.forests.rules
    lines = (f"{rules.text(r).removeprefix('[X] ||| ')} ||| {r % 7 - 3} {r % 5}" for r in range(len(rules)))
    (tmp_path / "v").write_text("".join(f"{line}\n" for line in lines))
    settings = SpectralSettings(3, ("rule", "real"), ("parent", "real"), rule_values=tmp_path / "v")
    forests = embed(*_over_forests(made, settings))
    listed = enumerated(made)
    assert np.allclose(forests.sigma, embed(Examples.of(listed), settings).sigma)


def _over_forests(made, settings):
    examples, seen = Occurrences.of_forests(made)
    return examples, settings, 1, seen


def test_forests_must_be_there(tmp_path, capsys):
    derive(*aligned(10, 11)).save(tmp_path / "d")
    assert (
        main(
            ["estimate", "spectral", str(tmp_path / "d"), "-m", "2", "--set", "forests=true", "-o", str(tmp_path / "m")]
        )
        == 1
    )
    assert "create them with lscfg derive --forests" in capsys.readouterr().err


def by_span(span, m):
    """A state for each node, which its span decides, int64 [nodes]."""
    return span.astype(np.int64) @ np.array([1, 3, 5, 7]) % m


def test_counts_of_hard_states_are_those_of_all_derivations():
    """EM begins with them: a node has a state, whatever derivation it is in."""
    made, m = corpus(8), 3
    listed = enumerated(made)
    forests = EMRun(made, EMSettings(m, forests=True), beginning=lambda *_: by_span(made.forests.span, m))
    trees = EMRun(listed, EMSettings(m), beginning=lambda *_: by_span(listed.span, m))
    one, other = forests.begin(0), trees.begin(0)
    assert np.allclose(one.root, other.root) and np.allclose(one.scale, other.scale)
    for k in range(3):
        rows = [run.tying.row[run.examples.rules.arity == k] for run in (forests, trees)]
        assert np.allclose(one.tensors[k][rows[0]], other.tensors[k][rows[1]], rtol=0, atol=1e-7)


def test_clusters_of_forests_of_one_tree_are_those_of_trees():
    made = single_trees()
    examples, seen = Occurrences.of_forests(made)
    training = seen.is_example
    assert (cluster_states(examples, training, 4, 1, seen) == cluster_states(Examples.of(made), training, 4, 1)).all()
    assert (made.forests.span[seen.place] == made.span).all()


def test_centres_are_weighted_means():
    rng = np.random.default_rng(9)
    points, weight = rng.random((60, 3)).astype(np.float32), rng.random(60)
    centres = k_means(points, 4, rng, weight)
    cluster, _ = nearest(points, centres)
    means = [np.average(points[cluster == k], axis=0, weights=weight[cluster == k]) for k in range(4)]
    assert np.allclose(centres, means, atol=1e-6)


@pytest.mark.parametrize("held_out", [0.0, 0.2])
def test_clusters_over_forests_are_a_better_beginning_than_random_numbers(held_out):
    made, settings = corpus(10, 80), {"forests": True, "held_out": held_out}
    (clusters,) = SpectralClusters().estimate(made, ClusterSettings(3, 5, **settings)).about["log-likelihood a rule"]
    (drawn,) = ExpectationMaximisation().estimate(made, EMSettings(3, 5, **settings)).about["log-likelihood a rule"]
    assert clusters[0] > drawn[0]
