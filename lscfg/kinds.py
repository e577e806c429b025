"""Kinds of estimators, rule sources and the like: each a module, found by its row among the entry points.

A row in pyproject.toml names a module, which has ``HELP`` (one line), ``VERSION`` (a number that grows whenever other
output comes of the same input), ``Settings`` (see ``lscfg.settings``) and the function of its group:

- ``lscfg.estimators``: ``estimate(derivations, settings, ...)``, see ``lscfg.estimate``;
- ``lscfg.rule_sources``: ``rules(corpus, settings)`` and ``tokens(corpus, settings)``, see ``lscfg.grammar.source``;
- ``lscfg.context_models``: ``add_context(model, tokens, source, settings)``, see ``lscfg.context.loglinear``;
- ``lscfg.aligners``: ``align_corpus(source, target, settings, save)``, see ``lscfg.corpus.align``; one that can be
  saved has ``align_text(source, target, saved)``, too;
- ``lscfg.optimisers``: ``learn(step, settings)``, see ``tuning.optimisers``.

Another package adds a kind by a row of its own.
"""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

from lscfg.errors import InputError, quote

ESTIMATORS = "lscfg.estimators"
RULE_SOURCES = "lscfg.rule_sources"
CONTEXT_MODELS = "lscfg.context_models"
ALIGNERS = "lscfg.aligners"
OPTIMISERS = "lscfg.optimisers"

DEFAULT_CONTEXT_MODEL = "loglinear"

_NAMES = {
    ESTIMATORS: "estimator",
    RULE_SOURCES: "rule source",
    CONTEXT_MODELS: "context model",
    ALIGNERS: "aligner",
    OPTIMISERS: "optimiser",
}


def kinds(group: str) -> tuple[str, ...]:
    """Names of the kinds of a group, sorted."""
    return tuple(sorted({point.name for point in entry_points(group=group)}))


def kind(group: str, name: str) -> Any:
    """The module of a kind.

    Raises:
        InputError: there is none of that name.
    """
    for point in entry_points(group=group, name=name):
        return point.load()
    raise InputError(f"no {_NAMES[group]} {quote(name)}; there are {', '.join(kinds(group))}")
