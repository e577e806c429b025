"""Canonical correlation analysis against generalised eigenvalues, QR, and singular values of small views."""

import numpy as np
import pytest
from scipy import linalg, sparse

from lscfg.context.correlation import correlate
from lscfg.errors import InputError


def views(seed, n=80, d=6, other=5, shared=2):
    """Two views that share some directions."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(n, shared))
    x = common @ rng.normal(size=(shared, d)) + rng.normal(size=(n, d))
    y = common @ rng.normal(size=(shared, other)) + rng.normal(size=(n, other))
    return sparse.csr_matrix(x), sparse.csr_matrix(y)


def same_space(a, b):
    return linalg.subspace_angles(a, b).max() < 1e-7


@pytest.mark.parametrize("gamma", [0.0, 3.0])
def test_exact_is_the_generalised_eigenvalue_problem(gamma):
    x, y = views(1)
    found = correlate(x, y, 5, "full", gamma)
    xx = (x.T @ x).toarray() + gamma * np.eye(6)
    yy = (y.T @ y).toarray() + gamma * np.eye(5)
    xy = (x.T @ y).toarray()
    zeros = np.zeros((6, 6)), np.zeros((5, 5))
    values, vectors = linalg.eigh(np.block([[zeros[0], xy], [xy.T, zeros[1]]]), linalg.block_diag(xx, yy))
    order = np.argsort(-values)[:5]
    assert found.sigma == pytest.approx(values[order], abs=1e-10)
    assert same_space(found.left[:, :3], vectors[:6, order[:3]])
    assert found.left.T @ xx @ found.left == pytest.approx(np.eye(5), abs=1e-9)
    assert found.right.T @ yy @ found.right == pytest.approx(np.eye(5), abs=1e-9)
    assert found.left.T @ xy @ found.right == pytest.approx(np.diag(found.sigma), abs=1e-9)
    if not gamma:  # Björck & Golub (1973)
        cosines = np.linalg.svd(np.linalg.qr(x.toarray())[0].T @ np.linalg.qr(y.toarray())[0])[1]
        assert found.sigma == pytest.approx(cosines[:5], abs=1e-10)
        assert found.sigma[0] > 0.5 > found.sigma[-1]


def test_correlations_do_not_depend_on_the_basis_of_a_view():
    x, y = views(2)
    turned = sparse.csr_matrix(x @ np.random.default_rng(0).normal(size=(6, 6)))
    assert correlate(x, y, 4, "full", 0).sigma == pytest.approx(correlate(turned, y, 4, "full", 0).sigma, abs=1e-9)


@pytest.mark.parametrize(("gamma", "relative"), [(0.5, False), (0.1, True)])
def test_random_projections_of_full_width_are_exact(gamma, relative):
    x, y = views(3, d=5)  # of as many items, in whose space both views' directions lie
    centred = [sparse.csr_matrix(view.toarray() - view.toarray().mean(axis=0)) for view in (x, y)]
    found = correlate(x, y, 4, "rand", gamma, relative, oversampling=10)
    ridges = [gamma * (view.toarray() ** 2).sum() / view.shape[1] if relative else gamma for view in (x, y)]
    whole = [
        np.linalg.cholesky((v.T @ v).toarray() + r * np.eye(v.shape[1])) for v, r in zip(centred, ridges, strict=True)
    ]
    cross = linalg.solve_triangular(whole[0], (centred[0].T @ centred[1]).toarray(), lower=True)
    expected = np.linalg.svd(linalg.solve_triangular(whole[1], cross.T, lower=True))[1]
    assert found.sigma == pytest.approx(expected[:4], abs=1e-6)
    gram = (centred[0].T @ centred[0]).toarray() + ridges[0] * np.eye(5)
    assert found.left.T @ gram @ found.left == pytest.approx(np.eye(4), abs=1e-6)


def test_diagonal_is_exact_where_items_are_orthogonal():
    rng = np.random.default_rng(4)
    x, y = (sparse.csr_matrix(np.eye(d)[rng.integers(d, size=200)]) for d in (7, 6))
    diagonal, exact = (correlate(x, y, 4, whiten, 2.0) for whiten in ("diag", "full"))
    assert diagonal.sigma == pytest.approx(exact.sigma, abs=1e-9) and same_space(diagonal.left, exact.left)


def test_identity_and_mutual_information_are_singular_values():
    x, y = (abs(view) for view in views(5))
    sigma = np.linalg.svd((x.T @ y).toarray())[1]
    assert correlate(x, y, 3, "identity").sigma == pytest.approx(sigma[:3])
    rng = np.random.default_rng(6)
    x, y = (sparse.csr_matrix((rng.random((300, d)) < 0.2).astype(float)) for d in (6, 5))
    counts = (x.T @ y).toarray()
    rows, columns = np.asarray(x.sum(axis=0)).ravel() + 1, np.asarray(y.sum(axis=0)).ravel() + 1
    information = np.maximum(np.log(300 * counts / np.outer(rows, columns)) - np.log(1.1), 0)
    assert correlate(x, y, 3, "ppmi", 1.1).sigma == pytest.approx(np.linalg.svd(information)[1][:3])


@pytest.mark.parametrize("whiten", ["diag", "identity", "full", "rand"])
def test_the_largest_entry_of_a_direction_is_positive(whiten):
    x, y = views(7)
    found = correlate(x, y, 4, whiten)
    again = correlate(x, y, 4, whiten)
    assert (found.left[np.abs(found.left).argmax(axis=0), np.arange(4)] > 0).all()
    assert np.array_equal(found.left, again.left) and np.array_equal(found.right, again.right)


def test_bad_input():
    x, y = views(8)
    with pytest.raises(InputError, match="6 dimensions for views of 6 and 5 items; at most 5 are possible"):
        correlate(x, y, 6)
    with pytest.raises(InputError, match="ppmi subtracts the logarithm of gamma; give a gamma above 0"):
        correlate(x, y, 3, "ppmi", 0.0)
    twice = sparse.csr_matrix(np.repeat(x.toarray()[:, :1], 6, axis=1))
    with pytest.raises(InputError, match="covariance of the left view is singular at pivot 2; give a gamma above 0"):
        correlate(twice, y, 2, "full", 0.0)
