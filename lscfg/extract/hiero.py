"""Hiero grammars (Chiang 2007, section 3): rules with gaps from the phrase pairs of a word-aligned corpus."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from lscfg.corpus.parallel import stream_aligned
from lscfg.errors import InputError
from lscfg.grammar.counts import RuleCounts
from lscfg.grammar.table import RuleTable
from lscfg.kernel import HieroExtractor, LineError
from lscfg.log import progress


@dataclass(frozen=True)
class HieroLimits:
    """Which rules are extracted; the defaults are Chiang's.

    Attributes:
        max_phrase: most words on the source side of an initial phrase pair.
        max_target_phrase: the same on its target side; 0: no limit.
        max_symbols: most words and nonterminals on the source side of a rule.
        max_arity: most nonterminals of a rule, 0 to 2.

    Raises:
        InputError: a limit is out of range.
    """

    max_phrase: int = 10
    max_target_phrase: int = 0
    max_symbols: int = 5
    max_arity: int = 2

    def __post_init__(self) -> None:
        for name, low, high in (
            ("max_phrase", 1, 1000),
            ("max_target_phrase", 0, 1000),
            ("max_symbols", 1, 1000),
            ("max_arity", 0, 2),
        ):
            value = getattr(self, name)
            if not low <= value <= high:
                raise InputError(f"Hiero limit {name} must be {low} to {high}, not {value}")


@dataclass(frozen=True)
class HieroRules(RuleCounts):
    """Rules with the sizes of what they come of.

    Attributes:
        sentences: sentence pairs, as often as they have alignments.
        phrases: initial phrase pairs.
        used: those of them that gave a rule, which is the sum of all counts.
        bare: sentence pairs that gave no rule.
        places: int32 [tokens, 8], where each rule was found, if that was asked for: rule, sentence pair, source span,
            source spans of the nonterminals in order, -1 where there is none; else [0, 8].
    """

    sentences: int
    phrases: int
    used: int
    bare: int
    places: np.ndarray

    def statistics(self) -> dict[str, int]:
        """Sizes for the log."""
        sizes = {
            "sentences": self.sentences,
            "sentences without a rule": self.bare,
            "initial phrase pairs": self.phrases,
            "initial phrase pairs without a rule": self.phrases - self.used,
        }
        return sizes | super().statistics()


def extract(
    pairs: Iterable[tuple[str, str, str]],
    limits: HieroLimits | None = None,
    path: str | os.PathLike[str] | None = None,
    total: int | None = None,
) -> HieroRules:
    """The Hiero rules of a corpus, with fractional counts.

    Initial phrase pairs are tight: the words at their borders are linked. Each one, wherever it occurs, has count 1, in
    equal shares for the ways to make a rule of it: as it is, or with one or two smaller initial phrase pairs inside it
    as nonterminals. A rule has a linked pair of words, and no two nonterminals side by side on the source side.

    Memory grows with the rules and the vocabulary, not with the corpus: pairs are taken one by one.

    Args:
        pairs: source sentence, target sentence (words separated by blanks) and links ``i-j ...`` counted from 0.
        path: the alignment file, for error messages.
        total: number of pairs if known, for the progress bar.

    Raises:
        InputError: an empty side, a word that cannot stand in a grammar, or a malformed or out-of-range link.
    """
    return _extract([(pairs, path)], limits, total)


def extract_files(
    src: str | os.PathLike[str],
    tgt: str | os.PathLike[str],
    alignments: Sequence[str | os.PathLike[str]],
    limits: HieroLimits | None = None,
    places: bool = False,
) -> HieroRules:
    """The Hiero rules of a corpus, extracted from every pair with each of its alignments.

    Args:
        places: keep where each rule is found, 32 bytes for each time.

    Raises:
        InputError: see ``extract`` and ``lscfg.corpus.parallel.stream_aligned``.
    """
    return _extract([(stream_aligned(src, tgt, path), path) for path in alignments], limits, None, places)


def _extract(
    corpora: Sequence[tuple[Iterable[tuple[str, str, str]], str | os.PathLike[str] | None]],
    limits: HieroLimits | None,
    total: int | None = None,
    places: bool = False,
) -> HieroRules:
    limits = limits or HieroLimits()
    extractor = HieroExtractor(
        limits.max_phrase, limits.max_target_phrase, limits.max_symbols, limits.max_arity, places
    )
    used = bare = 0
    for pairs, path in corpora:
        for number, pair in enumerate(progress(pairs, "hiero", total), 1):
            try:
                extractor.add(*pair)
            except LineError as error:
                raise error.at(number, path) from None
            before, used = used, extractor.sizes()[2]
            bare += used == before
    sizes = extractor.sizes()
    arrays = extractor.arrays()
    return HieroRules(
        RuleTable.from_arrays(arrays),
        arrays["count"],
        arrays["tokens"],
        arrays["lexicon.words"],
        arrays["lexicon.count"],
        *sizes,
        bare,
        arrays["places"],
    )
