"""What an optimiser is for the tuning loop: from the lists so far and the last weights to new weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from lscfg.formats.kbest import Hypothesis
from lscfg.kinds import OPTIMISERS, kind
from lscfg.settings import Declared
from lscfg.tuning.pool import Pool

if TYPE_CHECKING:
    from lscfg.decode.sentence import SentenceGraph


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


class OptimiserKind(Protocol):
    """What the module of an optimiser has; its row is in the entry-point group ``lscfg.optimisers``.

    ``INTERPOLATION``, which may be missing, is the part of the way to its weights that is usually taken, else 1;
    ``EDGES_PER_WORD`` in its settings asks for hypergraphs with so many edges.
    """

    HELP: str
    VERSION: int
    Settings: type[Declared]

    def learn(self, step: Step, settings: Any) -> Learned:
        """New weights; they depend on the arguments alone."""


def optimiser_kind(name: str) -> OptimiserKind:
    """The optimiser of that name.

    Raises:
        InputError: there is none.
    """
    found: OptimiserKind = kind(OPTIMISERS, name)
    return found


def optimiser(name: str, settings: Declared | None = None) -> Optimiser:
    """The optimiser of that name, with its own default settings where none are given.

    Raises:
        InputError: there is none.
    """
    found = optimiser_kind(name)
    return partial(_learn, found, settings or found.Settings())


def _learn(found: OptimiserKind, settings: Declared, step: Step) -> Learned:
    return found.learn(step, settings)
