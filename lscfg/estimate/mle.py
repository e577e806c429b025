"""Joint maximum-likelihood parameters: one state, the relative frequency of each rule (paper, Table 3, MLE)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lscfg.errors import InputError
from lscfg.estimate.estimator import Estimator
from lscfg.extract.derive import Derivations
from lscfg.extract.examples import Examples
from lscfg.grammar.select import most_frequent
from lscfg.grammar.table import MAX_TENSOR_ARITY
from lscfg.model.parameters import OneState, Parameters
from lscfg.settings import Declared, setting


@dataclass(frozen=True)
class MLESettings(Declared):
    """Settings of relative frequencies."""

    max_targets: int = setting(0, "most frequent target sides kept of each source side; 0: all", least=0)


def spread_oov(tensors: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Shares the mass of all singletons equally among them and the OOV rule.

    Args:
        tensors: float64 [rules without nonterminals, m]; counts: [the same rules], 1 or less: a singleton.

    Returns:
        The changed tensors, and the tensor of the OOV rule [m].
    """
    singletons = counts <= 1
    share = tensors[singletons].sum(axis=0) / (singletons.sum() + 1)
    if not singletons.any() and len(tensors):
        # Without singletons, an unknown word counts as one token more, an average one.
        share = tensors.sum(axis=0) / counts.sum()
    tensors = tensors.copy()
    tensors[singletons] = share
    return tensors, share


def share_oov(tensors: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gives the OOV rule the mass of one more singleton; singletons keep their own distributions over states.

    Args:
        tensors: float64 [rules without nonterminals, m]; counts: [the same rules], 1 or less: a singleton.

    Returns:
        The changed tensors, and the tensor of the OOV rule [m].
    """
    singletons = counts <= 1
    n = int(singletons.sum())
    if not n:
        return spread_oov(tensors, counts)
    tensors = tensors.copy()
    unk = tensors[singletons].sum(axis=0) / (n + 1)
    tensors[singletons] *= n / (n + 1)
    return tensors, unk


def oov_by_category(
    share: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]], tensors: np.ndarray, examples: Examples
) -> tuple[np.ndarray, np.ndarray]:
    """``spread_oov`` or ``share_oov``, for each category by itself.

    Args:
        tensors: float64 [rules without nonterminals, m], of the rules of ``examples``.

    Returns:
        The changed tensors, and the tensors of the OOV rule, [m], or [categories, m] of several categories: zeros for a
        category without such rules.
    """
    counts = by_arity(examples.counts, examples)[0]
    if examples.rules.lhs is None:
        return share(tensors, counts)
    category, tensors = by_arity(examples.rules.lhs, examples)[0], tensors.copy()
    unk = np.zeros((len(examples.rules.categories), *tensors.shape[1:]))
    for c in np.unique(category):
        tensors[category == c], unk[c] = share(tensors[category == c], counts[category == c])
    return tensors, unk


def category_totals(examples: Examples) -> np.ndarray:
    """float64 [categories], rule tokens of each category that have parameters."""
    return np.bincount(examples.rules.category, examples.counts, len(examples.rules.categories))


def complete(root: np.ndarray, unk: np.ndarray, examples: Examples, mean: np.ndarray, token: np.ndarray) -> None:
    """Gives every category a root vector and an OOV rule, in place.

    Glue rules join nodes of any category, and any word may be unknown. Categories that cover no whole sentence share
    the mass of one more sentence; a category whose rules all contain nonterminals gets an average token of its rules
    as OOV rule.

    Args:
        root, unk: float64 [categories, m].
        mean: float64 [categories, m], mean root vector of the nodes of a category, or zeros.
        token: float64 [categories, m], parameters of all its rules, by the state of the left-hand side, or zeros.
    """
    totals = category_totals(examples)
    sentences = float((np.diff(examples.derivations.trees) > 0).sum())
    first = np.zeros_like(root)
    first[totals == 0, 0] = 1  # a category of forests alone has one state
    nodes = np.maximum(totals, 1)
    lacking = (root == 0).all(axis=1)
    if lacking.any():
        root *= sentences / (sentences + 1)
        root[lacking] = ((mean + first) * (nodes / nodes[lacking].sum())[:, None])[lacking] / (sentences + 1)
    lacking = (unk == 0).all(axis=1)
    unk[lacking] = ((token + first) / np.where(totals > 0, totals, totals.sum())[:, None])[lacking]


def root_shares(examples: Examples) -> np.ndarray:
    """float64 [categories], frequencies of the categories of whole sentences."""
    roots = examples.is_root & examples.is_example
    roots = roots if roots.any() else examples.is_root
    weight = None if examples.weight is None else examples.weight[roots]
    sums = np.bincount(examples.category[roots], weight, len(examples.rules.categories))
    return np.asarray(sums / max(sums.sum(), np.finfo(np.float64).tiny))


def by_arity(values: np.ndarray, examples: Examples) -> list[np.ndarray]:
    """Splits values [rules, ...] into those of arity 0, 1 and 2."""
    return [values[examples.rules.arity == k] for k in range(MAX_TENSOR_ARITY + 1)]


def keep_targets(examples: Examples, limit: int) -> np.ndarray:
    """bool [rules]: True for the ``limit`` most frequent rules of each source side; with 0, for all."""
    if not limit:
        return np.ones(len(examples.rules), bool)
    return most_frequent(examples.rules.source_id, examples.counts, limit)


def one_state(examples: Examples, kept: np.ndarray | None = None) -> OneState:
    """Relative frequencies of rules, with a share of the singletons' mass for the OOV rule.

    Args:
        kept: bool [rules], rules to return; their frequencies stay relative to all rules; None for all.
    """
    rules, root = examples.rules, None
    total: Any = examples.n_examples
    if rules.lhs is not None:
        total, root = category_totals(examples)[rules.lhs], root_shares(examples)
    frequencies = examples.counts / total
    lexical = rules.arity == 0
    frequencies[lexical], unk = oov_by_category(spread_oov, frequencies[lexical], examples)
    if root is not None:
        ones = (category_totals(examples) > 0)[:, None].astype(float)
        complete(root[:, None], unk[:, None], examples, ones, ones)
    return OneState(frequencies if kept is None else frequencies[kept], np.atleast_1d(unk), root)


class RelativeFrequencies(Estimator[MLESettings]):
    """Joint maximum likelihood with one hidden state."""

    HELP = "relative frequencies, with one hidden state"
    VERSION = 1
    Settings = MLESettings

    def estimate(
        self,
        derivations: Derivations,
        settings: MLESettings,
        threads: int = 1,
        folder: Path | None = None,
        resume: bool = False,
    ) -> Parameters:
        """Sets C^r = count(r) / M and C^S = 1; ignores the last three arguments.

        Raises:
            InputError: the derivations hold no rule token to count.
        """
        max_targets = settings.max_targets
        examples = Examples.of(derivations)
        if not examples.n_examples:
            raise InputError("the derivations contain no rule of at most two nonterminals")
        kept = keep_targets(examples, max_targets)
        one = one_state(examples, kept)
        arity = examples.rules.arity[kept]
        tensors = [one.rules[arity == k].reshape(-1, *[1] * (k + 1)) for k in range(MAX_TENSOR_ARITY + 1)]
        about = {
            "method": "mle",
            "rule tokens": examples.n_examples,
            "sentences": len(derivations),
            "targets of a source side": max_targets or "all",
        }
        rules = examples.rules.select(np.nonzero(kept)[0])
        root, unk = (np.ones(1), one.unk) if one.root is None else (one.root[:, None], one.unk[:, None])
        return Parameters(rules, (tensors[0], tensors[1], tensors[2]), root, unk, about, one)
