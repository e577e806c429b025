"""Which target side a rule has among the source words around it (thesis, chapter 4).

Hidden states know the rules around a rule, but hardly any words. Beside them stands a log-linear model of a rule's
target side given its source side, its span, those of its nonterminals, and the source sentence,

    p(e | f, context) ~ count(f, e) exp(sum over outcomes o of the rule, items c of the context, of w(o, c)),

the thesis's phrase-sense disambiguation with features in as many dimensions as there are (section 4.2.4). Outcomes of a
rule are itself, the words of its target side, and how these and its nonterminals stand. Its rules are the minimal ones
of the derivations, Hiero's, or both. It goes into the model file; decoders have it as ContextTarget0,
ContextTargetBare and ContextTargetN (docs/reference/features.md).
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from itertools import chain
from typing import ClassVar, TypeVar

import numpy as np

from lscfg import log
from lscfg.errors import InputError
from lscfg.extract.derive import Derivations
from lscfg.extract.yields import expand_ranges
from lscfg.grammar.table import RuleTable
from lscfg.grammar.tokens import RuleTokens
from lscfg.io.text import read_lines
from lscfg.kernel import ContextTrainer
from lscfg.model.context import ContextModel
from lscfg.model.parameters import Estimate, Parameters
from lscfg.parallel.choose import in_threads
from lscfg.settings import Declared, setting

AnyModel = TypeVar("AnyModel", Parameters, Estimate)


HELP = "log-linear model of target sides given the source words around a rule"
VERSION = 2


@dataclass(frozen=True)
class Settings(Declared):
    """How the context model is learned.

    Attributes:
        takes_text: whether something is learned from further source text.

    The penalty of Hiero's rules, which overlap and so say the same thing many times, is the mean number of tokens that
    a source word is in, if that is more.
    """

    takes_text: ClassVar[bool] = False

    penalty: float = setting(2.0, "inverse variance of the weights' prior", above=0)
    min_count: int = setting(2, "least number of tokens of an outcome for which an item gets a weight", least=1)
    min_word: int = setting(3, "least number of occurrences of a word that is an item", least=1)
    max_targets: int = setting(20, "most frequent target sides of a source side to choose among", least=2)
    max_tokens: int = setting(5_000_000, "most tokens to learn from; of more, a random sample", least=1)
    passes: int = setting(3, "passes over the tokens", least=1)
    batch: int = setting(4096, "tokens whose gradients are found before a weight is changed", least=1)
    rate: float = setting(0.1, "learning rate", above=0)
    seed: int = setting(1, "seed of the order of the tokens", least=0)


def read_source(path: str | os.PathLike[str], derivations: Derivations) -> list[str]:
    """The source sentence of each sentence pair of the derivations.

    Raises:
        InputError: the file cannot be read, or has not the sentences of the derivations.
    """
    lines = read_lines(path)
    if len(lines) != derivations.pairs:
        raise InputError(f"{len(lines)} source sentences, but derivations of {derivations.pairs}", path)
    numbers = {word: k for k, word in enumerate(derivations.rules.words)}
    split = [line.split() for line in lines]
    lengths = np.array([len(words) for words in split], np.int64)
    ids = np.array([numbers.get(word, -1) for word in chain.from_iterable(split)], np.int32)
    tree = np.nonzero(np.diff(derivations.trees))[0]  # a dropped pair has a tree without nodes
    pair, expected = tree % derivations.pairs, derivations.span[derivations.trees[tree], 1]
    if len(wrong := np.nonzero(lengths[pair] != expected)[0]):
        first = wrong[pair[wrong].argmin()]
        raise _other_text(
            f"is not as long as its derivation: {lengths[pair[first]]}, not {expected[first]} words", path, pair[first]
        )
    found = ids[expand_ranges((np.cumsum(lengths) - lengths)[pair], lengths[pair])]
    if len(wrong := np.nonzero(found != derivations.kernel.words()[0])[0]):
        pairs = pair[np.searchsorted(np.cumsum(expected), wrong, "right")]
        raise _other_text("has other words than its derivation", path, pairs.min())
    return lines


def _other_text(what: str, path: str | os.PathLike[str], pair: int) -> InputError:
    return InputError(f"{what}; give the source text that lscfg derive was given", path, int(pair) + 1)


def add_context(
    model: AnyModel, tokens: RuleTokens, source: list[str], settings: Settings | None = None, threads: int = 1
) -> AnyModel:
    """The model with a context model, the same for any number of threads.

    Args:
        tokens: of the rules that it is to know.
        source: the source sentences that they are of.

    Raises:
        InputError: no source side has a choice.
    """
    settings = settings or Settings()
    context = estimate_context(tokens, source, settings, threads)
    return replace(model, context=context, about=model.about | {"context": settings.facts()})


def estimate_context(tokens: RuleTokens, source: list[str], settings: Settings, threads: int = 1) -> ContextModel:
    """The context model of the rules that share their source side with another one.

    Raises:
        InputError: no source side has a choice.
    """
    return learn_context(tokens, source, settings, threads)[0]


def learn_context(
    tokens: RuleTokens,
    source: list[str],
    settings: Settings,
    threads: int = 1,
    dense: tuple[np.ndarray, np.ndarray, float] | None = None,
) -> tuple[ContextModel, np.ndarray]:
    """The context model, and float32 [rules, 2 dims], what each rule has of dense values.

    Args:
        dense: as of ``ContextTrainer``.

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
    learned = learned[np.argsort(learned[:, 0], kind="stable")]
    words, first = _words(source, rules, settings.min_word)
    penalty = max(settings.penalty, _overlap(learned, len(words)))
    with in_threads(threads) as engine:
        trainer = ContextTrainer(
            rules.kernel,
            counts.astype(np.float64),
            (words, first),
            (side.astype(np.int32), begin, choices.astype(np.int32)),
            learned,
            (settings.min_count, penalty, settings.rate),
            engine,
            dense,
        )
        _learn(trainer, learned, side, settings)
        return ContextModel(rules, counts.astype(np.float64), *trainer.weights()), trainer.dense_sums()


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


FIRST_BATCH, GROWTH = 32, 64
"""Tokens of the first batches, and what part of the tokens before it a later one has at most. The first steps of a
weight are long: many in the same direction at once would go too far."""


def batches(n: int, seen: int, most: int) -> list[slice]:
    """The batches of a pass over n tokens, after so many of other passes."""
    found, start = [], 0
    while start < n:
        found.append(slice(start, min(n, start + min(most, max(FIRST_BATCH, (seen + start) // GROWTH)))))
        start = found[-1].stop
    return found


def _learn(trainer: ContextTrainer, tokens: np.ndarray, side: np.ndarray, settings: Settings) -> None:
    random = np.random.default_rng(settings.seed)
    n = len(tokens)
    for number in range(1, settings.passes + 1):
        order, loss = random.permutation(n), np.zeros(2)
        for some in log.progress(batches(n, (number - 1) * n, settings.batch), f"context, pass {number}"):
            batch = tokens[order[some]]
            # tokens of a source side meet the same weights, which are near if they come one after the other
            loss += trainer.learn(batch[np.argsort(side[batch[:, 0]], kind="stable")])
        plain, here = loss / n
        log.info(f"pass {number}: loss of a target side {plain:.3f} by frequency, {here:.3f} in context")
