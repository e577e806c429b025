"""The log-linear model of ``loglinear`` with a few dense values of the words around among its items.

They are those of the two views (``lscfg.context.cca``), which need no translations. An outcome has a weight for each of
them, as for any item. What an outcome's dense weights make of a token goes into the file as a scorer of the kind
``joint``, which the kernel adds to the log-linear score.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from lscfg import log
from lscfg.context import loglinear
from lscfg.context.cca import correlate
from lscfg.context.loglinear import AnyModel, learn_context, read_source
from lscfg.context.views import Views
from lscfg.grammar.tokens import RuleTokens
from lscfg.model.context import ContextModel
from lscfg.model.sense import SenseModel
from lscfg.settings import setting

HELP = "the log-linear model with a few dense values of the words around among its items"
VERSION = 1

__all__ = ["HELP", "VERSION", "Settings", "add_context", "estimate_joint", "read_source"]


@dataclass(frozen=True)
class Settings(loglinear.Settings):
    """How the joint model is learned; ``min_word`` is that of the views, too."""

    k: int = setting(50, "dense values of each side", least=1)
    window: int = setting(5, "words on each side that they are of", least=1, most=100)
    gamma: float = setting(2.0, "regularisation of the covariances of both views", least=0)
    dense_penalty: float = setting(1.0, "inverse variance of the prior of weights for dense values", above=0)


def add_context(
    model: AnyModel, tokens: RuleTokens, source: list[str], settings: Settings | None = None, threads: int = 1
) -> AnyModel:
    """The model with a joint model, the same for any number of threads; see ``lscfg.context.loglinear``.

    Raises:
        InputError: no source side has a choice, or the views have fewer items than dense values.
    """
    settings = settings or Settings()
    context = estimate_joint(tokens, source, settings, threads)
    return replace(model, context=context, about=model.about | {"context": {"model": "joint", **settings.facts()}})


def estimate_joint(tokens: RuleTokens, source: list[str], settings: Settings, threads: int = 1) -> ContextModel:
    """The joint model of the rules that share their source side with another one.

    Raises:
        InputError: no source side has a choice, or the views have fewer items than dense values.
    """
    tokens = tokens.with_choice()
    rules = tokens.rules
    lines = [line.split() for line in source]
    numbers = {word: k for k, word in enumerate(rules.words)}
    lengths = np.array([len(line) for line in lines])
    first = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    words = np.array([numbers.get(word, -1) for word in chain.from_iterable(lines)], np.int64), first
    views = Views.of(words, len(rules.words), tokens.places[:, 1:4], settings.window, False, settings.min_word)
    x, y = views.sides
    found = correlate(x, y, settings.k, gamma=settings.gamma, seed=settings.seed, threads=threads)
    log.info(f"{settings.k} dimensions of {x.shape[1]} items to the left and {y.shape[1]} to the right")
    sentence = np.repeat(np.arange(len(lines)), lengths + 1)
    place = np.arange(len(sentence)) - (first[:-1] + np.arange(len(lines)))[sentence]
    boundaries = views.matrix_of(words, len(rules.words), np.column_stack([sentence, place, place]))
    sides = (slice(None, views.split), slice(views.split, None))
    vectors, shift, dense = np.zeros((len(views.items), 2 * settings.k)), [], []
    for side, (view, basis, items) in enumerate(zip((x, y), (found.left, found.right), sides, strict=True)):
        values = view @ basis
        # a token's values have a square sum of 1 in the mean, as a single item has: so steps have no other length
        spread = np.maximum(values.std(axis=0), 1e-12) * np.sqrt(2 * settings.k)
        columns = slice(side * settings.k, (side + 1) * settings.k)
        vectors[items, columns] = basis / spread
        shift.append(-values.mean(axis=0) / spread)
        dense.append((boundaries[:, items] @ vectors[items, columns] + shift[-1]).astype(np.float32))
    context, sums = learn_context(tokens, source, settings, threads, (dense[0], dense[1], settings.dense_penalty))
    sense = SenseModel(
        "joint",
        settings.window,
        False,
        views.items,
        vectors.astype(np.float32),
        np.concatenate(shift).astype(np.float32),
        np.arange(len(rules), dtype=np.int32),
        sums,
        np.zeros(len(rules), np.float32),
        np.array([1.0, 1.0]),
    )
    return replace(context, sense=sense)
