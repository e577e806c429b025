"""Phrase-decomposition forests of a corpus, and samples of their trees (plugin/sample)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lscfg._kernel import ffi, lib
from lscfg.kernel.extract import DROP_REASONS, Collector

SAMPLE_MODELS = ("py", "dp")
"""Models of rules, in the kernel's numbering."""


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
        seed: int = 1,
        chain: int = 0,
        max_phrase: int = 10,
        places: bool = False,
    ):
        if not (alpha > 0 and 0 <= discount < 1 and mean_length > 0 and 0 <= chain < 4096 and 0 <= seed < 2**64):
            raise ValueError("settings of the sampler out of range")
        number = SAMPLE_MODELS.index(model)
        values = (number, alpha, discount, mean_length, density, corrected, seed, chain, max_phrase, places)
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
