"""Phrase-decomposition forests of a corpus, and samples of their trees (plugin/sample)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np

from lscfg._kernel import ffi, lib
from lscfg.io.layout import check_layout, check_offsets
from lscfg.kernel.base import LineError
from lscfg.kernel.extract import DROP_REASONS, Collector

SAMPLE_MODELS = ("py", "dp")
"""Models of rules, in the kernel's numbering."""

MOVES = ("local", "tree", "blocked", "type")
"""Moves of the sampler, in the kernel's numbering."""

TABLES = ("power", "exact")
LENGTHS = ("poisson", "geometric", "none")
BASES = ("length", "uniform", "lexical", "listed", "pcfg")
STARTS = ("random", "minimal", "whole")
"""Rule tables, length distributions, base distributions and initial trees, each in the kernel's numbering."""


@dataclass(frozen=True)
class ForestSizes:
    """Sizes of a corpus."""

    pairs: int
    nodes: int
    edges: int
    bare: int
    """Pairs of one node, whose only rule is the whole pair."""
    max_level: int
    """Minimal edges in a tree of the largest pair."""
    dropped: dict[str, int]
    """Pairs by reason."""


@dataclass(frozen=True)
class GivenForest:
    """A forest with labels on its edges; tails precede their heads, and the root is last."""

    span: np.ndarray
    """int32 [nodes, 2]; the tails of an edge lie side by side within the head's span, in order; none is empty."""
    first_edge: np.ndarray
    """int32 [nodes + 1]."""
    label: np.ndarray
    """int32 [edges]."""
    first_tail: np.ndarray
    """int32 [edges + 1]."""
    tails: np.ndarray
    """int32, nodes."""


class PhraseForests(Collector):
    """The phrase-decomposition forests of word-aligned pairs, or given forests after ``label``.

    Args:
        max_cut: phrases with more words on a side are always heads of rules; 0: all phrases are, and rules are minimal.
            Of given forests, nodes with more edges in their largest tree.
        max_words: longer pairs are skipped; 0: no limit.
        drop: skips all other bad pairs too.
    """

    def __init__(self, max_cut: int = 7, max_words: int = 0, drop: bool = False):
        if not 0 <= max_cut <= 1_000_000:
            raise ValueError(f"max_cut {max_cut} out of range")
        super().__init__(lib.lscfg_phrase_forests_new(max_cut, max_words, drop), lib.lscfg_phrase_forests_free)
        self.given = False
        """True for given forests, whose rules are fragments: see ``lscfg_phrase_forests_label``."""

    def label(self, category: np.ndarray, log_weight: np.ndarray) -> None:
        """Sets the labels of given forests, before the first one.

        Args:
            category: int32 [labels], of the head; log_weight: float64 [labels], log probability given the category.

        Raises:
            LineError: a number is out of its range, or labels or forests exist.
        """
        of, weight = np.ascontiguousarray(category, np.int32), np.ascontiguousarray(log_weight, np.float64)
        buffers = ffi.from_buffer("int32_t[]", of), ffi.from_buffer("double[]", weight)
        self._check(lib.lscfg_phrase_forests_label(self._pointer, len(of), *buffers, self._error))
        self.given = True

    def give(self, forest: GivenForest) -> None:
        """Adds a given forest.

        Raises:
            LineError: the arrays are no such forest; nothing was added.
            ValueError: an array of offsets has the wrong length, or its last offset is not the length of the array that
                it divides.
        """
        if len(forest.first_edge) != len(forest.span) + 1 or len(forest.first_tail) != len(forest.label) + 1:
            raise ValueError("the arrays of a forest differ in length")
        if forest.first_edge[-1] != len(forest.label) or forest.first_tail[-1] != len(forest.tails):
            raise ValueError("the offsets of a forest do not end at the ends of its arrays")
        arrays = {name: np.ascontiguousarray(array, np.int32) for name, array in vars(forest).items()}
        made = ffi.new("lscfg_given_forest *", {"n_nodes": len(forest.span)})
        kept = {
            name: ffi.from_buffer("int32_t[][2]" if name == "span" else "int32_t[]", array)
            for name, array in arrays.items()
        }
        for name, buffer in kept.items():
            setattr(made, name, buffer)
        self._check(lib.lscfg_phrase_forests_give(self._pointer, made, self._error))

    def add(self, src: str, tgt: str, links: str) -> None:
        """Adds one pair: words separated by blanks, links ``i-j`` counted from 0.

        Not allowed once a sampler uses the forests.

        Raises:
            LineError: an empty side, a word that a grammar cannot contain, or a malformed or out-of-range link.
        """
        self._add(lib.lscfg_phrase_forests_add, src, tgt, links)

    def join(self, src: str, tgt: str, links: str) -> None:
        """Adds another alignment of the last pair, with the same words; samples choose among up to 8 alignments.

        Raises:
            LineError: see ``add``, or the pair already has 8.
        """
        self._add(lib.lscfg_phrase_forests_join, src, tgt, links)

    def sizes(self) -> ForestSizes:
        """Returns the sizes so far."""
        v = ffi.new("lscfg_phrase_forests_view *")
        lib.lscfg_phrase_forests_get(self._pointer, v)
        dropped = {name: int(v.dropped[k]) for k, name in enumerate(DROP_REASONS) if k and v.dropped[k]}
        return ForestSizes(v.n_pairs, v.n_nodes, v.n_edges, v.n_bare, v.max_level, dropped)


CHECKPOINT = {
    "rules.symbols": "int32 [symbols]",
    "rules.offsets": "int64 [rules + 1]",
    "rules.src_length": "int32 [rules]",
    "rules.arity": "int32 [rules]",
    "count": "int32 [rules]",
    "kept": "int64 [rules]",
    "kept_short": "int64 [rules]",
    "places": "int32 [places, 8]",
    "edge": "int32 [nodes]",
    "cut": "uint8 [nodes]",
    "node_state": "uint8 [nodes]",
    "rule": "int32 [nodes]",
    "length.tokens": "int64 [lengths]",
    "length.tables": "float64 [lengths]",
    "length.alpha": "float64 [lengths]",
    "length.discount": "float64 [lengths]",
    "mean_length": "float64 [1]",
    "seats": "int32 [seats, 3]",
    "cut_rates": "float64 [rates]",
    "log_ways": "float64 [1]",
    "state": "int64 [10]",
}
"""Arrays of a checkpoint; see lscfg/sample.h."""


@dataclass(frozen=True)
class SampleState:
    """Status of a chain: current rules of all trees, and counts of decisions."""

    tokens: int
    types: int
    log_joint: float
    """Log probability of all rules, one after the other in the order of their numbers."""
    edges_drawn: int
    edges_moved: int
    """Decisions that changed an edge."""
    cuts_drawn: int
    cuts_moved: int
    """Decisions that changed a cut."""
    trees_drawn: int
    trees_moved: int
    """Accepted trees."""
    types_drawn: int
    types_moved: int
    """Accepted cuts of the same type."""
    alpha: float
    """Concentration of the processes, averaged over tokens."""
    discount: float
    """Discount of the processes, averaged over tokens."""
    mean_length: float
    """Mean length of the rules."""


class Shard(Collector):
    """A range of a sampler's pairs, swept against the rules of all pairs."""

    def __init__(self, sampler: TreeSampler, first: int, last: int):
        self._sampler = sampler  # the kernel points into it
        super().__init__(lib.lscfg_shard_new(sampler._pointer, first, last), lib.lscfg_shard_free)

    def sweep(self, number: int, max_level: int, temperature: float) -> Self:
        """Runs ``TreeSampler.sweep`` once."""
        self._check(lib.lscfg_shard_sweep(self._pointer, number, max_level, temperature, self._error))
        return self


@dataclass(frozen=True)
class SamplerOptions:
    """Distributions and moves of a chain."""

    model: str = "py"
    """One of ``SAMPLE_MODELS``."""
    alpha: float = 5.0
    """Concentration, > 0."""
    discount: float = 0.5
    """In [0, 1); unused by a Dirichlet process."""
    tables: str = "power"
    """One of ``TABLES``: n^discount for n tokens of a rule, or tokens sit at tables."""
    length: str = ""
    """One of ``LENGTHS``; empty: the model's own."""
    mean_length: float = 2.0
    """> 0."""
    base: str = ""
    """One of ``BASES``; empty: the model's own. With ``listed``, only the rules of ``TreeSampler.restore`` are
    possible.
    """
    density: bool = True
    """Weights trees by the choices outside them; the chain is biased otherwise."""
    original: int = 0
    """Differences of the program by the paper's authors, which bias the chain; 1: forced cuts have two values in the
    weights of trees, 2: the rules of an option are weighted separately, 3: both.
    """
    corrected: bool = False
    """Divides a rule's probability by the number of derivations that the rule merges at its site."""
    moves: str = "local"
    """One of ``MOVES``: node by node; a whole tree, which is mostly rejected; a tree by inside sums over all rules;
    node by node, together with all nodes that could share the same rules.
    """
    informed: bool = False
    """Samples variables outside trees as set by ``TreeSampler.adapt``, not uniformly."""
    start: str = "random"
    """One of ``STARTS``."""
    seed: int = 1
    chain: int = 0
    """0 to 4095; chains of a seed are independent."""
    max_phrase: int = 10
    """Longest span of a rule that ``kept_short`` counts."""
    places: bool = False
    """Keeps the positions of the rules."""
    held_out: int = 0
    """Pairs at the end that are not sampled."""
    states: int = 1
    """Hidden states of the nodes that begin rules, up to 255; more than one excludes the moves ``blocked`` and
    ``type``, and held-out pairs.
    """

    def __post_init__(self) -> None:
        sizes = self.alpha > 0 and 0 <= self.discount < 1 and self.mean_length > 0 and self.held_out >= 0
        if not (sizes and 0 <= self.chain < 4096 and 0 <= self.seed < 2**64):
            raise ValueError("settings of the sampler out of range")
        hidden = self.states > 1 and (self.moves in ("blocked", "type") or self.held_out)
        if not 1 <= self.states < 256 or hidden:
            raise ValueError("states of the sampler out of range, or where there may be none")

    def fault(self, given: bool) -> str:
        """Describes why the options do not go with given forests, or with those of text; empty if they do."""
        if not given:
            return "base pcfg needs given forests" if self.base == "pcfg" else ""
        of_text = {
            "base": self.base in ("lexical", "listed"),
            "moves": self.moves in ("blocked", "type"),
            "corrected": self.corrected,
            "places": self.places,
            "states": self.states > 1,
            "held_out": self.held_out > 0,
        }
        wrong = [name for name, needs_text in of_text.items() if needs_text]
        return f"{wrong[0]} {getattr(self, wrong[0])} needs text, not given forests" if wrong else ""

    def numbers(self) -> dict[str, int | float]:
        """Returns the options as numbers of the kernel."""
        one_process = self.model == "dp"
        return asdict(self) | {
            "model": SAMPLE_MODELS.index(self.model),
            "discount": 0.0 if one_process else self.discount,
            "tables": TABLES.index(self.tables),
            "length": LENGTHS.index(self.length or ("none" if one_process else "poisson")),
            "base": BASES.index(self.base or ("uniform" if one_process else "length")),
            "moves": MOVES.index(self.moves),
            "start": STARTS.index(self.start),
        }


class TreeSampler(Collector):
    """A chain of samples: a tree for each pair, cut into rules. Threads may sweep different chains.

    Raises:
        ValueError: a setting is out of its range, or more pairs are held out than the forests contain.
    """

    def __init__(self, forests: PhraseForests, options: SamplerOptions | None = None):
        self.options = options or SamplerOptions()
        self._forests = forests  # the kernel points into them
        self.sizes = forests.sizes()
        if self.options.held_out > self.sizes.pairs:
            raise ValueError("settings of the sampler out of range")
        if fault := self.options.fault(forests.given):
            raise ValueError(fault)
        made = lib.lscfg_sampler_new(forests._pointer, ffi.new("lscfg_sample_options *", self.options.numbers()))
        super().__init__(made, lib.lscfg_sampler_free)

    def begin(self, trees: np.ndarray, heads: np.ndarray) -> int | None:
        """Replaces the initial trees; for a new sampler only.

        Args:
            trees: int64 [pairs + 1], where the tree of each sampled pair begins among the heads.
            heads: int32 [heads, 4], source and target span of each rule, in preorder, children in source order.

        Returns:
            A pair whose forest does not contain its tree, in which case the sampler must be discarded; None: all trees
                fit.

        Raises:
            KernelError: the kernel is out of memory.
            ValueError: ``trees`` does not have an entry for each sampled pair and one more, or does not go from 0 to
                the number of heads.
        """
        if len(trees) != self.sizes.pairs - self.options.held_out + 1 or trees[0] or trees[-1] != len(heads):
            raise ValueError("the trees are not as many as the pairs")
        of, spans, wrong = trees.astype(np.int64), np.ascontiguousarray(heads, np.int32), ffi.new("int64_t *")
        first = ffi.from_buffer("int64_t[]", of), ffi.from_buffer("int32_t[][4]", spans)
        try:
            self._check(lib.lscfg_sampler_begin(self._pointer, *first, wrong, self._error))
        except LineError:
            return int(wrong[0])
        return None

    def sweep(self, number: int, max_level: int | None = None, temperature: float = 1.0) -> None:
        """Samples all variables of all trees.

        Args:
            number: 1 to 1,048,575, selects the random numbers.
            max_level: maximum level of sampled nodes; None: all.
            temperature: > 0; probabilities of rules are raised to the power of its inverse.

        Raises:
            KernelError: the kernel is out of memory; the sampler must be discarded.
            ValueError: ``number`` or ``temperature`` is out of its range.
        """
        if not (0 < number < 1 << 20 and temperature > 0):
            raise ValueError(f"sweep {number} at temperature {temperature} out of range")
        level, pairs = (
            self.sizes.max_level if max_level is None else max_level,
            self.sizes.pairs - self.options.held_out,
        )
        self._check(lib.lscfg_sampler_sweep(self._pointer, number, 0, pairs, level, temperature, self._error))

    def sweep_in_shards(
        self,
        number: int,
        bounds: Sequence[int],
        run: Callable[[Callable[[int], Shard], Iterable[int]], Iterable[Shard]],
        max_level: int | None = None,
        temperature: float = 1.0,
    ) -> None:
        """Sweeps in shards, which see each other's changes after the sweep; excludes exact tables and cuts by type.

        Args:
            bounds: first pair of each shard, and the number of pairs.
            run: ``map``, or that of a pool of threads.

        Raises:
            ValueError: tables are exact, or a number is out of its range.
            KernelError: the kernel is out of memory.
        """
        if self.options.tables == "exact" or self.options.moves == "type":
            raise ValueError("tokens that sit at tables, and cuts by type, cannot be sampled in shards")
        if not (0 < number < 1 << 20 and temperature > 0):
            raise ValueError(f"sweep {number} at temperature {temperature} out of range")
        level = self.sizes.max_level if max_level is None else max_level

        def work(part: int) -> Shard:
            return Shard(self, bounds[part], bounds[part + 1]).sweep(number, level, temperature)

        for shard in list(run(work, range(len(bounds) - 1))):
            self._check(lib.lscfg_sampler_join(self._pointer, shard._pointer, self._error))

    def adapt(self) -> None:
        """Sets the cut rate of variables outside trees to the current rate of the trees; not valid after burn-in."""
        lib.lscfg_sampler_adapt(self._pointer)

    def resample(self, number: int) -> None:
        """Samples the processes of all lengths and the mean length, given all rules; for exact tables.

        Args:
            number: as in ``sweep``.

        Raises:
            LineError: tables are not exact.
            KernelError: the kernel is out of memory.
        """
        self._check(lib.lscfg_sampler_resample(self._pointer, number, self._error))

    def held_out(self) -> tuple[float, int, int]:
        """Returns the log probability of the held-out pairs, over all their derivations, given the current rules.

        Returns:
            The log probability, the number of target words that it covers, and the number of pairs with more than a
            million rules, which are skipped.

        Raises:
            KernelError: the kernel is out of memory.
        """
        total, counts = ffi.new("double *"), ffi.new("int64_t[2]")
        self._check(lib.lscfg_sampler_held_out(self._pointer, total, counts, counts + 1, self._error))
        return total[0], counts[0], counts[1]

    def keep(self) -> None:
        """Adds the current rules of all trees to the kept ones.

        Raises:
            KernelError: the kernel is out of memory.
        """
        self._check(lib.lscfg_sampler_keep(self._pointer, self._error))

    def state(self) -> SampleState:
        """Returns the status of the chain."""
        v = ffi.new("lscfg_sample_state *")
        lib.lscfg_sampler_state(self._pointer, v)
        return SampleState(
            *(v.n_tokens, v.n_types, v.log_joint),
            *(v.edges_drawn, v.edges_moved, v.cuts_drawn, v.cuts_moved, v.trees_drawn, v.trees_moved),
            *(v.types_drawn, v.types_moved),
            *(v.alpha, v.discount, v.mean_length),
        )

    def _view(self) -> Any:
        v = ffi.new("lscfg_sampler_view *")
        self._check(lib.lscfg_sampler_get(self._pointer, v, self._error))
        return v

    def checkpoint(self) -> dict[str, np.ndarray]:
        """Returns the input of ``restore``, as copies, by the names of ``CHECKPOINT``."""
        v = self._view()
        state = {name: value for name, value in asdict(self.state()).items() if isinstance(value, int)}
        counts = self._copy(v.by_length, v.n_restaurants, np.dtype([("tokens", np.int64), ("tables", np.float64)]))
        arrays = self.arrays() | self.trees()
        arrays |= {"length.tokens": counts["tokens"].copy(), "length.tables": counts["tables"].copy()}
        of_length = self._copy(
            v.processes, v.n_restaurants, np.dtype([("alpha", np.float64), ("discount", np.float64)])
        )
        arrays |= {"length.alpha": of_length["alpha"].copy(), "length.discount": of_length["discount"].copy()}
        arrays |= {"mean_length": np.array([v.mean_length]), "seats": self._copy(v.seats, (v.n_seats, 3), np.int32)}
        arrays |= {"cut_rates": self._copy(v.cut_rates, v.n_rates, np.float64)}
        arrays |= {"state": np.array(list(state.values()), np.int64), "log_ways": np.array([v.log_ways])}
        return {name: arrays[name] for name in CHECKPOINT}

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Continues the chain of another sampler of the same forests and settings; for a new sampler only.

        Args:
            arrays: the other sampler's ``checkpoint``.

        Raises:
            ValueError: the arrays are not a checkpoint of such a sampler; this sampler must be discarded.
        """
        sizes = check_layout(arrays, CHECKPOINT)
        check_offsets("rules.offsets", arrays["rules.offsets"], sizes["symbols"])
        lengths = np.zeros(sizes["lengths"], np.dtype([("tokens", np.int64), ("tables", np.float64)]))
        lengths["tokens"], lengths["tables"] = arrays["length.tokens"], arrays["length.tables"]
        processes = np.stack([arrays["length.alpha"], arrays["length.discount"]], axis=1)
        held = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        held |= {"lengths": lengths, "processes": processes}

        def pointer(name: str, of: str) -> object:
            return ffi.from_buffer(f"{of}[]", held[name])

        v = ffi.new("lscfg_sampler_view *")
        buffers = {
            "count": pointer("count", "int32_t"),
            "kept": pointer("kept", "int64_t"),
            "kept_short": pointer("kept_short", "int64_t"),
            "places": pointer("places", "int32_t"),
            "edge": pointer("edge", "int32_t"),
            "cut": pointer("cut", "uint8_t"),
            "node_state": pointer("node_state", "uint8_t"),
            "rule": pointer("rule", "int32_t"),
            "by_length": pointer("lengths", "lscfg_length_counts"),
            "processes": pointer("processes", "lscfg_process"),
            "seats": pointer("seats", "int32_t"),
            "cut_rates": pointer("cut_rates", "double"),
        }
        for name, buffer in buffers.items():
            setattr(v, name, buffer)
        tables = {
            "symbols": pointer("rules.symbols", "int32_t"),
            "offsets": pointer("rules.offsets", "int64_t"),
            "src_length": pointer("rules.src_length", "int32_t"),
            "arity": pointer("rules.arity", "int32_t"),
        }
        for name, buffer in tables.items():
            setattr(v.tables, name, buffer)
        v.n_kept, v.n_places, v.n_nodes = sizes["rules"], sizes["places"], sizes["nodes"]
        v.n_restaurants, v.log_ways, v.mean_length = sizes["lengths"], arrays["log_ways"][0], arrays["mean_length"][0]
        v.n_seats, v.n_rates = sizes["seats"], sizes["rates"]
        v.tables.n_rules, v.tables.n_symbols = sizes["rules"], sizes["symbols"]
        tokens, types, *decisions = map(int, arrays["state"])
        state = ffi.new("lscfg_sample_state *", (tokens, types, 0.0, *decisions))
        try:
            self._check(lib.lscfg_sampler_restore(self._pointer, v, state, self._error))
        except LineError as error:
            raise ValueError(str(error)) from None

    def trees(self) -> dict[str, np.ndarray]:
        """Returns copies for all nodes of all forests: ``edge`` and ``rule`` int32, ``cut`` and ``node_state`` uint8.

        See lscfg/sample.h.
        """
        v = self._view()
        return {
            "edge": self._copy(v.edge, v.n_nodes, np.int32),
            "rule": self._copy(v.rule, v.n_nodes, np.int32),
            "cut": self._copy(v.cut, v.n_nodes, np.uint8),
            "node_state": self._copy(v.node_state, v.n_nodes, np.uint8),
        }

    def arrays(self) -> dict[str, np.ndarray]:
        """Returns copies of all arrays.

        ``count`` int32, ``kept`` and ``kept_short`` int64 [rules], ``places`` int32 [places, 8], and the arrays of
        ``Deriver.tables``.
        """
        v = self._view()
        rest = np.zeros(v.tables.n_rules - v.n_kept, np.int64)
        return {
            "count": self._copy(v.count, v.tables.n_rules, np.int32),
            "kept": np.append(self._copy(v.kept, v.n_kept, np.int64), rest),
            "kept_short": np.append(self._copy(v.kept_short, v.n_kept, np.int64), rest),
            "places": self._copy(v.places, (v.n_places, 8), np.int32),
            **self._tables(v),
        }
