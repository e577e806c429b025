"""Hiero grammars (Chiang 2007, section 3): rules with gaps from the phrase pairs of a word-aligned corpus."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lscfg.corpus.parallel import stream_aligned
from lscfg.extract.extractor import Decoding, RuleExtractor, RuleInputs
from lscfg.extract.hiero_settings import HieroLimits, HieroSettings
from lscfg.extract.significance import TIE, significance
from lscfg.grammar.counts import RuleCounts
from lscfg.grammar.table import RuleTable
from lscfg.grammar.tokens import RuleTokens
from lscfg.io.read import read_lines
from lscfg.kernel import HieroExtractor, LineError
from lscfg.log import progress


class Hiero(RuleExtractor[HieroSettings]):
    """Rules with gaps from phrase pairs."""

    HELP = "rules with gaps from phrase pairs"
    VERSION = 3
    Settings = HieroSettings
    NEEDS = ("text",)
    FILTERED = True

    def rules(self, inputs: RuleInputs, settings: HieroSettings) -> HieroRules:
        """The rules of a corpus with all its alignments; see ``extract_files``."""
        found = extract_files(*inputs.parallel, inputs.alignments, settings, wanted=inputs.wanted)
        return mark_insignificant(found, *inputs.parallel, settings)

    def tokens(self, inputs: RuleInputs, settings: HieroSettings) -> RuleTokens:
        """The rule tokens of a corpus; see ``extract_files``."""
        found = extract_files(*inputs.parallel, inputs.alignments, settings, places=True)
        places = found.places
        places[:, 1] %= found.sentences // len(inputs.alignments)
        return RuleTokens(found.rules, places)

    def decoding(self, settings: HieroSettings) -> Decoding:
        """Uses the decoder's glue rules, and limits the span of other rules."""
        return Decoding(glue=True, max_span=settings.max_span)


@dataclass(frozen=True)
class HieroRules(RuleCounts):
    """Rules with statistics of their extraction.

    Attributes:
        sentences: sentence pairs, once for each alignment.
        phrases: initial phrase pairs.
        used: initial phrase pairs that gave a rule, which is the sum of all counts.
        bare: sentence pairs that gave no rule.
        places: int32 [tokens, 8], positions of the rules if requested: rule, sentence pair, source span, source spans
            of the nonterminals in order, or -1; otherwise [0, 8].
        first: int64 [rules], sort keys among all rules, if these are a part of them.
        by_chance: bool [rules], True for rules that are less significant than required; None without a test.
    """

    sentences: int
    phrases: int
    used: int
    bare: int
    places: np.ndarray
    first: np.ndarray
    by_chance: np.ndarray | None = None

    def barred(self) -> dict[str, np.ndarray]:
        """Rules that are counted but excluded from grammars, also because they are not significant."""
        return super().barred() | ({} if self.by_chance is None else {"not significant": self.by_chance})

    def statistics(self) -> dict[str, int]:
        """Sizes for the log."""
        sizes = {
            "sentences": self.sentences,
            "sentences without a rule": self.bare,
            "initial phrase pairs": self.phrases,
            "initial phrase pairs without a rule": self.phrases - self.used,
        }
        return sizes | super().statistics()

    def without_singletons(self, most: np.ndarray) -> HieroRules:
        """Drops rules that occur once and have more than one source word, as if they had not been extracted.

        The result is the smaller grammar of Chung et al. (2014, section 5.4.1).

        Args:
            most: int64 [rules], largest number of occurrences of each rule under one alignment.
        """
        kept = (most > 1) | (self.rules.src_length - self.rules.arity <= 1)
        places = self.places[kept[self.places[:, 0]]]
        places[:, 0] = (np.cumsum(kept) - 1)[places[:, 0]]
        rules = self.rules.select(np.flatnonzero(kept))
        return replace(self, rules=rules, count=self.count[kept], tokens=self.tokens[kept], places=places)


def mark_insignificant(
    found: HieroRules, src: str | os.PathLike[str], tgt: str | os.PathLike[str], settings: HieroSettings
) -> HieroRules:
    """Marks rules that are less significant than the settings require; their counts remain part of the features.

    Args:
        src, tgt: the text of the rules, as lines of words separated by blanks.
    """
    if settings.significance is None:
        return found
    values = significance(found.rules, read_lines(src), read_lines(tgt))
    return replace(found, by_chance=values < settings.significance - TIE)


class TooManyRulesError(Exception):
    """A corpus has more rules than allowed.

    Attributes:
        rules: number of rules found; pairs: number of sentence pairs read, once for each alignment.
    """

    def __init__(self, rules: int, pairs: int):
        super().__init__(f"{rules} rules in {pairs} pairs")
        self.rules = rules
        self.pairs = pairs


def extract_files(
    src: str | os.PathLike[str],
    tgt: str | os.PathLike[str],
    alignments: Sequence[str | os.PathLike[str]],
    limits: HieroLimits | None = None,
    places: bool = False,
    wanted: Sequence[str] | None = None,
    part: tuple[int, int] = (0, 1),
    most: int | None = None,
) -> HieroRules:
    """The Hiero rules of a corpus with fractional counts, extracted from every pair with each of its alignments.

    Initial phrase pairs are tight, unless the limits are loose: the words at their borders are linked. Each one,
    at each occurrence, has count 1, in equal shares for the rules made from it: the pair itself, or with one or two
    smaller initial phrase pairs inside it as nonterminals. A rule has a linked pair of words, and no two nonterminals
    adjacent on the source side.

    Memory grows with the rules and the vocabulary, not with the corpus, since pairs are read one by one.

    Args:
        places: keep the positions of rules, 32 bytes each.
        wanted: sentences to be translated. Only rules that may match a part of one are returned, with counts and
            features relative to all rules. The corpus is read twice, and memory grows with these rules only. Without
            singletons it is read once and all rules are returned, since dropped rules affect the features.
        part: index of a part of the source sides, and number of parts; only rules of these sides are returned. Not
            without singletons.
        most: largest number of rules, returned or counted; None for no limit.

    Raises:
        TooManyRulesError: the corpus has more rules.
        InputError: a link is malformed or out of range; see also ``lscfg.corpus.parallel.stream_aligned``.
        ValueError: one of several parts is to be extracted without singletons.
    """
    limits = limits or HieroLimits()
    wanted = None if limits.no_singletons else wanted
    if limits.no_singletons and part[1] > 1:
        raise ValueError("rules without singletons cannot be extracted in parts")
    extractor = _extractor(limits, places, part)
    for line in () if wanted is None else wanted or [""]:  # no lines want as little as an empty one
        extractor.want(line)
    bare, often, before = 0, np.zeros(0, np.int64), np.zeros(0, np.int64)
    for path in alignments:
        bare += _add(extractor, stream_aligned(src, tgt, path), path, most=most)
        if limits.no_singletons:
            tokens = extractor.arrays()["tokens"]
            before, often = (np.pad(counts, (0, len(tokens) - len(counts))) for counts in (before, often))
            before, often = tokens, np.maximum(often, tokens - before)
    if limits.no_singletons:
        return _rules(extractor, bare).without_singletons(often)
    if wanted is None and part[1] == 1:
        return _rules(extractor, bare)
    for path in alignments:
        for pair in progress(stream_aligned(src, tgt, path), "target sides"):
            extractor.add_targets(*pair)
    return _rules(extractor, bare, chosen=True)


def _extractor(limits: HieroLimits, places: bool = False, part: tuple[int, int] = (0, 1)) -> HieroExtractor:
    sizes = (limits.max_phrase, limits.target_phrase, limits.max_symbols, limits.max_arity)
    return HieroExtractor(*sizes, places, part, limits.loose, limits.min_hole)


def _add(
    extractor: HieroExtractor,
    pairs: Iterable[tuple[str, str, str]],
    path: str | os.PathLike[str],
    most: int | None = None,
) -> int:
    """Adds all pairs; returns the number of pairs without a rule."""
    bare = 0
    used = extractor.sizes()[2]
    for number, pair in enumerate(progress(pairs, "hiero"), 1):
        try:
            extractor.add(*pair)
        except LineError as error:
            raise error.at(number, path) from None
        before, used = used, extractor.sizes()[2]
        bare += used == before
        if most is not None and len(extractor) > most:
            raise TooManyRulesError(len(extractor), extractor.sizes()[0])
    return bare


def _rules(extractor: HieroExtractor, bare: int, chosen: bool = False) -> HieroRules:
    arrays = extractor.arrays()
    return HieroRules(
        RuleTable.from_arrays(arrays),
        arrays["count"],
        arrays["tokens"],
        arrays["lexicon.words"],
        arrays["lexicon.count"],
        *extractor.sizes(),
        bare,
        arrays["places"],
        arrays["first"],
        target_count=arrays["target_count"] if chosen else None,
    )
