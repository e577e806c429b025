"""The words under each node, read off the trees: derivation files hold spans and rules, but no sentences."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lscfg.errors import InputError
from lscfg.extract.derive import Derivations


@dataclass(frozen=True)
class Yields:
    """Sentences as word ids, and where each node's span begins and ends in them.

    Attributes:
        words: for source and target, int32: all sentences, one behind the other; ids of ``derivations.rules.words``.
        begin, end: for source and target, int64 [nodes], the node's words are ``words[begin:end]``.
    """

    words: tuple[np.ndarray, np.ndarray]
    begin: tuple[np.ndarray, np.ndarray]
    end: tuple[np.ndarray, np.ndarray]

    @classmethod
    def of(cls, derivations: Derivations, span: np.ndarray | None = None, tree: np.ndarray | None = None) -> Yields:
        """Both sides of the corpus that the trees derive.

        Args:
            span: int32 [nodes, 4], of other nodes than those of trees, and tree: int64 [nodes], where they are.

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
        """int64 [nodes], the first word of each span; -1 where the span is empty."""
        return self._at(side, self.begin[side])

    def last(self, side: int) -> np.ndarray:
        """int64 [nodes], the last word of each span; -1 where the span is empty."""
        return self._at(side, self.end[side] - 1)

    def length(self, side: int) -> np.ndarray:
        """int64 [nodes], words of each span."""
        result: np.ndarray = self.end[side] - self.begin[side]
        return result

    def _at(self, side: int, position: np.ndarray) -> np.ndarray:
        filled = self.length(side) > 0
        return np.where(filled, self.words[side][np.where(filled, position, 0)], -1)

    def sentences(self, derivations: Derivations, side: int) -> list[str]:
        """The text of one side, words separated by blanks; empty where the pair was dropped."""
        vocabulary, words = derivations.rules.words, self.words[side].tolist()
        lengths = _lengths(derivations, side)
        ends = np.cumsum(lengths)
        return [
            " ".join(vocabulary[w] for w in words[a:b])
            for a, b in zip((ends - lengths).tolist(), ends.tolist(), strict=True)
        ]


def expand_ranges(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The ranges ``starts[k] .. starts[k] + lengths[k] - 1``, one behind the other, int64."""
    ends = np.cumsum(lengths)
    result: np.ndarray = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - lengths - starts, lengths)
    return result


def _lengths(derivations: Derivations, side: int) -> np.ndarray:
    """int64 [sentences], words of each sentence; 0 where the pair was dropped, which has a tree without nodes."""
    filled = np.diff(derivations.trees) > 0
    lengths = np.zeros(len(filled), np.int64)
    lengths[filled] = derivations.span[derivations.trees[:-1][filled], 2 * side + 1]
    return lengths
