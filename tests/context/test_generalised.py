"""Generalised correlation of several views against dense matrices of all rows."""

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import subspace_angles

from lscfg.context.correlation import correlate, correlate_all
from lscfg.context.generalised import generalised_directions
from lscfg.errors import InputError


def random_views(*sizes, rows=60, seed=3):
    rng = np.random.default_rng(seed)
    return [sparse.random(rows, size, 0.3, "csr", rng=rng) for size in sizes]


def closed_form(views, k, gammas, weights):
    """Eigenvectors of the matrix of all rows."""
    total = np.zeros((views[0].shape[0],) * 2)
    for view, gamma, weight in zip(views, gammas, weights, strict=True):
        x = view.toarray()
        total += weight * x @ np.linalg.solve(x.T @ x + gamma * np.eye(x.shape[1]), x.T)
    values, vectors = np.linalg.eigh(total)
    return values[::-1][:k], vectors[:, ::-1][:, :k]


@pytest.mark.parametrize(("gammas", "weights"), [([2.0, 2.0, 2.0], [1, 1, 1]), ([0.1, 3.0, 0.7], [1, 2, 0.5])])
def test_coordinates_are_the_leading_eigenvectors(gammas, weights):
    views = random_views(7, 9, 5)
    found, values = generalised_directions(views, 4, gammas, weights)
    expected, vectors = closed_form(views, 4, gammas, weights)
    coordinates = sum(view @ directions for view, directions in zip(views, found, strict=True))
    assert values == pytest.approx(expected, abs=1e-8)
    assert coordinates.T @ coordinates == pytest.approx(np.eye(4), abs=1e-8)
    assert np.abs((coordinates * vectors).sum(axis=0)) == pytest.approx(np.ones(4), abs=1e-8)


def test_a_view_without_some_rows_counts_in_the_others_only():
    views = random_views(6, 6, 4)
    views[2] = sparse.vstack([views[2][:20], sparse.csr_matrix((40, 4))]).tocsr()
    found, _ = generalised_directions(views, 3, [1.0] * 3)
    coordinates = sum(view @ directions for view, directions in zip(views, found, strict=True))
    assert coordinates.T @ coordinates == pytest.approx(np.eye(3), abs=1e-8)


def test_two_views_without_regularisation_have_the_directions_of_cca():
    x, y = random_views(6, 8, rows=200)
    (left, right), values = generalised_directions([x, y], 3, [0.0, 0.0])
    exact = correlate(x, y, 3, "full", gamma=0.0)
    assert subspace_angles(left, exact.left).max() < 1e-6 and subspace_angles(right, exact.right).max() < 1e-6
    assert values == pytest.approx(1 + exact.sigma, abs=1e-8)


def test_the_order_of_views_changes_no_coordinate():
    views = random_views(6, 8, 5)
    one, values = generalised_directions(views, 4, [1.0, 2.0, 3.0])
    other, again = generalised_directions(views[::-1], 4, [3.0, 2.0, 1.0])
    assert values == pytest.approx(again)
    for ours, theirs in zip(one, other[::-1], strict=True):
        assert np.abs(ours) == pytest.approx(np.abs(theirs), abs=1e-8)


def test_a_view_that_is_there_twice_has_double_weight():
    x, y = random_views(6, 8)
    twice, values = generalised_directions([x, x, y], 4, [1.0] * 3)
    once, again = generalised_directions([x, y], 4, [1.0] * 2, [2.0, 1.0])
    assert values == pytest.approx(again)
    assert np.abs(twice[0] + twice[1]) == pytest.approx(np.abs(once[0]), abs=1e-8)
    assert np.abs(twice[2]) == pytest.approx(np.abs(once[1]), abs=1e-8)


def test_too_many_dimensions_are_refused():
    with pytest.raises(InputError, match="20 dimensions, but the views have only 14 directions"):
        generalised_directions(random_views(6, 8), 20, [1.0, 1.0])


def test_the_basis_sums_all_views_into_the_same_coordinates():
    views = random_views(6, 8, 5)
    found = correlate_all(views, 3, gamma=1.0)
    both = sparse.hstack(views).tocsr() @ found.basis()
    assert found.basis().shape == (19, 3) and both.T @ both == pytest.approx(np.eye(3), abs=1e-8)
    relative = correlate_all(views[:2], 3, gamma=1.0, relative=True)
    assert relative.basis().shape == (14, 3) and not len(relative.gaps)
    assert correlate(*views[:2], 3).basis().shape == (14, 6)
