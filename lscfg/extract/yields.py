"""The words under each node, reconstructed from trees, because derivation files contain no sentences."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lscfg.errors import InputError
from lscfg.extract.derive import Derivations


@dataclass(frozen=True, eq=False)
class Yields:
    """Sentences as word ids, and the span of each node in them.

    Attributes:
        words: for source and target, int32: all sentences, one after the other; ids of ``derivations.rules.words``.
        begin, end: for source and target, int64 [nodes], the node's words are ``words[begin:end]``.
    """

    words: tuple[np.ndarray, np.ndarray]
    begin: tuple[np.ndarray, np.ndarray]
    end: tuple[np.ndarray, np.ndarray]

    @classmethod
    def of(cls, derivations: Derivations, span: np.ndarray | None = None, tree: np.ndarray | None = None) -> Yields:
        """Both sides of the corpus that the trees derive.

        Args:
            span: int32 [nodes, 4], spans of other nodes, and tree: int64 [nodes], their trees.

        Raises:
            InputError: spans and rules do not fit together.
        """
        if span is None or tree is None:
            span, tree = derivations.span, np.repeat(np.arange(len(derivations)), np.diff(derivations.trees))
        span = span.astype(np.int64)
        try:
            words = derivations.kernel.words()
        except ValueError as error:
            raise InputError(f"spans and rules do not fit together ({error}); derive the corpus again") from error
        starts = [np.cumsum(lengths) - lengths for lengths in (_lengths(derivations, side) for side in (0, 1))]
        begin, end = ((starts[0][tree] + span[:, place], starts[1][tree] + span[:, 2 + place]) for place in (0, 1))
        return cls(words, begin, end)

    def first(self, side: int) -> np.ndarray:
        """int64 [nodes], the first word of each span; -1 for empty spans."""
        return self._at(side, self.begin[side])

    def last(self, side: int) -> np.ndarray:
        """int64 [nodes], the last word of each span; -1 for empty spans."""
        return self._at(side, self.end[side] - 1)

    def length(self, side: int) -> np.ndarray:
        """int64 [nodes], number of words in each span."""
        result: np.ndarray = self.end[side] - self.begin[side]
        return result

    def _at(self, side: int, position: np.ndarray) -> np.ndarray:
        filled = self.length(side) > 0
        return np.where(filled, self.words[side][np.where(filled, position, 0)], -1)

    def sentences(self, derivations: Derivations, side: int) -> list[str]:
        """The text of one side, words separated by blanks; empty for dropped pairs."""
        vocabulary, words = derivations.rules.words, self.words[side].tolist()
        lengths = _lengths(derivations, side)
        ends = np.cumsum(lengths)
        return [
            " ".join(vocabulary[w] for w in words[a:b])
            for a, b in zip((ends - lengths).tolist(), ends.tolist(), strict=True)
        ]


def expand_ranges(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The ranges ``starts[k] .. starts[k] + lengths[k] - 1``, one after the other, int64."""
    ends = np.cumsum(lengths)
    result: np.ndarray = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - lengths - starts, lengths)
    return result


def _lengths(derivations: Derivations, side: int) -> np.ndarray:
    """int64 [sentences], words of each sentence; 0 for dropped pairs, whose trees have no nodes."""
    filled = np.diff(derivations.trees) > 0
    lengths = np.zeros(len(filled), np.int64)
    lengths[filled] = derivations.span[derivations.trees[:-1][filled], 2 * side + 1]
    return lengths
