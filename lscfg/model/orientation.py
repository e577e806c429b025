"""Weights of orientations of source spans, as in model files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lscfg.io.layout import arrays_below, check_layout
from lscfg.kernel.neural import SOURCE_WORDS
from lscfg.model.neural import check_links, side_arrays, side_words

PREFIX = "orientation."

LAYOUT = {
    "source.vocab.bytes": "uint8 [source bytes]",
    "source.vocab.offsets": "int64 [source words + 1]",
    "target.vocab.bytes": "uint8 [target bytes]",
    "target.vocab.offsets": "int64 [target words + 1]",
    "words": f"float32 [2, 4, source words + {SOURCE_WORDS}, 3]",
    "length": "float32 [2, 7, 3]",
    "links": "int32 [links, 2]",
    "share": "float32 [links]",
}
"""The arrays in a file, without ``orientation.``."""


@dataclass(frozen=True, eq=False)
class OrientationModel:
    """Log-linear probabilities of the orientations of a source span (Galley & Manning 2008).

    Attributes:
        words: the source and the target vocabulary.
        weights: float32 [2, 4, source words + 3, 3]: target symbols before and behind; first word, last word, the word
            before and the one after; rows as in ``NeuralModel``; monotone, swap, discontinuous.
        lengths: float32 [2, 7, 3], weights of classes of length.
        links: int32 [links, 2] ascending, share: float32 [links], probabilities of linked words, as in ``NeuralModel``.
    """

    words: tuple[list[str], list[str]]
    weights: np.ndarray
    lengths: np.ndarray
    links: np.ndarray
    share: np.ndarray

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays by their names in model files."""
        own = {"words": self.weights, "length": self.lengths, "links": self.links, "share": self.share}
        return {PREFIX + name: array for name, array in own.items()} | side_arrays(PREFIX, self.words)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> OrientationModel:
        """The inverse of ``arrays``.

        Raises:
            ValueError: names an array that is missing or wrong.
        """
        sizes = check_layout(arrays, {PREFIX + name: declared for name, declared in LAYOUT.items()})
        own = arrays_below(PREFIX, arrays)
        for name in ("words", "length", "share"):
            if not np.isfinite(own[name]).all():
                raise ValueError(f"array 'orientation.{name}' holds a value that is not finite")
        check_links(PREFIX, own, sizes)
        return cls(side_words(PREFIX, own), own["words"], own["length"], own["links"], own["share"])
