"""A log-linear model of a rule's target side given the source words around the rule (thesis, chapter 4).

Hidden states summarise the rules around a rule, but hardly any words. The log-linear model complements the states: it
predicts a rule's target side from its source side, its span, the spans of its nonterminals and the source sentence,

    p(e | f, context) ~ count(f, e) exp(sum over outcomes o of the rule, items c of the context, of w(o, c)),

the thesis's phrase sense disambiguation with features in all dimensions (section 4.2.4). Outcomes of a rule are the
rule itself, the words of its target side, and their order among its nonterminals. The rules are minimal ones of the
derivations, Hiero's, or both. The model file contains the weights; decoders show them as ContextTarget0,
ContextTargetBare and ContextTargetN (docs/reference/features.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from lscfg import log
from lscfg.context.learner import NO_CHOICE, AnyModel, ContextLearner, PassSettings, check_same_rules
from lscfg.errors import InputError
from lscfg.grammar.table import RuleTable
from lscfg.grammar.tokens import RuleTokens
from lscfg.kernel import CONTEXT_FEATURES, ContextTrainer
from lscfg.model.context import ContextModel
from lscfg.parallel.choose import in_threads
from lscfg.settings import setting

# A context model has separate rules, because most Hiero rules have no tensor. Most rules are rare and share weights
# with others through target words and shape; only outcomes of enough tokens get weights.


@dataclass(frozen=True)
class LoglinearSettings(PassSettings, defaults={"passes": 3}):
    """Settings of the log-linear context model.

    The penalty of Hiero rules, which overlap and so repeat the same evidence, is at least the mean number of tokens
    that cover a source word.
    """

    min_word: int = setting(3, "minimum occurrences of a word in the source text; rarer words are left out", least=1)
    penalty: float = setting(2.0, "inverse variance of the weights' prior", above=0)
    min_count: int = setting(2, "minimum number of tokens of an outcome for which an item gets a weight", least=1)
    max_tokens: int = setting(5_000_000, "maximum tokens to learn from; a larger text is sampled at random", least=1)
    batch: int = setting(4096, "tokens per step: their gradients are summed before weights change", least=1)


class Loglinear(ContextLearner[LoglinearSettings]):
    """Log-linear model with a weight for each pair of outcome and context item."""

    HELP = "log-linear model of target sides given the source words around a rule"
    VERSION = 2
    Settings = LoglinearSettings
    FEATURES = CONTEXT_FEATURES

    def add(
        self,
        model: AnyModel,
        tokens: RuleTokens,
        source: list[str],
        settings: LoglinearSettings,
        threads: int = 1,
        more: Sequence[str] = (),
    ) -> AnyModel:
        """Returns the model with a log-linear context model; see ``ContextLearner``."""
        context, before = estimate_context(tokens, source, settings, threads), model.context
        if before and before.low_dimensional and before.low_dimensional.kind != "joint":
            check_same_rules(before.rules, context.rules)
            context = replace(context, low_dimensional=before.low_dimensional)
        return replace(model, context=context, about=model.about | {"context": settings.facts()})


def estimate_context(
    tokens: RuleTokens, source: list[str], settings: LoglinearSettings, threads: int = 1
) -> ContextModel:
    """The context model of the rules that share their source side with another one.

    Raises:
        InputError: no source side has a choice.
    """
    return learn_context(tokens, source, settings, threads)[0]


def learn_context(
    tokens: RuleTokens,
    source: list[str],
    settings: LoglinearSettings,
    threads: int = 1,
    dense: tuple[np.ndarray, np.ndarray, float] | None = None,
) -> tuple[ContextModel, np.ndarray]:
    """The context model and the weights of dense values, float32 [rules, 2 dims].

    Args:
        dense: as for ``ContextTrainer``.

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
        raise InputError(NO_CHOICE)
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
        weights, sums = trainer.weights(), trainer.dense_sums()
        if not all(np.isfinite(array).all() for array in (*weights, *([] if sums is None else [sums]))):
            raise InputError(
                "the context model diverged: it contains values that are not finite; choose a smaller rate"
            )
        return ContextModel(rules, counts.astype(np.float64), *weights), sums


def _words(source: list[str], rules: RuleTable, least: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of all words, -1 for rare words and words outside all rules, and the begin of each sentence."""
    numbers = {word: k for k, word in enumerate(rules.words)}
    lines = [line.split() for line in source]
    first = np.concatenate([[0], np.cumsum([len(line) for line in lines])]).astype(np.int64)
    words = np.array([numbers.get(word, -1) for word in chain.from_iterable(lines)], np.int32)
    counts = np.bincount(words[words >= 0], minlength=len(rules.words))
    return np.where((words >= 0) & (counts[words] >= least), words, -1).astype(np.int32), first


def _overlap(places: np.ndarray, words: int) -> float:
    """Mean number of tokens that cover each of ``n`` source words."""
    spans = places[:, 2:].reshape(-1, 3, 2).astype(np.int64)  # missing spans have length 0
    lengths = spans[:, :, 1] - spans[:, :, 0]
    return float((lengths[:, 0] - lengths[:, 1] - lengths[:, 2]).sum() / words)


FIRST_BATCH, GROWTH = 32, 64
"""Tokens of the first batches, and the largest ratio of a batch to all tokens before it. The first steps of a
weight are long; many of them in one direction at once would go too far."""


def batches(n: int, seen: int, most: int) -> list[slice]:
    """The batches of a pass over n tokens, given the number of tokens of earlier passes."""
    found, start = [], 0
    while start < n:
        found.append(slice(start, min(n, start + min(most, max(FIRST_BATCH, (seen + start) // GROWTH)))))
        start = found[-1].stop
    return found


DIVERGED = 100
"""Least ratio of the loss in context to that by frequency, or to 1, that shows too large a rate."""


def _learn(trainer: ContextTrainer, tokens: np.ndarray, side: np.ndarray, settings: LoglinearSettings) -> None:
    random = np.random.default_rng(settings.seed)
    n = len(tokens)
    for number in range(1, settings.passes + 1):
        order, loss = random.permutation(n), np.zeros(2)
        for some in log.progress(batches(n, (number - 1) * n, settings.batch), f"context, pass {number}"):
            batch = tokens[order[some]]
            # tokens of a source side use the same weights, which stay in the cache if the tokens are neighbours
            loss += trainer.learn(batch[np.argsort(side[batch[:, 0]], kind="stable")])
        plain, here = loss / n
        if not here < DIVERGED * max(plain, 1.0):
            raise InputError(f"the context model diverged in pass {number}; choose a smaller rate")
        log.info(f"pass {number}: loss of a target side {plain:.3f} by frequency, {here:.3f} in context")
