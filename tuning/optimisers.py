"""What an optimiser is for the tuning loop: from the lists so far and the last weights to new weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from lscfg.errors import InputError
from lscfg.formats.kbest import Hypothesis
from tuning.mert import MertSettings, mert
from tuning.mira import MiraSettings, mira
from tuning.pool import Pool
from tuning.pro import ProSettings, pro

if TYPE_CHECKING:
    from lscfg.decode.decoder import SentenceGraph

OPTIMISERS = ("mira", "mert", "pro", "forest-mert")
"""Those of lscfg itself; ``tuning.hosts`` runs those of cdec and Moses."""


@dataclass(frozen=True)
class Step:
    """What an optimiser learns from after a decoding run."""

    pool: Pool
    """The hypotheses of all runs."""
    lists: Sequence[Sequence[Hypothesis]]
    """Those of the last run."""
    weights: Mapping[str, float]
    """Where to start: the last run's weights, or the best run's after a collapse."""
    iteration: int
    """The run that was the last one, counted from 1."""
    seed: tuple[int, int]
    """The tuning's seed and the iteration."""
    graphs: Callable[[], Sequence[SentenceGraph | None]]
    """The hypergraphs of the last run, for whom they are of use.

    Raises:
        InputError: the decoder has none.
    """


class Learned(Protocol):
    """What an optimiser found."""

    @property
    def weights(self) -> dict[str, float]:
        """The weights by name, sorted."""

    @property
    def bleu(self) -> float:
        """BLEU (0 to 100) of the pool's best hypotheses under them."""


Optimiser = Callable[[Step], Learned]


@dataclass(frozen=True)
class OptimiserSettings:
    """The settings of all of lscfg's optimisers."""

    mira: MiraSettings = field(default_factory=MiraSettings)
    mert: MertSettings = field(default_factory=MertSettings)
    pro: ProSettings = field(default_factory=ProSettings)


def optimiser(name: str, settings: OptimiserSettings) -> Optimiser:
    """The optimiser of that name.

    Raises:
        InputError: there is none.
    """
    if name == "mira":
        return lambda step: mira(step.pool, step.weights, settings.mira, step.seed)
    if name == "mert":
        return lambda step: mert(step.pool, step.weights, settings.mert, step.seed)
    if name == "forest-mert":
        return lambda step: mert(step.pool, step.weights, settings.mert, step.seed, step.graphs())
    if name == "pro":
        return lambda step: pro(step.pool, step.weights, settings.pro, step.seed)
    raise InputError(f"no optimiser {name!r}; there are {', '.join(OPTIMISERS)}")
