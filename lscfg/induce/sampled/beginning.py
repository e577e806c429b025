"""Trees of a derivation file as the start of chains."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import numpy as np

from lscfg.errors import InputError
from lscfg.extract.derive import Derivations
from lscfg.extract.extractor import RuleInputs
from lscfg.extract.yields import Yields
from lscfg.io.read import read_lines
from lscfg.kernel.sample import TreeSampler


class Beginning:
    """Samples of trees for all pairs of a text; each chain starts with one sample.

    Args:
        path: a derivation file, with the trees of one sample or several.
        pairs: number of sampled pairs, over all alignments.

    Raises:
        InputError: the file is not a derivation file, or its number of trees is not a multiple of the number of pairs.
    """

    def __init__(self, path: Path, inputs: RuleInputs, pairs: int):
        self._path, self._inputs, self._pairs = path, inputs, pairs
        self._all = Derivations.load(path)
        self._samples = len(self._all) // pairs
        if not self._samples or len(self._all) % pairs:
            raise InputError(
                f"{len(self._all)} trees for {pairs} pairs to sample; "
                "use derivations of the same text, with the same alignments",
                path,
            )

    def put(self, sampler: TreeSampler, chain: int) -> None:
        """Puts the trees of a sample into a new sampler.

        The first chain gets the last sample, the second chain the one before it, and so on.

        Raises:
            InputError: a tree has other words than its pair, or is not in the forest of its pair.
        """
        made = self._sample(self._samples - 1 - chain % self._samples)
        yields = Yields.of(made)
        for side, lines in enumerate(self._lines):
            for k, words in enumerate(yields.sentences(made, side)):
                if words and words != lines[k % len(lines)]:
                    text = self._inputs.parallel[side]
                    self._refuse(k, f"differs from the words of {text}; use derivations of this text")
        wrong = sampler.begin(made.trees, made.span)
        if wrong is not None:
            self._refuse(wrong, "is not in its forest; use derivations with the same alignments, max_cut and max_words")

    def _refuse(self, pair: int, why: str) -> None:
        raise InputError(f"the tree of sentence pair {pair % len(self._lines[0]) + 1} {why}", self._path)

    @cached_property
    def _lines(self) -> tuple[list[str], list[str]]:
        """Both sides of the text, words separated by single blanks."""
        source, target = ([" ".join(line.split()) for line in read_lines(path)] for path in self._inputs.parallel)
        return source, target

    def _sample(self, number: int) -> Derivations:
        """The trees of one sample alone."""
        trees = self._all.trees[number * self._pairs : (number + 1) * self._pairs + 1]
        first, last = trees[0], trees[-1]
        rule, parent, slot, span = (getattr(self._all, name)[first:last] for name in ("rule", "parent", "slot", "span"))
        return Derivations(
            self._all.rules,
            trees - first,
            rule,
            np.where(parent < 0, -1, parent - first).astype(np.int32),
            slot,
            span,
            self._all.lexicon,
            self._all.lexicon_count,
        )
