"""Truncated singular value decompositions against NumPy's of the dense matrix."""

import numpy as np
import pytest
from scipy import sparse

from lscfg.estimate.svd import SVD, normalised_rows, randomized_svd, truncated_svd


def test_svd_signs_and_order():
    rng = np.random.default_rng(1)
    for size in (30, 600):
        matrix = sparse.csr_matrix(rng.normal(size=(size, 5)) @ rng.normal(size=(5, size)))
        u, sigma, v = truncated_svd(matrix, 4, 1)
        assert (np.diff(sigma) <= 0).all()
        assert (u[np.abs(u).argmax(axis=0), np.arange(4)] > 0).all()
        exact = np.linalg.svd(matrix.toarray(), compute_uv=False)[:4]
        assert np.allclose(sigma, exact)
        assert np.allclose(matrix @ v, u * sigma)


@pytest.mark.usefixtures("terminal")
def test_direction_of_noise_is_dropped(capsys):
    u, sigma, _ = truncated_svd(sparse.csr_matrix(np.outer([1.0, 2, 3], [1, 1, 0])), 2, 1)
    assert u.shape == (3, 1) and len(sigma) == 1
    assert "only 1 of 2 singular values" in capsys.readouterr().err


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize("method", SVD)
@pytest.mark.parametrize("shape", [(700, 500), (500, 700)])
def test_directions_of_noise_are_dropped_from_large_matrices(capsys, method, shape):
    rng = np.random.default_rng(4)
    left, right = (sparse.random(n, 5, 0.2, "csr", random_state=rng) for n in shape)
    matrix = (left @ right.T).tocsr()
    u, sigma, v = truncated_svd(matrix, 9, 1, method)
    assert u.shape == (shape[0], 5) and v.shape == (shape[1], 5)
    assert np.allclose(sigma, np.linalg.svd(matrix.toarray(), compute_uv=False)[:5])
    assert np.allclose((u * sigma) @ v.T, matrix.toarray()) and np.allclose(v.T @ v, np.eye(5))
    assert "only 5 of 9 singular values" in capsys.readouterr().err


@pytest.mark.parametrize("method", SVD)
def test_svd_of_large_matrices(method):
    rng = np.random.default_rng(2)
    matrix = sparse.random(900, 700, 0.02, "csr", random_state=rng) + 5 * sparse.csr_matrix(
        np.outer(rng.normal(size=900), rng.normal(size=700)) / 100
    )
    exact = np.linalg.svd(matrix.toarray(), compute_uv=False)[:3]
    u, sigma, v = truncated_svd(matrix.tocsr(), 3, 1, method)
    again = truncated_svd(matrix.tocsr(), 3, 1, method)
    assert np.allclose(sigma, exact, rtol=1e-10 if method == "arpack" else 1e-3)
    assert np.array_equal(u, again[0]) and np.array_equal(v, again[2])
    assert (u[np.abs(u).argmax(axis=0), np.arange(3)] > 0).all()


def test_randomized_svd_finds_the_singular_vectors():
    """Few iterations, as the clusters take them; the signs are free."""
    rng = np.random.default_rng(1)
    left, _ = np.linalg.qr(rng.normal(size=(40, 6)))
    right, _ = np.linalg.qr(rng.normal(size=(30, 6)))
    sigma = np.array([9.0, 7, 5, 3, 2, 1])
    u, found, vt = randomized_svd(sparse.csr_matrix(left * sigma @ right.T), 4, 1, oversampling=5, iterations=3)
    assert np.allclose(found, sigma[:4])
    assert np.allclose(np.abs(np.einsum("nk,nk->k", u, left[:, :4])), 1)
    assert np.allclose(np.abs(np.einsum("kn,nk->k", vt, right[:, :4])), 1)


@pytest.mark.parametrize("shape", [(60, 25), (25, 60), (12, 12)])
@pytest.mark.parametrize("rank", [1, 9, 30])
def test_randomized_svd_of_full_width_is_exact(shape, rank):
    """A sample as wide as the matrix spans all of its range, without a single iteration."""
    matrix = sparse.random(*shape, 0.4, "csr", random_state=np.random.default_rng(3))
    u, sigma, vt = randomized_svd(matrix, rank, 1, oversampling=60, iterations=0)
    exact = np.linalg.svd(matrix.toarray(), full_matrices=False)
    kept = min(rank, *shape)
    assert u.shape == (shape[0], kept) and sigma.shape == (kept,) and vt.shape == (kept, shape[1])
    assert np.allclose(sigma, exact[1][:kept], rtol=1e-12, atol=1e-13)
    best = (exact[0][:, :kept] * exact[1][:kept]) @ exact[2][:kept]
    assert np.allclose((u * sigma) @ vt, best, atol=1e-12)


def test_iterations_bring_the_flat_part_of_the_spectrum_nearer():
    """And the sample never finds more than there is."""
    rng = np.random.default_rng(5)
    matrix = sparse.csr_matrix(rng.normal(size=(200, 150)))
    exact = np.linalg.svd(matrix.toarray(), compute_uv=False)[:10]
    errors = []
    for iterations in (0, 2, 8, 40):
        _, sigma, _ = randomized_svd(matrix, 10, 1, oversampling=10, iterations=iterations)
        assert (sigma <= exact * (1 + 1e-12)).all()
        errors.append(float((1 - sigma / exact).max()))
    assert errors == sorted(errors, reverse=True) and errors[-1] < 1e-3 < errors[0]


@pytest.mark.parametrize("size", [1e-300, 1.0, 1e300])
def test_rows_of_any_size_get_length_1(size):
    rows = normalised_rows(np.array([[3.0, -4.0], [0.0, 0.0]]) * size)
    assert np.allclose(rows, [[0.6, -0.8], [0, 0]])
