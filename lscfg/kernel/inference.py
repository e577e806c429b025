"""Models, bindings and tensor inside-outside (plugin/inference)."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count

import numpy as np

from lscfg._kernel import ffi, lib
from lscfg.kernel.base import check
from lscfg.kernel.forest import Forest, Grammar
from lscfg.settings import Declared, SettingError, setting


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
        self._pointer = ffi.gc(model[0], lib.lscfg_model_close)

    @property
    def rank(self) -> int:
        """m, the number of hidden states."""
        return int(lib.lscfg_model_rank(self._pointer))

    def __len__(self) -> int:
        return int(lib.lscfg_model_size(self._pointer))

    def check_features(self, options: FeatureOptions) -> None:
        """Checks that the model supports the features.

        Raises:
            InputError: the model lacks parameters that a feature needs.
        """
        error = ffi.new("lscfg_error *")
        check(lib.lscfg_model_check_features(self._pointer, options._pointer(), error), error, self.path)

    def grammar(self) -> Grammar:
        """Returns a finished grammar of all rules of the model, in the model's order."""
        grammar = Grammar()
        error = ffi.new("lscfg_error *")
        check(lib.lscfg_model_add_rules(self._pointer, grammar._pointer, error), error, self.path)
        grammar.finish(self.path)
        return grammar


@dataclass(frozen=True)
class Feature:
    """A latent feature of a rule application (docs/reference/features.md)."""

    name: str
    family: str
    start: float
    """Weight with which tuning may begin."""
    help: str
    """One line that explains the feature."""


def _features() -> Iterator[Feature]:
    for k in range(lib.LSCFG_N_FEATURES):
        name, family, text = (
            ffi.string(find(k)).decode("ascii")
            for find in (lib.lscfg_feature_name, lib.lscfg_feature_family, lib.lscfg_feature_help)
        )
        yield Feature(name, family, float(lib.lscfg_feature_start(k)), text)


FEATURES = tuple(_features())
"""All latent features, by number."""

LATENT_FEATURES = tuple(feature.name for feature in FEATURES)
"""Names of all latent features."""

FEATURE_FAMILIES = {
    family: tuple(feature.name for feature in FEATURES if feature.family == family)
    for family in dict.fromkeys(feature.family for feature in FEATURES)
}
"""Names of the features of each family."""

NEGATIVE = ("flip", "clamp")
IMPROPER = ("zero", "keep")
"""Treatments of a negative marginal: its absolute value, or 0."""

CONTEXT_SHAPES = int(lib.LSCFG_CONTEXT_SHAPES)
"""Sizes of context models: shapes of rules, positions of words around a rule, classes of a nonterminal's length."""
CONTEXT_WORD_KINDS = int(lib.LSCFG_CONTEXT_WORD_KINDS)
CONTEXT_LENGTHS = int(lib.LSCFG_CONTEXT_LENGTHS)
"""Sizes of context models: shapes of rules, places of words around a rule, classes of a nonterminal's length."""


CONTEXT_BEGIN, CONTEXT_END, CONTEXT_UNKNOWN, CONTEXT_EXTRA_WORDS = (
    int(lib.LSCFG_CONTEXT_BEGIN),
    int(lib.LSCFG_CONTEXT_END),
    int(lib.LSCFG_CONTEXT_UNKNOWN),
    int(lib.LSCFG_CONTEXT_EXTRA_WORDS),
)
"""Word numbers after the vocabulary in context scores: the ends of a sentence, any other word; and their number."""


def _score_functions() -> Iterator[str]:
    for kind in count():
        name = lib.lscfg_score_function_name(kind)
        if name == ffi.NULL:
            return
        yield ffi.string(name).decode("ascii")


SCORE_FUNCTIONS = tuple(_score_functions())
"""Functions that score the words around a rule (docs/reference/formats.md)."""


def feature_names(names: Iterable[str]) -> tuple[str, ...]:
    """Replaces each family by the names of its features."""
    return tuple(feature for name in names for feature in FEATURE_FAMILIES.get(name, (name,)))


def unknown_feature(name: str) -> str:
    """The error message for a name of neither a feature nor a family."""
    data = name.encode("utf-8", "surrogateescape")
    text = ffi.new("char[]", 1000)
    lib.lscfg_feature_unknown(data, len(data), text, len(text))
    result: str = ffi.string(text).decode("utf-8", "replace")
    return result


DEFAULT_FEATURES = str(ffi.string(lib.lscfg_default_features()).decode("ascii"))
"""Features of a decoder's line without ``features=``: names with commas between them."""

PAPER_FEATURES = FEATURE_FAMILIES["paper"]
"""Features of the paper, which every model supports."""

CONTEXT_FEATURES = FEATURE_FAMILIES["context"]
"""Features of log-linear context models."""

SENSE_FEATURES = FEATURE_FAMILIES["sense"] + FEATURE_FAMILIES["ranks"] + FEATURE_FAMILIES["scores"]
"""Features of all other context models."""

BOUNDARY_FEATURES = FEATURE_FAMILIES["boundary"]
"""Features of span-boundary weights, which the biparser learns."""

START_WEIGHTS = {feature.name: feature.start for feature in FEATURES if feature.start != 0}
"""Weights of latent features with which tuning may begin, where they are not 0."""


@dataclass(frozen=True)
class FeatureOptions(Declared):
    """Options for computing features.

    Raises:
        InputError: a value is out of its range, a feature unknown or named twice.
    """

    log: bool = setting(True, "use values instead of natural logarithms, except for ratios and context")
    floor: float = setting(1e-6, "minimum value before a logarithm", above=0)
    negative: str = setting(
        "flip", "treatment of a negative marginal: its absolute value (flip), or 0 (clamp)", choices=NEGATIVE
    )
    names: tuple[str, ...] = setting(
        feature_names(DEFAULT_FEATURES.split(",")),
        f"features by name or family; families are {', '.join(FEATURE_FAMILIES)}",
        shown=DEFAULT_FEATURES,
    )
    improper: str = setting(
        "zero", "features of a sentence whose sum over derivations is negative: 0, or as for others", choices=IMPROPER
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "names", feature_names(self.names))
        for name in self.names:
            if name not in LATENT_FEATURES:
                raise SettingError("names", f"is invalid: {unknown_feature(name)}")
        for name, times in Counter(self.names).items():
            if times > 1:
                raise SettingError("names", f"must not name '{name}' twice")

    @property
    def need_inference(self) -> bool:
        """False if all features depend on words alone, not on marginals."""
        return bool(lib.lscfg_needs_inference(self._pointer()))

    def _pointer(self) -> object:
        """Returns the kernel's lscfg_feature_options."""
        negative = lib.LSCFG_NEGATIVE_FLIP if self.negative == "flip" else lib.LSCFG_NEGATIVE_CLAMP
        columns = [LATENT_FEATURES.index(name) for name in self.names]
        return ffi.new(
            "lscfg_feature_options *", (self.log, negative, self.improper == "keep", self.floor, len(columns), columns)
        )


@dataclass(frozen=True, eq=False)
class Inference:
    """Marginals of one forest."""

    apps: np.ndarray
    """float64 [n_apps], signed, divided by g."""
    nodes: np.ndarray
    """float64 [n_nodes], the same for nodes."""
    sign: int
    """Sign of g, the sum over all derivations; 0 if no derivation has a probability (then all marginals are 0)."""
    log_g: float
    """Natural logarithm of the absolute value of g."""
    negative: int
    """Number of negative application marginals."""
    negative_mass: float
    """Share of the negative application marginals in the absolute sum, in [0, 1]."""


@dataclass(frozen=True)
class BindingOptions:
    """Treatment of rules of [X] that a model does not contain; by default they have probability zero."""

    compose: bool = False
    """Composes them from the model's rules where possible."""
    oov: bool = False
    """Gives the tensor of the OOV rule to other rules without nonterminals."""
    oov_parts: bool = False
    """Gives the same tensor, inside composed rules, to a word pair that no rule of the model derives."""


RULE_KINDS = ("zero", "known", "composed", "composed with OOV parts", "OOV", "stateless")
"""Relations of a grammar's rule to a binding, by the kernel's LSCFG_RULE_IS_... ."""


class Binding:
    """Maps the rules of a grammar to tensors of a model; runs inference over forests of that grammar."""

    def __init__(self, model: Model, grammar: Grammar, options: BindingOptions | None = None):
        self.model, self.grammar = model, grammar
        chosen = options or BindingOptions()
        settings = ffi.new("lscfg_binding_options *", (chosen.compose, chosen.oov, chosen.oov_parts))
        error = ffi.new("lscfg_error *")
        binding = ffi.new("lscfg_binding **")
        check(lib.lscfg_binding_new(model._pointer, grammar._pointer, settings, binding, error), error)
        self._pointer = ffi.gc(binding[0], lib.lscfg_binding_free)

    @property
    def known(self) -> int:
        """Number of the grammar's rules with a tensor in the model."""
        return int(lib.lscfg_binding_known(self._pointer))

    @property
    def passed(self) -> tuple[int, ...]:
        """The grammar's categories besides X whose OOV rule has a probability in the model, for ``ParseOptions``."""
        found = np.empty(len(self.grammar.categories()), np.int32)
        n = lib.lscfg_binding_passed(self._pointer, ffi.from_buffer("int32_t[]", found))
        return tuple(found[:n].tolist())

    @property
    def instructions(self) -> str:
        """Instructions of the inner loops: ``avx512``, ``avx2`` or ``baseline``; by default the best of the machine."""
        return str(ffi.string(lib.lscfg_binding_instructions(self._pointer)).decode())

    @instructions.setter
    def instructions(self, name: str) -> None:
        error = ffi.new("lscfg_error *")
        check(lib.lscfg_binding_use(self._pointer, name.encode(), error), error)

    @property
    def kinds(self) -> np.ndarray:
        """uint8 [rules]: the kind of each rule of the grammar, an index into ``RULE_KINDS``.

        Composing a whole grammar takes time; inference composes only the rules of a forest.
        """
        kinds = np.empty(len(self.grammar), np.uint8)
        error = ffi.new("lscfg_error *")
        check(lib.lscfg_binding_kinds(self._pointer, ffi.from_buffer("uint8_t[]", kinds), error), error)
        return kinds

    def counts(self) -> dict[str, int]:
        """Counts the rules of the grammar by kind."""
        return dict(zip(RULE_KINDS, np.bincount(self.kinds, minlength=len(RULE_KINDS)).tolist(), strict=True))

    def infer(self, forest: Forest) -> Inference:
        """Runs tensor inside-outside (paper, Fig. 1)."""
        return self._infer(forest, None)

    def infer_states(self, forest: Forest) -> tuple[Inference, np.ndarray]:
        """Runs ``infer`` and also returns the marginal of each hidden state of each node, float64 [n_nodes, rank].

        State marginals of a node sum to its marginal; nodes of other categories than [X] have no states, and zeros.
        """
        states = np.empty((forest.n_nodes, self.model.rank))
        return self._infer(forest, states), states

    def _infer(self, forest: Forest, states: np.ndarray | None) -> Inference:
        apps = np.empty(forest.n_apps)
        nodes = np.empty(forest.n_nodes)
        result = ffi.new("lscfg_inference *")
        error = ffi.new("lscfg_error *")
        check(
            lib.lscfg_infer_states(
                self._pointer,
                forest._pointer,
                ffi.from_buffer("double[]", apps),
                ffi.from_buffer("double[]", nodes),
                ffi.NULL if states is None else ffi.from_buffer("double[]", states),
                result,
                error,
            ),
            error,
        )
        return Inference(apps, nodes, result.sign, result.log_g, result.negative, result.negative_mass)

    def features(self, forest: Forest, inference: Inference | None, options: FeatureOptions) -> np.ndarray:
        """Returns the features of each application, float64 [n_apps, len(options.names)], in the order of the names.

        Args:
            inference: the result of ``infer`` for this forest; ratios to one state run their own inference. None if
                ``options`` need none.

        Raises:
            InputError: the model lacks parameters that a feature needs.
        """
        return FeaturePass(self, forest, inference, options).of_nodes(0, forest.n_nodes)


TOGETHER = 8192
"""Applications whose features are computed together, so that they stay in the processor's cache."""


class FeaturePass:
    """The features of a forest's applications, in parts. One thread at a time may use a pass.

    Arguments and errors are those of ``Binding.features``.
    """

    def __init__(self, binding: Binding, forest: Forest, inference: Inference | None, options: FeatureOptions):
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
        error, made = ffi.new("lscfg_error *"), ffi.new("lscfg_feature_pass **")
        check(
            lib.lscfg_feature_pass_new(
                binding._pointer, forest._pointer, result, apps, nodes, options._pointer(), made, error
            ),
            error,
        )
        self._pointer = ffi.gc(made[0], lib.lscfg_feature_pass_free)
        self._needed = binding, forest, apps, nodes
        self.columns = len(options.names)
        self.starts = np.asarray(forest.edge_apps)[forest.node_edges]
        """int32 [n_nodes + 1]: the first application of each node, and the number of all."""

    @property
    def largest(self) -> int:
        """Most applications of one of ``blocks``."""
        return max(TOGETHER, int(np.diff(self.starts).max()))

    def blocks(self) -> Iterator[tuple[int, int]]:
        """Yields ranges of nodes, first and end, of at most ``TOGETHER`` applications or of one node."""
        node, nodes = 0, len(self.starts) - 1
        while node < nodes:
            end = max(node + 1, int(np.searchsorted(self.starts, self.starts[node] + TOGETHER, "right")) - 1)
            yield node, end
            node = end

    def of_apps(self, apps: np.ndarray) -> np.ndarray:
        """The features of ascending applications, float64 [len(apps), columns]; edges without one are left out."""
        keep = np.zeros(int(self.starts[-1]), np.uint8)
        keep[apps] = 1
        lib.lscfg_feature_pass_keep(self._pointer, ffi.from_buffer("uint8_t[]", keep))
        found, room = np.empty((len(apps), self.columns)), np.empty((self.largest, self.columns))
        try:
            for node, end in self.blocks():
                begin, size = int(self.starts[node]), int(self.starts[end] - self.starts[node])
                first, last = np.searchsorted(apps, [begin, begin + size])
                found[first:last] = self.of_nodes(node, end, room)[apps[first:last] - begin]
        finally:  # the kernel must not keep the array longer than Python
            lib.lscfg_feature_pass_keep(self._pointer, ffi.NULL)
        return found

    def of_nodes(self, first: int, end: int, out: np.ndarray | None = None) -> np.ndarray:
        """The features of the applications of some nodes, float64 [applications, columns]; out: written instead."""
        n = int(self.starts[end] - self.starts[first])
        found = np.empty((n, self.columns)) if out is None else out[:n]
        error = ffi.new("lscfg_error *")
        values = ffi.from_buffer("double[]", found)
        check(lib.lscfg_feature_pass_nodes(self._pointer, first, end, values, error), error)
        return found
