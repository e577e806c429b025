"""The C kernel for Python: one wrapper for each C function, no pointer leaves this module.

Arrays that a wrapper returns are views of kernel memory, read-only, and keep their owner alive.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from lscfg._kernel import ffi, lib
from lscfg.errors import InputError, KernelError
from lscfg.text import check_utf8, read_bytes

X, S = 0, 1
"""Categories that every grammar has, [X] and [S]."""

PASS, PASS_KNOWN = int(lib.LSCFG_RULE_PASS), int(lib.LSCFG_RULE_PASS_KNOWN)
"""Rules behind those of a grammar: a word passed through; and one that a rule translates alone, of no probability."""

EPSILON = -2
"""Stands for a word where an arc of a lattice has none, the kernel's LSCFG_EPSILON."""


def check(code: int, error: Any, path: str | os.PathLike[str] | None = None) -> None:
    """Turns a negative status into an exception.

    Raises:
        InputError: malformed input or a file that cannot be opened.
        KernelError: anything else.
    """
    if code >= 0:
        return
    message = ffi.string(error.message).decode("utf-8", "replace")
    if code in (lib.LSCFG_EINPUT, lib.LSCFG_EIO):
        raise InputError(message, path, int(error.line) or None)
    raise KernelError(message)


def view(pointer: Any, shape: int | tuple[int, ...], dtype: Any, owner: Any) -> np.ndarray:
    """Kernel memory as a read-only array that keeps ``owner`` alive."""
    count = int(np.prod(shape))
    if count == 0:
        return np.empty(shape, dtype)
    array = np.frombuffer(ffi.buffer(pointer, count * np.dtype(dtype).itemsize), dtype).reshape(shape)
    return array.view(_Owned)._own(owner)


class _Owned(np.ndarray):
    """An array with a reference to the object whose memory it shows."""

    _owner: Any = None

    def __array_finalize__(self, parent: Any) -> None:
        self._owner = getattr(parent, "_owner", None)

    def _own(self, owner: Any) -> _Owned:
        self._owner = owner
        self.flags.writeable = False
        return self


class Vocab:
    """Interned words; ids count from 0 in order of addition."""

    def __init__(self) -> None:
        self.pointer = ffi.gc(lib.lscfg_vocab_new(), lib.lscfg_vocab_free)
        if self.pointer == ffi.NULL:
            raise KernelError("out of memory")

    def __len__(self) -> int:
        return int(lib.lscfg_vocab_size(self.pointer))

    def add(self, word: str) -> int:
        """The word's id; a new word gets the next one."""
        data = word.encode("utf-8")
        return int(lib.lscfg_vocab_add(self.pointer, data, len(data)))

    def find(self, word: str) -> int:
        """The word's id, -1 if it is unknown."""
        data = word.encode("utf-8")
        return int(lib.lscfg_vocab_find(self.pointer, data, len(data)))

    def word(self, index: int) -> str:
        """The word of an id in ``range(len(self))``."""
        if not 0 <= index < len(self):
            raise IndexError(index)
        length = ffi.new("size_t *")
        word = lib.lscfg_vocab_word(self.pointer, index, length)
        return ffi.buffer(word, length[0])[:].decode("utf-8")

    def add_line(self, line: str) -> np.ndarray:
        """Ids, int32, of the words of a line that are separated by blanks."""
        data = line.encode("utf-8")
        ids = np.empty(len(data) // 2 + 1, np.int32)
        count = lib.lscfg_vocab_line(self.pointer, data, len(data), ffi.from_buffer("int32_t[]", ids), len(ids))
        if count < 0:
            raise KernelError("out of memory")
        return ids[:count]


@dataclass(frozen=True)
class ParseOptions:
    """What the parser may do beside the grammar's rules; the defaults are those of cdec with add_pass_through_rules.

    Attributes:
        max_span: most words that a rule may cover (scfg_max_span_limit).
        glue: the glue rules [S] -> [X,1] and [S] -> [S,1] [X,2].
        pass_through: 0 no pass-through rules, 1 for every word, 2 for words without a one-word rule only.
        goal: category of the root.
    """

    max_span: int = 10
    glue: bool = True
    pass_through: int = 1
    goal: int = S


class Grammar:
    """Synchronous rules, numbered from 0 in order of addition, with sparse features.

    Five more rule numbers follow the last one: ``size`` + 0 is glue [S] -> [X,1], + 1 is glue [S] -> [S,1] [X,2], + 2
    passes the source word of a span through, + 3 stands for any rule that the grammar does not have, + 4 passes a word
    through that a rule of the grammar translates alone.
    """

    def __init__(self, vocab: Vocab | None = None):
        self.vocab = Vocab() if vocab is None else vocab
        self.pointer = ffi.gc(lib.lscfg_grammar_new(self.vocab.pointer), lib.lscfg_grammar_free)
        if self.pointer == ffi.NULL:
            raise KernelError("out of memory")

    @classmethod
    def from_files(cls, paths: Iterable[str | os.PathLike[str]], vocab: Vocab | None = None) -> Grammar:
        """The finished grammar of one or more files in cdec's format (.gz allowed)."""
        grammar = cls(vocab)
        for path in paths:
            grammar.read(path)
        grammar.finish()
        return grammar

    def read(self, path: str | os.PathLike[str]) -> None:
        """Adds the rules of a file in cdec's format.

        Raises:
            InputError: a malformed rule, or one that is not UTF-8, by file and line.
        """
        data = read_bytes(path)
        check_utf8(data, path)
        error = ffi.new("lscfg_error *")
        check(lib.lscfg_grammar_read(self.pointer, ffi.from_buffer(data), len(data), error), error, path)

    def read_text(self, text: str) -> None:
        """Adds the rules of a text in cdec's format."""
        data = text.encode("utf-8")
        error = ffi.new("lscfg_error *")
        check(lib.lscfg_grammar_read(self.pointer, ffi.from_buffer(data), len(data), error), error)

    def add(self, lhs: int, src: Sequence[int], tgt: Sequence[int]) -> int:
        """Adds a rule of encoded symbols (see lscfg.h) and returns its number."""
        error = ffi.new("lscfg_error *")
        rule = lib.lscfg_grammar_add(self.pointer, lhs, list(src), len(src), list(tgt), len(tgt), error)
        check(rule, error)
        return int(rule)

    def finish(self) -> None:
        """Builds the index by source side; to be called after the last rule."""
        error = ffi.new("lscfg_error *")
        check(lib.lscfg_grammar_finish(self.pointer, error), error)

    def __len__(self) -> int:
        return int(lib.lscfg_grammar_size(self.pointer))

    def category(self, name: str) -> int:
        """The category's number; a new one is added."""
        data = name.encode("utf-8")
        return int(lib.lscfg_grammar_category(self.pointer, data, len(data)))

    def category_name(self, category: int) -> str:
        """The name of a category's number."""
        if not 0 <= category < lib.lscfg_grammar_n_categories(self.pointer):
            raise IndexError(f"category {category}")
        length = ffi.new("size_t *")
        name = lib.lscfg_grammar_category_name(self.pointer, category, length)
        return ffi.buffer(name, length[0])[:].decode("utf-8")

    def _check(self, rule: int) -> None:
        if not 0 <= rule < len(self):
            raise IndexError(f"rule {rule} of {len(self)}")

    def lhs(self, rule: int) -> int:
        """Category of the rule's left-hand side."""
        self._check(rule)
        return int(lib.lscfg_grammar_lhs(self.pointer, rule))

    def arity(self, rule: int) -> int:
        """Number of nonterminals of the rule."""
        self._check(rule)
        return int(lib.lscfg_grammar_arity(self.pointer, rule))

    def src(self, rule: int) -> list[int]:
        """The rule's source side; words >= 0, a nonterminal of category c is -1-c."""
        self._check(rule)
        length = ffi.new("int32_t *")
        symbols = lib.lscfg_grammar_src(self.pointer, rule, length)
        return ffi.unpack(symbols, length[0])

    def tgt(self, rule: int) -> list[int]:
        """The rule's target side; words >= 0, the k-th source nonterminal is -1-k."""
        self._check(rule)
        length = ffi.new("int32_t *")
        symbols = lib.lscfg_grammar_tgt(self.pointer, rule, length)
        return ffi.unpack(symbols, length[0]) if length[0] else []

    def find(self, lhs: int, src: Sequence[int], tgt: Sequence[int]) -> int:
        """The rule of a finished grammar with these sides, the first of several; -1 if there is none."""
        return int(lib.lscfg_grammar_find(self.pointer, lhs, list(src), len(src), list(tgt), len(tgt)))

    @property
    def feature_names(self) -> list[str]:
        """Names of the rules' features by number."""
        length = ffi.new("size_t *")
        names = []
        for k in range(lib.lscfg_grammar_n_features(self.pointer)):
            name = lib.lscfg_grammar_feature_name(self.pointer, k, length)
            names.append(ffi.buffer(name, length[0])[:].decode("utf-8"))
        return names

    def features(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Features as compressed rows: indptr int64 [size + 1], indices int32 and values float64 (copies)."""
        indptr, indices, values = (ffi.new(f"const {t} **") for t in ("int64_t", "int32_t", "double"))
        lib.lscfg_grammar_features(self.pointer, indptr, indices, values)
        rows = np.array(view(indptr[0], len(self) + 1, np.int64, self))
        count = int(rows[-1])
        return (
            rows,
            np.array(view(indices[0], count, np.int32, self)),
            np.array(view(values[0], count, np.float64, self)),
        )

    def parse(self, words: np.ndarray, options: ParseOptions) -> Forest | None:
        """The forest of a sentence of word ids, None if there is no derivation."""
        words = np.ascontiguousarray(words, np.int32)
        buffer = ffi.from_buffer("int32_t[]", words)
        return self._parse(lib.lscfg_parse, options, buffer, len(words))

    def parse_lattice(self, arcs: np.ndarray, states: int, options: ParseOptions) -> Forest | None:
        """The forest of a word lattice from its first to its last state, None if there is no derivation.

        Args:
            arcs: int32 [n, 3]: from a state to a later one, and the word's id; ``EPSILON`` for none.
            states: number of states.

        Raises:
            InputError: an arc leads to no later state.
        """
        arcs = np.ascontiguousarray(arcs, np.int32)
        if arcs.ndim != 2 or arcs.shape[1] != 3:
            raise ValueError(f"arcs of shape {arcs.shape}, not [n, 3]")
        buffer = ffi.cast("lscfg_arc *", ffi.from_buffer("int32_t[]", arcs))
        return self._parse(lib.lscfg_parse_lattice, options, buffer, len(arcs), states)

    def _parse(self, function: Any, options: ParseOptions, *source: Any) -> Forest | None:
        settings = ffi.new(
            "lscfg_parse_options *",
            {
                "max_span": options.max_span,
                "glue": options.glue,
                "pass": options.pass_through,
                "goal": options.goal,
            },
        )
        error = ffi.new("lscfg_error *")
        forest = ffi.new("lscfg_forest **")
        code = function(self.pointer, *source, settings, forest, error)
        check(code, error)
        return None if code == lib.LSCFG_NO_PARSE else Forest(ffi.gc(forest[0], lib.lscfg_forest_free))


class Forest:
    """A hypergraph in topological order; see lscfg_forest_view in lscfg.h.

    Attributes:
        words: int32 [n_words].
        node_cat: int32 [n_nodes]; node_span: int32 [n_nodes, 2]; node_edges: int32 [n_nodes + 1].
        edge_head: int32 [n_edges]; edge_tail: int32 [n_edges, 2], -1 where absent; edge_apps: int32 [n_edges + 1].
        app_rule, app_edge: int32 [n_apps].
        node_tgt: int32 [n_nodes, 2], target spans; None in forests of the parser, which see no target sentence.
        edge_paths: int32 [n_edges + 1], where the arcs of an edge, those that its rule goes along itself, begin in
            ``paths``; both None where the input is no lattice. A lattice's ``words`` are those of its arcs.
    """

    def __init__(self, pointer: Any):
        self.pointer = pointer
        v = ffi.new("lscfg_forest_view *")
        lib.lscfg_forest_get(self.pointer, v)
        self.n_words, self.n_nodes, self.n_edges, self.n_apps = v.n_words, v.n_nodes, v.n_edges, v.n_apps

        def array(values: Any, shape: int | tuple[int, ...]) -> np.ndarray:
            return view(values, shape, np.int32, self.pointer)

        self.words = array(v.words, self.n_words)
        self.node_cat = array(v.node_cat, self.n_nodes)
        self.node_span = array(v.node_span, (self.n_nodes, 2))
        self.node_edges = array(v.node_edges, self.n_nodes + 1)
        self.edge_head = array(v.edge_head, self.n_edges)
        self.edge_tail = array(v.edge_tail, (self.n_edges, 2))
        self.edge_apps = array(v.edge_apps, self.n_edges + 1)
        self.app_rule = array(v.app_rule, self.n_apps)
        self.app_edge = array(v.app_edge, self.n_apps)
        self.node_tgt = None if v.node_tgt == ffi.NULL else array(v.node_tgt, (self.n_nodes, 2))
        self.edge_paths, self.paths = None, None
        if v.edge_paths != ffi.NULL:
            self.edge_paths = array(v.edge_paths, self.n_edges + 1)
            self.paths = array(v.paths, int(self.edge_paths[-1]))


class ForestBuilder:
    """A forest that a decoder builds: each node and then the applications into it, the root last.

    Args:
        words: int32 [n], word ids of the sentence.
    """

    def __init__(self, words: np.ndarray):
        words = np.ascontiguousarray(words, np.int32)
        self._pointer = ffi.gc(
            lib.lscfg_forest_new(ffi.from_buffer("int32_t[]", words), len(words)), lib.lscfg_forest_free
        )
        if self._pointer == ffi.NULL:
            raise KernelError("out of memory")
        self._error = ffi.new("lscfg_error *")
        self._n_apps = 0

    def add_node(self, category: int, i: int, j: int) -> int:
        """A node over words i .. j-1; its number. There may be many of one category and span.

        Raises:
            InputError: no such span, or the forest is finished.
        """
        node = lib.lscfg_forest_add_node(self._pointer, category, i, j, self._error)
        check(node, self._error)
        return int(node)

    def add_application(self, rule: int, *tails: int) -> int:
        """An application of a rule of the grammar, or of one behind them, into the last node; its number.

        Args:
            tails: nodes added before, in source order, at most two.

        Raises:
            InputError: a tail is no earlier node, or the forest is finished.
        """
        if len(tails) > 2:
            raise ValueError(f"{len(tails)} tails")
        number = lib.lscfg_forest_add_application(self._pointer, rule, *tails, *[-1] * (2 - len(tails)), self._error)
        check(number, self._error)
        self._n_apps += 1
        return int(number)

    def finish(self, grammar: Grammar) -> tuple[Forest | None, np.ndarray]:
        """Checks the forest against the grammar, joins its applications to edges, drops what the root does not use.

        Returns:
            The forest, None if the root has no derivation, and int32 [applications added]: the application that each
            one has become, -1 where it was dropped.

        Raises:
            InputError: a node or an application does not fit the grammar.
        """
        app_of = np.empty(self._n_apps, np.int32)
        buffer = ffi.from_buffer("int32_t[]", app_of)
        code = lib.lscfg_forest_finish(self._pointer, grammar.pointer, buffer, self._error)
        check(code, self._error)
        return (None if code == lib.LSCFG_NO_PARSE else Forest(self._pointer)), app_of


class Model:
    """The parameters of an L-SCFG, memory-mapped from a model file and validated.

    Raises:
        InputError: the file is missing, cut off or not a model.
    """

    def __init__(self, path: str | os.PathLike[str]):
        self.path = os.fspath(path)
        error = ffi.new("lscfg_error *")
        model = ffi.new("lscfg_model **")
        check(lib.lscfg_model_open(os.fsencode(path), model, error), error, path)
        self.pointer = ffi.gc(model[0], lib.lscfg_model_close)

    @property
    def rank(self) -> int:
        """m, the number of hidden states."""
        return int(lib.lscfg_model_rank(self.pointer))

    def __len__(self) -> int:
        return int(lib.lscfg_model_size(self.pointer))

    def check_features(self, options: FeatureOptions) -> None:
        """Refuses features that the model cannot give.

        Raises:
            InputError: the file lacks the model with one state, or the context weights, that a feature needs.
        """
        error = ffi.new("lscfg_error *")
        check(lib.lscfg_model_check_features(self.pointer, options.pointer(), error), error, self.path)

    def grammar(self) -> Grammar:
        """A finished grammar of all rules of the model, in the model's order."""
        grammar = Grammar()
        error = ffi.new("lscfg_error *")
        check(lib.lscfg_model_add_rules(self.pointer, grammar.pointer, error), error, self.path)
        grammar.finish()
        return grammar


LATENT_FEATURES = tuple(ffi.string(lib.lscfg_feature_name(k)).decode("ascii") for k in range(lib.LSCFG_N_FEATURES))
"""Names of all latent features (docs/FORMATS.md)."""


CONTEXT_FEATURES = LATENT_FEATURES[lib.LSCFG_CONTEXT_0 :]
"""Those of the source words around a rule, for which a model has to be estimated with them."""


def feature_names(names: Iterable[str]) -> tuple[str, ...]:
    """The names with those in place of ``paper``, ``ratios`` and ``context`` that they stand for."""
    found: list[str] = []
    for name in names:
        encoded = name.encode()
        features = lib.lscfg_feature_set(encoded, len(encoded))
        found += [known for k, known in enumerate(LATENT_FEATURES) if features >> k & 1] or [name]
    return tuple(found)


@dataclass(frozen=True)
class FeatureOptions:
    """How marginals become features.

    Attributes:
        log: natural logarithms instead of the values; ratios and those of context are logarithms in either case.
        floor: no logarithm is taken of less, > 0.
        negative: what a negative marginal counts as: ``"flip"`` its absolute value, ``"clamp"`` zero.
        names: the features wanted, some of ``LATENT_FEATURES`` in any order, ``paper`` for the first three of them,
            ``ratios`` for those to one state, ``context`` for those of the source words around a rule.
    """

    log: bool = True
    floor: float = 1e-6
    negative: str = "flip"
    names: tuple[str, ...] = LATENT_FEATURES[:3]

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", feature_names(self.names))
        if not self.floor > 0:
            raise InputError(f"feature floor must be above 0, got {self.floor}")
        if self.negative not in ("flip", "clamp"):
            raise InputError(f"negative marginals: 'flip' or 'clamp', got {self.negative!r}")
        if not self.names or len(set(self.names)) < len(self.names) or not {*self.names} <= {*LATENT_FEATURES}:
            raise InputError(
                f"features {','.join(self.names)!r}: expected some of {', '.join(LATENT_FEATURES)}, once each; "
                "paper, ratios and context stand for several"
            )

    @property
    def need_inference(self) -> bool:
        """False where only features of the words around a rule are wanted."""
        return bool(lib.lscfg_needs_inference(self.pointer()))

    def pointer(self) -> Any:
        """The kernel's lscfg_feature_options."""
        negative = lib.LSCFG_NEGATIVE_FLIP if self.negative == "flip" else lib.LSCFG_NEGATIVE_CLAMP
        wanted = sum(1 << LATENT_FEATURES.index(name) for name in self.names)
        return ffi.new("lscfg_feature_options *", (self.log, negative, self.floor, wanted))


@dataclass(frozen=True)
class Inference:
    """Marginals of one forest.

    Attributes:
        apps: float64 [n_apps], signed, divided by g.
        nodes: float64 [n_nodes], the same for nodes.
        sign: sign of g, the sum over all derivations; 0 where none has a probability (then all marginals are 0).
        log_g: natural logarithm of the absolute value of g.
        negative: number of negative application marginals; negative_mass: their share of the absolute sum, in [0, 1].
    """

    apps: np.ndarray
    nodes: np.ndarray
    sign: int
    log_g: float
    negative: int
    negative_mass: float


@dataclass(frozen=True)
class BindingOptions:
    """What becomes of rules of [X] that a model does not know; without any of these they have probability zero.

    Attributes:
        compose: they are composed of the model's rules where that is possible.
        oov: others without nonterminals have the tensor of the OOV rule.
        oov_parts: so has, inside composed rules, a word with its translation that cannot be had otherwise.
    """

    compose: bool = False
    oov: bool = False
    oov_parts: bool = False


RULE_KINDS = ("zero", "known", "composed", "composed with OOV parts", "OOV", "stateless")
"""What a rule of a grammar is to a binding, by the kernel's LSCFG_RULE_IS_... ."""


class Binding:
    """Which tensor of a model belongs to which rule of a grammar; inference over forests of that grammar."""

    def __init__(self, model: Model, grammar: Grammar, options: BindingOptions | None = None):
        self.model, self.grammar = model, grammar
        chosen = options or BindingOptions()
        settings = ffi.new("lscfg_binding_options *", (chosen.compose, chosen.oov, chosen.oov_parts))
        error = ffi.new("lscfg_error *")
        binding = ffi.new("lscfg_binding **")
        check(lib.lscfg_binding_new(model.pointer, grammar.pointer, settings, binding, error), error)
        self.pointer = ffi.gc(binding[0], lib.lscfg_binding_free)

    @property
    def known(self) -> int:
        """Number of the grammar's rules that have a tensor of their own."""
        return int(lib.lscfg_binding_known(self.pointer))

    @property
    def instructions(self) -> str:
        """Instructions of the inner loops: ``avx512``, ``avx2`` or ``baseline``; at first the best of the machine."""
        return str(ffi.string(lib.lscfg_binding_instructions(self.pointer)).decode())

    @instructions.setter
    def instructions(self, name: str) -> None:
        error = ffi.new("lscfg_error *")
        check(lib.lscfg_binding_use(self.pointer, name.encode(), error), error)

    @property
    def kinds(self) -> np.ndarray:
        """uint8 [rules]: what each rule of the grammar is to the binding, an index into ``RULE_KINDS``.

        To compose a whole grammar takes time; inference composes only what a forest has.
        """
        kinds = np.empty(len(self.grammar), np.uint8)
        error = ffi.new("lscfg_error *")
        check(lib.lscfg_binding_kinds(self.pointer, ffi.from_buffer("uint8_t[]", kinds), error), error)
        return kinds

    def counts(self) -> dict[str, int]:
        """Rules of the grammar by what they are to the binding."""
        return dict(zip(RULE_KINDS, np.bincount(self.kinds, minlength=len(RULE_KINDS)).tolist(), strict=True))

    def infer(self, forest: Forest) -> Inference:
        """Tensor inside-outside (paper, Fig. 1)."""
        apps = np.empty(forest.n_apps)
        nodes = np.empty(forest.n_nodes)
        result = ffi.new("lscfg_inference *")
        error = ffi.new("lscfg_error *")
        check(
            lib.lscfg_infer(
                self.pointer,
                forest.pointer,
                ffi.from_buffer("double[]", apps),
                ffi.from_buffer("double[]", nodes),
                result,
                error,
            ),
            error,
        )
        return Inference(apps, nodes, result.sign, result.log_g, result.negative, result.negative_mass)

    def features(self, forest: Forest, inference: Inference | None, options: FeatureOptions) -> np.ndarray:
        """Features of each application, float64 [n_apps, len(options.names)], in the order of ``options.names``.

        Args:
            inference: what ``infer`` gave for this forest; where ratios to one state are wanted, that is inferred here.
                None where ``options`` need none.

        Raises:
            InputError: the model lacks what a feature needs.
        """
        if inference is None and options.need_inference:
            raise ValueError(f"{','.join(options.names)} need marginals")
        result = apps = nodes = ffi.NULL
        if inference is not None:
            if inference.apps.shape != (forest.n_apps,) or inference.nodes.shape != (forest.n_nodes,):
                raise ValueError(
                    f"marginals of shapes {inference.apps.shape} and {inference.nodes.shape} for {forest.n_apps} "
                    f"applications of {forest.n_nodes} nodes"
                )
            result = ffi.new("lscfg_inference *", {"sign": inference.sign})
            both = (inference.apps, inference.nodes)
            apps, nodes = (ffi.from_buffer("double[]", np.ascontiguousarray(a, np.float64)) for a in both)
        out = np.empty((forest.n_apps, lib.LSCFG_N_FEATURES))
        error = ffi.new("lscfg_error *")
        check(
            lib.lscfg_features(
                self.pointer,
                forest.pointer,
                result,
                apps,
                nodes,
                options.pointer(),
                ffi.from_buffer("double[]", out),
                error,
            ),
            error,
        )
        return out[:, [LATENT_FEATURES.index(name) for name in options.names]]


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
"""Why a sentence pair has no tree, by the kernel's LSCFG_PAIR_... ."""


@dataclass(frozen=True)
class DeriveOptions:
    """How sentence pairs become trees.

    Attributes:
        bracketing: of a sequence of phrases that stand in the same order, or in exactly opposite order, on both sides:
            ``"normal"`` is the normal form of Zhang, Gildea & Chiang (2008), ((A B) C) D, and so is ``"left"``;
            ``"right"`` A (B (C D)); ``"balanced"`` (A B) (C D), the left part one longer where the number is odd.
        max_arity: most nonterminals, 0 to 2, of a rule that gets parameters and a place in the grammar.
        binarise: no rule gets more than that: the smallest children become terminals of their parent's rule.
        max_words: pairs with a longer side are dropped and counted; 0 for no limit.
        drop: drop and count bad pairs, where they would else be an error.

    Raises:
        InputError: a value out of range.
    """

    bracketing: str = "normal"
    max_arity: int = 2
    binarise: bool = False
    max_words: int = 0
    drop: bool = False

    def __post_init__(self) -> None:
        if self.bracketing not in BRACKETINGS:
            raise InputError(f"unknown bracketing {self.bracketing!r}; known are {', '.join(BRACKETINGS)}")
        if not 0 <= self.max_arity <= 2:
            raise InputError(
                f"maximal arity must be 0, 1 or 2, got {self.max_arity}: neither tensors nor the decoder know rules of "
                "more nonterminals"
            )
        if not 0 <= self.max_words < 2**31:
            raise InputError(f"longest sentence must be 0 (no limit) or more words, got {self.max_words}")


@dataclass(frozen=True)
class DerivedNodes:
    """Trees and nodes since the last flush, as views that hold until the deriver's next call.

    Attributes:
        trees: int64 [trees], first node of each; end: the node behind the last tree. Both count from the very first
            node.
        rule, parent, slot: int32 [nodes]; span: int32 [nodes, 4]. See ``lscfg.derive.Derivations``.
    """

    trees: np.ndarray
    end: int
    rule: np.ndarray
    parent: np.ndarray
    slot: np.ndarray
    span: np.ndarray


@dataclass(frozen=True)
class DeriveCounts:
    """What a deriver has seen since it was made, flushed or not.

    Attributes:
        rules: int64 [rules], tokens of each rule.
        trees_above: trees with a rule of more than ``max_arity`` nonterminals.
        dropped: pairs by reason, of ``DROP_REASONS``.
    """

    rules: np.ndarray
    trees_above: int
    dropped: dict[str, int]


class LineError(InputError):
    """A bad line of parallel text: ``stream`` is 0 for source, 1 for target, 2 for links; ``pair`` counts from 1."""

    def __init__(self, message: str, stream: int, pair: int):
        super().__init__(message)
        self.stream = stream
        self.pair = pair

    def at(self, pair: int, links: str | os.PathLike[str] | None) -> InputError:
        """The error with its place: the line of the alignment file if that is known and to blame, else the pair."""
        if self.stream == lib.LSCFG_LINKS and links is not None:
            return InputError(str(self), links, pair)
        return InputError(f"sentence pair {pair}: {self}")


def words_fault(line: str) -> str | None:
    """Why a line of words, separated by blanks, cannot stand in a grammar; None if it can. An empty line can."""
    data = line.encode("utf-8")
    error = ffi.new("lscfg_error *")
    code = lib.lscfg_check_words(data, len(data), error)
    check(code, error)
    return ffi.string(error.message).decode("utf-8", "replace") if code else None


class _Collector:
    """What collectors of word-aligned sentence pairs share: the kernel's object, its errors and its tables."""

    def __init__(self, pointer: Any, release: Any) -> None:
        if pointer == ffi.NULL:
            raise KernelError("out of memory")
        self.pointer = ffi.gc(pointer, release)
        self._error = ffi.new("lscfg_error *")
        self._stream = ffi.new("int32_t *")

    def _check(self, code: int) -> None:
        if code == lib.LSCFG_EINPUT:
            message = ffi.string(self._error.message).decode("utf-8", "replace")
            raise LineError(message, self._stream[0], int(self._error.line))
        check(code, self._error)

    def _add(self, function: Any, src: str, tgt: str, links: str, *results: Any) -> None:
        """Calls a function of the kernel that reads a sentence pair."""
        f, e, a = src.encode("utf-8"), tgt.encode("utf-8"), links.encode("utf-8")
        self._check(function(self.pointer, f, len(f), e, len(e), a, len(a), *results, self._stream, self._error))

    def _copy(self, pointer: Any, shape: int | tuple[int, ...], dtype: Any) -> np.ndarray:
        return np.array(view(pointer, shape, dtype, self), subok=False)

    def _tables(self, v: Any) -> dict[str, np.ndarray]:
        """Rules, words and word translations, as copies, by their names in derivation files (docs/FORMATS.md).

        Args:
            v: the kernel's view. The whole of it, since a struct inside it does not keep its memory alive.
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


class Deriver(_Collector):
    """Collects the minimal derivation trees of word-aligned sentence pairs."""

    def __init__(self, options: DeriveOptions | None = None) -> None:
        self.options = options or DeriveOptions()
        settings = ffi.new(
            "lscfg_derive_options *",
            {
                "bracketing": BRACKETINGS.index(self.options.bracketing),
                "max_arity": self.options.max_arity,
                "binarise": self.options.binarise,
                "max_words": self.options.max_words,
                "drop": self.options.drop,
            },
        )
        super().__init__(lib.lscfg_derivations_new(settings), lib.lscfg_derivations_free)

    def add(self, src: str, tgt: str, links: str) -> None:
        """Adds the tree of one pair: words separated by blanks, links ``i-j`` counted from 0.

        Raises:
            LineError: a side is empty or has a word that cannot stand in a grammar, or a link is malformed or out of
                range; nothing is added then.
        """
        self._add(lib.lscfg_derive, src, tgt, links)

    def add_lines(self, texts: Sequence[bytes], pairs: int) -> None:
        """Adds the trees of ``pairs`` lines of source, target and links.

        Raises:
            LineError: as for ``add``; the pairs in front of the bad one have been added.
        """
        buffers = [ffi.from_buffer("char[]", text) for text in texts]
        lengths = [len(text) for text in texts]
        pointers = ffi.new("const char *[3]", buffers)
        self._check(
            lib.lscfg_derive_lines(
                self.pointer, pointers, ffi.new("size_t[3]", lengths), pairs, self._stream, self._error
            )
        )

    def merge(self, other: Deriver) -> None:
        """Adds all that another deriver has collected, as if its pairs had been added here."""
        self._check(lib.lscfg_derivations_merge(self.pointer, other.pointer, self._error))

    def decompose(self, src: str, tgt: str, links: str) -> Forest:
        """All minimal derivations of one pair; rule numbers are those of this deriver's table (see lscfg.h).

        Raises:
            LineError: as for ``add``.
        """
        forest = ffi.new("lscfg_forest **")
        self._add(lib.lscfg_decompose, src, tgt, links, forest)
        return Forest(ffi.gc(forest[0], lib.lscfg_forest_free))

    def _view(self) -> Any:
        v = ffi.new("lscfg_derivations_view *")
        lib.lscfg_derivations_get(self.pointer, v)
        return v

    def nodes(self) -> DerivedNodes:
        """Trees and nodes since the last flush."""
        v = self._view()
        return DerivedNodes(
            view(v.trees, v.n_trees, np.int64, self),
            int(v.trees[v.n_trees]),
            view(v.node_rule, v.n_nodes, np.int32, self),
            view(v.node_parent, v.n_nodes, np.int32, self),
            view(v.node_slot, v.n_nodes, np.int32, self),
            view(v.node_span, (v.n_nodes, 4), np.int32, self),
        )

    def flush(self) -> None:
        """Forgets trees and nodes; rules, words and counts stay."""
        lib.lscfg_derivations_flush(self.pointer)

    def counts(self) -> DeriveCounts:
        """What has been seen so far."""
        v = self._view()
        reasons = {name: int(v.dropped[k]) for k, name in enumerate(DROP_REASONS) if k and v.dropped[k]}
        return DeriveCounts(self._copy(v.rule_count, v.tables.n_rules, np.int64), v.n_above, reasons)

    def tables(self) -> dict[str, np.ndarray]:
        """Rules, words and word translations, as copies, by their names in derivation files (docs/FORMATS.md)."""
        return self._tables(self._view())

    def arrays(self) -> dict[str, np.ndarray]:
        """``tables`` and the nodes since the last flush, as copies."""
        nodes = self.nodes()
        return {
            "trees": np.append(nodes.trees, np.int64(nodes.end)),
            "node.rule": np.array(nodes.rule, subok=False),
            "node.parent": np.array(nodes.parent, subok=False),
            "node.slot": np.array(nodes.slot, subok=False),
            "node.span": np.array(nodes.span, subok=False),
            **self.tables(),
        }


class HieroExtractor(_Collector):
    """Collects the Hiero rules of word-aligned sentence pairs; the limits are those of lscfg_hiero_options."""

    def __init__(
        self, max_phrase: int, max_target_phrase: int, max_symbols: int, max_arity: int, places: bool = False
    ) -> None:
        if max_phrase < 1 or max_target_phrase < 0 or max_symbols < 1 or not 0 <= max_arity <= 2:
            raise ValueError(f"limits {max_phrase}, {max_target_phrase}, {max_symbols}, {max_arity} out of range")
        options = ffi.new("lscfg_hiero_options *", (max_phrase, max_target_phrase, max_symbols, max_arity, places))
        super().__init__(lib.lscfg_hiero_new(options), lib.lscfg_hiero_free)

    def add(self, src: str, tgt: str, links: str) -> None:
        """Adds the rules of one pair: words separated by blanks, links ``i-j`` counted from 0.

        Raises:
            LineError: as for ``Deriver.add``; nothing is added then.
        """
        self._add(lib.lscfg_hiero_add, src, tgt, links)

    def _view(self) -> Any:
        v = ffi.new("lscfg_hiero_view *")
        lib.lscfg_hiero_get(self.pointer, v)
        return v

    def sizes(self) -> tuple[int, int, int]:
        """Sentence pairs, initial phrase pairs, and those of them that gave a rule."""
        v = self._view()
        return int(v.n_sentences), int(v.n_phrases), int(v.n_used)

    def arrays(self) -> dict[str, np.ndarray]:
        """All as copies: ``count`` float64, ``tokens`` int64, ``places`` int32, and what ``Deriver.tables`` names."""
        v = self._view()
        return {
            "count": self._copy(v.count, v.tables.n_rules, np.float64),
            "tokens": self._copy(v.tokens, v.tables.n_rules, np.int64),
            "places": self._copy(v.places, (v.n_places, 8), np.int32),
            **self._tables(v),
        }


class Rules:
    """A table of rules that the kernel works on; arrays as of ``lscfg.rules.RuleTable.arrays``.

    Raises:
        ValueError: arrays that do not fit together.
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
        self.pointer = ffi.new(
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
        """int32 [rules]: equal numbers for equal source (0) or target sides (1), in order of first appearance."""
        numbers = np.empty(len(self), np.int32)
        error = ffi.new("lscfg_error *")
        check(lib.lscfg_rules_number(self.pointer, side, ffi.from_buffer("int32_t[]", numbers), error), error)
        return numbers

    def _chosen(self, which: np.ndarray) -> np.ndarray:
        which = np.ascontiguousarray(which, np.int64)
        if len(which) and not (which.min() >= 0 and which.max() < len(self)):
            raise ValueError("rule number out of range")
        return which

    def lexical_weights(self, pairs: np.ndarray, costs: np.ndarray, worst: float, which: np.ndarray) -> np.ndarray:
        """Lexical weights of some rules, float64 [len(which), 2]: of the target words, of the source words.

        Args:
            pairs: int32 [P, 2], source and target word, -1 for none.
            costs: float64 [P, 2]: of the target given the source word, of the source given the target word.
            worst: cost of a pair that is not listed.
        """
        which = self._chosen(which)
        pairs, costs = np.ascontiguousarray(pairs, np.int32), np.ascontiguousarray(costs, np.float64)
        if pairs.shape != costs.shape or pairs.shape[1:] != (2,):
            raise ValueError(f"pairs {pairs.shape} and costs {costs.shape} do not fit")
        out = np.empty((len(which), 2))
        error = ffi.new("lscfg_error *")
        code = lib.lscfg_rules_lexical(
            self.pointer,
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
        """The lines of some rules in cdec's format; values float64 [len(which), len(names)], a 0 is left out."""
        which = self._chosen(which)
        values = np.ascontiguousarray(values, np.float64)
        if values.shape != (len(which), len(names)):
            raise ValueError(f"values of shape {values.shape} for {len(which)} rules and {len(names)} features")
        kept = [ffi.new("char[]", name.encode("utf-8")) for name in names]
        text, length = ffi.new("char **"), ffi.new("int64_t *")
        error = ffi.new("lscfg_error *")
        code = lib.lscfg_rules_text(
            self.pointer,
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


class ContextTrainer:
    """Learns the weights of a context model.

    Args:
        rules: of up to two nonterminals.
        counts: float64 [rules] > 0.
        words: int32, of all sentences, numbers in the rules' vocabulary or -1; int64 [sentences + 1], where each one
            begins.
        choices: int32 [rules], the number of each one's source side; int64 [sides + 1] and int32, the rules that are
            chosen among, by source side.
        tokens: int32 [tokens, 8], of rules that are among the choices: rule, sentence, span, spans of the nonterminals.
        settings: least number of tokens of an item, penalty, rate of learning.

    Raises:
        KernelError: memory is out.
    """

    def __init__(
        self,
        rules: Rules,
        counts: np.ndarray,
        words: tuple[np.ndarray, np.ndarray],
        choices: tuple[np.ndarray, np.ndarray, np.ndarray],
        tokens: np.ndarray,
        settings: tuple[int, float, float],
    ):
        side, begin, chosen = choices
        if tokens.shape[1:] != (8,) or len(counts) != len(rules) or len(side) != len(rules):
            raise ValueError("counts, sides or tokens do not fit the rules")
        arrays = {
            "counts": np.ascontiguousarray(counts, np.float64),
            "words": np.ascontiguousarray(words[0], np.int32),
            "first": np.ascontiguousarray(words[1], np.int64),
            "side": np.ascontiguousarray(side, np.int32),
            "begin": np.ascontiguousarray(begin, np.int64),
            "choices": np.ascontiguousarray(chosen, np.int32),
            "tokens": np.ascontiguousarray(tokens, np.int32),
        }
        self._kept = (rules, arrays)  # the kernel points into them
        self._problem = ffi.new(
            "lscfg_context_problem *",
            {
                "rules": rules.pointer,
                "counts": ffi.from_buffer("double[]", arrays["counts"]),
                "words": ffi.from_buffer("int32_t[]", arrays["words"]),
                "first": ffi.from_buffer("int64_t[]", arrays["first"]),
                "side": ffi.from_buffer("int32_t[]", arrays["side"]),
                "choice_begin": ffi.from_buffer("int64_t[]", arrays["begin"]),
                "choices": ffi.from_buffer("int32_t[]", arrays["choices"]),
                "n_tokens": len(tokens),
                "tokens": ffi.cast("lscfg_context_token *", ffi.from_buffer(arrays["tokens"])),
                "min_count": settings[0],
                "penalty": settings[1],
                "rate": settings[2],
            },
        )
        made, error = ffi.new("lscfg_context_trainer **"), ffi.new("lscfg_error *")
        check(lib.lscfg_context_trainer_new(self._problem, made, error), error)
        self.pointer = ffi.gc(made[0], lib.lscfg_context_trainer_free)

    def learn(self, order: np.ndarray) -> np.ndarray:
        """Learns from some tokens, one by one; returns the sums of their losses, by frequency and in context."""
        order = np.ascontiguousarray(order, np.int64)
        loss, error = np.zeros(2), ffi.new("lscfg_error *")
        buffers = ffi.from_buffer("int64_t[]", order), ffi.from_buffer("double[]", loss)
        check(lib.lscfg_context_learn(self.pointer, buffers[0], len(order), buffers[1], error), error)
        return loss

    def weights(self) -> tuple[np.ndarray, np.ndarray]:
        """int64 keys, outcome * items + item, ascending, and their float32 weights."""
        n = lib.lscfg_context_weights(self.pointer, ffi.NULL, ffi.NULL)
        keys, weights = np.empty(n, np.int64), np.empty(n, np.float32)
        lib.lscfg_context_weights(self.pointer, ffi.from_buffer("int64_t[]", keys), ffi.from_buffer("float[]", weights))
        order = np.argsort(keys)
        return keys[order], weights[order]


class Matcher:
    """Finds the source sides of a table that a sentence can match. Not for two threads at the same time.

    Args:
        numbers: int32 [rules], what ``rules.number(0)`` gave.
    """

    def __init__(self, rules: Rules, numbers: np.ndarray):
        numbers = np.ascontiguousarray(numbers, np.int32)
        if len(numbers) != len(rules):
            raise ValueError(f"{len(numbers)} numbers for {len(rules)} rules")
        matcher = ffi.new("lscfg_matcher **")
        error = ffi.new("lscfg_error *")
        check(lib.lscfg_matcher_new(rules.pointer, ffi.from_buffer("int32_t[]", numbers), matcher, error), error)
        self.pointer = ffi.gc(matcher[0], lib.lscfg_matcher_free)
        self._found = np.empty(int(numbers.max(initial=-1)) + 1, np.int32)

    def match(self, words: np.ndarray) -> np.ndarray:
        """Numbers, int32, ascending, of the source sides that can cover a part of the word ids (-1: unknown)."""
        words = np.ascontiguousarray(words, np.int32)
        error = ffi.new("lscfg_error *")
        found = ffi.from_buffer("int32_t[]", self._found)
        count = lib.lscfg_match(self.pointer, ffi.from_buffer("int32_t[]", words), len(words), found, error)
        check(count, error)
        return np.sort(self._found[:count])


def add_moments(
    rows: np.ndarray,
    head: np.ndarray,
    tail: np.ndarray,
    z: np.ndarray,
    y: np.ndarray,
    out: np.ndarray,
    threads: int = 1,
) -> None:
    """``out[rows[k]] += z[head[k]] (x) y[tail[k, 0]] (x) y[tail[k, 1]]`` for each token k, in order.

    Args:
        rows, head: int64 [n]; tail: int64 [n, arity].
        z: float64 [., m]; y: float64 [., m].
        out: float64 [., m], [., m, m] or [., m, m, m] by arity, C-contiguous, added to in place.
        threads: each takes a range of Z's states, so that every sum is made by one, in the same order.
    """
    n, arity = tail.shape
    m = z.shape[1]
    if out.shape[1:] != (m,) * (arity + 1) or y.shape[1] != m or out.dtype != np.float64 or not out.flags.c_contiguous:
        raise ValueError(f"arity {arity}: z {z.shape}, y {y.shape} and out {out.shape} do not fit")
    for name, index, bound in (("row", rows, len(out)), ("head", head, len(z)), ("tail", tail, len(y))):
        if index.shape[0] != n or (index.size and not (index.min() >= 0 and index.max() < bound)):
            raise ValueError(f"{name} index out of range")
    integers = [np.ascontiguousarray(a, np.int64) for a in (rows, head, tail)]
    reals = [np.ascontiguousarray(a, np.float64) for a in (z, y)]
    buffers = [ffi.from_buffer("int64_t[]", a) for a in integers] + [ffi.from_buffer("double[]", a) for a in reals]
    sums = ffi.from_buffer("double[]", out)

    def add(first: int, last: int) -> None:
        lib.lscfg_add_moments(m, arity, n, first, last, *buffers, sums)

    bounds = [m * k // threads for k in range(threads + 1)]
    if threads == 1:
        add(0, m)
        return
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(add, bounds[:-1], bounds[1:]))
