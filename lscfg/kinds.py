"""Kinds of estimators, rule sources and the like: each a module, found by its row among the entry points.

A row in pyproject.toml names a module, which has ``HELP`` (one line), ``VERSION`` (a number that grows whenever other
output comes of the same input), ``Settings`` (see ``lscfg.settings``) and the function of its group:

- ``lscfg.estimators``: ``estimate(derivations, settings, ...)``, see ``lscfg.estimate``;
- ``lscfg.rule_sources``: ``rules(corpus, settings)`` and ``tokens(corpus, settings)``, see ``lscfg.grammar.source``;
- ``lscfg.context_models``: ``add_context(model, tokens, source, settings, threads)``, see ``lscfg.context.loglinear``;
- ``lscfg.sense_models``: ``fit(task, settings)``, see ``lscfg.context.task``;
- ``lscfg.aligners``: ``align_corpus(source, target, settings, save)``, see ``lscfg.corpus.align``; one that can be
  saved has ``align_text(source, target, saved)``, too;
- ``lscfg.optimisers``: ``learn(step, settings)``, see ``lscfg.tuning.optimisers``;
- ``lscfg.text_sources``: ``read_pairs(files, languages, settings)``, see ``lscfg.prepare.pairs``;
- ``lscfg.tokenisers``: ``SUBWORDS``, ``train_model(lines, side, settings)`` and ``open_tokeniser(language, settings,
  model)``, see ``lscfg.prepare.sides``.

Another package adds a kind by a row of its own.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from importlib.metadata import entry_points
from typing import Any

from lscfg.errors import InputError, did_you_mean, quote

ESTIMATORS = "lscfg.estimators"
RULE_SOURCES = "lscfg.rule_sources"
CONTEXT_MODELS = "lscfg.context_models"
SENSE_MODELS = "lscfg.sense_models"
ALIGNERS = "lscfg.aligners"
OPTIMISERS = "lscfg.optimisers"
TEXT_SOURCES = "lscfg.text_sources"
TOKENISERS = "lscfg.tokenisers"

DEFAULT_CONTEXT_MODEL = "loglinear"
DEFAULT_ESTIMATOR = "clusters"
DEFAULT_SENSE_MODEL = "residual"

_NAMES = {
    ESTIMATORS: "estimator",
    RULE_SOURCES: "rule source",
    CONTEXT_MODELS: "context model",
    SENSE_MODELS: "scorer of target sides",
    ALIGNERS: "aligner",
    OPTIMISERS: "optimiser",
    TEXT_SOURCES: "text source",
    TOKENISERS: "tokeniser",
}


@lru_cache(maxsize=1)
def _rows(path: tuple[str, ...]) -> Any:
    """Those of all packages on a search path. To look for them takes as long as to read an experiment file."""
    return entry_points()


def kinds(group: str) -> tuple[str, ...]:
    """Names of the kinds of a group, sorted."""
    return tuple(sorted({point.name for point in _rows(tuple(sys.path)).select(group=group)}))


def kind(group: str, name: str) -> Any:
    """The module of a kind.

    Raises:
        InputError: there is none of that name.
    """
    for point in _rows(tuple(sys.path)).select(group=group, name=name):
        return point.load()
    known = kinds(group)
    raise InputError(f"no {_NAMES[group]} {quote(name)}; there are {', '.join(known)}{did_you_mean(name, known)}")
