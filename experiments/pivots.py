"""Actual parameters from pivot features (Cohen and Collins 2014), with the anchors of Arora et al. (2013).

    python experiments/pivots.py train.deriv -m 16 --iterations 0 -o pivots.lscfg
    lscfg inspect choices --train train.deriv --held-out test.deriv pivots.lscfg

A pivot of a hidden state is a rule that rewrites nodes of no other state. Given the state, a node's rule and its
outside (the rule above it, and its place there) are independent. So the distribution of outsides around a rule is a
mixture of those around the pivots, whose distributions are the corners of the set. Three steps: find the corners; find
the share of each state in each rule and in each outside by least squares; find the parameters of rules by maximum
likelihood with these shares fixed, which is a concave problem. Iterations of EM may follow. Rare rules and rare
outsides each form one class by arity.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.optimize import nnls

from lscfg.errors import InputError
from lscfg.estimate.em import EMRun, EMSettings, root_distributions, totals_by_state
from lscfg.estimate.svd import randomized_svd
from lscfg.extract.derive import Derivations
from lscfg.kernel.expectation import Weights
from lscfg.log import info

RARE = 5
"""Least number of nodes of a rule or an outside with its own shares."""

STEPS = 20
"""Iterations of the concave problem."""

BLOCK = 1 << 24
"""Combinations of patterns and states that are in memory together."""

SMALLEST = 1e-9
"""Distances below this share of the largest are rounding errors."""

UNIFORM = 1e-3
"""Share of the uniform distribution in all shares, which keeps every outcome possible."""


def find_corners(points: np.ndarray, number: int) -> list[int]:
    """Rows that span the largest simplex, chosen greedily (Arora et al. 2013, Algorithm 4).

    Args:
        points: float64 [rows, dimensions].

    Raises:
        InputError: all rows lie in a simplex of fewer corners.
    """
    chosen: list[int] = []
    rest = points - (points.mean(axis=0) if len(points) else 0)
    largest = (rest**2).sum(axis=1).max(initial=0)
    while len(chosen) < number:
        distances = (rest**2).sum(axis=1)
        if not distances.max(initial=0) > SMALLEST**2 * largest:
            raise InputError(f"only {len(chosen)} pivots for {number} hidden states; use more text or a smaller m")
        chosen.append(int(distances.argmax()))
        if len(chosen) == 1:  # the origin
            rest = points - points[chosen[0]]
            continue
        direction = rest[chosen[-1]] / np.linalg.norm(rest[chosen[-1]])
        rest = rest - np.outer(rest @ direction, direction)
    return chosen


def mixture_shares(points: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Shares of corners in each point by least squares, float64 [points, corners], which sum to 1.

    Args:
        points: float64 [points, dimensions]; corners: float64 [corners, dimensions].
    """
    heavy = 10 * np.abs(corners).max()  # the equation that shares sum to 1
    matrix = np.vstack([corners.T, np.full(len(corners), heavy)])
    found = np.array([nnls(matrix, np.append(point, heavy))[0] for point in points])
    shares: np.ndarray = found / found.sum(axis=1, keepdims=True)
    return shares


def state_shares(together: sparse.csr_matrix, m: int, frequent: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """p(state | inside) and p(outside | state), float64 [insides, m] and [outsides, m].

    Args:
        together: float64 [insides, outsides], nodes with both; m: number of states.
        frequent: bool [insides], those that can be pivots.
        seed: of the projection onto the largest directions.
    """
    sizes = np.asarray(together.sum(axis=1)).ravel()
    rows = sparse.diags(1 / np.maximum(sizes, 1)) @ together
    _, _, directions = randomized_svd(rows[frequent], min(4 * m, *rows[frequent].shape), seed, 20, 3)
    points = rows @ directions.T
    pivots = np.flatnonzero(frequent)[find_corners(points[frequent], m)]
    shares = mixture_shares(points, points[pivots])
    weighted, columns = sizes[:, None] * shares, together.tocsc()
    given = np.array([nnls(weighted, columns[:, [k]].toarray().ravel())[0] for k in range(columns.shape[1])])
    return shares, given / np.maximum(given.sum(axis=0), 1e-300)


@dataclass(frozen=True)
class Patterns:
    """Equal tokens of rules: the rule, the outside and the insides of the nodes below, and their number.

    Attributes:
        row: int64 [patterns], tensor of the rule; count: float64 [patterns].
        factors: float64 [patterns, m] of each axis, likelihood of what is around the token, by state.
    """

    row: np.ndarray
    count: np.ndarray
    factors: Sequence[np.ndarray]

    def expected(self, tensors: np.ndarray) -> tuple[np.ndarray, float]:
        """Expected counts of the states of tokens, of the shape of ``tensors``, and the log-likelihood."""
        sums, likelihood = np.zeros_like(tensors), 0.0
        size = max(BLOCK // int(np.prod(tensors.shape[1:])), 1)
        for first in range(0, len(self.row), size):
            here = slice(first, first + size)
            joint = tensors[self.row[here]]
            for axis, factor in enumerate(self.factors):
                joint *= factor[here].reshape(-1, *[1] * axis, factor.shape[1], *[1] * (len(self.factors) - axis - 1))
            total = np.maximum(joint.reshape(len(joint), -1).sum(axis=1), 1e-300)
            likelihood += float(self.count[here] @ np.log(total))
            joint *= (self.count[here] / total).reshape(-1, *[1] * len(self.factors))
            np.add.at(sums, self.row[here], joint)
        return sums, likelihood


def fit(patterns: Sequence[Patterns], tensors: list[np.ndarray], steps: int) -> tuple[list[np.ndarray], list[float]]:
    """Parameters of the largest likelihood with fixed shares, and the likelihood before each step.

    The logarithm of a sum that is linear in the parameters is concave; steps of EM climb it.

    Args:
        patterns: by arity; tensors: the start. After each step the sum of all tensors is 1.
    """
    curve = []
    for _ in range(steps):
        found = [one.expected(tensor) for one, tensor in zip(patterns, tensors, strict=True)]
        curve.append(sum(likelihood for _, likelihood in found))
        total = sum(counts.sum() for counts, _ in found)
        tensors = [counts / total for counts, _ in found]
    return tensors, curve


def classes(values: np.ndarray, arity: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The class of each value and, for each class, False if rare values of one arity (-1 to 3) share it."""
    named, number, count = np.unique(values, return_inverse=True, return_counts=True)
    rare = count[number] < RARE
    merged = np.where(rare, len(named) + 1 + arity, number)
    kept, number = np.unique(merged, return_inverse=True)
    return number, kept < len(named)


class PivotRun(EMRun):
    """EM from the estimate by pivots; without iterations, that estimate."""

    def begin(self, restart: int) -> Weights:
        """The estimate by pivots.

        Raises:
            InputError: the trees have several categories or weights, or too few pivots.
        """
        m, examples = self.settings.m, self.examples
        if self.categories > 1 or examples.weight is not None:
            raise InputError("pivots need trees of one category that count as one each")
        above = np.where(examples.parent >= 0, examples.type[examples.parent], -1)
        inside, frequent = classes(examples.type, self.arity_of(examples.type))
        outside, _ = classes(2 * above + np.minimum(examples.slot, 1), self.arity_of(above))
        together = sparse.csr_matrix((np.ones(len(inside)), (inside, outside)))
        shares, given = state_shares(together, m, frequent, self.settings.seed + restart)
        prior = np.bincount(inside) @ shares / len(inside)
        below = UNIFORM + (1 - UNIFORM) * shares / np.maximum(prior, 1e-12)
        around = UNIFORM / len(given) + (1 - UNIFORM) * given
        parts = [self.patterns(arity, inside, outside, below, around) for arity in range(3)]
        total = sum(one.count.sum() for one in parts)
        tensors = []
        for k, (one, rows) in enumerate(zip(parts, self.tying.rows, strict=True)):
            share = np.bincount(one.row, one.count, rows) / m ** (k + 1) / total
            tensors.append(np.ones((rows, *[m] * (k + 1))) * share.reshape(-1, *[1] * (k + 1)))
        tensors, curve = fit(parts, tensors, STEPS)
        info(f"log-likelihood {curve[0] / total:.4f} to {curve[-1] / total:.4f} per rule, shares fixed")
        roots, first = np.ones((2, m)), self.pieces.node[self.pieces.first_node[:-1]]
        states = below[inside[first]] * around[outside[first]] * prior
        np.add.at(roots, self.pieces.kind, states / states.sum(axis=1, keepdims=True))
        weights = Weights([tensor * total for tensor in tensors], np.ones(m), root_distributions(roots, 1))
        totals = totals_by_state(weights.tensors)
        if self.settings.smoothed:
            self.train.shrink(weights, totals, self.shrinkage(self.tying))
        self.normalise(weights, totals, self.tying)
        return weights

    def arity_of(self, types: np.ndarray) -> np.ndarray:
        """Nonterminals of each type, 3 for more than two, -1 for none."""
        known = np.append(self.examples.rules.arity, [3, -1])
        return known[np.where(types < 0, len(known) - 1, np.minimum(types, len(known) - 2))]

    def patterns(
        self, arity: int, inside: np.ndarray, outside: np.ndarray, below: np.ndarray, around: np.ndarray
    ) -> Patterns:
        """Patterns of the tokens of rules of an arity, by class of inside and outside and shares of each."""
        examples = self.examples
        nodes = np.flatnonzero(examples.is_example & (self.arity_of(examples.type) == arity))
        row = self.tying.row[examples.type[nodes]]
        places = np.column_stack([row, outside[nodes], *(inside[examples.children[nodes, k]] for k in range(arity))])
        found, count = np.unique(places, axis=0, return_counts=True)
        factors = [around[found[:, 1]], *(below[found[:, 2 + k]] for k in range(arity))]
        return Patterns(found[:, 0], count.astype(np.float64), factors)


def main() -> None:
    """Writes the model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("derivations", type=Path, metavar="DERIVATIONS")
    parser.add_argument("-m", type=int, default=16, metavar="M", help="hidden states")
    parser.add_argument("--iterations", type=int, default=0, metavar="N", help="iterations of EM afterwards")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", required=True)
    args = parser.parse_args()
    if args.m < 1:
        parser.error(f"-m must be at least 1, not {args.m}")
    settings = EMSettings(args.m, args.iterations, seed=args.seed)
    try:
        PivotRun(Derivations.load(args.derivations), settings, "pivots").run().save(args.output)
    except InputError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
