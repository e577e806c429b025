"""The parameters of an L-SCFG and their model file."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike

from lscfg.errors import InputError
from lscfg.grammar.table import MAX_TENSOR_ARITY, RuleTable
from lscfg.io import tensors
from lscfg.io.layout import check_layout, check_offsets
from lscfg.model.boundary import BoundaryModel
from lscfg.model.context import ContextModel
from lscfg.model.neural import NeuralModel
from lscfg.model.orientation import OrientationModel
from lscfg.model.packing import PackedTensors, unpack
from lscfg.model.shared import SharedTensors, Tensors, stored
from lscfg.model.sparse import SparseTensors, unpack_sparse
from lscfg.version import __version__

MAX_RANK = 1024
"""Most hidden states of a model, here and in the kernel."""

LARGE = 1e150
"""A bound that no singular value reaches; its square is still finite."""

STATES = {
    "CS": "float64 [m]",
    "unk": "float64 [m]",
    "C0": "float32|float64 [rules0, m]",
}
FULL = {"C1": "float32|float64 [rules1, m, m]", "C2": "float32|float64 [rules2, m, m, m]"}
LOW_RANK = {"C2.components": "int64 [rules2 + 1]", "C2.factors": "float32 [components, 3, m]"}
ONE = {"one.rules": "float64 [rules]", "one.unk": "float64 [1]"}
"""The arrays of a model file besides those of its rules and of its context model (docs/reference/formats.md)."""

BY_CATEGORY = {"CS": "float64 [categories, m]", "unk": "float64 [categories, m]"}
ONE_BY_CATEGORY = {
    "one.rules": "float64 [rules]",
    "one.unk": "float64 [categories]",
    "one.root": "float64 [categories]",
}
"""Layouts of these arrays in a model of several categories."""


@dataclass(frozen=True, eq=False)
class OneState:
    """The parameters of a model's rules with one state, for comparison with its features.

    Attributes:
        rules: float64 [rules], relative frequencies; unk: float64 [categories], the OOV rule of each category.
        root: float64 [categories], frequencies of the categories of whole sentences; None for one category.
    """

    rules: np.ndarray
    unk: np.ndarray
    root: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Parameters:
    """C^r of every rule, C^S of the root, and the tensor of the OOV rule.

    Attributes:
        rules: the rules by arity: those without nonterminals first, then arity 1, then arity 2.
        tensors: for arity 0, 1 and 2, [rules of that arity, m], [., m, m] and [., m, m, m]; the axes after the first
            are the state of the left-hand side and of the nonterminals in source order. All float64, or all float32;
            those of a packed file are unpacked on demand.
        root: C^S, float64 [m]; of several categories [categories, m].
        unk: float64 [m], the tensor of [X] -> <unk>, for unknown words and singletons; of several categories
            [categories, m].
        about: facts about the origin of the model, written into the file (strings, numbers, lists, dicts).
        one: the same rules with one state, if known.
        context: the context model of target sides, if any.
        boundary: weights of the words at the borders of spans, if any.
        neural: the neural model of target words, if any.
        orientation: the model of orientations, if any.
    """

    rules: RuleTable
    tensors: tuple[np.ndarray, Tensors, Tensors]
    root: np.ndarray
    unk: np.ndarray
    about: dict[str, Any] = field(default_factory=dict)
    one: OneState | None = None
    context: ContextModel | None = None
    boundary: BoundaryModel | None = None
    neural: NeuralModel | None = None
    orientation: OrientationModel | None = None

    def __post_init__(self) -> None:
        arity = self.rules.arity
        if (np.diff(arity) < 0).any() or (len(arity) and arity[-1] > MAX_TENSOR_ARITY):
            raise ValueError("rules must be in order of arity, none above 2")
        m, categories = self.rank, len(self.rules.categories)
        states = (m,) if self.rules.lhs is None else (categories, m)
        if self.root.shape != states or self.unk.shape != states:
            raise ValueError(f"root and OOV rule have shapes {self.root.shape} and {self.unk.shape}, expected {states}")
        for k, tensor in enumerate(self.tensors):
            expected = ((arity == k).sum(), *[m] * (k + 1))
            if tensor.shape != expected:
                raise ValueError(f"tensors of arity {k} have shape {tensor.shape}, expected {expected}")
        one = tuple(a for a in vars(self.one).values() if a is not None) if self.one else ()
        if self.one and (self.one.rules.shape != (len(self.rules),) or self.one.unk.shape != (categories,)):
            raise ValueError("the parameters of one state are not those of the rules")
        different = (stored(tensors)[0] for tensors in self.tensors)
        if not all(all_finite(a) for a in (*different, self.root, self.unk, *one)):
            raise InputError("the parameters hold a value that is not finite")

    @property
    def rank(self) -> int:
        """m, the number of hidden states."""
        return int(self.root.shape[-1])

    def tensor(self, rule: int) -> np.ndarray:
        """C^r of a rule of the table."""
        arity = int(self.rules.arity[rule])
        first = int(np.searchsorted(self.rules.arity, arity))
        result: np.ndarray = self.tensors[arity][rule - first]
        return result

    @classmethod
    def without_rules(
        cls,
        boundary: BoundaryModel | None = None,
        neural: NeuralModel | None = None,
        orientation: OrientationModel | None = None,
    ) -> Parameters:
        """Returns a model that contains only weights of spans, a neural model or a model of orientations."""
        nothing = tuple(np.zeros((0, *[1] * (k + 1)), np.float32) for k in range(MAX_TENSOR_ARITY + 1))
        more = {"boundary": boundary, "neural": neural, "orientation": orientation}
        return cls(RuleTable.empty(), nothing, np.ones(1), np.ones(1), **more)  # type: ignore[arg-type]

    def one_state(self) -> Parameters | None:
        """The model of the same rules with one state; None if unknown."""
        if self.one is None:
            return None
        groups = [self.one.rules[self.rules.arity == k] for k in range(MAX_TENSOR_ARITY + 1)]
        zero, first, second = (group.reshape(-1, *[1] * (k + 1)) for k, group in enumerate(groups))
        root, unk = np.ones(1), self.one.unk
        if self.rules.lhs is not None and self.one.root is not None:
            root, unk = self.one.root[:, None], unk[:, None]
        return Parameters(self.rules, (zero, first, second), root, unk)

    def save(self, path: str | os.PathLike[str], precision: DTypeLike = np.float32) -> None:
        """Writes the model file (docs/reference/formats.md).

        Args:
            precision: of the rules' tensors, float32 or float64.

        Raises:
            InputError: a value is too large for the precision, or the file cannot be written.
        """
        every = [one.blocks() if isinstance(one, SharedTensors) else one for one in self.tensors]
        save_model(path, self, every, precision)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Parameters:
        """Reads a model file.

        Raises:
            InputError: the file is missing, cut off, damaged or of another kind; if a check of its content fails, the
                ValueError of this check is the cause.
        """
        arrays, metadata = tensors.load(path, "model")
        try:
            low_rank = "C2.components" in arrays
            several = "rules.lhs" in arrays
            layout = STATES | (BY_CATEGORY if several else {})
            states = check_layout(arrays, layout)["m"]
            if not 1 <= states <= MAX_RANK:
                raise ValueError(f"{states} hidden states; 1 to {MAX_RANK} are possible")
            shared = dict[str, SharedTensors]()
            for k, name in enumerate(FULL, 1):
                if f"{name}.index" in arrays:
                    unpacked = unpack_sparse if f"{name}.positions" in arrays else unpack
                    shared[name] = unpacked(arrays, name, (states,) * (k + 1))
            elsewhere = {*shared, *(["C2"] if low_rank else [])}
            full = {name: layout for name, layout in FULL.items() if name not in elsewhere}
            sizes = check_layout(arrays, {**layout, **full, **(LOW_RANK if low_rank else {})})
            rules = RuleTable.from_arrays(arrays)
            rules.check_distinct()
            one = context = boundary = None
            if "one.rules" in arrays:
                check_layout(arrays, ONE_BY_CATEGORY if several else ONE)
                one = OneState(arrays["one.rules"], arrays["one.unk"], arrays.get("one.root"))
            if "context.weights" in arrays:
                context = ContextModel.from_arrays(arrays, metadata.get("sense", ""))
            if "boundary.ends.weights" in arrays:
                boundary = BoundaryModel.from_arrays(arrays)
            neural = NeuralModel.from_arrays(arrays) if "neural.shape" in arrays else None
            orientation = OrientationModel.from_arrays(arrays) if "orientation.words" in arrays else None
            about = tensors.metadata_json(metadata, "about")
            _check_about(about)
            if low_rank:
                check_offsets("C2.components", arrays["C2.components"], sizes["components"])
                if sizes["rules2"] != (rules.arity == 2).sum():
                    raise ValueError(f"it has {sizes['rules2']} tensors of arity 2, but other rules")
                arrays["C2"] = full_tensors(arrays["C2.components"], arrays["C2.factors"])
            found = [shared[name] if name in shared else arrays[name] for name in FULL]
            parameters: tuple[np.ndarray, Tensors, Tensors] = (arrays["C0"], found[0], found[1])
            if len({tensor.dtype for tensor in parameters}) > 1:
                raise ValueError("its tensors are of two types")
            parts = (arrays["CS"], arrays["unk"], about, one, context, boundary, neural, orientation)
            return cls(rules, parameters, *parts)
        except ValueError as error:
            raise InputError(f"not a whole model ({error}); make it again", path) from error


@dataclass(frozen=True, eq=False)
class Estimate:
    """Parameters whose tensors are computed on demand, the result of estimators with many states.

    At m = 16, tensors of two nonterminals take 600 MB for 50,000 sentence pairs. In blocks that stay in the cache and
    go to the file one by one, they take half of the time and a third of the memory of one array.

    Attributes are those of ``Parameters``, with ``tensors`` in blocks.
    """

    rules: RuleTable
    tensors: tuple[tensors.Blocks, tensors.Blocks, tensors.Blocks]
    root: np.ndarray
    unk: np.ndarray
    about: dict[str, Any]
    one: OneState
    context: ContextModel | None = None
    boundary: BoundaryModel | None = None
    neural: NeuralModel | None = None
    orientation: OrientationModel | None = None

    @property
    def rank(self) -> int:
        """m, the number of hidden states."""
        return int(self.root.shape[-1])

    def parameters(self) -> Parameters:
        """The parameters in memory."""
        first, second, third = (blocks.array() for blocks in self.tensors)
        parts = (self.root, self.unk, self.about, self.one, self.context, self.boundary, self.neural, self.orientation)
        return Parameters(self.rules, (first, second, third), *parts)

    def save(self, path: str | os.PathLike[str], precision: DTypeLike = np.float32) -> None:
        """Writes the model file, the same bytes as ``parameters().save``.

        Raises:
            InputError: a value is not finite in the precision, or the file cannot be written.
        """
        save_model(path, self, self.tensors, precision)


def blocks_of(array: np.ndarray) -> tensors.Blocks:
    """An existing array as one block."""
    return tensors.Blocks(array.shape, lambda precision: iter([rounded(array, precision)]))


def _check_about(about: Mapping[str, Any]) -> None:
    """Refuses displayed facts that no estimator writes; other facts are not checked.

    Raises:
        ValueError: names the wrong fact.
    """

    def is_number(value: object) -> bool:
        return type(value) in (int, float) and 0 <= value < LARGE  # type: ignore[operator]

    sigma = about.get("singular values", [])
    if not isinstance(sigma, list) or not all(map(is_number, sigma)) or (sigma and not sigma[0] > 0):
        raise ValueError("its 'singular values' are invalid")
    if not is_number(about.get("condition", 1)) and about["condition"] != np.inf:
        raise ValueError("its 'condition' is not a number")
    templates = about.get("features by template", {})
    if not isinstance(templates, dict) or not all(isinstance(columns, dict) for columns in templates.values()):
        raise ValueError("its 'features by template' are invalid")


class ModelParts(Protocol):
    """The contents of a model file besides the tensors; ``Parameters`` has all of them."""

    @property
    def rules(self) -> RuleTable: ...
    @property
    def root(self) -> np.ndarray: ...
    @property
    def unk(self) -> np.ndarray: ...
    @property
    def about(self) -> dict[str, Any]: ...
    @property
    def one(self) -> OneState | None: ...
    @property
    def context(self) -> ContextModel | None: ...
    @property
    def boundary(self) -> BoundaryModel | None: ...
    @property
    def neural(self) -> NeuralModel | None: ...
    @property
    def orientation(self) -> OrientationModel | None: ...


def save_model(
    path: str | os.PathLike[str],
    model: ModelParts,
    arrays: Sequence[np.ndarray | tensors.Blocks],
    precision: DTypeLike = np.float32,
) -> None:
    """Writes a model file, whose tensors of arity 0, 1 and 2 may be computed during writing, in the given precision.

    Raises:
        InputError: a value is too large for the precision, or the file cannot be written.
    """
    kind = np.dtype(precision)
    values = {
        f"C{k}": array.astype(kind) if isinstance(array, tensors.Blocks) else rounded(array, kind)
        for k, array in enumerate(arrays)
    }
    with _packed(values, kind, path) as smaller:
        _save(path, model, smaller, model.about)


@contextmanager
def _packed(
    values: Mapping[str, np.ndarray | tensors.Blocks], kind: np.dtype, path: str | os.PathLike[str]
) -> Iterator[dict[str, np.ndarray | tensors.Blocks]]:
    """Yields the arrays with tensors of one and two nonterminals packed, if this saves space."""
    found = dict(values)
    with ExitStack() as stack:
        for name in [name for name in FULL if name in values]:
            packed = PackedTensors(found.pop(name), kind, Path(path).parent)
            stack.callback(packed.close)
            found |= packed.arrays(name)
        yield found


def save_low_rank(
    path: str | os.PathLike[str],
    parameters: Parameters,
    components: np.ndarray,
    factors: np.ndarray,
    about: dict[str, Any],
) -> None:
    """Writes a model file with factors (docs/reference/formats.md) instead of the tensors of arity 2."""
    single = np.dtype(np.float32)
    values = {f"C{k}": rounded(np.asarray(parameters.tensors[k]), single) for k in (0, 1)}
    with _packed(values, single, path) as smaller:
        _save(path, parameters, smaller | {"C2.components": components, "C2.factors": rounded(factors, single)}, about)


def save_sparse(
    path: str | os.PathLike[str],
    parameters: Parameters,
    one: SparseTensors,
    two: SparseTensors,
    about: dict[str, Any],
) -> None:
    """Writes a model file with sparse tensors (docs/reference/formats.md) of one and of two nonterminals."""
    values = {"C0": rounded(parameters.tensors[0], np.dtype(np.float32)), **one.arrays("C1"), **two.arrays("C2")}
    _save(path, parameters, values, about)


def _save(
    path: str | os.PathLike[str],
    model: ModelParts,
    values: Mapping[str, np.ndarray | tensors.Blocks],
    about: dict[str, Any],
) -> None:
    text = json.dumps(about, ensure_ascii=False, sort_keys=True)
    packed = "C1.index" in values or "C2.index" in values
    several = model.rules.lhs is not None
    form = tensors.WITH_CATEGORIES if several else tensors.PACKED if packed else tensors.FORMAT
    metadata = {"lscfg": "model", "format": form, "version": __version__, "about": text}
    others = {"CS": model.root.astype(np.float64, copy=False), "unk": model.unk.astype(np.float64, copy=False)}
    if model.one:
        others |= {f"one.{name}": array for name, array in vars(model.one).items() if array is not None}
    if model.context:
        others |= model.context.arrays()
        if model.context.low_dimensional:
            metadata["sense"] = model.context.low_dimensional.kind
    if model.boundary:
        others |= model.boundary.arrays()
    if model.neural:
        others |= model.neural.arrays()
    if model.orientation:
        others |= model.orientation.arrays()
    tensors.save(path, {**others, **values, **model.rules.arrays()}, metadata)


def full_tensors(components: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """The tensors [n, m, m, m] of low rank, of the factors' type: sums of u (x) v (x) w over their components.

    Args:
        components: int64 [n + 1], first component of each tensor; factors: [components, 3, m].

    Raises:
        ValueError: the two do not fit.
    """
    if factors.ndim != 3 or factors.shape[1] != 3 or components[0] or components[-1] != len(factors):
        raise ValueError("components and factors do not fit")
    m = factors.shape[2]
    full = np.zeros((len(components) - 1, m, m, m), factors.dtype)
    for k, (begin, end) in enumerate(itertools.pairwise(components)):
        u, v, w = factors[begin:end].transpose(1, 0, 2)
        full[k] = np.tensordot(u, v[:, :, None] * w[:, None, :], (0, 0))
    return full


def rounded(values: np.ndarray, precision: np.dtype) -> np.ndarray:
    """The values in another precision.

    Raises:
        InputError: a value is not finite, or overflows.
    """
    with np.errstate(over="ignore"):
        result = values.astype(precision, copy=False)
    if not all_finite(result):
        raise InputError(f"the parameters hold a value that is not finite, or that {precision} cannot hold")
    return result


def all_finite(values: np.ndarray) -> bool:
    """True if no value is infinite or NaN. A finite sum proves this without an array of flags."""
    with np.errstate(all="ignore"):
        return bool(np.isfinite(values.sum())) or bool(np.isfinite(values).all())
