"""The neural model of target words: affiliation (plugin/neural) and learning (plugin/estimate)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lscfg._kernel import ffi, lib
from lscfg.errors import KernelError
from lscfg.kernel.base import check
from lscfg.kernel.extract import Rules
from lscfg.parallel.engine import Engine

SOURCE_UNKNOWN, SOURCE_BEGIN, SOURCE_END, SOURCE_WORDS = (
    int(lib.LSCFG_ROW_SOURCE_UNKNOWN),
    int(lib.LSCFG_ROW_SOURCE_BEGIN),
    int(lib.LSCFG_ROW_SOURCE_END),
    int(lib.LSCFG_ROW_SOURCE_WORDS),
)
"""Rows of source words: unknown words, both ends of the sentence, and the first word of the vocabulary."""

TARGET_UNKNOWN, TARGET_END, TARGET_BEGIN, TARGET_NONE, TARGET_WORDS = (
    int(lib.LSCFG_ROW_TARGET_UNKNOWN),
    int(lib.LSCFG_ROW_TARGET_END),
    int(lib.LSCFG_ROW_TARGET_BEGIN),
    int(lib.LSCFG_ROW_TARGET_NONE),
    int(lib.LSCFG_ROW_TARGET_WORDS),
)
"""Rows of target words; ``TARGET_NONE``: a word that is not known yet."""

MAX_HISTORY = int(lib.LSCFG_NEURAL_HISTORY)
"""Most target words before the predicted one."""

FERTILITIES = int(lib.LSCFG_NEURAL_FERTILITY)
"""Classes of fertility: 0, 1, 2, and more linked target words."""

LAYER_UNIT = int(lib.LSCFG_NEURAL_ROWS) // 2
"""Sizes of layers are multiples of this number."""


@dataclass(frozen=True)
class NeuralShape:
    """Sizes of a network, and factors of its loss."""

    window: int
    """Source words of an example."""
    history: int
    """Target words of an example."""
    dims: int
    """Dimensions of a word's vector."""
    hidden: int
    """Hidden units."""
    sources: int
    """Rows of source words."""
    targets: int
    """Rows of target words."""
    dropout: float = 0.0
    """Share of the hidden units that a pass leaves out."""
    penalty: float = 0.1
    """Factor of log² Z in the loss."""
    fertility: float = 0.2
    """Factor of the loss of fertilities."""

    def _pointer(self) -> object:
        return ffi.new("lscfg_neural_shape *", vars(self))

    def split(self, parameters: np.ndarray) -> dict[str, np.ndarray]:
        """Views of the parameters by the names of their arrays in model files."""
        inputs = (self.window + self.history) * self.dims
        shapes = {
            "source": (self.sources, self.dims),
            "target": (self.targets, self.dims),
            "hidden": (self.hidden, inputs),
            "hidden.bias": (self.hidden,),
            "output": (self.targets, self.hidden),
            "output.bias": (self.targets,),
            "fertility": (FERTILITIES, self.hidden),
            "fertility.bias": (FERTILITIES,),
        }
        found, begin = {}, 0
        for name, shape in shapes.items():
            end = begin + int(np.prod(shape))
            found[name] = parameters[begin:end].reshape(shape)
            begin = end
        return found

    @property
    def parameters(self) -> int:
        """Number of parameters."""
        sizes = ffi.new("int64_t[]", int(lib.LSCFG_NEURAL_ARRAYS))
        lib.lscfg_neural_sizes(self._pointer(), sizes)
        return sum(sizes)


@dataclass(frozen=True)
class Losses:
    """Sums over the examples of a batch."""

    words: float = 0.0
    """Negative log likelihood of target words."""
    squares: float = 0.0
    """Squares of log Z."""
    fertilities: float = 0.0
    """Negative log likelihood of fertilities."""
    right: float = 0.0
    """Target words with the best score."""

    def __add__(self, other: Losses) -> Losses:
        return Losses(*(a + b for a, b in zip(vars(self).values(), vars(other).values(), strict=True)))


class NeuralTrainer:
    """Learns the parameters of a network by Adam; results do not depend on the number of threads.

    Args:
        parameters, first, second: float32 [parameters], the parameters and both moments of Adam, changed in place.
        instructions: ``avx512``, ``avx2`` or ``baseline``; None for the best of the machine.

    Raises:
        InputError: a layer has a size that the kernel does not support, or the machine lacks the instructions.
        KernelError: the kernel is out of memory.
    """

    def __init__(
        self,
        shape: NeuralShape,
        parameters: np.ndarray,
        first: np.ndarray,
        second: np.ndarray,
        engine: Engine,
        instructions: str | None = None,
    ):
        self.shape, self._engine, self._kept = shape, engine, (parameters, first, second)
        for array in self._kept:
            if array.dtype != np.float32 or array.shape != (shape.parameters,):
                raise ValueError("the parameters do not fit the shape")
        made, error = ffi.new("lscfg_neural_trainer **"), ffi.new("lscfg_error *")
        name = ffi.NULL if instructions is None else instructions.encode("ascii")
        arrays = [ffi.from_buffer("float[]", array, require_writable=True) for array in self._kept]
        check(lib.lscfg_neural_trainer_new(shape._pointer(), *arrays, name, made, error), error)
        self._pointer = ffi.gc(made[0], lib.lscfg_neural_trainer_free)

    def losses(self, inputs: np.ndarray, labels: np.ndarray, words: int) -> Losses:
        """Losses of a batch without dropout; see ``learn``."""
        return self._forward(inputs, labels, words, 0, 0)

    def learn(self, inputs: np.ndarray, labels: np.ndarray, words: int, noise: int, rate: float, step: int) -> Losses:
        """Takes a step; returns the losses before it, with dropout.

        Args:
            inputs: int32 [examples, window + history], rows of the words.
            labels: int32 [examples], target rows of the first ``words`` examples, classes of fertility of the others.
            noise: 64 random bits, which choose the hidden units to leave out.
            rate: learning rate; step: number of the step, from 1.
        """
        found = self._forward(inputs, labels, words, noise, 1)
        correct = ffi.new("float[2]", [1 / (1 - 0.9**step), 1 / (1 - 0.999**step)])

        def take(shard: int) -> None:
            lib.lscfg_neural_step(self._pointer, shard, rate, correct)

        for _ in self._engine.map(take, range(lib.LSCFG_NEURAL_SHARDS)):
            pass
        return found

    def _forward(self, inputs: np.ndarray, labels: np.ndarray, words: int, noise: int, learn: int) -> Losses:
        self._check(inputs, labels, words)
        rows, classes = ffi.from_buffer("int32_t[]", inputs), ffi.from_buffer("int32_t[]", labels)
        parts = lib.lscfg_neural_batch(self._pointer, rows, classes, words, len(labels), noise)
        if parts < 0:
            raise KernelError("out of memory")

        def run(part: int) -> Losses:
            sums = ffi.new("double[]", int(lib.LSCFG_NEURAL_SUMS))
            lib.lscfg_neural_forward(self._pointer, part, learn, sums)
            return Losses(*sums)

        return sum(self._engine.map(run, range(parts)), Losses())

    def _check(self, inputs: np.ndarray, labels: np.ndarray, words: int) -> None:
        shape, examples = self.shape, len(labels)
        if inputs.dtype != np.int32 or labels.dtype != np.int32 or not 0 <= words <= examples:
            raise ValueError("inputs and labels must be int32")
        if inputs.shape != (examples, shape.window + shape.history) or not inputs.flags.c_contiguous:
            raise ValueError("inputs do not fit the shape")
        parts = (
            (inputs[:, : shape.window], shape.sources),
            (inputs[:, shape.window :], shape.targets),
            (labels[:words], shape.targets),
            (labels[words:], FERTILITIES),
        )
        if any(values.size and not 0 <= values.min() <= values.max() < end for values, end in parts):
            raise ValueError("a row or label is out of range")


class WordLinks:
    """A lexicon of linked words, which affiliates target words with source words.

    Args:
        pairs: int32 [links, 2], rows of a source word (-1: none) and a target word, ascending.
        share: float32 [links].
    """

    def __init__(self, pairs: np.ndarray, share: np.ndarray):
        self._kept = np.ascontiguousarray(pairs, np.int32), np.ascontiguousarray(share, np.float32)
        error, made = ffi.new("lscfg_error *"), ffi.new("lscfg_links **")
        arrays = ffi.from_buffer("int32_t[]", self._kept[0]), ffi.from_buffer("float[]", self._kept[1])
        check(lib.lscfg_links_new(*arrays, len(share), made, error), error)
        self._pointer = ffi.gc(made[0], lib.lscfg_links_free)

    def places(
        self, source: Sequence[int], target: Sequence[int], begin: int, tails: Sequence[tuple[int, int]]
    ) -> list[int]:
        """Places of the target symbols of a rule, counted from 0; see ``lscfg_affiliate``.

        Args:
            source, target: rows of words, and -1 - k for the k-th nonterminal of the source side; both sides must
                contain each nonterminal once.
            begin: first source word of the rule's span.
            tails: source spans of the nonterminals.
        """
        place, fertility = ffi.new("int32_t[]", len(target) + 1), ffi.new("int32_t[]", len(source) + 1)
        spans = ffi.new("int32_t[]", [end for tail in tails for end in tail])
        sides = source, len(source), target, len(target)
        lib.lscfg_affiliate(self._pointer, *sides, begin, spans, place, fertility)
        found: list[int] = ffi.unpack(place, len(target))
        return found


def affiliate_trees(
    links: WordLinks,
    rules: Rules,
    nodes: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    rows: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Affiliates target words of trees with source words by links of a lexicon; see ``lscfg_affiliate``.

    Args:
        nodes: ``trees``, ``rule``, ``parent`` and ``span`` of consistent ``Derivations``.
        rows: int32 [words of the rules, 2], rows of each word on both sides.

    Returns:
        int32 [target words of all trees], places, counted from 0 in the sentence; int32 [source words of all trees],
        numbers of linked target words.
    """
    error = ffi.new("lscfg_error *")
    trees = np.ascontiguousarray(nodes[0], np.int64)
    rule, parent, span = (np.ascontiguousarray(array, np.int32) for array in nodes[1:])
    rows = np.ascontiguousarray(rows, np.int32)
    roots = trees[:-1][np.diff(trees) > 0]
    place, fertility = (np.zeros(int(span[roots, k].sum()), np.int32) for k in (3, 1))

    def int32(array: np.ndarray) -> object:
        return ffi.from_buffer("int32_t[]", array)

    first = ffi.from_buffer("int64_t[]", trees)
    table = ffi.new("lscfg_node_table *", (len(trees) - 1, len(rule), first, int32(rule), int32(parent), int32(span)))
    found = int32(place), int32(fertility)
    check(lib.lscfg_affiliate_trees(links._pointer, rules._pointer, table, int32(rows), *found, error), error)
    return place, fertility
