"""Significance of rules: Fisher's exact test of both sides over sentence pairs (Johnson et al. 2007, section 3)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import gammaln

from lscfg.grammar.select import matching_sides
from lscfg.grammar.table import RuleTable

TIE = 1e-6
"""Difference of significances that rounding can explain."""

PRECISION = 1e-17
"""Share of a sum below which further terms are left out."""


def significance(rules: RuleTable, source: Sequence[str], target: Sequence[str]) -> np.ndarray:
    """Tests how much more often the two sides of each rule occur in the same sentence pair than by chance.

    A side occurs in a sentence if its words stand there in order, with one word or more for each nonterminal; word
    alignments and limits of rules do not matter.

    Args:
        source, target: sentences of the same text, words separated by blanks, in the same order.

    Returns:
        float64 [rules], -ln p - ln n, where p is the probability of at least as many common sentence pairs, and n is
        the number of sentence pairs. So 0 is the significance of sides that occur once, and together; the thresholds
        alpha + epsilon and alpha - epsilon of the paper are numbers just above and just below 0.
    """
    targets = _target_sides(rules)
    source_id, target_id = rules.source_id, targets.source_id
    by_source = np.argsort(source_id, kind="stable")
    bounds = np.searchsorted(source_id[by_source], np.arange(int(source_id.max(initial=-1)) + 2))
    alone = np.zeros(len(bounds) - 1, np.int64), np.zeros(int(target_id.max(initial=-1)) + 1, np.int64)
    both, there = np.zeros(len(rules), np.int64), np.zeros(len(alone[1]), bool)
    pairs = 0
    for found, translated in zip(
        matching_sides(rules, source, "source sides"), matching_sides(targets, target, "target sides"), strict=True
    ):
        pairs += 1
        alone[0][found] += 1
        alone[1][translated] += 1
        there[translated] = True
        sides = [by_source[bounds[side] : bounds[side + 1]] for side in found.tolist()]
        candidates = np.concatenate(sides) if sides else np.zeros(0, np.int64)
        both[candidates[there[target_id[candidates]]]] += 1
        there[translated] = False
    return surprise(pairs, alone[0][source_id], alone[1][target_id], both) - math.log(max(pairs, 1))


def surprise(pairs: int, source: np.ndarray, target: np.ndarray, both: np.ndarray) -> np.ndarray:
    """Computes -ln p of Fisher's exact test, one-sided: two things share at least ``both`` of all pairs by chance.

    Args:
        pairs: number of all pairs.
        source, target, both: int64 [n], pairs with the one, the other, and both.

    Returns:
        float64 [n], >= 0.
    """
    source, target, both = (np.asarray(counts, np.float64) for counts in (source, target, both))
    # the sum over the shorter tail: its terms fall from the first one on, and none is larger than 1
    upper = both * pairs > source * target
    first = np.where(upper, both, both - 1)
    step = np.where(upper, 1.0, -1.0)
    total = np.where(first >= np.maximum(source + target - pairs, 0), 1.0, 0.0)
    logs = np.zeros(len(both))
    some = total > 0
    logs[some] = _log_probability(pairs, source[some], target[some], first[some])
    active, term = np.flatnonzero(some), np.ones(int(some.sum()))
    at = first.copy()
    while len(active):
        f, e, k, up = source[active], target[active], at[active], upper[active]
        above = (f - k) * (e - k) / ((k + 1) * (pairs - f - e + k + 1))
        with np.errstate(divide="ignore", invalid="ignore"):
            below = k * (pairs - f - e + k) / ((f - k + 1) * (e - k + 1))
        term *= np.where(up, above, below)
        total[active] += term
        at[active] += step[active]
        going = term > PRECISION * total[active]
        active, term = active[going], term[going]
    tail = np.where(total > 0, np.log(np.maximum(total, 1e-300)) + logs, -np.inf)
    with np.errstate(divide="ignore"):
        logs = np.where(upper, -tail, -np.log1p(-np.minimum(np.exp(np.minimum(tail, 0.0)), 1.0)))
    result: np.ndarray = np.maximum(logs, 0.0)
    return result


def _log_probability(pairs: int, source: np.ndarray, target: np.ndarray, both: np.ndarray) -> np.ndarray:
    """Logarithms of the hypergeometric probabilities of exactly ``both`` common pairs."""

    def choose(n: np.ndarray, k: np.ndarray) -> np.ndarray:
        ways: np.ndarray = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
        return ways

    every = np.full(len(both), float(pairs))
    result: np.ndarray = choose(source, both) + choose(every - source, target - both) - choose(every, target)
    return result


def _target_sides(rules: RuleTable) -> RuleTable:
    """A table whose source sides are the rules' target sides, with nonterminals in order."""
    lengths = np.diff(rules.offsets)
    _, on_source = rules.on_source()
    symbols = rules.symbols[~on_source]
    target_length = (lengths - rules.src_length).astype(np.int32)
    offsets = np.concatenate([[0], np.cumsum(target_length, dtype=np.int64)])
    sides = np.where(symbols < 0, -1, symbols).astype(np.int32)
    empty = np.zeros(len(rules), np.int32)
    return RuleTable(rules.words, sides, offsets, target_length, empty)
