"""Features of inside and outside trees as sparse matrices, a row for each node (paper, section 5.2)."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from lscfg.errors import InputError
from lscfg.estimate.examples import Examples

INSIDE = ("rule", "children")
"""Templates: the node's own rule; the rules of its children, left and right told apart."""

OUTSIDE = ("parent", "sibling")
"""Templates: the rule of the parent; the rule of the sibling, if there is one."""

OUTSIDE_KNOWN = (*OUTSIDE, "slot")
"""Further: which child of its parent's rule the node is."""


def inside_features(examples: Examples, templates: tuple[str, ...] = INSIDE) -> sparse.csr_matrix:
    """phi(t): 0/1, float64 [nodes, columns].

    Rules that the OOV rule stands for share one column of each template.

    Raises:
        InputError: an unknown template.
    """
    types, n = _types_with_oov(examples)
    blocks = []
    for template in templates:
        if template == "rule":
            blocks.append(_one_hot(types, n))
        elif template == "children":
            blocks += [_one_hot(_of(types, examples.children[:, side]), n) for side in (0, 1)]
        else:
            raise InputError(f"unknown inside feature template {template!r}; known are {', '.join(INSIDE)}")
    return sparse.hstack(blocks, "csr")


def outside_features(examples: Examples, templates: tuple[str, ...] = OUTSIDE) -> sparse.csr_matrix:
    """psi(o): 0/1, float64 [nodes, columns]; a root has one feature of its own.

    Raises:
        InputError: an unknown template.
    """
    types, n = _types_with_oov(examples)
    parent = _of(types, examples.parent)
    blocks = [sparse.csr_matrix(examples.is_root[:, None].astype(float))]
    for template in templates:
        if template == "parent":
            blocks.append(_one_hot(parent, n))
        elif template == "slot":
            slot = np.minimum(examples.slot, 1)
            blocks.append(_one_hot(np.where(parent >= 0, 2 * parent + slot, -1), 2 * n))
        elif template == "sibling":
            other = np.where(examples.slot < 2, 1 - np.minimum(examples.slot, 1), -1)
            sibling = np.full(len(types), -1, np.int64)
            has_parent = (examples.parent >= 0) & (other >= 0)
            sibling[has_parent] = examples.children[examples.parent[has_parent], other[has_parent]]
            left = _of(types, sibling)
            # left and right siblings told apart
            blocks.append(_one_hot(np.where(left >= 0, 2 * left + np.maximum(other, 0), -1), 2 * n))
        else:
            raise InputError(f"unknown outside feature template {template!r}; known are {', '.join(OUTSIDE_KNOWN)}")
    return sparse.hstack(blocks, "csr")


def scale(features: sparse.csr_matrix, rows: np.ndarray) -> sparse.csr_matrix:
    """Scales each column by sqrt((N - 1) / (sum f^2 + 5)), sums over the N example rows (Cohen et al. 2013).

    A column that is zero in all examples is set to zero: nothing is known of it.

    Args:
        rows: bool [nodes], the examples.
    """
    chosen = features[rows]
    squares = np.asarray(chosen.multiply(chosen).sum(axis=0)).ravel()
    n = chosen.shape[0]
    factors = np.where(squares > 0, np.sqrt(max(n - 1, 1) / (squares + 5)), 0.0)
    return features @ sparse.diags(factors, format="csr")


def _types_with_oov(examples: Examples) -> tuple[np.ndarray, int]:
    """Each node's rule, all singletons as one more rule, and the number of rules."""
    merged = np.arange(examples.n_types)
    merged[: len(examples.rules)][examples.singletons()] = examples.n_types
    return merged[examples.type], examples.n_types + 1


def _of(values: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """values[nodes], -1 where there is no node."""
    return np.where(nodes >= 0, values[np.maximum(nodes, 0)], -1)


def _one_hot(columns: np.ndarray, width: int) -> sparse.csr_matrix:
    """A 1 in the column named for each row, none where it is -1; columns that stay empty are left out."""
    rows = np.nonzero(columns >= 0)[0]
    used, index = np.unique(columns[rows], return_inverse=True)
    data = np.ones(len(rows))
    return sparse.csr_matrix((data, (rows, index)), (len(columns), max(len(used), 0)))
