"""Optimisers of the tuning loop: from the lists so far and the last weights to new weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from lscfg.decode.request import SentenceGraph
from lscfg.formats.kbest import Hypothesis
from lscfg.kinds import Kind, Registry, SettingsT
from lscfg.settings import Declared, setting
from lscfg.tuning.pool import Pool


@dataclass(frozen=True)
class Step:
    """Input of an optimiser after a decoding run."""

    pool: Pool
    """The hypotheses of all runs."""
    lists: Sequence[Sequence[Hypothesis]]
    """The lists of the last run."""
    weights: Mapping[str, float]
    """Start weights: those of the last run, or of the best run after a collapse."""
    iteration: int
    """Number of the last run, counted from 1."""
    seed: tuple[int, int]
    """The tuning's seed and the iteration."""
    graphs: Callable[[], Sequence[SentenceGraph | None]]
    """The hypergraphs of the last run, for optimisers that learn from hypergraphs.

    Raises:
        InputError: the decoder has none.
    """


@dataclass(frozen=True)
class Learned:
    """Result of an optimiser."""

    weights: dict[str, float]
    """The start weights with the pool's features re-weighted, sorted by name."""
    bleu: float
    """BLEU (0 to 100) of the pool's best hypotheses under these weights."""


Learner = Callable[[Step], Learned]
"""An optimiser with its settings."""


@dataclass(frozen=True)
class HypergraphSettings(Declared):
    """Settings of an optimiser that also learns from hypergraphs."""

    edges_per_word: int = setting(50, "edges kept for each source word, best first", least=1)


class Optimiser(Kind[SettingsT]):
    """Learns weights from the lists of a tuning."""

    INTERPOLATION: float = 1.0
    """Usual share of the way from the old to the learned weights."""
    BLEU_ONLY: bool = False
    """True: the optimiser refuses other objectives."""

    def learn(self, step: Step, settings: SettingsT) -> Learned:
        """Learns new weights, which depend on the arguments alone."""
        raise NotImplementedError


OPTIMISERS: Registry[Optimiser[Declared]] = Registry("lscfg.optimisers", Optimiser, "optimiser")


def takes_graphs(name: str) -> bool:
    """True if an optimiser also learns from hypergraphs."""
    return issubclass(OPTIMISERS[name].Settings, HypergraphSettings)


def learner_of(name: str, settings: Declared | None = None) -> Learner:
    """The optimiser of a name with its settings, by default its own defaults.

    Raises:
        InputError: no optimiser has the name.
    """
    found = OPTIMISERS[name]
    return partial(_learn, found, settings or found.Settings())


def _learn(found: Optimiser[Declared], settings: Declared, step: Step) -> Learned:
    return found.learn(step, settings)
