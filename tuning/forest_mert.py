"""MERT on the hypergraphs of the last run beside the k-best lists of all runs (Kumar et al. 2009)."""

from __future__ import annotations

from dataclasses import dataclass

from lscfg.settings import setting
from lscfg.tuning import mert
from lscfg.tuning.optimisers import Step

HELP = "MERT on hypergraphs"
VERSION = 1


@dataclass(frozen=True)
class Settings(mert.Settings):
    """How MERT searches where a line search takes long."""

    restarts: int = setting(1, "random starting points beside the old weights", least=0)
    directions: int = setting(5, "random directions in each round beside the axes", least=0)
    edges_per_word: int = setting(50, "edges kept for each source word, best first", least=1)


def learn(step: Step, settings: Settings) -> mert.MertResult:
    """MERT on the last run's hypergraphs and the lists of all runs.

    Raises:
        InputError: the decoder has no hypergraphs.
    """
    return mert.mert(step.pool, step.weights, settings, step.seed, step.graphs())
