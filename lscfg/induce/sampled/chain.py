"""Markov chains of trees and rules, and the schedule of kept samples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from time import perf_counter

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
"""Settings that define the target distribution. The others affect the way there and the kept samples."""


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
        "factor of a rule's base probability: that of its length, 1 / words for each symbol, lexical weights, or, for "
        "forests, probabilities of productions (pcfg); process: length for py, uniform for dp",
        choices=("process", *(name for name in BASES if name != "listed")),  # no set of rules is read
    )
    multiplicity: str = setting(
        "paper",
        "several derivations of a rule at one position count separately (paper) or as one (corrected)",
        choices=("paper", "corrected"),
    )
    moves: str = setting(
        "local",
        "draw node by node (local), all positions of the same rules together (type), a tree by sums over its rules "
        "(blocked), or propose trees (tree)",
        choices=MOVES,
    )
    offtree: str = setting(
        "uniform",
        "distribution of variables outside trees: uniform, or cut as often as in trees of the burn-in (informed); "
        "ignored: without the density factor, for comparison only, because the chain is biased",
        choices=("uniform", "informed", "ignored"),
    )
    start: str = setting(
        "random",
        "first trees: random, in normal form (minimal), or random with as few rules as possible (whole)",
        choices=STARTS,
    )
    alignments: str = setting(
        "separate",
        "several alignments of a pair: each is a separate pair (separate), or one is drawn (chosen)",
        choices=("separate", "chosen"),
    )
    states: int = setting(
        1,
        "hidden states of nonterminals, drawn with their rules",
        least=1,
        most=255,
        metavar="M",
        option="hidden-states",
    )
    max_cut: int = setting(
        7, "maximum words of a phrase that may be part of a larger rule; 0: rules are minimal", least=0, most=1000
    )
    max_words: int = setting(100, "maximum words on a side; longer pairs are left out", least=1, most=1000)
    sweeps: int = setting(70, "sweeps of each chain after burn-in", least=0, most=MAX_SWEEPS // 2, common=True)
    sample: str = setting("average", "use the rules of many sweeps, or of the last one", choices=("average", "last"))
    keep_every: int = setting(10, "keep a sample every N sweeps", least=1, most=MAX_SWEEPS)
    burn_in: int = setting(
        0, "sweeps before the first kept sample; 0 keeps the start, too", least=0, most=MAX_SWEEPS // 2
    )
    level_sweeps: int = setting(
        10, "sweeps before nodes of the next level are drawn, too; 0: all levels at once", least=0
    )
    start_temperature: float = setting(
        1.0, "temperature of the first sweep; falls to 1 during burn-in", least=0.01, most=100
    )
    chains: int = setting(1, "chains, whose rules are merged", least=1, most=MAX_CHAINS, common=True)
    shards: int = setting(
        1,
        "parts of the text that sweep in parallel from the same rules, in separate threads",
        least=1,
        most=4096,
    )
    seed: int = setting(1, "seed of all random choices", least=0, common=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.length == "none" and self.process == "py" and self.base in ("process", "length"):
            raise SettingError("base", "must be uniform or lexical if rules have no distribution of lengths")

        if self.resample and self.tables != "exact":
            raise SettingError("resample", "needs exact tables")
        if self.shards > 1 and (self.tables == "exact" or self.moves == "type"):
            raise SettingError("shards", "must be 1 with exact tables, and with moves by type")
        if self.offtree == "ignored" and self.moves in ("tree", "blocked"):
            raise SettingError("offtree", f"must not be ignored with moves {self.moves}, which have no density factor")
        if self.states > 1 and self.moves in ("blocked", "type"):
            raise SettingError("states", f"must be 1 with moves {self.moves}; only local and tree draw states")
        if self.states > 1 and self.chains > 1:
            raise SettingError("chains", "must be 1 with hidden states, because states of two chains do not correspond")
        if self.start_temperature != 1 and self.burn_in < 2:
            raise SettingError("start_temperature", "needs a burn_in of at least 2 sweeps, in which it falls to 1")

    def distribution(self) -> dict[str, object]:
        """The settings that define the target distribution; a chain without the density factor has another one."""
        facts = self.facts()
        biased = ("offtree",) if self.offtree == "ignored" else ()
        return {name: facts[name] for name in (*DISTRIBUTION, *biased)}

    @property
    def last(self) -> int:
        """The last sweep."""
        return self.burn_in + self.sweeps

    def options(self, chain: int = 0, places: bool = False, max_phrase: int = 10, held_out: int = 0) -> SamplerOptions:
        """Settings of the kernel's sampler."""
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
            density=self.offtree != "ignored",
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
        """The kept sweeps; 0 is the start."""
        if self.sample == "last":
            return (self.last,)
        return tuple(range(self.burn_in, self.last + 1, self.keep_every))

    def max_level(self, sweep: int) -> int | None:
        """The highest level of nodes in a sweep; None: all."""
        return 1 + (sweep - 1) // self.level_sweeps if self.level_sweeps else None

    def temperature(self, sweep: int) -> float:
        """Temperature of a sweep, which falls to 1 by equal factors."""
        left = max(0, self.burn_in - sweep) / max(1, self.burn_in - 1)
        return float(self.start_temperature**left)


@dataclass(frozen=True)
class Chain:
    """Samples and trace of a chain.

    Attributes:
        arrays: result of ``TreeSampler.arrays``; with states, of ``without_states``.
        trace: a record for each sweep; unscored: held-out pairs with too many rules.
    """

    arrays: dict[str, np.ndarray]
    trace: list[dict[str, object]]
    unscored: int = 0


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
    """Runs the sweeps of the settings, and keeps the samples of the settings.

    Args:
        beginning: first trees, instead of those in the settings.
        threads: number of threads for shards; results do not depend on it.

    Raises:
        InputError: the checkpoint is damaged, belongs to other text or settings, or has more sweeps; the shards
            outnumber the pairs; see ``Beginning.put``.
    """
    if settings.shards > text.pairs:
        raise InputError(f"{settings.shards} shards, but only {text.pairs} pairs")
    sampler = TreeSampler(text.forests, settings.options(chain, places, max_phrase, text.held_out))
    kept = frozenset(settings.kept())
    trace, unscored = checkpoint.load(sampler) if checkpoint else [], 0
    if beginning and not trace:
        beginning.put(sampler, chain)
    if len(trace) > settings.last + 1:
        raise InputError(f"chain {chain + 1} already has {len(trace) - 1} sweeps; ask for as many, or start again")
    with in_threads(min(threads, settings.shards), ahead=1) as engine:
        rest = _sweeps(sampler, settings, len(trace), part_bounds(text.pairs, settings.shards), engine)
        for record in log.progress(rest, f"chain {chain + 1}", settings.last + 1 - len(trace)):
            trace.append({"chain": chain + 1, **record})
            if record["sweep"] in kept:
                sampler.keep()
                if text.held_out:
                    log_probability, words, unscored = sampler.held_out()
                    trace[-1] |= {"held_out": log_probability / words} if words else {}
            if checkpoint:
                checkpoint.save(sampler, trace, record["sweep"] == settings.last)
    open_level = settings.max_level(settings.last)
    if settings.last and open_level is not None and open_level < sampler.sizes.max_level:
        highest = sampler.sizes.max_level
        log.info(
            f"nodes of levels {open_level + 1} to {highest} were never drawn; their variables keep their first values"
        )
    arrays = sampler.arrays()
    return Chain(without_states(arrays) if settings.states > 1 else arrays, trace, unscored)


def _sweeps(
    sampler: TreeSampler, settings: ChainSettings, first: int, shards: Sequence[int], engine: Engine
) -> Iterator[dict[str, object]]:
    """Yields a record after each remaining sweep; sweep 0 is the start."""
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
