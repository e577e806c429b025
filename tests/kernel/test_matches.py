"""Matching n-grams of all pairs of sequences against counters."""

from collections import Counter

import numpy as np
import pytest

from lscfg.kernel.lists import count_matches


def grams(sequence, length):
    return Counter(tuple(sequence[k : k + length]) for k in range(len(sequence) - length + 1))


@pytest.mark.parametrize("items", [3, 40])  # in most sequences, or in few
def test_matches_are_those_of_counters(items):
    rng = np.random.default_rng(items)
    sequences = [rng.integers(-items, items, size).astype(np.int32) for size in rng.integers(0, 14, 40)]
    found = count_matches(sequences, 4)
    for n, matrix in enumerate(found, 1):
        counts = [grams(one.tolist(), n) for one in sequences]
        assert matrix.tolist() == [[(one & other).total() for other in counts] for one in counts]


def test_no_sequences_have_no_pairs():
    assert count_matches([], 2).shape == (2, 0, 0)
