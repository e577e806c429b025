"""Estimates from derivations with several categories."""

import numpy as np
import pytest
from categories import in_blocks, known_grammar, with_true_categories
from estimates import estimate_iterated, estimate_mle, estimate_spectral
from simulate import sample, tree_values

from lscfg.errors import InputError
from lscfg.estimate.clusters import ClusterSettings
from lscfg.estimate.em import EMRun, EMSettings
from lscfg.estimate.estimator import ESTIMATORS
from lscfg.estimate.features_em import FeatureEMSettings
from lscfg.estimate.spectral import SpectralSettings
from lscfg.extract.derive import derive
from lscfg.kernel.expectation import Weights

RANKS = (2, 3, 2)


@pytest.fixture(scope="module")
def known():
    return known_grammar(RANKS, 1)


@pytest.fixture(scope="module")
def trees(known):
    return with_true_categories(sample(in_blocks(known, RANKS), 400, 1), known)


def ranks_of(parameters):
    by_name = parameters.about["states by category"]
    return tuple(by_name[name] for name in parameters.rules.categories)


def test_moments_recover_three_categories(known):
    """Errors of tree probabilities fall as the sample grows, at the true ranks; with one state they stay."""
    model = in_blocks(known, RANKS)
    test = sample(model, 300, 99)
    true, errors = tree_values(model, test), {}
    for size in (1000, 16000):
        labelled = with_true_categories(sample(model, size, 2), known)
        for m in (1, 3):
            found = estimate_spectral(labelled, SpectralSettings(m=m))
            values = tree_values(in_blocks(found, ranks_of(found)), test)
            errors[size, m] = np.abs(values / true - 1).mean()
    assert ranks_of(found) == tuple(min(m, 3) for m in ranks_of(found))
    assert errors[16000, 3] < 0.5 * errors[1000, 3]
    assert errors[16000, 3] < 0.5 * errors[16000, 1]
    assert errors[16000, 1] > 0.7 * errors[1000, 1]


def test_moments_divide_by_the_tokens_of_the_category(trees):
    """The frequencies of one state are relative to the tokens of a category."""
    found = estimate_spectral(trees, SpectralSettings(m=1))
    counts = np.array([trees.counts[k] for k in np.argsort(trees.rules.arity, kind="stable")])
    totals = np.bincount(found.rules.category, counts)
    np.testing.assert_allclose(found.one.rules, counts / totals[found.rules.category], rtol=1e-12)
    roots = np.bincount(trees.category[trees.trees[:-1]], minlength=3)
    np.testing.assert_allclose(found.one.root, roots / roots.sum(), rtol=1e-12)
    assert np.isclose(estimate_mle(trees).root.sum(), 1)


def weights_in_blocks(run, other):
    """The weights of a run, and those of a run without categories, whose states are those of all categories."""
    m, n, start = run.settings.m, run.categories, run.begin(0)
    tables = run.examples.rules, other.examples.rules
    texts = [tables[1].text(k) for k in range(len(tables[1]))]
    blind = tables[0].without_categories()
    tensors = [np.zeros((rows, *[n * m] * (k + 1))) for k, rows in enumerate(other.tying.rows)]
    for rule in range(len(blind)):
        arity, place = int(blind.arity[rule]), texts.index(blind.text(rule))
        states = [int(tables[0].category[rule]), *(int(c) for c in tables[0].below[rule] if c >= 0)]
        blocks = tuple(slice(c * m, c * m + m) for c in states)
        tensors[arity][other.tying.row[place]][blocks] = start.tensors[arity][run.tying.row[rule]]
    root = start.root.reshape(n, 2, m).swapaxes(0, 1).reshape(2, n * m)
    return start, Weights(tensors, np.ones(n * m), np.ascontiguousarray(root))


def test_iterations_equal_those_of_one_category_with_blocks_of_states(trees):
    settings = {"shrink_source": 0, "shrink_arity": 0, "iterations": 3}
    run = EMRun(trees, EMSettings(m=2, **settings))
    other = EMRun(trees.without_categories(), EMSettings(m=6, **settings))
    ours, theirs = weights_in_blocks(run, other)
    likelihoods = []
    for _ in range(4):
        assert run.train.infer(ours) == other.train.infer(theirs) == 0
        likelihoods.append(run.train.total())
        assert run.train.total() == pytest.approx(other.train.total(), rel=1e-12)
        run.step(ours, run.train, run.tying)
        other.step(theirs, other.train, other.tying)
    assert likelihoods == sorted(likelihoods)
    np.testing.assert_allclose(
        ours.root.reshape(3, 2, 2).swapaxes(0, 1).reshape(2, 6)[0], theirs.root[0], rtol=1e-12, atol=1e-14
    )


@pytest.mark.parametrize(
    "settings",
    [
        EMSettings(m=3, iterations=3),
        EMSettings(m=3, iterations=3, normalise="arity"),
        ClusterSettings(m=3, iterations=2),
    ],
)
def test_parameters_of_each_state_are_distributions(trees, settings):
    found = estimate_iterated(trees, settings)
    mass = np.zeros((3, 3))
    for rule in range(len(found.rules)):
        mass[found.rules.lhs[rule]] += found.tensor(rule).reshape(3, -1).sum(axis=1)
    wanted = 3 if getattr(settings, "normalise", "") == "arity" else 1
    assert np.isclose(mass, wanted).sum() >= 6  # a cluster may be empty
    assert ((mass == 0) | np.isclose(mass, wanted)).all()
    assert np.isclose(found.root.sum(), 1)
    assert (found.unk.sum(axis=1) > 0).all()
    assert (estimate_iterated(trees, settings, 2).tensors[2] == found.tensors[2]).all()  # threads


ESTIMATES = [
    lambda trees: estimate_mle(trees),
    lambda trees: estimate_spectral(trees, SpectralSettings(m=2)),
    lambda trees: estimate_spectral(trees, SpectralSettings(m=2, forests=True)),
    lambda trees: estimate_iterated(trees, EMSettings(m=2, iterations=3)),
    lambda trees: estimate_iterated(
        trees, EMSettings(m=2, iterations=3, shrink_source=0, shrink_arity=0, forests=True)
    ),
    lambda trees: estimate_iterated(trees, ClusterSettings(m=2, iterations=2)),
    lambda trees: ESTIMATORS["em-features"].estimate(trees, FeatureEMSettings(m=2, iterations=2)).parameters(),
]


@pytest.mark.parametrize("estimate", ESTIMATES)
def test_all_nodes_of_one_category_equal_all_nodes_of_x(estimate):
    source = ["a b c", "b a", "a c b", "c b", "a b", "c a b"] * 3
    plain = derive(
        source,
        [line.upper() for line in source],
        ["0-0 1-1 2-2"[: 2 * line.count(" ") * 2 + 3] for line in source],
        forests=True,
    )
    nodes, of_forests = len(plain.rule), len(plain.forests.span)
    labelled = plain.with_categories(("Y",), np.zeros(nodes, np.int32), np.zeros(of_forests, np.int32))
    one, other = estimate(plain), estimate(labelled)
    for x, y in zip(one.tensors, other.tensors, strict=True):
        np.testing.assert_allclose(y, x, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(other.root[0], one.root, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(other.unk[0], one.unk, rtol=1e-9, atol=1e-12)


def test_names_and_order_of_categories_are_irrelevant(trees):
    order = np.array([2, 0, 1], np.int32)
    renamed = trees.with_categories(("P", "Q", "R"), order[trees.category])
    one, other = (estimate_spectral(found, SpectralSettings(m=2)) for found in (trees, renamed))
    texts = {other.rules.without_categories().text(k): k for k in range(len(other.rules))}
    blind = one.rules.without_categories()
    for rule in range(len(blind)):
        np.testing.assert_allclose(one.tensor(rule), other.tensor(texts[blind.text(rule)]), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(one.root, other.root[order], rtol=1e-9, atol=1e-12)


def test_settings_without_a_meaning_for_several_categories_are_refused(trees):
    with pytest.raises(InputError, match="smoothing needs derivations of one category"):
        estimate_spectral(trees, SpectralSettings(m=2, smoothing=1))
    with pytest.raises(InputError, match="init = 'split' needs derivations of one category"):
        estimate_iterated(trees, EMSettings(m=2, init="split"))
