"""Features of a decoder's provider, which depend on the whole forest of a sentence."""

from __future__ import annotations

import numpy as np

from lscfg import log
from lscfg.decode.applications import medians
from lscfg.decode.columns import ComputedRows, LayeredValues
from lscfg.decode.latent import LatentFeatures
from lscfg.decode.request import FeatureProvider
from lscfg.errors import InputError, quote
from lscfg.kernel import FEATURE_FAMILIES, FeatureOptions, Forest

LARGE = 1 << 16
"""Minimum number of applications of a forest whose latent features may be computed in parts."""

OF_WORDS_AROUND = {
    family: names for family, names in FEATURE_FAMILIES.items() if not FeatureOptions(names=names).need_inference
}
"""Families of latent features that depend on words around a span instead of marginals, and the names of each."""


class ProvidedFeatures:
    """The features of a provider, or none without a provider.

    Attributes:
        provider: the provider.
        latent: the provider if its features are latent ones.
        names: names of the features.
    """

    def __init__(self, provider: FeatureProvider | None):
        self.provider = provider
        self.latent = provider if isinstance(provider, LatentFeatures) else None
        self.names = () if provider is None else provider.names
        latent = () if self.latent is None else self.names
        self._of_words_around = [one for one, names in OF_WORDS_AROUND.items() if not {*names}.isdisjoint(latent)]

    def warn_of_lattice(self) -> None:
        """Warns, once, of features that depend on words around a span, which a lattice lacks."""
        if self._of_words_around:
            families = ", ".join(self._of_words_around)
            log.warning(f"the features {families} are 0 in lattices, whose spans have no certain words around them")
            self._of_words_around = []

    def of_sentence(
        self, index: int, text: str, forest: Forest, prune: bool, room: int
    ) -> tuple[Forest, np.ndarray | ComputedRows | None]:
        """A forest, pruned if wanted by caller and configuration, with its features.

        Args:
            index, text: of the sentence, for a message.
            room: bytes from which on the features of a large forest are computed in parts, when they are used.

        Raises:
            InputError: a feature is not finite.
        """
        latent = self.latent
        if not (prune and latent is not None and latent.prune > 0):
            if latent is not None and forest.n_apps >= LARGE and 8 * forest.n_apps * len(self.names) > room:
                return forest, ComputedRows(latent.in_parts(forest), _not_finite(index, text))
            return forest, self._of_forest(index, text, forest)
        part, values = latent.pruned(forest)
        if not np.isfinite(values).all():
            raise InputError(_not_finite(index, text))
        return part, values

    def of_layered(
        self, index: int, text: str, whole: Forest, of_layer: np.ndarray, phrases: np.ndarray
    ) -> LayeredValues | None:
        """The features of a forest without rules of a layer, whose applications get those of a usual phrase.

        The first further row contains zeros. No application is pruned: these marginals do not count the rules of the
        layer, and would remove applications that derivations with these rules need.

        Args:
            index, text: of the sentence, for a message.
            of_layer, phrases: applications of rules of the layer, and of the grammar's rules without nonterminals.

        Returns:
            The features; None without a provider.

        Raises:
            InputError: a feature is not finite.
        """
        if self.provider is None:
            return None
        keep = np.ones(whole.n_apps, bool)
        keep[of_layer] = False
        plain, apps = whole.restricted(keep)
        values = None if plain is None else self._of_forest(index, text, plain)
        if values is None:
            values, apps = np.empty((0, len(self.names))), np.empty(0, np.int64)
        row_of = np.full(whole.n_apps, len(apps))
        row_of[apps] = np.arange(len(apps))
        further = np.zeros((2, values.shape[1]))
        usual = row_of[phrases]
        usual = usual[usual < len(apps)]
        if len(usual):
            row_of[of_layer] = len(apps) + 1
            further[1] = medians(values[usual])
        return LayeredValues(values, further, row_of)

    def _of_forest(self, index: int, text: str, forest: Forest) -> np.ndarray | None:
        """The features of a forest without rules of a layer."""
        if self.provider is None:
            return None
        found = np.asarray(self.provider.features(forest), np.float64)
        if found.shape != (forest.n_apps, len(self.names)):
            raise ValueError(f"features of shape {found.shape} for {forest.n_apps} applications")
        if not np.isfinite(found).all():
            raise InputError(_not_finite(index, text))
        return found


def _not_finite(index: int, text: str) -> str:
    return f"sentence {index + 1} has latent features that are not finite: {quote(text)}"
