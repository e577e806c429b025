"""Conversion of the kernel's rules with hidden states to rules without."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lscfg.grammar.table import RuleTable


def without_states(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Merges the rules of a chain that differ only in states; adds ``state``, int32 [places], of each head.

    Args:
        arrays: result of ``TreeSampler.arrays`` with several states; lscfg/sample.h describes the marks.
    """
    offsets, src_length = arrays["rules.offsets"], arrays["rules.src_length"]
    n = len(src_length)
    mark = np.zeros(offsets[-1], bool)
    mark[offsets[1:] - 1] = True
    head = -1 - arrays["rules.symbols"][mark]
    rule = np.repeat(np.arange(n), np.diff(offsets))
    on_source = np.arange(len(rule)) - offsets[rule] < src_length[rule]
    symbols = np.where(on_source, np.maximum(arrays["rules.symbols"], -1), arrays["rules.symbols"])[~mark]
    bare = {"rules.symbols": symbols, "rules.offsets": offsets - np.arange(n + 1)}
    table = RuleTable.from_arrays({**arrays, **bare})
    sides = np.column_stack([table.source_id, table.target_id])
    _, first, which = np.unique(sides, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)  # rules in the order of their first occurrence
    number = np.argsort(order)[which.ravel()]
    places = arrays["places"].copy()
    places[:, 0] = number[places[:, 0]]
    counts = {name: _sums(number, arrays[name]) for name in ("count", "kept", "kept_short")}
    rest = {"places": places, "state": head[arrays["places"][:, 0]]}
    return {**arrays, **table.select(first[order]).arrays(), **counts, **rest}


def _sums(number: np.ndarray, counts: np.ndarray) -> np.ndarray:
    sums = np.zeros(number.max(initial=-1) + 1, counts.dtype)
    np.add.at(sums, number, counts)
    return sums
