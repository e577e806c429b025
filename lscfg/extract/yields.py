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
        words: for source and target, int64: all sentences, one behind the other; ids of ``derivations.rules.words``.
        begin, end: for source and target, int64 [nodes], the node's words are ``words[begin:end]``.
    """

    words: tuple[np.ndarray, np.ndarray]
    begin: tuple[np.ndarray, np.ndarray]
    end: tuple[np.ndarray, np.ndarray]

    @classmethod
    def of(cls, derivations: Derivations) -> Yields:
        """Both sides of the corpus that the trees derive.

        Raises:
            InputError: spans and rules do not fit together.
        """
        sides = [_side(derivations, side) for side in (0, 1)]
        words, begin, end = zip(*sides, strict=True)
        return cls(words, begin, end)

    def first(self, side: int) -> np.ndarray:
        """int64 [nodes], the first word of each span; -1 where the span is empty."""
        return self._at(side, self.begin[side])

    def last(self, side: int) -> np.ndarray:
        """int64 [nodes], the last word of each span; -1 where the span is empty."""
        return self._at(side, self.end[side] - 1)

    def length(self, side: int) -> np.ndarray:
        """int64 [nodes], words of each span."""
        return self.end[side] - self.begin[side]

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
    return np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - lengths - starts, lengths)


def _lengths(derivations: Derivations, side: int) -> np.ndarray:
    """int64 [sentences], words of each sentence; 0 where the pair was dropped, which has a tree without nodes."""
    filled = np.diff(derivations.trees) > 0
    lengths = np.zeros(len(filled), np.int64)
    lengths[filled] = derivations.span[derivations.trees[:-1][filled], 2 * side + 1]
    return lengths


def _side(derivations: Derivations, side: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Words of all sentences, and each node's range in them: every terminal of every rule is put in its place.

    A terminal's place is the begin of its node's span plus the width of what stands before it in the rule: 1 for each
    terminal, the child's span for each nonterminal.
    """
    rules, rule = derivations.rules, derivations.rule
    span = derivations.span[:, 2 * side : 2 * side + 2].astype(np.int64)
    width = span[:, 1] - span[:, 0]
    base = np.concatenate([[0], np.cumsum(_lengths(derivations, side))])
    tree = np.repeat(np.arange(len(derivations)), np.diff(derivations.trees))
    first = rules.offsets[:-1] + (rules.src_length if side else 0)
    length = rules.offsets[1:] - first if side else rules.src_length.astype(np.int64)

    lengths = length[rule]
    node = np.repeat(np.arange(len(rule)), lengths)
    symbol = rules.symbols[expand_ranges(first[rule], lengths)]
    nonterminal = symbol < 0
    if side:
        slot = -1 - symbol[nonterminal].astype(np.int64)
    else:
        before = np.cumsum(nonterminal) - nonterminal
        begins = np.cumsum(lengths) - lengths
        of_node = before[np.minimum(begins, max(len(before) - 1, 0))] if len(before) else begins
        slot = before[nonterminal] - of_node[node[nonterminal]]
    # preorder lists children in order of their slots, so sorting nodes by parent lists each node's children by slot
    inner = np.nonzero(derivations.parent >= 0)[0]
    inner = inner[np.argsort(derivations.parent[inner], kind="stable")]
    n_children = np.bincount(derivations.parent[inner], minlength=len(rule))
    child = inner[(np.cumsum(n_children) - n_children)[node[nonterminal]] + slot]
    widths = np.ones(len(symbol), np.int64)
    widths[nonterminal] = width[child]
    total = np.cumsum(widths) - widths
    begins = np.cumsum(lengths) - lengths
    position = total - np.repeat(total[np.minimum(begins, max(len(total) - 1, 0))], lengths) if len(total) else total
    begin, end = base[tree] + span[:, 0], base[tree] + span[:, 1]
    place = begin[node] + position
    words = np.full(base[-1], -1, np.int64)
    fits = np.array_equal(np.bincount(node, widths, len(rule)), width)
    fits = fits and (len(place) == 0 or bool(place.min() >= 0 and place.max() < len(words)))
    if fits:
        words[place[~nonterminal]] = symbol[~nonterminal]
    if not fits or (words < 0).any():
        raise InputError("spans and rules of the derivations do not fit together; derive the corpus anew")
    return words, begin, end
