"""MERT on the hypergraphs of the last run, next to the k-best lists of all runs (Kumar et al. 2009)."""

from __future__ import annotations

from dataclasses import dataclass

from lscfg.settings import setting
from lscfg.tuning.mert import MertSettings, mert
from lscfg.tuning.optimisers import HypergraphSettings, Learned, Optimiser, Step

# Envelopes of the last run's hypergraphs are joined with all k-best lists so far, so no old hypergraph is kept.
# Hypergraphs are pruned to 50 edges per source word by max-marginals.


@dataclass(frozen=True)
class ForestMertSettings(HypergraphSettings, MertSettings):
    """Settings of MERT on hypergraphs, where each line search takes long."""

    restarts: int = setting(1, "random starting points besides the old weights", least=0)
    directions: int = setting(5, "random directions in each round besides the axes", least=0)


class ForestMert(Optimiser[ForestMertSettings]):
    """MERT on the last run's hypergraphs and the lists of all runs."""

    HELP = "MERT on hypergraphs"
    Settings = ForestMertSettings

    def learn(self, step: Step, settings: ForestMertSettings) -> Learned:
        return mert(step.pool, step.weights, settings, step.seed, step.graphs())
