"""The k nearest neighbours against a dense product of all rows."""

import re

import numpy as np
import pytest
from scipy import sparse
from seeds import seeds

from lscfg.errors import InputError
from lscfg.induce.propagated.approximate import SAMPLE, nearly_nearest_dense_rows
from lscfg.induce.propagated.contexts import unit_rows
from lscfg.induce.propagated.neighbours import nearest_dense_rows, nearest_rows, symmetric, transitions
from lscfg.kernel.induce import Vectors


def random_rows(seed):
    random = np.random.default_rng(seed)
    shape = random.integers(1, 40), random.integers(3, 30)
    rows = np.where(random.random(shape) < 0.3, random.normal(0.5, 1, shape), 0)
    if len(rows) > 3:
        rows[1], rows[2] = rows[0], 0  # one twice, an empty one
    return unit_rows(sparse.csr_matrix(rows)), random


def brute_force(matrix, k, apart):
    rows = matrix.toarray().astype(np.float32).astype(float)
    others = rows.copy()
    others[:, apart] = 0
    shared = (others != 0).astype(int) @ (others != 0).T.astype(int) > 0
    product = np.where(shared, rows @ rows.T, 0)
    np.fill_diagonal(product, 0)
    return [np.sort(row[row > 1e-7])[::-1][:k] for row in product], product


@seeds(100)
def test_neighbours_are_those_of_brute_force(seed):
    matrix, random = random_rows(seed)
    k, q = int(random.integers(1, 50)), int(random.integers(0, matrix.shape[1]))
    apart = random.choice(matrix.shape[1], q, replace=False)
    graph = nearest_rows(matrix, k, apart)
    expected, product = brute_force(matrix, k, apart)
    for row in range(len(expected)):
        which, similarity = graph[row].indices, graph[row].data
        kept = similarity > 1e-6  # rounding decides about those near 0
        assert np.sort(similarity[kept])[::-1] == pytest.approx(expected[row][expected[row] > 1e-6], abs=1e-6)
        assert similarity == pytest.approx(product[row][which], abs=1e-6)
        assert row not in which


def test_threads_change_no_byte():
    random = np.random.default_rng(5)
    matrix = unit_rows(sparse.random(700, 90, 0.05, "csr", random_state=random))
    one, two, seven = (nearest_rows(matrix, 9, np.arange(5), threads) for threads in (1, 2, 7))
    for other in (two, seven):
        for part in ("indptr", "indices", "data"):
            assert getattr(one, part).tobytes() == getattr(other, part).tobytes()


def test_of_equally_similar_rows_the_first_ones_stay():
    matrix = unit_rows(sparse.csr_matrix(np.ones((6, 2))))
    assert nearest_rows(matrix, 2, np.zeros(0, int))[5].indices.tolist() == [0, 1]


def test_edges_of_both_directions_and_their_shares():
    graph = sparse.csr_matrix(np.array([[0, 0.8, 0.2], [0, 0, 0.5], [0, 0, 0]]))
    both = symmetric(graph).toarray()
    assert both == pytest.approx(np.array([[0, 0.4, 0.1], [0.4, 0, 0.25], [0.1, 0.25, 0]]))
    assert transitions(graph).toarray() == pytest.approx(np.array([[0, 0.8, 0.2], [0, 0, 1], [0, 0, 0]]))


def test_damaged_matrices_are_refused():
    good = (np.array([0, 1]), np.array([0]), np.array([1.0]))
    with pytest.raises(ValueError, match="no sparse matrix"):
        Vectors((np.array([0, 1]), np.array([7]), np.array([1.0])), good, np.zeros((1, 0)))
    with pytest.raises(ValueError, match="no sparse matrix"):
        Vectors((np.array([0, 2]), np.array([0]), np.array([1.0])), good, np.zeros((1, 0)))
    with pytest.raises(ValueError, match="dense rows"):
        Vectors(good, good, np.zeros((2, 0)))


def dense_unit_rows(size, dimensions=20):
    rows = np.random.default_rng(size).normal(size=(size, dimensions)).astype(np.float32)
    rows[size // 2] = 0
    return rows / np.maximum(np.linalg.norm(rows, axis=1), 1e-9)[:, None]


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize("size", [4, 40, 3000])
def test_approximate_neighbours_are_nearly_those_of_an_exact_search(size, capsys):
    rows, k = dense_unit_rows(size), 25
    exact, found = nearest_dense_rows(rows, k), nearly_nearest_dense_rows(rows, k)
    assert (np.diff(found.indptr) == np.minimum(np.diff(exact.indptr), k)).all() and not found.diagonal().any()
    product = rows @ rows.T
    assert found.toarray()[found.nonzero()] == pytest.approx(product[found.nonzero()], abs=1e-5)
    recall = exact.multiply(found > 0).nnz / exact.nnz
    assert recall >= 0.99
    told = float(re.search(r"approximate neighbours: ([\d.]+) of the true ones", capsys.readouterr().err)[1])
    assert told == pytest.approx(recall, abs=0.0006 if size <= SAMPLE else 0.02)


def test_rows_without_a_direction_have_no_approximate_neighbours():
    rows = np.concatenate([np.zeros((3, 4)), np.eye(4)]).astype(np.float32)
    assert nearly_nearest_dense_rows(rows, 2).nnz == 0
    assert nearly_nearest_dense_rows(rows[:3], 2).shape == (3, 3)


def test_threads_change_no_approximate_neighbour():
    rows = dense_unit_rows(2500)
    one, three = (nearly_nearest_dense_rows(rows, 9, threads) for threads in (1, 3))
    for part in ("indptr", "indices", "data"):
        assert getattr(one, part).tobytes() == getattr(three, part).tobytes()


def test_approximate_neighbours_name_what_they_need(monkeypatch):
    monkeypatch.setattr("lscfg.extras.find_spec", lambda module: None)
    with pytest.raises(InputError, match=r"this needs faiss: pip install 'lscfg\[graph\]'"):
        nearly_nearest_dense_rows(np.eye(3, dtype=np.float32), 1)
