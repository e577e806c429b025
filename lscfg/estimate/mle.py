"""Joint maximum-likelihood parameters: one state, the relative frequency of each rule (paper, Table 3, MLE)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

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
        # Without singletons, an unknown word counts as an average token.
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
    frequencies = examples.counts / examples.n_examples
    lexical = examples.rules.arity == 0
    frequencies[lexical], unk = spread_oov(frequencies[lexical], examples.counts[lexical])
    return OneState(frequencies if kept is None else frequencies[kept], np.array([unk]))


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
        return Parameters(rules, (tensors[0], tensors[1], tensors[2]), np.ones(1), one.unk, about, one)
