"""Weights of the words at the borders of source spans, as in model files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lscfg.grammar.table import vocabulary_words
from lscfg.io.layout import arrays_below, check_layout, check_range, named_from

LAYOUT = {
    "vocab.bytes": "uint8 [bytes]",
    "vocab.offsets": "int64 [words + 1]",
    "ends.words": "int32 [ends, 2]",
    "ends.weights": "float32 [ends]",
    "sides.words": "int32 [sides, 2]",
    "sides.weights": "float32 [sides]",
}
"""The arrays in a file, without ``boundary.`` (docs/reference/formats.md)."""


@dataclass(frozen=True, eq=False)
class BoundaryModel:
    """Weights of source spans by the words at their ends and by the words before and after them.

    A span's value is the sum of the weights of both pairs of words (Xiao et al. 2012, section 5). Pairs ascend.

    Attributes:
        words: the vocabulary.
        ends, sides: int32 [n, 2], pairs of words; -1 beyond the sentence.
        ends_weights, sides_weights: float32 [n].
    """

    words: list[str]
    ends: np.ndarray
    ends_weights: np.ndarray
    sides: np.ndarray
    sides_weights: np.ndarray

    @classmethod
    def of(cls, words: list[str], *given: tuple[np.ndarray, np.ndarray]) -> BoundaryModel:
        """Builds a model from ends and sides in any order; sums the weights of repeated pairs of words.

        Words without pairs and pairs of weight 0 are left out.

        Args:
            given: pairs of words and their weights, for ends and for sides.
        """
        sums = []
        for pairs, weights in given:
            each, which = np.unique(pairs, axis=0, return_inverse=True)
            total = np.bincount(which.ravel(), weights, len(each)).astype(np.float32)
            sums.append((each[total != 0], total[total != 0]))
        used = np.unique(np.concatenate([pairs.ravel() for pairs, _ in sums]))
        used = used[used >= 0].astype(np.int64)
        number = np.full(len(words) + 1, -1)
        number[used] = np.arange(len(used))  # in the same order, so that pairs still ascend; -1 stays
        (ends_pairs, ends_weights), (sides_pairs, sides_weights) = sums
        renamed = [number[pairs].astype(np.int32).reshape(-1, 2) for pairs in (ends_pairs, sides_pairs)]
        return cls([words[k] for k in used.tolist()], renamed[0], ends_weights, renamed[1], sides_weights)

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays by their names in model files."""
        encoded = [word.encode("utf-8") for word in self.words]
        return {
            "boundary.vocab.bytes": np.frombuffer(b"".join(encoded), np.uint8),
            "boundary.vocab.offsets": np.cumsum([0, *map(len, encoded)]).astype(np.int64),
            "boundary.ends.words": self.ends,
            "boundary.ends.weights": self.ends_weights,
            "boundary.sides.words": self.sides,
            "boundary.sides.weights": self.sides_weights,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> BoundaryModel:
        """The inverse of ``arrays``.

        Raises:
            ValueError: names an array that is missing or wrong.
        """
        start = "boundary."
        own = arrays_below(start, arrays)
        with named_from(start):
            sizes = check_layout(own, LAYOUT)
            words = vocabulary_words(own)
        for kind in ("ends", "sides"):
            pairs = own[f"{kind}.words"]
            check_range(f"boundary.{kind}.words", pairs, -1, sizes["words"])
            key = pairs[:, 0].astype(np.int64) * (sizes["words"] + 1) + pairs[:, 1]
            if (np.diff(key) <= 0).any():
                raise ValueError(f"array 'boundary.{kind}.words' does not ascend")
            if not np.isfinite(own[f"{kind}.weights"]).all():
                raise ValueError(f"array 'boundary.{kind}.weights' holds a value that is not finite")
        return cls(words, *(own[f"{kind}.{part}"] for kind in ("ends", "sides") for part in ("words", "weights")))
