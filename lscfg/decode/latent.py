"""The latent features of a decoder's grammar; docs/reference/features.md defines them."""

from __future__ import annotations

import os
import threading
from functools import cache

import numpy as np

from lscfg.errors import InputError, quote
from lscfg.formats.ini import LatentFeature, find_file
from lscfg.kernel import (
    Binding,
    BindingOptions,
    FeatureOptions,
    FeaturePass,
    Forest,
    Grammar,
    ImproperCounts,
    Inference,
    LatentOptions,
    Model,
)
from lscfg.log import warning

UNKNOWN = {name: LatentOptions.of([("unknown", name)]).unknown for name in ("zero", "compose", "oov")}
"""Policies for rules outside the model: probability zero; composition of rules of the model where possible, so that the
features apply to a Hiero grammar; or composition, with the OOV rule for rules without nonterminals (and parts of
composed rules) that are still missing."""


LEAST_OF_NODE = 1e-6
"""Least marginal of a node for which pruning leaves rules that the model lacks."""


@cache
def _warn_without_rules(path: str | os.PathLike[str]) -> None:
    """Warns once, since each sentence with its own rules binds the model."""
    warning(f"{path}: the model contains no rule of the grammar; all latent features are at their floor")


class LatentFeatures:
    """The latent features of the forests of one grammar.

    Args:
        model: a model or the path of its file.
        grammar: the finished grammar of the forests.
        options: features and their form; the defaults if None.
        unknown: policy for rules outside the model: a key of ``UNKNOWN``, or the options themselves.
        marginals: compute marginals besides the features; without them, context features alone are much cheaper.
        prune: least marginal of an application that a search considers, in [0, 1); above 0 needs marginals.

    Raises:
        InputError: the model cannot be opened, or lacks the features.
    """

    def __init__(
        self,
        model: Model | str | os.PathLike[str],
        grammar: Grammar,
        options: FeatureOptions | None = None,
        unknown: str | BindingOptions = "compose",
        marginals: bool = True,
        prune: float = 0.0,
    ):
        self.prune = prune
        self.options = options or FeatureOptions()
        self.model = model if isinstance(model, Model) else Model(model)
        self.model.check_features(self.options)
        self._infers, self._unknown = marginals or prune > 0 or self.options.need_inference, unknown
        self.binding = Binding(self.model, grammar, UNKNOWN[unknown] if isinstance(unknown, str) else unknown)
        self.improper = Improper()
        without = not len(self.model)  # such a model contains only weights of words at span boundaries
        kinds = {} if without or self.binding.known else self.binding.counts()
        if kinds.get("zero") and not any(kinds[kind] for kind in kinds if kind not in ("zero", "stateless")):
            _warn_without_rules(self.model.path)

    @classmethod
    def from_ini(
        cls, feature: LatentFeature, grammar: Grammar, ini: str | os.PathLike[str], marginals: bool = True
    ) -> LatentFeatures:
        """The features of a feature_function line of an ini file.

        Options: ``model=FILE``, ``features=NAME,NAME...``, ``log=true|false``, ``floor=X``, ``negative=flip|clamp``,
        ``improper=zero|keep``, ``unknown=compose|zero|oov``, ``prune=X``.

        Raises:
            InputError: an unknown option or a bad value, or the model cannot be opened or lacks the features.
        """
        name = feature.options.get("model", "")
        model = find_file(name, ini)
        if model is None:
            raise InputError(f"feature function LSCFG: no model file {quote(name)}", ini, feature.number)
        try:
            options = LatentOptions.of(feature.options.items())
        except InputError as error:
            raise InputError(f"feature function LSCFG: {error}", ini, feature.number) from None
        return cls(model, grammar, options.features, options.unknown, marginals, options.prune)

    def of(self, grammar: Grammar) -> LatentFeatures:
        """Features with these options of another finished grammar."""
        return LatentFeatures(self.model, grammar, self.options, self._unknown, self._infers, self.prune)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features, columns of ``features``."""
        return self.options.names

    def features(self, forest: Forest) -> np.ndarray:
        """float64 [n_apps, len(names)]. Several threads may call it at the same time."""
        return self.infer(forest)[1] if self._infers else self.binding.features(forest, None, self.options)

    def pruned(self, forest: Forest) -> tuple[Forest, np.ndarray]:
        """The part of a forest that pruning leaves, and the features of its applications.

        Features are those of the whole forest. Without a probability of any derivation, the whole forest stays.
        """
        inference = self.binding.infer(forest)
        self.improper.count(inference)
        made = FeaturePass(self.binding, forest, inference, self.options)
        keep = np.ones(forest.n_apps, bool)
        if inference.sign:
            keep = forest.kept(inference.apps, inference.nodes, self.prune, LEAST_OF_NODE)
        part, apps = forest.restricted(keep)
        assert part is not None  # a derivation stays
        return part, made.of_apps(apps)

    def in_parts(self, forest: Forest) -> FeaturePass:
        """Features that are computed in parts when they are used."""
        inference = self.binding.infer(forest) if self._infers else None
        if inference is not None:
            self.improper.count(inference)
        return FeaturePass(self.binding, forest, inference, self.options)

    def infer(self, forest: Forest) -> tuple[Inference, np.ndarray]:
        """The marginals of a forest and its features. Several threads may call it at the same time.

        Raises:
            ValueError: the object was made without marginals.
        """
        if not self._infers:
            raise ValueError("made without marginals")
        inference = self.binding.infer(forest)
        self.improper.count(inference)
        return inference, self.binding.features(forest, inference, self.options)

    def report(self) -> None:
        """Warns, once for all forests since the last report, of values that are not probabilities."""
        self.improper.report(self.options)


class Improper:
    """Counts of values that are not probabilities. Threads may count at the same time; a worker returns its counts."""

    def __init__(self) -> None:
        self._counts = ImproperCounts()
        self._lock = threading.Lock()

    def count(self, inference: Inference) -> None:
        """Adds a forest."""
        with self._lock:
            self._counts = self._counts.count(inference)

    def add(self, counts: ImproperCounts) -> None:
        """Adds the counts of another object."""
        with self._lock:
            self._counts += counts

    def take(self) -> ImproperCounts:
        """The counts since the last call, for ``add``."""
        with self._lock:
            counts, self._counts = self._counts, ImproperCounts()
        return counts

    def report(self, options: FeatureOptions) -> None:
        """Writes at most one line of warning, and resets the counts."""
        if text := self.take().text(options):
            warning(text)
