"""Label propagation and structured label propagation (thesis, Eq. 5.1 and 5.5).

A pair is a phrase with one of its candidates. The distribution of an unlabelled phrase is the mean of its neighbours'
distributions, restricted to the phrase's candidates. In the structured form, each target of a neighbour also supports
similar targets. So a step is x = M x + b, where b comes from the labelled phrases and M from the others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from lscfg.log import progress

# The linear solver is the default: if each step normalises, propagation may alternate for ever between two
# distributions. Without normalisation, x = M x + b has a smallest solution that depends on no start and no order; it is
# normalised once.

METHODS = ("slp", "lp", "nearest")
TARGETS = ("list", "graph")
SOLVERS = ("linear", "sweeps")
TOLERANCE = 1e-6


@dataclass(frozen=True)
class Solution:
    """Result of propagation.

    Attributes:
        probability: float64 [pairs]; the probabilities of a phrase sum to 1.
        reached: bool [unlabelled phrases], True if a label reached the phrase; others keep their initial values.
        residuals: the largest change of a distribution (L1) in each sweep.
        unsettled: int64, phrases that changed by more than the tolerance in the last sweep.
    """

    probability: np.ndarray
    reached: np.ndarray
    residuals: list[float]
    unsettled: np.ndarray


@dataclass(frozen=True)
class PairStep:
    """The step x = M x + b of the unlabelled phrases' pairs.

    Attributes:
        operator: M; constant: float64 [pairs], b; row: int64 [pairs], the unlabelled phrase of each pair.
    """

    operator: sparse.csr_matrix
    constant: np.ndarray
    row: np.ndarray


def make_step(
    walk: sparse.csr_matrix, lists: sparse.csr_matrix, labelled: np.ndarray, similar: sparse.csr_matrix, target: str
) -> PairStep:
    """The step for given lists of candidates.

    Args:
        walk: transitions between all phrases.
        lists: [phrases, targets] with sorted indices; P(e|f) of labelled phrases, any positive value of candidates.
        labelled: bool [phrases].
        similar: similarities of targets with 1 on the diagonal; the identity for plain label propagation.
        target: ``list`` to normalise similarities over the targets of the neighbour (Eq. 5.4), or ``graph``, over all
            similar targets.
    """
    open_rows = np.flatnonzero(~labelled)
    number = np.cumsum(~labelled) - 1
    sizes = np.diff(lists.indptr)
    first = np.concatenate([[0], np.cumsum(sizes[open_rows])])
    if target == "graph":
        total = np.asarray(similar.sum(1)).ravel()
        similar = sparse.diags(1 / np.where(total > 0, total, 1)).dot(similar).tocsr()
    constant, parts = np.zeros(first[-1]), []
    place = np.full(similar.shape[1], -1)
    for f in progress(open_rows, "propagate", len(open_rows)):
        own = lists.indices[lists.indptr[f] : lists.indptr[f + 1]]
        friends = walk.indices[walk.indptr[f] : walk.indptr[f + 1]]
        weight = walk.data[walk.indptr[f] : walk.indptr[f + 1]][sizes[friends] > 0]
        friends = friends[sizes[friends] > 0]
        at = _ranges(lists.indptr[friends], sizes[friends])
        whose = np.repeat(np.arange(len(friends)), sizes[friends])
        if not len(own) or not len(at):
            parts.append(sparse.csr_matrix((len(own), first[-1])))
            continue
        shares = _entries(similar, own, lists.indices[at], place)
        if target == "list":
            begins = np.concatenate([[0], np.cumsum(sizes[friends])[:-1]])
            sums = np.add.reduceat(shares, begins, axis=1)
            shares /= np.where(sums > 0, sums, 1)[:, whose]
        shares *= weight[whose]
        fixed = labelled[friends][whose]
        constant[first[number[f]] : first[number[f] + 1]] = shares[:, fixed] @ lists.data[at[fixed]]
        pair = _ranges(first[number[friends[~labelled[friends]]]], sizes[friends[~labelled[friends]]])
        row, column = np.nonzero(shares[:, ~fixed])
        values = shares[:, ~fixed][row, column]
        parts.append(sparse.csr_matrix((values, (row, pair[column])), shape=(len(own), first[-1])))
    operator = sparse.vstack(parts, "csr") if parts else sparse.csr_matrix((0, 0))
    return PairStep(operator, constant, np.repeat(np.arange(len(open_rows)), sizes[open_rows]))


def _entries(matrix: sparse.csr_matrix, rows: np.ndarray, columns: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Returns matrix[rows][:, columns] as a dense array; ``place`` is -1 for every column, before and after."""
    wanted, which = np.unique(columns, return_inverse=True)
    place[wanted] = np.arange(len(wanted))
    sizes = np.diff(matrix.indptr)[rows]
    at = _ranges(matrix.indptr[rows], sizes)
    column = place[matrix.indices[at]]
    place[wanted] = -1
    known = column >= 0
    found = np.zeros((len(rows), len(wanted)))
    found[np.repeat(np.arange(len(rows)), sizes)[known], column[known]] = matrix.data[at[known]]
    return found[:, which]


def _ranges(begin: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """The ranges of ``sizes[k]`` numbers from ``begin[k]`` on, one after the other."""
    ends = np.cumsum(sizes)
    result: np.ndarray = np.arange(ends[-1] if len(ends) else 0) + np.repeat(begin - (ends - sizes), sizes)
    return result


def solve(step: PairStep, start: np.ndarray, solver: str = "linear", sweeps: int = 200) -> Solution:
    """The fixed point of propagation.

    Args:
        start: float64 [pairs], initial probabilities; rows sum to 1.
        solver: ``linear``, the smallest solution of x = M x + b, normalised once, which is unique and depends on no
            start; or ``sweeps``, in which each step normalises. Sweeps may oscillate: distributions whose step reverses
            twice are averaged with their old values.
    """
    rows = int(step.row.max(initial=-1)) + 1
    if solver == "linear":
        x, residuals = np.zeros(len(start)), []
        for _ in range(10 * sweeps):
            new = step.operator @ x + step.constant
            change = np.bincount(step.row, np.abs(new - x), rows)
            x = new
            residuals.append(float(change.max(initial=0)))
            if residuals[-1] < 1e-3 * TOLERANCE:
                break
        total = np.bincount(step.row, x, rows)
        reached = total > 0
    else:
        x, residuals, turns, before = start.copy(), [], np.zeros(rows), np.zeros(len(start))
        for _ in range(sweeps):
            new, _ = _shares(step.operator @ x + step.constant, step.row, rows, x)
            move = new - x
            turns += np.bincount(step.row, move * before, rows) < 0
            move *= np.where(turns > 1, 0.5, 1)[step.row]
            x, before = x + move, move
            change = np.bincount(step.row, np.abs(move), rows)
            residuals.append(float(change.max(initial=0)))
            if residuals[-1] < TOLERANCE:
                break
        reached = np.bincount(step.row, step.operator @ x + step.constant, rows) > 0
    result, _ = _shares(x, step.row, rows, start)
    unsettled = np.flatnonzero(change >= TOLERANCE) if residuals else np.zeros(0, np.int64)
    return Solution(result, reached, residuals, unsettled)


def _shares(x: np.ndarray, row: np.ndarray, rows: int, fallback: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows divided by their sums (or the fallback for sums of 0), and the sums."""
    total = np.bincount(row, x, rows)
    return np.where(total[row] > 0, x / np.where(total > 0, total, 1)[row], fallback), total
