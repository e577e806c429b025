"""Minimal derivation trees of a word-aligned corpus (paper, section 3; Zhang, Gildea & Chiang 2008)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lscfg import __version__, tensors
from lscfg.errors import InputError
from lscfg.kernel import Deriver
from lscfg.log import progress
from lscfg.rules import RuleTable

_ARRAYS = ("trees", "node.rule", "node.parent", "node.slot", "node.span", "lexicon.words", "lexicon.count")


@dataclass(frozen=True)
class Derivations:
    """The s-trees of a corpus, one for each sentence pair, and the rules that they are made of.

    Nodes are in preorder, children in source order, trees one behind the other; rules of every arity are kept.

    Attributes:
        rules: the rule types.
        trees: int64 [sentences + 1], first node of each tree.
        rule: int32 [nodes]; parent: int32 [nodes], -1 at roots.
        slot: int32 [nodes], which child of its parent the node is, in source order.
        span: int32 [nodes, 4], source i, j and target i, j, half-open.
        lexicon: int32 [pairs, 2], words that are linked somewhere (source, target); -1: the other one has no link.
        lexicon_count: int64 [pairs], how often.
    """

    rules: RuleTable
    trees: np.ndarray
    rule: np.ndarray
    parent: np.ndarray
    slot: np.ndarray
    span: np.ndarray
    lexicon: np.ndarray
    lexicon_count: np.ndarray

    def __len__(self) -> int:
        return len(self.trees) - 1

    @property
    def counts(self) -> np.ndarray:
        """int64 [rules], tokens of each rule."""
        return np.bincount(self.rule, minlength=len(self.rules))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the derivation file (docs/FORMATS.md)."""
        nodes = (self.trees, self.rule, self.parent, self.slot, self.span, self.lexicon, self.lexicon_count)
        arrays = {**dict(zip(_ARRAYS, nodes, strict=True)), **self.rules.arrays()}
        tensors.save(path, arrays, {"lscfg": "derivations", "version": __version__})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Derivations:
        """Reads a derivation file.

        Raises:
            InputError: the file is missing, cut off or of another kind.
        """
        arrays, _ = tensors.load(path, "derivations")
        try:
            return cls(RuleTable.from_arrays(arrays), *(arrays[name] for name in _ARRAYS))
        except KeyError as error:
            raise InputError(f"array {error} is missing; make the file anew", path) from error

    def statistics(self) -> dict[str, int]:
        """Sizes for the log: sentences, nodes and rule types by arity."""
        arity, counts = self.rules.arity, self.counts
        sizes = {"sentences": len(self), "rule tokens": len(self.rule), "rule types": len(self.rules)}
        for k in (0, 1, 2):
            sizes[f"types of arity {k}"] = int((arity == k).sum())
            sizes[f"tokens of arity {k}"] = int(counts[arity == k].sum())
        sizes["types of arity > 2"] = int((arity > 2).sum())
        sizes["tokens of arity > 2"] = int(counts[arity > 2].sum())
        return sizes


def derive(
    src: Sequence[str],
    tgt: Sequence[str],
    links: Sequence[str],
    path: str | os.PathLike[str] | None = None,
) -> Derivations:
    """The minimal derivation tree of each sentence pair.

    Words without a link are terminals of the rule of the lowest node that covers them. A sequence of phrases is
    bracketed to the left.

    Args:
        src, tgt: sentences, words separated by blanks.
        links: alignments ``i-j ...`` counted from 0, source position first.
        path: the alignment file, for error messages.

    Raises:
        InputError: a malformed or out-of-range link, or unequal numbers of lines.
    """
    if not len(src) == len(tgt) == len(links):
        raise InputError(f"{len(links)} alignment lines for {len(src)} sentence pairs", path)
    deriver = Deriver()
    for number, pair in enumerate(progress(zip(src, tgt, links, strict=True), "derive", len(src)), 1):
        try:
            deriver.add(*pair)
        except InputError as error:
            raise InputError(str(error), path, number) from None
    arrays = deriver.arrays()
    return Derivations(RuleTable.from_arrays(arrays), *(arrays[name] for name in _ARRAYS))
