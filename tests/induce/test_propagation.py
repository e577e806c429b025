"""Propagation against closed forms and against triple loops over dictionaries."""

import numpy as np
import pytest
from scipy import sparse
from seeds import seeds

from lscfg.induce.propagated.neighbours import symmetric, transitions
from lscfg.induce.propagated.propagation import TOLERANCE, make_step, solve


def random_problem(seed, full=False):
    """Graph, lists, which rows are labelled, and similarities of targets with 1 on the diagonal."""
    random = np.random.default_rng(seed)
    n, targets = int(random.integers(3, 30)), int(random.integers(2, 12))
    graph = np.where(random.random((n, n)) < 0.4, random.random((n, n)), 0)
    np.fill_diagonal(graph, 0)
    labelled = random.random(n) < 0.4
    labelled[0], labelled[1] = True, False
    lists = np.where(random.random((n, targets)) < (1 if full else 0.5), random.random((n, targets)) + 0.01, 0)
    lists /= np.maximum(lists.sum(1, keepdims=True), 1e-300)
    similar = np.where(random.random((targets, targets)) < 0.5, random.random((targets, targets)), 0)
    np.fill_diagonal(similar, 1)
    return (
        transitions(symmetric(sparse.csr_matrix(graph))),
        sparse.csr_matrix(lists),
        labelled,
        sparse.csr_matrix(similar),
    )


def by_loops(walk, lists, labelled, similar, target, before):
    """One step of Eq. 5.5 over dictionaries, not normalised."""
    walk, similar = walk.toarray().tolist(), similar.toarray().tolist()
    rows = [dict(zip(lists[f].indices.tolist(), before[f].tolist(), strict=True)) for f in range(lists.shape[0])]
    after = []
    for f in np.flatnonzero(~labelled):
        for e in rows[f]:
            total = 0.0
            for j, step in enumerate(walk[f]):
                if not step:
                    continue
                whole = sum(similar[e][other] for other in (rows[j] if target == "list" else range(len(similar))))
                for other, probability in rows[j].items():
                    if whole:
                        total += step * similar[e][other] / whole * probability
            after.append(total)
    return np.array(after)


@seeds(100)
@pytest.mark.parametrize("target", ["list", "graph"])
def test_a_step_is_that_of_triple_loops(seed, target):
    walk, lists, labelled, similar = random_problem(seed)
    system = make_step(walk, lists, labelled, similar, target)
    x = np.concatenate([np.zeros(0), *(lists[f].data for f in np.flatnonzero(~labelled))])
    for _ in range(3):
        values, used = [], 0
        for f in range(len(labelled)):
            size = lists[f].nnz
            values.append(lists[f].data if labelled[f] else x[used : used + size])
            used += 0 if labelled[f] else size
        expected = by_loops(walk, lists, labelled, similar, target, values)
        x = system.operator @ x + system.constant
        assert np.abs(x - expected).max(initial=0) <= 1e-12


@seeds(200)
def test_label_propagation_is_the_closed_form(seed):
    """(I - T_UU)^-1 T_UL P_L, where the lists have all labels and every row reaches one."""
    walk, lists, labelled, _ = random_problem(seed, full=True)
    system = make_step(walk, lists, labelled, sparse.identity(lists.shape[1], format="csr"), "list")
    start = lists[~labelled].data
    found = solve(system, start, "linear", 10_000)
    dense, targets = walk.toarray(), lists.shape[1]
    # those that reach no label keep what they had
    reach = labelled.copy()
    for _ in range(len(labelled)):
        reach |= dense @ reach > 0
    assert (found.reached == reach[~labelled]).all()
    free = ~labelled & reach
    within, known = dense[np.ix_(free, free)], dense[np.ix_(free, labelled)] @ lists.toarray()[labelled]
    expected = np.linalg.solve(np.eye(len(within)) - within, known)
    expected /= expected.sum(1, keepdims=True)
    result = found.probability.reshape(-1, targets)
    assert np.abs(result[reach[~labelled]] - expected).max(initial=0) <= 1e-8
    assert (result[~reach[~labelled]] == start.reshape(-1, targets)[~reach[~labelled]]).all()


@seeds(30)
@pytest.mark.parametrize("solver", ["linear", "sweeps"])
def test_rows_sum_to_one_and_rest(seed, solver):
    walk, lists, labelled, similar = random_problem(seed)
    before = lists.data.copy()
    system = make_step(walk, lists, labelled, similar, "list")
    start = np.concatenate([np.zeros(0), *(lists[f].data for f in np.flatnonzero(~labelled))])
    found = solve(system, start, solver, 2000)
    assert (lists.data == before).all()
    assert (found.probability >= 0).all()
    rows = np.bincount(system.row, found.probability)
    present = np.bincount(system.row) > 0
    assert rows[present] == pytest.approx(1)
    assert found.residuals[-1] < TOLERANCE and not len(found.unsettled)


@seeds(30)
def test_the_order_of_phrases_and_the_start_do_not_matter(seed):
    walk, lists, labelled, similar = random_problem(seed)
    order = np.random.default_rng(seed).permutation(len(labelled))
    one = solve(make_step(walk, lists, labelled, similar, "list"), lists[~labelled].data)
    moved = walk[order][:, order].tocsr().sorted_indices()
    own = lists[order].tocsr()
    other = solve(make_step(moved, own, labelled[order], similar, "list"), own[~labelled[order]].data)
    own, first = lists[~labelled], lists[order][~labelled[order]]
    one_rows = sparse.csr_matrix((one.probability, own.indices, own.indptr), shape=own.shape).toarray()
    other_rows = sparse.csr_matrix((other.probability, first.indices, first.indptr), shape=first.shape).toarray()
    place = np.cumsum(~labelled) - 1
    assert other_rows == pytest.approx(one_rows[place[order[~labelled[order]]]], abs=1e-9)


def test_a_swing_of_period_two_ends():
    """Two unlabelled phrases have only each other, but for a weak label; plain normalised steps swing for ever."""
    walk = sparse.csr_matrix(np.array([[0, 0, 0], [0.01, 0, 0.99], [0, 1, 0]]))
    lists = sparse.csr_matrix(np.array([[0.5, 0.5, 0], [0.9, 0.1, 0], [0, 0.2, 0.8]]))
    labelled = np.array([True, False, False])
    system = make_step(walk, lists, labelled, sparse.identity(3, format="csr"), "list")
    start = np.array([0.9, 0.1, 0.2, 0.8])
    for solver in ("linear", "sweeps"):
        found = solve(system, start, solver, 500)
        assert found.residuals[-1] < TOLERANCE
        assert np.bincount([0, 0, 1, 1], found.probability) == pytest.approx([1, 1])


def test_a_swing_for_ever_ends_in_its_middle():
    """Two phrases that have only each other exchange their distributions in each step; from the third step on the
    solver goes half the way.
    """
    walk = sparse.csr_matrix(np.array([[0, 0, 0], [0, 0, 1.0], [0, 1.0, 0]]))
    lists = sparse.csr_matrix(np.array([[0.5, 0.5], [0.9, 0.1], [0.2, 0.8]]))
    labelled = np.array([True, False, False])
    system = make_step(walk, lists, labelled, sparse.identity(2, format="csr"), "list")
    start = np.array([0.9, 0.1, 0.2, 0.8])
    swung = system.operator @ start + system.constant
    assert swung == pytest.approx([0.2, 0.8, 0.9, 0.1]) and system.operator @ swung == pytest.approx(start)
    found = solve(system, start, "sweeps", 50)
    assert found.probability == pytest.approx([0.55, 0.45, 0.55, 0.45])
    assert found.residuals == pytest.approx([1.4, 1.4, 0.7, 0], abs=1e-9) and not len(found.unsettled)


@seeds(40)
def test_sweeps_are_those_of_loops(seed):
    """Each distribution steps, is normalised, and goes half the way after its step has turned round twice."""
    walk, lists, labelled, similar = random_problem(seed)
    before = [lists[f].data.copy() for f in range(len(labelled))]
    turns, moves = [0] * len(labelled), [np.zeros(len(row)) for row in before]
    for sweep in range(1, 31):
        after, wanted = iter(by_loops(walk, lists, labelled, similar, "list", before)), []
        for f, row in enumerate(before):
            new = row if labelled[f] else np.array([next(after) for _ in row])
            new = new / new.sum() if new.sum() > 0 else row
            move = new - row
            turns[f] += float(move @ moves[f]) < 0
            moves[f] = move / 2 if turns[f] > 1 else move
            wanted.append(row + moves[f])
        before = wanted
        if sweep in (1, 2, 5, 30):
            system = make_step(walk, lists, labelled, similar, "list")
            start = np.concatenate([np.zeros(0), *(lists[f].data for f in np.flatnonzero(~labelled))])
            found = solve(system, start, "sweeps", sweep)
            if len(found.residuals) == sweep:  # not at rest before
                expected = np.concatenate([np.zeros(0), *(before[f] for f in np.flatnonzero(~labelled))])
                assert found.probability == pytest.approx(expected, abs=1e-9)


def test_a_copy_of_a_labelled_phrase_gets_its_labels():
    walk = sparse.csr_matrix(np.array([[0, 0], [1.0, 0]]))
    lists = sparse.csr_matrix(np.array([[0.7, 0.3], [0.5, 0.5]]))
    system = make_step(walk, lists, np.array([True, False]), sparse.identity(2, format="csr"), "list")
    assert solve(system, np.array([0.5, 0.5])).probability == pytest.approx([0.7, 0.3])


def test_nothing_to_propagate():
    lists = sparse.csr_matrix(np.array([[1.0, 0]]))
    system = make_step(sparse.csr_matrix((1, 1)), lists, np.array([True]), sparse.identity(2, format="csr"), "list")
    found = solve(system, np.zeros(0))
    assert len(found.probability) == 0 and not len(found.unsettled)
