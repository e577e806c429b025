"""Estimators of L-SCFG parameters: from derivations to a model."""

from __future__ import annotations

import os
from pathlib import Path

from lscfg.errors import InputError
from lscfg.extract.derive import Derivations
from lscfg.grammar.table import MAX_TENSOR_ARITY
from lscfg.kinds import Kind, Registry, SettingsT
from lscfg.model.parameters import Estimate, Parameters
from lscfg.settings import Declared


class Estimator(Kind[SettingsT]):
    """Learns the parameters of an L-SCFG."""

    CHECKPOINTS: tuple[str, ...] = ()
    """Files that an iterating estimator keeps in ``folder``; empty for other estimators."""

    RULES: bool = True
    """The model has parameters of rules, from which charts show marginals of spans."""

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


def check_states(m: int, arity: int) -> None:
    """Refuses a number of hidden states whose tensors cannot fit this machine, before hours of work.

    Args:
        m: hidden states.
        arity: nonterminals of the largest rules.

    Raises:
        InputError: a single tensor needs more than the memory.
    """
    order = min(arity, MAX_TENSOR_ARITY) + 1
    needed, memory = 8 * m**order, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if needed > memory:
        raise InputError(
            f"m = {m} hidden states need {needed / 2**30:,.0f} GiB for a rule of {order - 1} nonterminals, and this "
            f"machine has {memory / 2**30:,.0f} GiB; give a smaller -m"
        )


ESTIMATORS: Registry[Estimator[Declared]] = Registry("lscfg.estimators", Estimator, "estimator")

DEFAULT_ESTIMATOR = "clusters"
