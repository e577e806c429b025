"""Markov chains of trees and rules, and when their samples are kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any

import numpy as np

from lscfg import log
from lscfg.errors import InputError
from lscfg.induce.sampled.beginning import Beginning
from lscfg.induce.sampled.checkpoint import Checkpoint
from lscfg.induce.sampled.states import without_states
from lscfg.induce.sampled.text import SampledText
from lscfg.kernel.sample import (
    BASES,
    LENGTHS,
    MOVES,
    SAMPLE_MODELS,
    STARTS,
    TABLES,
    SamplerOptions,
    TreeSampler,
)
from lscfg.parallel.choose import in_threads
from lscfg.parallel.engine import Engine, part_bounds
from lscfg.settings import Declared, SettingError, setting

MAX_SWEEPS, MAX_CHAINS = 2**20 - 1, 4096
"""Limits set by the names of the kernel's random numbers."""

DISTRIBUTION = (
    *("process", "alpha", "discount", "tables", "resample", "length", "mean_length", "base", "multiplicity"),
    *("alignments", "states", "max_cut", "max_words"),
)
"""Settings that decide what chains draw from. The others say how they get there, and what is kept."""


@dataclass(frozen=True)
class ChainSettings(Declared):
    """Settings of sampling; the defaults are the paper's.

    Raises:
        SettingError: a value is out of its range.
    """

    process: str = setting(
        "py", "Pitman-Yor process for each length of rules (py), or one Dirichlet process (dp)", choices=SAMPLE_MODELS
    )
    alpha: float = setting(5.0, "concentration of the processes", above=0)
    discount: float = setting(0.5, "discount of the Pitman-Yor processes; 0: Dirichlet processes", least=0, below=1)
    tables: str = setting(
        "power",
        "tables of the processes: n^discount for n tokens of a rule (power), or each token sits at one (exact)",
        choices=TABLES,
    )
    resample: bool = setting(
        False, "draw new concentrations, discounts and mean length between sweeps; needs exact tables"
    )
    length: str = setting(
        "process",
        "distribution of rule lengths; process: poisson of py, none of dp",
        choices=("process", *LENGTHS),
    )
    mean_length: float = setting(2.0, "mean of the distribution of rule lengths", above=0, most=1000)
    base: str = setting(
        "process",
        "what rules begin with: the probability of their length, 1 / words for each symbol, or lexical weights; "
        "process: length of py, uniform of dp",
        choices=("process", *BASES[:3]),  # no list of rules is read
    )
    multiplicity: str = setting(
        "paper",
        "a rule of several derivations at a place: each counts (paper), or all count as one (corrected)",
        choices=("paper", "corrected"),
    )
    moves: str = setting(
        "local",
        "draw node by node (local), all places of the same rules together (type), a tree by sums over its rules "
        "(blocked), or propose trees (tree)",
        choices=MOVES,
    )
    offtree: str = setting(
        "uniform",
        "how variables outside trees are drawn: uniformly, or as often cut as in trees of the burn-in (informed)",
        choices=("uniform", "informed"),
    )
    start: str = setting(
        "random",
        "first trees: random, in normal form (minimal), or random and as few rules as can be (whole)",
        choices=STARTS,
    )
    alignments: str = setting(
        "separate",
        "several alignments of a pair: each is a separate pair (separate), or one is drawn (chosen)",
        choices=("separate", "chosen"),
    )
    states: int = setting(
        1,
        "hidden states of nonterminals, drawn with the rules that they belong to",
        least=1,
        most=255,
        metavar="M",
        option="hidden-states",
    )
    max_cut: int = setting(
        7, "most words of a phrase that need not be a nonterminal; 0: rules are minimal", least=0, most=1000
    )
    max_words: int = setting(100, "most words of a side; longer pairs are left out", least=1, most=1000)
    sweeps: int = setting(70, "sweeps of each chain after burn-in", least=0, most=MAX_SWEEPS // 2, common=True)
    sample: str = setting("average", "rules of many sweeps, or of the last one", choices=("average", "last"))
    keep_every: int = setting(10, "sweeps from one that is kept to the next", least=1, most=MAX_SWEEPS)
    burn_in: int = setting(
        0, "sweeps before the first one that is kept; 0: the beginning is kept too", least=0, most=MAX_SWEEPS // 2
    )
    level_sweeps: int = setting(10, "sweeps before nodes of the next level take part; 0: all levels at once", least=0)
    start_temperature: float = setting(
        1.0, "temperature of the first sweep; it falls to 1 in burn-in", least=0.01, most=100
    )
    chains: int = setting(1, "chains, whose rules are joined", least=1, most=MAX_CHAINS, common=True)
    shards: int = setting(
        1,
        "parts of the text that are swept in parallel from the same rules; each may have a separate thread",
        least=1,
        most=4096,
    )
    seed: int = setting(1, "seed of what is drawn", least=0, common=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.length == "none" and self.process == "py" and self.base in ("process", "length"):
            raise SettingError("base", "must be uniform or lexical where rules have no distribution of lengths")

        if self.resample and self.tables != "exact":
            raise SettingError("resample", "needs exact tables")
        if self.shards > 1 and (self.tables == "exact" or self.moves == "type"):
            raise SettingError("shards", "must be 1 where tables are exact or cuts are drawn by type")
        if self.states > 1 and self.moves in ("blocked", "type"):
            raise SettingError("states", f"must be 1 where moves are {self.moves}; local and tree draw states")
        if self.states > 1 and self.chains > 1:
            raise SettingError("chains", "must be 1 where there are states: those of two chains are not the same")

    @property
    def last(self) -> int:
        """The last sweep."""
        return self.burn_in + self.sweeps

    def options(self, chain: int = 0, places: bool = False, max_phrase: int = 10, held_out: int = 0) -> SamplerOptions:
        """Of the kernel's sampler."""
        return SamplerOptions(
            self.process,
            self.alpha,
            self.discount,
            self.tables,
            "" if self.length == "process" else self.length,
            mean_length=self.mean_length,
            base="" if self.base == "process" else self.base,
            corrected=self.multiplicity == "corrected",
            moves=self.moves,
            informed=self.offtree == "informed",
            start=self.start,
            seed=self.seed,
            chain=chain,
            max_phrase=max_phrase,
            places=places,
            held_out=held_out,
            states=self.states,
        )

    def kept(self) -> tuple[int, ...]:
        """The sweeps that are kept; 0 is the beginning."""
        if self.sample == "last":
            return (self.last,)
        return tuple(range(self.burn_in, self.last + 1, self.keep_every))

    def max_level(self, sweep: int) -> int | None:
        """The highest level of nodes that take part in a sweep; None: all."""
        return 1 + (sweep - 1) // self.level_sweeps if self.level_sweeps else None

    def temperature(self, sweep: int) -> float:
        """That of a sweep: falls to 1 by equal factors."""
        left = max(0, self.burn_in - sweep) / max(1, self.burn_in - 1)
        return float(self.start_temperature**left)


@dataclass(frozen=True)
class Chain:
    """Samples and trace of a chain.

    Attributes:
        arrays: of ``TreeSampler.arrays``; with states those of ``without_states``.
        trace: a record for each sweep.
    """

    arrays: dict[str, np.ndarray]
    trace: list[dict[str, Any]]


def run_chain(
    text: SampledText,
    settings: ChainSettings,
    chain: int,
    places: bool,
    max_phrase: int,
    checkpoint: Checkpoint | None = None,
    threads: int = 1,
    beginning: Beginning | None = None,
) -> Chain:
    """Runs the sweeps that the settings ask for, and keeps the samples that they ask for.

    Args:
        beginning: first trees, instead of those that the settings name.
        threads: that sweep shards; their number changes no result.

    Raises:
        InputError: the checkpoint is damaged, of other text or settings, or of more sweeps; there are more shards than
            pairs; see ``Beginning.put``.
    """
    if settings.shards > text.pairs:
        raise InputError(f"{settings.shards} shards, but only {text.pairs} pairs")
    sampler = TreeSampler(text.forests, settings.options(chain, places, max_phrase, text.held_out))
    kept = frozenset(settings.kept())
    trace = checkpoint.load(sampler) if checkpoint else []
    if beginning and not trace:
        beginning.put(sampler, chain)
    if len(trace) > settings.last + 1:
        raise InputError(f"chain {chain + 1} has {len(trace) - 1} sweeps already; ask for as many, or start again")
    with in_threads(min(threads, settings.shards), ahead=1) as engine:
        rest = _sweeps(sampler, settings, len(trace), part_bounds(text.pairs, settings.shards), engine)
        for record in log.progress(rest, f"chain {chain + 1}", settings.last + 1 - len(trace)):
            trace.append({"chain": chain + 1, **record})
            if record["sweep"] in kept:
                sampler.keep()
                if text.held_out:
                    trace[-1]["held_out"] = sampler.held_out()[0] / text.held_out_words
            if checkpoint:
                checkpoint.save(sampler, trace, record["sweep"] == settings.last)
    open_level = settings.max_level(settings.last)
    if settings.last and open_level is not None and open_level < sampler.sizes.max_level:
        highest = sampler.sizes.max_level
        log.info(f"nodes of level {open_level + 1} to {highest} took no part: their variables are as at the beginning")
    arrays = sampler.arrays()
    return Chain(without_states(arrays) if settings.states > 1 else arrays, trace)


def _sweeps(
    sampler: TreeSampler, settings: ChainSettings, first: int, shards: Sequence[int], engine: Engine
) -> Iterator[dict[str, Any]]:
    """A record of each sweep from the first to be done, when it is; sweep 0 is the beginning."""
    before = asdict(sampler.state())
    if not first:
        yield {"sweep": 0, **before}
    for sweep in range(max(first, 1), settings.last + 1):
        began, temperature = perf_counter(), settings.temperature(sweep)
        if settings.shards > 1:
            sampler.sweep_in_shards(sweep, shards, engine.map, settings.max_level(sweep), temperature)
        else:
            sampler.sweep(sweep, settings.max_level(sweep), temperature)
        if settings.resample:
            sampler.resample(sweep)
        if sweep <= settings.burn_in:
            sampler.adapt()
        after = asdict(sampler.state())
        of_sweep = {name: after[name] - before[name] for name in after if name.endswith(("_drawn", "_moved"))}
        yield {"sweep": sweep, **after, **of_sweep, "temperature": temperature, "seconds": perf_counter() - began}
        before = after
