"""The log-linear model of ``loglinear`` with a few dense values of the surrounding words as additional items.

The values come from the two views (``lscfg.context.correlation``), which need no translations, or from word vectors.
Each outcome has a weight for each value, as for any item. The sum over a token's values goes into the file as a
low-dimensional model of the kind ``joint``, which the kernel adds to the log-linear score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lscfg import log
from lscfg.context.correlation import correlate
from lscfg.context.learner import NO_CHOICE, AnyModel, ContextLearner, VectorSettings
from lscfg.context.loglinear import LoglinearSettings, learn_context
from lscfg.context.views import Look, Views, number_words
from lscfg.context.word_vectors import given_directions
from lscfg.errors import InputError
from lscfg.grammar.tokens import RuleTokens
from lscfg.kernel import CONTEXT_FEATURES
from lscfg.model.context import ContextModel
from lscfg.model.low_dimensional import LowDimensionalModel
from lscfg.settings import setting


@dataclass(frozen=True)
class JointSettings(LoglinearSettings, VectorSettings):
    """Settings of the joint context model."""

    dense_penalty: float = setting(1.0, "inverse variance of the prior on weights of dense values", above=0)


class Joint(ContextLearner[JointSettings]):
    """Log-linear model that also uses a few dense values of the surrounding words."""

    HELP = "the log-linear model with a few dense values of the surrounding words as additional items"
    VERSION = 1
    Settings = JointSettings
    FEATURES = CONTEXT_FEATURES
    TAKES_TEXT = True

    def add(
        self,
        model: AnyModel,
        tokens: RuleTokens,
        source: list[str],
        settings: JointSettings,
        threads: int = 1,
        more: Sequence[str] = (),
    ) -> AnyModel:
        """Returns the model with a joint context model; see ``ContextLearner``."""
        context = estimate_joint(tokens, source, settings, threads, more)
        return replace(model, context=context, about=model.about | {"context": {"model": "joint", **settings.facts()}})


def estimate_joint(
    tokens: RuleTokens, source: list[str], settings: JointSettings, threads: int = 1, more: Sequence[str] = ()
) -> ContextModel:
    """The joint model of the rules that share their source side with another one.

    Raises:
        InputError: see ``ContextLearner.add``.
    """
    tokens = tokens.with_choice()
    if not len(tokens.places):
        raise InputError(NO_CHOICE)
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
        # a token's values have a mean square sum of 1, like a single item, so steps have the same length; they
        # are not centred, so that they are 0 where all surrounding words are unknown
        size = np.sqrt(np.maximum((values**2).mean(axis=0), 1e-24) * 2 * k)
        columns = slice(side * k, (side + 1) * k)
        vectors[items, columns] = basis / size
        dense.append((boundaries[:, items] @ vectors[items, columns]).astype(np.float32))
    context, sums = learn_context(tokens, source, settings, threads, (dense[0], dense[1], settings.dense_penalty))
    dense_part = LowDimensionalModel(
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
    return replace(context, low_dimensional=dense_part)
