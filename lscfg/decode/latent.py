"""The latent features of a decoder's grammar; docs/reference/features.md defines them."""

from __future__ import annotations

import os
import threading

import numpy as np

from lscfg.errors import InputError, quote
from lscfg.formats.ini import LatentFeature, find_file
from lscfg.kernel import (
    Binding,
    BindingOptions,
    FeatureOptions,
    Forest,
    Grammar,
    ImproperCounts,
    Inference,
    LatentOptions,
    Model,
)
from lscfg.log import warning

UNKNOWN = {name: LatentOptions.of([("unknown", name)]).unknown for name in ("zero", "compose", "oov")}
"""Policies for rules that the model does not know: they have probability zero; they are composed of the model's rules
where that is possible, so that the features apply to a Hiero grammar; rules without nonterminals (and parts of composed
rules) not to be had otherwise are OOV, too."""


class LatentFeatures:
    """The latent features of the forests of one grammar.

    Args:
        model: a model or the path of its file.
        grammar: the finished grammar that the forests will be of.
        options: which features there are, and how; the defaults if None.
        unknown: what becomes of rules that the model does not know, a key of ``UNKNOWN`` or a policy of its own.
        marginals: whether marginals are wanted besides the features; without, those of context alone are much cheaper.

    Raises:
        InputError: the model cannot be opened, or cannot give the features.
    """

    def __init__(
        self,
        model: Model | str | os.PathLike[str],
        grammar: Grammar,
        options: FeatureOptions | None = None,
        unknown: str | BindingOptions = "compose",
        marginals: bool = True,
    ):
        self.options = options or FeatureOptions()
        self.model = model if isinstance(model, Model) else Model(model)
        self.model.check_features(self.options)
        self._infers = marginals or self.options.need_inference
        self.binding = Binding(self.model, grammar, UNKNOWN[unknown] if isinstance(unknown, str) else unknown)
        self.improper = Improper()
        without = not len(self.model)  # such a model has only weights of the words at borders of spans
        kinds = {} if without or self.binding.known else self.binding.counts()
        if kinds and not any(kinds[kind] for kind in kinds if kind not in ("zero", "stateless")):
            warning(
                f"{self.model.path}: the model knows no rule of the grammar; all latent features are at their floor"
            )

    @classmethod
    def from_ini(
        cls, feature: LatentFeature, grammar: Grammar, ini: str | os.PathLike[str], marginals: bool = True
    ) -> LatentFeatures:
        """The features that a feature_function line of an ini file asks for.

        Options: ``model=FILE``, ``features=NAME,NAME...``, ``log=true|false``, ``floor=X``, ``negative=flip|clamp``,
        ``unknown=compose|zero|oov``.

        Raises:
            InputError: an unknown option or a bad value, or the model cannot be opened or cannot give the features.
        """
        name = feature.options.get("model", "")
        model = find_file(name, ini)
        if model is None:
            raise InputError(f"feature function LSCFG: no model file {quote(name)}", ini, feature.number)
        try:
            options = LatentOptions.of(feature.options.items())
        except InputError as error:
            raise InputError(f"feature function LSCFG: {error}", ini, feature.number) from None
        return cls(model, grammar, options.features, options.unknown, marginals)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features, columns of ``features``."""
        return self.options.names

    def features(self, forest: Forest) -> np.ndarray:
        """float64 [n_apps, len(names)]. May be called by several threads at a time."""
        return self.infer(forest)[1] if self._infers else self.binding.features(forest, None, self.options)

    def infer(self, forest: Forest) -> tuple[Inference, np.ndarray]:
        """The marginals of a forest and its features. May be called by several threads at a time.

        Raises:
            ValueError: made for features without marginals.
        """
        if not self._infers:
            raise ValueError("no marginals are wanted")
        inference = self.binding.infer(forest)
        self.improper.count(inference)
        return inference, self.binding.features(forest, inference, self.options)

    def report(self) -> None:
        """Warns, once for all forests since the last report, of what is no probability."""
        self.improper.report(self.options)


class Improper:
    """Counts of what no probability can be. Threads may count at the same time; a worker returns what it counted."""

    def __init__(self) -> None:
        self._counts = ImproperCounts()
        self._lock = threading.Lock()

    def count(self, inference: Inference) -> None:
        """Adds a forest."""
        with self._lock:
            self._counts = self._counts.count(inference)

    def add(self, counts: ImproperCounts) -> None:
        """Adds what another one counted."""
        with self._lock:
            self._counts += counts

    def take(self) -> ImproperCounts:
        """What was counted since the last time, for ``add``."""
        with self._lock:
            counts, self._counts = self._counts, ImproperCounts()
        return counts

    def report(self, options: FeatureOptions) -> None:
        """Writes one line of warning at most, and begins anew."""
        if text := self.take().text(options):
            warning(text)
