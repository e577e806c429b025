"""Scores by canonical correlation between contexts and rules (thesis, section 4.1.2, CCA)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lscfg.context.low_dimensional import Fitted, LowDimensionalLearner, RidgeSettings, Task
from lscfg.context.ls import sums_by_row
from lscfg.errors import InputError
from lscfg.estimate.svd import normalised_rows, signs_of
from lscfg.settings import setting


@dataclass(frozen=True)
class CCASettings(RidgeSettings):
    """Settings of the space that contexts and rules share."""

    m: int = setting(
        100, "dimensions of the space that contexts and rules share; at most 2 k, or 3 k with gaps", least=1
    )


class CanonicalCorrelation(LowDimensionalLearner[CCASettings]):
    """Cosine of contexts and rules in a space that they share."""

    HELP = "cosine after canonical correlation analysis of contexts and rules"
    VERSION = 1
    Settings = CCASettings
    TAKES_TEXT = True

    def fit(self, task: Task, settings: CCASettings) -> Fitted:
        """Directions of D_c^-1/2 C'Z D_z^-1/2, where D is the diagonal of a view's covariance."""
        vectors, rules = shared_space(task, settings)
        return Fitted("cosine", vectors, np.zeros(vectors.shape[1]), normalised_rows(rules), np.zeros(task.rows))


def shared_space(task: Task, settings: CCASettings) -> tuple[np.ndarray, np.ndarray]:
    """Vectors of items, float64 [items, m], and of rules, float64 [rows, m], in the shared space.

    Raises:
        InputError: m exceeds the number of dimensions of contexts.
    """
    contexts, own = task.contexts(settings), task.own[task.used]
    if settings.m > contexts.shape[1]:
        raise InputError(f"m = {settings.m} exceeds the {contexts.shape[1]} dimensions of contexts; choose fewer")
    scales = 1 / np.sqrt((contexts**2).sum(axis=0) + settings.ridge), 1 / np.sqrt(task.counts + settings.ridge)
    cross = scales[0][:, None] * sums_by_row(contexts, own, task.rows).T * scales[1]
    u, sigma, vt = np.linalg.svd(cross, full_matrices=False)
    m = min(settings.m, len(sigma))
    signs = signs_of(u[:, :m])
    directions, rules = scales[0][:, None] * u[:, :m] * signs, scales[1][:, None] * vt[:m].T * signs
    return task.basis(settings) @ directions, rules
