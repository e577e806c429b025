"""The log-linear model of ``loglinear`` with a few dense values of the words around among its items.

They are those of the two views (``lscfg.context.cca``), which need no translations, or of word vectors. An outcome has
a weight for each of them, as for any item. What an outcome's dense weights make of a token goes into the file as a
scorer of the kind ``joint``, which the kernel adds to the log-linear score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from lscfg import log
from lscfg.context import loglinear
from lscfg.context.cca import correlate
from lscfg.context.given import VECTORS, given_directions
from lscfg.context.loglinear import AnyModel, learn_context, read_source
from lscfg.context.views import Look, Views, number_words
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

    takes_text: ClassVar[bool] = True

    k: int = setting(50, "dense values of each side", least=1)
    window: int = setting(5, "words on each side that they are of", least=1, most=100)
    gamma: float = setting(2.0, "regularisation of the covariances of both views", least=0)
    vectors: Path | None = setting(None, VECTORS)
    dense_penalty: float = setting(1.0, "inverse variance of the prior of weights for dense values", above=0)


def add_context(
    model: AnyModel,
    tokens: RuleTokens,
    source: list[str],
    settings: Settings | None = None,
    threads: int = 1,
    more: Sequence[str] = (),
) -> AnyModel:
    """The model with a joint model, the same for any number of threads; see ``lscfg.context.loglinear``.

    Args:
        more: further source text, whose words the tokens' vocabulary has; the dense values are learned from it, too.

    Raises:
        InputError: no source side has a choice, the views have fewer items than dense values, or the file of word
            vectors is wrong.
    """
    settings = settings or Settings()
    context = estimate_joint(tokens, source, settings, threads, more)
    return replace(model, context=context, about=model.about | {"context": {"model": "joint", **settings.facts()}})


def estimate_joint(
    tokens: RuleTokens, source: list[str], settings: Settings, threads: int = 1, more: Sequence[str] = ()
) -> ContextModel:
    """The joint model of the rules that share their source side with another one.

    Raises:
        InputError: see ``add_context``.
    """
    tokens = tokens.with_choice()
    rules = tokens.rules
    look = Look(settings.window, False, 1 if settings.vectors else settings.min_word)
    views, text = Views.with_text(source, more, rules.words, tokens.places[:, 1:4], look, settings.seed)
    if settings.vectors:
        found = given_directions(settings.vectors, views, rules.words)
    else:
        found = correlate(*text.sides, settings.k, gamma=settings.gamma, seed=settings.seed, threads=threads)
    k = len(found.sigma)
    log.info(f"{k} dimensions of {len(found.left)} items to the left and {len(found.right)} to the right")
    words = number_words(source, rules.words)
    sentence = np.repeat(np.arange(len(source)), np.diff(words[1]) + 1)
    place = np.arange(len(sentence)) - (words[1][:-1] + np.arange(len(source)))[sentence]
    boundaries = views.matrix_of(words, len(rules.words), np.column_stack([sentence, place, place]))
    sides = (slice(None, views.split), slice(views.split, None))
    vectors, dense = np.zeros((len(views.items), 2 * k)), []
    for side, (view, basis, items) in enumerate(zip(views.sides, (found.left, found.right), sides, strict=True)):
        values = view @ basis
        # a token's values have a square sum of 1 in the mean, as a single item has: so steps have no other length; they
        # are not centred, so that they are 0 where nothing is known around
        size = np.sqrt(np.maximum((values**2).mean(axis=0), 1e-24) * 2 * k)
        columns = slice(side * k, (side + 1) * k)
        vectors[items, columns] = basis / size
        dense.append((boundaries[:, items] @ vectors[items, columns]).astype(np.float32))
    context, sums = learn_context(tokens, source, settings, threads, (dense[0], dense[1], settings.dense_penalty))
    sense = SenseModel(
        "joint",
        settings.window,
        False,
        views.items,
        vectors.astype(np.float32),
        np.zeros(2 * k, np.float32),
        np.arange(len(rules), dtype=np.int32),
        sums,
        np.zeros(len(rules), np.float32),
        np.array([1.0, 1.0]),
    )
    return replace(context, sense=sense)
