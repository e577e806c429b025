"""Pivots: corners and shares of known mixtures, the concave problem against other starts, the command."""

import sys
from importlib import import_module
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from trees import corpus

from lscfg.errors import InputError
from lscfg.model.parameters import Parameters

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "experiments"))
pivots = import_module("pivots")
sys.path.remove(str(ROOT / "experiments"))


def known_mixture(rng, m=3, insides=12, outsides=9):
    """p(state | inside), with a pivot of each state, and p(outside | state)."""
    shares = rng.dirichlet(np.full(m, 0.7), insides)
    shares[:m] = np.eye(m)
    return shares, rng.dirichlet(np.full(outsides, 0.4), m)


def error(found, known):
    """Largest difference for the best order of states."""
    m = known.shape[1]
    return min(np.abs(found[:, list(order)] - known).max() for order in permutations(range(m)))


def test_pivots_are_the_corners():
    rng = np.random.default_rng(1)
    for _ in range(20):
        shares, given = known_mixture(rng)
        assert sorted(pivots.find_corners(shares @ given, 3)) == [0, 1, 2]
        assert np.allclose(pivots.mixture_shares(shares @ given, given), shares, atol=1e-6)


def test_shares_converge_to_the_true_ones():
    rng = np.random.default_rng(2)
    shares, given = known_mixture(rng)
    sizes = rng.dirichlet(np.full(len(shares), 5.0))
    errors = []
    for nodes in (1_000, 16_000, 256_000):
        mean = []
        for _ in range(8):
            counts = rng.multinomial(nodes, (sizes[:, None] * (shares @ given)).ravel()).reshape(12, 9)
            together = sparse.csr_matrix(counts.astype(float))
            found, around = pivots.state_shares(together, 3, np.ones(12, bool), 1)
            assert np.allclose(found.sum(axis=1), 1)
            assert np.allclose(around.sum(axis=0), 1)
            mean.append(max(error(found, shares), error(around, given.T)))
        errors.append(np.mean(mean))
    assert errors[0] > 2 * errors[1] > 4 * errors[2]
    assert errors[2] < 0.02


def some_patterns(rng, m=3):
    return [
        pivots.Patterns(rng.integers(4, size=30), rng.integers(1, 9, 30).astype(float), rng.random((k + 1, 30, m)))
        for k in range(3)
    ]


def some_start(rng, m=3):
    tensors = [rng.random((4, *[m] * (k + 1))) for k in range(3)]
    return [tensor / sum(one.sum() for one in tensors) for tensor in tensors]


def test_expected_counts_are_those_of_all_states():
    rng = np.random.default_rng(3)
    patterns, tensors = some_patterns(rng)[2], some_start(rng)[2]
    wanted, likelihood = np.zeros_like(tensors), 0.0
    for k, row in enumerate(patterns.row):
        joint = np.einsum("abc,a,b,c->abc", tensors[row], *(factor[k] for factor in patterns.factors))
        wanted[row] += patterns.count[k] * joint / joint.sum()
        likelihood += patterns.count[k] * np.log(joint.sum())
    found, total = patterns.expected(tensors)
    assert np.allclose(found, wanted)
    assert total == pytest.approx(likelihood)


def test_every_start_ends_at_the_same_likelihood():
    rng = np.random.default_rng(4)
    patterns = some_patterns(rng)
    curves = [pivots.fit(patterns, some_start(rng), 3000)[1] for _ in range(4)]
    assert all((np.diff(curve) > -1e-9).all() for curve in curves)
    assert np.ptp([curve[-1] for curve in curves]) < 1e-3


def test_more_states_than_pivots_are_refused():
    for points in (np.eye(3), np.repeat(np.eye(3), 4, axis=0), np.zeros((0, 3))):
        with pytest.raises(InputError, match=f"only {min(len(points), 3)} pivots for 4 hidden states"):
            pivots.find_corners(points, 4)


def test_rare_values_share_a_class_by_arity():
    values = np.array([-2, 3, 3, 3, 3, 3, 3, 7, 8, 9])
    arity = np.array([-1, 2, 2, 2, 2, 2, 2, 0, 0, 1])
    number, own = pivots.classes(values, arity)
    groups = [{*np.flatnonzero(number == k).tolist()} for k in range(len(own))]
    assert sorted(groups, key=min) == [{0}, {1, 2, 3, 4, 5, 6}, {7, 8}, {9}]
    assert [groups[k] for k in np.flatnonzero(own)] == [{1, 2, 3, 4, 5, 6}]


def test_the_estimate_is_a_distribution_with_the_roots_of_the_trees():
    """Roots are S of one kind, which no other node is."""
    train = corpus(200)
    run = pivots.PivotRun(train, pivots.EMSettings(2, 0, shrink_source=0.0, shrink_arity=0.0), "pivots")
    weights = run.begin(0)
    sums = sum(tensor.sum(axis=(0, *range(2, tensor.ndim))) for tensor in weights.tensors)
    assert sums * weights.scale == pytest.approx(np.ones(2))
    assert weights.root.sum(axis=1) == pytest.approx(np.ones(2))
    run.train.infer(weights)
    assert run.train.root_counts()[0] / 200 == pytest.approx(weights.root[0], abs=0.2)


def test_trees_of_several_categories_are_refused():
    train = corpus(60)
    labelled = train.with_categories(("A", "B"), (train.parent < 0).astype(np.int32))
    with pytest.raises(InputError, match="one category"):
        pivots.PivotRun(labelled, pivots.EMSettings(2, 0), "pivots").begin(0)


def test_the_command_writes_a_model(tmp_path, monkeypatch):
    corpus(200).save(tmp_path / "train.deriv")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["pivots.py", "train.deriv", "-m", "2", "-o", "made.lscfg"])
    pivots.main()
    model = Parameters.load(tmp_path / "made.lscfg")
    assert model.root.shape == (2,)
    assert all((block >= 0).all() for block in model.tensors)
