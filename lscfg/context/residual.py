"""Scores from directions that frequencies do not explain: softmax on singular vectors of residuals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from lscfg.context.low_dimensional import Fitted, LowDimensionalLearner, SentenceSettings, StepSettings, Task
from lscfg.context.softmax import fit_shares
from lscfg.errors import InputError
from lscfg.estimate.svd import truncated_svd
from lscfg.settings import setting


@dataclass(frozen=True)
class ResidualSettings(SentenceSettings, StepSettings):
    """Settings of directions and softmax."""

    k: int = setting(50, "dimensions of both sides together", least=1)
    smoothing: float = setting(10.0, "value added to the sums of squares that normalise columns", above=0)


class Residual(LowDimensionalLearner[ResidualSettings]):
    """Softmax on singular vectors of residuals."""

    HELP = "softmax on the directions that explain most of the variance that frequencies leave"
    VERSION = 1
    Settings = ResidualSettings

    def fit(self, task: Task, settings: ResidualSettings) -> Fitted:
        """The SVD of D_x^-1/2 [X Y]'(Z - P) D_r^-1/2, P being relative frequencies; then as ``softmax``.

        Raises:
            InputError: the dimensions exceed the number of items or rules.
        """
        asked = task.asked(task.used)
        if settings.k > min(len(task.views.items), task.rows) - 1 or not len(asked):
            raise InputError(
                f"{settings.k} dimensions for {len(task.views.items)} items and {task.rows} rules; choose fewer"
            )
        choices, rows = task.choices(asked)
        shares = np.exp(choices.log_shares(np.log(np.maximum(task.counts[rows], 1e-9))))
        values = -shares
        values[choices.right] += 1
        of_token = np.repeat(np.arange(len(asked)), choices.sizes)
        residuals = sparse.csr_matrix((values, (of_token, rows)), (len(asked), task.rows))
        items = task.views.matrix[asked]
        scales = [
            1 / np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=0)).ravel() + settings.smoothing)
            for matrix in (items, residuals)
        ]
        cross = sparse.diags(scales[0]) @ (items.T @ residuals) @ sparse.diags(scales[1])
        u, _, _ = truncated_svd(cross.tocsr(), settings.k, settings.seed, threads=task.threads)
        return fit_shares(task, scales[0][:, None] * u, settings, "residual")
