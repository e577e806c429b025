"""Coordinates of graphs against random walks, and two cliques with a bridge."""

import numpy as np
import pytest
from scipy import sparse

from lscfg.induce.propagated import diffusion
from lscfg.induce.propagated.diffusion import along_graph, coordinates


def random_graph(nodes, seed):
    rng = np.random.default_rng(seed)
    weights = np.triu(rng.uniform(size=(nodes, nodes)) * (rng.random((nodes, nodes)) < 0.3), 1)
    weights += np.diag(np.full(nodes - 1, 0.1), 1)  # a path, so that all nodes are connected
    return weights + weights.T


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("time", [0, 1, 4])
def test_distances_are_those_of_distributions_after_some_steps(time, dense, monkeypatch):
    """Coifman & Lafon (2006): sum over u of (p_t(x, u) - p_t(y, u))^2 / d(u), by powers of the walk's matrix."""
    monkeypatch.setattr(diffusion, "DENSE", 100 if dense else 5)
    weights = random_graph(12, 3)
    degree = weights.sum(axis=1)
    walk = np.linalg.matrix_power(weights / degree[:, None], time) / np.sqrt(degree)
    placed = coordinates(sparse.csr_matrix(weights), 11, time)
    for x in range(12):
        for y in range(12):
            assert ((placed[x] - placed[y]) ** 2).sum() == pytest.approx(((walk[x] - walk[y]) ** 2).sum(), abs=1e-9)


def test_few_dimensions_are_the_leading_ones():
    graph = sparse.csr_matrix(random_graph(12, 5))
    whole, part = coordinates(graph, 11, 4), coordinates(graph, 3, 4)
    assert part.shape == (12, 3) and np.abs(part) == pytest.approx(np.abs(whole[:, :3]))


def test_a_bridge_between_two_cliques_loses_its_weight():
    weights = np.zeros((10, 10))
    weights[:5, :5] = weights[5:, 5:] = 1
    np.fill_diagonal(weights, 0)
    weights[4, 5] = weights[5, 4] = 1
    found = along_graph(sparse.csr_matrix(weights), 1, 0).toarray()
    assert found[4, 5] == found[5, 4] == 0
    assert found[:5, :5] == pytest.approx(weights[:5, :5]) and found[5:, 5:] == pytest.approx(weights[5:, 5:])
    assert (found == found.T).all()
    after = along_graph(sparse.csr_matrix(weights), 9, 4).toarray()
    assert after[4, 5] < 0.9 < after[0, 4], "of all directions, four steps leave little but the first"


def test_graphs_with_single_nodes_and_several_parts():
    weights = np.zeros((5, 5))
    weights[0, 1] = weights[1, 0] = weights[2, 3] = 0.5  # of the second pair only one direction
    found = along_graph(sparse.csr_matrix(weights), 1, 0)
    assert found.toarray()[0, 1] == pytest.approx(1) and found[2, 3] == pytest.approx(1) and found[3, 2] == 0
    assert found.shape == (5, 5) and not found[4].nnz
    assert coordinates(sparse.csr_matrix(weights + weights.T), 200, 0).shape == (5, 3)
    assert along_graph(sparse.csr_matrix((3, 3)), 5, 4).nnz == 0
