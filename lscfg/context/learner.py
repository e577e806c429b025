"""Context models: prediction of a rule's target side from the surrounding source words (thesis, chapter 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from lscfg.errors import InputError
from lscfg.grammar.table import RuleTable
from lscfg.grammar.tokens import RuleTokens
from lscfg.kinds import Kind, Registry, SettingsT
from lscfg.model.parameters import Estimate, Parameters
from lscfg.settings import Declared, setting

AnyModel = TypeVar("AnyModel", bound=Parameters | Estimate)


NO_CHOICE = "no source side has two target sides, so the context has nothing to choose"
"""Error about tokens without a choice."""


@dataclass(frozen=True)
class ContextSettings(Declared):
    """Settings of all context models."""

    min_word: int = setting(3, "minimum number of tokens with a word; rarer words count as one word", least=1)
    max_targets: int = setting(20, "most frequent target sides of each source side to choose among", least=2)
    seed: int = setting(1, "seed of all random choices", least=0)


@dataclass(frozen=True)
class PassSettings(ContextSettings):
    """Settings of context models that are learned in passes over the tokens."""

    passes: int = setting(5, "passes over the tokens", least=1)
    rate: float = setting(0.1, "learning rate", above=0)


@dataclass(frozen=True)
class WindowSettings(ContextSettings):
    """Settings of context models that see the words next to a rule."""

    window: int = setting(5, "words on each side", least=1, most=100)


@dataclass(frozen=True)
class VectorSettings(WindowSettings):
    """Settings of context models that map the words around a rule to a few numbers."""

    k: int = setting(50, "dimensions of each side", least=1)
    gamma: float = setting(2.0, "regularisation of the covariances of both sides", least=0)
    vectors: Path | None = setting(
        None, "word vectors of the source, as text, instead of learned dimensions; rare words stay distinct"
    )


class ContextLearner(Kind[SettingsT]):
    """Learns a context model and adds it to a model."""

    FEATURES: tuple[str, ...]
    """The family of latent features that the context model computes. A model has one context model per family."""
    TAKES_TEXT: bool = False
    """Further source text, without translations, improves the context model."""

    def add(
        self,
        model: AnyModel,
        tokens: RuleTokens,
        source: list[str],
        settings: SettingsT,
        threads: int = 1,
        more: Sequence[str] = (),
    ) -> AnyModel:
        """Returns the model with a context model; the result does not depend on the number of threads.

        Args:
            tokens: tokens of the rules that the context model covers.
            source: the source sentences of the tokens.
            more: further source text, whose words the vocabulary of the tokens includes.

        Raises:
            InputError: no source side has a choice, the model has a context model of other rules, or the settings do
                not fit the text.
        """
        raise NotImplementedError


CONTEXT_MODELS: Registry[ContextLearner[Declared]] = Registry("lscfg.context_models", ContextLearner, "context model")


def check_same_rules(one: RuleTable, other: RuleTable) -> None:
    """Refuses two context models of different rules in one model.

    Raises:
        InputError: the rules differ.
    """
    arrays = ((one.symbols, other.symbols), (one.offsets, other.offsets), (one.src_length, other.src_length))
    if one.words != other.words or not all(np.array_equal(*pair) for pair in arrays):
        raise InputError("the model has a context model of other rules")


DEFAULTS = ("loglinear", "residual")
"""The default context model of each family of features, in the order of learning."""


def chosen_models(features: Sequence[str], settings: Mapping[str, Declared]) -> dict[str, Declared]:
    """The context models that some latent features need, with their settings.

    Args:
        settings: settings of context models, by name. A context model that is not named has default settings, or
            is none that is needed; of two of one family the first is taken.
    """
    found = {}
    for default in DEFAULTS:
        family = CONTEXT_MODELS[default].FEATURES
        if not {*family}.isdisjoint(features):
            name = next((name for name in settings if family == CONTEXT_MODELS[name].FEATURES), default)
            found[name] = settings[name] if name in settings else CONTEXT_MODELS[name].Settings()
    return found
