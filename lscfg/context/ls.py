"""Scores by least squares from contexts to rules (thesis, section 4.1.2, LS)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lscfg.context.low_dimensional import Fitted, LowDimensionalLearner, RidgeSettings, Task


@dataclass(frozen=True)
class LSSettings(RidgeSettings):
    """Settings of least squares."""


class LeastSquares(LowDimensionalLearner[LSSettings]):
    """Least squares from contexts to indicators of rules."""

    HELP = "least squares from the context's dimensions to indicators of rules"
    VERSION = 1
    Settings = LSSettings
    TAKES_TEXT = True

    def fit(self, task: Task, settings: LSSettings) -> Fitted:
        """Solves beta = (C'C + ridge I)^-1 C'Z, where one column of C is 1 and Z indicates each token's rule."""
        contexts, own = task.contexts(settings), task.own[task.used]
        extended = np.column_stack([contexts, np.ones(len(contexts))])
        gram = extended.T @ extended + settings.ridge * np.eye(extended.shape[1])
        beta = np.linalg.solve(gram, sums_by_row(extended, own, task.rows).T).T
        basis = task.basis(settings)
        return Fitted("dot", basis, np.zeros(basis.shape[1]), beta[:, :-1], beta[:, -1])


def sums_by_row(values: np.ndarray, own: np.ndarray, rows: int) -> np.ndarray:
    """float64 [rows, columns], sum of the values of each row's tokens; ``own`` is the row of each token, or -1."""
    order = np.argsort(own, kind="stable")[(own < 0).sum() :]
    begin = np.searchsorted(own[order], np.arange(rows))
    present = np.diff(np.append(begin, len(order))) > 0
    sums = np.zeros((rows, values.shape[1]))
    if len(order):
        sums[present] = np.add.reduceat(values[order], begin[present])
    return sums
