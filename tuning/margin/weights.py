"""Weights that move along gradients, and their averages."""

from __future__ import annotations

import numpy as np


class AveragedWeights:
    """Weights by number, all 0 at first.

    Each gradient moves a weight by rate / sqrt(1 + sum of its squared gradients so far) (Duchi et al. 2011). The
    average is over all batches, since the last weights follow the last pairs.
    """

    def __init__(self, size: int):
        self.value, self._squares, self._late = (np.zeros(size) for _ in range(3))

    def __len__(self) -> int:
        return len(self.value)

    def grow(self, size: int) -> None:
        """Adds weights of 0 up to a number of weights."""
        if size > len(self.value):
            more = np.zeros(max(size, 2 * len(self.value)) - len(self.value))
            self.value, self._squares, self._late = (
                np.concatenate([array, more]) for array in (self.value, self._squares, self._late)
            )

    def follow(self, numbers: np.ndarray, gradient: np.ndarray, rate: float, batch: int) -> None:
        """Moves some weights, each named once, along a gradient.

        Args:
            batch: the batches before this one.
        """
        self._squares[numbers] += gradient * gradient
        step = rate * gradient / np.sqrt(1 + self._squares[numbers])
        self.value[numbers] += step
        self._late[numbers] += batch * step

    def average(self, batches: int) -> np.ndarray:
        """The mean of the weights after each of the batches."""
        return self.value - self._late / max(batches, 1)
