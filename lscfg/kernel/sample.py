"""Phrase-decomposition forests of a corpus, and samples of their trees (plugin/sample)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from lscfg._kernel import ffi, lib
from lscfg.io.layout import check_layout, check_offsets
from lscfg.kernel.base import LineError
from lscfg.kernel.extract import DROP_REASONS, Collector

SAMPLE_MODELS = ("py", "dp")
"""Models of rules, in the kernel's numbering."""

MOVES = ("local", "tree")
"""How a tree changes, in the kernel's numbering."""


@dataclass(frozen=True)
class ForestSizes:
    """What a corpus has.

    Attributes:
        bare: pairs of one node, which are one rule each.
        max_level: minimal edges in a tree of the largest pair.
        dropped: pairs by reason.
    """

    pairs: int
    nodes: int
    edges: int
    bare: int
    max_level: int
    dropped: dict[str, int]


class PhraseForests(Collector):
    """The phrase-decomposition forests of word-aligned pairs.

    Args:
        max_cut: phrases with more words on a side are always heads of rules.
        max_words: longer pairs are left out; 0: none is too long.
        drop: leave out all other bad pairs too.
    """

    def __init__(self, max_cut: int = 7, max_words: int = 0, drop: bool = False):
        if not 1 <= max_cut <= 1_000_000:
            raise ValueError(f"max_cut {max_cut} out of range")
        super().__init__(lib.lscfg_phrase_forests_new(max_cut, max_words, drop), lib.lscfg_phrase_forests_free)

    def add(self, src: str, tgt: str, links: str) -> None:
        """Adds one pair: words separated by blanks, links ``i-j`` counted from 0. Not while a sampler of them lives.

        Raises:
            LineError: an empty side, a word that cannot stand in a grammar, or a malformed or out-of-range link.
        """
        self._add(lib.lscfg_phrase_forests_add, src, tgt, links)

    def sizes(self) -> ForestSizes:
        """What has been added."""
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
    "rule": "int32 [nodes]",
    "length.tokens": "int64 [lengths]",
    "length.tables": "float64 [lengths]",
    "log_ways": "float64 [1]",
    "state": "int64 [6]",
}
"""Arrays of which a chain goes on; see lscfg/sample.h."""


@dataclass(frozen=True)
class SampleState:
    """Where a chain is: rules of all trees now, and decisions so far.

    Attributes:
        log_joint: of all rules, one after the other in the order of their numbers.
        edges_moved, cuts_moved: decisions that changed something.
    """

    tokens: int
    types: int
    log_joint: float
    edges_drawn: int
    edges_moved: int
    cuts_drawn: int
    cuts_moved: int


class TreeSampler(Collector):
    """A chain of samples: a tree of each pair, and where it is cut into rules. Threads may sweep different chains.

    Args:
        model: of ``SAMPLE_MODELS``; alpha: > 0; discount: in [0, 1); mean_length: > 0.
        density: weigh trees by the choices outside them, without which the chain is biased.
        corrected: divide a rule's probability by the derivations that it stands for at its place.
        moves: of ``MOVES``: node by node, or a whole tree, which is mostly refused.
        chain: 0 to 4095; chains of a seed are independent.
        max_phrase: longest spans of rules that ``kept`` counts as short.
        places: keep where the rules are.
    """

    def __init__(
        self,
        forests: PhraseForests,
        model: str = "py",
        alpha: float = 5.0,
        discount: float = 0.5,
        mean_length: float = 2.0,
        *,
        density: bool = True,
        corrected: bool = False,
        moves: str = "local",
        seed: int = 1,
        chain: int = 0,
        max_phrase: int = 10,
        places: bool = False,
    ):
        if not (alpha > 0 and 0 <= discount < 1 and mean_length > 0 and 0 <= chain < 4096 and 0 <= seed < 2**64):
            raise ValueError("settings of the sampler out of range")
        number = SAMPLE_MODELS.index(model)
        values = (
            number,
            alpha,
            discount,
            mean_length,
            density,
            corrected,
            MOVES.index(moves),
            seed,
            chain,
            max_phrase,
            places,
        )
        options = ffi.new("lscfg_sample_options *", values)
        self._forests = forests  # the kernel points into them
        self.sizes = forests.sizes()
        super().__init__(lib.lscfg_sampler_new(forests._pointer, options), lib.lscfg_sampler_free)

    def sweep(self, number: int, max_level: int | None = None, temperature: float = 1.0) -> None:
        """Draws all variables of all trees anew.

        Args:
            number: 1 to 1,048,575, the name of the random numbers.
            max_level: of nodes whose variables are drawn; None: all.
            temperature: > 0; probabilities of rules are taken to the power of its inverse.

        Raises:
            KernelError: memory is out; the sampler is of no use then.
        """
        if not (0 < number < 1 << 20 and temperature > 0):
            raise ValueError(f"sweep {number} at temperature {temperature} out of range")
        level = self.sizes.max_level if max_level is None else max_level
        self._check(
            lib.lscfg_sampler_sweep(self._pointer, number, 0, self.sizes.pairs, level, temperature, self._error)
        )

    def keep(self) -> None:
        """Adds the rules of all trees, as they are now, to those that are kept.

        Raises:
            KernelError: memory is out.
        """
        self._check(lib.lscfg_sampler_keep(self._pointer, self._error))

    def state(self) -> SampleState:
        """Where the chain is."""
        v = ffi.new("lscfg_sample_state *")
        lib.lscfg_sampler_state(self._pointer, v)
        return SampleState(
            *(v.n_tokens, v.n_types, v.log_joint), *(v.edges_drawn, v.edges_moved, v.cuts_drawn, v.cuts_moved)
        )

    def _view(self) -> Any:
        v = ffi.new("lscfg_sampler_view *")
        lib.lscfg_sampler_get(self._pointer, v)
        return v

    def checkpoint(self) -> dict[str, np.ndarray]:
        """All that ``restore`` needs, as copies, by the names of ``CHECKPOINT``."""
        v = self._view()
        state = asdict(self.state())
        del state["log_joint"]
        counts = self._copy(v.by_length, v.max_length + 1, np.dtype([("tokens", np.int64), ("tables", np.float64)]))
        arrays = self.arrays() | self.trees()
        arrays |= {"length.tokens": counts["tokens"].copy(), "length.tables": counts["tables"].copy()}
        arrays |= {"state": np.array(list(state.values()), np.int64), "log_ways": np.array([v.log_ways])}
        return {name: arrays[name] for name in CHECKPOINT}

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Goes on where another sampler of the same forests and settings was; for a new sampler only.

        Args:
            arrays: of its ``checkpoint``.

        Raises:
            ValueError: they are no checkpoint of such a sampler, which is of no use then.
        """
        sizes = check_layout(arrays, CHECKPOINT)
        check_offsets("rules.offsets", arrays["rules.offsets"], sizes["symbols"])
        lengths = np.zeros(sizes["lengths"], np.dtype([("tokens", np.int64), ("tables", np.float64)]))
        lengths["tokens"], lengths["tables"] = arrays["length.tokens"], arrays["length.tables"]
        held = {name: np.ascontiguousarray(array) for name, array in arrays.items()} | {"lengths": lengths}

        def pointer(name: str, of: str) -> Any:
            return ffi.from_buffer(f"{of}[]", held[name])

        v = ffi.new("lscfg_sampler_view *")
        buffers = {
            "count": pointer("count", "int32_t"),
            "kept": pointer("kept", "int64_t"),
            "kept_short": pointer("kept_short", "int64_t"),
            "places": pointer("places", "int32_t"),
            "edge": pointer("edge", "int32_t"),
            "cut": pointer("cut", "uint8_t"),
            "rule": pointer("rule", "int32_t"),
            "by_length": pointer("lengths", "lscfg_length_counts"),
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
        v.max_length, v.log_ways = sizes["lengths"] - 1, arrays["log_ways"][0]
        v.tables.n_rules, v.tables.n_symbols = sizes["rules"], sizes["symbols"]
        tokens, types, *decisions = map(int, arrays["state"])
        state = ffi.new("lscfg_sample_state *", (tokens, types, 0.0, *decisions))
        try:
            self._check(lib.lscfg_sampler_restore(self._pointer, v, state, self._error))
        except LineError as error:
            raise ValueError(str(error)) from None

    def trees(self) -> dict[str, np.ndarray]:
        """Of all nodes of all forests, as copies: ``edge`` and ``rule`` int32, ``cut`` uint8. See lscfg/sample.h."""
        v = self._view()
        return {
            "edge": self._copy(v.edge, v.n_nodes, np.int32),
            "rule": self._copy(v.rule, v.n_nodes, np.int32),
            "cut": self._copy(v.cut, v.n_nodes, np.uint8),
        }

    def arrays(self) -> dict[str, np.ndarray]:
        """All as copies: ``count`` int32, ``kept`` and ``kept_short`` int64 [rules], ``places`` int32 [places, 8], and
        what ``Deriver.tables`` names."""
        v = self._view()
        rest = np.zeros(v.tables.n_rules - v.n_kept, np.int64)
        return {
            "count": self._copy(v.count, v.tables.n_rules, np.int32),
            "kept": np.append(self._copy(v.kept, v.n_kept, np.int64), rest),
            "kept_short": np.append(self._copy(v.kept_short, v.n_kept, np.int64), rest),
            "places": self._copy(v.places, (v.n_places, 8), np.int32),
            **self._tables(v),
        }
