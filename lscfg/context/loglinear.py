"""Which target side a rule has among the source words around it (thesis, chapter 4).

Hidden states know the rules around a rule, but hardly any words. Beside them stands a log-linear model of a rule's
target side given its source side, its span, those of its nonterminals, and the source sentence,

    p(e | f, context) ~ count(f, e) exp(sum over outcomes o of the rule, items c of the context, of w(o, c)),

the thesis's phrase-sense disambiguation with features in as many dimensions as there are (section 4.2.4). Outcomes of a
rule are itself, the words of its target side, and how these and its nonterminals stand. Its rules are the minimal ones
of the derivations, Hiero's, or both. It goes into the model file; decoders have it as ContextTarget0,
ContextTargetBare and ContextTargetN (docs/FORMATS.md).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from typing import TypeVar

import numpy as np

from lscfg import log
from lscfg.errors import InputError
from lscfg.estimate.examples import Examples
from lscfg.estimate.spectral import Estimate
from lscfg.extract.derive import Derivations
from lscfg.extract.hiero import HieroLimits, extract_files
from lscfg.grammar.table import RuleTable
from lscfg.io.text import read_lines
from lscfg.kernel import ContextTrainer
from lscfg.model.context import ContextModel, context_items
from lscfg.model.parameters import Parameters

Model = TypeVar("Model", Parameters, Estimate)


@dataclass(frozen=True)
class ContextSettings:
    """How the context model is learned.

    Attributes:
        penalty: 1 / the variance of the weights' prior, > 0; of Hiero's rules, which overlap and so say the same thing
            many times, the mean number of tokens that a source word is in, if that is more.
        min_count: weights of items that an outcome has fewer times, in all its tokens together, are 0; at least 1.
        min_word: words of fewer occurrences are no items, at least 1.
        max_targets: most frequent target sides of a source side among which is chosen, at least 2.
        max_tokens: that are learned from, at least 1; of more, so many at random.
        passes: over the tokens.
        rate: of learning, > 0.
        seed: of the order of the tokens.
    """

    penalty: float = 2.0
    min_count: int = 2
    min_word: int = 3
    max_targets: int = 20
    max_tokens: int = 5_000_000
    passes: int = 3
    rate: float = 0.1
    seed: int = 1


@dataclass(frozen=True)
class RuleTokens:
    """Where a corpus has which rules.

    Attributes:
        rules: of up to two nonterminals.
        places: int32 [tokens, 8]: rule, sentence pair, source span (begin, end), those of the first and the second
            nonterminal in source order, -1 where there is none.
    """

    rules: RuleTable
    places: np.ndarray

    @classmethod
    def minimal(cls, derivations: Derivations) -> RuleTokens:
        """The minimal rules of derivations."""
        examples = Examples.of(derivations)
        node = np.nonzero(examples.is_example)[0]
        places = np.full((len(node), 8), -1, np.int32)
        places[:, 0] = examples.type[node]
        places[:, 1] = (np.searchsorted(derivations.trees, node, "right") - 1) % derivations.pairs
        places[:, 2:4] = derivations.span[node, :2]
        for k, child in enumerate(examples.children[node].T):
            places[child >= 0, 4 + 2 * k : 6 + 2 * k] = derivations.span[child[child >= 0], :2]
        return cls(examples.rules, places)

    @classmethod
    def hiero(
        cls,
        src: str | os.PathLike[str],
        tgt: str | os.PathLike[str],
        alignments: Sequence[str | os.PathLike[str]],
        limits: HieroLimits | None = None,
    ) -> RuleTokens:
        """The Hiero rules of a corpus with its alignments.

        Raises:
            InputError: as of ``lscfg.extract.hiero.extract_files``.
        """
        found = extract_files(src, tgt, alignments, limits, places=True)
        places = found.places
        places[:, 1] %= found.sentences // len(alignments)
        return cls(found.rules, places)

    def with_those_of(self, other: RuleTokens) -> RuleTokens:
        """These and other ones of the same corpus; a rule application that is among both counts twice."""
        rules, numbers = self.rules.with_those_of(other.rules)
        places = np.column_stack([numbers[other.places[:, 0]], other.places[:, 1:]]).astype(np.int32)
        return RuleTokens(rules, np.concatenate([self.places, places]))

    def with_choice(self) -> RuleTokens:
        """Those rules of a source side that has several; and their places."""
        side = self.rules.source_id
        kept = np.bincount(side)[side] > 1 if len(side) else np.zeros(0, bool)
        number = np.cumsum(kept) - 1
        places = self.places[kept[self.places[:, 0]]]
        places[:, 0] = number[places[:, 0]]
        return RuleTokens(self.rules.select(np.nonzero(kept)[0]), places)


def read_source(path: str | os.PathLike[str], derivations: Derivations) -> list[str]:
    """The source sentence of each sentence pair of the derivations.

    Raises:
        InputError: the file cannot be read, or has not the sentences of the derivations.
    """
    lines = read_lines(path)
    if len(lines) != derivations.pairs:
        raise InputError(f"{len(lines)} source sentences, but derivations of {derivations.pairs}", path)
    lengths = np.array([len(line.split()) for line in lines], np.int64)
    pair = np.repeat(np.arange(len(derivations)) % derivations.pairs, np.diff(derivations.trees))
    if len(wrong := np.nonzero(derivations.span[:, 1] > lengths[pair])[0]):
        raise InputError("is shorter than the sentence of its derivation", path, int(pair[wrong].min()) + 1)
    return lines


def add_context(model: Model, tokens: RuleTokens, source: list[str], settings: ContextSettings | None = None) -> Model:
    """The model with a context model.

    Args:
        tokens: of the rules that it is to know.
        source: the source sentences that they are of.

    Raises:
        InputError: no source side has a choice.
    """
    settings = settings or ContextSettings()
    context = estimate_context(tokens, source, settings)
    return replace(model, context=context, about=model.about | {"context": asdict(settings)})


def estimate_context(tokens: RuleTokens, source: list[str], settings: ContextSettings) -> ContextModel:
    """The context model of the rules that share their source side with another one.

    Raises:
        InputError: no source side has a choice.
    """
    tokens = tokens.with_choice()
    rules, places = tokens.rules, tokens.places
    counts = np.bincount(places[:, 0], minlength=len(rules))
    side = rules.source_id
    order = np.lexsort((-counts, side))
    rank = np.empty(len(rules), np.int64)
    rank[order] = np.arange(len(rules)) - np.searchsorted(side[order], side[order])
    choices = order[rank[order] < settings.max_targets]
    begin = np.searchsorted(side[choices], np.arange(side.max(initial=-1) + 2))

    learned = places[rank[places[:, 0]] < settings.max_targets]
    if not len(learned):
        raise InputError("no source side has two target sides: there is nothing to choose by context")
    if len(learned) > settings.max_tokens:
        chosen = np.random.default_rng(settings.seed).choice(len(learned), settings.max_tokens, replace=False)
        learned = learned[np.sort(chosen)]
    words, first = _words(source, rules, settings.min_word)
    penalty = max(settings.penalty, _overlap(learned, len(words)))
    trainer = ContextTrainer(
        rules.kernel,
        counts.astype(np.float64),
        (words, first),
        (side.astype(np.int32), begin, choices.astype(np.int32)),
        learned,
        (settings.min_count, penalty, settings.rate),
    )
    keys, weights = _learn(trainer, len(learned), settings)
    outcome, item = np.divmod(keys, context_items(len(rules.words)))
    offsets = np.searchsorted(outcome, np.arange(ContextModel.outcomes(rules) + 1))
    return ContextModel(rules, counts.astype(np.float64), offsets.astype(np.int64), item.astype(np.int32), weights)


def _words(source: list[str], rules: RuleTable, least: int) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of all words, -1 for rare ones and those that are in no rule, and where sentences begin."""
    numbers = {word: k for k, word in enumerate(rules.words)}
    lines = [line.split() for line in source]
    first = np.concatenate([[0], np.cumsum([len(line) for line in lines])]).astype(np.int64)
    words = np.array([numbers.get(word, -1) for word in chain.from_iterable(lines)], np.int32)
    counts = np.bincount(words[words >= 0], minlength=len(rules.words))
    return np.where((words >= 0) & (counts[words] >= least), words, -1).astype(np.int32), first


def _overlap(places: np.ndarray, words: int) -> float:
    """The mean number of tokens that each of so many source words is in."""
    spans = places[:, 2:].reshape(-1, 3, 2).astype(np.int64)  # what is not there has length 0
    lengths = spans[:, :, 1] - spans[:, :, 0]
    return float((lengths[:, 0] - lengths[:, 1] - lengths[:, 2]).sum() / words)


STEP = 20_000
"""Tokens between two moves of the progress bar."""


def _learn(trainer: ContextTrainer, n: int, settings: ContextSettings) -> tuple[np.ndarray, np.ndarray]:
    """The learned weights with their keys, ascending."""
    random = np.random.default_rng(settings.seed)
    starts = range(0, n, STEP)
    for number in range(1, settings.passes + 1):
        order, loss = random.permutation(n), np.zeros(2)
        for start in log.progress(starts, f"context, pass {number}"):
            loss += trainer.learn(order[start : start + STEP])
        plain, here = loss / n
        log.info(f"pass {number}: loss of a target side {plain:.3f} by frequency, {here:.3f} in context")
    keys, weights = trainer.weights()
    log.info(f"{len(keys)} context weights from {n} rule tokens")
    return keys, weights
