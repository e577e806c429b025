"""The E step of EM: expected counts of rules over derivation trees or forests, by any number of threads.

Work is cut into blocks that depend on the data alone. Blocks write to separate memory, and sums over blocks are added
in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from lscfg._kernel import ffi, lib
from lscfg.errors import InputError, KernelError
from lscfg.parallel.choose import in_threads

MAX_STATES: int = lib.LSCFG_EM_MAX_STATES
"""Maximum number of hidden states of the kernel's buffers."""

BLOCKS = 64
"""Number of pieces into which trees, and rows of each arity, are cut for the threads."""

NODES = 1 << 22
"""Nodes whose inside and outside vectors are in memory at a time: 1.1 GB with 16 states."""

CHUNK = 4096
"""Tokens of one row that are summed at once; sums of more are added in order."""

ARITIES = (0, 1, 2)
_CHUNK_TYPE = np.dtype([("row", np.int64), ("begin", np.int64), ("end", np.int64), ("part", np.int64)])


@dataclass(frozen=True)
class TreeSet:
    """Trees of rules with at most two nonterminals, or forests of them; nodes tree by tree, parents before children."""

    first_node: np.ndarray
    """int64 [trees + 1], the first node of each tree, which is its root."""
    root_kind: np.ndarray
    """int32 [trees], the root distribution of each tree."""
    arity: np.ndarray
    """int8 [edges]; a tree has one edge for each node, with the number of the node."""
    row: np.ndarray
    """int32 [edges], the edge's tensor among those of its arity."""
    children: np.ndarray
    """int32 [edges, 2]; -1: no child, or a child whose inside tree is not observed."""
    rows: tuple[int, int, int]
    """Number of tensors by arity."""
    first_edge: np.ndarray | None = None
    """int64 [nodes + 1], the first edge of each node of forests; None for trees."""
    weight: np.ndarray | None = None
    """float64 [trees], count of each tree; None: 1."""

    def __post_init__(self) -> None:
        n = len(self.arity)
        if self.first_edge is not None:
            edges = np.ascontiguousarray(self.first_edge, np.int64)
            if edges[0] != 0 or edges[-1] != n or (np.diff(edges) <= 0).any():
                raise ValueError("every node of a forest needs an edge")
            object.__setattr__(self, "first_edge", edges)
        if self.first_node[0] != 0 or self.first_node[-1] != self.nodes or (np.diff(self.first_node) <= 0).any():
            raise ValueError("trees must be whole and not empty")
        if self.weight is not None and self.weight.shape != (len(self),):
            raise ValueError(f"{len(self)} trees, but {self.weight.shape} weights")
        if self.children.shape != (n, 2) or self.row.shape != (n,) or self.root_kind.shape != (len(self),):
            raise ValueError(f"{n} edges, but rows {self.row.shape} and children {self.children.shape}")
        if n and not (self.arity.min() >= 0 and self.arity.max() <= 2 and self.row.min() >= 0):
            raise ValueError("arity or row out of range")
        if (self.row >= np.array(self.rows)[self.arity]).any() or (self.children < -1).any():
            raise ValueError("row or child out of range")
        own = self.head[:, None]
        last = np.repeat(self.first_node[1:], np.diff(self.first_node))[own]
        if ((self.children >= 0) & ((self.children <= own) | (self.children >= last))).any():
            raise ValueError("a child must follow its parent in the same tree")
        object.__setattr__(self, "first_node", np.ascontiguousarray(self.first_node, np.int64))
        object.__setattr__(self, "arity", np.ascontiguousarray(self.arity, np.int8))
        for name in ("root_kind", "row", "children"):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), np.int32))

    def __len__(self) -> int:
        return len(self.first_node) - 1

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return len(self.arity) if self.first_edge is None else len(self.first_edge) - 1

    @cached_property
    def head(self) -> np.ndarray:
        """int32 [edges], the head node of each edge."""
        nodes = np.arange(self.nodes, dtype=np.int32)
        return nodes if self.first_edge is None else np.repeat(nodes, np.diff(self.first_edge))

    @cached_property
    def tokens(self) -> list[tuple[np.ndarray, np.ndarray, list[int]]]:
        """By arity: edges in order of row, int32; chunks of them; the number of chunks of each work block."""
        found = []
        for k in ARITIES:
            nodes = np.nonzero(self.arity == k)[0]
            nodes = nodes[np.argsort(self.row[nodes], kind="stable")]
            begin = np.searchsorted(self.row[nodes], np.arange(self.rows[k] + 1))
            n_chunks = -(-np.diff(begin) // CHUNK)
            chunks = np.empty(int(n_chunks.sum()), _CHUNK_TYPE)
            chunks["row"] = np.repeat(np.arange(self.rows[k]), n_chunks)
            inner = np.arange(len(chunks)) - np.repeat(np.cumsum(n_chunks) - n_chunks, n_chunks)
            chunks["begin"] = begin[chunks["row"]] + inner * CHUNK
            chunks["end"] = np.minimum(chunks["begin"] + CHUNK, begin[chunks["row"] + 1])
            divided = n_chunks[chunks["row"]] > 1
            chunks["part"] = np.where(divided, np.cumsum(divided) - 1, -1)
            cost = np.cumsum(chunks["end"] - chunks["begin"] + 4)
            ends = np.searchsorted(cost, np.linspace(0, cost[-1] if len(cost) else 0, BLOCKS + 1)[1:-1])
            found.append((nodes.astype(np.int32), chunks, [0, *ends.tolist(), len(chunks)]))
        return found

    def parts(self, most: int) -> Iterator[TreeSet]:
        """Yields the trees in order, in sets of at most ``most`` nodes, or of one tree."""
        first = 0
        while first < len(self):
            begin = self.first_node[first]
            last = max(first + 1, int(np.searchsorted(self.first_node, begin + most, "right")) - 1)
            edges, first_edge = slice(begin, self.first_node[last]), None
            if self.first_edge is not None:
                first_edge = self.first_edge[begin : self.first_node[last] + 1]
                edges, first_edge = slice(first_edge[0], first_edge[-1]), first_edge - first_edge[0]
            yield TreeSet(
                self.first_node[first : last + 1] - begin,
                self.root_kind[first:last],
                self.arity[edges],
                self.row[edges],
                np.where(self.children[edges] >= 0, self.children[edges] - begin, -1),
                self.rows,
                first_edge,
                None if self.weight is None else self.weight[first:last],
            )
            first = last

    @cached_property
    def blocks(self) -> list[int]:
        """First tree of each work block, and the end."""
        ends = np.searchsorted(self.first_node, np.linspace(0, self.first_node[-1], BLOCKS + 1)[1:-1])
        return [0, *ends.tolist(), len(self)]


@dataclass(eq=False)
class Weights:
    """Parameters of rows, as counts and their normalisers."""

    tensors: list[np.ndarray]
    """float64 [rows, m], [., m, m] and [., m, m, m], not negative."""
    scale: np.ndarray
    """float64 [m]; a parameter is ``scale[state of the left-hand side]`` times the tensor's value."""
    root: np.ndarray
    """float64 [kinds of root, m], distributions."""
    loglinear: np.ndarray | None = None
    """float64 [features, m], log-linear weights that the tensors were computed from; the kernel ignores them."""

    @property
    def m(self) -> int:
        """Number of hidden states."""
        return len(self.scale)

    def copy(self) -> Weights:
        """Copies all arrays."""
        more = None if self.loglinear is None else self.loglinear.copy()
        return Weights([t.copy() for t in self.tensors], self.scale.copy(), self.root.copy(), more)


class Expectation:
    """Inside and outside passes over trees, and expected counts; keeps its arrays between calls.

    Only the vectors of a part of the trees are in memory at a time, so memory does not grow with the trees.

    Args:
        trees: the trees.
        threads: number of threads; results do not depend on it.
        tokens: number of rule tokens. In a forest, it is that of one derivation, equal for all; trees with weights have
            fractions of tokens.

    The attribute ``log_likelihood``, float64 [trees], holds natural logarithms of the last ``infer``, -inf for an
    impossible tree; ``nodes`` is the number of all nodes, or ``tokens``; ``rows`` the number of tensors by arity.
    """

    def __init__(self, trees: TreeSet, threads: int = 1, tokens: float | None = None):
        self.log_likelihood = np.empty(len(trees))
        self.nodes, self.rows = trees.nodes if tokens is None else tokens, trees.rows
        self._parts = [trees] if trees.nodes <= NODES else list(trees.parts(NODES))
        self._sums: list[np.ndarray] = []
        self._roots = self._inside = self._outside = np.empty((0, 0))
        self._factor = np.empty(max((part.nodes for part in self._parts), default=0))
        self._share = np.empty(max((len(part.arity) for part in self._parts if part.first_edge is not None), default=0))
        self._engine = in_threads(max(threads, 1), BLOCKS)

    def infer(self, weights: Weights, count: bool = True) -> int:
        """Computes the likelihoods of all trees and, if ``count`` is set, the input of ``root_counts`` and ``count``.

        Returns:
            Number of impossible trees, which add nothing to counts.
        """
        shape = (len(self._factor), weights.m)
        if self._inside.shape != shape:
            self._inside = np.empty(shape)
        if count:
            if self._outside.shape != shape:
                self._outside = np.empty(shape)
            if [one.shape for one in self._sums] != [one.shape for one in weights.tensors]:
                self._sums = [np.empty(tensor.shape) for tensor in weights.tensors]
            for one in self._sums:
                one.fill(0)
            self._roots = np.zeros(weights.root.shape)
        impossible = first = 0
        for part in self._parts:
            em, _owners = self._view(part, weights)
            impossible += self._trees(part, em, self.log_likelihood[first : first + len(part)], count)
            first += len(part)
            if count:
                self._roots += self._root_states(part, weights)
                if part.weight is not None:  # counts are products with outside vectors
                    self._outside[: part.nodes] *= np.repeat(part.weight, np.diff(part.first_node))[:, None]
                for arity in ARITIES:
                    self._add_outer(part, em, arity)
        return impossible

    def total(self) -> float:
        """Log-likelihood of all trees, weighted by their counts."""
        weights = [part.weight for part in self._parts if part.weight is not None]
        return float((self.log_likelihood * (np.concatenate(weights) if weights else 1)).sum())

    def posteriors(self, weights: Weights) -> np.ndarray:
        """Returns the probability of each edge given its tree or forest, float64 [edges], for one state.

        Raises:
            ValueError: the weights have several states.
        """
        if weights.m != 1:
            raise ValueError(f"probabilities of edges need one hidden state, not {weights.m}")
        if self._outside.shape != (len(self._factor), 1):
            self._inside, self._outside = np.empty((len(self._factor), 1)), np.empty((len(self._factor), 1))
        found, first = [], 0
        for part in self._parts:
            em, _owners = self._view(part, weights)
            self._trees(part, em, self.log_likelihood[first : first + len(part)], True)
            first += len(part)
            of_edge = self._outside[part.head, 0]
            if part.first_edge is not None:
                of_edge *= self._share[: len(of_edge)]
            for k in ARITIES:
                here = part.arity == k
                of_edge[here] *= weights.tensors[k].reshape(-1)[part.row[here]]
            found.append(of_edge)
        return np.concatenate(found) if found else np.empty(0)

    def vectors(self, weights: Weights) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yields inside and outside vectors of the nodes of possible trees, and the weight of each, part by part.

        The sum of their products is 1 at each node, or the probability of the node in its forest.
        """
        shape, first = (len(self._factor), weights.m), 0
        if self._inside.shape != shape or self._outside.shape != shape:
            self._inside, self._outside = np.empty(shape), np.empty(shape)
        for part in self._parts:
            em, _owners = self._view(part, weights)
            likelihood = self.log_likelihood[first : first + len(part)]
            self._trees(part, em, likelihood, True)
            first += len(part)
            sizes, bounds = np.diff(part.first_node), part.first_node
            possible = np.repeat(np.isfinite(likelihood), sizes)
            of_node = np.repeat(np.ones(len(part)) if part.weight is None else part.weight, sizes)
            # the kernel leaves outside vectors times the scale, and, where no node has two edges, over its factor
            edges = sizes if part.first_edge is None else np.diff(part.first_edge[bounds])
            factor = np.where(np.repeat(edges == sizes, sizes), self._factor[: part.nodes], 1)
            outside = self._outside[: part.nodes] * _inverse(weights.scale) * factor[:, None]
            yield self._inside[: part.nodes][possible], outside[possible], of_node[possible]

    def _trees(self, part: TreeSet, em: Any, log_likelihood: np.ndarray, outside: bool) -> int:
        fixed = [_integers(part.first_node, "int64_t"), _integers(part.root_kind, "int32_t")]
        out = [_reals(a) for a in (log_likelihood, self._inside, self._factor)]
        out += [self._shares(part), _reals(self._outside) if outside else ffi.NULL]

        def block(first: int, last: int) -> int:
            return int(lib.lscfg_em_trees(em, *fixed, first, last, *out))

        return sum(self._each(part.blocks, block))

    def _shares(self, part: TreeSet) -> Any:
        """Returns the kernel's array of each edge's share of its node's vectors."""
        return ffi.NULL if part.first_edge is None else _reals(self._share)

    def _root_states(self, part: TreeSet, weights: Weights) -> np.ndarray:
        states = self._inside[part.first_node[:-1]] * weights.root[part.root_kind]
        total = states.sum(axis=1, keepdims=True)
        states = np.divide(states, total, out=np.zeros_like(states), where=total > 0)
        states *= 1 if part.weight is None else part.weight[:, None]
        return np.stack([states[part.root_kind == kind].sum(axis=0) for kind in range(len(weights.root))])

    def _add_outer(self, part: TreeSet, em: Any, arity: int) -> None:
        nodes, chunks, cuts = part.tokens[arity]
        sums = self._sums[arity]
        pieces = np.empty((int(chunks["part"].max(initial=-1)) + 1, *sums.shape[1:]))
        pointer = ffi.cast("lscfg_em_chunk *", ffi.from_buffer(chunks)) if len(chunks) else ffi.NULL
        vectors = [_reals(self._inside), self._shares(part), _reals(self._outside)]
        fixed = [_integers(nodes, "int32_t"), *vectors, _reals(sums), _reals(pieces)]

        def block(first: int, last: int) -> None:
            _check(lib.lscfg_em_outer(em, arity, pointer + first, last - first, *fixed))

        self._each(cuts, block)
        divided = chunks[chunks["part"] >= 0]
        divided = divided[np.argsort(divided["row"], kind="stable")]
        begin = np.flatnonzero(np.diff(divided["row"], prepend=-1))
        for same in np.split(divided, begin)[1:]:
            sums[same["row"][0]] += pieces[same["part"]].sum(axis=0)

    def root_counts(self) -> np.ndarray:
        """Returns expected states of the roots by kind, float64 [kinds, m], after ``infer`` with ``count``."""
        return self._roots

    def count(self, weights: Weights) -> list[np.ndarray]:
        """Replaces the tensors by expected counts, after ``infer`` with the same weights.

        Returns:
            Expected counts by row and state of the left-hand side, by arity: float64 [rows, m].
        """
        return [self._count(weights.tensors[k], k) for k in ARITIES]

    def _count(self, tensor: np.ndarray, arity: int) -> np.ndarray:
        totals = np.empty((len(tensor), tensor.shape[1]))
        arrays = [_reals(a) for a in (self._sums[arity], tensor, totals)]

        def block(first: int, last: int) -> None:
            lib.lscfg_em_counts(tensor.shape[1], arity, first, last, *arrays)

        self._each(np.linspace(0, len(tensor), BLOCKS + 1).astype(int).tolist(), block)
        return totals

    def shrink(self, weights: Weights, totals: list[np.ndarray], plan: Shrinkage) -> None:
        """Shrinks expected counts in place (see lscfg_em_shrink in lscfg/estimate.h), and updates ``totals``."""
        for k in ARITIES:
            if len(weights.tensors[k]):
                self._shrink(weights.tensors[k], totals[k], plan, k)

    def _shrink(self, tensor: np.ndarray, totals: np.ndarray, plan: Shrinkage, arity: int) -> None:
        tokens = totals.sum(axis=1)
        begin, rows = plan.groups[arity]
        if plan.shape is not None:
            parts, work = _shapes(tensor, totals, plan, arity)
            self._each([*range(parts + 1)], work)
            return
        average, mass = self._sum(tensor), tokens.sum()
        average = average / mass if mass > 0 else np.full_like(average, 1 / average.size)
        # groups are cut at the same rows, so that blocks have equal work
        inner = np.searchsorted(begin, np.linspace(0, begin[-1], BLOCKS + 1)[1:-1])
        fixed = [_integers(begin, "int64_t"), _integers(rows, "int32_t")]
        numbers = [*map(_reals, (tokens, plan.mass[arity], average)), plan.to_source, plan.to_arity]
        out = [_reals(tensor), _reals(totals)]

        def block(first: int, last: int) -> None:
            _check(lib.lscfg_em_shrink(totals.shape[1], arity, *fixed, first, last, *numbers, *out))

        self._each([0, *inner.tolist(), len(begin) - 1], block)

    def _sum(self, tensor: np.ndarray) -> np.ndarray:
        """Returns the sum of all rows."""
        cuts = np.linspace(0, len(tensor), BLOCKS + 1).astype(int).tolist()
        out = np.zeros((BLOCKS, *tensor.shape[1:]))
        number = {first: j for j, (first, last) in enumerate(pairwise(cuts)) if first < last}

        def block(first: int, last: int) -> None:
            lib.lscfg_em_sum(out[0].size, first, last, _reals(tensor), _reals(out[number[first]]))

        self._each(cuts, block)
        result: np.ndarray = out.sum(axis=0)
        return result

    def _each(self, cuts: list[int], work: Callable[[int, int], Any]) -> list[Any]:
        """Runs the work on every block that is not empty; the kernel runs without the interpreter's lock."""
        blocks = [(first, last) for first, last in pairwise(cuts) if first < last]
        return list(self._engine.map(lambda block: work(*block), blocks))

    def _view(self, trees: TreeSet, weights: Weights) -> tuple[Any, list[Any]]:
        """Returns the kernel's view of trees, and the objects that the view points into."""
        m = weights.m
        if not 1 <= m <= MAX_STATES:
            raise InputError(f"the number of hidden states must be 1 to {MAX_STATES}, got {m}")
        for k, tensor in enumerate(weights.tensors):
            if tensor.shape != (trees.rows[k], *[m] * (k + 1)):
                raise ValueError(f"tensors of arity {k} have shape {tensor.shape} for {trees.rows[k]} rows")
            if tensor.dtype != np.float64 or not tensor.flags.c_contiguous:
                raise ValueError("tensors must be contiguous and of type float64")
        if weights.root.shape[1] != m or trees.root_kind.max(initial=0) >= len(weights.root):
            raise ValueError(f"root distributions of shape {weights.root.shape}")
        owners = [
            ffi.from_buffer("int8_t[]", trees.arity),
            _integers(trees.row, "int32_t"),
            _integers(trees.children, "int32_t"),
            *(_reals(t) for t in weights.tensors),
            _reals(weights.scale),
            _reals(weights.root),
        ]
        arity, row, children, zero, one, two, scale, root = owners
        edges = heads = ffi.NULL
        if trees.first_edge is not None:
            edges, heads = _integers(trees.first_edge, "int64_t"), _integers(trees.head, "int32_t")
        em = ffi.new("lscfg_em *", (m, edges, heads, arity, row, children, [zero, one, two], scale, root))
        return em, [*owners, edges, heads]


@dataclass(frozen=True, eq=False)
class Shrinkage:
    """Shrinkage of expected counts."""

    to_source: float
    """Pseudo-counts of the source side's distribution of states."""
    to_arity: float
    """Pseudo-counts of the arity's distribution in that of the source side."""
    mass: list[np.ndarray]
    """By arity, float64 [rows], sum of a row after shrinkage: the tokens of its rule."""
    groups: list[tuple[np.ndarray, np.ndarray]]
    """By arity, the first of each group in the list of rows, int64, and the rows, int32."""
    shape: list[np.ndarray] | None = None
    """By arity, int64 [rows]: rows are shrunk towards the average of the rows of their number, and groups of equal
    numbers are adjacent; None: all rows have one average."""
    prior: Callable[[int, int], np.ndarray] | None = None
    """Returns a token for the rows of an arity and number, float64 [m, ...], above 0 for all their states."""


def _shapes(
    tensor: np.ndarray, totals: np.ndarray, plan: Shrinkage, arity: int
) -> tuple[int, Callable[[int, int], None]]:
    """Returns the number of shapes, and a function that shrinks a shape's rows towards their average.

    A token of the prior joins the average if the average lacks states.
    """
    assert plan.shape is not None
    tokens = totals.sum(axis=1)
    begin, rows = plan.groups[arity]
    shape = plan.shape[arity][rows[begin[:-1]]]
    borders = [0, *(np.flatnonzero(np.diff(shape)) + 1).tolist(), len(shape)]
    fixed = [_integers(begin, "int64_t"), _integers(rows, "int32_t")]
    numbers, out = [*map(_reals, (tokens, plan.mass[arity]))], [_reals(tensor), _reals(totals)]

    def block(part: int, _: int) -> None:
        first, last = borders[part : part + 2]
        own = rows[begin[first] : begin[last]]
        average, mass = tensor[own].sum(axis=0), tokens[own].sum()
        if plan.prior and ((more := plan.prior(arity, int(shape[first])))[average == 0] > 0).any():
            average, mass = average + more, mass + 1
        average = average / mass if mass > 0 else np.full_like(average, 1 / average.size)
        given = [*numbers, _reals(average), plan.to_source, plan.to_arity]
        _check(lib.lscfg_em_shrink(totals.shape[1], arity, *fixed, first, last, *given, *out))

    return len(borders) - 1, block


def _inverse(values: np.ndarray) -> np.ndarray:
    """The inverse of each value; 0 for 0."""
    result: np.ndarray = np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)
    return result


def _check(code: int) -> None:
    if code < 0:
        raise KernelError("out of memory")


def _integers(array: np.ndarray, kind: str) -> Any:
    return ffi.from_buffer(f"{kind}[]", array)


def _reals(array: np.ndarray) -> Any:
    return ffi.from_buffer("double[]", array)
