"""The latent features of a decoder's grammar; docs/FORMATS.md defines them."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from lscfg.errors import InputError
from lscfg.formats.ini import LatentFeature, find_file
from lscfg.kernel import Binding, BindingOptions, FeatureOptions, Forest, Grammar, Inference, Model
from lscfg.log import warn

UNKNOWN = {
    "zero": BindingOptions(),
    "compose": BindingOptions(compose=True),
    "oov": BindingOptions(compose=True, oov=True, oov_parts=True),
}
"""Policies for rules that the model does not know: they have probability zero; they are composed of the model's rules
where that is possible, so that the features apply to a Hiero grammar; rules without nonterminals (and parts of composed
rules) not to be had otherwise are OOV, too."""


class LatentFeatures:
    """The latent features of the forests of one grammar.

    Args:
        model: a model or the path of its file.
        grammar: the finished grammar that the forests will be of.
        options: which features there are, and how; the defaults if None.
        unknown: what becomes of rules that the model does not know, a key of ``UNKNOWN``.
        marginals: whether marginals are wanted besides the features; without, those of context alone are much cheaper.

    Raises:
        InputError: the model cannot be opened, or cannot give the features.
    """

    def __init__(
        self,
        model: Model | str | os.PathLike[str],
        grammar: Grammar,
        options: FeatureOptions | None = None,
        unknown: str = "compose",
        marginals: bool = True,
    ):
        self.options = options or FeatureOptions()
        self.model = model if isinstance(model, Model) else Model(model)
        self.model.check_features(self.options)
        self._infers = marginals or self.options.need_inference
        self.binding = Binding(self.model, grammar, UNKNOWN[unknown])
        self.improper = Improper()
        kinds = {} if self.binding.known else self.binding.counts()
        if kinds and not any(kinds[kind] for kind in kinds if kind not in ("zero", "stateless")):
            warn(f"{self.model.path}: the model knows no rule of the grammar; all latent features are at their floor")

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
        options = dict(feature.options)
        name = options.pop("model", "")
        model = find_file(name, ini)
        if model is None:
            raise InputError(f"feature function LSCFG: no model file {name!r}", ini)
        values: dict[str, Any] = {}
        unknown = "compose"
        for name, value in options.items():
            if name == "log" and value in ("true", "false"):
                values["log"] = value == "true"
            elif name == "negative":
                values["negative"] = value
            elif name == "features":
                values["names"] = tuple(value.split(","))
            elif name == "unknown" and value in UNKNOWN:
                unknown = value
            elif name == "floor" and _is_number(value):
                values["floor"] = float(value)
            else:
                raise InputError(
                    f"feature function LSCFG: {name}={value} is not understood; options are "
                    "model=FILE features=NAME,NAME log=true|false floor=X negative=flip|clamp "
                    "unknown=compose|zero|oov",
                    ini,
                )
        return cls(model, grammar, FeatureOptions(**values), unknown, marginals)

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
        # forests, forests of g < 0, of g = 0, of negative marginals, and the sum of the latter's negative masses
        self._counts = [0.0] * 5
        self._lock = threading.Lock()

    def count(self, inference: Inference) -> None:
        """Adds a forest."""
        found = [1.0, 0.0, 0.0, 0.0, 0.0]
        if inference.sign <= 0:
            found[1 if inference.sign else 2] = 1.0
        elif inference.negative:
            found[3:] = 1.0, inference.negative_mass
        self.add(found)

    def add(self, counts: Sequence[float]) -> None:
        """Adds what another one counted."""
        with self._lock:
            self._counts = [a + b for a, b in zip(self._counts, counts, strict=True)]

    def take(self) -> Sequence[float]:
        """What was counted since the last time, for ``add``."""
        with self._lock:
            counts, self._counts = self._counts, [0.0] * 5
        return counts

    def report(self, options: FeatureOptions) -> None:
        """Writes one line of warning at most, and begins anew."""
        total, below, zero, negative, mass = self.take()
        found = []
        if below or zero:
            found.append(
                f"{below + zero:.0f} have no positive sum of derivations (g < 0: {below:.0f}, g = 0: {zero:.0f}) and "
                "all latent features 0"
            )
        if negative:
            taken = "their absolute value" if options.negative == "flip" else "0"
            found.append(
                f"{negative:.0f} have negative marginals, {mass / negative:.1%} of the absolute mass on average, which "
                f"count as {taken}"
            )
        if found:
            warn(f"of {total:.0f} sentences {'; '.join(found)}")


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
