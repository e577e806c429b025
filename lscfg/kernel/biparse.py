"""Synchronous parsing of sentence pairs, and the log-linear model of their derivations (plugin/biparse)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lscfg._kernel import ffi, lib
from lscfg.io.layout import check_layout, check_offsets, check_range
from lscfg.kernel.base import LineError, view
from lscfg.kernel.extract import Collector

FUTURES = ("split", "whole")
"""Estimates of the cost outside of a span, in the kernel's numbering: each link's two halves once, or both twice."""

PRIORS = ("corpus", "visit")
"""Weights that the prior shrinks, in the kernel's numbering: all weights at every visit, or those of the visit."""

NEIGHBOURS, LINKS, TREE = int(lib.LSCFG_VISIT_NEIGHBOURS), int(lib.LSCFG_VISIT_LINKS), int(lib.LSCFG_VISIT_TREE)
"""Additional results of a visit; see lscfg/biparse.h."""

FIRST = int(lib.LSCFG_VISIT_FIRST)
"""A visit with the initial weights."""

MOST_WORDS = 128
"""Maximum number of words on each side."""

SPARSE = ("pair", "ends", "sides")
"""Sparse features other than those of rules: linked words, words at the ends of a source span, words around it."""

MODEL = {
    "rules.symbols": "int32 [symbols]",
    "rules.offsets": "int64 [rules + 1]",
    "rules.src_length": "int32 [rules]",
    "rules.arity": "int32 [rules]",
    "rule.weight": "float64 [rules]",
    "rule.squares": "float32 [rules]",
    "rule.only": "int32 [rules]",
    "aligned.rule": "int32 [aligned]",
    "aligned.shown": "int32 [aligned]",
    "aligned.now": "int32 [aligned]",
    "aligned.lexical": "float64 [aligned, 2]",
    "links.offsets": "int64 [aligned + 1]",
    "links.items": "int32 [links, 2]",
    "pair.words": "int32 [pairs, 2]",
    "pair.weight": "float64 [pairs]",
    "pair.squares": "float32 [pairs]",
    "ends.words": "int32 [ends, 2]",
    "ends.weight": "float64 [ends]",
    "ends.squares": "float32 [ends]",
    "sides.words": "int32 [sides, 2]",
    "sides.weight": "float64 [sides]",
    "sides.squares": "float32 [sides]",
    "dense": "float64 [3]",
    "dense.squares": "float64 [3]",
    "rule.kept": "float64 [rules]",
    "pair.kept": "float64 [pairs]",
    "ends.kept": "float64 [ends]",
    "sides.kept": "float64 [sides]",
    "dense.kept": "float64 [3]",
}
"""Arrays of a model; see lscfg/biparse.h."""

RESULT = np.dtype(
    [(name, np.int32) for name in ("pair", "tries", "nodes", "edges", "kept", "sides", "targets", "neighbour_edges")]
    + [(name, np.float64) for name in ("viterbi", "log_pair", "log_source")]
)
RULE = np.dtype(
    [(name, np.int32) for name in ("visit", "n_src", "n_tgt", "n_links", "arity", "known")]
    + [("symbols", np.int64), ("links", np.int64), ("lexical", np.float64, 2), ("expected", np.float64)]
    + [("weight", np.float64, 2), ("fingerprint", np.int64, 3)]
)
EDGE = np.dtype(
    [(name, np.int32) for name in ("visit", "rule", "parent", "slot")]
    + [("span", np.int32, 4), ("tails", np.int32, (2, 2))]
)
LINK = np.dtype([(name, np.int32) for name in ("visit", "source", "target", "best")] + [("probability", np.float64)])
"""Records of the kernel, field by field."""


class Bitexts(Collector):
    """Sentence pairs without word alignment, and lexical probabilities.

    Args:
        max_words: longer pairs are skipped, 1 to 128.
    """

    def __init__(self, max_words: int = 40):
        if not 1 <= max_words <= MOST_WORDS:
            raise ValueError(f"max_words {max_words} out of range")
        super().__init__(lib.lscfg_bitexts_new(max_words), lib.lscfg_bitexts_free)

    def add(self, src: str, tgt: str) -> None:
        """Adds one pair: words separated by blanks.

        Raises:
            LineError: an empty side, or a word that a grammar cannot contain.
        """
        self._add(lib.lscfg_bitexts_add, src, tgt, "")

    def add_links(self, src: str, tgt: str, links: str) -> None:
        """Counts the links ``i-j``, counted from 0, of a pair, which need not have been added.

        Raises:
            LineError: as for ``add``, or a malformed or out-of-range link.
        """
        self._add(lib.lscfg_bitexts_link, src, tgt, links)

    def _view(self) -> Any:
        v = ffi.new("lscfg_bitexts_view *")
        lib.lscfg_bitexts_get(self._pointer, v)
        return v

    def __len__(self) -> int:
        return int(self._view().n_pairs)

    @property
    def left_out(self) -> int:
        """Number of pairs that are too long."""
        return int(self._view().left_out)

    def arrays(self) -> dict[str, np.ndarray]:
        """Returns copies of all arrays.

        ``src``, ``tgt`` int32, words of all pairs; ``src.offsets``, ``tgt.offsets`` int64 [pairs + 1]; ``same`` int32
        [pairs], the first pair with the same text; words and links as in ``Deriver.tables``.
        """
        v = self._view()
        n = v.n_pairs
        first = [self._copy(v.first[side], n + 1, np.int64) for side in range(2)]
        return {
            "src": self._copy(v.words[0], int(first[0][-1]), np.int32),
            "tgt": self._copy(v.words[1], int(first[1][-1]), np.int32),
            "src.offsets": first[0],
            "tgt.offsets": first[1],
            "same": self._copy(v.same, n, np.int32),
            **{name: array for name, array in self._tables(v).items() if not name.startswith("rules")},
        }

    def set_lexicon(self, words: np.ndarray, probability: np.ndarray) -> None:
        """Sets all lexical probabilities at once, before a model is created.

        Args:
            words: int32 [n, 2], source and target word, -1 for NULL.
            probability: float64 [n, 2], p(target | source) and p(source | target); values below 1e-7 count as 1e-7.

        Raises:
            ValueError: a word is unknown, a pair occurs twice, or a number is not a probability.
        """
        words, probability = np.ascontiguousarray(words, np.int32), np.ascontiguousarray(probability, np.float64)
        if words.shape != probability.shape or words.shape[1:] != (2,):
            raise ValueError(f"words {words.shape} and probabilities {probability.shape} do not fit")
        try:
            self._check(
                lib.lscfg_bitexts_lexicon(
                    self._pointer,
                    len(words),
                    ffi.from_buffer("int32_t[]", words),
                    ffi.from_buffer("double[]", probability),
                    self._error,
                )
            )
        except LineError as error:
            raise ValueError(str(error)) from None


@dataclass(frozen=True)
class Beams:
    """Beams of the parser; the defaults are those of ``lscfg.induce.biparsed.settings``."""

    pops: int = 30
    """Edges of a span, or with ``each_cube`` of each cube of a span."""
    nodes: int = 10
    """Nodes of a span."""
    word_items: int = 10
    """Sets of target words of a source word."""
    each_cube: bool = False
    retries: int = 2
    """Number of retries for a pair without a parse, each four times as wide."""
    max_target: int = 10
    """Maximum number of target words of a rule."""
    strict_root: bool = False
    """Words at the border of a sentence join no rule."""
    future: str = "split"
    """One of ``FUTURES``."""
    max_targets: int = 50
    """Target sides of a source side in the neighbour hypergraph."""
    rule_weights: bool = True
    """Each rule has a separate weight."""
    leave_out: bool = True
    """Rules that occur only in the current pair have weight 0 for it."""
    beam: float = 1.0
    """Largest distance of an edge's best derivation from the best derivation, in natural logarithms."""


@dataclass(frozen=True)
class LearningStep:
    """Parameters of an update by the gradient of a batch; see lscfg_biparse_step."""

    rate: float
    lexical_rate: float = 0.0
    shrink: float = 0.0
    prior: str = "corpus"
    adagrad: bool = False


class Visits(Collector):
    """Results of visiting sentence pairs. Only one thread may use an object at a time."""

    def __init__(self) -> None:
        super().__init__(lib.lscfg_biparse_visits_new(), lib.lscfg_biparse_visits_free)

    def _view(self) -> Any:
        v = ffi.new("lscfg_biparse_visits_view *")
        lib.lscfg_biparse_visits_get(self._pointer, v)
        return v

    def results(self) -> np.ndarray:
        """Returns a record (``RESULT``) for each pair, as a copy."""
        v = self._view()
        return self._copy(v.results, v.n, RESULT)

    def dense(self) -> np.ndarray:
        """Returns float64 [visits, 3]: expectations of dense features given both sides minus those given the source."""
        v = self._view()
        return self._copy(v.dense, (v.n, 3), np.float64)

    def links(self) -> np.ndarray:
        """Returns a record (``LINK``) for each link with a probability, pair by pair, as a copy."""
        v = self._view()
        return self._copy(v.pair_links, v.n_links, LINK)

    def trees(self) -> np.ndarray:
        """Returns a record (``EDGE``) for each edge of the best derivations, in preorder, as a copy."""
        v = self._view()
        return self._copy(v.edges, v.n_edges, EDGE)

    def rules(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Returns a record (``RULE``) for each rule of each pair, and int32 symbols and links [:, 2] of all rules."""
        v = self._view()
        records = self._copy(v.rules, v.n_rules, RULE)
        last = records[-1] if len(records) else np.zeros(1, RULE)[0]
        n_symbols = int(last["symbols"] + last["n_src"] + last["n_tgt"])
        n_links = int(last["links"] + 2 * last["n_links"])
        return (
            records,
            self._copy(v.symbols, n_symbols, np.int32),
            self._copy(v.links, n_links, np.int32).reshape(-1, 2),
        )


class BiparseModel(Collector):
    """Discovered rules and their weights. Several threads may visit at the same time, each with its own ``Visits``.

    Args:
        text: the pairs and their lexicon, which must not change afterwards.
    """

    def __init__(self, text: Bitexts, beams: Beams | None = None):
        b = beams or Beams()
        if min(b.pops, b.nodes, b.word_items, b.max_target, b.max_targets) < 1 or b.retries < 0 or not b.beam >= 0:
            raise ValueError(f"beams out of range: {b}")
        counts = (b.pops, b.nodes, b.word_items, b.each_cube, b.retries, b.max_target, b.strict_root)
        options = (*counts, FUTURES.index(b.future), b.max_targets, b.rule_weights, b.leave_out, b.beam)
        self.text = text
        self._pass = 0
        super().__init__(
            lib.lscfg_biparse_model_new(text._pointer, ffi.new("lscfg_biparse_options *", options)),
            lib.lscfg_biparse_model_free,
        )

    def visit(self, visits: Visits, pairs: np.ndarray, what: int = 0) -> Visits:
        """Parses pairs and replaces the contents of ``visits`` by the results.

        Args:
            pairs: int32, numbers of pairs.
            what: sum of ``NEIGHBOURS``, ``LINKS``, ``TREE`` and ``FIRST``.
        """
        pairs = np.ascontiguousarray(pairs, np.int32)
        visits._check(
            lib.lscfg_biparse_visit(
                self._pointer, visits._pointer, ffi.from_buffer("int32_t[]", pairs), len(pairs), what, visits._error
            )
        )
        return visits

    def learn(self, visits: Visits) -> None:
        """Adds the rules of visits to the model and their gradient to that of the batch."""
        self._check(lib.lscfg_biparse_learn(self._pointer, visits._pointer, self._error))

    def update(self, step: LearningStep) -> None:
        """Follows the gradient of the batch and clears it.

        Raises:
            InputError: a weight diverges, or the model is settled.
        """
        values = (step.rate, step.lexical_rate, step.shrink, PRIORS.index(step.prior), step.adagrad)
        options = ffi.new("lscfg_biparse_step *", values)
        self._check(lib.lscfg_biparse_update(self._pointer, options, self._error))

    def keep(self) -> None:
        """Saves the current weights for ``go_back``; until the first call, the initial weights are saved.

        Raises:
            InputError: the model is settled.
        """
        self._check(lib.lscfg_biparse_keep(self._pointer, self._error))

    def go_back(self) -> None:
        """Restores the saved weights; rules discovered since get weight 0.

        Raises:
            InputError: the model is settled.
        """
        self._check(lib.lscfg_biparse_go_back(self._pointer, self._error))

    def settle(self) -> None:
        """Ends learning: only the weights stay, for visits without ``NEIGHBOURS`` and for counts."""
        self._check(lib.lscfg_biparse_settle(self._pointer))

    def next_pass(self) -> None:
        """Ends a pass and resets the counts of rules."""
        lib.lscfg_biparse_next_pass(self._pointer)

    def forget(self, most: int) -> None:
        """Forgets rules with nonterminals of a single pair if the model has more than ``most`` aligned rules.

        Raises:
            InputError: too many rules remain.
        """
        self._check(lib.lscfg_biparse_forget(self._pointer, most, self._error))

    def arrays(self) -> dict[str, np.ndarray]:
        """Returns copies by the names of ``MODEL``; squares and saved weights of a settled model are empty."""
        v = ffi.new("lscfg_biparse_view *")
        self._check(lib.lscfg_biparse_model_get(self._pointer, v))
        found = {
            "rules.symbols": self._copy(v.symbols, v.n_symbols, np.int32),
            "rules.offsets": self._copy(v.offsets, v.n_rules + 1, np.int64),
            "rules.src_length": self._copy(v.src_length, v.n_rules, np.int32),
            "rules.arity": self._copy(v.arity, v.n_rules, np.int32),
            "rule.weight": self._copy(v.rule_weight, v.n_rules, np.float64),
            "rule.squares": self._copy(v.rule_squares, v.n_rules, np.float32),
            "rule.only": self._copy(v.only, v.n_rules, np.int32),
            "aligned.rule": self._copy(v.aligned_rule, v.n_aligned, np.int32),
            "aligned.shown": self._copy(v.shown, v.n_aligned, np.int32),
            "aligned.now": self._copy(v.shown_now, v.n_aligned, np.int32),
            "aligned.lexical": self._copy(v.lexical, (v.n_aligned, 2), np.float64),
            "links.offsets": self._copy(v.link_begin, v.n_aligned + 1, np.int64),
            "links.items": self._copy(v.links, (v.n_links, 2), np.int32),
            "dense": np.array(list(v.dense)),
            "dense.squares": np.array(list(v.dense_squares)),
            "rule.kept": self._copy(v.kept[len(SPARSE)], v.n_rules, np.float64),
            "dense.kept": np.array(list(v.dense_kept)),
        }
        for kind, name in enumerate(SPARSE):
            found[f"{name}.words"] = self._copy(v.words[kind], (v.n_weights[kind], 2), np.int32)
            found[f"{name}.weight"] = self._copy(v.weight[kind], v.n_weights[kind], np.float64)
            learning = v.n_weights[kind] if v.kept[kind] else 0
            found[f"{name}.squares"] = self._copy(v.squares[kind], learning, np.float32)
            found[f"{name}.kept"] = self._copy(v.kept[kind], learning, np.float64)
        return found

    def add(self, arrays: Mapping[str, np.ndarray], share: float = 1.0) -> None:
        """Adds a share of another model of the same text to a new model, or to one that consists of shares.

        A share of 1 copies the other model into a new one. Shares that sum to 1 give the mean of the models, with the
        rules of all; the saved weights are common.

        Args:
            arrays: see ``MODEL``.

        Raises:
            ValueError: this model is settled, or the arrays are invalid; in that case this model must be discarded.
        """
        sizes = check_layout(arrays, MODEL)
        check_offsets("rules.offsets", arrays["rules.offsets"], sizes["symbols"])
        check_offsets("links.offsets", arrays["links.offsets"], sizes["links"])
        lengths = np.diff(arrays["rules.offsets"])
        if (arrays["rules.src_length"] > lengths).any() or (arrays["rules.src_length"] < 1).any():
            raise ValueError("array 'rules.src_length' does not fit")
        n_words = int(self.text._view().tables.n_words)
        check_range("rules.symbols", arrays["rules.symbols"], -3, n_words)
        held = {name: np.ascontiguousarray(array) for name, array in arrays.items()}

        def pointer(name: str) -> object:
            of = {"i4": "int32_t[]", "i8": "int64_t[]", "f4": "float[]", "f8": "double[]"}[held[name].dtype.str[1:]]
            return ffi.from_buffer(of, held[name])

        v = ffi.new("lscfg_biparse_view *")
        fields = {
            "symbols": "rules.symbols",
            "offsets": "rules.offsets",
            "src_length": "rules.src_length",
            "arity": "rules.arity",
            "rule_weight": "rule.weight",
            "rule_squares": "rule.squares",
            "only": "rule.only",
            "aligned_rule": "aligned.rule",
            "shown": "aligned.shown",
            "shown_now": "aligned.now",
            "lexical": "aligned.lexical",
            "link_begin": "links.offsets",
            "links": "links.items",
        }
        buffers = {field: pointer(name) for field, name in fields.items()}
        for field, buffer in buffers.items():
            setattr(v, field, buffer)
        parts = ("words", "weight", "squares", "kept")
        sparse = [tuple(pointer(f"{name}.{what}") for what in parts) for name in SPARSE]
        rule_kept = pointer("rule.kept")
        v.kept[len(SPARSE)] = rule_kept
        for kind, arrays_of in enumerate(sparse):
            v.words[kind], v.weight[kind], v.squares[kind], v.kept[kind] = arrays_of
            v.n_weights[kind] = len(held[f"{SPARSE[kind]}.weight"])
        v.n_rules, v.n_symbols = sizes["rules"], sizes["symbols"]
        v.n_aligned, v.n_links = sizes["aligned"], sizes["links"]
        v.dense, v.dense_squares, v.dense_kept = (held[f"dense{of}"].tolist() for of in ("", ".squares", ".kept"))
        try:
            self._check(lib.lscfg_biparse_model_add(self._pointer, v, share, self._error))
        except LineError as error:
            raise ValueError(str(error)) from None


class ExpectedRules(Collector):
    """Expected counts of rules and of linked words.

    Args:
        wanted: int32 words of sentences to translate, -1 for words outside the text. Only rules that a sentence may
            use, and those of best derivations, are kept then. None: all.
    """

    def __init__(self, text: Bitexts, wanted: Iterable[np.ndarray] | None = None):
        self._text = text
        super().__init__(lib.lscfg_biparse_counts_new(text._pointer), lib.lscfg_biparse_counts_free)
        for words in () if wanted is None else (np.empty(0, np.int32), *wanted):  # even of no sentence
            held = np.ascontiguousarray(words, np.int32)
            self._check(lib.lscfg_biparse_want(self._pointer, ffi.from_buffer("int32_t[]", held), len(held)))

    def add(self, visits: Visits, weighs: BiparseModel | None = None) -> None:
        """Adds the expectations of visits.

        Args:
            weighs: a model of the same text that weights the rules; all visits or none need one.
        """
        model = weighs._pointer if weighs else ffi.NULL
        self._check(lib.lscfg_biparse_count(self._pointer, visits._pointer, model, self._error))

    def _copy(self, pointer: object, shape: int | tuple[int, ...], dtype: object) -> np.ndarray:
        """Returns a view, unlike other collectors; see ``arrays``."""
        return view(pointer, shape, dtype, self)

    def arrays(self) -> dict[str, np.ndarray]:
        """Returns views that are valid until more visits are added: copies would double the memory.

        They are ``expected`` float64, ``pairs`` int32, ``bare`` uint8, 1 for rules that no grammar contains, ``sums``
        float64 [rules, 2], the weights of rules and of their links, each times its expected count (without a model [0,
        2]), with ``wanted`` also ``of_target`` float64, expected counts of all rules with the same target side,
        ``linked`` float64 [word pairs], ``edges`` (``EDGE``), the best derivations, if visits have them, and the arrays
        of ``Deriver.tables``. The ``visit`` of an edge is the number of its pair here, and parents count from the first
        of all edges.
        """
        v = ffi.new("lscfg_biparse_counts_view *")
        self._check(lib.lscfg_biparse_counts_get(self._pointer, v))
        n = v.tables.n_rules
        return {
            **({"of_target": self._copy(v.of_target, n, np.float64)} if v.of_target else {}),
            "expected": self._copy(v.expected, n, np.float64),
            "pairs": self._copy(v.pairs, n, np.int32),
            "bare": self._copy(v.is_bare, n, np.uint8),
            "sums": self._copy(v.sums, (n if v.sums else 0, 2), np.float64),
            "linked": self._copy(v.linked, v.tables.n_pairs, np.float64),
            "edges": self._copy(v.edges, v.n_edges, EDGE),
            **self._tables(v),
        }
