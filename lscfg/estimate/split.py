"""Hidden states by splitting and merging, from one state on (Petrov et al. 2006).

In each round, every state is split in two that differ by a little noise, EM moves the two apart, and the halves whose
union costs the least likelihood are merged again. With inside and outside vectors i and o of a node, where the sum of
i o over states is 1, and shares p of two states in their common mass, the node's likelihood after a merger is

    1 - i1 o1 - i2 o2 + (p1 i1 + p2 i2) (o1 + o2)

and the loss is the sum of the logarithm over all nodes, as if each were the only one to change. In a forest the sum of
i o is the probability of the node, and the formula stays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from lscfg import log
from lscfg.kernel.expectation import MAX_STATES, Expectation, Weights

NOISE, ITERATIONS = 0.1, 15
"""Largest relative change of a parameter of split states; iterations of EM after splitting, and again after merging.

On trees of planted grammars, five iterations leave the two states close to each other, and the result no better than
that of random numbers; fifteen are better than the best of five random starts.
"""


LEAST_CHANGE = -1 + 1e-12
"""Lower bound of the relative change of a tree's probability by a merger of states."""


@dataclass(frozen=True)
class Grown:
    """States after some rounds.

    Attributes:
        curve: number of states and score after each round, from one state on.
    """

    weights: Weights
    curve: list[list[float]]


def grow(
    most: int,
    trees: Expectation,
    update: Callable[[Weights], None],
    score: Callable[[Weights], float],
    rng: np.random.Generator,
    stop: bool,
) -> Grown:
    """Splits and merges states until there are ``most``.

    Args:
        trees: training trees.
        update: an iteration of EM, in place.
        score: log-likelihood per rule of trees that decide.
        stop: also end before a round that lowers the score, with the weights before it.
    """
    weights = Weights(
        [np.ones((rows, *[1] * (k + 1))) for k, rows in enumerate(trees.rows)], np.ones(1), np.ones((2, 1))
    )
    update(weights)
    curve = [[1.0, score(weights)]]
    while (m := weights.m) < most:
        twins = min(m, MAX_STATES - m)
        wide = split_states(weights, twins, NOISE, rng)
        for _ in range(ITERATIONS):
            update(wide)
        losses, mass = merge_losses(trees, wide, [(k, m + k) for k in range(twins)])
        apart = min(max(m - m // 2, 1), most - m)
        merged = np.sort(np.argsort(-losses, kind="stable")[: twins - apart])
        narrow = merge_states(wide, m, merged, mass)
        for _ in range(ITERATIONS):
            update(narrow)
        value = score(narrow)
        log.info(f"{narrow.m} hidden states: log-likelihood {value:.6f} per rule, {curve[-1][1]:.6f} with {m}")
        if stop and value < curve[-1][1]:
            break
        weights = narrow
        curve.append([float(narrow.m), value])
    return Grown(weights, curve)


def merge_losses(
    trees: Expectation, weights: Weights, pairs: Sequence[tuple[int, int]]
) -> tuple[np.ndarray, np.ndarray]:
    """Change of the log-likelihood if two states were one.

    Returns:
        float64 [pairs], the change, summed over nodes as if each changed alone; float64 [m], the expected nodes of each
            state, by which two states share their union. Impossible trees add nothing.
    """
    mass, losses = np.zeros(weights.m), np.zeros(len(pairs))
    for inside, outside, weight in trees.vectors(weights):
        mass += (inside * outside * weight[:, None]).sum(axis=0)
    for inside, outside, weight in trees.vectors(weights):
        for number, (one, other) in enumerate(pairs):
            both = mass[one] + mass[other]
            share = mass[one] / both if both > 0 else 0.5
            union = share * inside[:, one] + (1 - share) * inside[:, other]
            change = union * (outside[:, one] + outside[:, other])
            change -= inside[:, one] * outside[:, one] + inside[:, other] * outside[:, other]
            losses[number] += (np.log1p(np.maximum(change, LEAST_CHANGE)) * weight).sum()
    return losses, mass


def split_states(weights: Weights, twins: int, noise: float, rng: np.random.Generator) -> Weights:
    """Splits the first states in two; the twin of state k is m + k.

    Twins rewrite as their common state did, and share what led there equally, but for noise.

    Args:
        noise: largest relative change of a parameter.
    """
    parent = np.concatenate([np.arange(weights.m), np.arange(twins)])
    share = np.where(parent < twins, 0.5, 1.0)

    def shaken(values: np.ndarray) -> np.ndarray:
        return values * (1 + noise * (2 * rng.random(values.shape) - 1)) if noise else values

    tensors = []
    for tensor in weights.tensors:
        wide = tensor[:, parent]
        for axis in range(2, tensor.ndim):
            wide = wide.take(parent, axis) * share.reshape(-1, *[1] * (tensor.ndim - 1 - axis))
        tensors.append(np.ascontiguousarray(shaken(wide)))
    return Weights(tensors, weights.scale[parent], np.ascontiguousarray(shaken(weights.root[:, parent] * share)))


def merge_states(weights: Weights, m: int, merged: np.ndarray, mass: np.ndarray) -> Weights:
    """Merges some twins of ``split_states`` again; later states move up.

    Args:
        m: number of states before they were split; merged: int64, those whose twins are merged.
        mass: float64 [states], expected tokens of each state, by whose shares twins rewrite.
    """
    states, others = weights.m, m + merged
    both = mass[merged] + mass[others]
    share = np.ones(states)
    share[merged] = np.divide(mass[merged], both, out=np.full(len(merged), 0.5), where=both > 0)
    share[others] = 1 - share[merged]
    kept = np.setdiff1d(np.arange(states), others)

    def joined(values: np.ndarray, axis: int) -> np.ndarray:
        """The sums of twins along an axis."""
        sums = values.take(kept, axis)
        np.moveaxis(sums, axis, 0)[merged] += np.moveaxis(values.take(others, axis), axis, 0)
        return sums

    tensors = []
    for tensor in weights.tensors:
        # parameters, because states have different scales
        narrow = joined(tensor * (weights.scale * share).reshape(-1, *[1] * (tensor.ndim - 2)), 1)
        for axis in range(2, tensor.ndim):
            narrow = joined(narrow, axis)
        tensors.append(np.ascontiguousarray(narrow))
    return Weights(tensors, np.ones(len(kept)), np.ascontiguousarray(joined(weights.root, 1)))
