"""Derivation trees and rules of aligned text (plugin/extract)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lscfg._kernel import ffi, lib
from lscfg.errors import InputError, KernelError
from lscfg.kernel.base import LineError, check, utf8, view
from lscfg.settings import Declared, setting

BRACKETINGS = ("normal", "left", "right", "balanced")
"""Bracketings of a sequence of phrases, in the kernel's numbering."""

DROP_REASONS = (
    "",
    "empty side",
    "control or space character",
    "reserved word",
    "too long",
    "malformed link",
    "link out of range",
)
"""Reasons for dropping a sentence pair, by the kernel's LSCFG_PAIR_... ."""


@dataclass(frozen=True)
class TreeOptions(Declared):
    """Options for turning a sentence pair into a tree.

    Phrases in a sequence, in the same order on both sides or in exactly opposite order, can be bracketed in any way:
    ``"normal"`` is the normal form of Zhang, Gildea & Chiang (2008), ((A B) C) D, and so is ``"left"``; ``"right"`` is
    A (B (C D)); ``"balanced"`` is (A B) (C D), with a longer left part for an odd number.

    A rule of more than ``max_arity`` nonterminals stays in the tree, but gets no parameters and enters no grammar.
    ``binarise`` avoids such rules: the smallest children become terminals of their parent's rule.
    """

    bracketing: str = setting("normal", "bracketing of phrases in a sequence", choices=BRACKETINGS)
    max_arity: int = setting(
        2, "maximum number of nonterminals of a rule; larger rules stay out of grammars and models", least=0, most=2
    )
    binarise: bool = setting(False, "avoid rules with more nonterminals: all but the largest children become terminals")


@dataclass(frozen=True)
class DeriveOptions(TreeOptions):
    """Options for turning a corpus into trees. Dropped pairs are counted by reason."""

    max_words: int = setting(0, "maximum number of words on each side; longer pairs are dropped; 0: no limit", least=0)
    drop: bool = setting(
        False, "drop and count bad pairs instead of stopping at the first", option="drop-bad", common=True
    )


@dataclass(frozen=True)
class DerivedNodes:
    """Trees and nodes since the last flush, as views that are valid until the deriver's next call."""

    trees: np.ndarray
    """int64 [trees], first node of each tree, counted from the first of all nodes."""
    end: int
    """The number of nodes up to the last tree, counted from the first of all nodes."""
    rule: np.ndarray
    """int32 [nodes], as in ``lscfg.extract.derive.Derivations``."""
    parent: np.ndarray
    """int32 [nodes]."""
    slot: np.ndarray
    """int32 [nodes]."""
    span: np.ndarray
    """int32 [nodes, 4]."""


@dataclass(frozen=True)
class DerivedForests:
    """Forests since the last flush, as views that are valid until the next call; see ``lscfg.extract.forests``."""

    first: np.ndarray
    """int64 [trees]."""
    edge: np.ndarray
    """int64 [nodes]."""
    rule: np.ndarray
    """int32 [edges]."""
    tail: np.ndarray
    """int32 [tails]."""
    span: np.ndarray
    """int32 [nodes, 4]."""
    ends: tuple[int, int]
    """Values after the last of ``first`` and of ``edge``."""


@dataclass(frozen=True)
class DeriveCounts:
    """Counts of a deriver, including flushed pairs."""

    rules: np.ndarray
    """int64 [rules], tokens of each rule."""
    trees_above: int
    """Trees with a rule of more than ``max_arity`` nonterminals."""
    dropped: dict[str, int]
    """Pairs by reason, of ``DROP_REASONS``."""


class Collector:
    """Base class for collectors of word-aligned sentence pairs: the kernel's object, its errors and its tables."""

    def __init__(self, pointer: Any, release: Any) -> None:
        if pointer == ffi.NULL:
            raise KernelError("out of memory")
        self._pointer = ffi.gc(pointer, release)
        self._error = ffi.new("lscfg_error *")
        self._stream = ffi.new("int32_t *")

    def _check(self, code: int) -> None:
        if code == lib.LSCFG_EINPUT:
            message = ffi.string(self._error.message).decode("utf-8", "replace")
            raise LineError(message, self._stream[0], int(self._error.line))
        check(code, self._error)

    def _add(self, function: Any, src: str, tgt: str, links: str, *results: Any) -> None:
        """Calls a kernel function that reads a sentence pair."""
        f, e, a = utf8(src), utf8(tgt), utf8(links)
        self._check(function(self._pointer, f, len(f), e, len(e), a, len(a), *results, self._stream, self._error))

    def _copy(self, pointer: Any, shape: int | tuple[int, ...], dtype: Any) -> np.ndarray:
        return np.array(view(pointer, shape, dtype, self), subok=False)

    def _tables(self, v: Any) -> dict[str, np.ndarray]:
        """Returns copies of rules, words and word translations, named as in derivation files.

        Args:
            v: the kernel's whole view, since a struct inside it does not keep its memory alive.
        """
        t = v.tables
        pairs = self._copy(t.pairs, t.n_pairs, np.dtype([("src", np.int32), ("tgt", np.int32), ("count", np.int64)]))
        return {
            "lexicon.words": np.stack([pairs["src"], pairs["tgt"]], 1),
            "lexicon.count": pairs["count"].copy(),
            "rules.symbols": self._copy(t.symbols, t.n_symbols, np.int32),
            "rules.offsets": self._copy(t.offsets, t.n_rules + 1, np.int64),
            "rules.src_length": self._copy(t.src_length, t.n_rules, np.int32),
            "rules.arity": self._copy(t.arity, t.n_rules, np.int32),
            "vocab.bytes": self._copy(t.vocab_bytes, t.n_vocab_bytes, np.uint8),
            "vocab.offsets": self._copy(t.vocab_offsets, t.n_words + 1, np.int64),
        }


class Deriver(Collector):
    """Collects the minimal derivation trees of word-aligned sentence pairs.

    Args:
        forests: also collects all minimal derivations of each pair. Time and memory of a pair are cubic in its words.
    """

    def __init__(self, options: DeriveOptions | None = None, forests: bool = False) -> None:
        self.options = options or DeriveOptions()
        self.has_forests = forests
        settings = ffi.new(
            "lscfg_derive_options *",
            {
                "bracketing": BRACKETINGS.index(self.options.bracketing),
                "max_arity": self.options.max_arity,
                "binarise": self.options.binarise,
                "max_words": self.options.max_words,
                "drop": self.options.drop,
                "forests": forests,
            },
        )
        super().__init__(lib.lscfg_derivations_new(settings), lib.lscfg_derivations_free)

    def add(self, src: str, tgt: str, links: str) -> None:
        """Adds the tree of one pair: words separated by blanks, links ``i-j`` counted from 0.

        Raises:
            LineError: a side is empty or contains a word that a grammar cannot contain, or a link is malformed or out
                of range; in that case nothing is added.
        """
        self._add(lib.lscfg_derive, src, tgt, links)

    def add_lines(self, texts: Sequence[bytes], pairs: int) -> None:
        """Adds the trees of ``pairs`` lines of source, target and links.

        Raises:
            LineError: as for ``add``; the pairs before the bad one have been added.
        """
        buffers = [ffi.from_buffer("char[]", text) for text in texts]
        lengths = [len(text) for text in texts]
        pointers = ffi.new("const char *[3]", buffers)
        self._check(
            lib.lscfg_derive_lines(
                self._pointer, pointers, ffi.new("size_t[3]", lengths), pairs, self._stream, self._error
            )
        )

    def merge(self, other: Deriver) -> None:
        """Adds everything that another deriver has collected, as if its pairs had been added here."""
        self._check(lib.lscfg_derivations_merge(self._pointer, other._pointer, self._error))

    def _view(self) -> Any:
        v = ffi.new("lscfg_derivations_view *")
        lib.lscfg_derivations_get(self._pointer, v)
        return v

    def nodes(self) -> DerivedNodes:
        """Returns trees and nodes since the last flush."""
        v = self._view()
        return DerivedNodes(
            view(v.trees, v.n_trees, np.int64, self),
            int(v.trees[v.n_trees]),
            view(v.node_rule, v.n_nodes, np.int32, self),
            view(v.node_parent, v.n_nodes, np.int32, self),
            view(v.node_slot, v.n_nodes, np.int32, self),
            view(v.node_span, (v.n_nodes, 4), np.int32, self),
        )

    def forests(self) -> DerivedForests:
        """Returns forests since the last flush; none if they are not collected."""
        v = self._view()
        return DerivedForests(
            view(v.forests, v.n_forests, np.int64, self),
            view(v.forest_edge, v.n_forest_nodes, np.int64, self),
            view(v.forest_rule, v.n_forest_edges, np.int32, self),
            view(v.forest_tail, v.n_forest_tails, np.int32, self),
            view(v.forest_span, (v.n_forest_nodes, 4), np.int32, self),
            (int(v.forests[v.n_forests]), int(v.all_forest_edges)),
        )

    def flush(self) -> None:
        """Clears trees and nodes; rules, words and counts stay."""
        lib.lscfg_derivations_flush(self._pointer)

    def counts(self) -> DeriveCounts:
        """Returns the counts so far."""
        v = self._view()
        reasons = {name: int(v.dropped[k]) for k, name in enumerate(DROP_REASONS) if k and v.dropped[k]}
        return DeriveCounts(self._copy(v.rule_count, v.tables.n_rules, np.int64), v.n_above, reasons)

    def tables(self) -> dict[str, np.ndarray]:
        """Returns copies of rules, words and word translations, named as in derivation files."""
        return self._tables(self._view())

    def arrays(self) -> dict[str, np.ndarray]:
        """Returns ``tables`` and the nodes since the last flush, of trees and of collected forests, as copies."""
        nodes = self.nodes()
        arrays = {
            "trees": np.append(nodes.trees, np.int64(nodes.end)),
            "node.rule": np.array(nodes.rule, subok=False),
            "node.parent": np.array(nodes.parent, subok=False),
            "node.slot": np.array(nodes.slot, subok=False),
            "node.span": np.array(nodes.span, subok=False),
        }
        if self.has_forests:
            forests = self.forests()
            arrays |= {
                "forest.node": np.append(forests.first, np.int64(forests.ends[0])),
                "forest.edge": np.append(forests.edge, np.int64(forests.ends[1])),
                "forest.rule": np.array(forests.rule, subok=False),
                "forest.tail": np.array(forests.tail, subok=False),
                "forest.span": np.array(forests.span, subok=False),
            }
        return arrays | self.tables()


class HieroExtractor(Collector):
    """Collects the Hiero rules of word-aligned sentence pairs; the limits are those of lscfg_hiero_options.

    Args:
        part: number of the part of the source sides whose rules are kept, and the number of parts.
        loose: words at the borders of an initial phrase pair may be unaligned.
        min_hole: minimum number of source words of a phrase pair that becomes a nonterminal.
    """

    def __init__(
        self,
        max_phrase: int,
        max_target_phrase: int,
        max_symbols: int,
        max_arity: int,
        places: bool = False,
        part: tuple[int, int] = (0, 1),
        loose: bool = False,
        min_hole: int = 1,
    ) -> None:
        if min(max_phrase, max_symbols, min_hole) < 1 or max_target_phrase < 0 or not 0 <= max_arity <= 2:
            given = (max_phrase, max_target_phrase, max_symbols, max_arity, min_hole)
            raise ValueError(f"limits {given} out of range")
        if not 0 <= part[0] < part[1] < 2**31:
            raise ValueError(f"part {part[0]} of {part[1]}")
        limits = (max_phrase, max_target_phrase, max_symbols, max_arity)
        options = ffi.new("lscfg_hiero_options *", (*limits, places, *part, loose, min_hole))
        super().__init__(lib.lscfg_hiero_new(options), lib.lscfg_hiero_free)

    def add(self, src: str, tgt: str, links: str) -> None:
        """Adds the rules of one pair: words separated by blanks, links ``i-j`` counted from 0.

        Raises:
            LineError: as for ``Deriver.add``; nothing is added then.
        """
        self._add(lib.lscfg_hiero_add, src, tgt, links)

    def want(self, line: str) -> None:
        """Adds a line of a text to translate, before the first pair.

        From then on, only rules that may be useful for the text are kept: a rule is dropped if the adjacent words of
        its source side never occur together in the text.
        """
        text = utf8(line)
        self._check(lib.lscfg_hiero_want(self._pointer, text, len(text), self._error))

    def add_targets(self, src: str, tgt: str, links: str) -> None:
        """Counts the target sides of the collected rules among all rules of one pair, including dropped rules.

        A second pass over all pairs, after the last ``add``.

        Raises:
            LineError: as for ``add``.
        """
        self._add(lib.lscfg_hiero_add_targets, src, tgt, links)

    def _view(self) -> Any:
        v = ffi.new("lscfg_hiero_view *")
        lib.lscfg_hiero_get(self._pointer, v)
        return v

    def sizes(self) -> tuple[int, int, int]:
        """Returns the numbers of sentence pairs, of initial phrase pairs, and of those that gave a rule."""
        v = self._view()
        return int(v.n_sentences), int(v.n_phrases), int(v.n_used)

    def __len__(self) -> int:
        """Number of rules."""
        return int(self._view().tables.n_rules)

    def arrays(self) -> dict[str, np.ndarray]:
        """Returns copies: ``count`` float64, ``tokens`` int64, ``places`` int32, and the arrays of ``Deriver.tables``.

        ``target_count``, float64, is empty without ``add_targets``. ``first``, int64 [rules], is empty without parts:
        it is the number of rule tokens of all parts before the first token of the rule.
        """
        v = self._view()
        return {
            "count": self._copy(v.count, v.tables.n_rules, np.float64),
            "tokens": self._copy(v.tokens, v.tables.n_rules, np.int64),
            "places": self._copy(v.places, (v.n_places, 8), np.int32),
            "target_count": self._copy(v.target_count, v.n_targets, np.float64),
            "first": self._copy(v.first, v.tables.n_rules if v.first else 0, np.int64),
            **self._tables(v),
        }


class Rules:
    """A table of rules for the kernel; arrays as in ``lscfg.grammar.table.RuleTable.arrays``.

    Raises:
        ValueError: inconsistent arrays.
    """

    def __init__(self, arrays: dict[str, np.ndarray]):
        self._symbols = np.ascontiguousarray(arrays["rules.symbols"], np.int32)
        self._offsets = np.ascontiguousarray(arrays["rules.offsets"], np.int64)
        self._src_length = np.ascontiguousarray(arrays["rules.src_length"], np.int32)
        self._words = np.ascontiguousarray(arrays["vocab.bytes"], np.uint8)
        self._word_offsets = np.ascontiguousarray(arrays["vocab.offsets"], np.int64)
        for offsets, end in ((self._offsets, len(self._symbols)), (self._word_offsets, len(self._words))):
            if len(offsets) < 1 or offsets[0] != 0 or offsets[-1] != end or (np.diff(offsets) < 0).any():
                raise ValueError("rule table: offsets out of range")
        lengths = np.diff(self._offsets)
        if len(lengths) != len(self._src_length) or (self._src_length < 0).any() or (lengths < self._src_length).any():
            raise ValueError("rule table: source lengths do not fit")
        if len(self._symbols) and self._symbols.max() >= len(self._word_offsets) - 1:
            raise ValueError("rule table: a word is not in the vocabulary")
        self._pointer = ffi.new(
            "lscfg_rules *",
            (
                len(self._src_length),
                ffi.from_buffer("int32_t[]", self._symbols),
                ffi.from_buffer("int64_t[]", self._offsets),
                ffi.from_buffer("int32_t[]", self._src_length),
                ffi.from_buffer("char[]", self._words),
                ffi.from_buffer("int64_t[]", self._word_offsets),
                len(self._word_offsets) - 1,
            ),
        )

    def __len__(self) -> int:
        return len(self._src_length)

    def number(self, side: int) -> np.ndarray:
        """Returns int32 [rules]: equal numbers for equal source (0) or target sides (1), by first appearance."""
        numbers = np.empty(len(self), np.int32)
        error = ffi.new("lscfg_error *")
        check(lib.lscfg_rules_number(self._pointer, side, ffi.from_buffer("int32_t[]", numbers), error), error)
        return numbers

    def _chosen(self, which: np.ndarray) -> np.ndarray:
        which = np.ascontiguousarray(which, np.int64)
        if len(which) and not (which.min() >= 0 and which.max() < len(self)):
            raise ValueError("rule number out of range")
        return which

    def lexical_weights(self, pairs: np.ndarray, costs: np.ndarray, worst: float, which: np.ndarray) -> np.ndarray:
        """Returns lexical weights of rules, float64 [len(which), 2]: of the target words, of the source words.

        Args:
            pairs: int32 [P, 2], source and target word, -1 for none.
            costs: float64 [P, 2]: of the target given the source word, of the source given the target word.
            worst: cost of a pair that is not listed.

        Raises:
            ValueError: a rule number is out of range, or ``pairs`` and ``costs`` do not both have the shape [P, 2].
        """
        which = self._chosen(which)
        pairs, costs = np.ascontiguousarray(pairs, np.int32), np.ascontiguousarray(costs, np.float64)
        if pairs.shape != costs.shape or pairs.shape[1:] != (2,):
            raise ValueError(f"pairs {pairs.shape} and costs {costs.shape} do not fit")
        out = np.empty((len(which), 2))
        error = ffi.new("lscfg_error *")
        code = lib.lscfg_rules_lexical(
            self._pointer,
            len(pairs),
            ffi.from_buffer("int32_t[]", pairs),
            ffi.from_buffer("double[]", costs),
            worst,
            len(which),
            ffi.from_buffer("int64_t[]", which),
            ffi.from_buffer("double[]", out),
            error,
        )
        check(code, error)
        return out

    def text(self, which: np.ndarray, names: Sequence[str], values: np.ndarray) -> bytes:
        """Returns lines of rules in cdec's format; values float64 [len(which), len(names)], zeros are omitted.

        Raises:
            ValueError: a rule number is out of range, or ``values`` has another shape.
        """
        which = self._chosen(which)
        values = np.ascontiguousarray(values, np.float64)
        if values.shape != (len(which), len(names)):
            raise ValueError(f"values of shape {values.shape} for {len(which)} rules and {len(names)} features")
        kept = [ffi.new("char[]", name.encode("utf-8")) for name in names]
        text, length = ffi.new("char **"), ffi.new("int64_t *")
        error = ffi.new("lscfg_error *")
        code = lib.lscfg_rules_text(
            self._pointer,
            len(which),
            ffi.from_buffer("int64_t[]", which),
            len(names),
            kept,
            ffi.from_buffer("double[]", values),
            text,
            length,
            error,
        )
        check(code, error)
        try:
            return ffi.buffer(text[0], length[0])[:] if length[0] else b""
        finally:
            lib.lscfg_rules_text_free(text[0])


class Trees:
    """Unchecked derivation trees in arrays, as in ``lscfg.extract.derive.Derivations``.

    Args:
        trees: int64 [trees + 1].
        rule: int32 [nodes], numbers in ``rules``.
        parent: int32 [nodes].
        slot: int32 [nodes].
        span: int32 [nodes, 4].
        rules: the rules of the nodes.

    Raises:
        ValueError: inconsistent arrays.
    """

    def __init__(
        self,
        trees: np.ndarray,
        rule: np.ndarray,
        parent: np.ndarray,
        slot: np.ndarray,
        span: np.ndarray,
        rules: Rules,
    ):
        self._trees = np.ascontiguousarray(trees, np.int64)
        self._nodes = [np.ascontiguousarray(array, np.int32) for array in (rule, parent, slot, span)]
        n = len(rule)
        if (
            self._trees.ndim != 1
            or len(trees) < 1
            or [array.shape for array in self._nodes] != [(n,), (n,), (n,), (n, 4)]
        ):
            raise ValueError("trees: arrays that do not fit together")
        self._rules = rules
        views = (ffi.from_buffer("int32_t[]", array) for array in self._nodes)
        self._pointer = ffi.new("lscfg_trees *", (len(trees) - 1, n, ffi.from_buffer("int64_t[]", self._trees), *views))

    def _read(self, *words: Any) -> None:
        error = ffi.new("lscfg_error *")
        check(lib.lscfg_trees_read(self._pointer, self._rules._pointer, *words, error), error)

    def check(self) -> None:
        """Checks that nodes are in preorder, with the children of their rules and the spans of children and words.

        Raises:
            InputError: the first bad node found.
        """
        self._read(ffi.NULL, ffi.NULL)

    def words(self) -> tuple[np.ndarray, np.ndarray]:
        """Returns the concatenated words of all sentences, int32, of the source and of the target side.

        Raises:
            InputError: as in ``check``.
        """
        span = self._nodes[3]
        roots = self._trees[:-1][np.diff(self._trees) > 0]
        if len(roots) and not (roots.min() >= 0 and roots.max() < len(span)):
            raise InputError("the trees are not in order")
        src, tgt = (np.empty(int(np.maximum(span[roots, end], 0).sum(dtype=np.int64)), np.int32) for end in (1, 3))
        self._read(ffi.from_buffer("int32_t[]", src), ffi.from_buffer("int32_t[]", tgt))
        return src, tgt


class Matcher:
    """Finds the source sides of a table that match a sentence. Only one thread may use an object at a time.

    Args:
        numbers: int32 [rules], from ``rules.number(0)``.
    """

    def __init__(self, rules: Rules, numbers: np.ndarray):
        numbers = np.ascontiguousarray(numbers, np.int32)
        if len(numbers) != len(rules):
            raise ValueError(f"{len(numbers)} numbers for {len(rules)} rules")
        matcher = ffi.new("lscfg_matcher **")
        error = ffi.new("lscfg_error *")
        check(lib.lscfg_matcher_new(rules._pointer, ffi.from_buffer("int32_t[]", numbers), matcher, error), error)
        self._pointer = ffi.gc(matcher[0], lib.lscfg_matcher_free)
        self._found = np.empty(int(numbers.max(initial=-1)) + 1, np.int32)

    def match(self, words: np.ndarray) -> np.ndarray:
        """Returns int32 numbers, ascending, of the source sides that can cover a part of the word ids (-1: unknown)."""
        words = np.ascontiguousarray(words, np.int32)
        error = ffi.new("lscfg_error *")
        found = ffi.from_buffer("int32_t[]", self._found)
        count = lib.lscfg_match(self._pointer, ffi.from_buffer("int32_t[]", words), len(words), found, error)
        check(count, error)
        return np.sort(self._found[:count])
