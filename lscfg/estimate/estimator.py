"""Estimators of L-SCFG parameters: from derivations to a model."""

from __future__ import annotations

from pathlib import Path

from lscfg.extract.derive import Derivations
from lscfg.kinds import Kind, Registry, SettingsT
from lscfg.model.parameters import Estimate, Parameters
from lscfg.settings import Declared


class Estimator(Kind[SettingsT]):
    """Learns the parameters of an L-SCFG."""

    CHECKPOINTS: tuple[str, ...] = ()
    """Files that an iterating estimator keeps in ``folder``; empty for other estimators."""

    def estimate(
        self,
        derivations: Derivations,
        settings: SettingsT,
        threads: int = 1,
        folder: Path | None = None,
        resume: bool = False,
    ) -> Parameters | Estimate:
        """Estimates a model.

        Args:
            threads: number of threads; the result does not depend on it.
            folder: folder for checkpoints; resume: continue from the checkpoint there.
        """
        raise NotImplementedError


ESTIMATORS: Registry[Estimator[Declared]] = Registry("lscfg.estimators", Estimator, "estimator")

DEFAULT_ESTIMATOR = "clusters"
