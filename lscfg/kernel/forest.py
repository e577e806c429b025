"""Grammars, parsing and forests (plugin/forest)."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lscfg._kernel import ffi, lib
from lscfg.errors import InputError, KernelError, TooLargeError, quote
from lscfg.io.read import read_utf8
from lscfg.kernel.base import Vocab, check, utf8, view
from lscfg.kernel.compiled import open_compiled, word_arrays
from lscfg.kernel.extra_rules import layer_begin

X, S = int(lib.LSCFG_X), int(lib.LSCFG_S)
"""Categories of every grammar, [X] and [S]."""

REST = int(lib.LSCFG_REST)
"""Category of a node that groups all tails of an edge except the first, for edges with more than two tails."""

_INDEXING = threading.Lock()

MOST = int(lib.LSCFG_MOST)
"""Maximum number of rule applications in a forest."""

EPSILON = int(lib.LSCFG_EPSILON)
"""Word id of a lattice arc without a word."""


@dataclass(frozen=True)
class ParseOptions:
    """Options of the parser; the defaults are those of cdec with add_pass_through_rules."""

    max_span: int = 10
    """Maximum number of words that a rule covers (scfg_max_span_limit)."""
    glue: bool = True
    """Adds the glue rules [S] -> [X,1] and [S] -> [S,1] [X,2]."""
    pass_through: int = 1
    """0: no pass-through rules; 1: for every word; 2: only for words without a one-word rule."""
    goal: int = S
    """Category of the root."""
    most: int = MOST
    """Maximum number of chart cells (the square of the number of words), and of dotted rules and applications together;
    0: no limit.
    """
    passed: tuple[int, ...] = ()
    """Categories besides X that a word passes into if no rule translates the word alone; only with ``pass_through``."""

    def scalars(self) -> dict[str, int]:
        """The kernel's lscfg_parse_options, except the array ``passed``."""
        return {
            "max_span": self.max_span,
            "glue": self.glue,
            "pass": self.pass_through,
            "goal": self.goal,
            "most": self.most,
            "n_passed": len(self.passed),
        }


class Grammar:
    """Synchronous rules, numbered from 0 in order of addition, with sparse features.

    The numbers of the extra rules follow the last one, see ``lscfg.kernel.extra_rules``.
    """

    _indexed = False

    def __init__(self, vocab: Vocab | None = None):
        self.vocab = Vocab() if vocab is None else vocab
        self._pointer = ffi.gc(lib.lscfg_grammar_new(self.vocab._pointer), lib.lscfg_grammar_free)
        if self._pointer == ffi.NULL:
            raise KernelError("out of memory")

    @classmethod
    def from_files(cls, paths: Iterable[str | os.PathLike[str]], vocab: Vocab | None = None) -> Grammar:
        """Returns the finished grammar of one or more files in cdec's format (.gz allowed)."""
        grammar, files = cls(vocab), [os.fspath(path) for path in paths]
        for path in files:
            grammar.read(path)
        grammar.finish(", ".join(files))
        return grammar

    def read(self, path: str | os.PathLike[str]) -> None:
        """Adds the rules of a file in cdec's format.

        Raises:
            InputError: a malformed rule, a rule that is not UTF-8, or a last line without its newline, by file and
                line.
        """
        if open_compiled(path, lambda *given: lib.lscfg_grammar_open(self._pointer, *given)):
            return
        data = read_utf8(path, closed=True)
        error = ffi.new("lscfg_error *")
        check(lib.lscfg_grammar_read(self._pointer, ffi.from_buffer(data), len(data), error), error, path)

    def arrays(self) -> dict[str, np.ndarray]:
        """Returns the arrays of a compiled grammar, which ``read`` reads; all words of the vocabulary are included."""
        rules, found = _facts(self)
        _, ids, values = self.features()
        different, which = np.unique(values.view(np.int64), return_inverse=True)  # every bit counts
        arrays = {
            "rules": rules,
            "symbols": view(found.symbols, found.n_symbols, np.int32, self),
            "links": view(found.links, (found.n_links, 2), np.int32, self),
            "ids": ids,
            "values": different.view(np.float64),
            "which": which.astype(np.int32),
        }
        categories = self.categories()
        words = [self.vocab.word(k) for k in range(len(self.vocab))]
        for name, strings in (("word", words), ("category", categories), ("feature", self.feature_names)):
            plural = name.removesuffix("y") + "ies" if name.endswith("y") else f"{name}s"
            arrays[plural], arrays[f"{name}_offsets"] = word_arrays(strings)
        return arrays

    def read_text(self, text: str) -> None:
        """Adds the rules of a text in cdec's format."""
        data = utf8(text)
        error = ffi.new("lscfg_error *")
        check(lib.lscfg_grammar_read(self._pointer, ffi.from_buffer(data), len(data), error), error)

    def add(self, lhs: int, src: Sequence[int], tgt: Sequence[int]) -> int:
        """Adds a rule of encoded symbols (see lscfg.h) and returns its number."""
        error = ffi.new("lscfg_error *")
        rule = lib.lscfg_grammar_add(self._pointer, lhs, list(src), len(src), list(tgt), len(tgt), error)
        check(rule, error)
        return int(rule)

    def finish(self, path: str | None = None) -> None:
        """Builds the index by source side, after the last rule.

        Args:
            path: origin of the rules, for messages.

        Raises:
            InputError: rules whose source side is a single nonterminal form a cycle of categories.
        """
        error = ffi.new("lscfg_error *")
        check(lib.lscfg_grammar_finish(self._pointer, error), error, path)
        self._indexed = False  # a question before had no index

    def __len__(self) -> int:
        return int(lib.lscfg_grammar_size(self._pointer))

    def category(self, name: str) -> int:
        """Returns the number of a category, which is added if it is new."""
        data = utf8(name)
        return int(lib.lscfg_grammar_category(self._pointer, data, len(data)))

    def category_name(self, category: int) -> str:
        """Returns the name of a category.

        Raises:
            IndexError: the grammar has no such category.
        """
        if not 0 <= category < lib.lscfg_grammar_n_categories(self._pointer):
            raise IndexError(f"category {category}")
        length = ffi.new("size_t *")
        name = lib.lscfg_grammar_category_name(self._pointer, category, length)
        result: str = ffi.buffer(name, length[0])[:].decode("utf-8")
        return result

    def categories(self) -> list[str]:
        """Returns the names of all categories, by number."""
        return [self.category_name(k) for k in range(lib.lscfg_grammar_n_categories(self._pointer))]

    def _check(self, rule: int) -> None:
        if not 0 <= rule < len(self):
            raise IndexError(f"rule {rule} of {len(self)}")

    def lhs(self, rule: int) -> int:
        """Returns the category of the rule's left-hand side."""
        self._check(rule)
        return int(lib.lscfg_grammar_lhs(self._pointer, rule))

    def arity(self, rule: int) -> int:
        """Returns the number of nonterminals of the rule."""
        self._check(rule)
        return int(lib.lscfg_grammar_arity(self._pointer, rule))

    def src(self, rule: int) -> list[int]:
        """Returns the rule's source side; words >= 0, a nonterminal of category c is -1-c."""
        self._check(rule)
        length = ffi.new("int32_t *")
        symbols = lib.lscfg_grammar_src(self._pointer, rule, length)
        result: list[int] = ffi.unpack(symbols, length[0])
        return result

    def source_words(self) -> frozenset[int]:
        """Returns the words of the source sides of all rules, by their ids in the vocabulary."""
        return self._words(lib.lscfg_grammar_src)

    def target_words(self) -> frozenset[int]:
        """Returns the words of the target sides of all rules, by their ids in the vocabulary."""
        return self._words(lib.lscfg_grammar_tgt)

    def _words(self, side: Callable[..., Any]) -> frozenset[int]:
        found: set[int] = set()
        length = ffi.new("int32_t *")
        for rule in range(len(self)):
            symbols = side(self._pointer, rule, length)
            if length[0]:
                found.update(ffi.unpack(symbols, length[0]))
        return frozenset(symbol for symbol in found if symbol >= 0)

    def tgt(self, rule: int) -> list[int]:
        """Returns the rule's target side; words >= 0, the k-th source nonterminal is -1-k."""
        self._check(rule)
        length = ffi.new("int32_t *")
        symbols = lib.lscfg_grammar_tgt(self._pointer, rule, length)
        return ffi.unpack(symbols, length[0]) if length[0] else []

    def target_lengths(self) -> np.ndarray:
        """Returns the number of words on the target side of each rule, int32 [size]."""
        counts = np.empty(len(self), np.int32)
        lib.lscfg_grammar_target_lengths(self._pointer, ffi.from_buffer("int32_t[]", counts))
        return counts

    def links(self, rule: int) -> list[tuple[int, int]]:
        """Returns the word links of the rule's line: pairs of places on the source and the target side, from 0."""
        self._check(rule)
        count = ffi.new("int32_t *")
        pairs = ffi.unpack(lib.lscfg_grammar_links(self._pointer, rule, count), max(1, 2 * count[0]))
        return [(pairs[2 * k], pairs[2 * k + 1]) for k in range(count[0])]

    def find(self, lhs: int, src: Sequence[int], tgt: Sequence[int]) -> int:
        """Returns the first rule of a finished grammar with these sides; -1 if there is none."""
        return int(lib.lscfg_grammar_find(self._by_sides(), lhs, list(src), len(src), list(tgt), len(tgt)))

    def _by_sides(self) -> Any:
        """Builds the index by both sides at the first call, because most decoders do not need the index."""
        if not self._indexed:
            error = ffi.new("lscfg_error *")
            with _INDEXING:
                check(lib.lscfg_grammar_index_sides(self._pointer, error), error)
            self._indexed = True
        return self._pointer

    def wide(self) -> tuple[int, int]:
        """Returns the number of rules with more than two nonterminals and a scope above 2, and their largest scope.

        A sentence of n words is parsed in time O(n^scope) (Hopkins & Langmead 2010).
        """
        scope = ffi.new("int32_t *")
        return int(lib.lscfg_grammar_wide(self._pointer, scope)), int(scope[0])

    @property
    def feature_names(self) -> list[str]:
        """Names of the rules' features by number."""
        length = ffi.new("size_t *")
        names = []
        for k in range(lib.lscfg_grammar_n_features(self._pointer)):
            name = lib.lscfg_grammar_feature_name(self._pointer, k, length)
            names.append(ffi.buffer(name, length[0])[:].decode("utf-8"))
        return names

    def features(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Returns features as compressed rows: indptr int64 [size + 1], indices int32 and values float64 (copies)."""
        rows, indices, values = feature_views(self)
        return np.array(rows), np.array(indices), np.array(values)

    def parse(self, words: np.ndarray, options: ParseOptions) -> Forest | None:
        """Returns the forest of a sentence of word ids, int [n], None if the sentence has no derivation.

        Raises:
            InputError: a number is neither an id of the vocabulary nor -1, an unknown word.
            TooLargeError: the forest has more than ``options.most`` applications.
            TypeError, ValueError: the words are not integers, or have another shape.
        """
        words = _word_ids(words, len(self.vocab))
        buffer = ffi.from_buffer("int32_t[]", words)
        return self._parse(lib.lscfg_parse, options, buffer, len(words))

    def parse_lattice(self, arcs: np.ndarray, states: int, options: ParseOptions) -> Forest | None:
        """Returns the forest of a word lattice from its first to its last state, None if it has no derivation.

        Args:
            arcs: int [n, 3]: a state, a later state, and the word's id; -1 for an unknown word, ``EPSILON`` for none.
            states: number of states.

        Raises:
            InputError: an arc does not lead to a later state, or a word has no such id.
            TooLargeError: the forest has more than ``options.most`` applications.
            TypeError, ValueError: the arcs are not integers, or have another shape.
        """
        arcs = _arcs(arcs, len(self.vocab))
        buffer = ffi.cast("lscfg_arc *", ffi.from_buffer("int32_t[]", arcs))
        return self._parse(lib.lscfg_parse_lattice, options, buffer, len(arcs), states)

    def _parse(self, function: Any, options: ParseOptions, *source: object) -> Forest | None:
        passed = ffi.new("int32_t[]", options.passed)
        settings = ffi.new("lscfg_parse_options *", {**options.scalars(), "passed": passed})
        error = ffi.new("lscfg_error *")
        forest = ffi.new("lscfg_forest **")
        code = function(self._pointer, *source, settings, forest, error)
        check(code, error)
        if code == lib.LSCFG_TOO_LARGE:
            raise TooLargeError(
                f"more than {options.most:,} rule applications or spans: split the sentence, or lower the longest span "
                "of a rule (scfg_max_span_limit)"
            )
        return None if code == lib.LSCFG_NO_PARSE else Forest(ffi.gc(forest[0], lib.lscfg_forest_free))


def check_whole(grammar: Grammar) -> None:
    """Refuses a layer, whose rules have other numbers than those of a grammar from 0 on.

    Raises:
        TypeError: the grammar is a layer.
    """
    if isinstance(grammar, GrammarLayer):
        raise TypeError("the grammar is a layer of rules; give its base")


def _facts(grammar: Grammar) -> tuple[np.ndarray, Any]:
    """Returns what lscfg_grammar_get writes: int32 [rules, LSCFG_RULE_FACTS], and the view of symbols and links."""
    check_whole(grammar)
    rules, found = np.empty((len(grammar), lib.LSCFG_RULE_FACTS), np.int32), ffi.new("lscfg_grammar_view *")
    lib.lscfg_grammar_get(grammar._pointer, found, ffi.from_buffer("int32_t[]", rules))
    return rules, found


def _int32(name: str, values: np.ndarray) -> np.ndarray:
    """Integers as the kernel reads them. A cast alone would cut fractions off, and let large numbers begin again."""
    if values.size and values.dtype.kind not in "iu":
        raise TypeError(f"{name} must be integers, not {values.dtype}; take the ids of words from Grammar.vocab")
    if values.dtype != np.int32 and values.size and not (values.min() >= -(2**31) and values.max() < 2**31):
        raise InputError(f"{name} must be 32-bit integers, not {values.min()} to {values.max()}")
    return np.ascontiguousarray(values, np.int32)


def _check_ids(name: str, ids: np.ndarray, least: int, size: int) -> None:
    """Refuses ids that no vocabulary of a size contains, except negative ones from ``least`` on."""
    if ids.size and not (ids.min() >= least and ids.max() < size):
        wrong = ids[(ids < least) | (ids >= size)][0]
        raise InputError(
            f"{name} contain the word id {wrong}; ids are 0 to {size - 1}, or -1 for unknown words: take them from "
            "Grammar.vocab"
        )


def _word_ids(words: np.ndarray, size: int) -> np.ndarray:
    """The word ids of a sentence, int32 [n]; see ``Grammar.parse``."""
    words = np.asarray(words)
    if words.ndim != 1:
        raise ValueError(f"words of shape {words.shape}, not [n]")
    words = _int32("words", words)
    _check_ids("words", words, -1, size)
    return words


def _arcs(arcs: np.ndarray, size: int) -> np.ndarray:
    """The arcs of a lattice, int32 [n, 3]; see ``Grammar.parse_lattice``."""
    arcs = np.asarray(arcs)
    if arcs.ndim != 2 or arcs.shape[1] != 3:
        raise ValueError(f"arcs of shape {arcs.shape}, not [n, 3]")
    arcs = _int32("arcs", arcs)
    _check_ids("arcs", arcs[:, 2], EPSILON, size)
    return arcs


def grammar_sides(grammar: Grammar) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns both sides of all rules: offsets int64 [size + 1], source lengths int32 [size], symbols int32.

    The source side of rule r begins at ``symbols[offsets[r]]``, and its target side follows.
    """
    rules, found = _facts(grammar)
    offsets = np.zeros(len(grammar) + 1, np.int64)
    np.cumsum(rules[:, 1] + rules[:, 2], out=offsets[1:])
    return offsets, rules[:, 1], view(found.symbols, found.n_symbols, np.int32, grammar)


def feature_views(grammar: Grammar) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns the arrays of ``Grammar.features`` in the grammar's memory, which moves when rules are added."""
    check_whole(grammar)
    indptr, indices, values = (ffi.new(f"const {t} **") for t in ("int64_t", "int32_t", "double"))
    lib.lscfg_grammar_features(grammar._pointer, indptr, indices, values)
    rows = view(indptr[0], len(grammar) + 1, np.int64, grammar)
    count = int(rows[-1])
    return rows, view(indices[0], count, np.int32, grammar), view(values[0], count, np.float64, grammar)


def live_features(grammar: Grammar) -> list[str]:
    """Returns names of features that are not 0 in every rule, in the grammar's order."""
    check_whole(grammar)
    names = grammar.feature_names
    live = np.zeros(len(names), np.uint8)
    lib.lscfg_grammar_live(grammar._pointer, ffi.from_buffer("uint8_t[]", live))
    return [name for name, one in zip(names, live.tolist(), strict=True) if one]


def find_rules(grammar: Grammar, lhs: int, symbols: np.ndarray, offsets: Sequence[int]) -> list[int]:
    """Returns the results of ``Grammar.find`` for many rules.

    Args:
        symbols: int32, of source and target side of each rule in turn.
        offsets: 2 per rule + 1, where each side begins in ``symbols``.
    """
    find, pointer = lib.lscfg_grammar_find, grammar._by_sides()
    data = ffi.from_buffer("int32_t[]", np.ascontiguousarray(symbols, np.int32))
    sides = zip(offsets[0::2], offsets[1::2], offsets[2::2], strict=False)
    return [find(pointer, lhs, data + i, j - i, data + j, k - j) for i, j, k in sides]


def add_matching(grammar: Grammar, other: Grammar, words: np.ndarray) -> None:
    """Adds the rules of another grammar, of the same vocabulary, whose source sides have no words but a sentence's.

    Args:
        words: int32, numbers of the words of the sentence.

    Raises:
        InputError: the grammar has another vocabulary, or is a layer.
    """
    ids, error = np.ascontiguousarray(words, np.int32), ffi.new("lscfg_error *")
    given = ffi.from_buffer("int32_t[]", ids)
    check(lib.lscfg_grammar_add_matching(grammar._pointer, other._pointer, given, len(ids), error), error)


class GrammarLayer(Grammar):
    """Rules over a finished grammar, which keeps its numbers, size and index.

    The rules of the layer are numbered from ``layer_begin(layer)`` on, and ``len(layer)`` is the size of the base.
    They have no features. Rules of words only may be longer than the span limit; others have words on their
    source side, and exceed the limit only where they cover the whole sentence. Parsing, search and the methods for a
    single rule take a layer instead of its base, whose categories and features it shares; what lists or reads whole
    grammars refuses a layer. Add the rules, then call ``finish``.

    Raises:
        ValueError: the base is not finished, or a layer itself.
    """

    def __init__(self, base: Grammar):
        self.vocab, self._base = base.vocab, base  # the kernel's layer needs the base
        self._pointer = ffi.gc(lib.lscfg_grammar_over(base._pointer), lib.lscfg_grammar_free)
        if self._pointer == ffi.NULL:
            raise ValueError("a layer needs a finished grammar that is not itself a layer")

    def add_all(self, lhs: int, sides: Sequence[tuple[Sequence[int], Sequence[int]]]) -> int:
        """Adds rules of encoded source and target sides, which get consecutive numbers; returns the first number."""
        parts = [part for pair in sides for part in pair]
        lengths = np.array([len(part) for part in parts], np.int64)
        return self.add_flat(lhs, np.fromiter(itertools.chain.from_iterable(parts), np.int32, lengths.sum()), lengths)

    def add_flat(self, lhs: int, symbols: np.ndarray, lengths: np.ndarray) -> int:
        """Adds rules as ``add_all`` does.

        Args:
            symbols: int32, of source and target side of each rule in turn.
            lengths: int [2 per rule], numbers of symbols of each side.
        """
        offsets = np.zeros(len(lengths) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        error = ffi.new("lscfg_error *")
        first = lib.lscfg_grammar_add_all(
            self._pointer,
            lhs,
            ffi.from_buffer("int32_t[]", symbols),
            ffi.from_buffer("int64_t[]", offsets),
            len(lengths) // 2,
            error,
        )
        check(first, error)
        return int(first)

    def _check(self, rule: int) -> None:
        first = layer_begin(self)
        if not (0 <= rule < len(self) or first <= rule < first + lib.lscfg_grammar_layer_size(self._pointer)):
            raise IndexError(f"rule {rule} is in neither the grammar nor its layer")

    def category(self, name: str) -> int:
        """Returns the number of a category of the base.

        Raises:
            InputError: the base lacks the category.
        """
        names = self._base.categories()
        if name not in names:
            raise InputError(f"the grammar has no category {quote(name)}, and a layer of rules adds none")
        return names.index(name)

    def category_name(self, category: int) -> str:
        """Returns the name of a category of the base."""
        return self._base.category_name(category)

    def categories(self) -> list[str]:
        """Returns the names of the base's categories, by number."""
        return self._base.categories()

    @property
    def feature_names(self) -> list[str]:
        """Names of the features of the base's rules by number."""
        return self._base.feature_names

    def wide(self) -> tuple[int, int]:
        """Returns the figures of the base."""
        return self._base.wide()


class Forest:
    """A hypergraph in topological order; see lscfg_forest_view in lscfg/forest.h.

    - ``words``: int32 [n_words].
    - ``node_cat``: int32 [n_nodes]; ``node_span``: int32 [n_nodes, 2]; ``node_edges``: int32 [n_nodes + 1].
    - ``edge_head``: int32 [n_edges]; ``edge_tail``: int32 [n_edges, 2], -1 for no tail; ``edge_apps``: int32 [n_edges +
      1].
    - ``app_rule``, ``app_edge``: int32 [n_apps].
    - ``edge_paths``: int32 [n_edges + 1], where the arcs that the rule of an edge itself covers begin in ``paths``;
      both are None if the input is not a lattice. A lattice's ``words`` are those of its arcs.

    An edge with more than two tails has a node of category ``REST`` as its second tail; ``tails`` resolves it.
    """

    def __init__(self, pointer: object):
        self._pointer = pointer
        v = self.view()
        self.n_words, self.n_nodes, self.n_edges, self.n_apps = v.n_words, v.n_nodes, v.n_edges, v.n_apps

        def array(values: object, shape: int | tuple[int, ...]) -> np.ndarray:
            return view(values, shape, np.int32, self._pointer)

        self.words = array(v.words, self.n_words)
        self.node_cat = array(v.node_cat, self.n_nodes)
        self.node_span = array(v.node_span, (self.n_nodes, 2))
        self.node_edges = array(v.node_edges, self.n_nodes + 1)
        self.edge_head = array(v.edge_head, self.n_edges)
        self.edge_tail = array(v.edge_tail, (self.n_edges, 2))
        self.edge_apps = array(v.edge_apps, self.n_edges + 1)
        self.app_rule = array(v.app_rule, self.n_apps)
        self.app_edge = array(v.app_edge, self.n_apps)
        self.edge_paths, self.paths = None, None
        if v.edge_paths != ffi.NULL:
            self.edge_paths = array(v.edge_paths, self.n_edges + 1)
            self.paths = array(v.paths, int(self.edge_paths[-1]))

    def view(self) -> Any:
        """The kernel's view, valid as long as the forest."""
        found = ffi.new("lscfg_forest_view *")
        lib.lscfg_forest_get(self._pointer, found)
        return found

    def tails(self, edge: int) -> list[int]:
        """Returns the nodes of the edge's nonterminals in source order."""
        found = [tail for tail in self.edge_tail[edge].tolist() if tail >= 0]
        while len(found) > 1 and self.node_cat[found[-1]] == REST:
            found[-1:] = self.edge_tail[self.node_edges[found[-1]]].tolist()
        return found

    def restricted(self, keep: np.ndarray) -> tuple[Forest | None, np.ndarray]:
        """The part whose derivations use only some applications.

        Args:
            keep: bool [n_apps].

        Returns:
            The forest, None without a derivation, and the numbers that its applications have in this forest.

        Raises:
            InputError: the forest is none of a parsed sentence.
            ValueError: the shape of ``keep`` is not [n_apps].
        """
        if keep.shape != (self.n_apps,):
            raise ValueError(f"{self.n_apps} applications, keep {keep.shape}")
        marks, app_of = np.ascontiguousarray(keep, np.uint8), np.empty(self.n_apps, np.int32)
        error, part = ffi.new("lscfg_error *"), ffi.new("lscfg_forest **")
        code = lib.lscfg_forest_restrict(
            self._pointer, ffi.from_buffer("uint8_t[]", marks), part, ffi.from_buffer("int32_t[]", app_of), error
        )
        check(code, error)
        if code == lib.LSCFG_NO_PARSE:
            return None, app_of[:0]
        found = Forest(ffi.gc(part[0], lib.lscfg_forest_free))
        return found, app_of[: found.n_apps]

    def kept(self, apps: np.ndarray, nodes: np.ndarray, least: float, least_of_node: float) -> np.ndarray:
        """Marks applications for ``restricted`` by their marginals: bool [n_apps].

        Stay applications whose absolute marginal is at least ``least``; those of marginal 0, whose rules the model may
        lack, into nodes of at least ``least_of_node``; and the derivation of the largest marginals.

        Args:
            apps, nodes: float64 [n_apps], [n_nodes], as in ``Inference``.

        Raises:
            ValueError: the shape of ``apps`` is not [n_apps], or that of ``nodes`` is not [n_nodes].
        """
        if apps.shape != (self.n_apps,) or nodes.shape != (self.n_nodes,):
            raise ValueError(f"{self.n_apps} applications, {self.n_nodes} nodes, marginals {apps.shape}, {nodes.shape}")
        keep, error = np.empty(self.n_apps, bool), ffi.new("lscfg_error *")
        marginals = (ffi.from_buffer("double[]", np.ascontiguousarray(one, np.float64)) for one in (apps, nodes))
        marks = ffi.from_buffer("uint8_t[]", keep)
        check(lib.lscfg_forest_keep(self._pointer, *marginals, least, least_of_node, marks, error), error)
        return keep

    @property
    def is_rest(self) -> np.ndarray:
        """Marks applications of ``REST`` nodes, which are not steps of a derivation: bool [n_apps]."""
        return np.asarray(self.node_cat[self.edge_head[self.app_edge]] == REST)

    @property
    def size(self) -> int:
        """Bytes of the arrays."""
        return sum(array.nbytes for array in vars(self).values() if isinstance(array, np.ndarray))


class ForestBuilder:
    """Builds the forest of a decoder: each node, then the applications into it, the root last.

    Args:
        words: int [n], word ids of the sentence; -1 for unknown words.

    Raises:
        InputError: a number is less than -1 or too large for an id.
        TypeError: the words are not integers.
        ValueError: the words have another shape.
    """

    def __init__(self, words: np.ndarray):
        self._words = _word_ids(words, 2**31)
        self._pointer = ffi.gc(
            lib.lscfg_forest_new(ffi.from_buffer("int32_t[]", self._words), len(self._words)), lib.lscfg_forest_free
        )
        if self._pointer == ffi.NULL:
            raise KernelError("out of memory")
        self._error = ffi.new("lscfg_error *")
        self._n_apps = 0

    def add_node(self, category: int, i: int, j: int) -> int:
        """Adds a node over words i .. j-1 and returns its number. Several nodes may share a category and span.

        Raises:
            InputError: the span does not exist, or the forest is finished.
        """
        node = lib.lscfg_forest_add_node(self._pointer, category, i, j, self._error)
        check(node, self._error)
        return int(node)

    def add_application(self, rule: int, *tails: int) -> int:
        """Adds an application, to the last node, of a rule of the grammar or of the extra rules; returns its number.

        Args:
            tails: earlier nodes in source order, at most two.

        Raises:
            InputError: a tail is not an earlier node, or the forest is finished.
            ValueError: more than two tails are given.
        """
        if len(tails) > 2:
            raise ValueError(f"{len(tails)} tails")
        number = lib.lscfg_forest_add_application(self._pointer, rule, *tails, *[-1] * (2 - len(tails)), self._error)
        check(number, self._error)
        self._n_apps += 1
        return int(number)

    def finish(self, grammar: Grammar) -> tuple[Forest | None, np.ndarray]:
        """Checks the forest, joins its applications to edges, and drops parts that the root does not use.

        Returns:
            The forest, None if the root has no derivation, and int32 [applications added]: the final number of each
                application, -1 if it was dropped.

        Raises:
            InputError: a node or an application does not fit the grammar, or its vocabulary has no such word id.
        """
        app_of = np.empty(self._n_apps, np.int32)
        buffer = ffi.from_buffer("int32_t[]", app_of)
        code = lib.lscfg_forest_finish(self._pointer, grammar._pointer, buffer, self._error)
        check(code, self._error)
        _check_ids("words", self._words, -1, len(grammar.vocab))
        return (None if code == lib.LSCFG_NO_PARSE else Forest(self._pointer)), app_of
