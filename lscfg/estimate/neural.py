"""A neural model of target words (Devlin et al. 2014, ACL), learned from the words and the rules of derivation trees.

One network serves all lengths of the history: training cuts it at random, and the cut words count as unknown.
Affiliation with source words is a function of the rule and a lexicon, the same as in decoding.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from lscfg import log
from lscfg.errors import InputError
from lscfg.estimate.checkpoint import SOURCES, check_begun
from lscfg.estimate.estimator import Estimator
from lscfg.extract.derive import Derivations
from lscfg.extract.yields import Yields, expand_ranges
from lscfg.io.checkpoint import CheckpointFile
from lscfg.io.layout import check_layout
from lscfg.kernel.neural import (
    FERTILITIES,
    LAYER_UNIT,
    SOURCE_BEGIN,
    SOURCE_END,
    SOURCE_UNKNOWN,
    SOURCE_WORDS,
    TARGET_BEGIN,
    TARGET_END,
    TARGET_NONE,
    TARGET_UNKNOWN,
    TARGET_WORDS,
    Losses,
    NeuralShape,
    NeuralTrainer,
    WordLinks,
    affiliate_trees,
)
from lscfg.model.neural import NeuralModel
from lscfg.model.parameters import Parameters
from lscfg.parallel.choose import in_threads
from lscfg.settings import Declared, setting

CHECKPOINT = "checkpoint.neural"

HELD_OUT = 50
"""Every pair of this number is held out."""

TOKENS = 1000
"""Target words of a batch, at least."""

WHOLE = 0.6
"""Probability of the whole history."""

WARM_UP, FIRST_RATE, LAST_RATE = 100, 2e-3, 1e-4
"""Steps until the first learning rate, or a tenth of all steps; and the rates; the rate falls in a line."""

STEPS, LONGER = 1500, 4
"""Steps that small texts reach by more passes, at most this number of times the passes of the settings."""

LITTLE, PATIENCE = 0.002, 2
"""Training ends after two epochs whose held-out loss did not fall by this number of nats."""

MOST_WORDS = (16_000, 8_192)
"""Most words of the vocabularies, source and target."""


@dataclass(frozen=True)
class NeuralSettings(Declared):
    """Settings of the neural model."""

    hidden: int = setting(256, "hidden units, a multiple of 32", least=LAYER_UNIT, most=4096)
    seed: int = setting(1, "seed of all random choices", least=0)


@dataclass(frozen=True)
class Design:
    """Constants of the network and of learning.

    On ja-en, a third word before takes 1.4 % off the perplexity, and five source words on each side are enough.
    """

    reach: int = 5
    """Source words on each side of a target word's place."""
    history: int = 2
    """Target words before the predicted one."""
    dims: int = 64
    """Dimensions of a word, a multiple of 32."""
    epochs: int = 8
    """Maximum passes over the text; small texts get up to ``LONGER`` times as many."""
    dropout: float = 0.2
    """Share of the hidden units that each step leaves out."""
    min_word: int = 2
    """Minimum number of a word in the text; rarer words count as one word."""


class NeuralEstimator(Estimator[NeuralSettings]):
    """Learns a network of one hidden layer by Adam."""

    HELP = "network for target words, for the features neural; without hidden states"
    VERSION = 1
    Settings = NeuralSettings
    CHECKPOINTS = (CHECKPOINT,)
    RULES = False
    DESIGN = Design()

    def estimate(
        self,
        derivations: Derivations,
        settings: NeuralSettings,
        threads: int = 1,
        folder: Path | None = None,
        resume: bool = False,
    ) -> Parameters:
        """Returns a model without rules; see ``Estimator.estimate``.

        Raises:
            InputError: the layer is no multiple of 32, the text is too small, or the checkpoint belongs to other
                settings or derivations.
        """
        if settings.hidden % LAYER_UNIT:
            raise InputError(f"hidden must be a multiple of {LAYER_UNIT}, not {settings.hidden}")
        return self.learn(NeuralText(derivations, self.DESIGN), settings, threads, folder, resume)

    @staticmethod
    def learn(
        text: NeuralText, settings: NeuralSettings, threads: int = 1, folder: Path | None = None, resume: bool = False
    ) -> Parameters:
        """Returns a model of a text, as ``estimate``."""
        return _Learning(text, settings, folder).run(threads, resume)


class NeuralText:
    """The text of derivation trees as rows of the network.

    Raises:
        InputError: fewer than two pairs have trees.
    """

    def __init__(self, derivations: Derivations, design: Design):
        self.design, self.pairs = design, derivations.pairs
        self.versions = len(derivations) // self.pairs if self.pairs else 0
        starts = derivations.trees
        filled = np.diff(starts) > 0
        self.lengths = np.zeros((len(filled), 2), np.int64)
        self.lengths[filled] = derivations.span[starts[:-1][filled]][:, [1, 3]]
        self.starts = np.cumsum(self.lengths, 0) - self.lengths
        words = Yields.of(derivations).words  # refuses spans that do not fit the rules
        self.words, rows = self._vocabularies(derivations, words)
        self.rows = [rows[words[side], side] for side in (0, 1)]
        self.links = self._links(derivations, rows)
        nodes = (starts, derivations.rule, derivations.parent, derivations.span)
        self.place, self.fertility = affiliate_trees(WordLinks(*self.links), derivations.rules.kernel, nodes, rows)
        self.train, self.held_out = self._split(filled[: self.pairs], words)
        if not len(self.train) or not len(self.held_out):
            raise InputError("the derivations contain fewer than two different pairs; give more text")

    @property
    def sources(self) -> int:
        """Rows of source words."""
        return SOURCE_WORDS + len(self.words[0])

    @property
    def targets(self) -> int:
        """Rows of target words."""
        return TARGET_WORDS + len(self.words[1])

    def _vocabularies(
        self, derivations: Derivations, words: tuple[np.ndarray, np.ndarray]
    ) -> tuple[tuple[list[str], list[str]], np.ndarray]:
        """Both vocabularies by frequency, and int32 [words, 2], the row of each word on both sides."""
        known = derivations.rules.words
        rows = np.tile(np.array([SOURCE_UNKNOWN, TARGET_UNKNOWN], np.int32), (len(known), 1))
        vocabularies, ends = [], self.lengths[: self.pairs].sum(0)
        for side, (first, most) in enumerate(zip((SOURCE_WORDS, TARGET_WORDS), MOST_WORDS, strict=True)):
            counts = np.bincount(words[side][: ends[side]], minlength=len(known))
            order = np.argsort(-counts, kind="stable")[:most]
            order = order[counts[order] >= self.design.min_word]
            rows[order, side] = first + np.arange(len(order))
            vocabularies.append([known[k] for k in order.tolist()])
        return (vocabularies[0], vocabularies[1]), rows

    def _links(self, derivations: Derivations, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Translation probabilities of the lexicon: int32 [links, 2] and float32 [links]."""
        words, count = derivations.lexicon, derivations.lexicon_count.astype(float)
        if not len(words):
            return np.zeros((0, 2), np.int32), np.zeros(0, np.float32)
        share = count / np.bincount(words[:, 0] + 1, count)[words[:, 0] + 1]
        source = np.where(words[:, 0] < 0, -1, rows[words[:, 0], 0])
        target = rows[words[:, 1], 1]
        kept = (words[:, 1] >= 0) & (source != SOURCE_UNKNOWN) & (target != TARGET_UNKNOWN)
        kept &= (count >= 2) | (share >= 0.01)
        pairs = np.stack((source, target), 1)[kept].astype(np.int32)
        order = np.lexsort((pairs[:, 1], pairs[:, 0]))
        return pairs[order], share[kept][order].astype(np.float32)

    def _split(self, filled: np.ndarray, words: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of the pairs to learn from, and of those held out; equal pairs are on one side."""
        keys = []
        for pair in range(self.pairs):
            spans = [slice(begin, begin + n) for begin, n in zip(self.starts[pair], self.lengths[pair], strict=True)]
            keys.append((words[0][spans[0]].tobytes(), words[1][spans[1]].tobytes()))
        chosen = np.flatnonzero(filled)
        out = {keys[pair] for pair in chosen[::HELD_OUT].tolist()}
        is_out = np.array([key in out for key in keys], bool)
        return chosen[~is_out[chosen]], chosen[::HELD_OUT]

    def trees(self, pairs: np.ndarray, epoch: int) -> np.ndarray:
        """The tree of each pair in an epoch: pairs take turns with their alignments; empty ones are left out."""
        trees: np.ndarray = (pairs + epoch) % self.versions * self.pairs + pairs
        filled: np.ndarray = trees[self.lengths[trees, 1] > 0]
        return filled

    def _windows(self, tree: np.ndarray, place: np.ndarray) -> np.ndarray:
        """int32 [examples, 2 reach + 1], source rows around places."""
        offsets = np.arange(-self.design.reach, self.design.reach + 1)
        at, n = place[:, None] + offsets, self.lengths[tree, 0][:, None]
        rows = self.rows[0][self.starts[tree, 0][:, None] + np.clip(at, 0, n - 1)]
        return np.where(at < 0, SOURCE_BEGIN, np.where(at >= n, SOURCE_END, rows))

    def words_of(self, trees: np.ndarray, lengths: np.ndarray | int) -> tuple[np.ndarray, np.ndarray]:
        """Inputs and labels of all target words of trees and their ends, tree by tree.

        Args:
            lengths: known words of each history, [examples] or one number.
        """
        n = self.lengths[trees, 1] + 1
        tree, x = np.repeat(trees, n), expand_ranges(np.zeros(len(trees), np.int64), n)
        end, start = x == self.lengths[tree, 1], self.starts[tree, 1]
        at = start + np.where(end, 0, x)
        place = np.where(end, self.lengths[tree, 0], self.place[at])
        labels = np.where(end, TARGET_END, self.rows[1][at]).astype(np.int32)
        before = np.arange(1, self.design.history + 1)
        earlier = x[:, None] - before
        history = np.where(earlier < 0, TARGET_BEGIN, self.rows[1][start[:, None] + np.maximum(earlier, 0)])
        history = np.where(before > np.reshape(lengths, (-1, 1)), TARGET_NONE, history)
        return np.hstack((self._windows(tree, place), history)).astype(np.int32), labels

    def fertilities_of(self, trees: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Inputs and labels of all source words of trees, tree by tree."""
        n = self.lengths[trees, 0]
        tree, place = np.repeat(trees, n), expand_ranges(np.zeros(len(trees), np.int64), n)
        labels = np.minimum(self.fertility[self.starts[tree, 0] + place], FERTILITIES - 1).astype(np.int32)
        history = np.full((len(tree), self.design.history), TARGET_NONE)
        return np.hstack((self._windows(tree, place), history)).astype(np.int32), labels


@dataclass
class _State:
    """The state after an epoch."""

    parameters: np.ndarray
    first: np.ndarray
    second: np.ndarray
    best: np.ndarray
    held_out: list[float]
    """Loss of held-out words after each epoch, with the whole history."""
    step: int = 0


class _Learning:
    """A run of the estimator."""

    def __init__(self, text: NeuralText, settings: NeuralSettings, folder: Path | None):
        self.text, self.settings, self.design = text, settings, text.design
        design = self.design
        self.file = folder / CHECKPOINT if folder else None
        self.shape = NeuralShape(
            2 * design.reach + 1,
            design.history,
            design.dims,
            settings.hidden,
            text.sources,
            text.targets,
            design.dropout,
        )

    def run(self, threads: int, resume: bool) -> Parameters:
        """Learns and returns the model."""
        if resume and self.file is None:
            raise InputError("--resume needs the folder of a checkpoint")
        state = self._load() if resume else self._start()
        trees = self.text.trees(self.text.train, 0)
        once, passes = len([*self._batches(trees)]), self.design.epochs
        self._passes = min(LONGER * passes, max(passes, -(-STEPS // once)))
        with in_threads(threads) as engine:
            trainer = NeuralTrainer(self.shape, state.parameters, state.first, state.second, engine)
            while len(state.held_out) < self._passes and not _settled(state.held_out):
                self._epoch(trainer, state)
                found = self._figures(trainer)
                if not state.held_out or found["loss"] < min(state.held_out):
                    state.best[:] = state.parameters
                state.held_out.append(found["loss"])
                log.info(f"epoch {len(state.held_out)}: held-out perplexity {math.exp(found['loss']):.2f}")
                if self.file:
                    self._save(state)
            state.parameters[:] = state.best
            facts = self._facts(trainer, len(state.held_out))
        words = ", ".join(f"{value:.2f}" for value in facts["held-out perplexity"])
        log.info(f"held-out perplexity given 0 to {self.design.history} words before: {words}")
        arrays = {name: array.copy() for name, array in self.shape.split(state.parameters).items()}
        arrays |= {"links": self.text.links[0], "share": self.text.links[1]}
        neural = NeuralModel(self.design.reach, self.design.history, self.text.words, arrays)
        return dataclasses.replace(Parameters.without_rules(neural=neural), about=facts)

    def _start(self) -> _State:
        """Random parameters; far words begin small, so that they do not hide near ones in the first steps."""
        shape, random = self.shape, np.random.default_rng([self.settings.seed, 0])
        parameters = np.zeros(shape.parameters, np.float32)
        parts = shape.split(parameters)
        for name, deviation in (("source", 0.1), ("target", 0.1), ("output", 0.05), ("fertility", 0.05)):
            parts[name][:] = random.normal(0, deviation, parts[name].shape)
        inputs = shape.window + shape.history
        distance = [*np.abs(np.arange(shape.window) - self.design.reach).tolist(), *range(shape.history)]
        spread = 3 / math.sqrt(shape.dims * inputs) * 0.8 ** np.array(distance)
        hidden = random.normal(0, 1, (shape.hidden, inputs, shape.dims)) * spread[:, None]
        parts["hidden"][:] = hidden.reshape(shape.hidden, -1)
        _, labels = self.text.words_of(self.text.trees(self.text.train, 0), 0)
        counts = np.bincount(labels, minlength=shape.targets) + 0.5
        parts["output.bias"][:] = np.log(counts / counts.sum())
        moments = np.zeros_like(parameters), np.zeros_like(parameters)
        return _State(parameters, *moments, parameters.copy(), [])

    def _epoch(self, trainer: NeuralTrainer, state: _State) -> None:
        epoch, history = len(state.held_out), self.design.history
        random = np.random.default_rng([self.settings.seed, epoch + 1])
        trees = self.text.trees(random.permutation(self.text.train), epoch)
        n_words = int((self.text.lengths[trees, 1] + 1).sum())
        cut = random.integers(0, max(history, 1), n_words)
        words = self.text.words_of(trees, np.where(random.random(n_words) < WHOLE, history, cut))
        fertilities = self.text.fertilities_of(trees)
        batches = [*self._batches(trees)]
        steps = len(batches) * self._passes
        rising = min(WARM_UP, max(steps // 10, 1))
        noise = random.integers(0, 2**64, len(batches), np.uint64).tolist()
        shown = log.progress(zip(batches, noise, strict=True), f"epoch {epoch + 1}", len(batches))
        for (own, sources), bits in shown:
            inputs = np.concatenate((words[0][own], fertilities[0][sources]))
            labels = np.concatenate((words[1][own], fertilities[1][sources]))
            state.step += 1
            left = max(steps - state.step, 0) / max(steps - rising, 1)
            rate = min(FIRST_RATE * state.step / rising, LAST_RATE + (FIRST_RATE - LAST_RATE) * min(left, 1))
            trainer.learn(inputs, labels, own.stop - own.start, bits, rate, state.step)

    def _batches(self, trees: np.ndarray) -> Iterator[tuple[slice, slice]]:
        """Ranges of the words and of the source words of each batch."""
        words = np.cumsum(self.text.lengths[trees, 1] + 1).tolist()
        sources = np.cumsum(self.text.lengths[trees, 0]).tolist()
        begin = (0, 0)
        for end in zip(words, sources, strict=True):
            if end[0] - begin[0] >= TOKENS or end[0] == words[-1]:
                yield slice(begin[0], end[0]), slice(begin[1], end[1])
                begin = end

    def _figures(self, trainer: NeuralTrainer, history: int | None = None) -> dict[str, float]:
        """Figures of the held-out pairs."""
        length = self.design.history if history is None else history
        words = self.text.words_of(self.text.held_out, length)  # the trees of the first alignment
        total = Losses()
        for begin in range(0, len(words[1]), TOKENS):
            labels = words[1][begin : begin + TOKENS]
            total += trainer.losses(words[0][begin : begin + TOKENS], labels, len(labels))
        n = len(words[1])
        return {"loss": total.words / n, "log Z": math.sqrt(total.squares / n)}

    def _facts(self, trainer: NeuralTrainer, epochs: int) -> dict[str, Any]:
        found = [self._figures(trainer, k) for k in range(self.design.history + 1)]
        return {
            "estimator": "neural",
            "settings": self._choices,
            "epochs": epochs,
            "held-out perplexity": [math.exp(one["loss"]) for one in found],
            "log Z": found[-1]["log Z"],
        }

    @property
    def _choices(self) -> dict[str, Any]:
        return dataclasses.asdict(self.settings) | dataclasses.asdict(self.design)

    @cached_property
    def _made_from(self) -> str:
        """A hash of settings and text."""
        made = hashlib.sha256(json.dumps(self._choices).encode())
        for array in (*self.text.rows, self.text.place, self.text.fertility, self.text.lengths, *self.text.links):
            made.update(np.ascontiguousarray(array).tobytes())
        return made.hexdigest()

    def _checkpoint(self, path: Path) -> CheckpointFile:
        return CheckpointFile(path, "neural", self._made_from, SOURCES)

    def _save(self, state: _State) -> None:
        assert self.file is not None
        arrays = {name: getattr(state, name) for name in ("parameters", "first", "second", "best")}
        self._checkpoint(self.file).save(arrays, {"held out": state.held_out, "step": state.step})

    def _load(self) -> _State:
        """Reads the checkpoint.

        Raises:
            InputError: the file is missing or damaged, or belongs to other settings or derivations.
        """
        assert self.file is not None
        check_begun(self.file)
        names = ["parameters", "first", "second", "best"]
        with self._checkpoint(self.file).load(names) as (arrays, facts):
            check_layout(arrays, dict.fromkeys(names, f"float32 [{self.shape.parameters}]"))
            if not all(np.isfinite(array).all() for array in arrays.values()):
                raise ValueError("a value is not finite")
            losses, step = facts.get("held out"), facts.get("step")
            if not isinstance(losses, list) or not losses or not all(type(x) is float for x in losses):
                raise ValueError("its state has impossible losses")
            if type(step) is not int or step < 1:
                raise ValueError("its state has an impossible step")
        parameters, first, second, best = (arrays[name].copy() for name in names)
        return _State(parameters, first, second, best, losses, step)


def _settled(losses: list[float]) -> bool:
    """True if the last epochs brought nearly nothing."""
    return len(losses) > PATIENCE and min(losses[-PATIENCE:]) > min(losses[:-PATIENCE]) - LITTLE
