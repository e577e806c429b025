"""Counts of neighbouring symbols of a rule's sides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise

from lscfg.functions.function import escaped


def bigram_counts(head: str, symbols: Iterable[str]) -> Mapping[str, float]:
    """Counts of pairs of neighbours between the marks ``<r>`` and ``</r>``."""
    pairs = pairwise(["<r>", *symbols, "</r>"])
    return {name: float(n) for name, n in Counter(escaped(f"{head}:{a}_{b}") for a, b in pairs).items()}
