"""Bytes with random damage."""

from collections.abc import Iterator

import numpy as np


def damaged_copies(data: bytes, times: int, seed: int) -> Iterator[bytes]:
    """Copies of some bytes, each with three random bytes at random positions."""
    rng = np.random.default_rng(seed)
    for _ in range(times):
        damaged = bytearray(data)
        for position in rng.integers(0, len(data), size=3):
            damaged[position] = rng.integers(0, 256)
        yield bytes(damaged)
