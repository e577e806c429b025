"""Names of the features of a configuration, for checks of weights without a decoder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lscfg.decode.columns import FeatureColumns
from lscfg.decode.inputs import further_names, segment_features
from lscfg.decode.parsing import read_grammar
from lscfg.formats.ini import DecoderConfig
from lscfg.formats.weights import warn_of_weights
from lscfg.kernel import Grammar, LatentOptions


class FeatureNames(NamedTuple):
    """The features of a configuration."""

    known: tuple[str, ...]
    """All names."""
    live: tuple[str, ...]
    """Names of features that are not 0 in every rule, which need a weight."""
    heads: tuple[str, ...]
    """Beginnings of the names of features that only some sentences have."""

    @classmethod
    def of(cls, config: DecoderConfig, sentences: Sequence[str] = (), grammar: Grammar | None = None) -> FeatureNames:
        """The names of a configuration and of features that the sentences add.

        Args:
            grammar: of the configuration; None: read it.

        Raises:
            InputError: a grammar cannot be read.
        """
        latent = config.latent
        provided = () if latent is None else LatentOptions.of(latent.options.items(), others=True).features.names
        models = [model.name for model in config.models]
        found = read_grammar(config, needed=False, on_demand=True) if grammar is None else grammar
        columns = FeatureColumns(config, found, models, provided)
        return cls(columns.names, columns.live, config.feature_heads).with_lines(sentences, config)

    def with_lines(self, lines: Sequence[str], config: DecoderConfig) -> FeatureNames:
        """The names, and those of features that lines add.

        Raises:
            InputError: a grammar that a line names cannot be read.
        """
        live = tuple(dict.fromkeys((*self.live, *segment_features(lines, config))))
        return self._replace(live=live, heads=self.heads + further_names(lines))

    def check(self, weights: Mapping[str, float], path: object) -> None:
        """Warns of weights without a feature and of features without a weight."""
        warn_of_weights(weights, self.known, self.live, path, heads=self.heads)
